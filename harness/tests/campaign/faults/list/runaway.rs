//! Engines that take too much, or leave something running. One that takes all memory is tried in `runaway.rs` of the
//! campaign's tests alone: it costs 2 GB.

use super::super::cases::chain;
use super::At::Stage;
use super::Fault;

/// The faults.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "the engine prints without end",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: "yes",
    },
    Fault {
        name: "the engine starts process after process",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: "i=0; while [ $i -lt 1100 ]; do sleep 1000 & i=$((i+1)); done; wait",
    },
    Fault {
        name: "a process is left running",
        seen_by: "health",
        case: chain,
        at: Stage("batch-2"),
        only_with: None,
        script: r#"real "$@"; code=$?; sleep 1000 & exit $code"#,
    },
];
