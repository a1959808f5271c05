//! The processes of this machine, as `/proc` lists them, and those that a command left behind.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, waitpgid, waitpid};

/// One process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessInfo {
    /// Its id.
    pub id: i32,
    /// Its parent's id.
    pub parent: i32,
    /// Its process group.
    pub group: i32,
    /// The name of its program, cut to 15 characters by the system.
    pub name: String,
    /// Whether it has ended, and its parent has not asked how.
    pub is_zombie: bool,
    /// How many threads it has.
    pub threads: u64,
    /// How many bytes of memory it takes.
    pub memory: u64,
}

impl ProcessInfo {
    /// Reads `/proc/ID/stat`. None for a process that has ended meanwhile.
    fn read(id: i32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        // The name may contain anything, so the last parenthesis ends it.
        let (head, rest) = stat.rsplit_once(')')?;
        let (id, name) = head.split_once('(')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field)?.parse::<i64>().ok();
        Some(Self {
            id: id.trim().parse().ok()?,
            name: name.to_owned(),
            is_zombie: matches!(*fields.first()?, "Z" | "X"),
            parent: i32::try_from(number(1)?).ok()?,
            group: i32::try_from(number(2)?).ok()?,
            threads: u64::try_from(number(17)?).unwrap_or(0),
            memory: u64::try_from(number(21)?).unwrap_or(0) * rustix::param::page_size() as u64,
        })
    }
}

/// All processes, as they are now.
pub fn all() -> Vec<ProcessInfo> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(ProcessInfo::read).collect()
}

/// All processes, as they were at most this long ago. Every job asks again and again while a command runs, so they
/// share the answer.
pub fn recent(age: Duration) -> Arc<[ProcessInfo]> {
    static LATEST: Mutex<Option<(Instant, Arc<[ProcessInfo]>)>> = Mutex::new(None);
    let mut latest = LATEST.lock().expect("no holder panics");
    match &*latest {
        Some((taken, processes)) if taken.elapsed() < age => processes.clone(),
        _ => latest.insert((Instant::now(), all().into())).1.clone(),
    }
}

/// The processes of a group, and all that these have started, wherever that went.
pub fn of_group(leader: Pid, all: &[ProcessInfo]) -> Vec<&ProcessInfo> {
    let leader = leader.as_raw_nonzero().get();
    let mut started: HashMap<i32, Vec<&ProcessInfo>> = HashMap::new();
    for process in all {
        started.entry(process.parent).or_default().push(process);
    }
    let mut found: Vec<&ProcessInfo> = all.iter().filter(|process| process.group == leader).collect();
    let mut seen: HashSet<i32> = found.iter().map(|process| process.id).collect();
    let mut next = 0;
    while let Some(parent) = found.get(next) {
        let children = started.remove(&parent.id).unwrap_or_default();
        found.extend(children.into_iter().filter(|child| seen.insert(child.id)));
        next += 1;
    }
    found
}

/// Makes this process the parent of whatever its descendants leave behind, so that it can be found and ended. The
/// system's first process would be the parent otherwise.
pub fn adopt_orphans() {
    static ONCE: Once = Once::new();
    // Without it, a process that has left its group is not found. Nothing else depends on it.
    ONCE.call_once(|| {
        let _ = set_child_subreaper(Some(getpid()));
    });
}

/// Takes note of the processes of a group that have ended, if they are ours to take note of. The leader must have been
/// waited for.
pub fn reap_group(leader: Pid) {
    while let Ok(Some(_)) = waitpgid(leader, WaitOptions::NOHANG) {}
}

/// Takes note of a process that has ended.
pub fn reap(id: Pid) {
    let _ = waitpid(Some(id), WaitOptions::NOHANG);
}

/// The children of this process with this variable in their environment, however far from their first parent they
/// have gone.
pub fn own_children_with(variable: &[u8]) -> Vec<ProcessInfo> {
    let own = getpid().as_raw_nonzero().get();
    let children = match listed_children(own) {
        Some(ids) => ids.into_iter().filter_map(ProcessInfo::read).collect(),
        None => all(),
    };
    let is_found = |process: &ProcessInfo| {
        process.parent == own && !process.is_zombie && has_variable(process.id, variable)
    };
    children.into_iter().filter(is_found).collect()
}

/// Whether a process has a variable in its environment.
fn has_variable(id: i32, variable: &[u8]) -> bool {
    // A process that is just starting another program has no environment for a moment.
    const TRIES: usize = 100;
    for _ in 0..TRIES {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        if !environment.is_empty() {
            return environment.split(|&byte| byte == 0).any(|set| set == variable);
        }
        if ProcessInfo::read(id).is_none_or(|process| process.is_zombie) {
            return false;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    false
}

/// The children of a process, where the system lists them. Not all systems do.
fn listed_children(id: i32) -> Option<Vec<i32>> {
    let mut children = Vec::new();
    for thread in fs::read_dir(format!("/proc/{id}/task")).ok()?.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => {
                children.extend(list.split_ascii_whitespace().filter_map(|id| id.parse::<i32>().ok()))
            }
            // The thread may have ended meanwhile; it has no children then.
            Err(_) if !thread.path().exists() => {}
            Err(_) => return None,
        }
    }
    Some(children)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_proc_is_read_whatever_the_program_is_called() {
        let stat = "17 (a) b (c) S 4 5 6 0 -1 0 0 0 0 0 1 2 0 0 20 0 9 0 100 4096 3 0";
        let process = ProcessInfo::parse(stat).unwrap();
        let page = rustix::param::page_size() as u64;
        assert_eq!((process.id, &*process.name, process.parent, process.group), (17, "a) b (c", 4, 5));
        assert_eq!((process.is_zombie, process.threads, process.memory), (false, 9, 3 * page));
        assert!(all().iter().any(|process| process.id == getpid().as_raw_nonzero().get()));
    }

    #[test]
    fn what_a_group_has_started_belongs_to_it_in_whatever_group_it_is() {
        let process = |id, parent, group| ProcessInfo {
            id,
            parent,
            group,
            name: String::new(),
            is_zombie: false,
            threads: 1,
            memory: 0,
        };
        let all = [process(9, 7, 9), process(5, 1, 5), process(7, 5, 5), process(6, 1, 6), process(8, 1, 5)];
        let mut ids: Vec<i32> =
            of_group(Pid::from_raw(5).unwrap(), &all).iter().map(|process| process.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, [5, 7, 8, 9]);
    }
}
