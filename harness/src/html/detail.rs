//! All that a page says of one variant: its stages as pictures, what was due and done, programs, lines of the ledger.

mod program;
mod stage;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use equiform_proto::ledger::Object;
use serde::Serialize;

use self::program::Programs;
use self::stage::{FoundHere, Ledgers, StageDetail};
use super::clip::{Clipped, MOST, clip};
use super::layout::{Layout, layout};
use crate::algebra::graph::NamedGraph;
use crate::case::Case;
use crate::judge::observe::graph_of;
use crate::judge::oracles::{Oracle, Trial};
use crate::judge::variant::judge_each;
use crate::judge::verdict::VariantVerdict;
use crate::spec::EdgeKind;

/// What there is to say of a variant.
#[derive(Debug, Serialize)]
pub struct Detail {
    case: usize,
    variant: usize,
    /// As text: numbers of scripts are not that exact.
    seed: String,
    term: Clipped,
    /// The names of all resources; everything else speaks of them by their places here.
    names: Vec<String>,
    /// Where they stand; none if there are too many to be drawn.
    layout: Option<Layout>,
    stages: Vec<StageDetail>,
    /// The names of the stages that were not reached, or not judged.
    not_reached: Vec<String>,
    /// What was found that belongs to no stage: where variants are held against each other.
    findings: Vec<FoundHere>,
    /// Why the evidence cannot be shown to its end.
    broken: Option<String>,
}

/// The resources and edges of all pictures of a variant, numbered as they come.
#[derive(Debug, Default)]
pub struct Numbering {
    numbers: BTreeMap<String, usize>,
    names: Vec<String>,
    edges: BTreeMap<(usize, usize), usize>,
    ends: Vec<(usize, usize)>,
}

impl Numbering {
    /// The number of a resource.
    pub fn node(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len();
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }

    /// The number of an edge from a dependency to its dependent.
    pub fn edge(&mut self, dependency: &str, dependent: &str) -> usize {
        let ends = (self.node(dependency), self.node(dependent));
        *self.edges.entry(ends).or_insert_with(|| {
            self.ends.push(ends);
            self.ends.len() - 1
        })
    }

    /// The dependency and the dependent of an edge.
    pub fn ends(&self, number: usize) -> (&str, &str) {
        let (from, to) = self.ends[number];
        (&self.names[from], &self.names[to])
    }
}

/// What the world was like at a point.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// The graph.
    pub graph: NamedGraph,
    /// How many objects have each key.
    pub objects: BTreeMap<String, usize>,
    /// The kind of each edge, by the attribute that holds the reference.
    pub kinds: BTreeMap<(String, String), &'static str>,
}

impl Seen {
    fn after(trial: &Trial<'_>) -> Self {
        let name = |object: &Object| object.key.clone().unwrap_or_else(|| object.id.clone());
        let (mut objects, mut kinds) = (BTreeMap::new(), BTreeMap::new());
        for object in trial.world.unordered() {
            *objects.entry(name(object)).or_default() += 1;
            for reference in &object.refs {
                let kind = EdgeKind::named(&reference.path).unwrap_or(EdgeKind::Refs);
                if let Some(dependency) = trial.world.get(&reference.id) {
                    kinds.insert((name(dependency), name(object)), kind.name());
                }
            }
        }
        Self { graph: graph_of(trial.world).0, objects, kinds }
    }
}

impl Detail {
    /// What the evidence in a variant's folder shows.
    pub fn read(
        case: &Case,
        verdict: &VariantVerdict,
        number: usize,
        folder: &Path,
        oracles: &[&Oracle],
    ) -> Self {
        let variant = verdict.variant;
        let mut numbering = Numbering::default();
        let mut ledgers = Ledgers::read(folder);
        let mut programs = Programs::default();
        let (mut stages, mut world) = (Vec::new(), Seen::default());
        let mut began: BTreeMap<String, Seen> = BTreeMap::new();
        judge_each(case, variant, folder, oracles, |trial| {
            let before = match &trial.stage.repeats {
                Some(repeated) => began.get(repeated).cloned().unwrap_or_default(),
                None => world.clone(),
            };
            let after = Seen::after(trial);
            began.insert(trial.stage.name.clone(), before.clone());
            let mut stage = StageDetail::of(trial, &before, &after, &mut numbering);
            stage.add_program(programs.of(&folder.join(&trial.stage.name)));
            stage.add_ledger(ledgers.take(folder, trial.stage));
            stages.push(stage);
            if trial.stage.repeats.is_none() {
                world = after;
            }
        });
        let mut findings = Vec::new();
        for finding in verdict.result.findings() {
            let stage = stages.iter_mut().find(|stage| finding.stage == *stage.name());
            stage.map_or(&mut findings, |stage| &mut stage.findings).push(finding.into());
        }
        let shown: BTreeSet<String> = stages.iter().map(|stage| stage.name().to_owned()).collect();
        let due = &case.variants[variant].stages;
        let not_reached = due.iter().map(|stage| stage.name.clone()).filter(|name| !shown.contains(name));
        Self {
            case: number,
            variant,
            seed: case.seed.to_string(),
            term: clip(&case.variants[variant].program, MOST),
            layout: layout(&numbering.names, &numbering.ends),
            names: numbering.names,
            stages,
            not_reached: not_reached.collect(),
            findings,
            broken: ledgers.broken,
        }
    }
}
