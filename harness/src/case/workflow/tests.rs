//! What every workflow makes can be run, and leads where the plain one leads.

use std::collections::BTreeSet;

use super::*;
use crate::case::stage::{JudgedAs, ProgramRef};
use crate::case::{Case, StagedBatch};
use crate::spec::semantics::terraform::TERRAFORM;
use crate::spec::{Action, Deployed, Options};

/// Two variants of the same source, with resources and edges that come and go.
fn case() -> Case {
    let source =
        serde_json::from_str(r#"{"nodes":["a","b","c","d"],"edges":[["a","b"],["b","c"]]}"#).unwrap();
    let first = "(con b c (con a b (add d (cut (add c (add b (cut (rem x (cut (con a x (add x (add a empty))))))))))))";
    let second = "(con a b (con b c (cut (add a (add b (add c (cut (add d empty))))))))";
    let programs = [first, second].map(str::to_owned).to_vec();
    Case::new(7, source, programs).unwrap()
}

/// The stages of a variant by a workflow, with their programs.
fn staged(case: &mut Case, workflow: &Workflow, seed: u64) {
    let batches = case.batches(0).unwrap();
    case.variants[0].stages = workflow.stages(&batches, 1, TERRAFORM, seed);
    case.variants[0].workflow = workflow.name.to_owned();
}

#[test]
fn the_stages_of_every_workflow_can_be_run_and_end_in_the_source_and_then_in_nothing() {
    let mut case = case();
    for workflow in WORKFLOWS {
        for seed in 0..40 {
            staged(&mut case, workflow, seed);
            let stages = case.stages(0).unwrap_or_else(|error| panic!("{}: {error}", workflow.name));
            let (mut deployed, mut saved, mut source) = (Deployed::NOTHING, Options::USUAL, None);
            for staged in &stages {
                let StagedBatch { stage, batch } = staged;
                let options = match &stage.action {
                    Action::ApplySaved(_) => &saved,
                    action => action.options(),
                };
                if !stage.judged_as.meaning().fails && stage.repeats.is_none() {
                    deployed = staged.outcome(&deployed, options, TERRAFORM);
                }
                if stage.judged_as == JudgedAs::Source {
                    source = Some((deployed.clone(), Deployed::by(&batch.program)));
                }
                saved = options.clone();
            }
            let (ended, wanted) = source.expect("the source is deployed");
            assert!(ended.keys().eq(wanted.keys()), "{}", workflow.name);
            assert_eq!(deployed, Deployed::NOTHING, "{}", workflow.name);
            assert_eq!(stages.last().unwrap().stage.judged_as, JudgedAs::Destroy);
        }
    }
}

#[test]
fn a_workflow_says_which_features_its_stages_need() {
    let mut case = case();
    for workflow in WORKFLOWS {
        let mut needed = BTreeSet::new();
        for seed in 0..40 {
            staged(&mut case, workflow, seed);
            let actions = case.variants[0].stages.iter().map(|stage| &stage.action);
            needed.extend(actions.flat_map(Feature::needed_by));
        }
        assert_eq!(needed, workflow.needs.iter().copied().collect(), "{}", workflow.name);
    }
}

#[test]
fn every_workflow_but_the_plain_one_does_something_else_and_the_same_by_the_same_seed() {
    let case = case();
    let batches = case.batches(0).unwrap();
    let plain = WORKFLOWS[0].stages(&batches, 1, TERRAFORM, 3);
    assert_eq!(plain, Stage::usual(batches.len(), 1));
    for workflow in &WORKFLOWS[1..] {
        assert_ne!(workflow.stages(&batches, 1, TERRAFORM, 3), plain, "{}", workflow.name);
        assert_eq!(workflow.stages(&batches, 1, TERRAFORM, 3), workflow.stages(&batches, 1, TERRAFORM, 3));
    }
}

#[test]
fn a_program_that_is_to_be_refused_differs_from_its_batch_in_one_defect() {
    let mut case = case();
    for seed in 0..20 {
        staged(&mut case, Workflow::named("refused").unwrap(), seed);
        let batches = case.batches(0).unwrap();
        for StagedBatch { stage, batch } in case.stages(0).unwrap() {
            if let ProgramRef::Broken { batch: number, .. } = stage.program {
                let good = &batches[number - 1].program.meaning.nodes;
                let other = good.iter().filter(|(key, node)| batch.program.node(key) != Some(*node));
                assert!(other.count() <= 1 && batch.defect.is_some());
                assert_eq!(stage.judged_as, JudgedAs::Refused);
            }
        }
    }
}
