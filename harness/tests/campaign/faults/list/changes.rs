//! Faults that show only where a program changes something in place: each is in what only that change asks for. Scripts
//! know of a change by the program before, which they keep in the file `last`.

use equiform::spec::Drift;
use equiform_proto::faults::{FaultAction, FaultOperation};

use super::super::cases::changes as with;
use super::super::scenario::{drifts, fails_in, repairs_drift};
use super::At::Command;
use super::{Fault, With};

/// The faults.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "a new label is overlooked",
        seen_by: "attributes",
        case: with::label,
        at: Command("*"),
        script: r#"if [ -e last ] && grep -q '^  label' last; then
                   sed -i "s/^  label.*/$(grep '^  label' last)/" main.tf; fi; cp main.tf last; real "$@""#,
        only_with: Some(With::Change("label", with::nothing)),
    },
    Fault {
        name: "a new label is a replacement",
        seen_by: "steps",
        case: with::label,
        at: Command("apply*"),
        script: r#"touch last; old=$(grep '^  label' last); new=$(grep '^  label' main.tf); cp main.tf last
                   if [ "$old" ] && [ "$old" != "$new" ]; then set -- "$@" -replace=mock_node.b; fi; real "$@""#,
        only_with: Some(With::Change("label", with::nothing)),
    },
    Fault {
        name: "a new pin is overlooked",
        seen_by: "attributes",
        case: with::pin,
        at: Command("*"),
        script: r#"if [ -e last ] && grep -q '^  pin ' last; then
                   sed -i "s/^  pin .*/$(grep '^  pin ' last)/" main.tf; fi; cp main.tf last; real "$@""#,
        only_with: Some(With::Change("pin", with::nothing)),
    },
    Fault {
        name: "an ignored change is made",
        seen_by: "steps",
        case: with::ignored,
        at: Command("*"),
        script: r#"sed -i '/ignore_changes/d' main.tf; real "$@""#,
        only_with: Some(With::Change("ignore_changes", with::label)),
    },
    Fault {
        name: "an ignored label is not even created",
        seen_by: "attributes",
        case: with::ignored_from_the_beginning,
        at: Command("*"),
        script: r#"if grep -q ignore_changes main.tf; then sed -i '/^  label/d' main.tf; fi; real "$@""#,
        only_with: Some(With::Change("ignore_changes", with::label)),
    },
    Fault {
        name: "a trigger does not fire",
        seen_by: "steps",
        case: with::triggered,
        at: Command("*"),
        script: r#"sed -i '/replace_triggered_by = \[mock_node.a\]/d' main.tf; real "$@""#,
        only_with: Some(With::Change("triggered_by", with::triggered_by_label)),
    },
    Fault {
        name: "a trigger by a label does not fire",
        seen_by: "steps",
        case: with::triggered_by_label,
        at: Command("*"),
        script: r#"sed -i '/replace_triggered_by = \[mock_node.a.label\]/d' main.tf; real "$@""#,
        only_with: Some(With::Change("triggered_by_label", with::triggered)),
    },
    Fault {
        name: "a trigger by a label fires at any change",
        seen_by: "steps",
        case: with::not_triggered_by_label,
        at: Command("*"),
        script: r#"sed -i '/replace_triggered_by/s/\.label//' main.tf; real "$@""#,
        only_with: Some(With::Change("triggered_by_label", with::triggered)),
    },
    Fault {
        name: "a new create_before_destroy is overlooked",
        seen_by: "order",
        case: with::setting_comes,
        at: Command("*"),
        script: r#"if [ -e last ] && ! grep -q create_before_destroy last; then
                   sed -i '/create_before_destroy/d' main.tf; fi; cp main.tf last; real "$@""#,
        only_with: Some(With::Change("create_before_destroy comes", with::setting_stays)),
    },
    Fault {
        name: "a removed create_before_destroy is kept",
        seen_by: "order",
        case: with::setting_goes,
        at: Command("*"),
        script: r#"if [ -e last ] && grep -q create_before_destroy last && ! grep -q create_before_destroy main.tf
                   then sed -i '/"mock_node" "b"/a lifecycle {\n create_before_destroy = true\n }' main.tf; fi
                   cp main.tf last; real "$@""#,
        only_with: Some(With::Change("create_before_destroy goes", with::setting_stays)),
    },
    Fault {
        name: "an edge keeps its kind",
        seen_by: "attributes",
        case: with::kind,
        at: Command("*"),
        script: r#"if [ -e last ] && grep -q '^  refs' last; then sed -i 's/^  pinned_refs/  refs/' main.tf; fi
                   cp main.tf last; real "$@""#,
        only_with: Some(With::Change("kind of an edge", with::pinned_from_the_beginning)),
    },
    Fault {
        name: "a partial update is not stored in the state",
        seen_by: "state",
        case: with::label,
        at: Command("apply*"),
        script: r#"cp terraform.tfstate before 2>/dev/null; said "$@"; cat said
                   if grep -q apply_errored said && [ -e before ]; then mv before terraform.tfstate; fi; exit $code"#,
        only_with: Some(With::Workflow("failure", |it| {
            fails_in(it, FaultOperation::Update, "b", FaultAction::ErrorWithPartialObject)
        })),
    },
    Fault {
        name: "a drifted label is not repaired",
        seen_by: "steps",
        case: with::label,
        at: Command("apply -auto-approve*"),
        script: r#"real plan -input=false -json >said; if grep -q '"type":"resource_drift"' said
                   then real "$@" -refresh-only; else real "$@"; fi"#,
        only_with: Some(With::Workflow("drift", |it| {
            drifts(it, |key, change| key == "b" && matches!(change, Drift::Label(_))) && repairs_drift(it)
        })),
    },
];
