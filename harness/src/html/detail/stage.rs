//! One stage of a variant.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use equiform_proto::faults::FaultAction;
use equiform_proto::ledger::{Reader, Record};
use serde::Serialize;

use super::program::ProgramText;
use super::{Numbering, Seen};
use crate::case::stage::Stage;
use crate::evidence::{LEDGER, ObservedOperation};
use crate::html::clip::{Clipped, MOST, clip, short};
use crate::judge::finding::Finding;
use crate::judge::oracles::{Trial, violations};
use crate::spec::meaning::Dependencies;
use crate::spec::{Action, Drift, EdgeKind, Expectation, OperationKind, ResourceOperation};

/// The most operations, pairs and lines of a stage that a page holds.
const MOST_ENTRIES: usize = 1500;

/// What there is to say of a stage.
#[derive(Debug, Serialize)]
pub struct StageDetail {
    name: String,
    judged_as: &'static str,
    command: String,
    exit: Option<i32>,
    timed_out: bool,
    exceeded: bool,
    lock_left: bool,
    warm: bool,
    milliseconds: u64,
    repeats: Option<String>,
    /// What the provider was told to fail.
    failures: Vec<String>,
    expected: Picture,
    observed: Picture,
    /// What was due: a sign and a resource.
    due: Vec<(char, usize)>,
    did: Vec<Did>,
    /// Pairs of what was due, by their places, with the number and the text of the rule that orders them. Those that
    /// follow from others are left out.
    pairs: Vec<(usize, usize, u8, &'static str)>,
    /// Pairs of what was done, by their places, that did not keep the order, with the rule.
    violated: Vec<(usize, usize, u8, &'static str)>,
    /// How much of the above is left out, because there is too much of it.
    left_out: usize,
    program: Option<ProgramText>,
    ledger: Vec<Line>,
    ledger_left_out: usize,
    pub findings: Vec<FoundHere>,
}

/// A graph as it is drawn: its nodes, and its edges by their numbers.
#[derive(Debug, Default, Serialize)]
struct Picture {
    /// The resource, what becomes of it, and how many objects there are of it.
    nodes: Vec<(usize, String, usize)>,
    /// The edge, its kind, and whether it goes with one of its ends.
    edges: Vec<(usize, &'static str, bool)>,
}

/// An operation that was done.
#[derive(Debug, Serialize)]
struct Did {
    sign: char,
    node: usize,
    begin: u64,
    end: Option<u64>,
    took_effect: bool,
    was_due: bool,
    fault: Option<String>,
}

/// A line of the ledger: its `seq`, when it was written, the line itself.
#[derive(Debug, Serialize)]
pub struct Line(u64, String, Clipped);

/// A finding.
#[derive(Debug, Serialize)]
pub struct FoundHere {
    oracle: &'static str,
    kind: String,
    text: String,
    known: Option<String>,
}

impl From<&Finding> for FoundHere {
    fn from(finding: &Finding) -> Self {
        Self {
            oracle: finding.oracle().name(),
            kind: finding.signature().what(),
            text: short(&finding.to_string(), MOST),
            known: finding.known.clone(),
        }
    }
}

/// What becomes of a resource: added, changed, replaced, deleted, kept, or there for a moment only.
fn change(before: bool, after: bool, kinds: &BTreeSet<OperationKind>) -> &'static str {
    use OperationKind::{Create, Delete, Update};
    match (before, after) {
        (false, true) => "a",
        (true, false) => "d",
        (true, true) if kinds.contains(&Create) || kinds.contains(&Delete) => "r",
        (true, true) if kinds.contains(&Update) => "c",
        (true, true) => "k",
        (false, false) => "x",
    }
}

impl StageDetail {
    /// Of a stage, and the world before and after it.
    pub fn of(trial: &Trial<'_>, before: &Seen, after: &Seen, numbering: &mut Numbering) -> Self {
        let record = &trial.evidence.record;
        let nothing = Expectation::nothing(0);
        let expectation = trial.model.as_ref().map_or(&nothing, |model| model.expectation);
        let due: Vec<&ResourceOperation> = expectation.operations.iter().take(MOST_ENTRIES).collect();
        let place: BTreeMap<&ResourceOperation, usize> =
            due.iter().enumerate().map(|(place, operation)| (*operation, place)).collect();
        let pairs = expectation.pairs().filter(|(_, _, reason)| !reason.implied);
        let pairs = pairs.filter_map(|(first, second, reason)| {
            Some((*place.get(first)?, *place.get(second)?, reason.rule.number(), reason.rule.text()))
        });
        let operations = &trial.evidence.operations;
        let done: BTreeMap<u64, usize> =
            operations.iter().take(MOST_ENTRIES).enumerate().map(|(place, did)| (did.begin, place)).collect();
        let violated = violations(trial).into_iter().filter_map(|violation| {
            let (earlier, later) = (done.get(&violation.earlier.begin)?, done.get(&violation.later.begin)?);
            Some((*earlier, *later, violation.reason.rule.number(), violation.reason.rule.text()))
        });
        let all = expectation.operations.len() + operations.len();
        let expected = expected(trial, before, numbering);
        Self {
            name: trial.stage.name.clone(),
            judged_as: trial.stage.judged_as.meaning().name,
            command: short(&record.command, MOST),
            exit: record.exit,
            timed_out: record.timed_out,
            exceeded: record.exceeded.is_some(),
            lock_left: record.lock_left,
            warm: record.warm,
            milliseconds: record.milliseconds,
            repeats: trial.stage.repeats.clone(),
            failures: trial.stage.faults.iter().map(ToString::to_string).collect(),
            observed: observed(trial, before, after, &expected, numbering),
            expected,
            pairs: pairs.take(MOST_ENTRIES).collect(),
            violated: violated.take(MOST_ENTRIES).collect(),
            left_out: all - due.len() - done.len(),
            did: operations
                .iter()
                .take(MOST_ENTRIES)
                .map(|did| Did::of(did, expectation.operations.contains(&did.operation), numbering))
                .collect(),
            due: due.into_iter().map(|due| (due.kind.sign(), numbering.node(&due.key))).collect(),
            program: None,
            ledger: Vec::new(),
            ledger_left_out: 0,
            findings: Vec::new(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds its program.
    pub fn add_program(&mut self, program: Option<ProgramText>) {
        self.program = program;
    }

    /// Adds its lines of the ledger.
    pub fn add_ledger(&mut self, (lines, left_out): (Vec<Line>, usize)) {
        (self.ledger, self.ledger_left_out) = (lines, left_out);
    }
}

impl Did {
    fn of(observed: &ObservedOperation, was_due: bool, numbering: &mut Numbering) -> Self {
        Self {
            sign: observed.operation.kind.sign(),
            node: numbering.node(&observed.operation.key),
            begin: observed.begin,
            end: observed.end.map(|(seq, _)| seq),
            took_effect: matches!(observed.end, Some((_, true))),
            was_due,
            fault: observed.fault.as_deref().map(|fault| short(fault, MOST)),
        }
    }
}

/// What the model expects to be there after a stage, and what is to become of it.
fn expected(trial: &Trial<'_>, before: &Seen, numbering: &mut Numbering) -> Picture {
    let Some(model) = &trial.model else { return Picture::default() };
    let (mut due, failing) = (BTreeMap::<&str, BTreeSet<OperationKind>>::new(), &model.expectation.failing);
    for operation in &model.expectation.operations {
        let kinds = due.entry(&operation.key).or_default();
        if !failing.contains(operation) || fails_in_part(trial, operation) {
            kinds.insert(operation.kind);
        }
    }
    let deployed: BTreeMap<&str, _> =
        model.deployed.current().map(|(key, remembered, ..)| (&**key, remembered)).collect();
    let nothing = BTreeSet::new();
    let mut picture = Picture::default();
    let keys: BTreeSet<&str> = deployed.keys().chain(due.keys()).copied().collect();
    for key in keys {
        let kinds = due.get(key).unwrap_or(&nothing);
        let fails = failing.iter().any(|operation| &*operation.key == key);
        // What has gone behind the engine's back is in the model, and not in the world.
        let was = deployed.contains_key(key) && before.objects.contains_key(key);
        let deleted = kinds.contains(&OperationKind::Delete) && !kinds.contains(&OperationKind::Create);
        let is = !deleted && !goes_now(trial, key) && (was || kinds.contains(&OperationKind::Create));
        if !was && !is && !fails {
            continue;
        }
        let mut change = change(was, is, kinds).to_owned();
        if fails {
            change.push('!');
        }
        picture.nodes.push((numbering.node(key), change, usize::from(is)));
        let dependencies: Option<&Dependencies> = match model.program.node(key) {
            Some(node) if !kinds.is_empty() && !deleted => Some(&node.dependencies),
            _ => deployed.get(key).map(|remembered| &*remembered.dependencies),
        };
        for (dependency, kind) in dependencies.into_iter().flatten() {
            if model.program.node(dependency).is_some() || model.deployed.has(dependency) {
                picture.edges.push((numbering.edge(dependency, key), kind.name(), !is));
            }
        }
    }
    picture
}

/// Whether the stage is the drift by which an object goes.
fn goes_now(trial: &Trial<'_>, key: &str) -> bool {
    matches!(&trial.stage.action, Action::Drift { key: gone, change: Drift::Gone } if gone == key)
}

/// Whether an operation that fails has an effect all the same.
fn fails_in_part(trial: &Trial<'_>, operation: &ResourceOperation) -> bool {
    trial.stage.faults.iter().any(|fault| {
        let takes_effect = match fault.action {
            FaultAction::Error => false,
            FaultAction::ErrorWithPartialObject => true,
            FaultAction::Breach(breach) => breach.takes_effect(),
        };
        takes_effect
            && fault.call.key.as_deref() == Some(&*operation.key)
            && OperationKind::met_by(fault) == Some(operation.kind)
    })
}

/// What was there after a stage, and what became of it.
fn observed(
    trial: &Trial<'_>,
    before: &Seen,
    after: &Seen,
    expected: &Picture,
    numbering: &mut Numbering,
) -> Picture {
    let mut done: BTreeMap<&str, BTreeSet<OperationKind>> = BTreeMap::new();
    let mut failed: BTreeSet<&str> = BTreeSet::new();
    for observed in &trial.evidence.operations {
        let kinds = done.entry(&observed.operation.key).or_default();
        match observed.end {
            Some((_, true)) => drop(kinds.insert(observed.operation.kind)),
            _ => drop(failed.insert(&observed.operation.key)),
        }
    }
    let nothing = BTreeSet::new();
    let mut picture = Picture::default();
    let there = before.objects.keys().chain(after.objects.keys()).map(String::as_str);
    let keys: BTreeSet<&str> = there.chain(done.keys().copied()).collect();
    for key in &keys {
        let count = after.objects.get(*key).copied().unwrap_or_default();
        let kinds = done.get(key).unwrap_or(&nothing);
        let mut change = change(before.objects.contains_key(*key), count > 0, kinds).to_owned();
        if failed.contains(key) {
            change.push('!');
        }
        picture.nodes.push((numbering.node(key), change, count));
    }
    let mut drawn = BTreeSet::new();
    let kind = |seen: &Seen, edge: &(String, String)| seen.kinds.get(edge).copied().unwrap_or("refs");
    for edge in &after.graph.edges {
        picture.edges.push((numbering.edge(&edge.0, &edge.1), kind(after, edge), false));
        drawn.insert(numbering.edge(&edge.0, &edge.1));
    }
    for edge in &before.graph.edges {
        let gone = !after.objects.contains_key(&edge.0) || !after.objects.contains_key(&edge.1);
        if gone && drawn.insert(numbering.edge(&edge.0, &edge.1)) {
            picture.edges.push((numbering.edge(&edge.0, &edge.1), kind(before, edge), true));
        }
    }
    // Edges of order alone leave no value in the world: they are where the model has them.
    let of_order = expected
        .edges
        .iter()
        .filter(|(_, kind, _)| EdgeKind::named(kind).is_some_and(|kind| !kind.leaves_a_value()));
    for (edge, kind, going) in of_order {
        let (dependency, dependent) = numbering.ends(*edge);
        let are_there = [dependency, dependent].iter().all(|end| after.objects.contains_key(*end));
        if are_there && !going && drawn.insert(*edge) {
            picture.edges.push((*edge, kind, false));
        }
    }
    picture
}

/// The lines of a variant's ledger that tell of changes, by their stages.
#[derive(Debug, Default)]
pub struct Ledgers {
    stages: BTreeMap<String, (Vec<Line>, usize)>,
    /// Why they could not be read to the end.
    pub broken: Option<String>,
}

impl Ledgers {
    /// Those in a variant's folder.
    pub fn read(folder: &Path) -> Self {
        let mut ledgers = Self::default();
        ledgers.add(&folder.join(LEDGER), None);
        ledgers
    }

    /// The lines of a stage, and how many of them are left out. A repetition has a ledger of its own.
    pub fn take(&mut self, folder: &Path, stage: &Stage) -> (Vec<Line>, usize) {
        if stage.repeats.is_some() {
            self.add(&folder.join(&stage.name).join(LEDGER), Some(&stage.name));
        }
        self.stages.remove(&stage.name).unwrap_or_default()
    }

    fn add(&mut self, path: &Path, only: Option<&str>) {
        let Ok(file) = File::open(path) else { return };
        let mut reader = Reader::new(BufReader::with_capacity(1 << 18, file));
        while let Some(line) = reader.next() {
            let entry = match line {
                Ok(line) => match line.record {
                    Record::Entry(entry) => entry,
                    Record::Header(_) | Record::Torn => continue,
                },
                Err(error) => {
                    self.broken = Some(format!("{}: {error}", path.display()));
                    return;
                }
            };
            let Some(run) = entry.run else { continue };
            if entry.op.changes_nothing() || only.is_some_and(|only| only != run) {
                continue;
            }
            let (lines, left_out) = self.stages.entry(run).or_default();
            if lines.len() == MOST_ENTRIES {
                *left_out += 1;
                continue;
            }
            let text = String::from_utf8_lossy(reader.bytes());
            lines.push(Line(entry.seq, format!("{:.6}", entry.time), clip(&text, MOST)));
        }
    }
}
