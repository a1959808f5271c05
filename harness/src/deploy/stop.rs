//! The wish that everything ends: soon, after the commands in flight, or now.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How long processes that were asked to end have for it. A provider needs that to remove its socket.
pub const GRACE: Duration = Duration::from_secs(2);

/// A wish that all who hold a clone of it share.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Mutex<Wish>>);

#[derive(Debug, Default)]
struct Wish {
    soon: bool,
    now: bool,
    /// The process groups that are running, by their leaders.
    groups: BTreeSet<i32>,
    /// Temporary folders whose owners remove them in their end, if they come to it.
    folders: Vec<PathBuf>,
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

    /// Commands in flight are ended with their process groups, no other is begun: asked first, and killed
    /// after a while.
    pub fn now(&self) {
        let mut wish = self.wish();
        (wish.soon, wish.now) = (true, true);
        for leader in &wish.groups {
            signal(*leader, libc::SIGTERM);
        }
        drop(wish);
        let stop = self.clone();
        std::thread::spawn(move || {
            std::thread::sleep(GRACE);
            for leader in &stop.wish().groups {
                signal(*leader, libc::SIGKILL);
            }
        });
    }

    /// Tells of a temporary folder that must not be left behind, even if the process ends at once.
    pub fn removes(&self, folder: &Path) {
        self.wish().folders.push(folder.to_owned());
    }

    /// Ends all that would be left behind if the process ended at once: what runs, and temporary folders.
    pub fn clear_up(&self) {
        let wish = self.wish();
        for leader in &wish.groups {
            signal(*leader, libc::SIGKILL);
        }
        for folder in &wish.folders {
            // Its owner may have been faster.
            let _ = fs::remove_dir_all(folder);
        }
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
            signal(leader, libc::SIGKILL);
        }
        Running { stop: self, leader }
    }

    fn wish(&self) -> MutexGuard<'_, Wish> {
        self.0.lock().expect("no holder panics")
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut wish = self.stop.wish();
        wish.groups.remove(&self.leader);
        let now = wish.now;
        drop(wish);
        if now {
            end_rest(self.leader);
        }
    }
}

/// Ends what is left of a group that was asked to end and whose leader has been waited for.
pub fn end_rest(leader: i32) {
    let begin = Instant::now();
    while signal(leader, 0) {
        if begin.elapsed() > GRACE {
            signal(leader, libc::SIGKILL);
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to a group; false if there is none.
pub fn signal(leader: i32, signal: i32) -> bool {
    // SAFETY: a plain system call on a group that was made for a child of ours.
    unsafe { libc::killpg(leader, signal) == 0 }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Command;

    use super::*;

    #[test]
    fn now_ends_what_runs_and_what_is_started_later_and_soon_does_not() {
        let stop = Stop::default();
        let start = || Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
        let (mut first, mut second) = (start(), start());
        let running = stop.running(first.id());
        stop.soon();
        assert!(stop.asked() && !stop.asked_now());
        assert!(first.try_wait().unwrap().is_none());
        stop.now();
        assert_eq!(first.wait().unwrap().signal(), Some(libc::SIGTERM));
        drop(running);
        let _running = stop.running(second.id());
        assert_eq!(second.wait().unwrap().signal(), Some(libc::SIGKILL));
    }

    #[test]
    fn what_does_not_listen_is_killed_after_a_while_with_all_that_it_started() {
        let (stop, (mut alive, held)) = (Stop::default(), io::pipe().unwrap());
        let script = "trap '' TERM; sleep 1000 & echo ready; wait; wait";
        let mut command = Command::new("sh");
        let mut child = command.args(["-c", script]).process_group(0).stdout(held).spawn().unwrap();
        drop(command);
        alive.read_exact(&mut [0; 6]).unwrap();
        let running = stop.running(child.id());
        stop.now();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
        drop(running);
        assert_eq!(alive.read(&mut [0]).unwrap(), 0, "nobody holds the pipe any more");
    }
}
