//! How long the runs of a campaign took, and where that time went: what the folder does not tell otherwise. It is there
//! for people; no verdict depends on it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::deploy::time_spent::TimeSplit;
use crate::util::files::write_json;

/// Its name in a campaign's folder.
pub const FILE: &str = "timing.json";

/// The version of the file that this program writes.
const VERSION: u32 = 1;

/// The runs of a campaign, one after the other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    version: u32,
    /// Each of them.
    pub runs: Vec<RunTime>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunTime {
    /// How long it took by the clock.
    pub seconds: f64,
    /// How many variants it judged.
    pub variants: usize,
    /// How many were under way at once.
    pub jobs: usize,
    /// Milliseconds by kind of work, summed over all jobs.
    #[serde(default)]
    pub spent: BTreeMap<String, u64>,
}

impl RunTime {
    /// A run.
    pub fn new(took: Duration, variants: usize, jobs: usize, spent: Option<TimeSplit>) -> Self {
        let spent = spent.into_iter().flat_map(|spent| {
            [
                ("generating", Some(spent.generating)),
                ("rendering", Some(spent.rendering)),
                ("engine", Some(spent.engine)),
                ("provider", spent.provider),
                ("keeping", Some(spent.keeping)),
                ("judging", Some(spent.judging)),
            ]
        });
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let spent = spent.filter_map(|(kind, time)| Some((kind.to_owned(), milliseconds(time?)))).collect();
        Self { seconds: took.as_secs_f64(), variants, jobs, spent }
    }
}

impl Timing {
    /// What a folder has. One that is missing, damaged or newer says nothing.
    pub fn read(folder: &Path) -> Self {
        let bytes = fs::read(folder.join(FILE)).unwrap_or_default();
        let read: Option<Self> = serde_json::from_slice(&bytes).ok();
        read.filter(|timing| timing.version == VERSION).unwrap_or_default()
    }

    /// Adds a run to what a folder has. One that judged nothing is left out.
    pub fn add(folder: &Path, run: RunTime) -> io::Result<()> {
        if run.variants == 0 {
            return Ok(());
        }
        let mut timing = Self { version: VERSION, ..Self::read(folder) };
        timing.runs.push(run);
        write_json(&folder.join(FILE), &timing)
    }

    /// All runs together; none if there was none.
    pub fn sum(&self) -> Option<RunTime> {
        let mut runs = self.runs.iter();
        let mut sum = runs.next()?.clone();
        for run in runs {
            sum.seconds += run.seconds;
            sum.variants += run.variants;
            sum.jobs = sum.jobs.max(run.jobs);
            for (kind, milliseconds) in &run.spent {
                *sum.spent.entry(kind.clone()).or_default() += milliseconds;
            }
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_add_up_and_one_that_judged_nothing_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Timing::read(folder.path()).sum(), None);
        let run = |seconds: u64, variants| {
            let spent = [("engine".to_owned(), seconds * 900)].into();
            RunTime { spent, ..RunTime::new(Duration::from_secs(seconds), variants, 2, None) }
        };
        for (seconds, variants) in [(2, 10), (5, 0), (4, 20)] {
            Timing::add(folder.path(), run(seconds, variants)).unwrap();
        }
        let sum = Timing::read(folder.path()).sum().unwrap();
        assert_eq!(sum, run(6, 30));
        fs::write(folder.path().join(FILE), "{").unwrap();
        assert_eq!(Timing::read(folder.path()), Timing::default());
    }
}
