//! The programs of a variant's stages, each as the difference to the one before.

use std::fs;
use std::path::Path;

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::evidence::{ERRORS, LEDGER, OUTPUT, STATE};
use crate::html::clip::{MOST, short};

/// The most lines of a program that a page holds.
const MOST_LINES: usize = 3000;

/// A stage's program: the file's name, and its lines, each with a sign in front: a blank if it stood there before,
/// `+` if it is new, `-` if it is gone. None of them where the program is the one before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProgramText {
    file: String,
    same: bool,
    lines: Vec<String>,
    left_out: usize,
}

/// The programs of a variant, one after the other.
#[derive(Debug, Default)]
pub struct Programs {
    before: Option<String>,
}

impl Programs {
    /// The program in a stage's folder; none if there is none that can be read.
    pub fn of(&mut self, folder: &Path) -> Option<ProgramText> {
        let (file, text) = read(folder)?;
        let before = self.before.replace(text.clone());
        Some(ProgramText::new(file, before.as_deref(), &text))
    }
}

impl ProgramText {
    fn new(file: String, before: Option<&str>, text: &str) -> Self {
        let same = before == Some(text);
        let diff = TextDiff::from_lines(before.unwrap_or(text), text);
        let mut lines: Vec<String> = Vec::new();
        let mut left_out = 0;
        for change in diff.iter_all_changes() {
            if lines.len() == MOST_LINES {
                left_out += 1;
                continue;
            }
            let sign = match change.tag() {
                // The first program is new as a whole, which says nothing.
                ChangeTag::Equal => ' ',
                ChangeTag::Insert => '+',
                ChangeTag::Delete => '-',
            };
            let line = change.value().trim_end_matches(['\n', '\r']);
            lines.push(format!("{sign}{}", short(line, MOST)));
        }
        Self { file, same, lines, left_out }
    }
}

/// The one file in a stage's folder that is no other evidence.
fn read(folder: &Path) -> Option<(String, String)> {
    let other = |name: &str| {
        [OUTPUT, ERRORS, STATE].contains(&name) || name.starts_with(LEDGER) || name.starts_with('.')
    };
    let mut names: Vec<String> = fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !other(name))
        .collect();
    names.sort();
    names.into_iter().find_map(|name| {
        let text = fs::read_to_string(folder.join(&name)).ok()?;
        Some((name, text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_told_as_the_difference_to_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let mut programs = Programs::default();
        let mut told = |text: &str| {
            fs::write(folder.path().join("main.tf"), text).unwrap();
            fs::write(folder.path().join(STATE), "{}").unwrap();
            programs.of(folder.path()).unwrap()
        };
        assert_eq!(told("a\nb\n").lines, [" a", " b"]);
        assert!(told("a\nb\n").same);
        let changed = told("a\nc\n");
        assert_eq!((changed.same, changed.lines.concat()), (false, " a-b+c".to_owned()));
        assert_eq!(Programs::default().of(Path::new("/nowhere")), None);
    }
}
