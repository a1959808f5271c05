//! What a campaign generates: its cases, each from the seed and its number.

use std::ops::{ControlFlow, RangeInclusive};
use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::algebra::batch::Cuts;
use crate::algebra::generate::{Batching, Generator, generate, stream};
use crate::algebra::graph::{NamedGraph, NamedGraphError};
use crate::algebra::implicit::{Escape, Pace};
use crate::algebra::program::print;
use crate::algebra::signature::Signature;
use crate::algebra::source::Source;
use crate::algebra::weights::Weights;
use crate::campaign::fixed_attributes::FixedAttributes;
use crate::campaign::texts;
use crate::case::Case;
use crate::case::spelling::Spelling;
use crate::case::streams::Choice;
use crate::case::workflow::Shares;
use crate::deploy::stop::Stop;
use crate::spec::LeftOut;
use crate::spec::semantics::FOR_CHOICES;
use crate::spec::text::{InvalidKey, check_key};

/// How often a case that is being generated checks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// How often a variant makes a detour.
const ESCAPE: f64 = 0.25;

/// Where sources come from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sources {
    /// They are drawn, with as many resources and edges as the settings say, all edges equally likely.
    #[default]
    Random,
    /// They are drawn in the shapes that real programs have.
    Real,
    /// They are all this graph.
    Given(NamedGraph),
}

impl Sources {
    fn are_random(&self) -> bool {
        *self == Self::Random
    }
}

/// What programs can say of resources and edges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Algebra {
    /// Resources and edges come and go. Attributes, settings and kinds of edges stay the same throughout a case
    #[default]
    Bare,
    /// Attributes, settings and kinds of edges are part of the meaning, and change from batch to batch
    Attributed,
}

/// What names and values are written as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Values {
    /// `r0`, `r1`, …, and `a`, `b`, `c`
    #[default]
    Plain,
    /// As in real programs: empty and long texts, several lines, quotes, `${`, numbers as text, letters of all scripts;
    /// names that are long, hyphenated, or words of the language
    Realistic,
}

impl Values {
    fn are_plain(&self) -> bool {
        *self == Self::Plain
    }
}

/// One case in how many is large, unless something else is asked for.
const LARGE_EVERY: u64 = 20;

/// One in how many variants that passed on a warm engine is run again, unless something else is asked for.
const COLD_EVERY: u64 = 50;

/// How many resources and edges a large case has.
const LARGE: (u32, RangeInclusive<u64>) = (40, 40..=60);

