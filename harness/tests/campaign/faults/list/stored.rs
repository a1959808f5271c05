//! What a state holds beside the attributes of objects. Most of these damages are repaired by the next apply.

use super::super::cases::changes::old_object;
use super::super::cases::{chain, with_outputs};
use super::super::scenario::{any, fails, fails_in, refreshes_drift};
use super::At::{Command, Stage};
use super::{Fault, With};
use equiform_proto::faults::{FaultAction, FaultOperation};

/// The faults that plain programs show.
pub const PLAIN: &[Fault] = &[
    Fault {
        name: "an older schema version is stored",
        seen_by: "state",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"real "$@"; sed -i 's/"schema_version": 1/"schema_version": 0/' terraform.tfstate"#,
    },
    Fault {
        name: "an attribute is stored as a secret",
        seen_by: "state",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"real "$@"; path='[[{"type": "get_attr", "value": "label"}]]'
                   sed -i "s/\"sensitive_attributes\": \[\]/\"sensitive_attributes\": $path/" terraform.tfstate"#,
    },
    Fault {
        name: "a resource without objects is stored",
        seen_by: "state",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"real "$@"
                   provider=$(sed -n 's/^      "provider": \(.*\),$/\1/p' terraform.tfstate | head -n 1)
                   empty='{"mode": "managed", "type": "mock_node", "name": "z", "instances": [], "provider": '
                   export one="$empty$provider},"
                   awk '{ print } /^  "resources": \[$/ { print ENVIRON["one"] }' terraform.tfstate >more
                   mv more terraform.tfstate"#,
    },
    Fault {
        name: "a resource is stored twice",
        seen_by: "state",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"real "$@"
                   provider=$(sed -n 's/^      "provider": \(.*\),$/\1/p' terraform.tfstate | head -n 1)
                   empty='{"mode": "managed", "type": "mock_node", "name": "a", "instances": [], "provider": '
                   export one="$empty$provider},"
                   awk '{ print } /^  "resources": \[$/ { print ENVIRON["one"] }' terraform.tfstate >more
                   mv more terraform.tfstate"#,
    },
    Fault {
        name: "the serial jumps",
        seen_by: "state",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"real "$@"; sed -i 's/"serial": /&1/' terraform.tfstate"#,
    },
    Fault {
        name: "results of checks are stored that there are not",
        seen_by: "state",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"real "$@"; sed -i 's/"check_results": null/"check_results": []/' terraform.tfstate"#,
    },
    Fault {
        name: "an output is stored with another type",
        seen_by: "state",
        case: with_outputs,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"real "$@"; sed -i -e ':all' -e 'N; $!b all' \
                     -e 's/"object",\n *{\n *"id": "string",\n *"label": "string"\n *}/"map", "string"/g' \
                     terraform.tfstate"#,
    },
    Fault {
        name: "an output is stored as a secret",
        seen_by: "state",
        case: with_outputs,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"real "$@"; sed -i 's/^      "type": \[/      "sensitive": true,\n&/' terraform.tfstate"#,
    },
    Fault {
        name: "the state names another version of the engine",
        seen_by: "state",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"real "$@"; sed -i 's/"terraform_version": "1/"terraform_version": "0/' terraform.tfstate"#,
    },
    Fault {
        name: "the state has a field that nobody knows",
        seen_by: "state",
        case: chain,
        at: Stage("batch-1"),
        only_with: None,
        script: r#"real "$@"; sed -i 's/^  "serial"/  "checksum": "0",\n&/' terraform.tfstate"#,
    },
];

/// The faults that need more than that.
pub const SPECIAL: &[Fault] = &[
    Fault {
        name: "a part of a program gives the setting to all resources",
        seen_by: "state",
        case: chain,
        at: Command("apply*-target=*"),
        script: r#"real "$@"; sed -i 's/"private": /"create_before_destroy": true, &/' terraform.tfstate"#,
        only_with: Some(With::Workflow("targets", any)),
    },
    Fault {
        name: "an apply that fails forgets dependencies",
        seen_by: "state",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; cat said; if grep -q apply_errored said
                   then sed -i '/"dependencies": \[/,/\]/{/mock_node/d}' terraform.tfstate; fi; exit $code"#,
        only_with: Some(With::Workflow("failure", |it| {
            fails_in(it, FaultOperation::Create, "c", FaultAction::Error)
        })),
    },
    Fault {
        name: "an apply that fails gives the setting to all resources",
        seen_by: "state",
        case: chain,
        at: Command("apply*"),
        script: r#"said "$@"; cat said; if grep -q apply_errored said
                   then sed -i 's/"private": /"create_before_destroy": true, &/' terraform.tfstate; fi; exit $code"#,
        only_with: Some(With::Workflow("failure", |it| {
            fails_in(it, FaultOperation::Create, "c", FaultAction::Error)
        })),
    },
    Fault {
        name: "an apply that fails stores outputs of other objects",
        seen_by: "state",
        case: with_outputs,
        at: Command("apply*"),
        script: r#"said "$@"; cat said; if grep -q apply_errored said
                   then sed -i '/^  "outputs": {/,/^  "resources"/s/"node-/"edge-/' terraform.tfstate; fi; exit $code"#,
        only_with: Some(With::Workflow("failure", |it| {
            fails(it, FaultAction::Error) && fails_in(it, FaultOperation::Create, "c", FaultAction::Error)
        })),
    },
    Fault {
        name: "a refresh that takes drift in forgets dependencies",
        seen_by: "state",
        case: chain,
        at: Command("apply*-refresh-only*"),
        script: r#"real "$@"; sed -i '/"dependencies": \[/,/\]/{/mock_node/d}' terraform.tfstate"#,
        only_with: Some(With::Workflow("drift", refreshes_drift)),
    },
    Fault {
        name: "an old object forgets its dependencies",
        seen_by: "state",
        case: old_object,
        at: Command("apply*"),
        script: r#"said "$@"; cat said; if grep -q apply_errored said; then
                   sed -i '/"deposed": /,/^        }/{/"dependencies": \[/,/\]/{/mock_node/d}}' terraform.tfstate
                   fi; exit $code"#,
        only_with: Some(With::Workflow("failure", |it| {
            fails_in(it, FaultOperation::Update, "b", FaultAction::Error)
        })),
    },
];
