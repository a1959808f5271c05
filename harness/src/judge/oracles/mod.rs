//! Oracles: small functions from expectation and evidence to findings. Each has a name and a file, and is silent on a
//! correct engine. They are asked about one stage at a time, so that a variant need not be in memory as a whole. Each
//! declares what it needs, and is asked wherever that is there: most of them need no model.

mod attributes;
mod calls;
mod conservation;
mod cross;
mod destroy;
mod graph;
mod health;
mod idle;
mod left_behind;
mod order;
mod plan;
mod progress;
mod queries;
mod repeat;
mod requests;
mod state;
mod steps;

use std::collections::BTreeSet;

use equiform_proto::ledger::{Digest, World};

use super::finding::{Finding, FindingKind, OracleId};
use super::observe::meaning_of;
use super::requests::Requests;
use crate::algebra::graph::NamedGraph;
use crate::case::stage::{JudgedAs, Stage};
use crate::engine_id::EngineId;
use crate::engines::driver::CallBounds;
use crate::evidence::{ObservedOperation, StageEvidence, StoredIdentity, StoredSetting};
use crate::spec::{
    Action, Configuration, Deployed, Expectation, NodeKey, Options, ResourceOperation, Semantics,
};
pub use order::{Violation, violations};
pub use state::comparison;

/// A stage, what it did, and what the model says of it.
pub struct Trial<'a> {
    /// The stage.
    pub stage: &'a Stage,
    /// How the engine was asked to do it: a saved plan was made by an earlier stage.
    pub options: &'a Options,
    /// When the engine stores what objects go by in the world.
    pub identity: StoredIdentity,
    /// Whether its states keep a setting that has spread to an object.
    pub setting: StoredSetting,
    /// The engine; none if nobody knows which it was.
    pub engine: Option<&'a EngineId>,
    /// The version that the engine has, as it says itself; none if that is not known.
    pub version: Option<(u64, u64, u64)>,
    /// How lines begin that the engine prints on standard error although nothing is wrong.
    pub known_stderr: &'static [&'static str],
    /// Whether the engine's backup of a state is a copy of it, byte for byte.
    pub backup_is_a_copy: bool,
    /// How often its commands may call the provider.
    pub calls: &'a CallBounds,
    /// What the stage did that this one repeats.
    pub repeated: Option<&'a Repeated>,
    /// What happened in it.
    pub evidence: &'a StageEvidence,
    /// What the engine sent along with its requests.
    pub requests: &'a Requests,
    /// The world afterwards.
    pub world: &'a World,
    /// What the model says of it; none of a program that nobody has a model of.
    pub model: Option<ModelView<'a>>,
}

/// What the model says of a stage.
#[derive(Clone, Copy)]
pub struct ModelView<'a> {
    /// The graph in which the variant must end.
    pub source: &'a NamedGraph,
    /// Whether what is written is deployed already, or is not asked for. A refresh with a program that an earlier stage
    /// failed to deploy takes parts of it into the state.
    pub program_is_deployed: bool,
    /// What was deployed when it began.
    pub deployed: &'a Deployed,
    /// What is to be deployed after it.
    pub program: &'a Configuration,
    /// What is written in the program's files; for a destroy, that is not what is to be deployed.
    pub written: &'a Configuration,
    /// What the engine's family promises.
    pub semantics: &'a dyn Semantics,
    /// What is to be planned in it.
    pub plan: &'a Expectation,
    /// What is to be done in it.
    pub expectation: &'a Expectation,
    /// What is deployed after it; after a failure, by what took effect. None if that is nothing that the model can
    /// speak of.
    pub outcome: Option<&'a Deployed>,
}

impl ModelView<'_> {
    /// The nodes that a stage with targets reaches; none if it has no targets.
    pub fn reached(&self, options: &Options) -> Option<BTreeSet<NodeKey>> {
        let reach = || self.semantics.reach(self.deployed, self.program, &options.target).nodes;
        (!options.target.is_empty()).then(reach)
    }
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
    /// A finding of a kind in this stage.
    fn finding(&self, kind: FindingKind) -> Finding {
        Finding::new(kind, &self.stage.name)
    }

    /// What must be deployed now, and in the state: the model's word for it, wherever the engine came to an end by
    /// itself. A state that is no state is for `health` to tell.
    pub fn settled(&self) -> Option<&Deployed> {
        self.model.as_ref()?.outcome.filter(|_| self.evidence.record.ended_in_order())
    }

    /// The address of a node: where it was when the stage began, or else where the program writes it; none if there is
    /// no model that knows.
    pub fn address(&self, key: &NodeKey) -> Option<String> {
        let model = self.model.as_ref()?;
        let remembered = model.deployed.memory.node(key).map(|it| it.address.clone());
        Some(remembered.unwrap_or_else(|| model.program.encoding.address(key)).to_string())
    }

    /// Whether the command speaks in messages: those that mark something do not, and the provider does not.
    pub fn speaks(&self) -> bool {
        !matches!(
            self.stage.action,
            Action::Mark(_) | Action::Unmark(_) | Action::Query(_) | Action::Drift { .. }
        )
    }

    /// Whether the engine is to read objects before it changes them. A saved plan rests on what was read for it.
    pub fn refreshes(&self) -> bool {
        let reads = self.stage.action.plans() || matches!(self.stage.action, Action::Refresh(_));
        reads && self.options.refresh && !matches!(self.stage.action, Action::ApplySaved(_))
    }

    /// Whether the stage is to be of a kind, and there is nothing to do in it. After a failure there may be.
    pub fn is_quiet(&self, judged_as: JudgedAs) -> bool {
        let has_nothing_to_do = |model: &ModelView<'_>| model.plan.operations.is_empty();
        self.stage.judged_as == judged_as && self.model.as_ref().is_none_or(has_nothing_to_do)
    }

    /// Whether the engine takes something into its state that has changed behind its back.
    pub fn takes_drift_in(&self) -> bool {
        let writes = self.stage.action.changes_the_world() || matches!(self.stage.action, Action::Refresh(_));
        self.model.as_ref().is_some_and(|model| model.deployed.has_drifted())
            && self.options.refresh
            && writes
    }
}

