//! Lines of evidence, quoted for people.

use serde::Serialize;

/// A line of a file that shows something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Quote {
    /// The file, from the variant's folder on.
    pub file: String,
    /// Where in it: `seq 14`, `line 3`, or a path in a document.
    pub place: String,
    /// What stands there, abbreviated.
    pub text: String,
}

/// What to look for in what an engine printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// Errors, and words of alarm.
    Errors,
    /// What it planned, and what it counted.
    Plans,
}
