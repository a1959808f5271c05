//! Stages are data: a case may ask an engine for anything that there is an action for, and is judged by what that must
//! amount to.

use std::time::Duration;

use equiform::case::Case;
use equiform::case::stage::{JudgedAs, ProgramRef, Stage};
use equiform::deploy::Start;
use equiform::engines::driver::ProviderMode;
use equiform::judge::oracles::{ORACLES, Oracle};
use equiform::judge::variant::{variant_folder, verdict};
use equiform::judge::verdict::VariantVerdict;
use equiform::spec::{Action, Options, SavedOptions};

use super::support::{engine, provider, runner};

/// a, b that refers to it, c that is pinned to b, d after c; in two batches.
fn case(stages: Vec<Stage>) -> Case {
    let first = "(con b c pinned_refs (con a b (add c (add b (add a empty)))))";
    let program = format!("(con c d depends_on (add d (cut {first})))");
    let source = r#"{"nodes":["a","b","c","d"],"edges":[["a","b"],["b","c"],["c","d"]],
        "kinds":[["b","c","pinned_refs"],["c","d","depends_on"]]}"#;
    let source = serde_json::from_str(source).unwrap();
    let mut case = Case::new(0, source, vec![program]).unwrap();
    case.variants[0].stages = stages;
    case
}

fn stage(name: &str, action: Action, batch: usize, judged_as: JudgedAs) -> Stage {
    Stage::new(name, action, ProgramRef::Batch(batch), judged_as)
}

fn judged(spec: &str, stages: Vec<Stage>) -> VariantVerdict {
    let (folder, provider) = (tempfile::tempdir().unwrap(), provider(ProviderMode::Reattach));
    let runner = runner(&engine(spec), &provider, Duration::from_secs(120));
    let case = case(stages).on(runner.engine.engine().recorded());
    let place = variant_folder(folder.path(), 0);
    runner.deploy(&case, 0, &place, Start::Cold).unwrap();
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    verdict(&case, 0, &place, &oracles)
}

fn all_actions() -> Vec<Stage> {
    let usual = Options::default;
    let one_by_one = || Options { parallelism: Some(1), ..usual() };
    let replace = |key: &str| Options { replace: [key.into()].into(), ..usual() };
    let saved = |options: Options| Options { save: true, ..options };
    vec![
        stage("first", Action::Apply(one_by_one()), 1, JudgedAs::Batch),
        stage("replace", Action::Apply(replace("b")), 1, JudgedAs::Batch),
        stage("plan", Action::Plan(saved(usual())), 2, JudgedAs::Plan),
        stage("apply", Action::ApplySaved(SavedOptions::default()), 2, JudgedAs::Source),
        stage("plan-to-replace", Action::Plan(saved(replace("a"))), 2, JudgedAs::Plan),
        stage(
            "replace-as-planned",
            Action::ApplySaved(SavedOptions { parallelism: Some(1) }),
            2,
            JudgedAs::Source,
        ),
        stage("no-refresh", Action::Apply(Options { refresh: false, ..usual() }), 2, JudgedAs::Idle),
        stage("back", Action::Apply(usual()), 1, JudgedAs::Batch),
        stage("destroy", Action::Destroy(one_by_one()), 1, JudgedAs::Destroy),
    ]
}

fn every_action_does_what_the_model_says(spec: &str) {
    let verdict = judged(spec, all_actions());
    assert!(verdict.result.findings().is_empty(), "{:#?}", verdict.result);
    let checks = &verdict.exercised.checks;
    assert_eq!((checks["plans"], checks["batches"], checks["idle applies"]), (2, 5, 1), "{checks:#?}");
    assert_eq!(checks["final graphs compared"], 2);
}

#[test]
fn terraform_does_with_every_action_what_the_model_says() {
    every_action_does_what_the_model_says("terraform@1.15.5");
}

#[test]
fn opentofu_does_with_every_action_what_the_model_says() {
    every_action_does_what_the_model_says("tofu@1.12.6");
}

/// The engine does what it is told, and the case says that it was told something else.
#[test]
fn a_stage_that_asks_for_something_else_than_it_is_judged_as_is_found_out() {
    let stages = vec![
        stage("first", Action::Apply(Options::default()), 1, JudgedAs::Batch),
        stage("idle", Action::Apply(Options::default()), 1, JudgedAs::Source),
    ];
    let verdict = judged("terraform@1.15.5", stages);
    let why = format!("{:?}", verdict.result);
    assert!(why.contains("does not end in the source's graph"), "{why}");
}
