//! What an engine is asked to do in a stage.

use std::collections::BTreeSet;

use equiform_proto::faults::{Fault, FaultOperation};
use serde::{Deserialize, Serialize};

use super::meaning::NodeKey;
use super::operation::OperationKind;
use super::world::Drift;

/// What an engine is asked to do with a program, or what happens to the world between two commands of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Plan and apply in one command.
    Apply(Options),
    /// Plan, and change nothing.
    Plan(Options),
    /// Apply the plan that the stage before has saved.
    ApplySaved(SavedOptions),
    /// Delete everything, or the targets.
    Destroy(Options),
    /// Take what has changed behind the engine's back into the engine's memory, and change nothing.
    Refresh(Options),
    /// Mark a resource in the engine's memory as one to be replaced.
    Mark(NodeKey),
    /// Take such a mark away.
    Unmark(NodeKey),
    /// Ask about what is deployed, or about a saved plan, and change nothing.
    Query(Query),
    /// An object changes behind the engine's back: no command of the engine.
    Drift {
        /// The object's key.
        key: String,
        /// How it changes.
        change: Drift,
    },
}

impl Action {
    /// Its options. Those of a saved plan are the options of the stage that saved it.
    pub fn options(&self) -> &Options {
        match self {
            Self::Apply(options) | Self::Plan(options) | Self::Destroy(options) | Self::Refresh(options) => {
                options
            }
            Self::ApplySaved(_) | Self::Mark(_) | Self::Unmark(_) | Self::Query(_) | Self::Drift { .. } => {
                const { &Options::USUAL }
            }
        }
    }

    /// How many operations may be under way at once; none leaves it to the engine.
    pub fn parallelism(&self) -> Option<u32> {
        match self {
            Self::ApplySaved(options) => options.parallelism,
            other => other.options().parallelism,
        }
    }

    /// Whether the engine may change the world by it.
    pub fn changes_the_world(&self) -> bool {
        matches!(self, Self::Apply(_) | Self::ApplySaved(_) | Self::Destroy(_))
    }

    /// Whether it asks the engine for a plan: to carry it out, or to show it.
    pub fn plans(&self) -> bool {
        self.changes_the_world() || matches!(self, Self::Plan(_))
    }
}

/// What an engine can be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Query {
    /// All that is in its state.
    State,
    /// The plan that was saved last.
    Plan,
    /// The addresses in its state.
    Addresses,
    /// The outputs.
    Outputs,
    /// Whether the program is valid.
    Validity,
    /// The graph of the program.
    Graph,
    /// A copy of its state.
    StateCopy,
    /// The providers that it needs.
    Providers,
    /// All that is in its state, for people to read.
    StateText,
    /// The plan that was saved last, for people to read.
    PlanText,
}

impl Query {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Plan => "plan",
            Self::Addresses => "addresses",
            Self::Outputs => "outputs",
            Self::Validity => "validity",
            Self::Graph => "graph",
            Self::StateCopy => "state-copy",
            Self::Providers => "providers",
            Self::StateText => "state-text",
            Self::PlanText => "plan-text",
        }
    }
}

/// How a saved plan is applied. Everything else was decided when the plan was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SavedOptions {
    /// How many operations may be under way at once; none leaves it to the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallelism: Option<u32>,
}

/// How an action is done. By default as users do it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Resources that are replaced though nothing asks for it.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub replace: BTreeSet<NodeKey>,
    /// The resources that it is limited to, with all that they depend on; with all that depends on them if they are
    /// destroyed. None limits nothing.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub target: BTreeSet<NodeKey>,
    /// Whether objects are read before anything is planned.
    #[serde(skip_serializing_if = "is_true")]
    pub refresh: bool,
    /// How many operations may be under way at once; none leaves it to the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallelism: Option<u32>,
    /// What a plan is made for.
    #[serde(skip_serializing_if = "PlanMode::is_usual")]
    pub mode: PlanMode,
    /// Whether a plan is saved, for [`Action::ApplySaved`] to follow.
    #[serde(skip_serializing_if = "is_false")]
    pub save: bool,
}

impl Options {
    /// As users do it.
    pub const USUAL: Self = Self {
        replace: BTreeSet::new(),
        target: BTreeSet::new(),
        refresh: true,
        parallelism: None,
        mode: PlanMode::Program,
        save: false,
    };
}

/// What a plan is made for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanMode {
    /// To deploy the program.
    #[default]
    Program,
    /// To delete everything.
    Destroy,
    /// To take what has changed behind the engine's back into the engine's memory.
    Refresh,
}

impl PlanMode {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::USUAL
    }
}

impl OperationKind {
    /// The operation on the world that a fault meets; none if it changes nothing.
    pub fn met_by(fault: &Fault) -> Option<Self> {
        match fault.call.operation {
            FaultOperation::Create => Some(Self::Create),
            FaultOperation::Update => Some(Self::Update),
            FaultOperation::Delete => Some(Self::Delete),
            FaultOperation::Read
            | FaultOperation::Plan
            | FaultOperation::Validate
            | FaultOperation::Configure => None,
        }
    }
}

fn is_true(value: &bool) -> bool {
    *value
}

fn is_false(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_stored_with_the_options_that_differ_from_the_usual() {
        let json = |action: &Action| serde_json::to_string(action).unwrap();
        assert_eq!(json(&Action::Apply(Options::default())), r#"{"apply":{}}"#);
        let replace = Options { replace: ["a".into()].into(), ..Options::default() };
        let action = Action::Plan(Options { refresh: false, parallelism: Some(1), ..replace });
        assert_eq!(json(&action), r#"{"plan":{"replace":["a"],"refresh":false,"parallelism":1}}"#);
        assert_eq!(serde_json::from_str::<Action>(&json(&action)).unwrap(), action);
        assert!(serde_json::from_str::<Action>(r#"{"apply":{"refrehs":false}}"#).is_err());
    }
}
