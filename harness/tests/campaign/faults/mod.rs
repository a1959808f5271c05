//! Faults put around a real engine by a script, and the oracles that see them.

mod cases;
pub mod list;
mod page;
pub mod scenario;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use equiform::algebra::signature::Signature;
use equiform::case::Case;
use equiform::case::workflow::{WORKFLOWS, Workflow};
use equiform::deploy::access::Provider;
use equiform::deploy::hold::Hold;
use equiform::deploy::{Runner, Start};
use equiform::engines::driver::ProviderMode;
use equiform::judge::finding::{Finding, FindingKind};
use equiform::judge::oracles::{ORACLES, Oracle};
use equiform::judge::variant as judge;
use equiform::judge::verdict::VariantResult;
use equiform::spec::EdgeKind;
use equiform::spec::semantics::FOR_CHOICES;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use self::list::{At, Fault, With, plain, special};
use self::page::{Marks, Matrix, Table};
use self::scenario::{Scenario, any};
use super::support::{engine, provider, runner};

/// The engines that faults are put around.
const ENGINES: [&str; 2] = ["terraform@1.15.5", "tofu@1.12.6"];

/// In how many seeds a scenario is looked for.
const SEEDS: u64 = 10_000;

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
proxied() { rules=$1; shift; "$proxy" $rules -- "$engine" "$@"; }
untidy() { trap - EXIT; mv "$aside"/own/* . 2>/dev/null; rm -r .terraform; }
"#;

/// What a script leaves behind is its own and no part of its fault, unless it says `untidy`: its files are put where
/// engines install providers, from where the next command takes them back, and the program is as it was.
const TIDY: &str = r#"
had=" $(ls | tr '\n' ' ') "
mkdir -p "$aside/own" "$aside/program"
cp -p main.tf* "$aside/program"
mv "$aside"/own/* . 2>/dev/null
tidy() {
  for it in *; do case "$had main.tf main.tf.json terraform.tfstate terraform.tfstate.backup saved.tfplan " in
    *" $it "*) ;;
    *) mv "$it" "$aside/own";;
  esac; done
  cp -p "$aside/program"/* .
}
trap tidy EXIT
"#;

/// The proxy between engine and provider, an example of the harness: `cargo test` builds it with everything else.
fn proxy() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_equiform")).with_file_name("examples").join("fault_proxy");
    assert!(path.is_file(), "{} is not built: cargo test --workspace --no-run", path.display());
    path
}

/// An engine with a fault.
pub fn wrapper(folder: &Path, real: &Path, fault: &Fault) -> PathBuf {
    let path = folder.join("engine");
    let (word, pattern) = match fault.at {
        At::Stage(pattern) => ("$EQUIFORM_RUN", pattern),
        // Blanks are a part of the pattern, and everything else means what it means in one.
        At::Command(pattern) => ("$*", &*pattern.replace(' ', "\\ ")),
    };
    let text = format!(
        "#!/bin/sh\nengine='{}' proxy='{}' aside='.terraform/{}'\n{WORDS}case \"{word}\" in\n{pattern})\n{TIDY}{}\n;;\n\
         *) real \"$@\";;\nesac\n",
        real.display(),
        proxy().display(),
        folder.file_name().unwrap().to_string_lossy(),
        fault.script
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A runner of an engine in which these faults are.
pub fn runner_for(faults: &[&Fault], engine: &Path, server: &Provider) -> Runner {
    let hangs = faults.iter().any(|fault| fault.script.starts_with("sleep"));
    let usual = runner(engine, server, if hangs { Duration::from_secs(2) } else { LONG });
    // The script that ends the engine before an operation is over needs time for it.
    let kills = faults.iter().any(|fault| fault.script.contains("kill -9"));
    if kills { Runner { hold: Hold::For { milliseconds: 500 }, ..usual } } else { usual }
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
    let runner = runner_for(faults, &engine, server);
    let place = folder.path().join("variant");
    let case = &case.clone().on(runner.engine.engine().recorded());
    runner.deploy(case, 0, &place, Start::Cold).unwrap();
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    judge::variant(case, 0, &place, &oracles)
}

/// A case that is driven by a workflow, in the first stages that it makes of which all of this is so.
fn driven(mut case: Case, workflow: &Workflow, scenario: &[Scenario]) -> Case {
    let batches = case.batches(0).unwrap();
    let stages = (0..SEEDS).map(|seed| workflow.stages(&batches, 1, FOR_CHOICES, seed));
    let fits = stages.into_iter().find(|stages| scenario.iter().all(|occurs| occurs(stages)));
    let fits = fits.unwrap_or_else(|| panic!("{} has no such scenario in {SEEDS} seeds", workflow.name));
    case.variants[0].stages = fits;
    case.variants[0].workflow = workflow.name.to_owned();
    case
}

impl Fault {
    /// What is deployed to see it.
    fn shown_by(&self) -> Case {
        self.shown_by_grown(Case::clone, any)
    }

    /// The same with a case that is made larger, and more that has to occur in the stages of a workflow.
    pub fn shown_by_grown(&self, grown: impl FnOnce(&Case) -> Case, more: Scenario) -> Case {
        let case = grown(&(self.case)());
        match self.only_with {
            None | Some(With::Change(..)) => case,
            Some(With::Workflow(name, scenario)) => {
                driven(case, Workflow::named(name).unwrap(), &[scenario, more])
            }
        }
    }
}

/// Which oracles see each of the faults. The oracle that the list names must be among them.
fn see(spec: &str, table: Table, faults: &[&'static Fault], real: &Path, server: &Provider) {
    let results: Vec<VariantResult> =
        faults.par_iter().map(|fault| judged(&fault.shown_by(), &[fault], real, server)).collect();
    let seen = results.iter().map(|result| match result {
        VariantResult::Fail { findings } | VariantResult::Known { findings } => {
            findings.iter().map(|finding| finding.oracle().name().to_owned()).collect()
        }
        VariantResult::Pass | VariantResult::Inconclusive { .. } => Marks::new(),
    });
    let measured: BTreeMap<String, Marks> = faults.iter().map(|fault| fault.title()).zip(seen).collect();
    println!("{spec}\n{}", Matrix { table, rows: measured.clone() }.text());
    let unseen =
        faults.iter().zip(&results).filter(|(fault, _)| !measured[&fault.title()].contains(fault.seen_by));
    let unseen: Vec<String> = unseen
        .map(|(fault, result)| format!("{} is not seen by {}: {result:?}", fault.name, fault.seen_by))
        .collect();
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
    // The page has what the first engine shows. The other one is only compared.
    if spec == ENGINES[0] && page::is_updated() {
        page::update(table, &measured);
    }
    page::print_differences(table, &measured);
}

/// A script that does nothing wrong.
fn sound() -> Fault {
    let at = At::Stage("*");
    Fault { name: "none", seen_by: "none", case: cases::chain, at, script: r#"real "$@""#, only_with: None }
}

/// Each of these cases once.
fn distinct(cases: impl Iterator<Item = Case>) -> Vec<Case> {
    let by_text: BTreeMap<String, Case> =
        cases.map(|case| (serde_json::to_string(&case).unwrap(), case)).collect();
    by_text.into_values().collect()
}

/// Neither by the script itself, nor with any workflow or change that a fault needs.
fn without_a_fault_nothing_is_seen(faults: &[&Fault], real: &Path, server: &Provider) {
    let mut workflows = BTreeSet::new();
    let cases = distinct(faults.iter().filter_map(|fault| match fault.only_with {
        Some(With::Workflow(name, _)) => workflows.insert(name).then(|| fault.shown_by()),
        Some(With::Change(..)) | None => Some(fault.shown_by()),
    }));
    cases.par_iter().for_each(|case| {
        let (result, variant) = (judged(case, &[&sound()], real, server), &case.variants[0]);
        assert_eq!(result, VariantResult::Pass, "{} {}", variant.workflow, variant.program);
    });
}

/// All faults that need something, one around the other, on a case that lacks it.
fn without_what_they_need_they_are_not_seen(faults: &[&Fault], real: &Path, server: &Provider) {
    let mut unseen: BTreeMap<String, (Case, Vec<&Fault>)> = BTreeMap::new();
    for fault in faults {
        let case = match fault.only_with {
            None => continue,
            Some(With::Workflow(..)) => (fault.case)(),
            Some(With::Change(_, without)) => without(),
        };
        let name = serde_json::to_string(&case).unwrap();
        unseen.entry(name).or_insert((case, Vec::new())).1.push(fault);
    }
    let unseen: Vec<_> = unseen.into_values().collect();
    unseen.par_iter().for_each(|(case, faults)| {
        let names: Vec<&str> = faults.iter().map(|fault| fault.name).collect();
        let result = judged(case, faults, real, server);
        // Scripts around each other ask the engine more often than one alone, and share their files.
        let is_of_the_scripts = |finding: &&Finding| {
            let kinds = [FindingKind::TooManyCalls, FindingKind::ReadUnreported, FindingKind::StderrOutput];
            kinds.contains(&finding.kind)
        };
        let others = result.findings().iter().filter(|finding| !is_of_the_scripts(finding));
        assert!(
            others.count() == 0 && !matches!(result, VariantResult::Inconclusive { .. }),
            "one of {names:?}: {result:?}"
        );
    });
}

/// Those of these faults that are tried: the ones that `EQUIFORM_FAULT` names a part of, or all. `|` separates parts.
fn chosen(faults: Vec<&'static Fault>) -> Vec<&'static Fault> {
    let parts = env::var("EQUIFORM_FAULT").unwrap_or_default();
    let is_chosen = |fault: &&Fault| parts.split('|').any(|part| fault.name.contains(part));
    faults.into_iter().filter(is_chosen).collect()
}

/// Every nth fault, or all of them if `EQUIFORM_ALL_FAULTS` is set, the page is written anew, or somebody asks for
/// certain ones.
fn every(faults: Vec<&'static Fault>, step: usize) -> Vec<&'static Fault> {
    let all = ["EQUIFORM_ALL_FAULTS", "EQUIFORM_FAULT"].iter().any(|name| env::var_os(name).is_some());
    chosen(faults).into_iter().step_by(if all || page::is_updated() { 1 } else { step }).collect()
}

fn faults_are_seen(spec: &str, step: usize) {
    let (real, server) = (engine(spec), provider(ProviderMode::Reattach));
    ThreadPoolBuilder::new().num_threads(AT_ONCE).build().unwrap().install(|| {
        let tried = every([plain(), special()].concat(), step);
        without_a_fault_nothing_is_seen(&tried, &real, &server);
        without_what_they_need_they_are_not_seen(&tried, &real, &server);
        for table in [Table::Special, Table::Plain] {
            see(spec, table, &every(table.faults(), step), &real, &server);
        }
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
    let (real, server) = (engine(ENGINES[0]), provider(ProviderMode::Reattach));
    let case = cases::chain();
    let kinds = |script: &'static str| match judged(
        &case,
        &[&Fault { at: At::Stage("batch-2"), script, ..sound() }],
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

// `make test-faults` tries all of them on both engines, which takes ten minutes.

#[test]
fn every_third_fault_around_terraform_is_seen_by_the_oracle_named_for_it() {
    faults_are_seen(ENGINES[0], 3);
}

#[test]
fn every_ninth_fault_around_opentofu_is_seen_by_the_oracle_named_for_it() {
    faults_are_seen(ENGINES[1], 9);
}
