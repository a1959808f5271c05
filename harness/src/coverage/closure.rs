//! Which operations are ordered by way of others.

use std::collections::BTreeMap;

use crate::model::{Expectation, ExpectedOperation};

/// For each expected operation, those that must come before it, directly or not: a bit for each.
pub struct Closure {
    words: usize,
    bits: Vec<u64>,
}

impl Closure {
    /// The closure of the order over operations with these places.
    pub fn of(expectation: &Expectation, places: &BTreeMap<&ExpectedOperation, usize>) -> Self {
        let count = places.len();
        let words = count.div_ceil(64);
        let mut closure = Self { words, bits: vec![0; words * count] };
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut waits_for = vec![0usize; count];
        for (first, second) in expectation.order.keys() {
            if let (Some(&first), Some(&second)) = (places.get(first), places.get(second)) {
                followers[first].push(second);
                waits_for[second] += 1;
            }
        }
        let mut free: Vec<usize> = (0..count).filter(|place| waits_for[*place] == 0).collect();
        while let Some(first) = free.pop() {
            for &second in &followers[first] {
                closure.inherit(first, second);
                waits_for[second] -= 1;
                if waits_for[second] == 0 {
                    free.push(second);
                }
            }
        }
        closure
    }

    /// What comes before the first comes before the second, and so does the first itself.
    fn inherit(&mut self, first: usize, second: usize) {
        for word in 0..self.words {
            let before = self.bits[first * self.words + word];
            self.bits[second * self.words + word] |= before;
        }
        self.bits[second * self.words + first / 64] |= 1 << (first % 64);
    }

    /// Whether one of the two must come before the other.
    pub fn orders(&self, one: usize, other: usize) -> bool {
        let before = |first: usize, second: usize| {
            self.bits[second * self.words + first / 64] >> (first % 64) & 1 == 1
        };
        before(one, other) || before(other, one)
    }
}
