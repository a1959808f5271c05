//! Small helpers that every layer may use. They know nothing of what the program is about.
//!
//! - [`files`]: files that are written whole or not at all, copies of folders, names that are not taken.
//! - [`hash`]: SHA-256 digests as text.
//! - [`shell`]: text as words of a shell.

pub mod files;
pub mod hash;
pub mod shell;
