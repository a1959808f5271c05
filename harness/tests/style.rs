//! Plain English: phrases that nobody should have to puzzle over appear in no page, help text, error or comment.
//! CONTRIBUTING.md says what to write instead.

use std::fs;
use std::path::{Path, PathBuf};

/// Banned in pages and in code.
const EVERYWHERE: &[&str] = &[
    "by hand of",
    "by whatever road",
    "looked whether",
    "manieth",
    "never due",
    "of so many",
    "of which each",
    "see the module",
    "to amount to",
    "untold",
];

/// Banned in pages. A phrase moves to [`EVERYWHERE`] as soon as the code is free of it.
const PAGES: &[&str] = &[
    "anew",
    "are told",
    "at hand",
    "become of",
    "becomes of",
    "but for",
    "comes of it",
    "given up",
    "goes on",
    "held against",
    "is held to",
    "is said",
    "is told",
    "ours is",
    "road",
    "roads",
    "stands in the ledger",
    "tells of",
    "what is due",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// All files below a folder with one of these extensions.
fn files(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, extensions, found);
        } else if path.extension().is_some_and(|it| extensions.iter().any(|extension| it == *extension)) {
            found.push(path);
        }
    }
}

fn pages() -> Vec<PathBuf> {
    let mut found =
        ["README.md", "DESIGN.md", "CHANGELOG.md", "Makefile"].map(|name| root().join(name)).to_vec();
    files(&root().join("docs"), &["md"], &mut found);
    let findings = fs::read_dir(root().join("fixtures/findings")).unwrap();
    let findings = findings.map(|entry| entry.unwrap().path().join("README.md"));
    found.extend(findings.filter(|page| page.is_file()));
    found
}

fn code() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let own = Path::new(file!()).file_name();
    for folder in ["harness", "provider", "proto", "algebra", "scripts"].map(|name| root().join(name)) {
        if folder.is_dir() {
            files(&folder, &["rs", "go", "js", "proto", "toml"], &mut found);
        }
    }
    found.retain(|file| file.file_name() != own);
    found
}

/// The words of a text in lower case, one space between them, without line breaks and the marks of comments.
fn words(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim().trim_start_matches(['/', '!', '#']));
    let words = lines.flat_map(str::split_whitespace);
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The places where a phrase stands by itself, each with some words around it.
fn places<'a>(words: &'a str, phrase: &'a str) -> impl Iterator<Item = &'a str> {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    words.match_indices(phrase).filter_map(move |(at, _)| {
        let (before, after) = (&words[..at], &words[at + phrase.len()..]);
        let whole = !before.ends_with(inside) && !after.starts_with(inside);
        let start = before.char_indices().rev().nth(40).map_or(0, |(at, _)| at);
        let end = after.char_indices().nth(40).map_or(words.len(), |(more, _)| at + phrase.len() + more);
        whole.then(|| &words[start..end])
    })
}

fn offences(files: &[PathBuf], phrases: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let words = words(&fs::read_to_string(file).unwrap());
        for phrase in phrases {
            found.extend(
                places(&words, phrase).map(|place| format!("{}: {phrase:?} in {place:?}", file.display())),
            );
        }
    }
    found
}

#[test]
fn pages_are_in_plain_english() {
    let found = offences(&pages(), &[EVERYWHERE, PAGES].concat());
    assert!(found.is_empty(), "CONTRIBUTING.md says what to write instead: {found:#?}");
}

#[test]
fn help_texts_errors_and_comments_are_in_plain_english() {
    let found = offences(&code(), EVERYWHERE);
    assert!(found.is_empty(), "CONTRIBUTING.md says what to write instead: {found:#?}");
}

#[test]
fn a_phrase_is_found_across_lines_and_not_within_a_word() {
    let text = words("/// A broad abroad.\n    /// It is\n    // told, on the road");
    assert_eq!(places(&text, "is told").count(), 1);
    assert_eq!(places(&text, "road").count(), 1);
}
