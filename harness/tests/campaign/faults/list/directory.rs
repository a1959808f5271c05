//! Engines that do something in their working directory that no sound engine does.

use super::super::cases::chain;
use super::At::Stage;
use super::Fault;

/// The faults.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "the program is rewritten",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r##"untidy; real "$@"; code=$?; echo '# formatted' >>main.tf; exit $code"##,
    },
    Fault {
        name: "the state is readable and writable by everybody",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"untidy; real "$@"; code=$?; chmod 0666 terraform.tfstate; exit $code"#,
    },
    Fault {
        name: "a temporary file is left",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"untidy; real "$@"; code=$?; cp terraform.tfstate .terraform.tfstate.tmp; exit $code"#,
    },
    Fault {
        name: "the working directory is emptied",
        seen_by: "health",
        case: chain,
        at: Stage("idle"),
        only_with: None,
        script: r#"untidy; real "$@"; code=$?; rm -rf "$PWD"; exit $code"#,
    },
    Fault {
        name: "the backup of the state is stale",
        seen_by: "state",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"untidy; real "$@"; code=$?; cp terraform.tfstate terraform.tfstate.backup; exit $code"#,
    },
    Fault {
        name: "there is no backup of the state",
        seen_by: "state",
        case: chain,
        at: Stage("destroy"),
        only_with: None,
        script: r#"untidy; real "$@"; code=$?; rm terraform.tfstate.backup; exit $code"#,
    },
    Fault {
        name: "a full disk is claimed that is not full",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"real "$@" >/dev/null; echo 'Error: Failed to save state: no space left on device' >&2; exit 1"#,
    },
    Fault {
        name: "the state is left read-only",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"untidy; real "$@"; code=$?; chmod 0444 terraform.tfstate; exit $code"#,
    },
    Fault {
        name: "the state is written after the engine has ended",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"untidy; cp -p terraform.tfstate before; real "$@"; code=$?
                   mv terraform.tfstate after; mv before terraform.tfstate
                   (sleep 0.4; mv after terraform.tfstate) >/dev/null 2>&1 & exit $code"#,
    },
    Fault {
        name: "a destroy removes the state",
        seen_by: "state",
        case: chain,
        at: Stage("destroy"),
        only_with: None,
        script: r#"untidy; real "$@"; code=$?; rm terraform.tfstate; exit $code"#,
    },
    Fault {
        name: "the backup has another serial",
        seen_by: "state",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"untidy; real "$@"; code=$?
                   sed -i 's/"serial": *[0-9]*/"serial":99/' terraform.tfstate.backup; exit $code"#,
    },
];
