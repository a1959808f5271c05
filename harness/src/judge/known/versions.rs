//! The versions of an engine that have a bug.

use std::fmt;
use std::str::FromStr;

use semver::{Version, VersionReq};
use serde::{Deserialize, Deserializer, de};

/// Ranges of versions: `>=1.6, <1.16 || >=1.16.1, <1.17`. A bug may be absent from a version in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRanges(Vec<VersionReq>);

impl VersionRanges {
    /// Whether one of the ranges has a version.
    pub fn matches(&self, version: &Version) -> bool {
        self.0.iter().any(|range| range.matches(version))
    }
}

impl FromStr for VersionRanges {
    type Err = semver::Error;

    fn from_str(text: &str) -> Result<Self, semver::Error> {
        text.split("||").map(|range| range.trim().parse()).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for VersionRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, range) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str(" || ")?;
            }
            range.fmt(f)?;
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for VersionRanges {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_between_two_ranges_is_in_neither() {
        let ranges: VersionRanges = ">=1.6, <1.16 || >=1.16.1, <1.17".parse().unwrap();
        assert_eq!(ranges.to_string(), ">=1.6, <1.16 || >=1.16.1, <1.17");
        let has = |version: &str| ranges.matches(&version.parse().unwrap());
        assert!(has("1.6.6") && has("1.15.5") && has("1.16.1") && has("1.16.2"));
        assert!(!has("1.16.0") && !has("1.17.0") && !has("1.5.7"));
    }

    #[test]
    fn what_is_no_range_is_an_error() {
        for text in ["", ">=1.6 ||", "newest"] {
            assert!(text.parse::<VersionRanges>().is_err(), "{text:?}");
        }
    }
}
