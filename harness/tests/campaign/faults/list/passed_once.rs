//! What passed once, or could pass while the faults in `kinds` are seen.

use super::super::cases::{chain, long_by_order, removed_by_order, updates};
use super::At::Stage;
use super::Fault;

/// See the module.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "a create is not waited for",
        seen_by: "order",
        case: long_by_order,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"cp main.tf whole; sed -i '/depends_on/d' main.tf; real "$@"
                   cp whole main.tf; real "$@" >/dev/null"#,
    },
    Fault {
        name: "an update is not waited for",
        seen_by: "order",
        case: updates,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"cp main.tf whole; sed -i '/depends_on/d' main.tf; real "$@"
                   cp whole main.tf; real "$@" >/dev/null"#,
    },
    Fault {
        name: "a delete is not waited for",
        seen_by: "order",
        case: long_by_order,
        at: Stage("destroy"),
        only_with: None,
        script: r#"sed -i '/depends_on/d' main.tf
                   sed -i '/"dependencies": \[/,/\]/{/mock_node/d}' terraform.tfstate; real "$@""#,
    },
    Fault {
        name: "a delete amid a batch is not waited for",
        seen_by: "order",
        case: removed_by_order,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"sed -i '/"dependencies": \[/,/\]/{/mock_node/d}' terraform.tfstate; real "$@""#,
    },
    Fault {
        name: "the engine ends before the provider has answered",
        seen_by: "health",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"export EQUIFORM_HOLD=500ms; "$engine" "$@" & pid=$!
                   until grep -qs '"op":"create","phase":"begin"' "$EQUIFORM_LEDGER"; do sleep 0.01; done
                   kill -9 $pid; exit 0"#,
    },
    Fault {
        name: "a plan replaces for real",
        seen_by: "steps",
        case: chain,
        at: Stage("cross"),
        only_with: None,
        script: r#"real apply -auto-approve -input=false -replace=mock_node.c >/dev/null; real "$@""#,
    },
    Fault {
        name: "a plan writes the state anew",
        seen_by: "state",
        case: chain,
        at: Stage("cross"),
        only_with: None,
        script: r#"real "$@"; code=$?; echo >>terraform.tfstate; exit $code"#,
    },
    Fault {
        name: "destroy takes a detour",
        seen_by: "steps",
        case: chain,
        at: Stage("destroy"),
        only_with: None,
        script: r#"real apply -auto-approve -input=false -replace=mock_node.c >/dev/null; real "$@""#,
    },
    Fault {
        name: "attributes are garbled",
        seen_by: "attributes",
        case: chain,
        at: Stage("*"),
        only_with: None,
        script: r#"sed -i 's/^  key .*/&\n  label = "garbage"\n  pin = "garbage"/' main.tf; real "$@""#,
    },
    Fault {
        name: "reference attributes are swapped",
        seen_by: "attributes",
        case: chain,
        at: Stage("*"),
        only_with: None,
        script: r#"sed -i 's/^  refs /  pinned_refs /' main.tf; real "$@""#,
    },
    Fault {
        name: "a plan is made from a stale object",
        seen_by: "requests",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"sed -i 's/"label": null/"label": "old"/' terraform.tfstate; real "$@" -refresh=false"#,
    },
    Fault {
        name: "private data of two objects is swapped",
        seen_by: "requests",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"value() { grep -o '"private": "[^"]*"' terraform.tfstate | sed -n "$1p"; }
                   one=$(value 1); two=$(value 2)
                   sed -i "s|$one|@|; s|$two|$one|; s|@|$two|" terraform.tfstate; real "$@""#,
    },
    Fault {
        name: "nothing is refreshed",
        seen_by: "requests",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"real "$@" -refresh=false"#,
    },
    Fault {
        name: "the state is truncated",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"real "$@"; truncate -s 300 terraform.tfstate"#,
    },
    Fault {
        name: "the state is emptied by a panic in the first apply",
        seen_by: "health",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#": >terraform.tfstate; echo 'panic: runtime error' >&2; exit 2"#,
    },
    Fault {
        name: "the state is doubled",
        seen_by: "health",
        case: chain,
        at: Stage("idle"),
        only_with: None,
        script: r#"real "$@"; cat terraform.tfstate terraform.tfstate >twice; mv twice terraform.tfstate"#,
    },
    Fault {
        name: "the state has an older serial",
        seen_by: "state",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"real "$@"; sed -i 's/"serial": [0-9]*/"serial": 0/' terraform.tfstate"#,
    },
    Fault {
        name: "the state has another lineage",
        seen_by: "state",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"real "$@"; sed -i 's/"lineage": "[0-9a-f]*/"lineage": "00000000/' terraform.tfstate"#,
    },
    Fault {
        name: "the idle apply rewrites the state",
        seen_by: "state",
        case: chain,
        at: Stage("idle"),
        only_with: None,
        script: r#"real "$@"; sed -i 's/"schema_version": 1/"schema_version": 0/' terraform.tfstate"#,
    },
    Fault {
        name: "a cycle is reported that names nothing",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"echo '{"@level":"error","@message":"Error: Cycle: ","type":"diagnostic"}'; exit 1"#,
    },
    Fault {
        name: "something else is printed among the messages",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"real "$@"; echo 'debug: done'"#,
    },
    Fault {
        name: "a failed apply forgets what it created",
        seen_by: "conservation",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"cp terraform.tfstate old; real "$@"; mv old terraform.tfstate; exit 1"#,
    },
    Fault {
        name: "objects are deleted twice",
        seen_by: "conservation",
        case: chain,
        at: Stage("destroy"),
        only_with: None,
        script: r#"cp terraform.tfstate old; real "$@"; cp terraform.tfstate new; mv old terraform.tfstate
                   real destroy -auto-approve -input=false -refresh=false >/dev/null; mv new terraform.tfstate"#,
    },
];
