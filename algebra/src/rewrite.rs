//! The baseline: a program is rewritten by rules drawn at random, again and again.

use std::time::{Duration, Instant};

use rand::{Rng, RngExt};

use crate::graph::Resource;
use crate::program::{Derivation, Step};
use crate::rules::{Base, Binding, Rule, Rules, StepKind, StepPattern};
use crate::signature::Signature;

/// When rewriting is over.
#[derive(Debug, Clone, Copy)]
pub enum Budget {
    /// After so many rewrites.
    Rewrites(usize),
    /// After this time.
    Time(Duration),
}

/// Rewrites programs over a universe.
#[derive(Debug, Clone)]
pub struct Rewriter<'a> {
    rules: Vec<&'a Rule>,
    resources: u32,
    signature: &'a Signature,
    bound: usize,
    steps: Vec<Step>,
}

impl<'a> Rewriter<'a> {
    /// A rewriter over so many resources that never lets a program grow beyond a number of steps.
    pub fn new(rules: &'a Rules, resources: u32, signature: &'a Signature, bound: usize) -> Self {
        Self { rules: rules.iter().collect(), resources, signature, bound, steps: Vec::new() }
    }

    /// Rewrites a program until the budget is used up; the steps of what came out, and the number of rewrites. A budget
    /// of rewrites also ends when a thousand times as many draws have found nothing to rewrite.
    pub fn rewrite(&mut self, program: &Derivation, budget: Budget, rng: &mut impl Rng) -> (&[Step], usize) {
        self.steps.clear();
        self.steps.extend_from_slice(program.steps());
        let start = Instant::now();
        let mut rewrites = 0;
        for draw in 0usize.. {
            let over = match budget {
                Budget::Rewrites(wanted) => rewrites >= wanted || draw >= 1000 * wanted,
                Budget::Time(time) => draw % 64 == 0 && start.elapsed() >= time,
            };
            if over {
                break;
            }
            rewrites += usize::from(self.try_once(rng));
        }
        (&self.steps, rewrites)
    }

    /// Draws a rule, a direction and a place, and rewrites there if the rule applies.
    fn try_once(&mut self, rng: &mut impl Rng) -> bool {
        if self.rules.is_empty() {
            return false;
        }
        let rule = self.rules[rng.random_range(0..self.rules.len())];
        let (from, to) =
            if rng.random_bool(0.5) { (&rule.left, &rule.right) } else { (&rule.right, &rule.left) };
        let Some(places) = (self.steps.len() + 1).checked_sub(from.len()) else { return false };
        let place = match rule.base {
            Base::Any if places > 0 => rng.random_range(0..places),
            Base::Empty if places > 0 => 0,
            _ => return false,
        };
        if self.steps.len() - from.len() + to.len() > self.bound.max(self.steps.len()) {
            return false;
        }
        let Some(binding) = self.bind(rule, from, place, rng) else { return false };
        let replacement =
            to.iter().map(|pattern| pattern.instance(&binding).expect("all variables are bound"));
        self.steps.splice(place..place + from.len(), replacement);
        true
    }

    fn bind(&self, rule: &Rule, from: &[StepPattern], place: usize, rng: &mut impl Rng) -> Option<Binding> {
        let mut binding = Binding::default();
        for (pattern, &step) in from.iter().zip(&self.steps[place..]) {
            let (kind, arguments) = StepKind::of(step);
            if kind != pattern.kind || !pattern.unify(arguments, &mut binding) {
                return None;
            }
        }
        for (variable, (_, sort)) in rule.variables().zip(&rule.variables) {
            if binding.get(variable).is_none() {
                let count = sort.count(self.resources, self.signature);
                binding.bind(variable, (count > 0).then(|| rng.random_range(0..count))?);
            }
        }
        let holds = rule.is_written(&binding, self.signature)
            && rule.guard.holds(&binding, |resource| self.is_there(resource, place));
        holds.then_some(binding)
    }

    /// Whether a resource is in the graph before a step: what the last step about it said.
    fn is_there(&self, resource: Resource, place: usize) -> bool {
        let about = |step: &&Step| matches!(**step, Step::Add(other) | Step::Rem(other) if other == resource);
        self.steps[..place].iter().rev().find(about).is_some_and(|step| matches!(step, Step::Add(_)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::source::Source;
    use crate::weights::Weights;

    fn canonical_is_kept(source: &Source, rules: &Rules, signature: &Signature, rewrites: usize, seed: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let canonical = Derivation::canonical(&source.graph);
        let bound = canonical.len() + 20;
        let mut rewriter = Rewriter::new(rules, source.names.count(), signature, bound);
        let (steps, _) = rewriter.rewrite(&canonical, Budget::Rewrites(rewrites), &mut rng);
        assert!(steps.len() <= bound);
        assert_eq!(Derivation::new(steps.to_vec()).eval().as_ref(), Ok(&source.graph));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn a_rewritten_program_means_what_it_meant(
            nodes in 0u32..8, edges in 0u64..12, foreign in 0u32..3, rewrites in 0usize..200, seed: u64,
        ) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let source = Source::random(nodes..=nodes, edges..=edges, &mut rng).with_foreign(foreign, &mut rng);
            canonical_is_kept(&source, &Rules::algebra(), Signature::bare(), rewrites, seed);
            let signature = Signature::attributed();
            let source = source.dressed(&Weights::even(signature), &mut rng);
            canonical_is_kept(&source, &Rules::attributed(), signature, rewrites, seed);
        }
    }

    #[test]
    fn rewriting_does_rewrite() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let source = Source::random(4..=4, 3..=3, &mut rng);
        let (rules, canonical) = (Rules::algebra(), Derivation::canonical(&source.graph));
        let mut rewriter = Rewriter::new(&rules, 4, Signature::bare(), 60);
        let (steps, rewrites) = rewriter.rewrite(&canonical, Budget::Rewrites(100), &mut rng);
        assert_eq!(rewrites, 100);
        assert_ne!(steps, canonical.steps());
    }

    #[test]
    fn rewriting_for_a_time_ends() {
        let rules = Rules::algebra();
        let mut rewriter = Rewriter::new(&rules, 2, Signature::bare(), 20);
        let budget = Budget::Time(Duration::from_millis(2));
        let (_, rewrites) =
            rewriter.rewrite(&Derivation::default(), budget, &mut ChaCha8Rng::seed_from_u64(1));
        assert!(rewrites > 0);
    }
}
