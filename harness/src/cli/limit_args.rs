//! How far a campaign goes.

use std::time::{Duration, Instant};

use clap::Args;

use super::amount::{at_least_one, duration};
use crate::campaign::limits::{Limits, Reached};

/// What ends a campaign before its last variant.
#[derive(Debug, Args)]
pub struct LimitArgs {
    /// Begin no other variant once this time is up: 90s, 10m, 8h. What was judged is kept, and `--resume` resumes it
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// Begin no other variant once so many have a new finding. Findings of an earlier run do not count
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    max_findings: Option<usize>,
}

impl LimitArgs {
    /// The limits; the time runs from now on.
    pub fn begin(&self) -> Limits {
        // A time that has no end is no limit.
        let until = self.time.and_then(|time| Instant::now().checked_add(time));
        Limits { until, findings: self.max_findings }
    }

    /// Why no other variant was begun.
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
