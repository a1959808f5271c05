//! Old objects that a failed apply has left, and that the next one deletes.

use super::super::cases::changes::{old_object, old_object_pinned};
use super::super::scenario::fails_in;
use super::At::Command;
use super::{Fault, With};
use equiform_proto::faults::{FaultAction, FaultOperation};

/// The faults.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "an old object is deleted without regard to dependencies",
        seen_by: "order",
        case: old_object,
        at: Command("apply*"),
        script: r#"if grep -qs '"deposed"' terraform.tfstate; then set -- "$@" -refresh=false
                   sed -i '/"dependencies": \[/,/\]/{/mock_node/d}' terraform.tfstate; fi; real "$@""#,
        only_with: Some(With::Workflow("failure", |it| {
            fails_in(it, FaultOperation::Update, "b", FaultAction::Error)
        })),
    },
    Fault {
        name: "old objects are deleted before everything else",
        seen_by: "order",
        case: old_object,
        at: Command("apply*"),
        script: r#"if grep -qs '"deposed"' terraform.tfstate; then
                   cp main.tf whole; cp terraform.tfstate old; real state rm mock_node.b >/dev/null
                   sed -i '/"mock_node" "b"/,/^}/d' main.tf; real "$@" >/dev/null
                   cp whole main.tf; mv old terraform.tfstate; fi; real "$@""#,
        only_with: Some(With::Workflow("failure", |it| {
            fails_in(it, FaultOperation::Update, "b", FaultAction::Error)
        })),
    },
    Fault {
        name: "an old object is deleted before its dependent is replaced",
        seen_by: "order",
        case: old_object_pinned,
        at: Command("apply*"),
        script: r#"if grep -qs '"deposed"' terraform.tfstate; then
                   cp main.tf whole; cp terraform.tfstate old; real state rm mock_node.b >/dev/null
                   sed -i '/"mock_node" "b"/,/^}/d' main.tf; real "$@" >/dev/null
                   cp whole main.tf; mv old terraform.tfstate; fi; real "$@""#,
        only_with: Some(With::Workflow("failure", |it| {
            fails_in(it, FaultOperation::Create, "b", FaultAction::Error)
        })),
    },
];
