//! Nothing is lost and nothing is deleted twice: after every command, also one that failed, each object that was ever
//! created is deleted again, or is in the engine's state.

use rustc_hash::FxHashSet;

use super::{Finding, Trial};
use crate::evidence::StateFile;
use crate::spec::{Action, OperationKind};

/// For people.
pub const ABOUT: &str =
    "every object ever created is deleted or in the state, after failures too; none is deleted twice";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |kind: &str, text: String| findings.push(Finding::new("conservation", kind, trial, text));
    for observed in &trial.evidence.operations {
        // The provider lets an object be deleted once: what is gone is told as a delete without effect.
        let was_told_to_fail = observed.fault.is_some();
        if observed.operation.kind == OperationKind::Delete
            && matches!(observed.end, Some((_, false)))
            && !was_told_to_fail
        {
            let text = format!("{} was gone already (seq {})", observed.operation.key, observed.begin);
            found("deleted twice", text);
        }
    }
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
    for object in trial.world.objects().filter(|object| !stored.contains(object.id.as_str())) {
        let name = object.key.as_deref().unwrap_or("?");
        found("lost", format!("{name} is {} in the world, and the engine does not know of it", object.id));
    }
    findings
}
