//! The engine's state and the world agree: no orphan, no ghost, the same dependencies.

//!
//! `memory` is what the state holds of each object beside its attributes, `outputs` what it holds of the program's
//! outputs, `fields` what has one correct value whatever was deployed.

mod fields;
mod memory;
mod outputs;

use rustc_hash::FxHashSet;

use super::{Trial, left_behind};
use crate::case::stage::{KeepsState, Stage};
use crate::evidence::{StateChange, StateComparison, StateDifference, StateFile, Stored, StoredIdentity};
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::spec::{Action, NodeKey};
use memory::Memory;

/// What it looks at.
pub const ABOUT: &str =
    "the engine's state matches the world, with dependencies, settings, outputs and all other fields";

/// How the state after a stage is to be compared with the one before; none if the stage may change it.
pub fn comparison(stage: &Stage) -> Option<StateComparison> {
    let plans_only = matches!(stage.action, Action::Plan(_));
    if stage.judged_as.meaning().keeps_state == KeepsState::Never && !plans_only {
        return None;
    }
    Some(match stage.action {
        Action::Plan(_) | Action::Query(_) | Action::Drift { .. } => StateComparison::ToTheByte,
        _ if stage.judged_as.meaning().is_refused => StateComparison::ToTheByte,
        Action::Mark(_) | Action::Unmark(_) => StateComparison::ButMarks,
        _ => StateComparison::Meaning,
    })
}

/// Compares the state with the world, with the model and with the state before.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if trial.evidence.record.ended_in_order()
        && trial.model.as_ref().is_none_or(|model| model.outcome.is_some())
    {
        findings.extend(contents(trial));
    }
    if let Some(model) = &trial.model {
        findings.extend(outputs::judge(trial, model));
    }
    findings.extend(fields::judge(trial));
    findings.extend(difference(trial));
    findings.extend(left_behind::backup(trial));
    findings
}

/// A state that is to stay as it is does.
fn difference(trial: &Trial<'_>) -> Option<Finding> {
    // What fails is a finding already.
    let keeps_state = trial.stage.judged_as.meaning().keeps_state;
    if keeps_state == KeepsState::IfItSucceeds && !trial.evidence.succeeded {
        return None;
    }
    // An apply after one that failed has something to write, and so has one that finds that something has drifted.
    let leaves_it = match &trial.model {
        Some(model) => {
            model.expectation.operations.is_empty() && !trial.takes_drift_in() && model.program_is_deployed
        }
        None => trial.evidence.operations.is_empty(),
    };
    let (kind, setting, change) = match trial.evidence.state_difference.clone().filter(|_| leaves_it)? {
        StateDifference::Setting { name, path } => {
            (FindingKind::SettingRewritten, Some(name), StateChange::At { path })
        }
        StateDifference::Other(change) => (FindingKind::StateChanged, None, change),
    };
    let subject = setting.as_deref().map(Subject::attribute);
    Some(trial.finding(kind).about(subject).with(Detail::StateChange { change }))
}

/// What is in the state is in the world, and the other way round.
fn contents(trial: &Trial<'_>) -> Vec<Finding> {
    let state = match &trial.evidence.state {
        StateFile::Read(state) => &state.objects,
        StateFile::Missing if !trial.world.is_empty() || trial.evidence.state_before.is_some() => {
            return vec![trial.finding(FindingKind::StateMissing)];
        }
        // What cannot be read is for `health` to tell.
        StateFile::Missing | StateFile::Bad(_) => return Vec::new(),
    };
    let mut model = trial.model.as_ref().and_then(|model| Memory::of(trial, model));
    let mut findings = Vec::new();
    let mut ids = FxHashSet::default();
    for stored in state {
        if !ids.insert(&*stored.content.id) {
            findings.push(of_stored(trial, FindingKind::StoredTwice, stored));
        }
        let key = model.as_ref().and_then(|model| model.key(stored));
        if let Some(model) = &mut model {
            findings.extend(model.marks(stored));
        }
        findings.extend(in_world(trial, stored, key));
        findings.extend(identity(trial, stored));
        findings.extend(model.as_mut().and_then(|model| model.kept(stored)));
    }
    if ids.len() < trial.world.len()
        || !trial.world.unordered().all(|object| ids.contains(object.id.as_str()))
    {
        let orphans = trial.world.objects().filter(|object| !ids.contains(object.id.as_str()));
        let orphan = |object| trial.finding(FindingKind::OrphanObject).about(Subject::of_object(object));
        findings.extend(orphans.map(orphan));
    }
    findings
}

/// A finding about an object of the state.
fn of_stored(trial: &Trial<'_>, kind: FindingKind, stored: &Stored) -> Finding {
    trial.finding(kind).about([Subject::address(&stored.address), Subject::object(&stored.content.id)])
}

/// An object of the state is in the world, as it is there.
fn in_world(trial: &Trial<'_>, stored: &Stored, key: Option<&NodeKey>) -> Option<Finding> {
    // What has drifted is not in the state before the engine looks.
    let deployed = trial.model.as_ref().and_then(|model| model.outcome);
    if deployed.zip(key).is_some_and(|(deployed, key)| deployed.node_has_drifted(key)) {
        return None;
    }
    let found = |kind| Some(of_stored(trial, kind, stored));
    match trial.world.get(&stored.content.id) {
        None => found(FindingKind::GhostObject),
        Some(object) if object.attributes != stored.content.attributes => {
            found(FindingKind::StoredAttributesDiffer)
        }
        // Which address a resource has is for the model to tell.
        Some(object) if trial.model.is_some() && object.key.as_deref() != key.map(|key| &**key) => {
            let resource = object.key.as_deref().map(Subject::resource);
            found(FindingKind::StoredAddressDiffers).map(|finding| finding.about(resource))
        }
        Some(_) => None,
    }
}

/// An object of the state has the identity that it has in the world, where the engine stores one.
fn identity(trial: &Trial<'_>, stored: &Stored) -> Option<Finding> {
    let stores_identity = match trial.identity {
        StoredIdentity::Never => false,
        StoredIdentity::WithoutFailure => trial.evidence.succeeded,
        StoredIdentity::Always => true,
    };
    // What failed to be made, and what waits for its deletion, may lack it.
    if !stores_identity || stored.deposed.is_some() || stored.tainted {
        return None;
    }
    match &stored.identity {
        None => Some(of_stored(trial, FindingKind::IdentityMissing, stored)),
        Some(identity) if identity.id.as_deref() != Some(&*stored.content.id) => {
            let detail = Detail::Identity { stored: identity.id.as_deref().map(str::to_owned) };
            Some(of_stored(trial, FindingKind::IdentityDiffers, stored).with(detail))
        }
        Some(_) => None,
    }
}

/// A finding about what is at an address in the state.
fn of_address(trial: &Trial<'_>, kind: FindingKind, address: &str) -> Finding {
    trial.finding(kind).about([Subject::address(address)])
}

/// Whether a command writes what the state remembers. What others may change of it is compared file by file.
fn writes(trial: &Trial<'_>) -> bool {
    matches!(
        trial.stage.action,
        Action::Apply(_) | Action::ApplySaved(_) | Action::Destroy(_) | Action::Refresh(_)
    )
}