/// What an oracle can need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// What the model says of the stage.
    Model,
    /// The ledger: operations, requests and the world.
    Ledger,
    /// The engine's state.
    State,
    /// What the engine printed, and how it ended.
    Output,
}

/// An oracle.
pub struct Oracle {
    /// Which it is.
    pub id: OracleId,
    /// What it looks at, in a sentence.
    pub about: &'static str,
    /// What it needs. Where there is a model too, those that need none make use of it.
    pub needs: &'static [Input],
    judge: fn(&Trial<'_>) -> Vec<Finding>,
}

impl Oracle {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.id.name()
    }

    /// Whether it can be asked where these are there.
    pub fn can_judge(&self, available: &[Input]) -> bool {
        self.needs.iter().all(|input| available.contains(input))
    }

    /// What it finds in a stage.
    pub fn judge(&self, trial: &Trial<'_>) -> Vec<Finding> {
        (self.judge)(trial)
    }
}

/// Declares an oracle by its id, its module and what it needs.
macro_rules! oracle {
    ($id:ident, $module:ident, [$($input:ident),+]) => {
        Oracle {
            id: OracleId::$id,
            about: $module::ABOUT,
            needs: &[$(Input::$input),+],
            judge: $module::judge,
        }
    };
}

/// All oracles.
pub const ORACLES: &[Oracle] = &[
    oracle!(Graph, graph, [Model, Ledger]),
    oracle!(Attributes, attributes, [Model, Ledger]),
    oracle!(Steps, steps, [Model, Ledger]),
    oracle!(Order, order, [Ledger]),
    oracle!(Requests, requests, [Ledger]),
    oracle!(Plan, plan, [Ledger, State, Output]),
    oracle!(Progress, progress, [Ledger, Output]),
    oracle!(State, state, [Ledger, State]),
    oracle!(Conservation, conservation, [Ledger, State]),
    oracle!(Idle, idle, [Ledger, Output]),
    oracle!(Cross, cross, [Output]),
    oracle!(Repeat, repeat, [Ledger]),
    oracle!(Queries, queries, [State, Output]),
    oracle!(Destroy, destroy, [Ledger, State]),
    oracle!(Health, health, [Output]),
];

#[cfg(test)]
pub(in crate::judge) mod tests {
    use super::*;

    /// What an oracle finds in a usual stage with the name in the record, in which nothing is expected.
    pub fn judged(judge: fn(&Trial<'_>) -> Vec<Finding>, evidence: &StageEvidence) -> Vec<FindingKind> {
        let stages = Stage::usual(1, 0);
        let stage = stages.iter().find(|stage| stage.name == evidence.record.stage).unwrap();
        let nothing = Expectation::nothing(0);
        let trial = Trial {
            stage,
            options: &Options::USUAL,
            identity: StoredIdentity::Never,
            setting: StoredSetting::Always,
            engine: None,
            version: None,
            known_stderr: &[],
            backup_is_a_copy: true,
            calls: &CallBounds::UNBOUNDED,
            repeated: None,
            evidence,
            requests: &Requests::default(),
            world: &World::default(),
            model: Some(ModelView {
                source: &NamedGraph::default(),
                program_is_deployed: true,
                deployed: &Deployed::NOTHING,
                program: &Configuration::EMPTY,
                written: &Configuration::EMPTY,
                semantics: crate::spec::semantics::terraform::TERRAFORM,
                plan: &nothing,
                expectation: &nothing,
                outcome: None,
            }),
        };
        judge(&trial).into_iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn every_oracle_is_listed_once_and_has_kinds_of_findings() {
        let listed: Vec<OracleId> = ORACLES.iter().map(|oracle| oracle.id).collect();
        let others = [OracleId::Evidence, OracleId::Variants];
        assert!(OracleId::ALL.iter().filter(|id| !others.contains(id)).all(|id| listed.contains(id)));
        assert_eq!(listed.len() + others.len(), OracleId::ALL.len());
    }
}
