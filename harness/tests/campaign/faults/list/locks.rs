//! Faults in how an engine keeps others from its state, and is kept from it.

use super::super::cases::chain;
use super::super::scenario::any;
use super::At::{Command, Stage};
use super::{Fault, With};

/// The faults that plain programs show.
pub const PLAIN: &[Fault] = &[
    Fault {
        name: "the state is not locked while it changes",
        seen_by: "requests",
        case: chain,
        at: Command("apply*"),
        script: r#"real "$@" -lock=false"#,
        only_with: None,
    },
    Fault {
        name: "the state is not locked while a plan is made",
        seen_by: "requests",
        case: chain,
        at: Command("plan*"),
        script: r#"real "$@" -lock=false"#,
        only_with: None,
    },
];

/// The faults that show where another command holds the lock.
pub const SPECIAL: &[Fault] = &[
    Fault {
        name: "a lock that another command holds is ignored",
        seen_by: "health",
        case: chain,
        at: Stage("destroy-locked"),
        script: r#"real "$@" -lock=false"#,
        only_with: Some(With::Workflow("locked", any)),
    },
    Fault {
        name: "a lock that another command holds is removed",
        seen_by: "health",
        case: chain,
        at: Stage("destroy-locked"),
        script: r#"said "$@"; rm .terraform.tfstate.lock.info; cat said; exit $code"#,
        only_with: Some(With::Workflow("locked", any)),
    },
    Fault {
        name: "a command that is refused for a lock refreshes the state",
        seen_by: "health",
        case: chain,
        at: Stage("destroy-locked"),
        script: r#"said "$@"; real plan -lock=false -input=false -json; exit $code"#,
        only_with: Some(With::Workflow("locked", any)),
    },
];
