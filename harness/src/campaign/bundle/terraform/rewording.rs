//! What must not depend on the words in which findings are told: verdicts, what is known, causes, symptoms, which
//! resources a reduction keeps first, and the checks of bundles.

use std::collections::BTreeSet;
use std::path::Path;

use super::super::Form;
use super::check::{self, Check};
use super::steps::{Step, StepCommand};
use crate::campaign::reduce::symptom::Symptom;
use crate::case::{CASE_FILE, Case};
use crate::judge::cause::Cause;
use crate::judge::finding::{Finding, Signature, reworded};
use crate::judge::known::KnownFindings;
use crate::judge::oracles::{ORACLES, Oracle};
use crate::judge::variant::{mark_known, variant_folder, verdict};
use crate::judge::verdict::VariantResult;
use crate::spec::Address;

/// All that is made of the evidence of a case, but the sentences.
#[derive(Debug, PartialEq, Eq)]
struct Made {
    result: VariantResult,
    signatures: Vec<Signature>,
    cause: Option<Finding>,
    symptom: Option<Symptom>,
    /// The resources that a reduction keeps first.
    mentioned: BTreeSet<String>,
    check: Option<Check>,
    /// The findings after they were stored and read.
    read_back: Vec<Finding>,
}

fn made(folder: &Path) -> Made {
    let case = Case::read(&folder.join(CASE_FILE)).unwrap();
    let engine = case.engine.clone().expect("stored evidence names its engine").id;
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let mut verdict = verdict(&case, 0, &variant_folder(folder, 0), &oracles);
    mark_known(&KnownFindings::shipped(), &engine, &case, &mut verdict);
    let findings = verdict.result.findings();
    let cause = Cause::among(findings).map(|cause| cause.finding.clone());
    let batches = case.batches(0).unwrap();
    let nodes = batches.iter().flat_map(|batch| {
        let nodes = batch.program.meaning.nodes.keys();
        nodes.map(|key| (key.to_string(), batch.program.encoding.address(key)))
    });
    let is_mentioned =
        |key: &str, address: &Address| cause.as_ref().is_some_and(|it| it.mentions(key, address));
    let step = Step {
        stage: "batch-2".to_owned(),
        program: None,
        command: StepCommand::Engine(vec!["apply".to_owned()]),
        succeeded: true,
        faults: Default::default(),
        hold: String::new(),
    };
    let form = Form::Mock { why: String::new() };
    Made {
        signatures: findings.iter().map(Finding::signature).collect(),
        symptom: Symptom::of_cause(findings, &engine),
        mentioned: nodes.filter(|(key, address)| is_mentioned(key, address)).map(|(key, _)| key).collect(),
        check: cause.as_ref().map(|cause| check::of(cause, &step, &form)),
        read_back: serde_json::from_str(&serde_json::to_string(findings).unwrap()).unwrap(),
        result: verdict.result.clone(),
        cause,
    }
}

#[test]
fn nothing_changes_if_every_finding_is_told_in_other_words() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/cases/explained");
    let mut shells = 0;
    for entry in std::fs::read_dir(&fixtures).unwrap() {
        let folder = entry.unwrap().path();
        let (usual, other) = (made(&folder), reworded(|| made(&folder)));
        assert_eq!(usual, other, "{}", folder.display());
        assert_eq!(usual.read_back, usual.result.findings(), "{}", folder.display());
        shells += usize::from(matches!(usual.check, Some(Check::Shell { .. })));
        for finding in usual.result.findings() {
            assert_ne!(finding.to_string(), reworded(|| finding.to_string()));
        }
    }
    assert!(shells >= 3, "a cycle, a missing operation, a wrong order");
}
