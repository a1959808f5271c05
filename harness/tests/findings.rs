//! The bundles in `fixtures/findings`: each shows its bug on the engines that it is said to concern, and on no other.

#[path = "engine_behaviour/support/engines.rs"]
#[expect(dead_code, reason = "not all of it is needed here")]
mod engines;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use equiform::campaign::bundle::folder::{BUNDLE_FILE, Description};
use equiform::campaign::bundle::{Bundler, Form, SCRIPT, run_script};
use equiform::campaign::place::StoredVariant;
use equiform::campaign::trial::TrialHost;
use equiform::case::{CASE_FILE, Case};
use equiform::deploy::Start;
use equiform::deploy::stop::Stop;
use equiform::engines::{Engine, EngineName, open};
use equiform::judge::explain::Explanation;
use equiform::judge::known::{KnownFindings, VersionRanges};
use equiform::judge::variant::variant_folder;
use serde::Deserialize;

/// Engines, each with its versions.
type Ranges = BTreeMap<EngineName, VersionRanges>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Finding {
    version: u32,
    known: Vec<String>,
    shows: Ranges,
    does_not_show: Ranges,
    #[serde(default)]
    not_runnable: Option<String>,
}

impl Finding {
    /// Whether it is said to show on an engine; none if nothing is said.
    fn expected(&self, engine: &Engine) -> Option<bool> {
        let has = |ranges: &Ranges| {
            ranges.get(&engine.id.name).is_some_and(|range| range.matches(&engine.id.version))
        };
        match (has(&self.shows), has(&self.does_not_show)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/findings")
}

/// All findings, with their folders.
fn findings() -> BTreeMap<PathBuf, Finding> {
    let folders = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()).filter(|it| it.is_dir());
    let read = |folder: PathBuf| {
        let path = folder.join("finding.toml");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let finding: Finding =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(finding.version, 1, "{}", path.display());
        (folder, finding)
    };
    folders.map(read).collect()
}

#[test]
fn every_script_shows_its_bug_on_the_engines_that_have_it_and_on_no_other() {
    let engines: Vec<Engine> = engines::asked_for(None)
        .iter()
        .map(|spec| engines::locate(spec).unwrap_or_else(|error| panic!("{error}")))
        .collect();
    let mut wrong = Vec::new();
    let mut tried = 0;
    for (folder, finding) in findings().iter().filter(|(_, finding)| finding.not_runnable.is_none()) {
        for engine in &engines {
            let name = format!("{} on {engine}", folder.file_name().unwrap().display());
            let Some(expected) = finding.expected(engine) else {
                wrong.push(format!("{name}: finding.toml does not say whether it shows"));
                continue;
            };
            let observed = run_script(folder, engine, &Stop::default()).unwrap();
            tried += 1;
            if observed.exit != Some(i32::from(!expected)) {
                let (text, errors) = (&observed.text, &observed.errors);
                wrong.push(format!(
                    "{name}: exit code {:?}, and shows is {expected}: {text}{errors}",
                    observed.exit
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried >= 8 * engines.len(), "{tried}");
}

#[test]
fn what_is_known_has_a_bundle_and_concerns_the_engines_that_its_script_shows_it_on() {
    let known = KnownFindings::shipped();
    let mut named = BTreeSet::new();
    for (folder, finding) in findings() {
        let place = format!("fixtures/findings/{}", folder.file_name().unwrap().display());
        for name in &finding.known {
            let entry = known.get(name).unwrap_or_else(|| panic!("{place}: {name} is not known"));
            assert_eq!(entry.case, place, "{name}");
            assert_eq!(entry.engines, finding.shows, "{name}");
            named.insert(name.clone());
        }
        assert!(folder.join("README.md").is_file(), "{place}");
    }
    let all: BTreeSet<String> = known.iter().map(|entry| entry.name.clone()).collect();
    assert_eq!(named, all);
}

#[test]
fn a_bundle_has_all_its_files_and_a_finding_without_one_says_why() {
    for (folder, finding) in findings() {
        let place = folder.display();
        let bundle = fs::read(folder.join(BUNDLE_FILE)).ok();
        assert_eq!(bundle.is_none(), finding.not_runnable.is_some(), "{place}");
        let Some(bundle) = bundle else { continue };
        let description: Description = serde_json::from_slice(&bundle).unwrap();
        for file in &description.files {
            assert!(folder.join(file).is_file(), "{place} lacks {file}");
        }
        let needed =
            ["1/main.tf", "ISSUE.md", "case.json", "expected.txt", "observed.txt", SCRIPT, "versions.txt"];
        for file in needed {
            assert!(description.files.iter().any(|it| it == file), "{place} has no {file}");
        }
        // Bundles are passed on: nothing in them tells of the machine that they were made on.
        for file in &description.files {
            let text = fs::read_to_string(folder.join(file)).unwrap();
            let home = std::env::var("HOME").unwrap() + "/";
            assert!(![&home, "/home/", "/tmp/."].iter().any(|part| text.contains(part)), "{place}/{file}");
        }
    }
}

/// What a script says of its time, its place or its engine may differ; programs and script may not. A bundle that was
/// made on an engine that is not under test is left to `make test-all-engines`.
#[test]
fn a_bundle_is_what_its_case_gives() {
    let known = KnownFindings::shipped();
    let asked_for: Vec<Engine> =
        engines::asked_for(None).iter().filter_map(|it| engines::locate(it).ok()).collect();
    let mut tried = 0;
    for (folder, finding) in findings().iter().filter(|(_, finding)| finding.not_runnable.is_none()) {
        let stored: Description =
            serde_json::from_slice(&fs::read(folder.join(BUNDLE_FILE)).unwrap()).unwrap();
        let is_it = |engine: &&Engine| {
            (engine.id.name, &engine.id.version) == (stored.engine.id.name, &stored.engine.id.version)
        };
        let Some(engine) = asked_for.iter().find(is_it) else { continue };
        tried += 1;
        let place = tempfile::tempdir().unwrap();
        let case = place.path().join("case");
        fs::create_dir(&case).unwrap();
        fs::copy(folder.join(CASE_FILE), case.join(CASE_FILE)).unwrap();
        let host = TrialHost::start(Stop::default()).unwrap();
        let read = Case::read(&case.join(CASE_FILE)).unwrap();
        let runner = host.runner(open(engine));
        runner.deploy(&read, 0, &variant_folder(&case, 0), Start::Cold).unwrap();
        let found = StoredVariant::find(&case, None, &known).unwrap();
        let explanation = Explanation::of(&found.case, 0, &found.folder, &known, &found.engine).unwrap();
        // The first is what the case shows; others are what else the same bug does.
        assert_eq!(explanation.cause.known.as_ref(), finding.known.first(), "{}", folder.display());
        let script = fs::read_to_string(folder.join(SCRIPT)).unwrap();
        let title = script.lines().nth(1).and_then(|line| line.strip_prefix("# ")).unwrap();
        let bundler = Bundler {
            engine,
            others: &[],
            title: Some(title),
            context: None,
            stop: Stop::default(),
            watch: &|_| (),
        };
        let out = place.path().join("bundle");
        let made = bundler.make(&found, &explanation, &out).unwrap();
        assert_eq!(made.form == Form::Builtin, stored.builtin, "{}", folder.display());
        let same =
            |file: &&String| file.ends_with("main.tf") || [SCRIPT, "expected.txt"].contains(&file.as_str());
        for file in stored.files.iter().filter(same) {
            let [made, kept] = [&out, folder].map(|place| fs::read_to_string(place.join(file)).unwrap());
            assert_eq!(
                made,
                kept,
                "{}/{file} is not what the case gives: docs/findings.md",
                folder.display()
            );
        }
    }
    assert!(tried >= 8, "{tried}");
}
