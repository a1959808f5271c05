//! A stand-in for each provider that a program needs: the schema to serve, and a version that the program takes.

use std::path::Path;
use std::rc::Rc;

use semver::Version;

use super::address::ProviderAddress;
use super::lock;
use super::mirror::{MirrorError, NewStandin, StandinMirror};
use super::program::{Needed, Program};
use super::schema_check::Counts;
use super::schema_file::{SchemaError, SchemaFile};
use super::store::Schemas;

/// A stand-in to be installed.
#[derive(Debug)]
pub struct Chosen {
    /// The provider.
    pub address: ProviderAddress,
    /// The version that it is given.
    pub version: Version,
    /// The schema; none for a provider that needs none.
    pub schema: Option<Rc<SchemaFile>>,
    /// The version that the schema is of, where its name tells another one.
    pub schema_version: Option<Version>,
    /// How many types it has.
    pub counts: Counts,
    /// Attributes of `provider_meta` blocks.
    pub provider_meta: Vec<String>,
}

/// A provider without a schema.
#[derive(Debug)]
pub struct Missing {
    /// What is needed.
    pub needed: Needed,
    /// The version that the program was deployed with.
    pub locked: Option<Version>,
}

/// Why there are no stand-ins for a program.
#[derive(Debug, thiserror::Error)]
pub enum ChooseError {
    /// A schema cannot be used.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// No version is allowed.
    #[error("no version of {0} is allowed by `{1}`: its constraints contradict each other")]
    Contradiction(ProviderAddress, String),
}

/// Chooses for all providers of a program; those without a schema are given apart.
pub fn choose(
    program: &Program,
    folder: &Path,
    schemas: &Schemas,
) -> Result<(Vec<Chosen>, Vec<Missing>), ChooseError> {
    let (mut chosen, mut missing) = (Vec::new(), Vec::new());
    for needed in &program.providers {
        let Needed { address, constraints, .. } = needed;
        let provider_meta: Vec<String> = needed.provider_meta.iter().cloned().collect();
        let locked = lock::version_of(folder, address).filter(|version| constraints.allow(version));
        let contradiction = || ChooseError::Contradiction(address.clone(), constraints.to_string());
        let Some(found) = schemas.find(address, locked.as_ref(), constraints)? else {
            if address.needs_no_schema() {
                let version = locked.or_else(|| constraints.pick()).ok_or_else(contradiction)?;
                let counts = Counts::default();
                chosen.push(Chosen {
                    address: address.clone(),
                    version,
                    schema: None,
                    schema_version: None,
                    counts,
                    provider_meta,
                });
                continue;
            }
            missing.push(Missing { needed: needed.clone(), locked });
            continue;
        };
        let allowed = found.version.clone().filter(|version| constraints.allow(version));
        let version = locked.or(allowed).or_else(|| constraints.pick());
        let version = version.ok_or_else(contradiction)?;
        let counts = found.file.expect(address)?.check()?;
        let schema_version = found.version.filter(|other| *other != version);
        let schema = Some(found.file);
        chosen.push(Chosen {
            address: address.clone(),
            version,
            schema,
            schema_version,
            counts,
            provider_meta,
        });
    }
    Ok((chosen, missing))
}

impl Chosen {
    /// Installs it.
    pub fn install(&self, mirror: &StandinMirror, provider: &Path) -> Result<(), MirrorError> {
        let schema = self.schema.as_ref();
        let schema = schema.map(|schema| schema.part(&self.address).expect("it was found there"));
        let new = NewStandin {
            address: &self.address,
            version: &self.version,
            protocol: super::mirror::DEFAULT_PROTOCOL,
            schema: schema.as_ref(),
            overrides: None,
            provider_meta: &self.provider_meta,
        };
        mirror.install(provider, new).map(drop)
    }
}
