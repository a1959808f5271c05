//! How people name an engine: `NAME` or `NAME@VERSION`.

use std::fmt::{self, Display};
use std::str::FromStr;

use semver::Version;

use crate::engine_id::{EngineId, EngineName};

impl FromStr for EngineName {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        match text {
            "terraform" => Ok(Self::Terraform),
            "tofu" | "opentofu" => Ok(Self::Tofu),
            _ => Err(SpecError::UnknownName(text.to_owned())),
        }
    }
}

/// Which version of an engine is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionRequest {
    /// None is named.
    Any,
    /// A minor version, `1.11`: any of its patches, the newest first.
    Minor {
        /// The first number.
        major: u64,
        /// The second number.
        minor: u64,
    },
    /// This one and no other.
    Exact(Version),
}

impl VersionRequest {
    /// Whether `version` is what was asked for.
    pub fn accepts(&self, version: &Version) -> bool {
        match self {
            Self::Any => true,
            Self::Minor { major, minor } => {
                (version.major, version.minor) == (*major, *minor) && version.pre.is_empty()
            }
            Self::Exact(exact) => version == exact,
        }
    }
}

/// An engine as asked for, `terraform@1.11.4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineSpec {
    /// Which engine.
    pub name: EngineName,
    /// Which of its versions.
    pub version: VersionRequest,
}

impl EngineSpec {
    /// The engine that it names, if it names one version.
    pub fn id(&self) -> Option<EngineId> {
        match &self.version {
            VersionRequest::Exact(version) => Some(EngineId::new(self.name, version.clone())),
            VersionRequest::Any | VersionRequest::Minor { .. } => None,
        }
    }
}

impl Display for EngineSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        match &self.version {
            VersionRequest::Any => Ok(()),
            VersionRequest::Minor { major, minor } => write!(f, "@{major}.{minor}"),
            VersionRequest::Exact(version) => write!(f, "@{version}"),
        }
    }
}

impl FromStr for EngineSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let Some((name, version)) = text.split_once('@') else {
            return Ok(Self { name: text.parse()?, version: VersionRequest::Any });
        };
        let name = name.parse()?;
        let version =
            parse_version(version).ok_or_else(|| SpecError::BadVersion { name, text: version.to_owned() })?;
        Ok(Self { name, version })
    }
}

fn parse_version(text: &str) -> Option<VersionRequest> {
    let text = text.strip_prefix('v').unwrap_or(text);
    if let Ok(version) = Version::parse(text) {
        return Some(VersionRequest::Exact(version));
    }
    let (major, minor) = text.split_once('.')?;
    // The version parser knows what a well-formed number is: no sign, no leading zero.
    let padded = Version::parse(&format!("{major}.{minor}.0")).ok()?;
    let only_numbers = padded.pre.is_empty() && padded.build.is_empty();
    only_numbers.then_some(VersionRequest::Minor { major: padded.major, minor: padded.minor })
}

/// A text that names no engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The part before `@` is no engine.
    #[error("there is no engine called `{0}`; the engines are terraform and tofu (also called opentofu)")]
    UnknownName(String),
    /// The part after `@` is no version.
    #[error(
        "`{text}` is not a version; write {name}@1.10 for the newest patch of a minor version, or all three numbers"
    )]
    BadVersion {
        /// The engine.
        name: EngineName,
        /// What stands in the version's place.
        text: String,
    },
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spec(text: &str) -> EngineSpec {
        text.parse().unwrap()
    }

    #[test]
    fn a_bare_name_asks_for_any_version() {
        assert_eq!(
            spec("terraform"),
            EngineSpec { name: EngineName::Terraform, version: VersionRequest::Any }
        );
    }

    #[test]
    fn opentofu_is_another_name_for_tofu() {
        assert_eq!(spec("opentofu@1.12.6"), spec("tofu@1.12.6"));
    }

    #[test]
    fn two_numbers_ask_for_a_minor_version() {
        assert_eq!(spec("terraform@1.11").version, VersionRequest::Minor { major: 1, minor: 11 });
    }

    #[test]
    fn a_leading_v_is_forgiven() {
        assert_eq!(spec("tofu@v1.12.6"), spec("tofu@1.12.6"));
    }

    #[test]
    fn a_minor_version_accepts_its_patches_and_no_prerelease() {
        let minor = spec("terraform@1.11").version;
        assert!(minor.accepts(&Version::new(1, 11, 4)));
        assert!(!minor.accepts(&Version::new(1, 1, 1)));
        assert!(!minor.accepts(&Version::parse("1.11.0-rc1").unwrap()));
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_names_there_are() {
        let error = "pulumi@3".parse::<EngineSpec>().unwrap_err();
        insta::assert_snapshot!(
            error,
            @"there is no engine called `pulumi`; the engines are terraform and tofu (also called opentofu)"
        );
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for text in ["", "1", "latest", "1.x", "01.2", "1.11.", "1.11-rc1", "1.11+b", "../../tmp"] {
            let refused = format!("terraform@{text}").parse::<EngineSpec>();
            assert!(matches!(refused, Err(SpecError::BadVersion { .. })), "{text:?} gave {refused:?}");
        }
    }

    proptest! {
        #[test]
        fn a_printed_spec_reads_back_as_itself(
            name in prop::sample::select(&EngineName::ALL[..]),
            numbers in any::<(u16, u16, u16)>(),
            kind in 0..3,
        ) {
            let (major, minor, patch) = (numbers.0.into(), numbers.1.into(), numbers.2.into());
            let version = match kind {
                0 => VersionRequest::Any,
                1 => VersionRequest::Minor { major, minor },
                _ => VersionRequest::Exact(Version::new(major, minor, patch)),
            };
            let spec = EngineSpec { name, version };
            prop_assert_eq!(spec.to_string().parse::<EngineSpec>(), Ok(spec));
        }
    }
}