/// What a campaign generates, and by which rules it is judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The seed of everything.
    pub seed: u64,
    /// How many sources.
    pub sources: usize,
    /// How many variants of each.
    pub variants: u64,
    /// Into how many batches each is cut.
    pub batches: usize,
    /// Where sources come from.
    #[serde(default, skip_serializing_if = "Sources::are_random")]
    pub from: Sources,
    /// How many resources a source has.
    pub resources: RangeInclusive<u32>,
    /// How many edges.
    pub edges: RangeInclusive<u32>,
    /// The share of resources with create_before_destroy.
    pub create_before_destroy: f64,
    /// What programs can say of resources and edges.
    #[serde(default)]
    pub algebra: Algebra,
    /// What names and values are written as.
    #[serde(default, skip_serializing_if = "Values::are_plain")]
    pub values: Values,
    /// One case in how many is large; 0 for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub large_every: u64,
    /// One in how many of the variants that passed on a warm engine is run again in fresh processes; 0 for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cold_every: u64,
    /// How engines are driven.
    #[serde(default = "Shares::plain")]
    pub workflows: Shares,
    /// The rules of the model that the cases are not judged by.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Settings from which no case can be generated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidSettings {
    /// An amount is zero that must not be.
    #[error("`{0}` is 0: it must be 1 or more")]
    None(&'static str),
    /// A range ends before it begins.
    #[error("`{0}` goes from {1} to {2}: the first number must not be more than the second")]
    EmptyRange(&'static str, u32, u32),
    /// A share is not between 0 and 1.
    #[error("`create_before_destroy` is {0}: it must be a number from 0 to 1")]
    Share(f64),
    /// The source is not a graph that programs can be made of.
    #[error(transparent)]
    Source(#[from] NamedGraphError),
    /// A resource of the source cannot be called what it is.
    #[error(transparent)]
    Name(#[from] InvalidKey),
    /// The source is empty.
    #[error("the source has no nodes")]
    EmptySource,
}

/// Refuses a graph that cannot be a source.
pub fn check_source(graph: &NamedGraph) -> Result<(), InvalidSettings> {
    graph.resolve()?;
    graph.nodes.iter().try_for_each(|name| check_key(name))?;
    if graph.nodes.is_empty() { Err(InvalidSettings::EmptySource) } else { Ok(()) }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 0,
            sources: 20,
            variants: 10,
            batches: 4,
            from: Sources::Random,
            resources: 3..=12,
            edges: 1..=16,
            create_before_destroy: 0.5,
            algebra: Algebra::Attributed,
            values: Values::Realistic,
            large_every: LARGE_EVERY,
            cold_every: COLD_EVERY,
            workflows: Shares::all(),
            left_out: LeftOut::none(),
        }
    }
}

impl Settings {
    /// Refuses settings from which no case can be generated. Whoever edits a campaign's file can write such.
    pub fn check(&self) -> Result<(), InvalidSettings> {
        for (name, amount) in [
            ("sources", self.sources as u64),
            ("variants", self.variants),
            ("batches", self.batches as u64),
            ("resources", u64::from(*self.resources.start())),
        ] {
            if amount == 0 {
                return Err(InvalidSettings::None(name));
            }
        }
        for (name, range) in [("resources", &self.resources), ("edges", &self.edges)] {
            if range.is_empty() {
                return Err(InvalidSettings::EmptyRange(name, *range.start(), *range.end()));
            }
        }
        if !(0.0..=1.0).contains(&self.create_before_destroy) {
            return Err(InvalidSettings::Share(self.create_before_destroy));
        }
        if let Sources::Given(graph) = &self.from {
            check_source(graph)?;
        }
        Ok(())
    }

    /// One case in how many is large if nobody says so: none where sizes are not the usual ones, or with the bare
    /// algebra.
    pub fn usual_large_every(&self) -> u64 {
        let usual = Self::default();
        let is_usual = self.from == Sources::Random
            && self.algebra == Algebra::Attributed
            && (&self.resources, &self.edges) == (&usual.resources, &usual.edges);
        if is_usual { LARGE_EVERY } else { 0 }
    }

    /// One in how many variants is run again in fresh processes if nobody says so: none with the bare algebra.
    pub fn usual_cold_every(&self) -> u64 {
        if self.algebra == Algebra::Attributed { COLD_EVERY } else { 0 }
    }

    /// The case with this number. It depends on the seed and the number alone.
    pub fn case(&self, number: usize) -> Case {
        let seed = self.case_seed(number);
        let mut rng = stream(seed, None);
        let source = match &self.from {
            Sources::Random if self.is_large(number) => Source::random(LARGE.0..=LARGE.0, LARGE.1, &mut rng),
            Sources::Random => {
                let edges = u64::from(*self.edges.start())..=u64::from(*self.edges.end());
                Source::random(self.resources.clone(), edges, &mut rng)
            }
            Sources::Real => Source::real(&mut rng),
            Sources::Given(graph) => Source::named(graph).expect("it was checked when it was read"),
        };
        let foreign = source.names.count().div_ceil(5);
        let weights = self.weights();
        // A graph that says what its resources are like is taken at its word.
        let is_dressed = matches!(&self.from, Sources::Given(graph) if !graph.is_bare());
        let source = if is_dressed { source } else { source.dressed(&weights, &mut rng) };
        let fixed = self.fixed_attributes(seed);
        let graph = fixed.map(|fixed| fixed.of_graph(&source.graph, &source.names));
        let own = NamedGraph::new(graph.as_ref().unwrap_or(&source.graph), &source.names);
        let source = source.with_foreign(foreign, &mut rng);
        let bound = 4 * source.graph.size() + 16;
        let escape = Escape::new(ESCAPE).expect("it is a probability");
        let pace = Pace::Escape { escape, bound };
        let generator = Generator::Implicit { pace, leave: 0.5, weights: &weights };
        let batching = Batching { batches: self.batches, cuts: Cuts::Random };
        let mut variants = Vec::new();
        generate(
            &source,
            generator,
            batching,
            seed,
            self.variants,
            |_, variant| {
                let dressed = fixed.map(|fixed| fixed.of_variant(variant, &source.names));
                let variant = dressed.as_ref().unwrap_or(variant);
                print(&variant.derivation, &variant.cuts, &source.names)
            },
            |text| {
                variants.push(text);
                ControlFlow::Continue(())
            },
        );
        let case = Case::new(seed, own, variants).expect("what is generated is well-formed");
        let keep_names = matches!(self.from, Sources::Given(_));
        let spelling = match self.values {
            Values::Plain => Spelling::default(),
            Values::Realistic => texts::draw(seed, source.names.iter(), keep_names),
        };
        self.driven(Case { spelling, ..case })
    }

    fn is_large(&self, number: usize) -> bool {
        self.large_every > 0 && (number as u64 + 1).is_multiple_of(self.large_every)
    }

    /// The seed of the case with this number, from which its programs are drawn.
    fn case_seed(&self, number: usize) -> u64 {
        self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number as u64)
    }

    /// The attributes and kinds of a case whose walks draw none.
    fn fixed_attributes(&self, seed: u64) -> Option<FixedAttributes> {
        let create_before_destroy = self.create_before_destroy;
        (self.algebra == Algebra::Bare).then_some(FixedAttributes { seed, create_before_destroy })
    }

    /// How likely values and kinds are on a walk: all have the default with the bare algebra.
    fn weights(&self) -> Weights {
        if self.algebra == Algebra::Bare {
            return Weights::bare().clone();
        }
        let share = (self.create_before_destroy * 1000.0).round() as u32;
        let signature = Signature::attributed();
        let of = |name: &str| signature.attribute(name).expect("it is one of the attributes");
        Weights::even(signature)
            .with_values(of("label"), &[4, 2, 2, 2])
            .with_values(of("pin"), &[6, 2, 2])
            .with_values(of("create_before_destroy"), &[1000 - share.min(1000), share])
            .with_values(of("ignore_changes"), &[8, 2])
            .with_kinds(&[8, 4, 4, 2, 2])
    }

    /// The case with a workflow for each variant.
    fn driven(&self, case: Case) -> Case {
        let outputs = self.algebra == Algebra::Attributed;
        let mut case = Case { left_out: self.left_out.clone(), outputs, ..case };
        let count = case.variants.len();
        for number in 0..count {
            let workflow = self.workflows.workflow(case.seed, number);
            let batches = case.batches(number).expect("what is generated is well-formed");
            let seed = Choice::Stages.seed(case.seed, number);
            let variant = &mut case.variants[number];
            variant.stages = workflow.stages(&batches, (number + 1) % count, FOR_CHOICES, seed);
            variant.workflow = workflow.name.to_owned();
        }
        case
    }

    /// The case with this number, or none if the end is wished before it is there. A large case takes long:
    /// it is generated on a thread of its own, which nobody waits for then, and which ends with the process.
    pub fn case_unless(&self, number: usize, stop: &Stop) -> Option<Case> {
        let (settings, (sender, receiver)) = (self.clone(), mpsc::channel());
        let generating = std::thread::spawn(move || {
            // Nobody listens any more if the end is wished.
            let _ = sender.send(settings.case(number));
        });
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok(case) => return Some(case),
                Err(RecvTimeoutError::Timeout) if stop.asked() => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    resume_unwind(generating.join().expect_err("it has panicked: it sent nothing"))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_takes_long_is_given_up_when_it_is_no_longer_wanted() {
        let stop = Stop::default();
        assert_eq!(settings().case_unless(1, &stop), Some(settings().case(1)));
        // It would take hours, and is never waited for.
        let endless = Settings { sources: 1, variants: 1 << 40, ..settings() };
        std::thread::scope(|scope| {
            let generated = scope.spawn(|| endless.case_unless(0, &stop));
            stop.soon();
            assert_eq!(generated.join().unwrap(), None);
        });
    }

    fn settings() -> Settings {
        Settings {
            seed: 5,
            sources: 2,
            variants: 3,
            batches: 3,
            resources: 3..=6,
            edges: 1..=8,
            ..Settings::default()
        }
    }

    #[test]
    fn a_case_depends_on_the_seed_and_its_number_alone() {
        let more = Settings { sources: 50, ..settings() };
        assert_eq!(settings().case(1), more.case(1));
        assert_ne!(settings().case(0), settings().case(1));
        assert_ne!(settings().case(0), Settings { seed: 6, ..settings() }.case(0));
    }

    #[test]
    fn no_two_choices_of_a_campaign_share_a_random_stream() {
        use std::collections::BTreeSet;
        let of_cases = |seed| {
            let settings = Settings { seed, sources: 20, variants: 10, ..settings() };
            (0..settings.sources).map(move |number| settings.case_seed(number))
        };
        let cases: Vec<u64> = (0..3).flat_map(of_cases).collect();
        let mut seeds: BTreeSet<u64> = cases.iter().copied().collect();
        for case in &cases {
            seeds.insert(Choice::Workflow.seed(*case, 0));
            seeds.insert(Choice::Spelling.seed(*case, 0));
            seeds.extend((0..10).map(|variant| Choice::Stages.seed(*case, variant)));
            seeds.extend((0..10).map(|variant| Choice::Cold.seed(*case, variant)));
        }
        assert_eq!(seeds.len(), cases.len() * (1 + 2 + 2 * 10));
    }

    #[test]
    fn variants_of_neighbouring_cases_make_different_choices() {
        // The same batches by the same workflow: only the stream can make a difference.
        let given = serde_json::from_str(r#"{"nodes":["a","b","c","d","e","f"],"edges":[]}"#).unwrap();
        let settings = Settings {
            variants: 8,
            batches: 1,
            from: Sources::Given(given),
            workflows: "destroy-by-pieces".parse().unwrap(),
            ..settings()
        };
        let stages = |case: usize, variant: usize| {
            let stages = settings.case(case).variants[variant].stages.clone();
            stages.into_iter().map(|stage| stage.action).collect::<Vec<_>>()
        };
        let same = (1..8).filter(|number| stages(0, *number) == stages(*number, 0)).count();
        assert!(same < 4, "{same} of 7 pairs chose the same");
    }

    #[test]
    fn every_variant_ends_in_the_source() {
        let given = serde_json::from_str(r#"{"nodes":["web","net"],"edges":[["net","web"]]}"#).unwrap();
        for number in 0..20 {
            let from = [Sources::Random, Sources::Real, Sources::Given(NamedGraph::clone(&given))]
                [number % 3]
                .clone();
            let case = Settings { from: from.clone(), ..settings() }.case(number);
            let given =
                |graph: &NamedGraph| graph.nodes == case.source.nodes && graph.edges == case.source.edges;
            assert!(!matches!(&from, Sources::Given(graph) if !given(graph)));
            assert_eq!(case.variants.len(), 3);
            for variant in 0..case.variants.len() {
                let batches = case.batches(variant).unwrap();
                let last = &batches.last().unwrap().program;
                assert!(last.meaning.nodes.keys().map(|key| &**key).eq(&case.source.nodes));
                let edges = last.meaning.nodes.iter().flat_map(|(key, node)| {
                    node.dependencies.keys().map(|dependency| (dependency.to_string(), key.to_string()))
                });
                assert_eq!(edges.collect::<std::collections::BTreeSet<_>>(), case.source.edges);
            }
        }
    }
}
