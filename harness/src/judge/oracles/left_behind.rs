//! What a command leaves in its working directory: the program as it was written, the state and its backup, and nothing
//! else. `health` and `state` report it.

use super::Trial;
use crate::evidence::{FileRole, SeenDirectory};
use crate::judge::finding::{Detail, Finding, FindingKind};

/// The mode of the program's files.
const PROGRAM_MODE: u32 = 0o600;

/// The mode of a new file, before the system takes some bits from it.
const USUAL_MODE: u32 = 0o666;

/// What the owner of a state is allowed: to read and to write it.
const OWNER: u32 = 0o600;

/// What is wrong with the files, whatever is in the state. A command that was killed may leave anything.
pub fn files(trial: &Trial<'_>) -> Vec<Finding> {
    let Some(directory) = ended(trial) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut found = |kind, words: String| {
        findings.push(trial.finding(kind).with(Detail::Quote { words }));
    };
    for (path, digest) in &directory.record.program {
        match directory.record.files.iter().find(|file| file.path == *path) {
            None => found(FindingKind::ProgramChanged, format!("{path} is gone")),
            Some(file) if file.digest.as_ref() != Some(digest) => {
                found(FindingKind::ProgramChanged, format!("{path} has another content"));
            }
            Some(file) if file.mode != PROGRAM_MODE => found(
                FindingKind::FileModeDiffers,
                format!("{path} has the mode {:04o}, and was written with {PROGRAM_MODE:04o}", file.mode),
            ),
            Some(_) => {}
        }
    }
    let is_program = |path: &str| {
        directory.record.program.iter().any(|(file, _)| {
            // A folder ends with a slash.
            file == path || (path.ends_with('/') && file.starts_with(path))
        })
    };
    for (file, role) in directory.files().filter(|(file, _)| !is_program(&file.path)) {
        if role.is_none() {
            found(FindingKind::FileLeft, file.path.clone());
            continue;
        }
        let usual = USUAL_MODE & !directory.record.umask;
        let is_usual = match role {
            // Whoever began with a copy of a state began with one that nobody else may read.
            Some(FileRole::State | FileRole::Backup) => file.mode & !usual == 0 && file.mode & OWNER == OWNER,
            _ => file.mode & !usual == 0,
        };
        if file.digest.is_some() && !is_usual {
            let words =
                format!("{} has the mode {:04o}, and new files have {usual:04o}", file.path, file.mode);
            found(FindingKind::FileModeDiffers, words);
        }
    }
    let digest = |directory: &SeenDirectory| directory.with_role(FileRole::SavedPlan)?.digest.clone();
    let saved = trial.evidence.directory_before.as_ref().and_then(digest);
    if saved.is_some() && !trial.stage.action.options().save && digest(directory) != saved {
        found(FindingKind::SavedPlanChanged, "the saved plan is another one, or gone".to_owned());
    }
    for file in &trial.evidence.record.changed_late {
        found(FindingKind::ChangedLate, file.clone());
    }
    findings
}

/// Whether the backup is the state before the last command that changed it.
pub fn backup(trial: &Trial<'_>) -> Option<Finding> {
    let (now, before) = (ended(trial)?, trial.evidence.directory_before.as_ref()?);
    let digest =
        |directory: &SeenDirectory, role| directory.with_role(role).and_then(|file| file.digest.clone());
    let state_before = digest(before, FileRole::State)?;
    let changed = digest(now, FileRole::State).as_ref() != Some(&state_before);
    let (there, earlier) = (digest(now, FileRole::Backup), digest(before, FileRole::Backup));
    let is_right = match (changed, trial.backup_is_a_copy) {
        (false, _) => there == earlier,
        (true, true) => there.as_ref() == Some(&state_before),
        // Another text of the same state.
        (true, false) => {
            let content = |directory: &SeenDirectory, role| directory.with_role(role)?.content.clone();
            let backup = content(now, FileRole::Backup);
            backup.is_some() && backup == content(before, FileRole::State)
        }
    };
    if is_right {
        return None;
    }
    let kind = if there.is_none() { FindingKind::BackupMissing } else { FindingKind::BackupDiffers };
    Some(trial.finding(kind))
}

/// The working directory after a command that came to its end by itself.
fn ended<'a>(trial: &Trial<'a>) -> Option<&'a SeenDirectory> {
    trial.evidence.directory.as_ref().filter(|_| trial.evidence.record.ended_in_order())
}
