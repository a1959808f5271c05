//! Stand-ins in a folder that engines install providers from:
//! `HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/terraform-provider-TYPE_vVERSION`, and `standin/` beside it with what the
//! provider serves. Each is there whole or not at all.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use semver::Version;
use serde::{Deserialize, Serialize};

use super::address::ProviderAddress;
use super::schema_file::Part;
use crate::engines::terraform::provider_access::{mirror_and_direct, platform};
use crate::util::files::{Access, write_atomic};

/// The folder of a stand-in, beside the executable.
const FOLDER: &str = "standin";

/// What stands in it.
const DESCRIPTION: &str = "standin.json";
const SCHEMA: &str = "schema.json";
const OVERRIDES: &str = "overrides.json";

/// The version of the description.
const VERSION: u32 = 1;

/// The plugin protocol that is spoken where nothing is said of it.
pub const DEFAULT_PROTOCOL: u8 = 6;

/// What `standin.json` says.
#[derive(Debug, Serialize, Deserialize)]
struct Description {
    standin: u32,
    address: String,
    version: String,
    #[serde(default = "default_protocol")]
    protocol: u8,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    provider_meta: Vec<String>,
}

fn default_protocol() -> u8 {
    DEFAULT_PROTOCOL
}

/// A folder of stand-ins, and of any other providers.
#[derive(Debug, Clone)]
pub struct StandinMirror(PathBuf);

/// A stand-in that is installed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Installed {
    /// The provider, with its host.
    #[serde(serialize_with = "as_text")]
    pub address: ProviderAddress,
    /// The version.
    pub version: Version,
    /// The plugin protocol that it speaks.
    pub protocol: u8,
    /// Whether it has overrides of its own.
    pub overrides: bool,
    /// The folder with its executable.
    pub folder: PathBuf,
}

fn as_text<S: serde::Serializer>(address: &ProviderAddress, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(address)
}

/// What is to be installed.
#[derive(Debug, Clone, Copy)]
pub struct NewStandin<'a> {
    /// The provider that it stands in for.
    pub address: &'a ProviderAddress,
    /// Its version.
    pub version: &'a Version,
    /// The plugin protocol to speak.
    pub protocol: u8,
    /// Its schema, checked; none for a provider that needs none.
    pub schema: Option<&'a Part<'a>>,
    /// A file of overrides.
    pub overrides: Option<&'a Path>,
    /// Attributes of `provider_meta` blocks beyond the common ones: schema files do not have them.
    pub provider_meta: &'a [String],
}

/// A stand-in that cannot be installed, listed or removed.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// A file cannot be written or read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// There is something else in its place.
    #[error(
        "{} holds another provider, which is not overwritten; take another version by --as {address}@VERSION, or \
         another folder by --mirror",
        path.display()
    )]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// The provider.
        address: ProviderAddress,
    },
    /// The overrides are no JSON object.
    #[error("{}{place}: overrides are a JSON object: {why}", path.display())]
    Overrides {
        /// The file.
        path: PathBuf,
        /// Line and column.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// There is nothing to remove.
    #[error(
        "there is no stand-in for {asked} in {}; `equiform standin list` shows those that are there",
        mirror.display()
    )]
    Nothing {
        /// What was asked for.
        asked: String,
        /// Where.
        mirror: PathBuf,
    },
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> MirrorError + '_ {
    move |source| MirrorError::Io { path: path.to_owned(), source }
}

