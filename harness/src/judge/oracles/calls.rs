//! How often, and for what, a command calls the provider. `requests` reports it.

use std::collections::BTreeSet;

use super::Trial;
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::spec::{Action, NodeKey, PlanMode};

/// The calls that are made more often than the engine's family needs, and more of them at once than may be.
pub fn too_many(trial: &Trial<'_>) -> Vec<Finding> {
    let (bounds, requests) = (trial.calls, trial.requests);
    let mut findings = Vec::new();
    let mut found = |key: Option<&str>, what: String, observed: u64, most: u64| {
        let words = format!("{what} {observed} times, and {most} would do");
        let finding = trial.finding(FindingKind::TooManyCalls).about(key.map(Subject::resource));
        findings.push(finding.with(Detail::Quote { words }));
    };
    let mut reads: Vec<_> = requests.reads_of.values().filter(|(_, count)| *count > bounds.reads).collect();
    reads.sort_unstable();
    for (key, count) in reads {
        found(Some(key), format!("{key} was read"), *count, bounds.reads);
    }
    let mut plans: Vec<_> = requests.plans_of.iter().filter(|(_, count)| **count > bounds.plans).collect();
    plans.sort_unstable();
    for (key, count) in plans {
        found(Some(key), format!("{key} was planned"), *count, bounds.plans);
    }
    let Some(calls) = &trial.evidence.record.calls else { return findings };
    for (key, count) in calls.validated.iter().filter(|(_, count)| **count > bounds.validations) {
        found(Some(key), format!("{key} was validated"), *count, bounds.validations);
    }
    for (method, most) in bounds.others {
        let count = calls.counts.get(*method).copied().unwrap_or(0);
        if count > *most {
            found(None, format!("{method} was called"), count, *most);
        }
    }
    for (method, most) in bounds.per_object {
        let count = calls.counts.get(*method).copied().unwrap_or(0);
        if count > most * requests.objects {
            found(None, format!("{method} was called"), count, most * requests.objects);
        }
    }
    let is_known = |method: &str| {
        let mut listed = bounds.others.iter().chain(bounds.per_object).map(|(name, _)| *name);
        listed.any(|name| name == method) || bounds.about_resources.contains(&method)
    };
    for (method, count) in calls.counts.iter().filter(|(method, _)| bounds.is_closed() && !is_known(method)) {
        found(None, format!("{method} was called"), *count, 0);
    }
    if calls.unlocked > 0 {
        let words = format!("{} requests came while the state was not locked", calls.unlocked);
        findings.push(trial.finding(FindingKind::ChangeWithoutLock).with(Detail::Quote { words }));
    }
    let most = trial.stage.action.parallelism().map_or(bounds.at_once, u64::from);
    if calls.most_at_once > most {
        let words = format!("{} calls were under way at once, and {most} may be", calls.most_at_once);
        findings.push(trial.finding(FindingKind::TooManyCallsAtOnce).with(Detail::Quote { words }));
    }
    findings
}

/// The resources of the program that the provider is not asked to validate, in a command that succeeds and plans.
pub fn unvalidated(trial: &Trial<'_>) -> Vec<Finding> {
    let action = &trial.stage.action;
    let validates =
        matches!(action, Action::Apply(_) | Action::Plan(_) | Action::Destroy(_) | Action::Refresh(_));
    let (Some(model), Some(calls)) = (&trial.model, &trial.evidence.record.calls) else { return Vec::new() };
    if !validates || !trial.evidence.succeeded {
        return Vec::new();
    }
    let keys = model.written.meaning.nodes.keys().filter(|key| !calls.validated.contains_key(&***key));
    keys.map(|key| trial.finding(FindingKind::ResourceNotValidated).about([Subject::resource(key)])).collect()
}

/// The requests about what no target reaches. A destroy with targets looks at more than it destroys.
pub fn unreached(trial: &Trial<'_>) -> Vec<Finding> {
    let destroys =
        matches!(trial.stage.action, Action::Destroy(_)) || trial.options.mode == PlanMode::Destroy;
    let has_targets = !trial.options.target.is_empty() && !destroys;
    let Some(model) = trial.model.as_ref().filter(|_| has_targets) else {
        return Vec::new();
    };
    let Some(mut reached) = model.reached(trial.options) else { return Vec::new() };
    reached.extend(trial.stage.action.options().target.iter().cloned());
    let is_reached = |key: &str| reached.contains(&NodeKey::from(key));
    let read = trial.requests.reads_of.values().map(|(key, _)| key);
    let requested: BTreeSet<&str> = read.chain(trial.requests.plans_of.keys()).map(|key| &**key).collect();
    let unreached = requested.into_iter().filter(|key| !is_reached(key));
    let finding = |key| trial.finding(FindingKind::UnreachedRequest).about([Subject::resource(key)]);
    unreached.map(finding).collect()
}
