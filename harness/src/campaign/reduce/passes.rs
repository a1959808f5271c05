//! What is tried to make a failing variant smaller, largest effect first.

use std::collections::{BTreeMap, BTreeSet};

use super::ReduceError;
use super::attempts::Attempts;
use super::candidate::{Candidate, Size};
use super::symptom::Symptom;
use crate::case::stage::ProgramRef;
use crate::judge::finding::Finding;
use crate::spec::Encoding;

/// A reduction under way: the smallest candidate that shows the failure, so far.
pub struct Passes<'a, 'b> {
    /// The candidate.
    pub best: Candidate,
    /// The attempts.
    pub attempts: &'b mut Attempts<'a>,
    /// What has to be shown.
    pub symptom: &'a Symptom,
    /// Told the size after each thing that was taken away.
    pub told: &'b dyn Fn(&str, Size),
}

type Tried = Result<bool, ReduceError>;

impl Passes<'_, '_> {
    /// All passes, until nothing changes any more.
    pub fn run(&mut self) -> Result<(), ReduceError> {
        self.cut_after_the_failure()?;
        loop {
            let before = self.best.clone();
            self.stages()?;
            self.resources()?;
            self.simpler_stages()?;
            self.edges()?;
            self.settings()?;
            self.spelling()?;
            self.places()?;
            if self.best == before || self.attempts.are_over() {
                break;
            }
        }
        self.names()
    }

    /// Takes the first of these that shows the failure, and is another candidate.
    fn take(
        &mut self,
        what: &str,
        candidates: impl IntoIterator<Item = Candidate>,
    ) -> Result<Option<usize>, ReduceError> {
        if self.attempts.are_over() {
            return Ok(None);
        }
        let mut valid = Vec::new();
        for (place, candidate) in candidates.into_iter().enumerate() {
            if let Some(candidate) = candidate.valid().filter(|candidate| *candidate != self.best) {
                valid.push((place, candidate));
            }
        }
        let all: Vec<Candidate> = valid.iter().map(|(_, candidate)| candidate.clone()).collect();
        let Some(found) = self.attempts.first(&all)? else { return Ok(None) };
        let (place, candidate) = valid.swap_remove(found);
        self.best = candidate;
        (self.told)(what, self.best.size());
        Ok(Some(place))
    }

    fn take_one(&mut self, what: &str, candidate: Candidate) -> Tried {
        Ok(self.take(what, [candidate])?.is_some())
    }

    /// Takes as many of these things away as can be: all, halves, quarters, and so on, down to single ones.
    fn take_away<T: Clone>(
        &mut self,
        what: &str,
        mut items: Vec<T>,
        without: impl Fn(&Candidate, &[T]) -> Candidate,
    ) -> Result<(), ReduceError> {
        let mut size = items.len();
        while size > 0 && !items.is_empty() && !self.attempts.are_over() {
            let mut place = 0;
            while place < items.len() {
                let chunks: Vec<(usize, &[T])> = (place..items.len())
                    .step_by(size)
                    .map(|from| (from, &items[from..items.len().min(from + size)]))
                    .collect();
                let candidates: Vec<Candidate> =
                    chunks.iter().map(|(_, chunk)| without(&self.best, chunk)).collect();
                let Some(found) = self.take(what, candidates)? else { break };
                let (from, taken) = (chunks[found].0, chunks[found].1.len());
                drop(chunks);
                items.drain(from..from + taken);
                place = from;
            }
            size = if size > items.len() { items.len() } else { size / 2 };
        }
        Ok(())
    }

    /// The place of the stage in which the failure shows.
    fn failing(&self) -> Option<usize> {
        let stage = &self.finding()?.stage;
        self.best.stages.iter().position(|it| *stage == it.name)
    }

    /// The finding by which the best candidate shows the failure.
    fn finding(&self) -> Option<&Finding> {
        self.symptom.shown_by(&self.attempts.best.as_ref()?.findings)
    }

    fn cut_after_the_failure(&mut self) -> Result<(), ReduceError> {
        if let Some(failing) = self.failing() {
            let later: Vec<usize> = (failing + 1..self.best.stages.len()).collect();
            let cut = self.best.without_stages(&later);
            self.take_one("stages after the failing one", cut)?;
        }
        Ok(())
    }

