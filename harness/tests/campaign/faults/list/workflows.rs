//! Faults that show only where an engine is driven by a workflow: each is in what only that workflow asks for.

use equiform::case::stage::Defect;
use equiform::spec::Drift;
use equiform_proto::faults::{FaultAction, FaultOperation};

use super::super::cases::{apart, by_order, chain, long_by_order, removal};
use super::super::scenario::{
    any, applies_one_by_one, begins_with_targets, drifts, fails, fails_in, refreshes_drift, refuses,
    refuses_a_stale_plan, refuses_to_destroy, repairs_drift, replaces, replaces_any, targets, unmarks,
};
use super::At::Command;
use super::{Fault, With};

/// The faults.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "a stale plan file is planned again and applied",
        seen_by: "health",
        case: chain,
        at: Command("apply*saved.tfplan"),
        script: r#"said "$@"; if grep -q stale said; then real apply -auto-approve -input=false -json; else
                   cat said; exit $code; fi"#,
        only_with: Some(With::Workflow("saved-plan", |it| refuses_a_stale_plan(it, 2))),
    },
    Fault {
        name: "the plan that is saved is not the one that is shown",
        seen_by: "steps",
        case: chain,
        at: Command("plan*-out=*"),
        script: r#"said "$@"; cat said
                   real plan -input=false -out=saved.tfplan -replace=mock_node.a >/dev/null; exit $code"#,
        only_with: Some(With::Workflow("saved-plan", any)),
    },
    Fault {
        name: "a plan with changes has the exit code of one without",
        seen_by: "plan",
        case: chain,
        at: Command("plan*"),
        script: r#"real "$@"; code=$?; if [ $code = 2 ]; then exit 0; fi; exit $code"#,
        only_with: Some(With::Workflow("saved-plan", any)),
    },
    Fault {
        name: "a saved plan is made again when it is applied",
        seen_by: "plan",
        case: chain,
        at: Command("apply*saved.tfplan"),
        script: r#"if grep -qs "$(md5sum <saved.tfplan)" applied; then real "$@"; else
                   md5sum <saved.tfplan >>applied
                   real apply -auto-approve -input=false -json -refresh=false; fi"#,
        only_with: Some(With::Workflow("saved-plan", any)),
    },
    Fault {
        name: "a saved plan forgets what was to be replaced",
        seen_by: "steps",
        case: chain,
        at: Command("plan*-replace=*-out=*"),
        script: r#"said "$@"; cat said; without '-replace=*' "$@" >/dev/null; exit $code"#,
        only_with: Some(With::Workflow("saved-options", replaces_any)),
    },
    Fault {
        name: "a saved plan forgets its targets",
        seen_by: "steps",
        case: chain,
        at: Command("plan*-target=*-out=*"),
        script: r#"said "$@"; cat said; without '-target=*' "$@" >/dev/null; exit $code"#,
        only_with: Some(With::Workflow("saved-options", |it| targets(it, &["a"]))),
    },
    Fault {
        name: "a resource is forgotten with -refresh=false",
        seen_by: "steps",
        case: chain,
        at: Command("apply*-refresh=false*"),
        script: r#"sed -i '/"mock_node" "c"/,/^}/d' main.tf; real "$@""#,
        only_with: Some(With::Workflow("no-refresh", any)),
    },
    Fault {
        name: "-refresh=false is ignored",
        seen_by: "requests",
        case: chain,
        at: Command("apply*-refresh=false*"),
        script: r#"without -refresh=false "$@""#,
        only_with: Some(With::Workflow("no-refresh", any)),
    },
    Fault {
        name: "-parallelism is ignored",
        seen_by: "order",
        case: apart,
        at: Command("*-parallelism=*"),
        script: r#"without '-parallelism=*' "$@""#,
        only_with: Some(With::Workflow("parallelism", applies_one_by_one)),
    },
    Fault {
        name: "-parallelism=1 is taken as permission to begin anywhere",
        seen_by: "order",
        case: long_by_order,
        at: Command("apply*-parallelism=1"),
        script: r#"cp main.tf whole; sed -i '/depends_on/d' main.tf; real "$@"
                   cp whole main.tf; real "$@" >/dev/null"#,
        only_with: Some(With::Workflow("parallelism", applies_one_by_one)),
    },
    Fault {
        name: "a refresh forgets dependencies",
        seen_by: "state",
        case: chain,
        at: Command("apply*-refresh-only*"),
        script: r#"real "$@"; sed -i '/"dependencies": \[/,/\]/{/mock_node/d}' terraform.tfstate"#,
        only_with: Some(With::Workflow("refresh-only", any)),
    },
    Fault {
        name: "a refresh replaces",
        seen_by: "steps",
        case: chain,
        at: Command("apply*-refresh-only*"),
        script: r#"without -refresh-only "$@" -replace=mock_node.a"#,
        only_with: Some(With::Workflow("refresh-only", any)),
    },
    Fault {
        name: "-target is ignored",
        seen_by: "steps",
        case: chain,
        at: Command("apply*-target=*"),
        script: r#"without '-target=*' "$@""#,
        only_with: Some(With::Workflow("targets", |it| begins_with_targets(it, 2, &["a"]))),
    },
    Fault {
        name: "what no target reaches is read",
        seen_by: "requests",
        case: chain,
        at: Command("apply*-target=*"),
        script: r#"real plan -refresh-only -input=false >/dev/null; real "$@""#,
        only_with: Some(With::Workflow("targets", |it| begins_with_targets(it, 2, &["a"]))),
    },
    Fault {
        name: "the last of several -target is forgotten",
        seen_by: "steps",
        case: chain,
        at: Command("apply*-target=*-target=*"),
        script: r#"without "${*##* }" "$@""#,
        only_with: Some(With::Workflow("targets", |it| targets(it, &["a", "b", "c"]))),
    },
    Fault {
        name: "a target does not include what it depends on",
        seen_by: "steps",
        case: long_by_order,
        at: Command("apply*-target=*"),
        script: r#"sed -i '/depends_on/d' main.tf; real "$@""#,
        only_with: Some(With::Workflow("targets", |it| targets(it, &["j"]))),
    },
    Fault {
        name: "there is no warning that a target is only a part",
        seen_by: "health",
        case: chain,
        at: Command("*-target=*"),
        script: r#"said "$@"; grep -v '"@level":"warn"' said; exit $code"#,
        only_with: Some(With::Workflow("targets", any)),
    },
    Fault {
        name: "-replace is ignored",
        seen_by: "steps",
        case: chain,
        at: Command("apply*-replace=*"),
        script: r#"without '-replace=*' "$@""#,
        only_with: Some(With::Workflow("replace", any)),
    },
    Fault {
        name: "the last of several -replace is forgotten",
        seen_by: "steps",
        case: by_order,
        at: Command("apply*-replace=*-replace=*"),
        script: r#"without "${*##* }" "$@""#,
        only_with: Some(With::Workflow("replace", |it| replaces(it, &["a", "b"]))),
    },
    Fault {
        name: "taint marks nothing",
        seen_by: "state",
        case: chain,
        at: Command("taint*"),
        script: "echo done",
        only_with: Some(With::Workflow("taint", any)),
    },
    Fault {
        name: "untaint leaves the mark",
        seen_by: "state",
        case: chain,
        at: Command("untaint*"),
        script: "echo done",
        only_with: Some(With::Workflow("taint", unmarks)),
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
        only_with: Some(With::Workflow("twice", any)),
    },
    Fault {
        name: "a program that was deployed before is assumed to be deployed",
        seen_by: "steps",
        case: removal,
        at: Command("apply -auto-approve*"),
        script: r#"sum=$(md5sum <main.tf); touch seen
                   if [ "$sum" != "$(tail -n 1 seen)" ] && grep -q "$sum" seen; then exit 0; fi
                   echo "$sum" >>seen; real "$@""#,
        only_with: Some(With::Workflow("back", any)),
    },
    Fault {
        name: "a program without resources leaves an object",
        seen_by: "destroy",
        case: chain,
        at: Command("apply*"),
        script: r#"if grep -q '^resource' main.tf; then real "$@"; else real "$@" -target=mock_node.c; fi"#,
        only_with: Some(With::Workflow("empty-program", any)),
    },
    Fault {
        name: "destroy -target destroys everything",
        seen_by: "steps",
        case: chain,
        at: Command("destroy*-target=*"),
        script: r#"without '-target=*' "$@""#,
        only_with: Some(With::Workflow("destroy-by-pieces", |it| targets(it, &["c"]))),
    },
    Fault {
        name: "destroy -target leaves its dependents",
        seen_by: "steps",
        case: chain,
        at: Command("destroy*-target=*"),
        script: r#"sed -i '/refs/d' main.tf; sed -i '/"dependencies": \[/,/\]/{/mock_node/d}' terraform.tfstate
                   real "$@""#,
        only_with: Some(With::Workflow("destroy-by-pieces", |it| targets(it, &["a"]))),
    },
    Fault {
        name: "a program with a dangling reference is applied anyway",
        seen_by: "steps",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; cat said
                   if grep -q 'undeclared resource' said; then sed -i '/nowhere/d' main.tf; real "$@" >/dev/null; fi
                   exit $code"#,
        only_with: Some(With::Workflow("refused", |it| {
            refuses(it, |_, defect| matches!(defect, Defect::Dangling { .. }))
        })),
    },
    Fault {
        name: "a cycle is refused and the state rewritten",
        seen_by: "state",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; cat said; if grep -q 'Cycle:' said && [ -e terraform.tfstate ]
                   then echo >>terraform.tfstate; fi; exit $code"#,
        only_with: Some(With::Workflow("refused", |it| {
            refuses(it, |batch, defect| batch == 2 && matches!(defect, Defect::Cycle { .. }))
        })),
    },
    Fault {
        name: "prevent_destroy is ignored",
        seen_by: "health",
        case: chain,
        at: Command("*"),
        script: r#"sed -i '/prevent_destroy/d' main.tf; real "$@""#,
        only_with: Some(With::Workflow("refused", refuses_to_destroy)),
    },
    // In the place of chance: the seed by which operations are held, another one in each stage.
    Fault {
        name: "a race loses an edge",
        seen_by: "repeat",
        case: chain,
        at: Command("apply*"),
        script: r#"case $EQUIFORM_HOLD in *1) sed -i '/"mock_node" "c"/,/^}/{/refs/d}' main.tf;; esac; real "$@""#,
        only_with: Some(With::Workflow("repeat", any)),
    },
    Fault {
        name: "what is no longer in the folder is assumed deleted",
        seen_by: "repeat",
        case: chain,
        at: Command("apply*"),
        script: r#"if [ -e terraform.tfstate ] && ! [ -e cache ]; then set -- "$@" -replace=mock_node.a; fi
                   touch cache; real "$@""#,
        only_with: Some(With::Workflow("repeat", any)),
    },
    Fault {
        name: "a failure of the provider is not reported",
        seen_by: "health",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; if ! grep -q apply_errored said; then cat said; exit $code; fi
                   sed '/"@level":"error"/d' said"#,
        only_with: Some(With::Workflow("failure", |it| fails(it, FaultAction::Error))),
    },
    Fault {
        name: "what failed is retried immediately",
        seen_by: "steps",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; cat said; if grep -q apply_errored said; then real "$@" >/dev/null; fi; exit $code"#,
        only_with: Some(With::Workflow("failure", |it| fails(it, FaultAction::Error))),
    },
    Fault {
        name: "a failure does not stop what depends on it",
        seen_by: "steps",
        case: by_order,
        at: Command("apply*"),
        script: r#"said "$@"; cat said; if grep -q apply_errored said; then
                   sed -i '/depends_on/d' main.tf; real "$@" -target=mock_node.b >/dev/null; fi; exit $code"#,
        only_with: Some(With::Workflow("failure", |it| {
            fails_in(it, FaultOperation::Create, "a", FaultAction::Error)
        })),
    },
    Fault {
        name: "a partially created object is forgotten",
        seen_by: "conservation",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; cat said
                   if grep -q apply_errored said; then real state rm mock_node.b >/dev/null; fi; exit $code"#,
        only_with: Some(With::Workflow("failure", |it| {
            fails_in(it, FaultOperation::Create, "b", FaultAction::ErrorWithPartialObject)
        })),
    },
    Fault {
        name: "a partially created object is not tainted",
        seen_by: "state",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; cat said
                   if grep -q apply_errored said; then real untaint mock_node.b >/dev/null; fi; exit $code"#,
        only_with: Some(With::Workflow("failure", |it| {
            fails_in(it, FaultOperation::Create, "b", FaultAction::ErrorWithPartialObject)
        })),
    },
    Fault {
        name: "a plan does not report drift",
        seen_by: "plan",
        case: chain,
        at: Command("plan*"),
        script: r#"said "$@"; sed '/resource_drift/d' said; exit $code"#,
        only_with: Some(With::Workflow("drift", |it| {
            drifts(it, |_, change| matches!(change, Drift::Label(Some(_))))
        })),
    },
    Fault {
        name: "a plan with -refresh=false reads objects anyway",
        seen_by: "plan",
        case: chain,
        at: Command("plan*-refresh=false*"),
        script: r#"without -refresh=false "$@""#,
        only_with: Some(With::Workflow("drift", |it| {
            drifts(it, |_, change| matches!(change, Drift::Pin(Some(_))))
        })),
    },
    Fault {
        name: "drift is not stored in the state",
        seen_by: "state",
        case: chain,
        at: Command("apply*-refresh-only*"),
        script: r#"cp terraform.tfstate before; real "$@"; mv before terraform.tfstate"#,
        only_with: Some(With::Workflow("drift", |it| {
            drifts(it, |_, change| matches!(change, Drift::Label(Some(_)))) && refreshes_drift(it)
        })),
    },
    Fault {
        name: "a deleted object stays in the state",
        seen_by: "state",
        case: chain,
        at: Command("apply*-refresh-only*"),
        script: r#"cp terraform.tfstate before; real "$@"; mv before terraform.tfstate"#,
        only_with: Some(With::Workflow("drift", |it| {
            drifts(it, |_, change| *change == Drift::Gone) && refreshes_drift(it)
        })),
    },
    Fault {
        name: "a deleted object is not created again",
        seen_by: "steps",
        case: chain,
        at: Command("apply -auto-approve*"),
        script: r#"real plan -input=false -json >said; if grep -q '"type":"resource_drift"' said; then
                   real "$@" -refresh-only; else real "$@"; fi"#,
        only_with: Some(With::Workflow("drift", |it| {
            drifts(it, |_, change| *change == Drift::Gone) && repairs_drift(it)
        })),
    },
    Fault {
        name: "a failed apply counts its plan wrong",
        seen_by: "plan",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; if [ $code = 0 ]; then cat said; else
                   sed '/"operation":"plan"/{s/"add":[0-9]*/"add":9/; s/: [0-9]* to add/: 9 to add/}' said; fi
                   exit $code"#,
        only_with: Some(With::Workflow("failure", |it| fails(it, FaultAction::Error))),
    },
    Fault {
        name: "something else is printed after a failure",
        seen_by: "health",
        case: chain,
        at: Command("apply*"),
        script: r#"real "$@"; code=$?; [ $code = 0 ] || echo 'rolling back'; exit $code"#,
        only_with: Some(With::Workflow("failure", |it| fails(it, FaultAction::Error))),
    },
    Fault {
        name: "an error names another resource",
        seen_by: "health",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; sed 's/"address":"mock_node[.][a-z]*"/"address":"mock_node.other"/' said; exit $code"#,
        only_with: Some(With::Workflow("failure", |it| {
            fails_in(it, FaultOperation::Create, "a", FaultAction::Error)
        })),
    },
    Fault {
        name: "an error points to another place in the program",
        seen_by: "progress",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; sed 's/"start":{"line":[0-9]*/"start":{"line":1/' said; exit $code"#,
        only_with: Some(With::Workflow("refused", |it| {
            refuses(it, |_, defect| matches!(defect, Defect::UnknownArgument { .. }))
        })),
    },
    Fault {
        name: "drift is found, and the exit code denies it",
        seen_by: "plan",
        case: chain,
        at: Command("plan*-refresh-only*"),
        script: r#"real "$@"; code=$?; if [ $code = 2 ]; then exit 0; fi; exit $code"#,
        only_with: Some(With::Workflow("drift", any)),
    },
    Fault {
        name: "an empty plan has the exit code of one with changes",
        seen_by: "plan",
        case: chain,
        at: Command("plan*-refresh=false*"),
        script: r#"real "$@"; code=$?; if [ $code = 0 ]; then exit 2; fi; exit $code"#,
        only_with: Some(With::Workflow("drift", any)),
    },
];
