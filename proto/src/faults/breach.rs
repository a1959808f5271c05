//! Answers of a provider that break its contract with engines.

use serde::{Deserialize, Serialize};

use super::FaultOperation;

/// How an answer breaks the contract between providers and engines. Engines promise to notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Breach {
    /// A plan has another label than the configuration.
    InvalidPlan,
    /// A plan says that a change of an attribute that does not exist replaces the object.
    InvalidReplacement,
    /// The label is a set of texts. Nothing takes effect.
    WrongType,
    /// The object has another label than planned: that is what took effect.
    InconsistentResult,
    /// The label is still unknown. The object has none.
    UnknownResult,
    /// There is no object. Nothing takes effect.
    MissingResult,
    /// The object is still there after a delete, which takes no effect.
    ObjectRemains,
}

impl Breach {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::InvalidPlan,
        Self::InvalidReplacement,
        Self::WrongType,
        Self::InconsistentResult,
        Self::UnknownResult,
        Self::MissingResult,
        Self::ObjectRemains,
    ];

    /// The label that an object gets against what was planned.
    pub const LABEL: &str = "against the plan";

    /// Whether an answer to an operation can break the contract in this way.
    pub fn is_possible_in(self, operation: FaultOperation) -> bool {
        use FaultOperation::{Create, Delete, Plan, Read, Update};
        match self {
            Self::InvalidPlan | Self::InvalidReplacement => operation == Plan,
            Self::WrongType => matches!(operation, Plan | Read | Create),
            Self::InconsistentResult | Self::UnknownResult | Self::MissingResult => {
                matches!(operation, Create | Update)
            }
            Self::ObjectRemains => operation == Delete,
        }
    }

    /// Whether the operation takes effect, although not as it should.
    pub fn takes_effect(self) -> bool {
        matches!(self, Self::InconsistentResult | Self::UnknownResult)
    }

    /// The label that an object has after a change with such an answer, if that is not the planned one.
    pub fn label(self) -> Option<Option<&'static str>> {
        match self {
            Self::InconsistentResult => Some(Some(Self::LABEL)),
            Self::UnknownResult => Some(None),
            _ => None,
        }
    }

    /// In words.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::InvalidPlan => "a plan against the configuration",
            Self::InvalidReplacement => "a plan that replaces because of an attribute that does not exist",
            Self::WrongType => "an answer of the wrong type",
            Self::InconsistentResult => "a result against the plan",
            Self::UnknownResult => "a result that is not known",
            Self::MissingResult => "no result",
            Self::ObjectRemains => "an object that remains",
        }
    }
}
