//! An e-graph that will not change any more: what extraction, drawing, statistics and the cache work on.

use serde::{Deserialize, Serialize};

use super::core::EGraph;
use super::denotation::Denotation;
use super::operations::{Op, Operations};
use super::table::{ClassId, Table};
use super::{
    Ending, LargeEGraph, Limits, Packed, Progress, SmallEGraph, UnsoundRule, Wide, WideEGraph, saturate,
};
use crate::program::{Derivation, Step};
use crate::rules::Rules;
use crate::signature::Signature;

/// Figures of a saturation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// The resources of the universe.
    pub resources: u32,
    /// The classes in the end.
    pub classes: usize,
    /// The e-nodes in the end, `empty` among them.
    pub nodes: usize,
    /// The classes ever made; the difference was joined with others.
    pub classes_made: usize,
    /// How it ended.
    pub ending: Ending,
    /// The seconds it took.
    pub seconds: f64,
    /// The bytes its tables took in the end.
    pub bytes: usize,
}

/// Classes from 0, which is that of `empty`, and for each the e-nodes over it.
#[derive(Debug, Clone, PartialEq)]
pub struct Frozen {
    /// Figures of its making.
    pub stats: Stats,
    pub(super) signature: Signature,
    pub(super) starts: Vec<u64>,
    pub(super) entries: Vec<(Op, ClassId)>,
}

impl Frozen {
    /// Saturates the e-graph over so many resources that holds `empty` and these programs, and freezes it.
    pub fn build(
        resources: u32,
        signature: &Signature,
        seeds: &[Derivation],
        rules: &Rules,
        limits: Limits,
        progress: impl FnMut(Progress),
    ) -> Result<Self, UnsoundRule> {
        if signature.is_bare() && resources <= Packed::MOST_RESOURCES {
            Self::build_in(SmallEGraph::new(resources, signature), seeds, rules, limits, progress)
        } else if Wide::fits(resources, signature) {
            Self::build_in(WideEGraph::new(resources, signature), seeds, rules, limits, progress)
        } else {
            Self::build_in(LargeEGraph::new(resources, signature), seeds, rules, limits, progress)
        }
    }

    fn build_in<D: Denotation, T: Table>(
        mut egraph: EGraph<D, T>,
        seeds: &[Derivation],
        rules: &Rules,
        limits: Limits,
        progress: impl FnMut(Progress),
    ) -> Result<Self, UnsoundRule> {
        let start = std::time::Instant::now();
        for seed in seeds {
            let mut class = EGraph::<D, T>::EMPTY;
            for &step in seed.steps() {
                let told =
                    |what| UnsoundRule { rule: "(the program given)".to_owned(), what: Box::new(what) };
                let op = egraph.operations().of_step(step).expect("seeds disconnect in the fixed order");
                class = egraph.enter(class, op).map_err(told)?;
            }
        }
        let ending = saturate(&mut egraph, rules, limits, progress)?;
        Ok(Self::freeze(&egraph, ending, start.elapsed().as_secs_f64()))
    }

    fn freeze<D: Denotation, T: Table>(egraph: &EGraph<D, T>, ending: Ending, seconds: f64) -> Self {
        let mut numbers = vec![u32::MAX; egraph.classes_made()];
        egraph.classes().zip(0..).for_each(|(class, number)| numbers[class.at()] = number);
        let (mut starts, mut entries) = (vec![0], Vec::with_capacity(egraph.node_count()));
        for class in egraph.classes() {
            let row = egraph.table().row(class, 0..egraph.operations().count());
            entries.extend(row.map(|(op, result)| (op, ClassId(numbers[egraph.find(result).at()]))));
            starts.push(entries.len() as u64);
        }
        let stats = Stats {
            resources: egraph.operations().resources(),
            classes: egraph.class_count(),
            nodes: entries.len() + 1,
            classes_made: egraph.classes_made(),
            ending,
            seconds,
            bytes: egraph.bytes(),
        };
        Self { stats, signature: egraph.operations().signature().clone(), starts, entries }
    }

    /// The operations of its universe.
    pub fn operations(&self) -> Operations {
        Operations::over(self.stats.resources, &self.signature)
    }

    /// The class of `empty`.
    pub const EMPTY: ClassId = ClassId(0);

    /// All classes.
    pub fn classes(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..u32::try_from(self.stats.classes).expect("fewer than 2^32 classes")).map(ClassId)
    }

    /// The e-nodes over a class: each operation on it, and the class that e-node is in.
    pub fn over(&self, class: ClassId) -> &[(Op, ClassId)] {
        &self.entries[self.starts[class.at()] as usize..self.starts[class.at() + 1] as usize]
    }

    /// The class of a program, if all of it is there.
    pub fn lookup(&self, operations: &Operations, steps: &[Step]) -> Option<ClassId> {
        let mut class = Self::EMPTY;
        for &step in steps {
            let op = operations.of_step(step)?;
            let row = self.over(class);
            class = row[row.binary_search_by_key(&op, |entry| entry.0).ok()?].1;
        }
        Some(class)
    }

    /// A shortest program for each class.
    pub fn shortest_programs(&self, operations: &Operations) -> Vec<Derivation> {
        let mut programs: Vec<Option<Derivation>> = vec![None; self.stats.classes];
        programs[0] = Some(Derivation::default());
        let mut queue = vec![Self::EMPTY];
        let mut next = 0;
        while let Some(&class) = queue.get(next) {
            next += 1;
            for &(op, result) in self.over(class) {
                if programs[result.at()].is_none() {
                    let mut steps =
                        programs[class.at()].as_ref().expect("queued with a program").steps().to_vec();
                    steps.push(operations.step(op));
                    programs[result.at()] = Some(Derivation::new(steps));
                    queue.push(result);
                }
            }
        }
        programs.into_iter().map(|program| program.expect("every class was made from `empty`")).collect()
    }
}
