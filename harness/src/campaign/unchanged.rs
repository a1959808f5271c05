//! What each workflow leaves unchanged, compared with plain applies of the same batches, by the model.

use std::collections::{BTreeMap, BTreeSet};

use super::Settings;
use crate::case::stage::JudgedAs;
use crate::case::workflow::{Unchanged, WORKFLOWS, Workflow};
use crate::case::{Case, StagedBatch};
use crate::spec::semantics::FOR_CHOICES;
use crate::spec::world::Object;
use crate::spec::{Action, Deployed, LeftOut, Memory, NodeKey, Options, PlanMode, ResourceOperation};

/// How many cases are drawn, and with how many seeds each workflow drives each.
const CASES: usize = 10;
const SEEDS: u64 = 2;

/// Operations of which the first must have ended before the second begins.
type Pairs = BTreeSet<(ResourceOperation, ResourceOperation)>;

/// What a workflow does with a variant, as far as the model follows it.
struct Trace {
    /// The objects of each node when the source is deployed, the oldest first.
    world: BTreeMap<NodeKey, Vec<Object>>,
    /// What the engine remembers then, without the numbers of objects.
    memory: Memory,
    /// The operations of each command that has any, with the order that they must keep.
    steps: Vec<(BTreeSet<ResourceOperation>, Pairs)>,
}

impl Trace {
    /// What the stages of a case's first variant do. A stage in which something fails is passed over.
    fn of(case: &Case) -> Self {
        let (mut deployed, mut saved, mut steps, mut source) =
            (Deployed::NOTHING, Options::USUAL, Vec::new(), Deployed::NOTHING);
        for staged in case.stages(0).unwrap() {
            let StagedBatch { stage, .. } = &staged;
            let options = match &stage.action {
                Action::ApplySaved(_) => saved.clone(),
                action => action.options().clone(),
            };
            if !stage.judged_as.meaning().fails && stage.repeats.is_none() {
                let step = staged.step(&deployed, &options, FOR_CHOICES);
                if stage.action.changes_the_world() && options.mode != PlanMode::Refresh {
                    let expected = step.expectation(&LeftOut::default());
                    let pairs =
                        expected.pairs().map(|(first, second, _)| (first.clone(), second.clone())).collect();
                    if !expected.operations.is_empty() {
                        steps.push((expected.operations, pairs));
                    }
                }
                deployed = staged.outcome(&deployed, &options, FOR_CHOICES);
            }
            if stage.judged_as == JudgedAs::Source {
                source = deployed.clone();
            }
            saved = options;
        }
        // Where changes of a label are ignored, it depends on what was deployed in between.
        let batches = case.batches(0).unwrap();
        let source_nodes = &batches.last().unwrap().program.meaning.nodes;
        let is_free = |key: &NodeKey| source_nodes.get(key).is_some_and(|node| node.ignore_changes);
        let mut world: BTreeMap<NodeKey, Vec<Object>> = BTreeMap::new();
        for (id, mut object) in source.world.objects {
            object.label = object.label.filter(|_| !is_free(&id.key));
            world.entry(id.key).or_default().push(object);
        }
        let mut memory = source.memory;
        for (key, remembered) in &mut memory.nodes {
            if let Some(current) = &mut remembered.current {
                current.object = 0;
                current.label = current.label.take().filter(|_| !is_free(key));
            }
        }
        Self { world, memory, steps }
    }

    /// The strongest property that it shares with another.
    fn shares_with(&self, other: &Self) -> Option<Unchanged> {
        let operations = |trace: &Self| -> BTreeSet<ResourceOperation> {
            trace.steps.iter().flat_map(|(operations, _)| operations.clone()).collect()
        };
        let each = |trace: &Self| -> Vec<BTreeSet<ResourceOperation>> {
            trace.steps.iter().map(|(operations, _)| operations.clone()).collect()
        };
        let shared = [
            (Unchanged::World, self.world == other.world),
            (Unchanged::State, self.memory == other.memory),
            (Unchanged::Operations, operations(self) == operations(other)),
            (Unchanged::Steps, each(self) == each(other)),
            (Unchanged::Order, self.steps == other.steps),
        ];
        shared.into_iter().take_while(|(_, is_shared)| *is_shared).last().map(|(unchanged, _)| unchanged)
    }
}

/// What the first variant of a case does by a workflow.
fn trace(case: &mut Case, workflow: &Workflow, seed: u64) -> Trace {
    case.variants[0].stages = workflow.stages(&case.batches(0).unwrap(), 1, FOR_CHOICES, seed);
    Trace::of(case)
}

#[test]
fn a_workflow_leaves_unchanged_what_it_says_and_no_more() {
    let settings = Settings { variants: 2, ..Settings::default() };
    let mut least: BTreeMap<&str, Unchanged> = BTreeMap::new();
    for number in 0..CASES {
        let mut case = settings.case(number);
        let plain = trace(&mut case, &WORKFLOWS[0], 0);
        for workflow in WORKFLOWS {
            for seed in 0..SEEDS {
                let shared = trace(&mut case, workflow, seed).shares_with(&plain);
                let shared = shared.unwrap_or_else(|| {
                    panic!("{} changes the world: {}", workflow.name, case.variants[0].program)
                });
                let least = least.entry(workflow.name).or_insert(shared);
                *least = shared.min(*least);
            }
        }
    }
    for Workflow { name, unchanged, .. } in WORKFLOWS {
        // Stages in which an operation fails are passed over, so these show too little.
        let is_exact = !["failure", "failure-elsewhere", "breach"].contains(name);
        let least = least[name];
        assert!(least == *unchanged || !is_exact && least > *unchanged, "{name} leaves {least:?} unchanged");
    }
}
