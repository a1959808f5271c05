//! Oracles: small functions from expectation and evidence to findings. Each has a name and a file, and is silent on a
//! correct engine. They are asked about one stage at a time, so that a variant need not be in memory as a whole.

mod attributes;
mod conservation;
mod cross;
mod destroy;
mod graph;
mod health;
mod idle;
mod order;
mod plan;
mod progress;
mod repeat;
mod requests;
mod state;
mod steps;

use std::collections::BTreeSet;

use equiform_proto::ledger::{Digest, World};
use serde::{Deserialize, Serialize};

use super::observe::meaning_of;
use crate::algebra::graph::NamedGraph;
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::evidence::{ObservedOperation, StageEvidence, StoredIdentity};
use crate::spec::{
    Action, Address, Configuration, Deployed, Expectation, NodeKey, Options, ResourceOperation, Semantics,
};
pub use order::{Violation, violations};

/// What a variant should do in a stage, and what it did.
pub struct Trial<'a> {
    /// The graph in which the variant must end.
    pub source: &'a NamedGraph,
    /// The stage.
    pub stage: &'a Stage,
    /// Where its program comes from.
    pub program_ref: &'a ProgramRef,
    /// Whether what is written is deployed already, or is not asked for. A refresh with a program that an earlier stage
    /// failed to deploy takes parts of it into the state.
    pub program_is_deployed: bool,
    /// What was deployed when it began.
    pub deployed: &'a Deployed,
    /// How the engine was asked to do it.
    pub options: &'a Options,
    /// What is to be deployed after it.
    pub program: &'a Configuration,
    /// What the engine's family promises.
    pub semantics: &'a dyn Semantics,
    /// What the model expects to be planned in it.
    pub plan: &'a Expectation,
    /// What the model expects to be done in it.
    pub expectation: &'a Expectation,
    /// What is deployed after it by the model; after a failure, by what took effect. None if that is nothing that the
    /// model can speak of.
    pub outcome: Option<&'a Deployed>,
    /// When the engine stores what objects go by in the world.
    pub identity: StoredIdentity,
    /// What the stage did that this one repeats.
    pub repeated: Option<&'a Repeated>,
    /// What happened in it.
    pub evidence: &'a StageEvidence,
    /// The world afterwards.
    pub world: &'a World,
}

/// What a stage did that is repeated later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    /// Whether it succeeded.
    pub succeeded: bool,
    /// Its operations, each with whether it took effect, sorted.
    pub operations: Vec<(ResourceOperation, bool)>,
    /// What the world meant afterwards.
    pub world: Digest,
}

impl Repeated {
    /// What a stage did.
    pub fn of(evidence: &StageEvidence, world: &World) -> Self {
        let took_effect = |observed: &ObservedOperation| matches!(observed.end, Some((_, true)));
        let operations = evidence.operations.iter();
        let mut operations: Vec<_> =
            operations.map(|observed| (observed.operation.clone(), took_effect(observed))).collect();
        operations.sort_unstable();
        Self { succeeded: evidence.succeeded, operations, world: meaning_of(world, |_| false) }
    }
}

impl Trial<'_> {
    /// What must be deployed now, and in the state: the model's word for it, wherever the engine came to an end by
    /// itself. A state that is no state is for `health` to tell.
    pub fn settled(&self) -> Option<&Deployed> {
        self.outcome.filter(|_| self.evidence.record.ended_in_order())
    }

    /// The address of a node: where it was when the stage began, or else where the program writes it.
    fn address(&self, key: &NodeKey) -> Address {
        let remembered = self.deployed.memory.node(key).map(|it| it.address.clone());
        remembered.unwrap_or_else(|| self.program.encoding.address(key))
    }

    /// The nodes that a stage with targets reaches; none if it has no targets.
    fn reached(&self) -> Option<BTreeSet<NodeKey>> {
        let targets = &self.options.target;
        let reach = || self.semantics.reach(self.deployed, self.program, targets).nodes;
        (!targets.is_empty()).then(reach)
    }

    /// Whether the engine is to read objects before it changes them. A saved plan rests on what was read for it.
    pub fn refreshes(&self) -> bool {
        let reads = self.stage.action.plans() || matches!(self.stage.action, Action::Refresh(_));
        reads && self.options.refresh && !matches!(self.stage.action, Action::ApplySaved(_))
    }

    /// Whether the stage is to be of a kind, and there is nothing to do in it. After a failure there may be.
    pub fn is_quiet(&self, judged_as: JudgedAs) -> bool {
        self.stage.judged_as == judged_as && self.plan.operations.is_empty()
    }

    /// Whether the engine takes something into its state that has changed behind its back.
    pub fn takes_drift_in(&self) -> bool {
        let writes = self.stage.action.changes_the_world() || matches!(self.stage.action, Action::Refresh(_));
        self.deployed.has_drifted() && self.options.refresh && writes
    }
}

