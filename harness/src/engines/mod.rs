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
//! - [`title`]: what an engine is called in reports, read back.
//! - [`driver`]: what is asked of an engine, whichever it is.
//! - [`worker`]: what a process that keeps an engine warm and whoever runs it agree on.
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
pub mod title;
pub mod worker;

pub use cache::Cache;
pub use choice::EngineChoice;
pub use install::{Installer, Progress};
pub use locate::{Engine, EngineOrigin, Engines};
pub use semver::Version;
pub use spec::{EngineName, EngineSpec, VersionRequest};

use driver::Family;
use title::Title;

/// The family of an engine by its title. All engines so far are of Terraform's, and differ in little.
pub fn family_of(title: Option<&str>) -> Family {
    match title.and_then(Title::parse) {
        Some(Title { name, version }) => terraform::family(name, &version),
        None => terraform::FAMILY,
    }
}
