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

use std::io;
use std::path::{Path, PathBuf};
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

/// Lays a folder out so that engines of a family install the mock provider from it. Gives the file that an engine has
/// to read for that.
pub fn make_mirror(family: Family, provider: &Path, folder: &Path) -> io::Result<PathBuf> {
    match family {
        Family::Terraform => terraform::provider_access::make_mirror(provider, folder),
    }
}

/// What judging needs to know of an engine.
pub fn profile(id: &EngineId) -> EngineProfile {
    let profile = match id.family {
        Family::Terraform => terraform::profile(&judged_as(id)),
    };
    // However it is judged, it says what it is.
    EngineProfile { version: Some((id.version.major, id.version.minor, id.version.patch)), ..profile }
}

/// The version by which an engine is judged. A pre-release counts as the release that it leads to. A version that is
/// newer than all that equiform was tested with counts as the newest of these: most of its rules and bugs are the same.
pub fn judged_as(id: &EngineId) -> EngineId {
    let mut version = id.version.clone();
    version.pre = semver::Prerelease::EMPTY;
    version.build = semver::BuildMetadata::EMPTY;
    EngineId::new(id.name, version.min(catalogue::newest_tested(id.name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_that_is_newer_than_all_tested_ones_is_judged_as_the_newest() {
        let judged = |spec: &str| {
            let id = spec.parse::<EngineSpec>().unwrap().id().unwrap();
            judged_as(&id).to_string()
        };
        assert_eq!(
            judged("terraform@1.99.0"),
            format!("terraform@{}", catalogue::newest_tested(EngineName::Terraform))
        );
        assert_eq!(judged("tofu@2.0.0-rc1"), format!("tofu@{}", catalogue::newest_tested(EngineName::Tofu)));
        assert_eq!(judged("terraform@1.12.0"), "terraform@1.12.0");
        assert_eq!(judged("terraform@1.16.0-rc2"), "terraform@1.16.0");
    }
}
