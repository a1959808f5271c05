//! Faults in what an engine answers to queries, which changes nothing and is seen by nobody else.

use super::super::cases::{chain, with_outputs};
use super::super::scenario::any;
use super::At::Command;
use super::{Fault, With};

/// The faults.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "a state is shown without an object",
        seen_by: "queries",
        case: chain,
        at: Command("show -json"),
        script: r#"said "$@"
                   sed 's/{"address":"mock_node.b".*{"address":"mock_node.c"/{"address":"mock_node.c"/' said
                   exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "an object is shown with another value",
        seen_by: "queries",
        case: chain,
        at: Command("show -json"),
        script: r#"said "$@"; sed 's/"revision":1/"revision":7/' said; exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "a saved plan is shown without its changes",
        seen_by: "queries",
        case: chain,
        at: Command("show -json saved.tfplan"),
        script: r#"said "$@"; sed 's/"actions":\["[a-z]*"\]/"actions":["no-op"]/g' said; exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "an output is shown with another value",
        seen_by: "queries",
        case: with_outputs,
        at: Command("output*"),
        script: r#"said "$@"; sed 's/node-[a-z0-9]*/node-other/' said; exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "an address is missing in the list",
        seen_by: "queries",
        case: chain,
        at: Command("state list"),
        script: r#"real "$@" | tail -n +2"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "the graph lacks a dependency",
        seen_by: "queries",
        case: chain,
        at: Command("graph"),
        script: r#"said "$@"; sed '/mock_node.c.* -> .*mock_node.b/d' said; exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "a valid program is called invalid",
        seen_by: "queries",
        case: chain,
        at: Command("validate*"),
        script: r#"said "$@"; sed 's/"valid": *true/"valid":false/' said; exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "a saved plan is shown with a value that nobody knows yet",
        seen_by: "queries",
        case: chain,
        at: Command("show -json saved.tfplan"),
        script: r#"said "$@"; sed 's/"revision":true/"revision":false/' said; exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "a plan for people lacks a resource",
        seen_by: "queries",
        case: chain,
        at: Command("show -no-color saved.tfplan"),
        script: r#"said "$@"; sed '/ resource "mock_node" /d' said; exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "a plan for people has another count",
        seen_by: "queries",
        case: chain,
        at: Command("show -no-color saved.tfplan"),
        script: r#"said "$@"; sed 's/^Plan: [0-9]*/Plan: 9/' said; exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "a state for people lacks an object",
        seen_by: "queries",
        case: chain,
        at: Command("show -no-color"),
        script: r#"said "$@"; sed '/^# mock_node.b:/d' said; exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "a copy of the state has another serial",
        seen_by: "queries",
        case: chain,
        at: Command("state pull"),
        script: r#"said "$@"; sed 's/"serial": *[0-9]*/"serial":99/' said; exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "another provider is shown than is needed",
        seen_by: "queries",
        case: chain,
        at: Command("providers"),
        script: r#"said "$@"; sed 's,equiform/mock,equiform/other,' said; exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "a state is shown without dependencies",
        seen_by: "queries",
        case: chain,
        at: Command("show -json"),
        only_with: Some(With::Workflow("queries", any)),
        script: r#"said "$@"; sed 's/"depends_on":\[[^]]*\]/"depends_on":[]/g' said; exit $code"#,
    },
    Fault {
        name: "a valid program has a warning",
        seen_by: "queries",
        case: chain,
        at: Command("validate*"),
        only_with: Some(With::Workflow("queries", any)),
        script: r#"said "$@"; sed 's/"warning_count": *0/"warning_count":1/' said; exit $code"#,
    },
    Fault {
        name: "an output is shown as a secret",
        seen_by: "queries",
        case: with_outputs,
        at: Command("output*"),
        only_with: Some(With::Workflow("queries", any)),
        script: r#"said "$@"; sed 's/"sensitive": *false/"sensitive":true/' said; exit $code"#,
    },
    Fault {
        name: "a saved plan is shown that starts from another state",
        seen_by: "queries",
        case: chain,
        at: Command("show -json saved.tfplan"),
        script: r#"said "$@"; sed 's/\("prior_state":.*\)"revision":1/\1"revision":7/' said; exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "a saved plan is shown as one that failed",
        seen_by: "queries",
        case: chain,
        at: Command("show -json saved.tfplan"),
        script: r#"said "$@"; sed 's/"errored":false/"errored":true/' said; exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
    Fault {
        name: "a saved plan is shown with another program",
        seen_by: "queries",
        case: chain,
        at: Command("show -json saved.tfplan"),
        script: r#"said "$@"
                   sed 's/\("configuration":.*\)"mock_node.b.id","mock_node.b"/\1"mock_node.a.id","mock_node.a"/' said
                   exit $code"#,
        only_with: Some(With::Workflow("queries", any)),
    },
];