impl StandinMirror {
    /// The stand-ins in a folder, which need not be there.
    pub fn at(folder: &Path) -> Self {
        // Engines are run in other folders, where a relative path leads elsewhere.
        Self(std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Installs a stand-in for each host that its address means, and gives their folders. `provider` is the mock
    /// provider's executable.
    pub fn install(&self, provider: &Path, new: NewStandin<'_>) -> Result<Vec<PathBuf>, MirrorError> {
        let overrides = new.overrides.map(read_overrides).transpose()?;
        fs::create_dir_all(&self.0).map_err(io_error(&self.0))?;
        let mut folders: Vec<PathBuf> = Vec::new();
        for address in new.address.with_hosts() {
            let folder = self.folder_of(&address, new.version);
            if folder.exists() && described(&folder).is_none() {
                return Err(MirrorError::Foreign { path: folder, address: new.address.clone() });
            }
            let staging =
                tempfile::Builder::new().prefix(".new-").tempdir_in(&self.0).map_err(io_error(&self.0))?;
            let made = staging.path().join("new");
            let executable = format!("terraform-provider-{}_v{}", address.type_name, new.version);
            fs::create_dir_all(made.join(FOLDER)).map_err(io_error(&made))?;
            copy(provider, &made.join(&executable)).map_err(io_error(provider))?;
            let description = Description {
                standin: VERSION,
                address: address.to_string(),
                version: new.version.to_string(),
                protocol: new.protocol,
                provider_meta: new.provider_meta.to_vec(),
            };
            let description = serde_json::to_string(&description).expect("texts serialise") + "\n";
            let write = |name: &str, text: &str| {
                let path = made.join(FOLDER).join(name);
                fs::write(&path, text).map_err(io_error(&path))
            };
            if let Some(schema) = new.schema {
                write(SCHEMA, &schema.cut(&address))?;
            }
            if let Some(overrides) = &overrides {
                write(OVERRIDES, overrides)?;
            }
            write(DESCRIPTION, &description)?;
            let parent = folder.parent().unwrap_or(&self.0);
            fs::create_dir_all(parent).map_err(io_error(parent))?;
            if folder.exists() {
                fs::rename(&folder, staging.path().join("old")).map_err(io_error(&folder))?;
            }
            fs::rename(&made, &folder).map_err(io_error(&folder))?;
            folders.push(folder);
        }
        Ok(folders)
    }

    /// All stand-ins, by address and version. Other providers are passed over.
    pub fn list(&self) -> Result<Vec<Installed>, MirrorError> {
        let mut found = Vec::new();
        for host in folders(&self.0)? {
            for namespace in folders(&host)? {
                for type_name in folders(&namespace)? {
                    for version in folders(&type_name)? {
                        found.extend(folders(&version)?.iter().filter_map(|folder| described(folder)));
                    }
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// Removes the stand-ins for a provider, of one version or of all, and gives them.
    pub fn remove(
        &self,
        address: &ProviderAddress,
        version: Option<&Version>,
    ) -> Result<Vec<Installed>, MirrorError> {
        let mut removed = self.list()?;
        removed.retain(|installed| {
            address.means(&installed.address) && version.is_none_or(|version| *version == installed.version)
        });
        if removed.is_empty() {
            let asked = match version {
                Some(version) => format!("{address}@{version}"),
                None => address.to_string(),
            };
            return Err(MirrorError::Nothing { asked, mirror: self.0.clone() });
        }
        for installed in &removed {
            // Out of sight in one go, then removed file by file.
            let staging =
                tempfile::Builder::new().prefix(".old-").tempdir_in(&self.0).map_err(io_error(&self.0))?;
            fs::rename(&installed.folder, staging.path().join("old")).map_err(io_error(&installed.folder))?;
            let above = installed.folder.ancestors().skip(1).take_while(|folder| **folder != *self.0);
            for folder in above {
                // Those that still hold something stay.
                if fs::remove_dir(folder).is_err() {
                    break;
                }
            }
        }
        Ok(removed)
    }

    /// Writes an engine's configuration that leads it to the stand-ins here and to the mock provider, and to the
    /// registries for all others.
    pub fn write_configuration(&self, path: &Path) -> Result<(), MirrorError> {
        let mut addresses: Vec<String> =
            self.list()?.iter().map(|installed| installed.address.to_string()).collect();
        addresses.dedup();
        let text = mirror_and_direct(&self.0, &addresses);
        write_atomic(path, Access::Shared, text).map_err(io_error(path))
    }

    fn folder_of(&self, address: &ProviderAddress, version: &Version) -> PathBuf {
        let host = address.host.as_deref().unwrap_or_default();
        let folder = self.0.join(host).join(&address.namespace).join(&address.type_name);
        folder.join(version.to_string()).join(platform())
    }
}

/// The folders in a folder that are not hidden; none if it is not there.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, MirrorError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(io_error(folder))?,
    };
    let visible = |path: &PathBuf| {
        path.is_dir() && path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b"."))
    };
    Ok(entries.flatten().map(|entry| entry.path()).filter(visible).collect())
}

/// The stand-in in a folder; none if there is none, or one of another version.
fn described(folder: &Path) -> Option<Installed> {
    let own = folder.join(FOLDER);
    let text = fs::read(own.join(DESCRIPTION)).ok()?;
    let description: Description = serde_json::from_slice(&text).ok()?;
    Some(Installed {
        address: description.address.parse().ok()?,
        version: description.version.parse().ok()?,
        protocol: description.protocol,
        overrides: own.join(OVERRIDES).exists(),
        folder: folder.to_owned(),
    })
}

/// Copies an executable. Engines refuse one that somebody has open for writing, so it is copied under another name of
/// the same folder, and only then named.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let draft = to.with_extension("draft");
    io::copy(&mut File::open(from)?, &mut File::create(&draft)?)?;
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o755))?;
    fs::rename(draft, to)
}

/// The most bytes of a file of overrides.
const MOST_OVERRIDES: u64 = 16 << 20;

