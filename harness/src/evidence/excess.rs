//! A limit that a command of an engine exceeded.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// What an engine's command is limited in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limited {
    /// The size of a file that it writes, in bytes: its output is one.
    FileSize,
    /// The memory that it and the processes it started take together, in bytes.
    Memory,
    /// The processes and threads that run at once.
    Tasks,
}

/// A limit that a command exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Excess {
    /// What was limited.
    pub of: Limited,
    /// The limit.
    pub limit: u64,
    /// What the command had reached when it was ended.
    pub reached: u64,
}

impl Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, reached, .. } = *self;
        match self.of {
            Limited::FileSize => {
                write!(f, "it wrote a file of {}; the limit is {}", Bytes(reached), Bytes(limit))
            }
            Limited::Memory => {
                write!(f, "it took {} of memory; the limit is {}", Bytes(reached), Bytes(limit))
            }
            Limited::Tasks => {
                write!(f, "it ran {reached} processes and threads at once; the limit is {limit}")
            }
        }
    }
}

/// A number of bytes, as people write it.
struct Bytes(u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes < 1 << 20 => write!(f, "{bytes} bytes"),
            bytes => write!(f, "{} MiB", bytes >> 20),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excess_names_the_limit_and_what_was_reached() {
        let memory = Excess { of: Limited::Memory, limit: 2 << 30, reached: 3 << 30 };
        assert_eq!(memory.to_string(), "it took 3072 MiB of memory; the limit is 2048 MiB");
        let file = Excess { of: Limited::FileSize, limit: 1000, reached: 1001 };
        assert_eq!(file.to_string(), "it wrote a file of 1001 bytes; the limit is 1000 bytes");
    }
}