/// Something that a correct engine would not have done.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// The oracle that saw it.
    pub oracle: String,
    /// The kind of difference: with the oracle and the engine it is the signature by which findings are grouped.
    pub kind: String,
    /// The stage.
    pub stage: String,
    /// What was seen, for people.
    pub text: String,
    /// The name of the known engine bug that explains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
}

impl Finding {
    fn new(oracle: &str, kind: &str, trial: &Trial<'_>, text: impl Into<String>) -> Self {
        Self {
            oracle: oracle.to_owned(),
            kind: kind.to_owned(),
            stage: trial.stage.name.clone(),
            text: text.into(),
            known: None,
        }
    }
}

/// What stands in the place of an oracle's name where evidence could not be read to its end.
const EVIDENCE: &str = "evidence";

impl Finding {
    /// Not the engine's doing: what comes after the findings of this stage could not be judged.
    pub fn broken_evidence(stage: String, text: String) -> Self {
        Self { oracle: EVIDENCE.to_owned(), kind: "cannot be read on".to_owned(), stage, text, known: None }
    }

    /// What `health` would say of a stage that left no evidence to look at.
    pub fn of_health(kind: &str, stage: String, text: String) -> Self {
        Self { oracle: "health".to_owned(), kind: kind.to_owned(), stage, text, known: None }
    }

    /// By what two findings are held to be the same: oracle, kind and stage.
    pub fn place(&self) -> (&str, &str, &str) {
        (&self.oracle, &self.kind, &self.stage)
    }

    /// Whether it is [`Finding::broken_evidence`].
    pub fn is_broken_evidence(&self) -> bool {
        self.oracle == EVIDENCE
    }
}

/// An oracle.
pub struct Oracle {
    /// Its name.
    pub name: &'static str,
    /// What it looks at, in a sentence.
    pub about: &'static str,
    judge: fn(&Trial<'_>) -> Vec<Finding>,
}

impl Oracle {
    /// What it finds in a stage.
    pub fn judge(&self, trial: &Trial<'_>) -> Vec<Finding> {
        (self.judge)(trial)
    }
}

/// All oracles.
pub const ORACLES: &[Oracle] = &[
    Oracle { name: "graph", about: graph::ABOUT, judge: graph::judge },
    Oracle { name: "attributes", about: attributes::ABOUT, judge: attributes::judge },
    Oracle { name: "steps", about: steps::ABOUT, judge: steps::judge },
    Oracle { name: "order", about: order::ABOUT, judge: order::judge },
    Oracle { name: "requests", about: requests::ABOUT, judge: requests::judge },
    Oracle { name: "plan", about: plan::ABOUT, judge: plan::judge },
    Oracle { name: "progress", about: progress::ABOUT, judge: progress::judge },
    Oracle { name: "state", about: state::ABOUT, judge: state::judge },
    Oracle { name: "conservation", about: conservation::ABOUT, judge: conservation::judge },
    Oracle { name: "idle", about: idle::ABOUT, judge: idle::judge },
    Oracle { name: "cross", about: cross::ABOUT, judge: cross::judge },
    Oracle { name: "repeat", about: repeat::ABOUT, judge: repeat::judge },
    Oracle { name: "destroy", about: destroy::ABOUT, judge: destroy::judge },
    Oracle { name: "health", about: health::ABOUT, judge: health::judge },
];
