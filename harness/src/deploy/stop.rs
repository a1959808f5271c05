//! The request that everything ends: soon, after the commands in flight, or now.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::processes;

/// How long processes that were asked to end have for it. A provider needs that to remove its socket.
pub const GRACE: Duration = Duration::from_secs(2);

/// A request that all who hold a clone of it share.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Mutex<Request>>);

#[derive(Debug, Default)]
struct Request {
    soon: bool,
    now: bool,
    /// The process groups that are running, by their leaders.
    groups: HashSet<Pid>,
    /// Temporary folders whose owners remove them in their end, if they come to it.
    folders: Vec<PathBuf>,
}

/// A process group that ends when the end is asked for now, for as long as this lives.
#[derive(Debug)]
pub struct Running {
    stop: Stop,
    leader: Pid,
}

impl Stop {
    /// Commands in flight are waited for, no other is begun.
    pub fn soon(&self) {
        self.request().soon = true;
    }

    /// Commands in flight are ended with their process groups, no other is begun: asked first, and killed
    /// after a while.
    pub fn now(&self) {
        let mut request = self.request();
        (request.soon, request.now) = (true, true);
        for leader in &request.groups {
            signal(*leader, Signal::TERM);
        }
        drop(request);
        let stop = self.clone();
        std::thread::spawn(move || {
            std::thread::sleep(GRACE);
            for leader in &stop.request().groups {
                signal(*leader, Signal::KILL);
            }
        });
    }

    /// Tells of a temporary folder that must not be left behind, even if the process ends at once.
    pub fn removes(&self, folder: &Path) {
        self.request().folders.push(folder.to_owned());
    }

    /// Ends all that would be left behind if the process ended at once: what runs, and temporary folders.
    pub fn clear_up(&self) {
        let request = self.request();
        for leader in &request.groups {
            signal(*leader, Signal::KILL);
        }
        for folder in &request.folders {
            // Its owner may have been faster.
            let _ = fs::remove_dir_all(folder);
        }
    }

    /// Whether the end was asked for, soon or now.
    pub fn asked(&self) -> bool {
        self.request().soon
    }

    /// Whether the end was asked for now.
    pub fn asked_now(&self) -> bool {
        self.request().now
    }

    /// Tells of a child that leads a process group of its own and has not been waited for.
    pub fn running(&self, child: &Child) -> Running {
        let leader = pid_of(child);
        let mut request = self.request();
        request.groups.insert(leader);
        if request.now {
            signal(leader, Signal::KILL);
        }
        Running { stop: self.clone(), leader }
    }

    fn request(&self) -> MutexGuard<'_, Request> {
        self.0.lock().expect("no holder panics")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut request = self.stop.request();
        request.groups.remove(&self.leader);
        let now = request.now;
        drop(request);
        if now {
            end_rest(self.leader);
        }
    }
}

/// Ends what is left of a group that was asked to end and whose leader has been waited for.
pub fn end_rest(leader: Pid) {
    let begin = Instant::now();
    processes::reap_group(leader);
    while test_kill_process_group(leader).is_ok() {
        if begin.elapsed() > GRACE {
            signal(leader, Signal::KILL);
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
        processes::reap_group(leader);
    }
}

/// Sends a signal to a group, if it is still there.
pub fn signal(leader: Pid, signal: Signal) {
    let _ = kill_process_group(leader, signal);
}

/// The process id of a child.
pub fn pid_of(child: &Child) -> Pid {
    Pid::from_child(child)
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
        let running = stop.running(&first);
        stop.soon();
        assert!(stop.asked() && !stop.asked_now());
        assert!(first.try_wait().unwrap().is_none());
        stop.now();
        assert_eq!(first.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
        drop(running);
        let _running = stop.running(&second);
        assert_eq!(second.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
    }

    #[test]
    fn what_does_not_listen_is_killed_after_a_while_with_all_that_it_started() {
        let (stop, (mut alive, held)) = (Stop::default(), io::pipe().unwrap());
        let script = "trap '' TERM; sleep 1000 & echo ready; wait; wait";
        let mut command = Command::new("sh");
        let mut child = command.args(["-c", script]).process_group(0).stdout(held).spawn().unwrap();
        drop(command);
        alive.read_exact(&mut [0; 6]).unwrap();
        let running = stop.running(&child);
        stop.now();
        assert_eq!(child.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
        drop(running);
        assert_eq!(alive.read(&mut [0]).unwrap(), 0, "nobody holds the pipe any more");
    }
}
