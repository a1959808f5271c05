//! The output format of a command.

use clap::ValueEnum;

/// Text or JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Text to read
    Text,
    /// JSON for other programs
    Json,
}
