use super::*;
use crate::campaign::Settings;
use crate::deploy::worker::WorkerCounts;
use crate::engines::{EngineId, EngineName, Version};
use crate::judge::finding::{Finding, FindingKind};
use crate::judge::verdict::CaseVerdict;
use crate::spec::Rule;

const MISSING: FindingKind = FindingKind::OperationMissing;
const EXTRA: FindingKind = FindingKind::OperationExtra;

fn finding(kind: FindingKind, known: Option<&str>) -> Finding {
    Finding { known: known.map(str::to_owned), ..Finding::new(kind, "batch-2") }
}

fn report(results: Vec<VariantResult>) -> Report {
    let variants = results.into_iter().enumerate().map(|(variant, result)| VariantVerdict {
        again: matches!(result, VariantResult::Fail { .. }).then_some(false),
        not_reached: result.findings().len() * 3,
        ..VariantVerdict::new(variant, result)
    });
    let mut case = CaseVerdict { case: 7, variants: variants.collect() };
    let exercised = &mut case.variants[0].exercised;
    exercised.checked("batches", 40);
    exercised.checked("idle applies", 10);
    exercised.checked("destroys", 10);
    exercised.driven_by("drift");
    Report {
        title: "runs/1".to_owned(),
        engine: Some(EngineId::new(EngineName::Terraform, Version::new(1, 15, 5)).into()),
        settings: Some(Settings::default()),
        took: Some(Duration::from_millis(92_345)),
        repeat: Some("equiform run --engine terraform@1.15.5 --out runs/1-again".to_owned()),
        stages: [("batch".to_owned(), StageTime { commands: 3, took: Duration::from_millis(100) })].into(),
        workers: Some(WorkerCounts { started: 2, broken: 1, first_error: Some("it hung".to_owned()) }),
        cases: vec![("runs/1/case-0007".into(), case)],
        ..Report::default()
    }
}

fn text(report: &Report, verbose: bool) -> String {
    let mut text = Vec::new();
    write(&mut text, report, &report.tally(), verbose).unwrap();
    String::from_utf8(text).unwrap()
}

fn inconclusive(reason: &str) -> VariantResult {
    VariantResult::Inconclusive { reason: reason.to_owned() }
}

#[test]
fn a_summary_says_what_came_of_it_groups_failures_and_tells_what_to_type_next() {
    let results = vec![
        VariantResult::Pass,
        VariantResult::of(vec![finding(MISSING, Some("old-object-left-by-target"))]),
        VariantResult::of(vec![finding(EXTRA, None), finding(MISSING, Some("old-bug"))]),
        VariantResult::of(vec![finding(EXTRA, None)]),
        inconclusive("the disk is full"),
    ];
    let report = Report { not_run: 5, earlier: 2, ..report(results) };
    insta::assert_snapshot!(text(&report, false));
}

#[test]
fn what_was_exercised_and_where_the_time_went_is_for_those_who_ask() {
    let all = text(&report(vec![VariantResult::Pass]), true);
    let short = text(&report(vec![VariantResult::Pass]), false);
    for (line, is_always_there) in
        [("  time ", false), ("  stages ", false), ("  exercised ", false), ("  verdicts ", true)]
    {
        // There is no split of time in this one, as nothing was timed.
        assert_eq!(all.contains(line), line != "  time ", "{all}");
        assert_eq!(short.contains(line), is_always_there, "{short}");
    }
    assert!(short.contains("look next     other programs: --seed 1\n"), "{short}");
    assert!(short.contains("and 21 more (-v lists them)\n"), "{short}");
    assert!(all.contains("rule 16 (unordered)"), "{all}");
}

#[test]
fn the_longest_summary_has_at_most_20_lines() {
    let mut results = vec![VariantResult::Pass];
    for number in 0..30 {
        let name = format!("{number}");
        results.push(VariantResult::of(vec![finding(FindingKind::ALL[number], None)]));
        results.push(VariantResult::of(vec![finding(MISSING, Some(&name))]));
        results.push(inconclusive(&name));
    }
    let mut report = Report { not_run: 5, earlier: 2, only_case: Some(7), ..report(results) };
    let variant = &mut report.cases[0].1.variants[0];
    variant.warm_only = vec![finding(MISSING, None)];
    variant.exercised.left_out = "6".parse().unwrap();
    variant.exercised.rules.insert(Rule::Created, Default::default());
    let lines = text(&report, false).lines().count();
    // All that can be there is there.
    assert_eq!(lines, MOST_LINES, "{}", text(&report, false));
}
