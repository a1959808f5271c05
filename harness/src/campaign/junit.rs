//! A campaign as a JUnit file: a test suite for each case, a test case for each variant.
//!
//! A new finding is a failure, and its message says whether it came again in a second deployment. A variant that could
//! not be judged is an error. A variant in which all is known is skipped, with the names as the message: tools show
//! it, and do not fail on it. Each of these has the cause in its text, and what to type to see more.
//!
//! Names are the same from run to run: they are of the engine, the case and the variant, and of no folder.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::report::Report;
use crate::evidence::{STAGES, StageRecord};
use crate::judge::cause::Cause;
use crate::judge::finding::Finding;
use crate::judge::known::KnownFindings;
use crate::judge::variant::variant_folder;
use crate::judge::verdict::{VariantResult, VariantVerdict};
use crate::util::files::{Access, AtomicFile, folder_of};

/// Writes the file, whole or not at all. Whoever collects test results may be another user.
pub fn write(report: &Report, known: &KnownFindings, path: &Path) -> io::Result<()> {
    fs::create_dir_all(folder_of(path))?;
    let mut file = AtomicFile::begin(path, Access::Shared)?;
    document(report, known).serialize(&mut file).map_err(io::Error::other)?;
    file.finish()
}

fn document(report: &Report, known: &KnownFindings) -> quick_junit::Report {
    // Where its executable lies is not the same on every machine.
    let engine = report.engine.as_ref().map_or_else(|| "equiform".to_owned(), |engine| engine.id.to_string());
    let mut document = quick_junit::Report::new(&*engine);
    for (folder, verdict) in &report.cases {
        let name = format!("case-{:04}", verdict.case);
        let mut suite = TestSuite::new(name.clone());
        suite.add_property(("folder", folder.display().to_string().as_str()));
        let mut total = Duration::ZERO;
        for variant in &verdict.variants {
            let title = format!("variant-{:04}", variant.variant);
            let place = variant_folder(folder, variant.variant);
            let mut test = TestCase::new(title, status(variant, &place, known));
            test.set_classname(format!("{engine}.{name}"));
            if let Some(took) = took(&place) {
                test.set_time(took);
                total += took;
            }
            if !variant.warm_only.is_empty() {
                let lines: Vec<String> = variant.warm_only.iter().map(line).collect();
                test.set_system_out(format!("warm only, and no failure:\n{}", lines.join("\n")));
            }
            suite.add_test_case(test);
        }
        suite.set_time(total);
        document.add_test_suite(suite);
    }
    document
}

