//! Extraction with an escape probability, and random walks on what it keeps.
//!
//! The algorithm goes breadth first from the class of `empty`. An e-node that leads to a class that is not marked is
//! kept for that class, and the class is then marked with probability 1−ε. So what a class keeps is a beginning of the
//! list of its e-nodes in the order of the search, and the length of that beginning is geometric. Marks of different
//! classes are independent. It is the same, then, to draw the length when a walk comes to the class: the search is done
//! once for all tests, and a test costs no more than its own steps. Among e-nodes at the same distance from `empty` the
//! order of the search is arbitrary; here it is drawn too.

use rand::{Rng, RngExt};

use super::frozen::Frozen;
use super::operations::{Op, Operations};
use super::table::ClassId;
use crate::implicit::Escape;
use crate::program::Step;

/// The e-nodes of each class in the order of the search.
#[derive(Debug, Clone)]
pub struct Extraction {
    operations: Operations,
    distances: Vec<u32>,
    starts: Vec<u64>,
    members: Vec<(Op, ClassId)>,
}

impl Extraction {
    /// Searches the e-graph from the class of `empty`.
    pub fn new(egraph: &Frozen) -> Self {
        let count = egraph.stats.classes;
        let mut distances = vec![u32::MAX; count];
        distances[0] = 0;
        let mut queue = vec![Frozen::EMPTY];
        let mut counts = vec![0u64; count + 1];
        let mut next = 0;
        while let Some(&class) = queue.get(next) {
            next += 1;
            for &(_, result) in egraph.over(class) {
                counts[result.at() + 1] += 1;
                if distances[result.at()] == u32::MAX {
                    distances[result.at()] = distances[class.at()] + 1;
                    queue.push(result);
                }
            }
        }
        for at in 0..count {
            counts[at + 1] += counts[at];
        }
        let mut places = counts.clone();
        let mut members = vec![(Op(0), Frozen::EMPTY); egraph.stats.nodes - 1];
        for class in queue {
            for &(op, result) in egraph.over(class) {
                let place = &mut places[result.at()];
                members[*place as usize] = (op, class);
                *place += 1;
            }
        }
        Self { operations: egraph.operations(), distances, starts: counts, members }
    }

    /// The number of steps of a shortest program for a class.
    pub fn distance(&self, class: ClassId) -> usize {
        self.distances[class.at()] as usize
    }

    /// Walks from a class to that of `empty` and leaves the program in `steps`, innermost first. A walk that has no
    /// step to spare goes on by the shortest way, so it ends within the bound, or with a shortest program if the bound
    /// is below that.
    pub fn walk(
        &self,
        from: ClassId,
        escape: Escape,
        bound: usize,
        rng: &mut impl Rng,
        steps: &mut Vec<Step>,
    ) {
        steps.clear();
        let mut class = from;
        while class != Frozen::EMPTY {
            let members =
                &self.members[self.starts[class.at()] as usize..self.starts[class.at() + 1] as usize];
            let mut kept = 1;
            if escape.probability() >= 1.0 {
                kept = members.len();
            }
            while kept < members.len() && rng.random_bool(escape.probability()) {
                kept += 1;
            }
            let chosen = self.distance(members[rng.random_range(0..kept)].1);
            let affordable = steps.len() + 1 + chosen <= bound;
            let distance = if affordable { chosen } else { self.distance(class) - 1 };
            let start = members.partition_point(|member| self.distance(member.1) < distance);
            let end = members.partition_point(|member| self.distance(member.1) <= distance);
            let (op, child) = members[rng.random_range(start..end)];
            steps.push(self.operations.step(op));
            class = child;
        }
        steps.reverse();
    }
}
