//! Where the time of a campaign goes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time by kind of work, summed over all threads.
#[derive(Debug, Default)]
pub struct Spent {
    /// Making cases.
    pub generating: Span,
    /// Writing programs.
    pub rendering: Span,
    /// Waiting for the engine, and for the provider that it calls.
    pub engine: Span,
    /// Keeping evidence, and making and removing folders.
    pub keeping: Span,
    /// Reading evidence and asking the oracles.
    pub judging: Span,
}

impl Spent {
    /// All of it.
    pub fn total(&self) -> Duration {
        self.ours() + self.engine.get()
    }

    /// What is not the engine's.
    pub fn ours(&self) -> Duration {
        [&self.generating, &self.rendering, &self.keeping, &self.judging].map(Span::get).into_iter().sum()
    }
}

/// Time spent on one kind of work.
#[derive(Debug, Default)]
pub struct Span(AtomicU64);

impl Span {
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

    /// The sum so far.
    pub fn get(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}
