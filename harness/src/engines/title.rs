//! An engine's title, read back from where it was stored.

use semver::Version;

/// The engine and the version in what [`super::Engine::title`] gives: `terraform@1.15.5`, or
/// `terraform@1.15.5 at PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its version.
    pub version: Version,
}

impl<'a> Title<'a> {
    /// Reads a title; none if this is no engine's.
    pub fn parse(title: &'a str) -> Option<Self> {
        let named = title.split_once(" at ").map_or(title, |(named, _)| named);
        let (name, version) = named.split_once('@')?;
        Some(Self { name, version: Version::parse(version).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Engine, EngineName, EngineOrigin};
    use super::*;

    #[test]
    fn a_title_tells_the_engine_and_its_version() {
        for origin in [EngineOrigin::Installed, EngineOrigin::Given] {
            let version = Version::new(1, 12, 6);
            let path = "/found at home/tofu".into();
            let engine = Engine { name: EngineName::Tofu, version: version.clone(), path, origin };
            assert_eq!(Title::parse(&engine.title()), Some(Title { name: "tofu", version }));
        }
        for text in ["terraform", "terraform@new", ""] {
            assert_eq!(Title::parse(text), None);
        }
    }
}
