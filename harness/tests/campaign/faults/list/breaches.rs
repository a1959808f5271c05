//! Faults that show only where the provider breaks its contract, or fails where most workflows let it be.

use equiform::case::stage::Stage;
use equiform::spec::Drift;
use equiform_proto::faults::{Breach, FaultAction, FaultOperation};

use super::super::cases::{apart, chain};
use super::super::scenario::{drifts_at, fails_at, fails_in};
use super::At::{Command, Stage as InStage};
use super::{Fault, With};

/// The faults.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "a result against the plan is accepted",
        seen_by: "health",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; if grep -q 'inconsistent result' said; then
                   sed '/"@level":"error"/d' said; exit 0; fi; cat said; exit $code"#,
        only_with: Some(With::Workflow("breach", |it| {
            breaks(it, FaultOperation::Create, "b", Breach::InconsistentResult)
        })),
    },
    Fault {
        name: "an invalid plan is made again and applied",
        seen_by: "health",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; if grep -q 'invalid plan' said; then real "$@"; else cat said; exit $code; fi"#,
        only_with: Some(With::Workflow("breach", |it| {
            breaks(it, FaultOperation::Plan, "b", Breach::InvalidPlan)
        })),
    },
    Fault {
        name: "a replacement because of an attribute that does not exist is accepted",
        seen_by: "health",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; if grep -q 'requires replacement' said; then real "$@"; else
                   cat said; exit $code; fi"#,
        only_with: Some(With::Workflow("breach", |it| {
            breaks(it, FaultOperation::Plan, "a", Breach::InvalidReplacement)
        })),
    },
    Fault {
        name: "another resource is blamed for what the provider did",
        seen_by: "health",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; sed '/Provider returned invalid/s/mock_node\.b/mock_node.a/g' said; exit $code"#,
        only_with: Some(With::Workflow("breach", |it| {
            breaks(it, FaultOperation::Create, "b", Breach::UnknownResult)
        })),
    },
    Fault {
        name: "an object that was made against the plan is not tainted",
        seen_by: "state",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; cat said
                   if grep -q 'inconsistent result' said; then real untaint mock_node.b >/dev/null; fi; exit $code"#,
        only_with: Some(With::Workflow("breach", |it| {
            breaks(it, FaultOperation::Create, "b", Breach::InconsistentResult)
        })),
    },
    Fault {
        name: "an object with an unknown value is forgotten",
        seen_by: "conservation",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; cat said
                   if grep -q 'invalid result' said; then real state rm mock_node.b >/dev/null; fi; exit $code"#,
        only_with: Some(With::Workflow("breach", |it| {
            breaks(it, FaultOperation::Create, "b", Breach::UnknownResult)
        })),
    },
    Fault {
        name: "an object that remains after its delete is forgotten",
        seen_by: "conservation",
        case: chain,
        at: Command("destroy*"),
        script: r#"said "$@"; cat said
                   if grep -q 'invalid result' said; then real state rm mock_node.a >/dev/null; fi; exit $code"#,
        only_with: Some(With::Workflow("breach", |it| {
            fails_at(it, "destroy-breach", FaultOperation::Delete, "a")
        })),
    },
    Fault {
        name: "nothing else is done once the provider breaks its contract",
        seen_by: "steps",
        case: apart,
        at: InStage("batch-1-breach"),
        script: r#"real "$@" -target=mock_node.b"#,
        only_with: Some(With::Workflow("breach", |it| {
            breaks(it, FaultOperation::Create, "b", Breach::MissingResult)
        })),
    },
    Fault {
        name: "a saved plan succeeds although an operation failed",
        seen_by: "health",
        case: chain,
        at: Command("apply*saved.tfplan"),
        script: r#"said "$@"; sed '/"@level":"error"/d' said; exit 0"#,
        only_with: Some(With::Workflow("failure-elsewhere", |it| {
            let plans = it.iter().any(|stage| stage.name == "batch-1-plan");
            plans && fails_at(it, "batch-1-fails", FaultOperation::Create, "a")
        })),
    },
    Fault {
        name: "an object is forgotten whose delete failed",
        seen_by: "conservation",
        case: chain,
        at: Command("destroy*"),
        script: r#"said "$@"; cat said
                   if grep -q apply_errored said; then real state rm mock_node.b >/dev/null; fi; exit $code"#,
        only_with: Some(With::Workflow("failure-elsewhere", |it| {
            fails_at(it, "destroy-fails", FaultOperation::Delete, "b")
        })),
    },
    Fault {
        name: "a destroy continues without the object that cannot be read",
        seen_by: "health",
        case: chain,
        at: Command("destroy*"),
        script: r#"said "$@"; if grep -q 'told to fail' said && ! grep -q apply_start said; then
                   real "$@"; else cat said; exit $code; fi"#,
        only_with: Some(With::Workflow("failure-elsewhere", |it| {
            let destroys = |stage: &Stage| matches!(stage.action, equiform::spec::Action::Destroy(_));
            it.iter().any(|stage| stage.name == "unreadable" && destroys(stage))
        })),
    },
    Fault {
        name: "of two failures one is reported",
        seen_by: "progress",
        case: apart,
        at: Command("apply*"),
        script: r#"said "$@"; if [ $(grep -c apply_errored said) -gt 1 ]; then
                   sed '/mock_node.b.*apply_errored/d' said; else cat said; fi
                   exit $code"#,
        only_with: Some(With::Workflow("failure-elsewhere", |it| {
            fails_at(it, "batch-1-fails", FaultOperation::Create, "a")
                && fails_at(it, "batch-1-fails", FaultOperation::Create, "b")
                && it.iter().all(|stage| stage.name != "batch-1-plan")
        })),
    },
    Fault {
        name: "of two failures one has an error",
        seen_by: "health",
        case: apart,
        at: Command("apply*"),
        script: r#"said "$@"; if [ $(grep -c apply_errored said) -gt 1 ]; then
                   sed '/"@level":"error".*create of ."b/d' said; else cat said; fi
                   exit $code"#,
        only_with: Some(With::Workflow("failure-elsewhere", |it| {
            fails_at(it, "batch-1-fails", FaultOperation::Create, "a")
                && fails_at(it, "batch-1-fails", FaultOperation::Create, "b")
                && it.iter().all(|stage| stage.name != "batch-1-plan")
        })),
    },
    Fault {
        name: "what is gone already is deleted all the same",
        seen_by: "steps",
        case: chain,
        at: Command("destroy*"),
        script: r#"real plan -input=false -json >said
                   if grep -q '"type":"resource_drift"' said; then real "$@" -refresh=false; else real "$@"; fi"#,
        only_with: Some(With::Workflow("drift-of-several", |it| {
            drifts_at(it, "drift-at-end-1", |_, change| *change == Drift::Gone)
        })),
    },
    Fault {
        name: "of several objects that have drifted only one is reported",
        seen_by: "plan",
        case: chain,
        at: Command("plan*"),
        script: r#"said "$@"; awk '/"type":"resource_drift"/ { if (seen++) next } { print }' said; exit $code"#,
        only_with: Some(With::Workflow("drift-of-several", |it| {
            let label = |_: &str, change: &Drift| matches!(change, Drift::Label(Some(_)));
            drifts_at(it, "drift-1", label) && drifts_at(it, "drift-2", label)
        })),
    },
    Fault {
        name: "of several objects that are gone one is not created again",
        seen_by: "steps",
        case: apart,
        at: InStage("drift-repaired"),
        script: r#"real "$@" -target=mock_node.a"#,
        only_with: Some(With::Workflow("drift-of-several", |it| {
            let gone = |_: &str, change: &Drift| *change == Drift::Gone;
            drifts_at(it, "drift-1", |key, change| key == "a" && gone(key, change))
                && drifts_at(it, "drift-2", gone)
        })),
    },
];

/// The provider breaks its contract in this way.
fn breaks(stages: &[Stage], operation: FaultOperation, key: &str, breach: Breach) -> bool {
    fails_in(stages, operation, key, FaultAction::Breach(breach))
}
