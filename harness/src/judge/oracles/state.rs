//! The engine's state and the world agree: no orphan, no ghost, the same dependencies.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value as Json, json};

use super::{ModelView, Trial};
use crate::case::stage::{KeepsState, Stage};
use crate::evidence::{
    StateBefore, StateChange, StateComparison, StateDifference, StateFile, Stored, StoredIdentity,
};
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::spec::dependencies::{Number, NumberedGraph, Numbering, Walk};
use crate::spec::{Action, Configuration, Deployed, NodeKey, PlanMode, Remembered as Node};

/// What it looks at.
pub const ABOUT: &str = "the engine's state matches the world, with its dependencies";

/// How the state after a stage is to be compared with the one before; none if the stage may change it.
pub fn comparison(stage: &Stage) -> Option<StateComparison> {
    let plans_only = matches!(stage.action, Action::Plan(_));
    if stage.judged_as.meaning().keeps_state == KeepsState::Never && !plans_only {
        return None;
    }
    Some(match stage.action {
        Action::Plan(_) | Action::Drift { .. } => StateComparison::ToTheByte,
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
    findings.extend(trial.model.as_ref().and_then(|model| outputs(trial, model)));
    findings.extend(difference(trial));
    findings.extend(versions(trial));
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

/// It is the same state as before, and it counts its changes.
fn versions(trial: &Trial<'_>) -> Option<Finding> {
    let StateBefore { lineage, serial, .. } = trial.evidence.state_before.as_ref()?;
    let state = trial.evidence.state.state()?;
    let changes_the_world = || match &trial.model {
        Some(model) => {
            let due = &model.expectation;
            due.operations.iter().any(|it| !due.optional.contains(it))
        }
        None => trial.evidence.operations.iter().any(|observed| matches!(observed.end, Some((_, true)))),
    };
    let found = |kind, before: &dyn ToString, after: &dyn ToString| {
        let detail = Detail::Versions { before: before.to_string(), after: after.to_string() };
        Some(trial.finding(kind).with(detail))
    };
    if *lineage != state.lineage {
        found(FindingKind::LineageChanged, lineage, &state.lineage)
    } else if *serial > state.serial {
        found(FindingKind::SerialWentBack, serial, &state.serial)
    } else if *serial == state.serial && trial.evidence.succeeded && changes_the_world() {
        found(FindingKind::SerialNotRaised, serial, &state.serial)
    } else {
        None
    }
}

/// What is in the state is in the world, and the other way round.
fn contents(trial: &Trial<'_>) -> Vec<Finding> {
    let state = match &trial.evidence.state {
        StateFile::Read(state) => &state.objects,
        StateFile::Missing if !trial.world.is_empty() => {
            return vec![trial.finding(FindingKind::StateMissing)];
        }
        // What cannot be read is for `health` to tell.
        StateFile::Missing | StateFile::Bad(_) => return Vec::new(),
    };
    let mut model = trial.model.as_ref().and_then(|model| Remembered::of(trial, model));
    let mut findings = Vec::new();
    let mut ids = FxHashSet::default();
    for stored in state {
        if !ids.insert(&*stored.content.id) {
            findings.push(of_stored(trial, FindingKind::StoredTwice, stored));
        }
        let key =
            model.as_ref().and_then(|model| model.nodes.get(stored.address.as_str())).map(|(key, _)| *key);
        if let Some(model) = &mut model {
            findings.extend(model.marks(trial, stored));
        }
        findings.extend(in_world(trial, stored, key));
        findings.extend(identity(trial, stored));
        findings.extend(model.as_mut().and_then(|model| model.dependencies(trial, stored)));
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
    if !stores_identity || stored.deposed || stored.tainted {
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

/// What the model says of the state.
struct Remembered<'a> {
    /// Nodes, by address.
    nodes: FxHashMap<String, (&'a NodeKey, &'a Node)>,
    chains: Chains,
    /// How many old objects are still to be met, by address.
    old: FxHashMap<String, usize>,
    /// Whether the command writes dependencies.
    writes_dependencies: bool,
    /// The nodes that the command reaches; none if it reaches all.
    reached: Option<BTreeSet<NodeKey>>,
}

impl<'a> Remembered<'a> {
    fn of(trial: &Trial<'_>, model: &ModelView<'a>) -> Option<Self> {
        let deployed = model.outcome?;
        let nodes = deployed.memory.nodes.iter();
        // What a command that failed, or that only reads, leaves of dependencies in the state is promised by nobody;
        // and what it does not reach keeps those that it was written with.
        let is_refresh =
            matches!(trial.stage.action, Action::Refresh(_)) || trial.options.mode == PlanMode::Refresh;
        let refreshes_only = is_refresh && (trial.takes_drift_in() || !model.program_is_deployed);
        Some(Self {
            nodes: nodes.map(|(key, it)| (it.address.to_string(), (key, it))).collect(),
            chains: Chains::of(deployed),
            old: FxHashMap::default(),
            writes_dependencies: trial.evidence.succeeded && !refreshes_only,
            reached: model.reached(trial.options),
        })
    }

    /// Old objects and marks are those that the model expects.
    fn marks(&mut self, trial: &Trial<'_>, stored: &Stored) -> Option<Finding> {
        let node = self.nodes.get(stored.address.as_str()).map(|(_, node)| *node);
        if stored.deposed {
            let due = || node.map_or(0, |it| it.pending.len());
            let left = self.old.entry(stored.address.clone()).or_insert_with(due);
            let is_due = left.checked_sub(1).map(|rest| *left = rest).is_some();
            return (!is_due).then(|| of_stored(trial, FindingKind::OldObjectLeft, stored));
        }
        node.filter(|it| it.is_marked() != stored.tainted).map(|_| {
            of_stored(trial, FindingKind::MarkDiffers, stored).with(Detail::Mark { marked: stored.tainted })
        })
    }

    /// An object depends on what the program says, directly or not.
    fn dependencies(&mut self, trial: &Trial<'_>, stored: &Stored) -> Option<Finding> {
        let key = self.nodes.get(stored.address.as_str()).map(|(key, _)| *key);
        let is_reached = self.reached.as_ref().is_none_or(|all| key.is_some_and(|key| all.contains(key)));
        if !self.writes_dependencies || stored.deposed || !is_reached {
            return None;
        }
        let detail = self.chains.difference(stored)?;
        Some(
            trial
                .finding(FindingKind::DependenciesDiffer)
                .about([Subject::address(&stored.address)])
                .with(detail),
        )
    }
}

/// The outputs tell of the objects as they are, after a command that deployed the whole program.
fn outputs(trial: &Trial<'_>, model: &ModelView<'_>) -> Option<Finding> {
    let applies = matches!(trial.stage.action, Action::Apply(_) | Action::ApplySaved(_))
        && trial.options.mode == PlanMode::Program
        && trial.options.target.is_empty();
    let state = trial.evidence.state.state().filter(|_| applies && trial.evidence.succeeded)?;
    let encoding = &model.program.encoding;
    let due = trial.world.objects().filter(|_| encoding.outputs).filter_map(|object| {
        let (key, _) = model.program.meaning.nodes.get_key_value(object.key.as_deref()?)?;
        let label = object.attributes.unpack().get("label").cloned().unwrap_or_default();
        Some((encoding.address(key).name.to_string(), json!({ "id": object.id, "label": label })))
    });
    let expected: BTreeMap<String, Json> = due.collect();
    let names = expected.keys().chain(state.outputs.keys()).collect::<BTreeSet<_>>();
    let name = names.into_iter().find(|name| state.outputs.get(*name) != expected.get(*name))?;
    let value = |outputs: &BTreeMap<String, Json>| outputs.get(name).cloned();
    let detail = Detail::OutputValue { expected: value(&expected), observed: value(&state.outputs) };
    Some(trial.finding(FindingKind::StoredOutputsDiffer).about([Subject::output(name)]).with(detail))
}

/// What each deployed resource depends on. Engines store the whole chain.
struct Chains {
    /// The addresses, in the order of the numbers.
    addresses: Vec<String>,
    /// The numbers by address.
    numbers: FxHashMap<String, Number>,
    graph: NumberedGraph,
    walk: Walk,
}

impl Chains {
    fn of(deployed: &Deployed) -> Self {
        let numbering = Numbering::of(deployed, &Configuration::EMPTY);
        let nodes = deployed.memory.nodes.values();
        let addresses: Vec<String> = nodes.map(|it| it.address.to_string()).collect();
        let numbers = addresses.iter().cloned().zip(0..);
        let (graph, walk) = (numbering.deployed(deployed), Walk::over(numbering.len()));
        Self { numbers: numbers.collect(), graph, walk, addresses }
    }

    /// How the addresses that an object depends on differ from the program's.
    fn difference(&mut self, stored: &Stored) -> Option<Detail> {
        let number = *self.numbers.get(&stored.address)?;
        let expected = self.walk.from(&self.graph, number, |_| false).len();
        let number_of = |address: &str| self.numbers.get(address).copied();
        let mut addresses = stored.dependencies.iter();
        if addresses.all(|address| number_of(address).is_some_and(|number| self.walk.cross_out(number)))
            && stored.dependencies.iter().count() == expected
        {
            return None;
        }
        let reached = self.walk.from(&self.graph, number, |_| false).iter();
        let expected: BTreeSet<&String> = reached.map(|&number| &self.addresses[number as usize]).collect();
        let is: BTreeSet<&str> = stored.dependencies.iter().collect();
        (!is.iter().copied().eq(expected.iter().map(|it| it.as_str()))).then(|| Detail::Dependencies {
            observed: is.into_iter().map(str::to_owned).collect(),
            expected: expected.into_iter().cloned().collect(),
        })
    }
}
