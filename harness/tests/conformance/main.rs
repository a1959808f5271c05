//! The plugin protocol, RPC by RPC and rule by rule, through real engines.
//!
//! Every rule is a sentence and runs on every engine that has what it needs, over protocol 6 and over protocol 5. The
//! provider writes down which RPCs came in (`EQUIFORM_RPC_LOG`); when all rules have run, the last test holds
//! the tables in `docs/protocol.md` to it. `EQUIFORM_WRITE_DOCS=1` writes them anew. What no released engine calls is
//! tested by a gRPC client in the provider's own tests.

#[path = "../engine_behaviour/support/mod.rs"]
#[expect(dead_code, unused_macros, unused_imports, reason = "the behaviours need more of it than the rules")]
mod support;

mod experiments;
mod families;
mod lab;
mod needs;
mod plan_and_apply;
mod standins;
mod table;
mod types_file;

use std::process::ExitCode;

use lab::{Lab, Protocol, Rule};
use libtest_mimic::{Arguments, Trial};
use support::engines;

const RULES: &[&[Rule]] = &[plan_and_apply::ALL, families::ALL, types_file::ALL, standins::ALL];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let engines: Vec<_> =
        engines::asked_for(None).into_iter().map(|spec| (engines::locate(&spec), spec)).collect();
    let mut trials = Vec::new();
    for rule in RULES.iter().copied().flatten() {
        for (engine, spec) in engines.iter().filter(|(_, spec)| (rule.needs)(spec)) {
            for protocol in Protocol::ALL {
                let (engine, run, spec) = (engine.clone(), rule.run, spec.clone());
                let name = format!("{}::{}::{}", engines::test_name(&spec), protocol.name(), rule.name);
                trials.push(Trial::test(name, move || {
                    let lab = Lab::new(&engine?, &spec, protocol);
                    run(&lab);
                    Ok(())
                }));
            }
        }
    }
    let experimental = experiments::engine();
    for rule in experiments::ALL {
        let (engine, run) = (experimental.clone(), rule.run);
        let trial = Trial::test(format!("experiments::{}", rule.name), move || {
            run(&experiments::lab(&engine.ok_or("there is no Terraform with experiments")?));
            Ok(())
        });
        trials.push(trial.with_ignored_flag(experimental.is_none()));
    }
    let all = RULES.iter().copied().chain([experiments::ALL]);
    let names: Vec<_> = all.flatten().map(|rule| rule.name).collect();
    trials.push(Trial::test("every_rule_stands_in_the_docs", move || {
        table::check_rules(&names).map_err(Into::into)
    }));
    let rules = libtest_mimic::run(&arguments, trials);
    // Without all of them the tables would miss what the others see.
    let all_ran = rules.num_filtered_out == 0 && !arguments.ignored && !arguments.list;
    if !all_ran || rules.has_failed() {
        return rules.exit_code();
    }
    let specs: Vec<_> = engines.into_iter().map(|(_, spec)| spec).collect();
    let table = Trial::test("the_tables_in_the_docs_say_which_rpcs_engines_call", move || {
        table::check(&specs).map_err(Into::into)
    });
    libtest_mimic::run(&arguments, vec![table]).exit_code()
}
