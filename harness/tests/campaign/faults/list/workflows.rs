//! Faults that show only where an engine is driven by a workflow: each is in what only that workflow asks for.

use super::super::cases::changes::REPAIRED_AT_ONCE;
use super::super::cases::{apart, by_order, chain, long_by_order, removal};
use super::At::Command;
use super::{Fault, With};

/// In the stages of a variant: a drift is refreshed, and not by a saved plan.
const REFRESHED: &str = r#"{"name":"drift-refreshed","action":{"refresh""#;

/// In the stages of a variant: the second batch comes with a cycle.
const CYCLE: &str = r#"{"broken":{"batch":2,"defect":{"cycle""#;

/// See the module.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "a stale plan file is planned again and applied",
        seen_by: "health",
        case: chain,
        at: Command("apply*saved.tfplan"),
        script: r#"said "$@"; if grep -q stale said; then real apply -auto-approve -input=false -json; else
                   cat said; exit $code; fi"#,
        only_with: Some(With::Workflow("saved-plan", &["batch-2-stale"])),
    },
    Fault {
        name: "the plan that is saved is not the one that is shown",
        seen_by: "steps",
        case: chain,
        at: Command("plan*-out=*"),
        script: r#"said "$@"; cat said
                   real plan -input=false -out=saved.tfplan -replace=mock_node.a >/dev/null; exit $code"#,
        only_with: Some(With::Workflow("saved-plan", &[])),
    },
    Fault {
        name: "a plan with changes has the exit code of one without",
        seen_by: "plan",
        case: chain,
        at: Command("plan*"),
        script: r#"real "$@"; code=$?; if [ $code = 2 ]; then exit 0; fi; exit $code"#,
        only_with: Some(With::Workflow("saved-plan", &[])),
    },
    Fault {
        name: "a saved plan is made again when it is applied",
        seen_by: "plan",
        case: chain,
        at: Command("apply*saved.tfplan"),
        script: r#"if grep -qs "$(md5sum <saved.tfplan)" applied; then real "$@"; else
                   md5sum <saved.tfplan >>applied
                   real apply -auto-approve -input=false -json -refresh=false; fi"#,
        only_with: Some(With::Workflow("saved-plan", &[])),
    },
    Fault {
        name: "a saved plan forgets what was to be replaced",
        seen_by: "steps",
        case: chain,
        at: Command("plan*-replace=*-out=*"),
        script: r#"said "$@"; cat said; without '-replace=*' "$@" >/dev/null; exit $code"#,
        only_with: Some(With::Workflow("saved-options", &[r#""replace":[""#])),
    },
    Fault {
        name: "a saved plan forgets its targets",
        seen_by: "steps",
        case: chain,
        at: Command("plan*-target=*-out=*"),
        script: r#"said "$@"; cat said; without '-target=*' "$@" >/dev/null; exit $code"#,
        only_with: Some(With::Workflow("saved-options", &[r#""target":["a"]"#])),
    },
    Fault {
        name: "a resource is forgotten with -refresh=false",
        seen_by: "steps",
        case: chain,
        at: Command("apply*-refresh=false*"),
        script: r#"sed -i '/"mock_node" "c"/,/^}/d' main.tf; real "$@""#,
        only_with: Some(With::Workflow("no-refresh", &[])),
    },
    Fault {
        name: "-refresh=false is ignored",
        seen_by: "requests",
        case: chain,
        at: Command("apply*-refresh=false*"),
        script: r#"without -refresh=false "$@""#,
        only_with: Some(With::Workflow("no-refresh", &[])),
    },
    Fault {
        name: "-parallelism is ignored",
        seen_by: "order",
        case: apart,
        at: Command("*-parallelism=*"),
        script: r#"without '-parallelism=*' "$@""#,
        only_with: Some(With::Workflow("parallelism", &[r#"{"apply":{"parallelism":1}}"#])),
    },
    Fault {
        name: "-parallelism=1 is taken as permission to begin anywhere",
        seen_by: "order",
        case: long_by_order,
        at: Command("apply*-parallelism=1"),
        script: r#"cp main.tf whole; sed -i '/depends_on/d' main.tf; real "$@"
                   cp whole main.tf; real "$@" >/dev/null"#,
        only_with: Some(With::Workflow("parallelism", &[r#"{"apply":{"parallelism":1}}"#])),
    },
    Fault {
        name: "a refresh forgets dependencies",
        seen_by: "state",
        case: chain,
        at: Command("apply*-refresh-only*"),
        script: r#"real "$@"; sed -i '/"dependencies": \[/,/\]/{/mock_node/d}' terraform.tfstate"#,
        only_with: Some(With::Workflow("refresh-only", &[])),
    },
    Fault {
        name: "a refresh replaces",
        seen_by: "steps",
        case: chain,
        at: Command("apply*-refresh-only*"),
        script: r#"without -refresh-only "$@" -replace=mock_node.a"#,
        only_with: Some(With::Workflow("refresh-only", &[])),
    },
    Fault {
        name: "-target is ignored",
        seen_by: "steps",
        case: chain,
        at: Command("apply*-target=*"),
        script: r#"without '-target=*' "$@""#,
        only_with: Some(With::Workflow(
            "targets",
            &[r#""batch-2-part-1","action":{"apply":{"target":["a"]"#],
        )),
    },
    Fault {
        name: "the last of several -target is forgotten",
        seen_by: "steps",
        case: chain,
        at: Command("apply*-target=*-target=*"),
        script: r#"without "${*##* }" "$@""#,
        only_with: Some(With::Workflow("targets", &[r#""target":["a","b","c"]"#])),
    },
    Fault {
        name: "a target does not include what it depends on",
        seen_by: "steps",
        case: long_by_order,
        at: Command("apply*-target=*"),
        script: r#"sed -i '/depends_on/d' main.tf; real "$@""#,
        only_with: Some(With::Workflow("targets", &[r#""target":["j"]"#])),
    },
    Fault {
        name: "there is no warning that a target is only a part",
        seen_by: "health",
        case: chain,
        at: Command("*-target=*"),
        script: r#"said "$@"; grep -v '"@level":"warn"' said; exit $code"#,
        only_with: Some(With::Workflow("targets", &[])),
    },
    Fault {
        name: "-replace is ignored",
        seen_by: "steps",
        case: chain,
        at: Command("apply*-replace=*"),
        script: r#"without '-replace=*' "$@""#,
        only_with: Some(With::Workflow("replace", &[])),
    },
    Fault {
        name: "the last of several -replace is forgotten",
        seen_by: "steps",
        case: by_order,
        at: Command("apply*-replace=*-replace=*"),
        script: r#"without "${*##* }" "$@""#,
        only_with: Some(With::Workflow("replace", &[r#""replace":["a","b"]"#])),
    },
    Fault {
        name: "taint marks nothing",
        seen_by: "state",
        case: chain,
        at: Command("taint*"),
        script: "echo done",
        only_with: Some(With::Workflow("taint", &[])),
    },
    Fault {
        name: "untaint leaves the mark",
        seen_by: "state",
        case: chain,
        at: Command("untaint*"),
        script: "echo done",
        only_with: Some(With::Workflow("taint", &["untaint-"])),
    },
    Fault {
        name: "an apply after one that had nothing to do is skipped",
        seen_by: "steps",
        case: chain,
        at: Command("apply -auto-approve*"),
        script: r#"{ echo "$*"; cat main.tf; } >now
                   if [ -e idle ] && ! cmp -s now last; then exit 0; fi
                   said "$@"; cat said
                   if cmp -s now last && ! grep -q apply_start said; then touch idle; fi
                   mv now last; exit $code"#,
        only_with: Some(With::Workflow("twice", &[])),
    },
    Fault {
        name: "a program that was deployed before is assumed to be deployed",
        seen_by: "steps",
        case: removal,
        at: Command("apply -auto-approve*"),
        script: r#"sum=$(md5sum <main.tf); touch seen
                   if [ "$sum" != "$(tail -n 1 seen)" ] && grep -q "$sum" seen; then exit 0; fi
                   echo "$sum" >>seen; real "$@""#,
        only_with: Some(With::Workflow("back", &[])),
    },
    Fault {
        name: "a program without resources leaves an object",
        seen_by: "destroy",
        case: chain,
        at: Command("apply*"),
        script: r#"if grep -q '^resource' main.tf; then real "$@"; else real "$@" -target=mock_node.c; fi"#,
        only_with: Some(With::Workflow("empty-program", &[])),
    },
    Fault {
        name: "destroy -target destroys everything",
        seen_by: "steps",
        case: chain,
        at: Command("destroy*-target=*"),
        script: r#"without '-target=*' "$@""#,
        only_with: Some(With::Workflow("destroy-by-pieces", &[r#""target":["c"]"#])),
    },
    Fault {
        name: "destroy -target leaves its dependents",
        seen_by: "steps",
        case: chain,
        at: Command("destroy*-target=*"),
        script: r#"sed -i '/refs/d' main.tf; sed -i '/"dependencies": \[/,/\]/{/mock_node/d}' terraform.tfstate
                   real "$@""#,
        only_with: Some(With::Workflow("destroy-by-pieces", &[r#""target":["a"]"#])),
    },
    Fault {
        name: "a program with a dangling reference is applied anyway",
        seen_by: "steps",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; cat said
                   if grep -q 'undeclared resource' said; then sed -i '/nowhere/d' main.tf; real "$@" >/dev/null; fi
                   exit $code"#,
        only_with: Some(With::Workflow("refused", &["dangling"])),
    },
    Fault {
        name: "a cycle is refused and the state rewritten",
        seen_by: "state",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; cat said; if grep -q 'Cycle: ' said && [ -e terraform.tfstate ]
                   then echo >>terraform.tfstate; fi; exit $code"#,
        only_with: Some(With::Workflow("refused", &[CYCLE])),
    },
    Fault {
        name: "prevent_destroy is ignored",
        seen_by: "health",
        case: chain,
        at: Command("*"),
        script: r#"sed -i '/prevent_destroy/d' main.tf; real "$@""#,
        only_with: Some(With::Workflow("refused", &["destroy-refused"])),
    },
    // In the place of chance: the seed by which operations are held, another one in each stage.
    Fault {
        name: "a race loses an edge",
        seen_by: "repeat",
        case: chain,
        at: Command("apply*"),
        script: r#"case $EQUIFORM_HOLD in *1) sed -i '/"mock_node" "c"/,/^}/{/refs/d}' main.tf;; esac; real "$@""#,
        only_with: Some(With::Workflow("repeat", &[])),
    },
    Fault {
        name: "what is no longer in the folder is assumed deleted",
        seen_by: "repeat",
        case: chain,
        at: Command("apply*"),
        script: r#"if [ -e terraform.tfstate ] && ! [ -e cache ]; then set -- "$@" -replace=mock_node.a; fi
                   touch cache; real "$@""#,
        only_with: Some(With::Workflow("repeat", &[])),
    },
    Fault {
        name: "a failure of the provider is not reported",
        seen_by: "health",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; if ! grep -q apply_errored said; then cat said; exit $code; fi
                   sed '/"@level":"error"/d' said"#,
        only_with: Some(With::Workflow("failure", &[r#""action":"error"}"#])),
    },
    Fault {
        name: "what failed is retried immediately",
        seen_by: "steps",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; cat said; if grep -q apply_errored said; then real "$@" >/dev/null; fi; exit $code"#,
        only_with: Some(With::Workflow("failure", &[r#""action":"error"}"#])),
    },
    Fault {
        name: "a failure does not stop what depends on it",
        seen_by: "steps",
        case: by_order,
        at: Command("apply*"),
        script: r#"said "$@"; cat said; if grep -q apply_errored said; then
                   sed -i '/depends_on/d' main.tf; real "$@" -target=mock_node.b >/dev/null; fi; exit $code"#,
        only_with: Some(With::Workflow(
            "failure",
            &[r#"{"operation":"create","key":"a"},"action":"error"}"#],
        )),
    },
    Fault {
        name: "a partially created object is forgotten",
        seen_by: "conservation",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; cat said
                   if grep -q apply_errored said; then real state rm mock_node.b >/dev/null; fi; exit $code"#,
        only_with: Some(With::Workflow(
            "failure",
            &[r#"{"operation":"create","key":"b"},"action":"error_with_partial_object""#],
        )),
    },
    Fault {
        name: "a partially created object is not tainted",
        seen_by: "state",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; cat said
                   if grep -q apply_errored said; then real untaint mock_node.b >/dev/null; fi; exit $code"#,
        only_with: Some(With::Workflow(
            "failure",
            &[r#"{"operation":"create","key":"b"},"action":"error_with_partial_object""#],
        )),
    },
    Fault {
        name: "a plan does not report drift",
        seen_by: "plan",
        case: chain,
        at: Command("plan*"),
        script: r#"said "$@"; sed '/resource_drift/d' said; exit $code"#,
        only_with: Some(With::Workflow("drift", &[r#"{"label":"drifted"}"#])),
    },
    Fault {
        name: "a plan with -refresh=false reads objects anyway",
        seen_by: "plan",
        case: chain,
        at: Command("plan*-refresh=false*"),
        script: r#"without -refresh=false "$@""#,
        only_with: Some(With::Workflow("drift", &[r#"{"pin":"drifted"}"#])),
    },
    Fault {
        name: "drift is not stored in the state",
        seen_by: "state",
        case: chain,
        at: Command("apply*-refresh-only*"),
        script: r#"cp terraform.tfstate before; real "$@"; mv before terraform.tfstate"#,
        only_with: Some(With::Workflow("drift", &[r#"{"label":"drifted"}"#, REFRESHED])),
    },
    Fault {
        name: "a deleted object stays in the state",
        seen_by: "state",
        case: chain,
        at: Command("apply*-refresh-only*"),
        script: r#"cp terraform.tfstate before; real "$@"; mv before terraform.tfstate"#,
        only_with: Some(With::Workflow("drift", &[r#""gone""#, REFRESHED])),
    },
    Fault {
        name: "a deleted object is not created again",
        seen_by: "steps",
        case: chain,
        at: Command("apply -auto-approve*"),
        script: r#"real plan -input=false -json >said; if grep -q '"type":"resource_drift"' said; then
                   real "$@" -refresh-only; else real "$@"; fi"#,
        only_with: Some(With::Workflow("drift", &[r#""gone""#, REPAIRED_AT_ONCE])),
    },
];
