//! What was in an engine's working directory after a command.

use serde::{Deserialize, Serialize};

/// How many files of a directory are recorded.
pub const MOST_FILES: usize = 100;

/// The working directory after a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Directory {
    /// The files of the program as they were written for the command, with their digests.
    pub program: Vec<(String, String)>,
    /// What is there, by name; at most [`MOST_FILES`].
    pub files: Vec<FileRecord>,
    /// The bits that the system takes from the modes of new files.
    pub umask: u32,
}

/// A file in a working directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Its path in the directory. That of a folder ends with a slash.
    pub path: String,
    /// Its mode, without its type.
    pub mode: u32,
    /// Its size.
    pub bytes: u64,
    /// The digest of its content; none for what is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The digest of what it says, whatever its layout; none if it is no JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// What a file in a working directory is for, by the family's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    /// The state.
    State,
    /// The state as it was before the command that wrote it last.
    Backup,
    /// A plan that a stage saved.
    SavedPlan,
    /// What marks the state as locked.
    Lock,
    /// What an engine that installs its providers leaves of that.
    Installation,
}

/// A working directory, with what each file in it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenDirectory {
    /// What is recorded of it.
    pub record: Directory,
    /// What each of its files is for; none for one that no sound engine leaves, and for those of the program.
    pub roles: Vec<Option<FileRole>>,
}

impl SeenDirectory {
    /// A directory, seen by a family's rules.
    pub fn new(record: Directory, role_of: impl Fn(&str) -> Option<FileRole>) -> Self {
        let roles = record.files.iter().map(|file| role_of(&file.path)).collect();
        Self { record, roles }
    }

    /// Its files, each with what it is for.
    pub fn files(&self) -> impl Iterator<Item = (&FileRecord, Option<FileRole>)> {
        self.record.files.iter().zip(self.roles.iter().copied())
    }

    /// The first file with a role.
    pub fn with_role(&self, role: FileRole) -> Option<&FileRecord> {
        self.files().find(|(_, its)| *its == Some(role)).map(|(file, _)| file)
    }
}

/// What a command took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// How long it computed, with all that it started, in milliseconds.
    pub cpu_milliseconds: u64,
    /// The most memory that one of its processes had at a time, in bytes.
    pub peak_memory: u64,
    /// How much it printed, in bytes.
    pub output_bytes: u64,
}
