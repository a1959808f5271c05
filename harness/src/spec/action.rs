//! What an engine is asked to do in a stage.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::address::Address;

/// What an engine is asked to do with a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Plan and apply in one command.
    Apply(Options),
    /// Plan, and change nothing.
    Plan(Options),
    /// Apply the plan that the stage before has saved.
    ApplySaved(Options),
    /// Delete everything.
    Destroy(Options),
}

impl Action {
    /// Its options.
    pub fn options(&self) -> &Options {
        match self {
            Self::Apply(options)
            | Self::Plan(options)
            | Self::ApplySaved(options)
            | Self::Destroy(options) => options,
        }
    }

    /// Whether it may change the world.
    pub fn changes_the_world(&self) -> bool {
        !matches!(self, Self::Plan(_))
    }
}

/// How an action is done. By default as users do it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Resources that are replaced though nothing asks for it.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub replace: BTreeSet<Address>,
    /// Whether objects are read before anything is planned.
    #[serde(skip_serializing_if = "is_true")]
    pub refresh: bool,
    /// How many operations may be under way at once; none leaves it to the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallelism: Option<u32>,
    /// Whether a plan is saved, for [`Action::ApplySaved`] to follow.
    #[serde(skip_serializing_if = "is_false")]
    pub save: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { replace: BTreeSet::new(), refresh: true, parallelism: None, save: false }
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
        let replace = Options { replace: [Address::of_node("a")].into(), ..Options::default() };
        let action = Action::Plan(Options { refresh: false, parallelism: Some(1), ..replace });
        assert_eq!(json(&action), r#"{"plan":{"replace":["mock_node.a"],"refresh":false,"parallelism":1}}"#);
        assert_eq!(serde_json::from_str::<Action>(&json(&action)).unwrap(), action);
        assert!(serde_json::from_str::<Action>(r#"{"apply":{"refrehs":false}}"#).is_err());
    }
}