    /// Drops stages: first all but the failing one, then all but that and the one before.
    fn stages(&mut self) -> Result<(), ReduceError> {
        self.cut_after_the_failure()?;
        let last = self.best.stages.len() - 1;
        let only = |count: usize| (0..last - count).collect::<Vec<usize>>();
        let guesses = (0..last.min(2)).map(|count| self.best.without_stages(&only(count)));
        let guesses: Vec<Candidate> = guesses.collect();
        if self.take("stages", guesses)? == Some(0) {
            return Ok(());
        }
        let names: Vec<String> = self.best.stages.iter().map(|stage| stage.name.clone()).collect();
        let (_, earlier) = names.split_last().expect("there is a stage");
        self.take_away("stages", earlier.to_vec(), |best, names| {
            let is_named = |(_, stage): &(usize, &crate::case::stage::Stage)| names.contains(&stage.name);
            let places: Vec<usize> =
                best.stages.iter().enumerate().filter(is_named).map(|(place, _)| place).collect();
            best.without_stages(&places)
        })
    }

    /// Removes resources: first all but those that the finding names, then all but those and their neighbours.
    fn resources(&mut self) -> Result<(), ReduceError> {
        let names = self.best.names();
        let encoding = self.best.template.spelling.encoding(false);
        let named = self.finding().map(|finding| named_in(finding, &names, &encoding)).unwrap_or_default();
        let edges = self.best.edges();
        let near = |named: &BTreeSet<String>| -> BTreeSet<String> {
            let touched = edges.iter().filter(|(from, to)| named.contains(from) || named.contains(to));
            touched.flat_map(|(from, to)| [from, to]).chain(named).cloned().collect()
        };
        // Where it names none, any one may do.
        let one =
            || [names.first(), names.last()].into_iter().flatten().map(|name| BTreeSet::from([name.clone()]));
        let guesses: Vec<BTreeSet<String>> =
            if named.is_empty() { one().collect() } else { vec![named.clone(), near(&named)] };
        let guesses = guesses.iter().filter(|kept| kept.len() < names.len()).map(|kept| {
            let gone: Vec<String> = names.difference(kept).cloned().collect();
            self.best.without_resources(&gone)
        });
        let guesses: Vec<Candidate> = guesses.collect();
        self.take("resources", guesses)?;
        let mut names: Vec<String> = self.best.names().into_iter().collect();
        // Those that the finding does not name come first.
        names.sort_by_key(|name| named.contains(name));
        self.take_away("resources", names, Candidate::without_resources)?;
        let is_link = |best: &Candidate, name: &String| {
            let edges = best.edges();
            edges.iter().any(|(from, _)| from == name) && edges.iter().any(|(_, to)| to == name)
        };
        let mut names: Vec<String> = self.best.names().into_iter().collect();
        while let Some(name) = names.pop() {
            let without = self.best.without_link(&name);
            if is_link(&self.best, &name) && self.take_one("resources", without)? {
                names = self.best.names().into_iter().collect();
            }
        }
        Ok(())
    }

    /// Takes the plain way of doing it for each stage that is done in another.
    fn simpler_stages(&mut self) -> Result<(), ReduceError> {
        let all_plain =
            self.best.stages.iter().enumerate().rev().fold(self.best.clone(), |all, (place, _)| {
                all.with_plan_applied_at_once(place).unwrap_or(all)
            });
        self.take_one("saved plans", all_plain)?;
        let mut place = 0;
        while place < self.best.stages.len() {
            let at_once = self.best.with_plan_applied_at_once(place);
            let simpler: Vec<Candidate> =
                at_once.into_iter().chain(self.best.simpler_stages(place)).collect();
            if self.take("workflow", simpler)?.is_none() {
                place += 1;
            }
        }
        let has_other = self.best.stages.iter().any(|stage| matches!(stage.program, ProgramRef::LastOf(_)));
        if has_other {
            let mut own = self.best.clone();
            let last = own.batches.len();
            for stage in own.stages.iter_mut().filter(|it| matches!(it.program, ProgramRef::LastOf(_))) {
                stage.program = ProgramRef::Batch(last);
            }
            self.take_one("the other variant", own)?;
        }
        let without = self.best.without_outputs();
        self.take_one("outputs", without)?;
        Ok(())
    }

