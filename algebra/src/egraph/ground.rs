//! Rules over pairs of operations, worked out in advance for a small universe.
//!
//! For each two operations that can follow each other, the table lists what the rules make of them: the variables are
//! bound, disequalities decided, and only membership is left to ask. A match is then a look into the table.

use super::directed::{Directed, Readings};
use super::operations::{Op, Operations};
use crate::graph::Resource;
use crate::rules::{Argument, Base, Binding, Condition, StepPattern};

/// What a reading makes of two operations, one upon the other.
#[derive(Debug, Clone, Copy)]
pub struct Ground {
    /// Which reading.
    pub reading: u32,
    /// The resources that have to be in the base, a bit for each.
    pub members: u32,
    to: [Op; 2],
    steps: u8,
}

impl Ground {
    /// The operations of the other side, innermost first.
    pub fn to(&self) -> &[Op] {
        &self.to[..self.steps as usize]
    }
}

/// All of them, by both operations.
#[derive(Debug, Clone)]
pub struct GroundPairs {
    width: usize,
    starts: Vec<u32>,
    entries: Vec<Ground>,
}

impl GroundPairs {
    /// Above so many operations the table would outgrow the caches, and its making the gain.
    const MOST_OPERATIONS: u32 = 128;

    /// The table for a universe, if that is small.
    pub fn over(operations: &Operations, readings: &Readings) -> Option<Self> {
        if operations.count() > Self::MOST_OPERATIONS {
            return None;
        }
        let all = || (0..operations.count()).map(Op);
        let mut pairs = Self { width: operations.count() as usize, starts: vec![0], entries: Vec::new() };
        for inner in all() {
            for outer in all() {
                let (inner, outer) = (operations.parts(inner), operations.parts(outer));
                for &reading in readings.of_two(inner.0, outer.0) {
                    let directed = &readings.all[reading];
                    let mut binding = Binding::default();
                    if covers(directed)
                        && directed.from[0].unify(inner.1, &mut binding)
                        && directed.from[1].unify(outer.1, &mut binding)
                    {
                        pairs.push(reading, directed, &binding, operations);
                    }
                }
                pairs.starts.push(u32::try_from(pairs.entries.len()).expect("a few thousand pairs"));
            }
        }
        Some(pairs)
    }

    /// What the rules make of two operations.
    pub fn of(&self, inner: Op, outer: Op) -> &[Ground] {
        let pair = inner.0 as usize * self.width + outer.0 as usize;
        &self.entries[self.starts[pair] as usize..self.starts[pair + 1] as usize]
    }

    fn push(&mut self, reading: usize, directed: &Directed, binding: &Binding, operations: &Operations) {
        let value = |argument: Argument| binding.value(argument).expect("nothing is invented");
        let op = |pattern: &StepPattern| {
            let arguments = pattern.bound(binding).expect("nothing is invented");
            operations.number(pattern.kind, arguments)
        };
        let Some(chain) = directed.to.iter().map(op).collect::<Option<Vec<Op>>>() else { return };
        let mut to = [Op(0); 2];
        to[..chain.len()].copy_from_slice(&chain);
        let always = [Vec::new()];
        let alternatives = if directed.guard.0.is_empty() { &always[..] } else { &directed.guard.0[..] };
        for alternative in alternatives {
            let mut members = 0;
            let possible = alternative.iter().all(|condition| match *condition {
                Condition::Differ(left, right) => value(left) != value(right),
                Condition::Member(variable) => {
                    members |= 1 << value(Argument::Variable(variable));
                    true
                }
            });
            if possible {
                let reading = u32::try_from(reading).expect("a few dozen readings");
                let steps = u8::try_from(chain.len()).expect("two at most");
                self.entries.push(Ground { reading, members, to, steps });
            }
        }
    }
}

/// Whether a reading is worked out here: it leads from two operations on any graph to at most two, and invents nothing.
pub fn covers(directed: &Directed) -> bool {
    directed.base == Base::Any
        && directed.from.len() == 2
        && directed.to.len() <= 2
        && directed.invented.is_empty()
}

/// The resources of a set of bits.
pub fn resources_in(mut bits: u32) -> impl Iterator<Item = Resource> {
    std::iter::from_fn(move || {
        let lowest = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(Resource::new(lowest))
    })
}
