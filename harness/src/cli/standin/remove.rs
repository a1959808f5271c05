//! `equiform standin remove`: removes a stand-in.

use clap::Args;

use super::{CONFIGURATION, MirrorArgs};
use crate::cli::{CliResult, Outcome, output};
use crate::standin::address::VersionedAddress;

/// Remove a stand-in, of one version or of all versions; engines then install the real provider again
#[derive(Debug, Args)]
pub(super) struct Remove {
    /// The provider
    #[arg(value_name = "[HOST/]NAMESPACE/TYPE[@VERSION]")]
    address: VersionedAddress,

    #[command(flatten)]
    mirror: MirrorArgs,
}

impl Remove {
    pub(super) fn run(self) -> CliResult {
        let mirror = self.mirror.mirror();
        let removed = mirror.remove(&self.address.address, self.address.version.as_ref())?;
        mirror.write_configuration(&mirror.folder().join(CONFIGURATION))?;
        output(|out| {
            for installed in &removed {
                writeln!(out, "{} {} is removed", installed.address, installed.version)?;
            }
            Ok(())
        })?;
        Ok(Outcome::Clean)
    }
}
