//! The documentation: its links resolve, its commands are accepted, and README stays one page.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// All pages with their text.
fn pages() -> BTreeMap<PathBuf, String> {
    let top = ["README.md", "DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name));
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let docs = docs.filter(|page| page.extension().is_some_and(|extension| extension == "md"));
    let findings = fs::read_dir(root().join("fixtures/findings")).unwrap();
    let findings =
        findings.map(|entry| entry.unwrap().path().join("README.md")).filter(|page| page.is_file());
    let all = top.into_iter().chain(docs).chain(findings);
    all.map(|page| (page.clone(), fs::read_to_string(page).unwrap())).collect()
}

/// The anchors of a page: its headings in lower case, without punctuation, with dashes for spaces.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let headings = headings.map(|line| line.trim_start_matches('#').trim());
    let kept = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == ' ';
    headings
        .map(|it| it.to_lowercase().chars().filter(|c| kept(*c)).collect::<String>().replace(' ', "-"))
        .collect()
}

#[test]
fn links_between_pages_resolve() {
    let pages = pages();
    let mut dead = Vec::new();
    for (page, text) in &pages {
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://") && !target.contains(' ')) {
            let (file, anchor) = target.split_once('#').map_or((target, None), |(file, it)| (file, Some(it)));
            let path = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let known = || pages.get(&path.canonicalize().ok()?);
            let there = match anchor {
                None => path.exists(),
                Some(anchor) => known().is_some_and(|text| anchors(text).iter().any(|it| it == anchor)),
            };
            if !there {
                dead.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

/// The help of a subcommand, which lists its options.
fn help(subcommand: &str) -> Option<String> {
    let words = subcommand.split(' ').chain(["--help"]);
    let output = Command::new(env!("CARGO_BIN_EXE_equiform")).args(words).output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

#[test]
fn commands_on_the_pages_are_accepted() {
    let mut wrong = Vec::new();
    let mut helps: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut seen = 0;
    for (page, text) in pages().iter().filter(|(page, _)| !page.ends_with("CHANGELOG.md")) {
        // Commands are in blocks; a line that ends with a backslash continues on the next.
        let joined = text.replace("\\\n", " ");
        for line in joined.lines() {
            let line = line.split(" # ").next().unwrap().split(" | ").next().unwrap();
            let words: Vec<&str> =
                line.split_whitespace().skip_while(|word| !word.ends_with("equiform")).collect();
            let is_command = ["    ", "$ ", "  ", "target/"].iter().any(|start| line.starts_with(start));
            let (true, Some(subcommand)) = (is_command && !line.contains('`'), words.get(1)) else {
                continue;
            };
            // These have their own subcommands, with their own options.
            let plain = subcommand.chars().all(|c| c.is_ascii_lowercase());
            if !plain || ["ledger", "engines", "rules", "egraph", "study"].contains(subcommand) {
                continue;
            }
            let subcommand = match (*subcommand, words.get(2)) {
                ("standin", Some(own)) => format!("standin {own}"),
                (subcommand, _) => subcommand.to_owned(),
            };
            let Some(text) = helps.entry(subcommand.clone()).or_insert_with(|| help(&subcommand)) else {
                continue;
            };
            seen += 1;
            let options = words.iter().filter(|word| word.starts_with("--"));
            for option in options.map(|word| word.split('=').next().unwrap()) {
                if !text.contains(&format!("{option} ")) && !text.contains(&format!("{option}\n")) {
                    wrong.push(format!("{}: {line}: {option}", page.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(seen >= 15, "only {seen} commands were checked");
}

#[test]
fn readme_is_one_page_with_a_picture_that_names_the_study_and_the_index() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.len() < 12_000, "README.md has {} bytes: move the details to docs/", readme.len());
    assert!(readme.contains("EMIAC") && readme.contains("OOPSLA 2026"));
    assert!(readme.contains("](docs/pictures/") && readme.contains("](docs/README.md)"));
    let long: Vec<&str> = readme.lines().filter(|line| line.starts_with("## ") && line.len() > 40).collect();
    assert!(long.is_empty(), "text has run into a heading: {long:?}");
}

#[test]
fn the_index_lists_every_page_and_explains_ten_words_as_the_design_does() {
    let index = fs::read_to_string(root().join("docs/README.md")).unwrap();
    let docs = root().join("docs");
    let listed = |page: &Path| {
        let Ok(page) = page.strip_prefix(&docs) else { return true };
        page.ends_with("README.md") || index.contains(&format!("]({})", page.display()))
    };
    let missing: Vec<PathBuf> = pages().into_keys().filter(|page| !listed(page)).collect();
    assert!(missing.is_empty(), "docs/README.md does not list {missing:?}");
    let words = index.split_once("\n## Ten words\n").unwrap().1.split("\n## ").next().unwrap();
    assert_eq!(words.lines().filter(|line| line.starts_with("- **")).count(), 10);
    let design = fs::read_to_string(root().join("DESIGN.md")).unwrap();
    let explained = words.lines().filter_map(|line| line.strip_prefix("- ")?.split(':').next());
    // One name per concept: DESIGN.md explains the same words.
    let missing: Vec<&str> = explained.filter(|word| !design.contains(*word)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
