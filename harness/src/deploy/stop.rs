//! The wish that everything ends: soon, after the commands in flight, or now.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

/// A wish that all who hold a clone of it share.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Mutex<Wish>>);

#[derive(Debug, Default)]
struct Wish {
    soon: bool,
    now: bool,
    /// The process groups that are running, by their leaders.
    groups: BTreeSet<i32>,
}

/// A process group that ends when `now` is wished, for as long as this lives.
pub struct Running<'a> {
    stop: &'a Stop,
    leader: i32,
}

impl Stop {
    /// Commands in flight are waited for, no other is begun.
    pub fn soon(&self) {
        self.wish().soon = true;
    }

    /// Commands in flight are killed with their process groups, no other is begun.
    pub fn now(&self) {
        let mut wish = self.wish();
        (wish.soon, wish.now) = (true, true);
        wish.groups.iter().for_each(|leader| kill(*leader));
    }

    /// Whether the end is wished, soon or now.
    pub fn asked(&self) -> bool {
        self.wish().soon
    }

    /// Whether the end is wished now.
    pub fn asked_now(&self) -> bool {
        self.wish().now
    }

    /// Tells of a child that leads a process group of its own and has not been waited for.
    pub fn running(&self, leader: u32) -> Running<'_> {
        let leader = i32::try_from(leader).expect("process ids are small");
        let mut wish = self.wish();
        wish.groups.insert(leader);
        if wish.now {
            kill(leader);
        }
        Running { stop: self, leader }
    }

    fn wish(&self) -> MutexGuard<'_, Wish> {
        self.0.lock().expect("no holder panics")
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.stop.wish().groups.remove(&self.leader);
    }
}

fn kill(leader: i32) {
    // SAFETY: a plain system call on a group that was made for a child of ours.
    unsafe { libc::killpg(leader, libc::SIGKILL) };
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Command;

    use super::*;

    #[test]
    fn now_kills_what_runs_and_what_is_started_later_and_soon_does_not() {
        let stop = Stop::default();
        let start = || Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
        let (mut first, mut second) = (start(), start());
        let running = stop.running(first.id());
        stop.soon();
        assert!(stop.asked() && !stop.asked_now());
        assert!(first.try_wait().unwrap().is_none());
        stop.now();
        assert_eq!(first.wait().unwrap().signal(), Some(libc::SIGKILL));
        drop(running);
        let _running = stop.running(second.id());
        assert_eq!(second.wait().unwrap().signal(), Some(libc::SIGKILL));
    }
}
