//! `terraform-provider-mock`: a provider without side effects, whose ledger is the cloud.
//!
//! An engine starts it as a plugin; `DESIGN.md` says how the modules hang together. A user starts it with a subcommand.

mod cli;
mod diagnostic;
mod fault;
mod hold;
mod ledger;
mod mint;
mod plugin;
mod resource;
mod rpc;
mod schema;
mod store;
mod testing;
mod types;
mod value;

use std::process::ExitCode;

fn main() -> ExitCode {
    plugin::install_panic_hook();
    if std::env::args_os().len() == 1 && plugin::started_by_engine() {
        return cli::exit_code(plugin::plugin());
    }
    cli::main()
}
