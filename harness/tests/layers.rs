//! Each layer of the harness knows only those below it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each layer with those that it may know, from the bottom up. `private` is files that are their owner's alone.
const LAYERS: &[(&str, &[&str])] = &[
    ("private", &[]),
    ("algebra", &[]),
    ("spec", &["algebra"]),
    ("case", &["algebra", "spec"]),
    ("evidence", &["spec", "case"]),
    ("engines", &["spec", "case", "evidence", "private"]),
    ("deploy", &["spec", "case", "evidence", "engines", "private"]),
    ("standin", &["evidence", "engines", "deploy", "private"]),
    ("judge", &["algebra", "spec", "case", "evidence", "engines"]),
    ("campaign", &["algebra", "spec", "case", "evidence", "engines", "deploy", "judge", "private"]),
    ("audit", &["algebra", "engines", "judge"]),
    (
        "html",
        &[
            "algebra", "spec", "case", "evidence", "engines", "deploy", "judge", "campaign", "audit",
            "private",
        ],
    ),
    (
        "cli",
        &[
            "algebra", "spec", "case", "evidence", "engines", "deploy", "judge", "campaign", "audit", "html",
            "private", "standin",
        ],
    ),
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
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
    let named = text.split("crate::").skip(1);
    named.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()).collect()
}

#[test]
fn arrows_between_layers_lead_down_only() {
    for (place, (layer, may_know)) in LAYERS.iter().enumerate() {
        let below: BTreeSet<&str> = LAYERS[..place].iter().map(|(below, _)| *below).collect();
        assert!(may_know.iter().all(|other| below.contains(other)), "{layer} may know what is above it");
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
    let layers = LAYERS.iter().map(|(layer, _)| (*layer).to_owned());
    assert_eq!(modules.collect::<BTreeSet<_>>(), layers.collect());
}

#[test]
fn no_file_is_longer_than_450_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut all = Vec::new();
    for folder in
        ["harness/src", "harness/tests", "harness/benches", "provider/src", "provider/tests", "proto/src"]
    {
        files(&root.join(folder), &mut all);
    }
    let lines = |file: &PathBuf| fs::read_to_string(file).unwrap().lines().count();
    let long: Vec<_> = all.iter().filter(|file| lines(file) > 450).collect();
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn no_line_is_wider_than_120_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut all = vec![root.join("README.md"), root.join("DESIGN.md")];
    for folder in
        ["harness/src", "harness/tests", "harness/benches", "provider/src", "provider/tests", "proto/src"]
    {
        files(&root.join(folder), &mut all);
    }
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
