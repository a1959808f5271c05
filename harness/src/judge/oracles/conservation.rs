//! Nothing is lost and nothing is deleted twice: after every command, also one that failed, each object that was ever
//! created is deleted again, or is in the engine's state.

use rustc_hash::FxHashSet;

use super::Trial;
use crate::evidence::StateFile;
use crate::judge::finding::{Finding, FindingKind, Subject};
use crate::spec::{Action, OperationKind};

/// What it looks at.
pub const ABOUT: &str =
    "every object ever created is deleted or in the state, even after failures; none is deleted twice";

/// Compares what was deleted, and what is left, with the state.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    // The provider lets an object be deleted once: what is gone is told as a delete without effect.
    let deleted_twice = trial.evidence.operations.iter().filter(|observed| {
        observed.operation.kind == OperationKind::Delete
            && matches!(observed.end, Some((_, false)))
            && observed.fault.is_none()
    });
    let mut findings: Vec<Finding> = deleted_twice
        .map(|observed| {
            let subjects = [Subject::of_observed(observed), Subject::Entry { seq: observed.begin }];
            trial.finding(FindingKind::DeletedTwice).about(subjects)
        })
        .collect();
    // An engine that was killed may not have come to writing its state; what cannot be read is for `health` to tell.
    let stored: FxHashSet<&str> = match &trial.evidence.state {
        _ if !trial.evidence.record.ended_in_order() => return findings,
        StateFile::Bad(_) => return findings,
        StateFile::Missing => FxHashSet::default(),
        StateFile::Read(state) => state.objects.iter().map(|stored| &*stored.content.id).collect(),
    };
    // What happens behind the engine's back is no command of it.
    if matches!(trial.stage.action, Action::Drift { .. }) {
        return findings;
    }
    if trial.world.unordered().all(|object| stored.contains(object.id.as_str())) {
        return findings;
    }
    let lost = trial.world.objects().filter(|object| !stored.contains(object.id.as_str()));
    findings
        .extend(lost.map(|object| trial.finding(FindingKind::ObjectLost).about(Subject::of_object(object))));
    findings
}
