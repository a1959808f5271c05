//! What the threads of an engine are doing, by the word of the system.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// How many bytes tell a thread's state: its id and its name stand before it.
const STATE_WITHIN: usize = 128;

/// The threads of the process that was looked at last, each with the file that tells its state.
#[derive(Default)]
pub struct Threads {
    process: u32,
    files: HashMap<u32, File>,
}

impl Threads {
    /// Whether all threads of a process sleep, so that it does nothing before it hears from somebody; none if the
    /// system does not tell.
    pub fn sleep(&mut self, process: u32) -> Option<bool> {
        if self.process != process {
            *self = Self { process, files: HashMap::new() };
        }
        let mut threads = 0;
        for entry in std::fs::read_dir(format!("/proc/{process}/task")).ok()? {
            let thread: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            match self.state(thread) {
                Some(b'S') => threads += 1,
                // One that has ended meanwhile does nothing.
                None => drop(self.files.remove(&thread)),
                Some(_) => return Some(false),
            }
        }
        // Threads that have ended leave files behind that tell nothing.
        if self.files.len() > 2 * threads {
            self.files.clear();
        }
        (threads > 0).then_some(true)
    }

    fn state(&mut self, thread: u32) -> Option<u8> {
        if let std::collections::hash_map::Entry::Vacant(place) = self.files.entry(thread) {
            place.insert(File::open(format!("/proc/{}/task/{thread}/stat", self.process)).ok()?);
        }
        let mut stat = [0; STATE_WITHIN];
        let read = self.files[&thread].read_at(&mut stat, 0).ok()?;
        // The state stands behind the name, which may hold blanks and parentheses.
        let name_end = stat[..read].iter().rposition(|&byte| byte == b')')?;
        stat.get(name_end + 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_sleeps_only_if_all_of_its_threads_do() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let mut asleep = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let mut threads = Threads::default();
        // It may have to load itself first.
        let slept = (0..10_000).any(|_| threads.sleep(asleep.id()) == Some(true));
        assert!(slept);
        let busy = std::thread::spawn(move || while stopped.try_recv().is_err() {});
        assert_eq!(threads.sleep(std::process::id()), Some(false));
        stop.send(()).unwrap();
        busy.join().unwrap();
        asleep.kill().unwrap();
        asleep.wait().unwrap();
        assert_eq!(threads.sleep(asleep.id()), None);
    }
}
