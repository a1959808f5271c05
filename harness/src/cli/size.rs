//! Estimates how much memory and time a campaign takes before it begins.

use equiform_algebra::cli::size::{Estimate, ProgramSize};

use crate::campaign::Settings;
use crate::campaign::settings::Sources;

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

/// The cost of a campaign on this many engines, one after the other, with this many jobs each.
pub fn estimate(settings: &Settings, engines: usize, jobs: usize) -> Estimate {
    let size = largest(settings);
    let (variants, batches, jobs) = (settings.variants as f64, settings.batches as f64, jobs as f64);
    let resources = f64::from(size.resources);
    // All variants of a case, and all batches of the variants that are being deployed, each with the next
    // one's.
    let held = variants + 2.0 * jobs * batches;
    let commands = (batches + OTHER_STAGES) * START;
    // It is built once, in batches, and destroyed once.
    let operations = 2.0 * resources * (EACH + EACH_PAIR * resources);
    let all = settings.sources as f64 * variants * engines as f64;
    let steps = 2.0 * (resources + size.edges as f64);
    size.generating(held, steps).taking(all * (commands + operations) / jobs)
}

/// The largest programs of a campaign.
fn largest(settings: &Settings) -> ProgramSize {
    let (resources, edges) = match &settings.from {
        Sources::Random => (*settings.resources.end(), u64::from(*settings.edges.end())),
        Sources::Real => REAL,
        Sources::Given(graph) => (graph.nodes.len() as u32, graph.edges.len() as u64),
    };
    ProgramSize::new(resources, edges)
}

#[cfg(test)]
mod tests {
    use equiform_algebra::cli::CannotRun;
    use equiform_algebra::cli::size::SizeArgs;

    use super::*;

    fn affordable(settings: &Settings) -> Result<(), String> {
        SizeArgs::default().check(&estimate(settings, 1, 2)).map_err(|CannotRun(sentence)| sentence)
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
    }
}
