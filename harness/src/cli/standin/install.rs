//! `equiform standin install`: installs one stand-in, for users who run the engine themselves.

use std::path::{Path, PathBuf};

use clap::Args;
use semver::Version;

use super::{CONFIGURATION, MirrorArgs, shell_word};
use crate::cli::{CliResult, Outcome, output};
use crate::deploy::provider;
use crate::standin::address::{ProviderAddress, VersionedAddress};
use crate::standin::constraint::UNKNOWN_VERSION;
use crate::standin::mirror::{DEFAULT_PROTOCOL, NewStandin};
use crate::standin::schema_file::SchemaFile;
use crate::standin::{lock, store};
use crate::util::files::folder_of;

/// Install a stand-in for a provider where engines find it
///
/// It is installed for Terraform and for OpenTofu, unless the address names a host. The command writes a configuration
/// file that makes engines use it; export the line that it prints, and run `init` again. An installed stand-in of the
/// same version is replaced.
#[derive(Debug, Args)]
#[command(after_help = "To get the schema, on a machine where the provider can be installed:\n  \
    terraform init && terraform providers schema -json >schema.json\n\n\
    Example:\n  equiform standin install --schema schema.json --as hashicorp/aws@5.31.0")]
pub(super) struct Install {
    /// The output of `terraform providers schema -json`; it may have other providers too. tfcoremock needs none
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,

    /// The provider to stand in for. Without a version: that of the lock file beside the schema or in the working
    /// directory, or the one in the schema's file name (aws-5.31.0.json), or 99.0.0
    #[arg(long = "as", value_name = "[HOST/]NAMESPACE/TYPE[@VERSION]")]
    address: VersionedAddress,

    /// A file that says what the schema does not: what data sources return, what forces a replacement
    #[arg(long, value_name = "FILE")]
    overrides: Option<PathBuf>,

    /// The version of the plugin protocol to speak
    #[arg(long, default_value_t = DEFAULT_PROTOCOL, value_parser = clap::value_parser!(u8).range(5..=6))]
    protocol: u8,

    #[command(flatten)]
    mirror: MirrorArgs,
}

impl Install {
    pub(super) fn run(self) -> CliResult {
        let provider = provider::locate()?;
        let address = &self.address.address;
        if self.schema.is_none() && !address.needs_no_schema() {
            return Err(format!(
                "a stand-in for {address} needs its schema: run `terraform providers schema -json >schema.json` \
                 in a folder that uses the provider, and give --schema schema.json"
            )
            .into());
        }
        let file = self.schema.as_deref().map(SchemaFile::read).transpose()?;
        let part = file.as_ref().map(|file| file.expect(address)).transpose()?;
        let counts = part.as_ref().map(|part| part.check()).transpose()?;
        let (version, why) = match &self.address.version {
            Some(version) => (version.clone(), None),
            None => {
                let schema = self.schema.as_deref().unwrap_or(Path::new(""));
                let (version, why) = default_version(schema, address);
                (version, Some(why))
            }
        };
        let mirror = self.mirror.mirror();
        let overrides = self.overrides.as_deref();
        let (protocol, schema, provider_meta) = (self.protocol, part.as_ref(), &[][..]);
        let new = NewStandin { address, version: &version, protocol, schema, overrides, provider_meta };
        let folders = mirror.install(&provider, new)?;
        let configuration = mirror.folder().join(CONFIGURATION);
        mirror.write_configuration(&configuration)?;
        output(|out| {
            write!(out, "{address} {version} has a stand-in")?;
            match counts {
                Some(counts) => {
                    writeln!(out, ": {} resources, {} data sources", counts.resources, counts.data_sources)?;
                }
                None => writeln!(out, ", which needs no schema")?,
            }
            if let Some(why) = why {
                writeln!(out, "  version       {why}")?;
            }
            for folder in &folders {
                writeln!(out, "  in            {}", folder.display())?;
            }
            writeln!(out, "In the shell in which you use it:\n")?;
            writeln!(out, "  export TF_CLI_CONFIG_FILE={}", shell_word(&configuration))?;
            writeln!(
                out,
                "\nThen run `init`; the ledger is equiform.ledger.jsonl in the program's folder. If a lock file has"
            )?;
            writeln!(out, "the real provider's hashes, remove it first: rm {}", lock::LOCK_FILE)
        })?;
        Ok(Outcome::Clean)
    }
}

/// The version if none was given, and where it comes from.
fn default_version(schema: &Path, address: &ProviderAddress) -> (Version, String) {
    for folder in [folder_of(schema), Path::new(".")] {
        if let Some(version) = lock::version_of(folder, address) {
            let why = format!("from {}", folder.join(lock::LOCK_FILE).display());
            return (version, why);
        }
    }
    if let Some(version) = store::version_in_name(schema, address) {
        return (version, "from the schema's file name".to_owned());
    }
    let why = format!(
        "none was given, so it is {UNKNOWN_VERSION}: `>=` allows it and `~>` does not; give one with \
         --as {address}@VERSION"
    );
    (UNKNOWN_VERSION, why)
}
