//! Faults put around a real engine by a script, and the oracles that see them.

mod cases;
pub mod list;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use equiform::algebra::signature::Signature;
use equiform::case::Case;
use equiform::case::workflow::{WORKFLOWS, Workflow};
use equiform::deploy::Start;
use equiform::deploy::access::Provider;
use equiform::engines::driver::ProviderMode;
use equiform::judge::finding::FindingKind;
use equiform::judge::oracles::{ORACLES, Oracle};
use equiform::judge::variant as judge;
use equiform::judge::verdict::VariantResult;
use equiform::spec::EdgeKind;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use self::cases::CASES;
use self::list::{At, Fault, With, plain, special};
use super::support::{engine, provider, runner};

/// The page that shows the matrix.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/oracles.md");

/// How long an engine may take that is not meant to hang.
const LONG: Duration = Duration::from_secs(120);

/// How many cases are under way at once: engines wait for the provider half of the time.
const AT_ONCE: usize = 4;

/// What scripts are written in.
const WORDS: &str = r#"
real() { "$engine" "$@"; }
said() { "$engine" "$@" >said; code=$?; }
without() { dropped=$1; shift
for it; do shift; case $it in $dropped) ;; *) set -- "$@" "$it";; esac; done; real "$@"; }
"#;

/// An engine with a fault.
pub fn wrapper(folder: &Path, real: &Path, fault: &Fault) -> PathBuf {
    let path = folder.join("engine");
    let (word, pattern) = match fault.at {
        At::Stage(pattern) => ("$EQUIFORM_RUN", pattern),
        // Blanks are a part of the pattern, and everything else means what it means in one.
        At::Command(pattern) => ("$*", &*pattern.replace(' ', "\\ ")),
    };
    let text = format!(
        "#!/bin/sh\nengine='{}'\n{WORDS}case \"{word}\" in\n{pattern})\n{}\n;;\n*) real \"$@\";;\nesac\n",
        real.display(),
        fault.script
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// What the oracles say of a case that was deployed by an engine in which these faults are, one around the other.
fn judged(case: &Case, faults: &[&Fault], real: &Path, server: &Provider) -> VariantResult {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = real.to_owned();
    for (number, fault) in faults.iter().enumerate() {
        let place = folder.path().join(number.to_string());
        fs::create_dir(&place).unwrap();
        engine = wrapper(&place, &engine, fault);
    }
    let hangs = faults.iter().any(|fault| fault.script.starts_with("sleep"));
    let runner = runner(&engine, server, if hangs { Duration::from_secs(1) } else { LONG });
    let place = folder.path().join("variant");
    let case = &case.clone().on(runner.engine.engine().recorded());
    runner.deploy(case, 0, &place, Start::Cold).unwrap();
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    judge::variant(case, 0, &place, &oracles)
}

/// A case that is driven by a workflow, such that all of this occurs in its stages.
fn driven(mut case: Case, workflow: &Workflow, having: &[&str]) -> Case {
    let batches = case.batches(0).unwrap();
    let fits = (0..10_000).map(|seed| workflow.stages(&batches, 1, seed)).find(|stages| {
        let json = serde_json::to_string(stages).unwrap();
        having.iter().all(|text| json.contains(text))
    });
    case.variants[0].stages = fits.unwrap_or_else(|| panic!("{} never has {having:?}", workflow.name));
    case.variants[0].workflow = workflow.name.to_owned();
    case
}

impl Fault {
    /// What is deployed to see it.
    fn shown_by(&self) -> Case {
        self.shown_by_grown(Case::clone, &[])
    }

    /// The same with a case that is made larger, and more that has to occur in the stages of a workflow.
    pub fn shown_by_grown(&self, grown: impl FnOnce(&Case) -> Case, more: &[&str]) -> Case {
        let case = grown(&(self.case)());
        match self.only_with {
            None | Some(With::Change(..)) => case,
            Some(With::Workflow(name, having)) => {
                driven(case, Workflow::named(name).unwrap(), &[having, more].concat())
            }
        }
    }
}

/// A matrix as a table in Markdown, the oracle known from the literature first.
fn matrix(faults: &[&Fault], seen: &[BTreeSet<&str>]) -> String {
    let row = |title: &str, cells: Vec<String>| format!("| {title} | {} |\n", cells.join(" | "));
    let of_oracles =
        |cell: &dyn Fn(&str) -> String| ORACLES.iter().map(|oracle| cell(oracle.name())).collect();
    let is_special = faults.iter().any(|fault| fault.only_with.is_some());
    let (title, line, total) =
        if is_special { ("only with | fault", "---|---", " | ") } else { ("fault", "---", "") };
    let mut table = row(title, of_oracles(&|name| format!("`{name}`")));
    table += &format!("|{line}|{}\n", ":-:|".repeat(ORACLES.len()));
    for (fault, seen) in faults.iter().zip(seen) {
        let mark = |name: &str| if seen.contains(name) { "x" } else { "" }.to_owned();
        table += &row(&title_of(fault), of_oracles(&mark));
    }
    let counts = of_oracles(&|name| seen.iter().filter(|seen| seen.contains(name)).count().to_string());
    table += &row(&format!("{total}**of {} sees**", seen.len()), counts);
    table
}

/// The first cells of a fault's row.
fn title_of(fault: &Fault) -> String {
    match fault.only_with {
        None => fault.name.to_owned(),
        Some(with) => format!("{} | {}", with.name(), fault.name),
    }
}

/// Which oracles see each of the faults, held against what the list and the page say.
fn see(spec: &str, faults: &[&Fault], real: &Path, server: &Provider) {
    let results: Vec<VariantResult> =
        faults.par_iter().map(|fault| judged(&fault.shown_by(), &[fault], real, server)).collect();
    let seen: Vec<BTreeSet<&str>> = results
        .iter()
        .map(|result| match result {
            VariantResult::Fail { findings } | VariantResult::Known { findings } => {
                findings.iter().map(|finding| finding.oracle().name()).collect()
            }
            VariantResult::Pass | VariantResult::Inconclusive { .. } => BTreeSet::new(),
        })
        .collect();
    let matrix = matrix(faults, &seen);
    println!("{spec}\n{matrix}");
    let unseen =
        faults.iter().zip(&seen).zip(&results).filter(|((fault, seen), _)| !seen.contains(fault.seen_by));
    let unseen: Vec<String> = unseen
        .map(|((fault, _), result)| format!("{} is not seen by {}: {result:?}", fault.name, fault.seen_by))
        .collect();
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
    let page = fs::read_to_string(PAGE).unwrap();
    let head = matrix.lines().next().unwrap();
    assert!(page.contains(head), "docs/oracles.md has another table than {head}");
    for fault in faults {
        let title = format!("| {} |", title_of(fault));
        let row = page.lines().find_map(|line| line.strip_prefix(&title));
        let row = row.unwrap_or_else(|| panic!("docs/oracles.md does not list {:?}", fault.name));
        let place = ORACLES.iter().position(|oracle| oracle.name() == fault.seen_by).unwrap();
        assert_eq!(row.split('|').nth(place).map(str::trim), Some("x"), "docs/oracles.md: {title}{row}");
    }
}

/// A script that does nothing wrong.
fn sound(case: fn() -> Case) -> Fault {
    let at = At::Stage("*");
    Fault { name: "none", seen_by: "none", case, at, script: r#"real "$@""#, only_with: None }
}

/// Neither by the script itself, nor with any workflow or change that a fault needs.
fn without_a_fault_nothing_is_seen(real: &Path, server: &Provider) {
    let mut all: Vec<Case> = CASES.iter().map(|case| case()).collect();
    let mut workflows = BTreeSet::new();
    all.extend(special().into_iter().filter_map(|fault| match fault.only_with? {
        With::Workflow(name, _) => workflows.insert(name).then(|| fault.shown_by()),
        With::Change(..) => Some(fault.shown_by()),
    }));
    all.dedup();
    all.par_iter().for_each(|case| {
        let (result, variant) = (judged(case, &[&sound(CASES[0])], real, server), &case.variants[0]);
        assert_eq!(result, VariantResult::Pass, "{} {}", variant.workflow, variant.program);
    });
}

/// All faults that need something, one around the other, on a case that lacks it.
fn without_what_they_need_they_are_not_seen(real: &Path, server: &Provider) {
    let mut unseen: BTreeMap<String, (Case, Vec<&Fault>)> = BTreeMap::new();
    for fault in special() {
        let case = match fault.only_with {
            None | Some(With::Workflow(..)) => (fault.case)(),
            Some(With::Change(_, without)) => without(),
        };
        let name = serde_json::to_string(&case).unwrap();
        unseen.entry(name).or_insert((case, Vec::new())).1.push(fault);
    }
    let unseen: Vec<_> = unseen.into_values().collect();
    unseen.par_iter().for_each(|(case, faults)| {
        let names: Vec<&str> = faults.iter().map(|fault| fault.name).collect();
        assert_eq!(judged(case, faults, real, server), VariantResult::Pass, "one of {names:?}");
    });
}

/// Every nth fault, or all of them if `EQUIFORM_ALL_FAULTS` is set.
fn every(faults: Vec<&'static Fault>, step: usize) -> Vec<&'static Fault> {
    let step = if env::var_os("EQUIFORM_ALL_FAULTS").is_some() { 1 } else { step };
    faults.into_iter().step_by(step).collect()
}

fn faults_are_seen(spec: &str, step: usize) {
    let (real, server) = (engine(spec), provider(ProviderMode::Reattach));
    ThreadPoolBuilder::new().num_threads(AT_ONCE).build().unwrap().install(|| {
        without_a_fault_nothing_is_seen(&real, &server);
        without_what_they_need_they_are_not_seen(&real, &server);
        see(spec, &every(special(), step), &real, &server);
        see(spec, &every(plain(), step), &real, &server);
    });
}

#[test]
fn every_workflow_attribute_and_trigger_has_a_fault_that_needs_it() {
    let needed: BTreeSet<&str> = special().iter().filter_map(|fault| Some(fault.only_with?.name())).collect();
    let signature = Signature::attributed();
    let attributes = signature.attributes().iter().map(|attribute| attribute.name());
    let triggers = [EdgeKind::TriggeredBy, EdgeKind::TriggeredByLabel].map(EdgeKind::name);
    let workflows = WORKFLOWS[1..].iter().map(|workflow| workflow.name);
    for name in attributes.chain(triggers).chain(workflows) {
        assert!(needed.iter().any(|needed| needed.split(' ').next() == Some(name)), "no fault needs {name}");
    }
}

#[test]
fn an_identity_that_is_lost_or_is_another_objects_is_seen() {
    let (spec, server) = ("terraform@1.15.5", provider(ProviderMode::Reattach));
    let real = engine(spec);
    let case = cases::chain();
    let kinds = |script: &'static str| match judged(
        &case,
        &[&Fault { at: At::Stage("batch-2"), script, ..sound(cases::chain) }],
        &real,
        &server,
    ) {
        VariantResult::Fail { findings } => findings.into_iter().map(|finding| finding.kind).collect(),
        _ => BTreeSet::new(),
    };
    let lost = kinds(r#"real "$@"; sed -i '/"identity": {/,/}/d' terraform.tfstate"#);
    assert!(lost.contains(&FindingKind::IdentityMissing), "{lost:?}");
    let other = r#"real "$@"; sed -i '/"identity": {/,/}/s/"id": "node-[a-z0-9]*"/"id": "node-0"/' terraform.tfstate"#;
    assert!(kinds(other).contains(&FindingKind::IdentityDiffers), "{:?}", kinds(other));
    assert_eq!(kinds(r#"real "$@""#), BTreeSet::new());
}

#[test]
fn every_fault_around_terraform_is_seen_by_the_oracle_named_for_it() {
    faults_are_seen("terraform@1.15.5", 1);
}

/// The scripts are the same, and so is most of the engine: `make test-faults` tries all of them on both.
#[test]
fn every_third_fault_around_opentofu_is_seen_by_the_oracle_named_for_it() {
    faults_are_seen("tofu@1.12.6", 3);
}
