//! Faults in what an engine prints: its messages, one by one and as a sequence, and what is not to be among them.

use super::super::cases::{chain, with_outputs};
use super::At::Stage;
use super::Fault;

/// The faults.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "a line is printed on standard error",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"real "$@"; code=$?; echo 'cache miss' >&2; exit $code"#,
    },
    Fault {
        name: "a data race is reported",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"real "$@"; code=$?; printf '=====\nWARNING: DATA RACE\nWrite at 0x00c0000\n' >&2; exit $code"#,
    },
    Fault {
        name: "a map is written by two threads at once",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"real "$@"; code=$?
                   printf 'fatal error: concurrent map writes\n\ngoroutine 7 [running]:\nmain.f()\n' >&2; exit $code"#,
    },
    Fault {
        name: "a warning appears that nothing gives a reason for",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"diagnostic='"diagnostic":{"severity":"warning","summary":"Old","detail":""}'
                   said "$@"; sed '1{p; s/"@level":"info"/"@level":"warn"/; s/"type":"version"/"type":"diagnostic"/
                   s/"@message":"[^"]*"/"@message":"Warning: Old",'"$diagnostic"'/}' said; exit $code"#,
    },
    Fault {
        name: "the summary of an apply is printed twice",
        seen_by: "plan",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed '/"operation":"apply"/p' said; exit $code"#,
    },
    Fault {
        name: "the plan has no summary",
        seen_by: "plan",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed '/"operation":"plan"/d' said; exit $code"#,
    },
    Fault {
        name: "the outputs are not reported",
        seen_by: "plan",
        case: with_outputs,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed '/"type":"outputs"/{/"value"/d}' said; exit $code"#,
    },
    Fault {
        name: "a move is announced that nobody asked for",
        seen_by: "plan",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed '/"type":"planned_change"/s/"action":"create"/"previous_resource":{"addr":"x.y"},&/
                   ' said; exit $code"#,
    },
    Fault {
        name: "an import is counted that nobody asked for",
        seen_by: "plan",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed '/"type":"change_summary"/s/"import":0/"import":1/' said; exit $code"#,
    },
    Fault {
        name: "a change is announced for another reason",
        seen_by: "plan",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed '/"type":"planned_change"/s/"action":"create"/&,"reason":"tainted"/
                   ' said; exit $code"#,
    },
    Fault {
        name: "an end is reported before its begin",
        seen_by: "progress",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"
                   awk '/"type":"apply_start"/{held=$0; next} {print} /"type":"apply_complete"/{print held}' said
                   exit $code"#,
    },
    Fault {
        name: "a planned change is announced twice",
        seen_by: "progress",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed '/"type":"planned_change"/p' said; exit $code"#,
    },
    Fault {
        name: "a read is not reported",
        seen_by: "progress",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed '/"type":"refresh_/d' said; exit $code"#,
    },
    Fault {
        name: "a read is reported that is not done",
        seen_by: "progress",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed '/"type":"refresh_/p' said; exit $code"#,
    },
    Fault {
        name: "a message has another name than its address",
        seen_by: "progress",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed 's/"resource_name":"[a-z]*"/"resource_name":"other"/' said; exit $code"#,
    },
    Fault {
        name: "a message names another resource to people",
        seen_by: "progress",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed 's/"@message":"mock_node[.][a-z]*:/"@message":"mock_node.other:/' said; exit $code"#,
    },
    Fault {
        name: "a message tells people of another operation",
        seen_by: "progress",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed 's/: Creating/: Destroying/' said; exit $code"#,
    },
    Fault {
        name: "a summary has other numbers for people",
        seen_by: "progress",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed 's/complete! Resources: [0-9]*/complete! Resources: 77/' said; exit $code"#,
    },
    Fault {
        name: "a message is of a kind that does not exist",
        seen_by: "progress",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed '1{p; s/"type":"version"/"type":"telemetry"/}' said; exit $code"#,
    },
    Fault {
        name: "the engine introduces itself as another version",
        seen_by: "progress",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; sed '1s/[0-9]*[.][0-9]*[.][0-9]*"/9.0.0"/g' said; exit $code"#,
    },
    Fault {
        name: "a completed create is called a failed one in words",
        seen_by: "progress",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"said "$@"; sed 's/: Creation complete/: Creation failed/' said; exit $code"#,
    },
    Fault {
        name: "an operation takes an hour by its message",
        seen_by: "progress",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"said "$@"; sed 's/"elapsed_seconds":0/"elapsed_seconds":3600/' said; exit $code"#,
    },
    Fault {
        name: "there is an empty line among the messages",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"said "$@"; echo; cat said; exit $code"#,
    },
    Fault {
        name: "messages name an object by another attribute",
        seen_by: "progress",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"said "$@"; sed 's/"id_key":"id"/"id_key":"name"/' said; exit $code"#,
    },
    Fault {
        name: "an end is reported after the begin of what waits for it",
        seen_by: "progress",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"said "$@"
                   awk '/"apply_complete"/ && /"mock_node.a"/ {
                          end = $0; match($0, /"@timestamp":"[^"]*"/); time = substr($0, RSTART, RLENGTH); next }
                        end && /"apply_start"/ && /"mock_node.b"/ {
                          sub(/"@timestamp":"[^"]*"/, time); print; print end; end = ""; next }
                        { print }' said; exit $code"#,
    },
];
