//! The versions that `.terraform.lock.hcl` names.

use std::path::Path;

use semver::Version;

use super::address::ProviderAddress;
use super::constraint;

/// The name of the file.
pub const LOCK_FILE: &str = ".terraform.lock.hcl";

/// The providers of a lock file with their versions. A file that is not there, or cannot be read, names none: engines
/// say what is wrong with it.
pub fn versions(folder: &Path) -> Vec<(ProviderAddress, Version)> {
    let Ok(text) = std::fs::read_to_string(folder.join(LOCK_FILE)) else { return Vec::new() };
    let Ok(body) = hcl::parse(&text) else { return Vec::new() };
    let providers = body.into_blocks().filter(|block| block.identifier() == "provider");
    providers
        .filter_map(|block| {
            let address = block.labels().first()?.as_str().parse().ok()?;
            let version = block.body().attributes().find(|attribute| attribute.key() == "version")?;
            match version.expr() {
                hcl::Expression::String(text) => Some((address, constraint::version(text)?)),
                _ => None,
            }
        })
        .collect()
}

/// The version of a provider in a lock file.
pub fn version_of(folder: &Path, address: &ProviderAddress) -> Option<Version> {
    versions(folder).into_iter().find(|(other, _)| address.means(other)).map(|(_, version)| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_anything_else_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        assert!(versions(folder.path()).is_empty());
        let text = "# made by init\nprovider \"registry.terraform.io/hashicorp/aws\" {\n  version     = \"5.31.0\"\n  \
                    constraints = \"~> 5.0\"\n  hashes = [\n    \"h1:abc=\",\n  ]\n}\nprovider \"broken\" {}\n";
        std::fs::write(folder.path().join(LOCK_FILE), text).unwrap();
        let aws = "hashicorp/aws".parse().unwrap();
        assert_eq!(version_of(folder.path(), &aws), Some(Version::new(5, 31, 0)));
        assert_eq!(versions(folder.path()).len(), 1);
        std::fs::write(folder.path().join(LOCK_FILE), "provider {{{").unwrap();
        assert!(versions(folder.path()).is_empty());
    }
}
