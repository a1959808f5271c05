//! The provider against real engines: what the ledger shows must be exact, and the engine must have nothing
//! to complain of.
//!
//! Every behaviour is a sentence and runs on every engine that has what it needs, as `terraform_1_6_6::a_sentence`.
//! `EQUIFORM_TEST_ENGINES` names other engines than the usual ones (`terraform@1.12.2,tofu@1.10.10`, or `all` for the
//! whole catalogue). An engine that is not installed fails its tests and tells how to install it.

mod bad_ledgers;
mod configuration;
mod data_sources;
mod drift;
mod imports;
mod interruption;
mod language;
mod lifecycle;
mod moves;
mod options;
mod order;
mod own_types;
mod protocol5;
mod reattach;
mod replacements;
mod scale;
mod support;
mod updates;
mod upgrades;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use support::behaviour::Behaviour;
use support::engines;

const BEHAVIOURS: &[&[Behaviour]] = &[
    // The longest first, so that the others run beside it.
    scale::ALL,
    lifecycle::ALL,
    updates::ALL,
    replacements::ALL,
    order::ALL,
    imports::ALL,
    moves::ALL,
    options::ALL,
    drift::ALL,
    upgrades::ALL,
    data_sources::ALL,
    configuration::ALL,
    own_types::ALL,
    language::ALL,
    reattach::ALL,
    protocol5::ALL,
    interruption::ALL,
    bad_ledgers::ALL,
    bad_ledgers::ON_A_DISK,
];

/// The newest engine of each name. `make test-all-engines` tries the others.
const NEWEST: &str = "terraform@1.15.5,tofu@1.12.6";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let engines: Vec<_> =
        engines::asked_for(Some(NEWEST)).into_iter().map(|spec| (engines::locate(&spec), spec)).collect();
    let mut trials = Vec::new();
    for behaviour in BEHAVIOURS.iter().copied().flatten() {
        let possible = (behaviour.possible)();
        for (engine, spec) in engines.iter().filter(|(_, spec)| (behaviour.needs)(spec)) {
            let (engine, run) = (engine.clone(), behaviour.run);
            let name = format!("{}::{}", engines::test_name(spec), behaviour.name);
            let trial = Trial::test(name, move || {
                run(&engine?);
                Ok(())
            });
            trials.push(trial.with_ignored_flag(!possible));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
