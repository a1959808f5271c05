//! Options for how `run` reduces failures.

use std::time::Duration;

use clap::Args;

use super::amount::duration;

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
    /// How long reducing one failure may take; none if failures are not reduced.
    pub fn time(&self) -> Option<Duration> {
        (!self.no_reduce).then_some(self.reduce_for)
    }
}
