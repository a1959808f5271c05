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