/// Reads overrides, which have to be a JSON object. What is in it, the provider checks.
fn read_overrides(path: &Path) -> Result<String, MirrorError> {
    let wrong = |place: String, why: String| MirrorError::Overrides { path: path.to_owned(), place, why };
    if fs::metadata(path).map_err(io_error(path))?.len() > MOST_OVERRIDES {
        return Err(wrong(String::new(), format!("this file has more than {} MB", MOST_OVERRIDES >> 20)));
    }
    let text = fs::read_to_string(path).map_err(io_error(path))?;
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text) {
        Ok(_) => Ok(text),
        Err(error) => Err(wrong(format!(":{}:{}", error.line(), error.column()), error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema_file::SchemaFile;
    use super::*;

    struct Place {
        folder: tempfile::TempDir,
        schema: SchemaFile,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let schema = folder.path().join("schema.json");
            let text =
                r#"{"format_version":"1.0","provider_schemas":{"registry.terraform.io/hashicorp/aws":{}}}"#;
            fs::write(&schema, text).unwrap();
            fs::write(folder.path().join("provider"), "#!/bin/sh\n").unwrap();
            let schema = SchemaFile::read(&schema).unwrap();
            Self { folder, schema }
        }

        fn mirror(&self) -> StandinMirror {
            StandinMirror::at(&self.folder.path().join("mirror"))
        }

        fn install(&self, version: &str) -> Result<Vec<PathBuf>, MirrorError> {
            let (address, version) = ("hashicorp/aws".parse().unwrap(), version.parse().unwrap());
            let schema = &self.schema.part(&address).unwrap();
            let new = NewStandin {
                address: &address,
                version: &version,
                protocol: 5,
                schema: Some(schema),
                overrides: None,
                provider_meta: &[],
            };
            self.mirror().install(&self.folder.path().join("provider"), new)
        }
    }

    fn names(list: &[Installed]) -> Vec<String> {
        list.iter().map(|installed| format!("{}@{}", installed.address, installed.version)).collect()
    }

    #[test]
    fn a_stand_in_is_there_for_both_hosts_and_can_be_replaced_and_removed() {
        let place = Place::new();
        let folders = place.install("5.31.0").unwrap();
        assert_eq!(place.install("5.31.0").unwrap(), folders);
        place.install("4.0.0").unwrap();
        let executable = folders[0].join("terraform-provider-aws_v5.31.0");
        assert_eq!(fs::metadata(executable).unwrap().permissions().mode() & 0o777, 0o755);
        let description = fs::read_to_string(folders[0].join("standin/standin.json")).unwrap();
        assert_eq!(
            description,
            "{\"standin\":1,\"address\":\"registry.terraform.io/hashicorp/aws\",\"version\":\"5.31.0\",\
             \"protocol\":5}\n"
        );
        let schema = fs::read_to_string(folders[1].join("standin/schema.json")).unwrap();
        assert!(schema.contains("\"registry.opentofu.org/hashicorp/aws\":{}"), "{schema}");
        let all = names(&place.mirror().list().unwrap());
        assert_eq!(
            all,
            [
                "registry.opentofu.org/hashicorp/aws@4.0.0",
                "registry.opentofu.org/hashicorp/aws@5.31.0",
                "registry.terraform.io/hashicorp/aws@4.0.0",
                "registry.terraform.io/hashicorp/aws@5.31.0",
            ]
        );
        let aws = "hashicorp/aws".parse().unwrap();
        let removed = place.mirror().remove(&aws, Some(&Version::new(4, 0, 0))).unwrap();
        assert_eq!(removed.len(), 2);
        let own = "registry.opentofu.org/hashicorp/aws".parse().unwrap();
        assert_eq!(place.mirror().remove(&own, None).unwrap().len(), 1);
        assert_eq!(names(&place.mirror().list().unwrap()), ["registry.terraform.io/hashicorp/aws@5.31.0"]);
        place.mirror().remove(&aws, None).unwrap();
        assert!(matches!(place.mirror().remove(&aws, None), Err(MirrorError::Nothing { .. })));
        assert_eq!(fs::read_dir(place.mirror().folder()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn another_provider_is_left_alone() {
        let place = Place::new();
        let folder =
            place.mirror().folder().join("registry.terraform.io/hashicorp/aws/5.31.0").join(platform());
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("terraform-provider-aws_v5.31.0"), "the real one").unwrap();
        assert!(matches!(place.install("5.31.0"), Err(MirrorError::Foreign { .. })));
        assert!(place.mirror().list().unwrap().is_empty());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn overrides_that_are_no_object_are_refused_with_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("overrides.json");
        fs::write(&path, "{\n  \"a\": }").unwrap();
        let error = read_overrides(&path).unwrap_err().to_string();
        assert!(error.contains("overrides.json:2:8: overrides are a JSON object"), "{error}");
        fs::write(&path, "[".repeat(100_000)).unwrap();
        assert!(read_overrides(&path).is_err());
    }
}
