//! Options for how `run` reduces failures.

use std::path::Path;
use std::time::Duration;

use clap::Args;

use super::amount::duration;
use super::campaign_text::note;
use super::engine_args::{HowArgs, Started};
use super::reduce::Display;
use crate::campaign::reductions::Reductions;
use crate::judge::known::KnownFindings;
use crate::judge::oracles::Oracle;
use crate::judge::verdict::CaseVerdict;

/// Whether and how far failures are reduced.
#[derive(Debug, Args)]
pub struct ReduceFailuresArgs {
    /// Do not reduce failures. Without it, one variant of each new signature is reduced to the smallest that fails in
    /// the same way, in the folder `reduced`
    #[arg(long)]
    no_reduce: bool,
    /// How long reducing one failure may take
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, conflicts_with = "no_reduce")]
    reduce_for: Duration,
}

impl ReduceFailuresArgs {
    /// Reduces the failures of a campaign into its folder, unless it was stopped.
    pub fn run(
        &self,
        started: &Started,
        how: &HowArgs,
        oracles: &[&Oracle],
        known: &KnownFindings,
        cases: &[CaseVerdict],
        out: &Path,
    ) {
        if self.no_reduce || started.runner.stopped() {
            return;
        }
        let reductions = Reductions {
            runner: &started.runner,
            engine: &started.engine,
            oracles,
            known,
            jobs: how.jobs(),
            time: self.reduce_for,
            watcher: &|signature| Box::new(Display::new(Some(signature))),
        };
        reductions.run(cases, out).iter().for_each(|sentence| note(sentence));
    }
}
