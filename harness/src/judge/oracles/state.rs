//! The engine's state and the world agree: no orphan, no ghost, the same dependencies.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value as Json, json};

use super::{Finding, Trial};
use crate::evidence::{StateBefore, StateDifference, StateFile, Stored, StoredIdentity};
use crate::spec::dependencies::{Number, NumberedGraph, Numbering, Walk};
use crate::spec::{Action, Configuration, Deployed, NodeKey, PlanMode, Remembered};

/// For people.
pub const ABOUT: &str = "the engine's state holds what is in the world, with its dependencies";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = trial.settled().map(|deployed| compare(trial, deployed)).unwrap_or_default();
    outputs(trial, &mut findings);
    // An apply after one that failed has something to write, and so has one that finds that something has drifted.
    let leaves_it =
        trial.expectation.operations.is_empty() && !trial.takes_drift_in() && trial.program_is_deployed;
    let difference = trial.evidence.state_difference.as_ref().filter(|_| leaves_it);
    match difference {
        None => {}
        Some(StateDifference::Setting(text)) => {
            findings.push(Finding::new("state", "setting rewritten", trial, text.clone()));
        }
        Some(StateDifference::Other(text)) => {
            findings.push(Finding::new("state", "changed where nothing was to be", trial, text.clone()));
        }
    }
    if let (Some(StateBefore { lineage, serial, .. }), Some(state)) =
        (&trial.evidence.state_before, trial.evidence.state.state())
    {
        if *lineage != state.lineage {
            let text = format!("its lineage was {lineage} and is {}", state.lineage);
            findings.push(Finding::new("state", "another lineage", trial, text));
        } else if *serial > state.serial {
            let text = format!("its serial was {serial} and is {}", state.serial);
            findings.push(Finding::new("state", "an older serial", trial, text));
        } else if *serial == state.serial
            && trial.evidence.succeeded
            && trial.expectation.operations.iter().any(|it| !trial.expectation.optional.contains(it))
        {
            let text = format!("its serial is still {serial}, and the world has changed");
            findings.push(Finding::new("state", "the same serial", trial, text));
        }
    }
    findings
}

