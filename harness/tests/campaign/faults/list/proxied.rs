//! Faults in what an engine sends to its provider and reads of the answers, which no script around an engine can
//! commit: `examples/fault_proxy` is between the two. Fields are those of `proto/proto/tfplugin6.proto`.

use super::super::cases::{apart, chain, removal};
use super::At::Stage;
use super::Fault;

/// The faults.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "every change is sent twice",
        seen_by: "steps",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"proxied twice:ApplyResourceChange "$@""#,
    },
    Fault {
        name: "a change is sent without the private data of its plan",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"proxied forget:ApplyResourceChange:5 "$@""#,
    },
    Fault {
        name: "the private data of a new object is not kept",
        seen_by: "health",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"proxied ignore:ApplyResourceChange:2 "$@""#,
    },
    Fault {
        name: "objects are assumed to be as stored, and are not read",
        seen_by: "requests",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"proxied "assume:ReadResource:2:1 assume:ReadResource:3:3" "$@""#,
    },
    Fault {
        name: "an object is read as another one than it is",
        seen_by: "plan",
        case: removal,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"proxied misread:ReadResource:node-:nude- "$@""#,
    },
    Fault {
        name: "deletes are sent, and their answers are not waited for",
        seen_by: "order",
        case: chain,
        at: Stage("destroy"),
        only_with: None,
        script: r#"proxied hurry:ApplyResourceChange:3:1 "$@""#,
    },
    Fault {
        name: "deletes are reported and never sent",
        seen_by: "destroy",
        case: apart,
        at: Stage("destroy"),
        only_with: None,
        script: r#"proxied assume:ApplyResourceChange:3:1 "$@""#,
    },
    Fault {
        name: "every object is read three times",
        seen_by: "requests",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"proxied times:ReadResource:3 "$@""#,
    },
    Fault {
        name: "every resource is validated ten times",
        seen_by: "requests",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"proxied times:ValidateResourceConfig:10 "$@""#,
    },
    Fault {
        name: "an object is planned before it is read",
        seen_by: "requests",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"proxied late:ReadResource:2=1,3=3,6=5 "$@""#,
    },
    Fault {
        name: "twenty calls are under way at once",
        seen_by: "requests",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"proxied burst:ReadResource:20 "$@""#,
    },
];