fn status(variant: &VariantVerdict, place: &Path, known: &KnownFindings) -> TestCaseStatus {
    let result = &variant.result;
    let mut status = match result {
        VariantResult::Pass => return TestCaseStatus::success(),
        VariantResult::Known { .. } => TestCaseStatus::skipped(),
        VariantResult::Fail { .. } => TestCaseStatus::non_success(NonSuccessKind::Failure),
        VariantResult::Inconclusive { .. } => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    let findings = result.findings();
    let list = |items: BTreeSet<String>| items.into_iter().collect::<Vec<_>>().join(", ");
    match result {
        VariantResult::Inconclusive { reason } => {
            status.set_type("inconclusive").set_message(reason.as_str());
        }
        VariantResult::Known { .. } => {
            let names = findings.iter().filter_map(|finding| finding.known.clone()).collect();
            status.set_message(format!("known: {}", list(names)));
        }
        _ => {
            let new = findings.iter().filter(|finding| finding.known.is_none());
            let signatures = new.map(|finding| finding.signature().to_string()).collect();
            let again = match variant.again {
                Some(true) => " (again)",
                Some(false) => " (not again)",
                None => "",
            };
            status.set_type("finding").set_message(list(signatures) + again);
        }
    }
    status.set_description(explanation(variant, place, known));
    status
}

/// What there is to say of a variant that did not pass: the cause, what follows, and where to look.
fn explanation(variant: &VariantVerdict, place: &Path, known: &KnownFindings) -> String {
    let mut lines = Vec::new();
    if let VariantResult::Inconclusive { reason } = &variant.result {
        lines.push(format!("could not be judged: {reason}"));
    }
    if let Some(cause) = Cause::among(variant.result.findings()) {
        lines.push(format!("cause: {}", line(cause.finding)));
        if let Some(bug) = cause.finding.known.as_ref().and_then(|name| known.get(name)) {
            lines.push(format!("known: {}: {} ({})", bug.name, bug.text, bug.case));
        }
        lines.extend(cause.before.into_iter().map(|finding| format!("before: {}", line(finding))));
        lines.extend(cause.follows.into_iter().map(|finding| format!("follows: {}", line(finding))));
    }
    lines.extend(variant.damaged.clone());
    lines.push(format!("folder: {}", place.display()));
    lines.push(format!("show it: equiform show {}", place.display()));
    lines.join("\n")
}

fn line(finding: &Finding) -> String {
    let known = finding.known.as_ref().map(|name| format!(" (known: {name})")).unwrap_or_default();
    format!("{}: {}{known}: {finding}", finding.stage, finding.signature())
}

/// How long the engine's commands took for a variant.
fn took(folder: &Path) -> Option<Duration> {
    let records: Vec<StageRecord> = serde_json::from_slice(&fs::read(folder.join(STAGES)).ok()?).ok()?;
    Some(Duration::from_millis(records.iter().map(|record| record.milliseconds).sum()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use std::path::PathBuf;

    use super::*;
    use crate::engines::{EngineId, EngineName, RecordedEngine, Version};
    use crate::judge::finding::{Detail, FindingKind};
    use crate::judge::verdict::CaseVerdict;

    fn finding(text: &str, known: Option<&str>) -> Finding {
        let quote = Detail::Quote { words: text.to_owned() };
        let finding = Finding::new(FindingKind::Failure, "batch-1").with(quote);
        Finding { known: known.map(str::to_owned), ..finding }
    }

    fn report(folder: PathBuf) -> Report {
        let results = [
            VariantResult::Pass,
            VariantResult::of(vec![finding("a <b> & \"c\" ]]> \u{1b}[31mred\u{1b}[0m \u{0}\u{7} é", None)]),
            VariantResult::of(vec![finding("d", Some("cycle-edge-removed"))]),
            VariantResult::Inconclusive { reason: "stages.json: <gone> & away".to_owned() },
        ];
        let variants = results.into_iter().enumerate();
        let variants = variants.map(|(variant, result)| VariantVerdict {
            again: matches!(result, VariantResult::Fail { .. }).then_some(false),
            ..VariantVerdict::new(variant, result)
        });
        Report {
            title: "x".to_owned(),
            engine: Some(RecordedEngine {
                id: EngineId::new(EngineName::Terraform, Version::new(1, 15, 5)),
                path: Some("/some/where".into()),
            }),
            cases: vec![(folder, CaseVerdict { case: 0, variants: variants.collect() })],
            ..Report::default()
        }
    }

    #[test]
    fn an_xml_parser_reads_back_what_came_of_each_variant_whatever_the_engine_printed() {
        let root = tempfile::tempdir().unwrap();
        let case = root.path().join("whatever-it-is-called");
        fs::create_dir_all(variant_folder(&case, 0)).unwrap();
        let record = |milliseconds| StageRecord { milliseconds, ..StageRecord::new("batch-1", "apply") };
        let records = serde_json::to_vec(&[record(1200), record(300)]).unwrap();
        fs::write(variant_folder(&case, 0).join(STAGES), records).unwrap();
        let path = root.path().join("new/junit.xml");
        write(&report(case.clone()), &KnownFindings::shipped(), &path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644, "others can read it");
        let text = fs::read_to_string(&path).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap();
        let suites: Vec<_> = document.descendants().filter(|node| node.has_tag_name("testsuite")).collect();
        assert_eq!(suites.len(), 1);
        let number = |name| suites[0].attribute(name).unwrap();
        assert_eq!(
            ["name", "tests", "failures", "errors", "skipped"].map(number),
            ["case-0000", "4", "1", "1", "1"]
        );
        let tests: Vec<_> = document.descendants().filter(|node| node.has_tag_name("testcase")).collect();
        let names: Vec<_> = tests.iter().map(|test| test.attribute("name").unwrap()).collect();
        assert_eq!(names, ["variant-0000", "variant-0001", "variant-0002", "variant-0003"]);
        let classes: BTreeSet<_> = tests.iter().map(|test| test.attribute("classname").unwrap()).collect();
        assert_eq!(classes, ["terraform@1.15.5.case-0000"].into(), "no folder is in a name");
        assert_eq!(tests[0].attribute("time"), Some("1.500"));
        let of = |test: usize, tag: &str| {
            let found = tests[test].children().find(|node| node.has_tag_name(tag));
            found.unwrap_or_else(|| panic!("{tag} in {text}"))
        };
        let place = |variant| variant_folder(&case, variant).display().to_string();
        let look = |variant| format!("folder: {0}\nshow it: equiform show {0}", place(variant));
        assert_eq!(
            of(1, "failure").text(),
            Some(&*format!("cause: batch-1: health: failure: a <b> & \"c\" ]]> red  é\n{}", look(1))),
            "what XML cannot hold is gone, all else is there"
        );
        let skipped = of(2, "skipped").text().unwrap();
        assert!(skipped.contains("\nknown: cycle-edge-removed: a cycle is reported when "), "{skipped}");
        assert!(skipped.ends_with(&look(2)), "{skipped}");
        assert!(
            of(3, "error").text().unwrap().starts_with("could not be judged: stages.json: <gone> & away\n")
        );
        assert_eq!(of(1, "failure").attribute("message"), Some("health: failure (not again)"));
        assert_eq!(of(2, "skipped").attribute("message"), Some("known: cycle-edge-removed"));
        assert_eq!(of(3, "error").attribute("message"), Some("stages.json: <gone> & away"));
    }
}
