//! Limits on how long a campaign runs.

use std::time::{Duration, Instant};

use clap::Args;

use super::amount::{at_least_one, duration};
use crate::campaign::limits::{Limits, Reached};

/// Limits that end a campaign before its last variant.
#[derive(Debug, Args)]
pub struct LimitArgs {
    /// Start no more variants after this time: 90s, 10m, 8h. What was judged is kept, and `--resume` continues
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// Start no more variants once this many have a new finding. Findings of an earlier run do not count
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    max_findings: Option<usize>,
}

impl LimitArgs {
    /// The limits; the time starts now.
    pub fn begin(&self) -> Limits {
        // A time beyond what an instant can hold is no limit.
        let until = self.time.and_then(|time| Instant::now().checked_add(time));
        Limits { until, findings: self.max_findings }
    }

    /// Why no more variants were started.
    pub fn why(&self, reached: Reached) -> String {
        match reached {
            Reached::Time => {
                format!(
                    "the time is up (--for {})",
                    humantime::format_duration(self.time.unwrap_or_default())
                )
            }
            Reached::Findings => {
                format!("enough was found (--max-findings {})", self.max_findings.unwrap_or_default())
            }
        }
    }
}
