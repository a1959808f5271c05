//! The faults, as data: what a script around a real engine does wrong, and the oracle that has to see it.

use equiform::case::Case;

use super::cases::{by_order, chain, long_by_order, removal, removed_by_order, updates};

/// A fault: shell text that stands in for the engine's command in some stages of a case. `real` runs the
/// engine, which is at `$engine`; `"$@"` are its arguments.
pub struct Fault {
    pub name: &'static str,
    /// The oracle that sees it, whatever others see.
    pub seen_by: &'static str,
    /// What is deployed.
    pub case: fn() -> Case,
    /// A shell pattern.
    pub stages: &'static str,
    pub script: &'static str,
}

pub const FAULTS: &[Fault] = &[
    Fault {
        name: "a reference gives another resource's id",
        seen_by: "graph",
        case: chain,
        stages: "*",
        script: r#"refs='[mock_node.a.id]\n  depends_on = [mock_node.b]'
                   sed -i "/\"mock_node\" \"c\"/,/^}/s/refs = .*/refs = $refs/" main.tf
                   real "$@""#,
    },
    Fault {
        name: "a resource is dropped from the program",
        seen_by: "steps",
        case: chain,
        stages: "batch-2",
        script: r#"sed -i '/"mock_node" "c"/,/^}/d' main.tf; real "$@""#,
    },
    Fault {
        name: "an edge is dropped from the program",
        seen_by: "graph",
        case: chain,
        stages: "batch-2",
        script: r#"sed -i '/"mock_node" "c"/,/^}/{/refs/d}' main.tf; real "$@""#,
    },
    Fault {
        name: "a state entry is removed",
        seen_by: "state",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; real state rm mock_node.c >/dev/null"#,
    },
    Fault {
        name: "a state entry is duplicated",
        seen_by: "state",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; cp terraform.tfstate copy
                   real state mv -state=copy -state-out=terraform.tfstate mock_node.c mock_node.d >/dev/null"#,
    },
    Fault {
        name: "a state entry is renamed",
        seen_by: "state",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; real state mv mock_node.c mock_node.d >/dev/null"#,
    },
    Fault {
        name: "a state entry has a stale attribute",
        seen_by: "state",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; sed -i 's/"label": null/"label": "old"/' terraform.tfstate"#,
    },
    Fault {
        name: "a dependency is renamed in the state",
        seen_by: "state",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; sed -i 's/"mock_node.a"/"mock_node.z"/' terraform.tfstate"#,
    },
    Fault { name: "an apply is skipped", seen_by: "steps", case: chain, stages: "batch-2", script: "exit 0" },
    Fault {
        name: "an apply is run twice",
        seen_by: "plan",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@" && real "$@""#,
    },
    Fault {
        name: "a create is replayed",
        seen_by: "steps",
        case: chain,
        stages: "batch-2",
        script: r#"cp terraform.tfstate before; real "$@"; cp before terraform.tfstate; real "$@" >/dev/null"#,
    },
    Fault {
        name: "a delete is replayed",
        seen_by: "steps",
        case: removal,
        stages: "batch-2",
        script: r#"cp terraform.tfstate before; real "$@"; cp before terraform.tfstate
                   real "$@" -refresh=false >/dev/null"#,
    },
    Fault {
        name: "a stale plan is applied",
        seen_by: "steps",
        case: chain,
        stages: "batch-1|batch-2",
        script: r#"case $EQUIFORM_RUN in
                   batch-1) real plan -input=false -out=stale >/dev/null; real "$@";;
                   batch-2) mv terraform.tfstate aside; real apply -input=false -json stale;;
                   esac"#,
    },
    Fault {
        name: "-target is slipped in",
        seen_by: "steps",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@" -target=mock_node.b"#,
    },
    Fault {
        name: "a replacement nobody asked for",
        seen_by: "steps",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@" -replace=mock_node.b"#,
    },
    Fault {
        name: "parallel where order is due",
        seen_by: "order",
        case: long_by_order,
        stages: "batch-1",
        script: r#"cp main.tf whole; sed -i '/depends_on/d' main.tf; real "$@"
                   cp whole main.tf; real "$@" >/dev/null"#,
    },
    Fault {
        name: "a dependent is created before its dependency",
        seen_by: "order",
        case: by_order,
        stages: "batch-1",
        script: r#"cp main.tf whole; sed -i '/"mock_node" "a"/,/^}/d; /depends_on/d' main.tf; real "$@"
                   cp whole main.tf; real "$@""#,
    },
    Fault {
        name: "the plan announces something else",
        seen_by: "plan",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@" | sed '/planned_change/s/"action":"create"/"action":"delete"/'"#,
    },
    Fault {
        name: "the summary miscounts",
        seen_by: "plan",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@" | sed '/"operation":"apply"/s/"add":1/"add":2/'"#,
    },
    Fault {
        name: "the idle apply replaces",
        seen_by: "idle",
        case: chain,
        stages: "idle",
        script: r#"real "$@" -replace=mock_node.c"#,
    },
    Fault {
        name: "the other variant's plan replaces",
        seen_by: "cross",
        case: chain,
        stages: "cross",
        script: r#"real "$@" -replace=mock_node.c"#,
    },
    Fault {
        name: "destroy does nothing",
        seen_by: "destroy",
        case: chain,
        stages: "destroy",
        script: "exit 0",
    },
    Fault {
        name: "destroy leaves a part",
        seen_by: "destroy",
        case: chain,
        stages: "destroy",
        script: r#"real "$@" -target=mock_node.c"#,
    },
    Fault {
        name: "destroy keeps the state",
        seen_by: "destroy",
        case: chain,
        stages: "destroy",
        script: r#"cp terraform.tfstate before; real "$@"; cp before terraform.tfstate"#,
    },
    Fault {
        name: "a panic is printed",
        seen_by: "health",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; echo 'panic: runtime error' >&2"#,
    },
    Fault {
        name: "an error is reported with exit code 0",
        seen_by: "health",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; echo '{"@level":"error","@message":"Error: out of luck","type":"diagnostic"}'"#,
    },
    Fault {
        name: "the lock is left",
        seen_by: "health",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; touch .terraform.tfstate.lock.info"#,
    },
    Fault {
        name: "the exit code is wrong",
        seen_by: "health",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; exit 1"#,
    },
    // In the first stage: with the short timeout that this fault is given, no real engine is waited for.
    Fault {
        name: "the engine hangs",
        seen_by: "health",
        case: chain,
        stages: "batch-1",
        script: "sleep 1000",
    },
    // Below: what passed once, or could pass while all that is above is seen.
    Fault {
        name: "a create is not waited for",
        seen_by: "order",
        case: long_by_order,
        stages: "batch-1",
        script: r#"cp main.tf whole; sed -i '/depends_on/d' main.tf; real "$@"
                   cp whole main.tf; real "$@" >/dev/null"#,
    },
    Fault {
        name: "an update is not waited for",
        seen_by: "order",
        case: updates,
        stages: "batch-2",
        script: r#"cp main.tf whole; sed -i '/depends_on/d' main.tf; real "$@"
                   cp whole main.tf; real "$@" >/dev/null"#,
    },
    Fault {
        name: "a delete is not waited for",
        seen_by: "order",
        case: long_by_order,
        stages: "destroy",
        script: r#"sed -i '/depends_on/d' main.tf
                   sed -i '/"dependencies": \[/,/\]/{/mock_node/d}' terraform.tfstate; real "$@""#,
    },
    Fault {
        name: "a delete amid a batch is not waited for",
        seen_by: "order",
        case: removed_by_order,
        stages: "batch-2",
        script: r#"sed -i '/"dependencies": \[/,/\]/{/mock_node/d}' terraform.tfstate; real "$@""#,
    },
    Fault {
        name: "the engine ends before the provider has answered",
        seen_by: "health",
        case: chain,
        stages: "batch-1",
        script: r#"export EQUIFORM_HOLD=500ms; "$engine" "$@" & pid=$!
                   until grep -qs '"op":"create","phase":"begin"' "$EQUIFORM_LEDGER"; do sleep 0.01; done
                   kill -9 $pid; exit 0"#,
    },
    Fault {
        name: "a plan replaces for real",
        seen_by: "steps",
        case: chain,
        stages: "cross",
        script: r#"real apply -auto-approve -input=false -replace=mock_node.c >/dev/null; real "$@""#,
    },
    Fault {
        name: "a plan writes the state anew",
        seen_by: "state",
        case: chain,
        stages: "cross",
        script: r#"real "$@"; code=$?; echo >>terraform.tfstate; exit $code"#,
    },
    Fault {
        name: "destroy takes a detour",
        seen_by: "steps",
        case: chain,
        stages: "destroy",
        script: r#"real apply -auto-approve -input=false -replace=mock_node.c >/dev/null; real "$@""#,
    },
    Fault {
        name: "attributes are garbled",
        seen_by: "attributes",
        case: chain,
        stages: "*",
        script: r#"sed -i 's/^  key .*/&\n  label = "garbage"\n  pin = "garbage"/' main.tf; real "$@""#,
    },
    Fault {
        name: "reference attributes are swapped",
        seen_by: "attributes",
        case: chain,
        stages: "*",
        script: r#"sed -i 's/^  refs /  pinned_refs /' main.tf; real "$@""#,
    },
    Fault {
        name: "a plan is made from a stale object",
        seen_by: "requests",
        case: chain,
        stages: "batch-2",
        script: r#"sed -i 's/"label": null/"label": "old"/' terraform.tfstate; real "$@" -refresh=false"#,
    },
    Fault {
        name: "private data of two objects is swapped",
        seen_by: "requests",
        case: chain,
        stages: "batch-2",
        script: r#"value() { grep -o '"private": "[^"]*"' terraform.tfstate | sed -n "$1p"; }
                   one=$(value 1); two=$(value 2)
                   sed -i "s|$one|@|; s|$two|$one|; s|@|$two|" terraform.tfstate; real "$@""#,
    },
    Fault {
        name: "nothing is refreshed",
        seen_by: "requests",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@" -refresh=false"#,
    },
    Fault {
        name: "the state is truncated",
        seen_by: "health",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; truncate -s 300 terraform.tfstate"#,
    },
    Fault {
        name: "the state is emptied by a panic in the first apply",
        seen_by: "health",
        case: chain,
        stages: "batch-1",
        script: r#": >terraform.tfstate; echo 'panic: runtime error' >&2; exit 2"#,
    },
    Fault {
        name: "the state is doubled",
        seen_by: "health",
        case: chain,
        stages: "idle",
        script: r#"real "$@"; cat terraform.tfstate terraform.tfstate >twice; mv twice terraform.tfstate"#,
    },
    Fault {
        name: "the state has an older serial",
        seen_by: "state",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; sed -i 's/"serial": [0-9]*/"serial": 0/' terraform.tfstate"#,
    },
    Fault {
        name: "the state has another lineage",
        seen_by: "state",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; sed -i 's/"lineage": "[0-9a-f]*/"lineage": "00000000/' terraform.tfstate"#,
    },
    Fault {
        name: "the idle apply rewrites the state",
        seen_by: "state",
        case: chain,
        stages: "idle",
        script: r#"real "$@"; sed -i 's/"schema_version": 1/"schema_version": 0/' terraform.tfstate"#,
    },
    Fault {
        name: "a cycle is reported that names nothing",
        seen_by: "health",
        case: chain,
        stages: "batch-2",
        script: r#"echo '{"@level":"error","@message":"Error: Cycle: ","type":"diagnostic"}'; exit 1"#,
    },
    Fault {
        name: "something else is printed among the messages",
        seen_by: "health",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; echo 'debug: done'"#,
    },
    Fault {
        name: "a failed apply forgets what it created",
        seen_by: "conservation",
        case: chain,
        stages: "batch-2",
        script: r#"cp terraform.tfstate old; real "$@"; mv old terraform.tfstate; exit 1"#,
    },
    Fault {
        name: "objects are deleted twice",
        seen_by: "conservation",
        case: chain,
        stages: "destroy",
        script: r#"cp terraform.tfstate old; real "$@"; cp terraform.tfstate new; mv old terraform.tfstate
                   real destroy -auto-approve -input=false -refresh=false >/dev/null; mv new terraform.tfstate"#,
    },
];