fn compare(trial: &Trial<'_>, deployed: &Deployed) -> Vec<Finding> {
    let state = match &trial.evidence.state {
        StateFile::Read(state) => &state.objects,
        StateFile::Missing if !trial.world.is_empty() => {
            return vec![Finding::new("state", "missing", trial, "the engine wrote no state")];
        }
        // What cannot be read is for `health` to tell.
        StateFile::Missing | StateFile::Bad(_) => return Vec::new(),
    };
    let mut findings = Vec::new();
    let mut found = |kind: &str, text: String| findings.push(Finding::new("state", kind, trial, text));
    let mut chains = Chains::of(deployed);
    let nodes = deployed.memory.nodes.iter();
    let nodes: FxHashMap<String, (&NodeKey, &Remembered)> =
        nodes.map(|(key, it)| (it.address.to_string(), (key, it))).collect();
    let mut ids = FxHashSet::default();
    let mut old: FxHashMap<&str, usize> = FxHashMap::default();
    // What a command that failed, or that only reads, leaves of dependencies in the state is promised by nobody; and
    // what it does not reach keeps those that it was written with.
    let is_refresh =
        matches!(trial.stage.action, Action::Refresh(_)) || trial.options.mode == PlanMode::Refresh;
    let refreshes_only = is_refresh && (trial.takes_drift_in() || !trial.program_is_deployed);
    let writes_dependencies = trial.evidence.succeeded && !refreshes_only;
    let reached = trial.reached();
    let is_reached = |key: Option<&NodeKey>| {
        reached.as_ref().is_none_or(|reached| key.is_some_and(|key| reached.contains(key)))
    };
    let stores_identity = match trial.identity {
        StoredIdentity::Never => false,
        StoredIdentity::WithoutFailure => trial.evidence.succeeded,
        StoredIdentity::Always => true,
    };
    for stored in state {
        let (id, name) = (&*stored.content.id, &stored.address);
        if !ids.insert(id) {
            found("twice", format!("{id} is more than once in the state, here as {name}"));
        }
        let (key, node) = nodes.get(name.as_str()).copied().unzip();
        let left = old.entry(name).or_insert_with(|| node.map_or(0, |it| it.pending.len()));
        if stored.deposed && left.checked_sub(1).map(|rest| *left = rest).is_none() {
            found("deposed object left", format!("{name} has an old object {id} that was not deleted"));
        }
        if !stored.deposed && node.is_some_and(|it| it.is_marked() != stored.tainted) {
            let is = if stored.tainted { "is marked" } else { "is not marked" };
            found("another mark", format!("{name} {is} in the state as one to be replaced"));
        }
        // What has drifted is not in the state before the engine looks.
        let drifted = key.is_some_and(|key| deployed.node_has_drifted(key));
        match trial.world.get(id) {
            _ if drifted => {}
            None => found("ghost", format!("{name} is {id} in the state, which is not in the world")),
            Some(object) if object.attributes != stored.content.attributes => {
                found(
                    "other attributes",
                    format!("{name} has other attributes in the state than in the world"),
                );
            }
            Some(object) if object.key.as_deref() != key.map(|key| &**key) => {
                let key = object.key.as_deref().unwrap_or("?");
                found("another name", format!("{id} is {name} in the state, which is {key} in the world"));
            }
            Some(_) => {}
        }
        // What failed to be made, and what waits for its deletion, may lack it.
        if stores_identity && !stored.deposed && !stored.tainted {
            match &stored.identity {
                None => found("no identity", format!("{name} has no identity in the state")),
                Some(identity) if identity.id.as_deref() != Some(id) => {
                    let is = identity.id.as_deref().unwrap_or("none");
                    found("another identity", format!("{name} is {id}, and goes by {is} in the state"));
                }
                Some(_) => {}
            }
        }
        let same = writes_dependencies && !stored.deposed && is_reached(key);
        if let Some(text) = chains.difference(stored).filter(|_| same) {
            found("other dependencies", text);
        }
    }
    if ids.len() < trial.world.len()
        || !trial.world.unordered().all(|object| ids.contains(object.id.as_str()))
    {
        for object in trial.world.objects().filter(|object| !ids.contains(object.id.as_str())) {
            let name = object.key.as_deref().unwrap_or("?");
            found("orphan", format!("{name} is {} in the world, which is not in the state", object.id));
        }
    }
    findings
}

/// The outputs tell of the objects as they are, after a command that deployed the whole program.
fn outputs(trial: &Trial<'_>, findings: &mut Vec<Finding>) {
    let applies = matches!(trial.stage.action, Action::Apply(_) | Action::ApplySaved(_))
        && trial.options.mode == PlanMode::Program
        && trial.options.target.is_empty();
    let Some(state) = trial.evidence.state.state().filter(|_| applies && trial.evidence.succeeded) else {
        return;
    };
    let encoding = &trial.program.encoding;
    let told = trial.world.objects().filter(|_| encoding.outputs).filter_map(|object| {
        let (key, _) = trial.program.meaning.nodes.get_key_value(object.key.as_deref()?)?;
        let label = object.attributes.unpack().get("label").cloned().unwrap_or_default();
        Some((encoding.address(key).name.to_string(), json!({ "id": object.id, "label": label })))
    });
    let expected: BTreeMap<String, Json> = told.collect();
    if state.outputs != expected {
        let names = expected.keys().chain(state.outputs.keys()).collect::<BTreeSet<_>>();
        let different = names.into_iter().find(|name| state.outputs.get(*name) != expected.get(*name));
        let name = different.map_or("?", String::as_str);
        let show = |outputs: &BTreeMap<String, Json>| {
            outputs.get(name).map_or("not there".to_owned(), Json::to_string)
        };
        let text = format!("{name} is {}, and in the world {}", show(&state.outputs), show(&expected));
        findings.push(Finding::new("state", "other outputs", trial, text));
    }
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
    fn difference(&mut self, stored: &Stored) -> Option<String> {
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
        (!is.iter().copied().eq(expected.iter().map(|it| it.as_str()))).then(|| {
            format!("{} depends on {is:?} in the state, on {expected:?} in the program", stored.address)
        })
    }
}
