//! Awake while the engine is. The provider holds operations until the engine sleeps, and takes this process for it.

use std::fs;
use std::thread;
use std::time::Duration;

/// How long to sleep between two looks at an engine that sleeps.
const PAUSE: Duration = Duration::from_micros(100);

/// Keeps a thread of this process busy for as long as a thread of the engine is.
pub fn follow(engine: u32) {
    thread::spawn(move || {
        while let Some(sleeps) = sleeps(engine) {
            if sleeps {
                thread::sleep(PAUSE);
            }
        }
    });
}

/// Whether all threads of a process sleep; none if it has ended.
fn sleeps(process: u32) -> Option<bool> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    // A thread that has ended in the meantime does nothing.
    let stats = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("stat")).ok());
    let mut states = stats.filter_map(|stat| stat.rsplit_once(") ")?.1.chars().next()).peekable();
    states.peek()?;
    Some(states.all(|state| state == 'S'))
}