    fn edges(&mut self) -> Result<(), ReduceError> {
        self.take_away("edges", self.best.edges(), Candidate::without_edges)?;
        // What changes because of an edge can change by itself.
        let mut edges = self.best.edges();
        while let Some(edge) = edges.pop() {
            let without = self.best.without_edges(std::slice::from_ref(&edge));
            let places = 1..self.best.batches.len();
            let ways = places.flat_map(|place| [("pin", place), ("label", place)]);
            let changed: Vec<Candidate> = ways
                .filter_map(|(attribute, place)| without.with_another_value(&edge.1, attribute, place))
                .collect();
            if self.take("edges", changed)?.is_some() {
                edges = self.best.edges();
            }
        }
        Ok(())
    }

    fn settings(&mut self) -> Result<(), ReduceError> {
        self.take_away("settings", self.best.values(), Candidate::without_values)?;
        self.take_away("kinds of edges", self.best.kinds(), Candidate::with_plain_kinds)
    }

    /// Writes names and values as they are, and what has to be written otherwise as short as possible.
    fn spelling(&mut self) -> Result<(), ReduceError> {
        self.take_away("names and texts", self.best.spelled(), Candidate::with_plain_spelling)?;
        for spelled in self.best.spelled() {
            while self.take("texts", self.best.with_shorter_spelling(&spelled))?.is_some() {}
        }
        Ok(())
    }

    /// Has batches differ in less, and takes away what is needed in some of them only.
    fn places(&mut self) -> Result<(), ReduceError> {
        // What was taken away changes what differs, and how many batches there are: each round begins anew.
        let mut changes = self.best.changes();
        changes.reverse();
        let mut tried = BTreeSet::new();
        while let Some(change) = changes.iter().find(|change| !tried.contains(*change)).cloned() {
            if self.attempts.are_over() {
                return Ok(());
            }
            tried.insert(change.clone());
            let without = self.best.without_changes(std::slice::from_ref(&change));
            if self.take_one("changes", without)? {
                changes = self.best.changes();
                changes.reverse();
            }
        }
        // In a single batch, what is there in all of them was tried already.
        if self.best.batches.len() < 2 {
            return Ok(());
        }
        let mut details = self.best.details();
        let mut tried = BTreeSet::new();
        while let Some(detail) = details.iter().find(|detail| !tried.contains(*detail)).cloned() {
            if self.attempts.are_over() {
                return Ok(());
            }
            tried.insert(detail.clone());
            let without = self.best.without_details(std::slice::from_ref(&detail));
            // It is smaller only if there is not more to change from one batch to the next.
            if without.changes().len() <= self.best.changes().len() && self.take_one("details", without)? {
                details = self.best.details();
            }
        }
        Ok(())
    }

    /// Gives resources and stages plain names, and puts resources in reading order.
    fn names(&mut self) -> Result<(), ReduceError> {
        let names = plain_names(&self.best);
        let renamed = self.best.renamed(&names);
        let guesses = [
            renamed.in_reading_order().with_plain_stage_names(),
            renamed.in_reading_order(),
            renamed,
            self.best.in_reading_order(),
        ];
        self.take("names", guesses)?;
        let stages = self.best.with_plain_stage_names();
        self.take_one("names", stages)?;
        Ok(())
    }
}

/// The resources that a finding mentions.
fn named_in(finding: &Finding, names: &BTreeSet<String>, encoding: &Encoding) -> BTreeSet<String> {
    names
        .iter()
        .filter(|name| finding.mentions(name, &encoding.address(&name.as_str().into())))
        .cloned()
        .collect()
}

/// `a`, `b`, `c`, …: dependencies before their dependents, as far as all batches agree.
fn plain_names(candidate: &Candidate) -> BTreeMap<String, String> {
    let (names, edges) = (candidate.names(), candidate.edges());
    let edges: Vec<(&str, &str)> = edges.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    let order = crate::algebra::graph::topological_order(names.iter().map(String::as_str), &edges);
    let order = order.unwrap_or_else(|_| names.iter().cloned().collect());
    let letter = |index: usize| match u8::try_from(index) {
        Ok(index) if index < 26 => char::from(b'a' + index).to_string(),
        _ => format!("r{index}"),
    };
    order.into_iter().enumerate().map(|(index, name)| (name, letter(index))).collect()
}
