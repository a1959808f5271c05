//! How much an engine's command may take. An engine that runs away must not take the campaign with it: a command that
//! exceeds a limit is ended, and that is a finding.
//!
//! Memory and processes are counted by looking at `/proc` now and then. No limit of the system would do: engines
//! written in Go reserve far more address space than they use, a limit on processes counts all of a user's, and control
//! groups need rights that a user or a job in continuous integration does not have. The size of files is a limit of the
//! system, because a disk in memory can be filled between two looks.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use super::processes;
use crate::engines::driver::Access;
use crate::evidence::{Excess, Limited};

/// How often a command that runs is looked at.
pub const INTERVAL: Duration = Duration::from_millis(200);

/// How large a file in the working directory may become: output, state, a saved plan. A program of ten thousand
/// resources makes files of a third of that.
const FILE_SIZE: u64 = 64 << 20;

/// How much memory the engine and all that it started may take together. Engines take a tenth of that.
const MEMORY: u64 = 2 << 30;

/// How many processes and threads there may be. An engine has some twenty threads.
const TASKS: u64 = 1000;

/// How much of a file is kept as evidence after a limit was exceeded.
pub const KEPT: u64 = 1 << 20;

/// What a command may take; nothing is limited where there is no number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// How large a file in its working directory may become.
    pub file_size: Option<u64>,
    /// Whether the system keeps it from writing a larger file anywhere.
    pub file_size_enforced: bool,
    /// How much memory it may take, with all that it started.
    pub memory: Option<u64>,
    /// How many processes and threads there may be.
    pub tasks: Option<u64>,
}

impl Limits {
    /// The limits of a command in which an engine is run.
    pub fn usual() -> Self {
        Self {
            file_size: Some(FILE_SIZE),
            file_size_enforced: false,
            memory: Some(MEMORY),
            tasks: Some(TASKS),
        }
    }

    /// The limits of an engine that reaches its provider in this way.
    pub fn of_engine(access: &Access) -> Self {
        // A provider that the engine starts itself has the same limit, and its ledger may be larger. Such an engine
        // does not work in memory.
        Self { file_size_enforced: matches!(access, Access::Served { .. }), ..Self::usual() }
    }

    /// Has the system enforce what it can enforce, for a process and what that starts from now on.
    pub fn enforce(&self, process: Pid) {
        let Some(size) = self.file_size.filter(|_| self.file_size_enforced) else { return };
        let own = getrlimit(Resource::Fsize);
        // A lower limit that is in force stays.
        let current = Some(own.current.map_or(size, |own| own.min(size)));
        // Where this is not allowed, looking at the files has to do.
        let _ = prlimit(Some(process), Resource::Fsize, Rlimit { current, maximum: own.maximum });
    }

    /// The limit that a command exceeds, or has exceeded, if there is one. `leader` leads its process group, and the
    /// folders are those that it writes into.
    pub fn exceeded(&self, leader: Pid, folders: &[&Path]) -> Option<Excess> {
        self.exceeded_by_files(folders).or_else(|| self.exceeded_by_processes(leader))
    }

    /// The same of files alone: a process that has ended has left them.
    pub fn exceeded_by_files(&self, folders: &[&Path]) -> Option<Excess> {
        let limit = self.file_size?;
        // The engine may have removed its folder.
        let entries = folders.iter().flat_map(fs::read_dir).flatten().flatten();
        let files = entries.filter_map(|entry| entry.metadata().ok().filter(fs::Metadata::is_file));
        let reached = files.map(|file| file.len()).max()?;
        (reached >= limit).then_some(Excess { of: Limited::FileSize, limit, reached })
    }

    fn exceeded_by_processes(&self, leader: Pid) -> Option<Excess> {
        if self.memory.is_none() && self.tasks.is_none() {
            return None;
        }
        let all = processes::recent(INTERVAL / 2);
        let running = processes::of_group(leader, &all);
        let exceeds = |of: Limited, limit: Option<u64>, reached: u64| {
            let limit = limit.filter(|limit| reached > *limit)?;
            Some(Excess { of, limit, reached })
        };
        exceeds(Limited::Memory, self.memory, running.iter().map(|process| process.memory).sum()).or_else(
            || exceeds(Limited::Tasks, self.tasks, running.iter().map(|process| process.threads).sum()),
        )
    }
}
