//! Batching: where a program is cut, so that it is deployed prefix by prefix.

use std::ops::Range;

use rand::Rng;
use rand::seq::index;

/// How the cuts are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Cuts {
    /// Any places, all equally likely.
    Random,
    /// Batches of the same length, give or take one step.
    Even,
}

/// The places at which a program of that length is cut into batches, as numbers of steps done. No batch is empty: a
/// program with fewer steps than batches has a batch for each step.
pub fn cut(steps: usize, batches: usize, cuts: Cuts, rng: &mut impl Rng) -> Vec<usize> {
    let batches = batches.min(steps).max(1);
    match cuts {
        Cuts::Even => (1..batches).map(|batch| batch * steps / batches).collect(),
        Cuts::Random => {
            let mut places = index::sample(rng, steps.saturating_sub(1), batches - 1).into_vec();
            places.sort_unstable();
            places.into_iter().map(|place| place + 1).collect()
        }
    }
}

/// The steps of each batch.
pub fn batches(steps: usize, cuts: &[usize]) -> impl Iterator<Item = Range<usize>> + '_ {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    starts.zip(cuts.iter().copied().chain(std::iter::once(steps))).map(|(start, end)| start..end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    proptest! {
        #[test]
        fn no_batch_is_empty_and_all_steps_are_deployed(
            steps in 1usize..50, wanted in 1usize..60, even: bool, seed: u64,
        ) {
            let style = if even { Cuts::Even } else { Cuts::Random };
            let cuts = cut(steps, wanted, style, &mut ChaCha8Rng::seed_from_u64(seed));
            let lengths: Vec<usize> = batches(steps, &cuts).map(|batch| batch.len()).collect();
            prop_assert_eq!(lengths.len(), wanted.min(steps));
            prop_assert!(lengths.iter().all(|&length| length > 0));
            prop_assert_eq!(lengths.iter().sum::<usize>(), steps);
            let spread = lengths.iter().max().unwrap() - lengths.iter().min().unwrap();
            prop_assert!(!even || spread <= 1);
        }
    }

    #[test]
    fn the_empty_program_has_no_cuts() {
        assert_eq!(cut(0, 4, Cuts::Random, &mut ChaCha8Rng::seed_from_u64(0)), [0; 0]);
    }
}
