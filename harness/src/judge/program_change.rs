//! What changed in the text of the programs between two stages, as their evidence has it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;
use similar::TextDiff;

use crate::case::stage::{ProgramRef, Stage};
use crate::evidence::{ERRORS, LEDGER, OUTPUT, STATE};
use crate::spec::Action;

/// How many lines that stay are shown around those that change.
const AROUND: usize = 2;

/// What a stage has in its folder beside its program.
const NO_PROGRAM: [&str; 4] = [ERRORS, LEDGER, OUTPUT, STATE];

/// What changed in the program from the one that was deployed before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProgramChange {
    /// The stage that deployed the one before; none if nothing was deployed before.
    pub from: Option<String>,
    /// The lines: with `+` those that came, with `-` those that went, and some around them. None if the text is the
    /// same.
    pub lines: Vec<String>,
}

impl ProgramChange {
    /// What changed up to a stage, in a variant's folder. None if there is no such stage, or no text of its program.
    pub fn up_to(stages: &[Stage], name: &str, folder: &Path) -> Option<Self> {
        let from = deployed_before(stages, name)?;
        let new = programs(&folder.join(name));
        if new.is_empty() {
            return None;
        }
        let old = from.map(|stage| programs(&folder.join(&stage.name))).unwrap_or_default();
        let mut files: Vec<&String> = old.keys().chain(new.keys()).collect();
        files.sort_unstable();
        files.dedup();
        let text = |all: &BTreeMap<String, String>, file: &String| all.get(file).cloned().unwrap_or_default();
        let lines = files.into_iter().flat_map(|file| difference(&text(&old, file), &text(&new, file)));
        Some(Self { from: from.map(|stage| stage.name.clone()), lines: lines.collect() })
    }
}

/// The stage whose program was the last to be deployed before another began; `Some(None)` if there is none, and none if
/// there is no stage of that name.
fn deployed_before<'a>(stages: &'a [Stage], name: &str) -> Option<Option<&'a Stage>> {
    let place = |name: &str| stages.iter().position(|stage| stage.name == name);
    let own = place(name)?;
    let began = stages[own].repeats.as_deref().and_then(place).unwrap_or(own);
    let deploys = |stage: &&Stage| {
        matches!(stage.action, Action::Apply(_) | Action::ApplySaved(_))
            && stage.repeats.is_none()
            && !matches!(stage.program, ProgramRef::Broken { .. })
    };
    Some(stages[..began].iter().rev().find(deploys))
}

/// The files of the program in a stage's folder, by name. What cannot be read is not there.
fn programs(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let text = (!NO_PROGRAM.contains(&name.as_str())).then(|| fs::read_to_string(entry.path()))?;
        Some((name, text.ok()?))
    });
    files.collect()
}

fn difference(old: &str, new: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(AROUND).iter_hunks() {
        if !lines.is_empty() {
            lines.push("…".to_owned());
        }
        let line = |change: similar::Change<&str>| {
            format!("{}{}", change.tag(), change.value().trim_end_matches('\n')).trim_end().to_owned()
        };
        lines.extend(hunk.iter_changes().map(line));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::stage::JudgedAs;
    use crate::spec::Options;

    fn stage(name: &str, action: Action) -> Stage {
        Stage::new(name, action, ProgramRef::Batch(1), JudgedAs::Batch)
    }

    #[test]
    fn the_program_is_held_against_the_one_that_was_deployed_last() {
        let folder = tempfile::tempdir().unwrap();
        let apply = || Action::Apply(Options::USUAL);
        let repeat = Stage { repeats: Some("batch-2".to_owned()), ..stage("again", apply()) };
        let plan = stage("plan", Action::Plan(Options::USUAL));
        let stages = [stage("batch-1", apply()), plan, stage("batch-2", apply()), repeat];
        let body = "a {\n  x = 1\n}\n";
        let texts = [("batch-1", body.to_owned()), ("plan", "plan\n".to_owned())];
        let later = format!("{}\nb {{\n}}\n", body.replace('1', "2"));
        for (stage, text) in texts.into_iter().chain(["batch-2", "again"].map(|stage| (stage, later.clone())))
        {
            fs::create_dir(folder.path().join(stage)).unwrap();
            fs::write(folder.path().join(stage).join("main.tf"), text).unwrap();
            fs::write(folder.path().join(stage).join(STATE), stage).unwrap();
        }
        let change = |name: &str| ProgramChange::up_to(&stages, name, folder.path());
        let lines = ["+a {", "+  x = 1", "+}"].map(str::to_owned).to_vec();
        assert_eq!(change("batch-1"), Some(ProgramChange { from: None, lines }));
        let changed = change("batch-2").unwrap();
        assert_eq!(changed.from.as_deref(), Some("batch-1"));
        assert_eq!(changed.lines, [" a {", "-  x = 1", "+  x = 2", "+}", "+", "+b {", " }"]);
        assert_eq!(change("again"), Some(changed), "what repeats a stage began where that one did");
        assert_eq!(change("nowhere"), None);
    }
}
