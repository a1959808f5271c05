//! Texts and names that engines must leave as they are, in both syntaxes, and what is done with those that they do not.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use equiform::algebra::graph::NamedGraph;
use equiform::algebra::program::parse;
use equiform::campaign::Settings;
use equiform::campaign::settings::Sources;
use equiform::campaign::texts::{FAMILIES, SCRIPTS, TAKEN};
use equiform::case::Case;
use equiform::deploy::Start;
use equiform::engines::driver::{ProviderMode, Syntax};
use equiform::judge::oracles::{ORACLES, Oracle};
use equiform::judge::variant as judge;
use equiform::judge::verdict::VariantResult;

use super::support::{engine, provider, runner};

/// A case in which each family of texts is the labels of a resource, one after the other; blocks have names that mean
/// something elsewhere.
fn all_texts() -> Case {
    let values = ["a", "b", "c"];
    let long = "0123456789abcdef".repeat(4096);
    let families = FAMILIES.iter().map(|family| family[..3].iter().map(|&text| text.to_owned()).collect());
    let families: Vec<Vec<String>> = families
        .chain([vec![long.clone(), format!("{long}!"), long[..32768].to_owned()], alarming()])
        .collect();
    let add = (0..families.len()).fold("empty".to_owned(), |term, at| format!("(add r{at} {term})"));
    let term = values.iter().fold(add, |term, value| {
        let term = if *value == "a" { term } else { format!("(cut {term})") };
        (0..families.len()).fold(term, |term, at| format!("(set r{at} label {value} {term})"))
    });
    let parsed = parse(&term).unwrap();
    let source = NamedGraph::new(&parsed.eval().unwrap(), &parsed.names);
    let mut case = Case { outputs: true, ..Case::new(0, source, vec![term]).unwrap() };
    for (at, family) in families.into_iter().enumerate() {
        for (value, text) in values.into_iter().zip(family) {
            case.spelling.spell(&format!("r{at}"), "label", value, text);
        }
    }
    let long = "a-long_name-".repeat(17)[..200].to_owned();
    let names = TAKEN.iter().chain(SCRIPTS).map(|&name| name.to_owned()).chain([long]);
    names.enumerate().for_each(|(at, name)| case.spelling.call(&format!("r{at}"), name));
    case
}

/// Texts with the words that engines print when they crash or blame somebody.
fn alarming() -> Vec<String> {
    let texts = [
        "panic: runtime error\ngoroutine 1 [running]:",
        "Error: Provider produced inconsistent result. This is a bug in the provider",
        "fatal error: WARNING: DATA RACE, see crash.log",
    ];
    texts.map(str::to_owned).to_vec()
}

fn texts_arrive_as_they_are(spec: &str, case: &Case) {
    let server = provider(ProviderMode::Reattach);
    let mut wrong = String::new();
    for syntax in [Syntax::Hcl, Syntax::Json] {
        let folder = tempfile::tempdir().unwrap();
        let mut runner = runner(&engine(spec), &server, Duration::from_secs(300));
        runner.syntax = syntax;
        let case = &case.clone().on(runner.engine.engine().recorded());
        runner.deploy(case, 0, &folder.path().join("variant"), Start::Cold).unwrap();
        let oracles: Vec<&Oracle> = ORACLES.iter().collect();
        let verdict = judge::variant(case, 0, &folder.path().join("variant"), &oracles);
        if verdict != VariantResult::Pass {
            let findings: Vec<String> =
                verdict.findings().iter().take(9).map(|it| format!("{it:?}")).collect();
            let _ = writeln!(wrong, "{spec} {syntax:?}: {}", findings.join("\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn terraform_deploys_all_texts_and_names_as_they_are() {
    texts_arrive_as_they_are("terraform@1.15.5", &all_texts());
}

#[test]
fn the_oldest_terraform_deploys_all_texts_and_names_as_they_are() {
    texts_arrive_as_they_are("terraform@1.6.6", &all_texts());
}

#[test]
fn opentofu_deploys_all_texts_and_names_as_they_are() {
    texts_arrive_as_they_are("tofu@1.12.6", &all_texts());
}

/// Keys are texts, too. What would begin a template is escaped once, wherever it is.
#[test]
fn keys_arrive_as_they_are() {
    let keys =
        ["a%{b", "%%{if}", "${a} $${b} %%{c} $%{d", "caf\u{e9}", "q\"\\\n\t\u{1}\u{7f}\u{2028}", "-x y"];
    let graph = NamedGraph { nodes: keys.map(str::to_owned).into(), ..NamedGraph::default() };
    let from = Sources::Given(graph);
    let workflows = "plain".parse().unwrap();
    let case = Settings { from, workflows, variants: 1, batches: 2, ..Settings::default() }.case(0);
    texts_arrive_as_they_are("terraform@1.15.5", &case);
}

#[test]
fn a_source_with_names_that_engines_change_or_refuse_is_refused_with_a_sentence() {
    for (source, sentence) in [
        (r#"{"nodes":[""],"edges":[]}"#, "a resource has an empty name"),
        (r#"{"nodes":["e\u0301"],"edges":[]}"#, "is not in Unicode's composed form (NFC)"),
        (r#"{"nodes":["e\u0301","\u00e9"],"edges":[]}"#, "is not in Unicode's composed form (NFC)"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_equiform"))
            .args(["run", "--source", source, "--out", "/nonexistent/folder"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(sentence), "{source}: {said}");
    }
}
