//! What tests ask of the provider and no user can: release builds do not listen.

use std::env;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A number in the environment, in builds that tests use.
fn asked(variable: &str) -> Option<u64> {
    if cfg!(debug_assertions) { env::var(variable).ok()?.parse().ok() } else { None }
}

/// Panics in the apply whose number `EQUIFORM_TEST_PANIC` gives, counted from 1 in this process. No message
/// is known that makes the provider panic; what follows on a panic has to be tested all the same.
pub fn panic_if_asked() {
    static AT: LazyLock<Option<u64>> = LazyLock::new(|| asked("EQUIFORM_TEST_PANIC"));
    static APPLIES: AtomicU64 = AtomicU64::new(0);
    if let Some(at) = *AT
        && APPLIES.fetch_add(1, Ordering::Relaxed) + 1 == at
    {
        panic!("a test asked for a panic in apply {at}");
    }
}

/// In place of minutes: how long to wait for a first connection, in milliseconds in
/// `EQUIFORM_TEST_CONNECT_TIMEOUT`.
pub fn connect_timeout() -> Option<Duration> {
    asked("EQUIFORM_TEST_CONNECT_TIMEOUT").map(Duration::from_millis)
}
