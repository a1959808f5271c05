//! Estimates how much memory and time programs take before anything is generated, and refuses what is too large.
//!
//! The rule is deliberately rough, so that docs/campaigns.md can state it: it distinguishes minutes from weeks.

use std::time::Duration;

use clap::Args;

use super::CannotRun;
use crate::source::most_edges;

/// Using more memory than this needs `--allow-large`.
const MOST_MEMORY: f64 = 2e9;

/// So does more time than this, in seconds: a week.
const MOST_TIME: f64 = 7.0 * DAY;

const DAY: f64 = 86_400.0;

/// Bytes for a resource or an edge in each program in memory, with its text and its steps.
const BYTES_OF_A_PART: f64 = 150.0;

/// The option that overrides a refusal.
#[derive(Debug, Default, Args)]
pub struct SizeArgs {
    /// Run even if it is estimated to take more than 2 GB of memory or, with an engine, more than a week
    #[arg(long)]
    allow_large: bool,
}

impl SizeArgs {
    /// Refuses what is too large, unless the option is given.
    pub fn check(&self, estimate: &Estimate) -> Result<(), CannotRun> {
        if self.allow_large || (estimate.memory <= MOST_MEMORY && estimate.time <= MOST_TIME) {
            return Ok(());
        }
        Err(format!("{estimate}; make it smaller, or give --allow-large").into())
    }
}

/// The largest programs requested.
#[derive(Debug, Clone, Copy)]
pub struct ProgramSize {
    /// The resources of a source.
    pub resources: u32,
    /// Its edges, at most as many as the resources allow.
    pub edges: u64,
    /// Additional resources that programs may add and remove again.
    pub foreign: u32,
}

/// An estimate of memory and time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    programs: (u32, u64),
    /// Memory in bytes.
    memory: f64,
    /// Time in seconds; zero if no engine runs.
    time: f64,
}

impl ProgramSize {
    /// For sources with this many resources and edges, and the usual share of additional resources.
    pub fn new(resources: u32, edges: u64) -> Self {
        Self { resources, edges: edges.min(most_edges(resources)), foreign: resources.div_ceil(5) }
    }

    /// The cost of generating, with this many programs of this many steps in memory.
    pub fn generating(self, programs: f64, steps: f64) -> Estimate {
        let universe = f64::from(self.resources) + f64::from(self.foreign);
        // A walk has a bit for each pair of resources; there is a walk on each core.
        let walks = cores() * universe * universe / 16.0;
        let parts = universe + self.edges as f64 + programs * steps;
        Estimate {
            programs: (self.resources, self.edges),
            memory: walks + BYTES_OF_A_PART * parts,
            time: 0.0,
        }
    }
}

impl Estimate {
    /// The same with engines that run for this many seconds.
    pub fn taking(self, seconds: f64) -> Self {
        Self { time: seconds, ..self }
    }

    /// The same, limited to this time.
    pub fn within(self, time: Duration) -> Self {
        Self { time: self.time.min(time.as_secs_f64()), ..self }
    }
}

impl std::fmt::Display for Estimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (resources, edges) = self.programs;
        write!(f, "this many programs of up to {resources} resources and {edges} edges ")?;
        write!(f, "take an estimated {:.0} GB of memory", self.memory / 1e9)?;
        if self.time > 0.0 { write!(f, " and {:.0} days", self.time / DAY) } else { Ok(()) }
    }
}

fn cores() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |cores| usize::from(cores) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_all_memory_or_weeks_is_refused_unless_it_is_allowed() {
        let (allowed, unasked) = (SizeArgs { allow_large: true }, SizeArgs { allow_large: false });
        let usual = ProgramSize::new(500, 500).generating(1_000.0, 2_000.0);
        assert!(unasked.check(&usual).is_ok());
        let weeks = usual.taking(20.0 * DAY);
        for estimate in [ProgramSize::new(100_000_000, 16).generating(10.0, 10.0), weeks] {
            let CannotRun(sentence) = unasked.check(&estimate).unwrap_err();
            assert!(sentence.ends_with("make it smaller, or give --allow-large"), "{sentence}");
            assert!(allowed.check(&estimate).is_ok());
        }
        assert!(unasked.check(&weeks.within(Duration::from_secs(60))).is_ok());
    }
}
