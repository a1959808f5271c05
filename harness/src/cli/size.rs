//! Estimates how much memory and time programs take before anything is generated, and refuses what is too large.
//!
//! The rule is deliberately rough, so that docs/campaigns.md can state it: it distinguishes minutes from weeks.

use std::time::Duration;

use clap::Args;

use super::CannotRun;
use crate::algebra::source::most_edges;
use crate::campaign::Settings;
use crate::campaign::settings::Sources;

/// Using more memory than this needs `--allow-large`.
const MOST_MEMORY: f64 = 2e9;

/// So does more time than this, in seconds: a week.
const MOST_TIME: f64 = 7.0 * DAY;

const DAY: f64 = 86_400.0;

/// Bytes for a resource or an edge in each program in memory, with its text and its steps.
const BYTES_OF_A_PART: f64 = 150.0;

/// Seconds that an engine's command takes at least.
const START: f64 = 0.1;

/// Seconds for each resource of an apply.
const EACH: f64 = 0.004;

/// Seconds for each pair of resources of an apply: engines write their whole state after every resource.
const EACH_PAIR: f64 = 1.6e-5;

/// Stages of a variant in addition to its batches.
const OTHER_STAGES: f64 = 3.0;

/// The most that the published shapes of real programs have.
const REAL: (u32, u64) = (801, 4_000);

/// The option that overrides a refusal.
#[derive(Debug, Args)]
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
pub struct Programs {
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

impl Programs {
    /// For sources with this many resources and edges, and the usual share of additional resources.
    pub fn new(resources: u32, edges: u64) -> Self {
        Self { resources, edges: edges.min(most_edges(resources)), foreign: resources.div_ceil(5) }
    }

    /// For a campaign.
    pub fn of(settings: &Settings) -> Self {
        let (resources, edges) = match &settings.from {
            Sources::Random => (*settings.resources.end(), u64::from(*settings.edges.end())),
            Sources::Real => REAL,
            Sources::Given(graph) => (graph.nodes.len() as u32, graph.edges.len() as u64),
        };
        Self::new(resources, edges)
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

    /// The cost of a campaign on this many engines, one after the other, with this many jobs each.
    pub fn campaign(self, settings: &Settings, engines: usize, jobs: usize) -> Estimate {
        let (variants, batches, jobs) = (settings.variants as f64, settings.batches as f64, jobs as f64);
        let resources = f64::from(self.resources);
        // All variants of a case, and all batches of the variants that are being deployed, each with the next
        // one's.
        let held = variants + 2.0 * jobs * batches;
        let commands = (batches + OTHER_STAGES) * START;
        // It is built once, in batches, and destroyed once.
        let operations = 2.0 * resources * (EACH + EACH_PAIR * resources);
        let all = settings.sources as f64 * variants * engines as f64;
        let steps = 2.0 * (resources + self.edges as f64);
        Estimate { time: all * (commands + operations) / jobs, ..self.generating(held, steps) }
    }
}

impl Estimate {
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

    fn affordable(settings: &Settings) -> Result<(), String> {
        let estimate = Programs::of(settings).campaign(settings, 1, 2);
        SizeArgs { allow_large: false }.check(&estimate).map_err(|CannotRun(sentence)| sentence)
    }

    #[test]
    fn usual_campaigns_go_unasked() {
        let usual = Settings::default();
        for settings in [
            usual.clone(),
            Settings { sources: 10_000, ..usual.clone() },
            Settings { variants: 1_000, ..usual.clone() },
            Settings { from: Sources::Real, sources: 100, ..usual.clone() },
            Settings { resources: 500..=500, edges: 500..=500, ..usual.clone() },
        ] {
            assert_eq!(affordable(&settings), Ok(()));
        }
    }

    #[test]
    fn what_takes_weeks_or_all_memory_is_refused_with_the_estimate() {
        let usual = Settings::default();
        let huge = Settings { resources: 3..=100_000_000, ..usual.clone() };
        let sentence = affordable(&huge).unwrap_err();
        assert!(sentence.starts_with("this many programs of up to 100000000 resources"), "{sentence}");
        assert!(sentence.ends_with("make it smaller, or give --allow-large"), "{sentence}");
        for settings in [
            Settings { variants: 100_000_000, ..usual.clone() },
            Settings { sources: usize::MAX, variants: u64::MAX, batches: usize::MAX, ..usual.clone() },
            Settings { resources: u32::MAX..=u32::MAX, edges: u32::MAX..=u32::MAX, ..usual.clone() },
        ] {
            assert!(affordable(&settings).is_err(), "{settings:?}");
        }
        let estimate = Programs::of(&huge).campaign(&huge, 1, 2);
        assert!(SizeArgs { allow_large: true }.check(&estimate).is_ok());
    }
}
