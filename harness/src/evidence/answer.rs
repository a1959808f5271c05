//! What an engine answers to a query, whichever it is.

use std::collections::{BTreeMap, BTreeSet};

use equiform_proto::ledger::Attributes;
use serde_json::Value as Json;

use super::{Content, PlannedReason, StateFile, StoredOutput};
use crate::spec::OperationKind;

/// An answer to a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The objects in the state by their addresses, and the outputs.
    State {
        /// The version of the engine that wrote it.
        written_by: Option<String>,
        /// The objects that are current.
        objects: BTreeMap<String, ShownObject>,
        /// The outputs.
        outputs: BTreeMap<String, StoredOutput>,
    },
    /// A saved plan.
    Plan(ShownPlan),
    /// A saved plan, as people read it.
    PlanText {
        /// The operations, by the addresses of resources.
        operations: BTreeSet<(String, OperationKind)>,
        /// How many objects it says to create, to change and to delete.
        counts: [usize; 3],
    },
    /// A copy of the state.
    StateCopy(StateFile),
    /// The providers that are needed.
    Providers {
        /// The only one that programs of ours need.
        expected: &'static str,
        /// Those of the program.
        by_program: BTreeSet<String>,
        /// Those of the state.
        by_state: BTreeSet<String>,
    },
    /// The addresses in the state, as often as they are listed.
    Addresses(Vec<String>),
    /// The outputs.
    Outputs(BTreeMap<String, StoredOutput>),
    /// Whether the program is valid.
    Validity(bool),
    /// The resources of the program, and the pairs of a dependent and what it depends on. Pairs that follow from
    /// others may be left out.
    Graph {
        /// The addresses.
        nodes: BTreeSet<String>,
        /// The pairs.
        edges: BTreeSet<(String, String)>,
    },
    /// Something that no engine answers, and why it cannot be read.
    Unreadable(String),
}

/// An object as a state is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownObject {
    /// Its id and attributes.
    pub content: Content,
    /// The addresses it depends on.
    pub dependencies: BTreeSet<String>,
    /// Whether it is marked as one to be replaced.
    pub tainted: bool,
    /// Whether all else is as it can only be: the parts of its address, its provider, no secrets.
    pub is_regular: bool,
}

/// A saved plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownPlan {
    /// The version of the engine that wrote it.
    pub written_by: Option<String>,
    /// Whether it says that nothing is left to plan.
    pub is_complete: bool,
    /// Its objects.
    pub objects: Vec<PlannedObject>,
    /// The resources of the program, by address.
    pub written: BTreeMap<String, WrittenResource>,
    /// The addresses of what has changed behind the engine's back.
    pub drifted: BTreeSet<String>,
    /// Where it contradicts itself.
    pub contradictions: Vec<PlanContradiction>,
}

/// A part of a saved plan that another part contradicts, or that no plan has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanContradiction {
    /// The address of the resource or the name of the output that it is about.
    pub address: Option<String>,
    /// The part, by its name in the plan.
    pub field: String,
}

/// A resource of a program, as a saved plan shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrittenResource {
    /// The addresses of the resources that its arguments refer to.
    pub references: BTreeSet<String>,
    /// The addresses that it depends on without referring to them.
    pub depends_on: BTreeSet<String>,
    /// The arguments that are constants.
    pub constants: BTreeMap<String, Json>,
}

/// An object as a saved plan shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedObject {
    /// The address of its resource.
    pub address: String,
    /// Whether it awaits its deletion, and the resource may have another one.
    pub is_old: bool,
    /// What is to be done to it.
    pub operations: BTreeSet<OperationKind>,
    /// Why.
    pub reason: PlannedReason,
    /// The attributes because of which it is replaced.
    pub replaced_for: BTreeSet<String>,
    /// Its attributes now; none if there is no object.
    pub before: Option<Attributes>,
    /// Its attributes then, as far as they are known; none if there is to be no object.
    pub after: Option<Attributes>,
    /// The attributes that are not known yet, or not all of them.
    pub unknown: BTreeSet<String>,
    /// Whether any part of it is a secret.
    pub has_secrets: bool,
}
