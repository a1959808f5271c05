//! The stages of a variant while a workflow makes them, with what is deployed after those that are there.
//!
//! Where engine families differ, whoever asks for the stages says which semantics count. They decide what is chosen,
//! and nothing is judged by them.

use std::collections::BTreeSet;
use std::sync::Arc;

use equiform_proto::faults::{Fault, Faults};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::case::Batch;
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::case::staged::{StagedBatch, broken};
use crate::spec::changes::Changes;
use crate::spec::{Action, Configuration, Deployed, NodeKey, Options, Semantics, Step};

/// The stages of a variant while a workflow makes them, and what is deployed after each.
pub struct Course<'a> {
    batches: &'a [Arc<Batch>],
    other: usize,
    semantics: &'a dyn Semantics,
    rng: ChaCha8Rng,
    /// What is deployed after the stages so far.
    pub deployed: Deployed,
    /// By which options the plan was made that was saved last.
    saved: Options,
    /// The stages so far.
    pub stages: Vec<Stage>,
}

impl<'a> Course<'a> {
    /// Before the first stage.
    pub fn new(batches: &'a [Arc<Batch>], other: usize, semantics: &'a dyn Semantics, seed: u64) -> Self {
        let (rng, stages) = (ChaCha8Rng::seed_from_u64(seed), Vec::new());
        Self { batches, other, semantics, rng, deployed: Deployed::NOTHING, saved: Options::USUAL, stages }
    }

    /// The numbers of the batches, from 1.
    pub fn numbers(&self) -> std::ops::RangeInclusive<usize> {
        1..=self.batches.len()
    }

    /// The program of a batch.
    pub fn program(&self, number: usize) -> &'a Configuration {
        &self.batches[number - 1].program
    }

    /// What the apply of a batch changes, from what is deployed now.
    pub fn changes_to(&self, number: usize) -> Changes {
        self.changes_with(number, &Options::USUAL)
    }

    /// The same with options.
    pub fn changes_with(&self, number: usize, options: &Options) -> Changes {
        let (configuration, deployed) = (self.program(number), &self.deployed);
        Step { deployed, configuration, options, semantics: self.semantics }.changes()
    }

    /// A batch to be special: any but the first, if there is one.
    pub fn later_batch(&mut self) -> usize {
        let batches = self.batches.len();
        if batches < 2 { batches } else { self.rng.random_range(2..=batches) }
    }

    /// A number in 0..count.
    pub fn draw(&mut self, count: usize) -> usize {
        self.rng.random_range(0..count)
    }

    /// Up to `most` of these, and at least one if there are any.
    pub fn some<T: Clone>(&mut self, of: &[T], most: usize) -> Vec<T> {
        let count = self.rng.random_range(1..=most);
        of.sample(&mut self.rng, count).cloned().collect()
    }

    /// The nodes that are deployed and that a batch has too.
    pub fn staying(&self, number: usize) -> Vec<NodeKey> {
        let program = self.program(number);
        self.deployed.keys().filter(|key| program.node(key).is_some()).cloned().collect()
    }

    /// Adds a stage.
    pub fn push(&mut self, stage: Stage) {
        let batch = match &stage.program {
            ProgramRef::Batch(number) => self.batches[number - 1].clone(),
            ProgramRef::Broken { batch, defect } => Arc::new(broken(&self.batches[batch - 1], defect)),
            // All variants end in the same meaning.
            ProgramRef::LastOf(_) => self.batches[self.batches.len() - 1].clone(),
            ProgramRef::Empty => Arc::new(Batch::blank()),
        };
        let options = match &stage.action {
            Action::ApplySaved(_) => self.saved.clone(),
            action => action.options().clone(),
        };
        if options.save {
            self.saved = options.clone();
        }
        // A stage in which something fails is followed by one in which the same succeeds.
        if !stage.judged_as.meaning().fails && stage.repeats.is_none() {
            let staged = StagedBatch { stage: &stage, batch };
            self.deployed = staged.outcome(&self.deployed, &options, self.semantics);
        }
        self.stages.push(stage);
    }

    /// Adds a stage with a batch's program, in which the provider commits faults.
    pub fn with_faults(&mut self, name: String, action: Action, number: usize, faults: Vec<Fault>) {
        let faults = Faults::new(faults).expect("the provider can produce them");
        let stage = Stage::new(name, action, ProgramRef::Batch(number), JudgedAs::Failure);
        self.push(Stage { faults, ..stage });
    }

    /// Applies a batch.
    pub fn apply(&mut self, number: usize) {
        self.apply_with(number, Options::USUAL);
    }

    /// Applies a batch with options.
    pub fn apply_with(&mut self, number: usize, options: Options) {
        let stage = Stage::apply(&format!("batch-{number}"), number, self.batches.len());
        self.push(Stage { action: Action::Apply(options), ..stage });
    }

    /// Adds a stage with a batch's program.
    pub fn with_batch(&mut self, name: String, action: Action, number: usize, judged_as: JudgedAs) {
        self.push(Stage::new(name, action, ProgramRef::Batch(number), judged_as));
    }

    /// Adds what usually follows the last batch.
    pub fn end(&mut self) {
        Stage::ending(self.batches.len(), self.other).into_iter().for_each(|stage| self.push(stage));
    }

    /// Adds the same without the destroy.
    pub fn end_without_destroy(&mut self) {
        let [idle, cross, _] = Stage::ending(self.batches.len(), self.other);
        self.push(idle);
        self.push(cross);
    }

    /// Destroys everything.
    pub fn destroy(&mut self, program: ProgramRef) {
        self.push(Stage::new("destroy", Action::Destroy(Options::USUAL), program, JudgedAs::Destroy));
    }

    /// Some of a program's resources: with all that they depend on, or alone, as the engine has to add the rest.
    pub fn part(&mut self, program: &Configuration) -> BTreeSet<NodeKey> {
        let all: Vec<NodeKey> = program.meaning.nodes.keys().cloned().collect();
        let mut open = self.some(&all, 3);
        if self.draw(2) == 0 {
            return open.into_iter().collect();
        }
        let mut part = BTreeSet::new();
        while let Some(key) = open.pop() {
            open.extend(program.meaning.nodes[&key].dependencies.keys().cloned());
            part.insert(key);
        }
        part
    }
}
