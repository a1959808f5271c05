//! An engine's title, read back from where it was stored.

use semver::Version;

/// The parts of what [`super::Engine::title`] gives: `terraform@1.15.5`, or `PATH (terraform@1.15.5)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title<'a> {
    /// What to ask for to get this engine again.
    pub choice: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its version.
    pub version: Version,
}

impl<'a> Title<'a> {
    /// Reads a title; none if this is no engine's.
    pub fn parse(title: &'a str) -> Option<Self> {
        let by_path = title.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
        let (choice, named) = by_path.unwrap_or((title, title));
        let (name, version) = named.split_once('@')?;
        Some(Self { choice, name, version: Version::parse(version).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Engine, EngineName, Origin};
    use super::*;

    #[test]
    fn a_title_leads_back_to_its_engine() {
        for (origin, choice) in [(Origin::Installed, "tofu@1.12.6"), (Origin::Given, "/my (own)/tofu")] {
            let version = Version::new(1, 12, 6);
            let path = "/my (own)/tofu".into();
            let engine = Engine { name: EngineName::Tofu, version: version.clone(), path, origin };
            let title = engine.title();
            assert_eq!(Title::parse(&title), Some(Title { choice, name: "tofu", version }));
        }
        for text in ["terraform", "terraform@new", ""] {
            assert_eq!(Title::parse(text), None);
        }
    }
}
