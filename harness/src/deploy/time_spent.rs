//! Where the time of a campaign goes.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};

use super::costs::Costs;

/// Time by kind of work, summed over all threads.
#[derive(Debug, Default)]
pub struct TimeSpent {
    /// Making cases, and the batches of their variants.
    pub generating: Stopwatch,
    /// Writing programs.
    pub rendering: Stopwatch,
    /// Waiting for the engine, and for the provider that it calls.
    pub engine: Stopwatch,
    /// Keeping evidence, making and removing folders, looking at the environment.
    pub keeping: Stopwatch,
    /// Reading evidence and asking the oracles.
    pub judging: Stopwatch,
    /// What the engine's commands took, by their stages.
    pub stages: StageTimes,
    /// What commands took beside time.
    pub costs: Costs,
}

/// How long commands took, by the kinds of their stages.
#[derive(Debug, Default)]
pub struct StageTimes(Mutex<BTreeMap<String, StageTime>>);

/// Commands of one kind of stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct StageTime {
    /// How many there were.
    pub commands: u32,
    /// How long they took together. As JSON, it is in milliseconds.
    #[serde(serialize_with = "milliseconds")]
    pub took: Duration,
}

impl StageTime {
    /// How long one of them took in the mean.
    pub fn mean(&self) -> Duration {
        self.took / self.commands.max(1)
    }
}

impl StageTimes {
    /// Adds a command. Batches are of one kind, whatever their numbers.
    pub fn add(&self, stage: &str, took: Duration) {
        let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        let parts: Vec<&str> = stage.split('-').filter(|part| !is_number(part)).collect();
        let kind = parts.join("-");
        let mut kinds = self.0.lock().expect("no holder panics");
        let time = kinds.entry(kind).or_default();
        time.commands += 1;
        time.took += took;
    }

    /// What there is so far.
    pub fn get(&self) -> BTreeMap<String, StageTime> {
        self.0.lock().expect("no holder panics").clone()
    }
}

impl TimeSpent {
    /// What was spent so far. `provider` is how much time the provider has computed, where that is known.
    pub fn split(&self, provider: Option<Duration>) -> TimeSplit {
        TimeSplit {
            generating: self.generating.get(),
            rendering: self.rendering.get(),
            engine: self.engine.get(),
            provider,
            keeping: self.keeping.get(),
            judging: self.judging.get(),
        }
    }
}

/// Time spent on one kind of work.
#[derive(Debug, Default)]
pub struct Stopwatch(AtomicU64);

impl Stopwatch {
    /// Does the work and adds the time it took.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = work();
        self.add(begin.elapsed());
        result
    }

    /// Adds time.
    pub fn add(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn get(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// What was spent up to a moment. As JSON, it is in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TimeSplit {
    /// See [`TimeSpent::generating`].
    #[serde(serialize_with = "milliseconds")]
    pub generating: Duration,
    /// See [`TimeSpent::rendering`].
    #[serde(serialize_with = "milliseconds")]
    pub rendering: Duration,
    /// See [`TimeSpent::engine`].
    #[serde(serialize_with = "milliseconds")]
    pub engine: Duration,
    /// Processor time of a provider that is up for all; a part of the time for which the engine was waited for.
    #[serde(serialize_with = "known_milliseconds", skip_serializing_if = "Option::is_none")]
    pub provider: Option<Duration>,
    /// See [`TimeSpent::keeping`].
    #[serde(serialize_with = "milliseconds")]
    pub keeping: Duration,
    /// See [`TimeSpent::judging`].
    #[serde(serialize_with = "milliseconds")]
    pub judging: Duration,
}

impl TimeSplit {
    /// All of it.
    pub fn total(&self) -> Duration {
        self.ours() + self.engine
    }

    /// What is not the engine's.
    pub fn ours(&self) -> Duration {
        [self.generating, self.rendering, self.keeping, self.judging].into_iter().sum()
    }

    /// A part of the whole, in percent.
    pub fn percent(&self, part: Duration) -> f64 {
        100.0 * part.as_secs_f64() / self.total().as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl Display for TimeSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "engine {:.1} %", self.percent(self.engine))?;
        if let Some(provider) = self.provider {
            write!(f, " (provider {:.1} %)", self.percent(provider))?;
        }
        write!(f, ", equiform itself {:.1} %", self.percent(self.ours()))?;
        let ours = [
            (": generating", self.generating),
            (", rendering", self.rendering),
            (", keeping", self.keeping),
            (", judging", self.judging),
        ];
        ours.iter().try_for_each(|(kind, time)| write!(f, "{kind} {:.1}", self.percent(*time)))
    }
}

fn milliseconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

fn known_milliseconds<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    milliseconds(&time.unwrap_or_default(), to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent() -> TimeSpent {
        let spent = TimeSpent::default();
        spent.generating.add(Duration::from_millis(1));
        spent.rendering.add(Duration::from_millis(2));
        spent.engine.add(Duration::from_millis(900));
        spent.engine.add(Duration::from_millis(72));
        spent.keeping.add(Duration::from_millis(15));
        spent.judging.add(Duration::from_millis(10));
        spent
    }

    #[test]
    fn what_was_spent_is_told_in_shares_of_the_whole() {
        assert_eq!(
            spent().split(Some(Duration::from_millis(31))).to_string(),
            "engine 97.2 % (provider 3.1 %), \
             equiform itself 2.8 %: generating 0.1, rendering 0.2, keeping 1.5, judging 1.0"
        );
        let unknown = spent().split(None).to_string();
        assert!(unknown.starts_with("engine 97.2 %, equiform itself 2.8 %"), "{unknown}");
    }

    #[test]
    fn what_was_spent_is_stored_in_milliseconds() {
        let split = spent().split(Some(Duration::from_micros(31_500)));
        let stored = serde_json::json!({
            "generating": 1, "rendering": 2, "engine": 972, "provider": 31, "keeping": 15, "judging": 10,
        });
        assert_eq!(serde_json::to_value(split).unwrap(), stored);
        let unknown = serde_json::to_value(spent().split(None)).unwrap();
        assert_eq!(unknown.get("provider"), None);
    }
}
