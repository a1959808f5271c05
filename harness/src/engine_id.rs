//! Which engine something was run on, as data. Cases, verdicts, campaigns and reports store it; nothing reads it back
//! from text.

use std::fmt::{self, Display};
use std::path::{Path, PathBuf};

use semver::Version;
use serde::{Deserialize, Serialize};

/// Engines that take the same commands, keep the same files and promise the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Terraform and its forks.
    Terraform,
}

impl Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Terraform => "terraform",
        })
    }
}

/// An engine, whatever its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineName {
    /// HashiCorp Terraform.
    Terraform,
    /// OpenTofu.
    Tofu,
}

impl EngineName {
    /// Every engine, in the order in which they are listed.
    pub const ALL: [Self; 2] = [Self::Terraform, Self::Tofu];

    /// The name people type, which is also the name of its executable and of its folder in the cache.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Terraform => "terraform",
            Self::Tofu => "tofu",
        }
    }

    /// What its makers call it.
    pub fn product(self) -> &'static str {
        match self {
            Self::Terraform => "Terraform",
            Self::Tofu => "OpenTofu",
        }
    }

    /// The family that it belongs to.
    pub fn family(self) -> Family {
        match self {
            Self::Terraform | Self::Tofu => Family::Terraform,
        }
    }
}

impl Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The SHA-256 digest of an engine's files, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BuildDigest(pub String);

/// An engine's identity. Where its executable lies is no part of it: see [`RecordedEngine`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "StoredId")]
pub struct EngineId {
    /// The family that it belongs to.
    pub family: Family,
    /// Which engine.
    pub name: EngineName,
    /// The version that it gives as its own.
    pub version: Version,
    /// Which build of that version; none where nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildDigest>,
}

impl EngineId {
    /// Some build of a version.
    pub fn new(name: EngineName, version: Version) -> Self {
        Self { family: name.family(), name, version, build: None }
    }

    /// The same version, whichever build.
    pub fn any_build(&self) -> Self {
        Self { build: None, ..self.clone() }
    }
}

impl Display for EngineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}@{}", self.name, self.version))
    }
}

/// An [`EngineId`] as it is stored, before its parts are known to agree.
#[derive(Deserialize)]
struct StoredId {
    family: Family,
    name: EngineName,
    version: Version,
    #[serde(default)]
    build: Option<BuildDigest>,
}

impl TryFrom<StoredId> for EngineId {
    type Error = String;

    fn try_from(StoredId { family, name, version, build }: StoredId) -> Result<Self, String> {
        if name.family() != family {
            return Err(format!("{name} is no engine of the family {family}"));
        }
        Ok(Self { family, name, version, build })
    }
}

/// An engine that was run: which one, and where its executable was if somebody named that place.
///
/// The path helps people to find the engine again. It says nothing about what the engine is, so compare the ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RecordedEngine {
    /// Which engine.
    #[serde(flatten)]
    pub id: EngineId,
    /// Its executable, if it was given by its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
}

impl RecordedEngine {
    /// The same without the folders that it lay in, which are nobody's business.
    pub fn without_folder(&self) -> Self {
        let file = |path: &Path| path.file_name().map(PathBuf::from);
        Self { id: self.id.clone(), path: self.path.as_deref().and_then(file) }
    }
}

impl From<EngineId> for RecordedEngine {
    fn from(id: EngineId) -> Self {
        Self { id, path: None }
    }
}

impl Display for RecordedEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            None => self.id.fmt(f),
            Some(path) => f.pad(&format!("{} at {}", self.id, path.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_engine_is_stored_as_data_and_read_back() {
        let id = EngineId::new(EngineName::Tofu, Version::new(1, 12, 6));
        let engine = RecordedEngine { id, path: Some("/found at home/tofu".into()) };
        let stored = serde_json::to_value(&engine).unwrap();
        let path = "/found at home/tofu";
        let expected = json!({ "family": "terraform", "name": "tofu", "version": "1.12.6", "path": path });
        assert_eq!(stored, expected);
        assert_eq!(serde_json::from_value::<RecordedEngine>(stored).unwrap(), engine);
        assert_eq!(engine.to_string(), "tofu@1.12.6 at /found at home/tofu");
        assert_eq!(engine.without_folder().to_string(), "tofu@1.12.6 at tofu");
    }

    #[test]
    fn an_engine_that_nobody_knows_is_refused() {
        let of = |family: &str, name: &str| json!({ "family": family, "name": name, "version": "1.0.0" });
        assert!(serde_json::from_value::<EngineId>(of("terraform", "terraform")).is_ok());
        for (family, name) in [("terraform", "pulumi"), ("pulumi", "terraform")] {
            assert!(serde_json::from_value::<EngineId>(of(family, name)).is_err(), "{name}");
        }
        assert!(serde_json::from_value::<EngineId>(json!("terraform@1.15.5")).is_err());
    }
}
