//! The engine's state and the world agree: no orphan, no ghost, the same dependencies.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Finding, Trial};
use crate::deploy::evidence::{Stage, StateFile, Stored};
use crate::model::Deployment;
use crate::model::numbered::{Number, NumberedProgram, Numbering, Walk};
use crate::render::label;

/// For people.
pub const ABOUT: &str = "the engine's state holds what is in the world, with its dependencies";

/// What stands before a name in an address.
const PREFIX: &str = "mock_node.";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let batch = match trial.stage.stage {
        Stage::Batch(number) => trial.batches.get(number - 1),
        Stage::Idle | Stage::Cross => trial.batches.last(),
        Stage::Destroy => None,
    };
    let mut findings = match batch {
        Some(batch) if trial.stage.record.succeeded() => compare(trial, &batch.deployment),
        _ => Vec::new(),
    };
    if let Some(difference) = &trial.stage.state_difference {
        findings.push(Finding::new("state", "changed where nothing was to be", trial, difference.clone()));
    }
    if let (Some((lineage, serial)), Some(state)) = (&trial.stage.state_before, trial.stage.state.state()) {
        if *lineage != state.lineage {
            let text = format!("its lineage was {lineage} and is {}", state.lineage);
            findings.push(Finding::new("state", "another lineage", trial, text));
        } else if *serial > state.serial {
            let text = format!("its serial was {serial} and is {}", state.serial);
            findings.push(Finding::new("state", "an older serial", trial, text));
        } else if *serial == state.serial && !trial.expectation.operations.is_empty() {
            let text = format!("its serial is still {serial}, and the world has changed");
            findings.push(Finding::new("state", "the same serial", trial, text));
        }
    }
    findings
}

fn compare(trial: &Trial<'_>, deployment: &Deployment) -> Vec<Finding> {
    let state = match &trial.stage.state {
        StateFile::Read(state) => &state.objects,
        StateFile::Missing if !trial.world.is_empty() => {
            return vec![Finding::new("state", "missing", trial, "the engine wrote no state")];
        }
        // What cannot be read is for `health` to tell.
        StateFile::Missing | StateFile::Bad(_) => return Vec::new(),
    };
    let mut findings = Vec::new();
    let mut found = |kind: &str, text: String| findings.push(Finding::new("state", kind, trial, text));
    let mut chains = Chains::of(deployment);
    let mut ids = FxHashSet::default();
    for stored in state {
        let (id, name) = (&*stored.content.id, &stored.name);
        if !ids.insert(id) {
            found("twice", format!("{id} is more than once in the state, here as {name}"));
        }
        if stored.deposed {
            found("deposed object left", format!("{name} has an old object {id} that was not deleted"));
        }
        match trial.world.get(id) {
            None => found("ghost", format!("{name} is {id} in the state, which is not in the world")),
            Some(object) if object.attributes != stored.content.attributes => {
                found(
                    "other attributes",
                    format!("{name} has other attributes in the state than in the world"),
                );
            }
            Some(object) if object.key.as_deref().map(label).as_ref() != Some(name) => {
                let key = object.key.as_deref().unwrap_or("?");
                found("another name", format!("{id} is {name} in the state, which is {key} in the world"));
            }
            Some(_) => {}
        }
        if let Some(text) = chains.difference(stored) {
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

/// What each resource of a program depends on. Engines store the whole chain.
struct Chains<'a> {
    numbering: Numbering<'a>,
    /// The numbers by the names that the resources have in programs.
    numbers: FxHashMap<String, Number>,
    program: NumberedProgram,
    walk: Walk,
}

impl<'a> Chains<'a> {
    fn of(deployment: &'a Deployment) -> Self {
        let numbering = Numbering::of(&[deployment]);
        let numbers = numbering.keys().iter().map(|key| label(key)).zip(0..).collect();
        let program = numbering.program(deployment);
        Self { numbers, program, walk: Walk::over(numbering.keys().len()), numbering }
    }

    /// How the addresses that an object depends on differ from the program's.
    fn difference(&mut self, stored: &Stored) -> Option<String> {
        let number = *self.numbers.get(&stored.name)?;
        let expected = self.walk.from(&self.program, number, |_| false).len();
        let number_of = |address: &str| self.numbers.get(address.strip_prefix(PREFIX)?).copied();
        let mut addresses = stored.dependencies.iter();
        if addresses.all(|address| number_of(address).is_some_and(|number| self.walk.cross_out(number)))
            && stored.dependencies.iter().count() == expected
        {
            return None;
        }
        let reached = self.walk.from(&self.program, number, |_| false).iter();
        let expected: BTreeSet<String> =
            reached.map(|&number| format!("{PREFIX}{}", label(self.numbering.key(number)))).collect();
        let is: BTreeSet<&str> = stored.dependencies.iter().collect();
        (!is.iter().copied().eq(expected.iter().map(String::as_str))).then(|| {
            format!("{} depends on {is:?} in the state, on {expected:?} in the program", stored.name)
        })
    }
}
