//! Faults put around a real engine by a script, and the oracles that see them.

mod cases;
mod list;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use equiform::deploy::Start;
use equiform::engines::driver::ProviderMode;
use equiform::judge::oracles::{ORACLES, Oracle};
use equiform::judge::variant as judge;
use equiform::judge::verdict::VariantResult;
use rayon::prelude::*;

use self::cases::CASES;
use self::list::{FAULTS, Fault};
use super::support::{engine, provider, runner};

/// The page that shows the matrix.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/oracles.md");

/// How long an engine may take that is not meant to hang.
const LONG: Duration = Duration::from_secs(120);

fn wrapper(folder: &Path, real: &Path, stages: &str, script: &str) -> PathBuf {
    let path = folder.join("engine");
    let text = format!(
        "#!/bin/sh\nengine='{}'\nreal() {{ \"$engine\" \"$@\"; }}\n\
         case $EQUIFORM_RUN in\n{stages})\n{script}\n;;\n*) real \"$@\";;\nesac\n",
        real.display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// What the oracles say of a case that was deployed with a fault.
fn judged(fault: &Fault, real: &Path, server: &equiform::deploy::access::Provider) -> VariantResult {
    let folder = tempfile::tempdir().unwrap();
    let engine = wrapper(folder.path(), real, fault.stages, fault.script);
    let timeout = if fault.script.starts_with("sleep") { Duration::from_secs(1) } else { LONG };
    let runner = runner(&engine, server, timeout);
    let (case, place) = ((fault.case)(), folder.path().join("variant"));
    runner.deploy(&case, 0, &place, Start::Cold).unwrap();
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    judge::variant(&case, 0, &place, &oracles)
}

/// The matrix as a table in Markdown, the oracle known from the literature first.
fn matrix(seen: &[BTreeSet<&str>]) -> String {
    let row = |title: &str, cells: Vec<String>| format!("| {title} | {} |\n", cells.join(" | "));
    let of_oracles = |cell: &dyn Fn(&str) -> String| ORACLES.iter().map(|oracle| cell(oracle.name)).collect();
    let mut table = row("fault", of_oracles(&|name| format!("`{name}`")));
    table += &format!("|---|{}\n", ":-:|".repeat(ORACLES.len()));
    for (fault, seen) in FAULTS.iter().zip(seen) {
        let mark = |name: &str| if seen.contains(name) { "x" } else { "" }.to_owned();
        table += &row(fault.name, of_oracles(&mark));
    }
    let count = |wanted: &dyn Fn(&BTreeSet<&str>, &str) -> bool| {
        of_oracles(&|name| seen.iter().filter(|seen| wanted(seen, name)).count().to_string())
    };
    table += &row(&format!("**of {} sees**", seen.len()), count(&|seen, name| seen.contains(name)));
    table
}

fn every_fault_is_seen(spec: &str) {
    let (real, server) = (engine(spec), provider(ProviderMode::Reattach));
    for case in CASES.iter().copied() {
        let sound = Fault { name: "none", seen_by: "none", case, stages: "*", script: r#"real "$@""# };
        assert_eq!(judged(&sound, &real, &server), VariantResult::Pass, "the script itself is no fault");
    }
    let results: Vec<VariantResult> = FAULTS.par_iter().map(|fault| judged(fault, &real, &server)).collect();
    let seen: Vec<BTreeSet<&str>> = results
        .iter()
        .map(|result| match result {
            VariantResult::Fail { findings } | VariantResult::Known { findings } => {
                findings.iter().map(|finding| finding.oracle.as_str()).collect()
            }
            VariantResult::Pass | VariantResult::Inconclusive { .. } => BTreeSet::new(),
        })
        .collect();
    let matrix = matrix(&seen);
    println!("{spec}\n{matrix}");
    for ((fault, seen), result) in FAULTS.iter().zip(&seen).zip(&results) {
        assert!(seen.contains(fault.seen_by), "{} is not seen by {}: {result:?}", fault.name, fault.seen_by);
    }
    let page = fs::read_to_string(PAGE).unwrap();
    let head = matrix.lines().next().unwrap();
    assert!(page.contains(head), "docs/oracles.md has another table than {head}");
    for fault in FAULTS {
        let row = page.lines().find(|line| line.starts_with(&format!("| {} |", fault.name)));
        let row = row.unwrap_or_else(|| panic!("docs/oracles.md does not list {:?}", fault.name));
        let place = ORACLES.iter().position(|oracle| oracle.name == fault.seen_by).unwrap();
        assert_eq!(row.split('|').nth(place + 2).map(str::trim), Some("x"), "docs/oracles.md: {row}");
    }
}

#[test]
fn every_fault_around_terraform_is_seen_by_the_oracle_named_for_it() {
    every_fault_is_seen("terraform@1.15.5");
}

#[test]
fn every_fault_around_opentofu_is_seen_by_the_oracle_named_for_it() {
    every_fault_is_seen("tofu@1.12.6");
}
