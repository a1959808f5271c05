//! The rules of the model, each with where it comes from.
//!
//! `sources` is what there is to say of each, [`LeftOut`] those that a campaign does not judge by. `docs/model.md` has
//! the same rules and sources in tables; a test holds the page to this file.

mod left_out;
mod sources;

use serde::{Deserialize, Serialize};

pub use left_out::LeftOut;
use sources::{ABOUT, About};
pub use sources::{Evidence, Source};

/// A rule of the model. The first eight order operations and can be left out; the others say which operations
/// are due, and how far the first ones reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A dependency is made before its dependent.
    DependencyMadeFirst,
    /// A dependent is deleted before its dependency.
    DependentDeletedFirst,
    /// A replacement deletes first.
    DeleteThenCreate,
    /// With create_before_destroy a replacement creates first.
    CreateThenDelete,
    /// A dependent's old object is deleted before its dependency is changed.
    DependentDeletedBeforeChange,
    /// A removed dependency is deleted before its former dependent is changed.
    RemovedDependencyFirst,
    /// With create_before_destroy a removed dependency is deleted after that.
    RemovedDependencyOutlives,
    /// With create_before_destroy the old object of a dependency is deleted after its dependents have changed
    /// over.
    DependentsChangeOver,
    /// What is new is created.
    Created,
    /// What is gone is deleted.
    Removed,
    /// A change of a pinned reference is a replacement.
    Replaced,
    /// A change of a plain reference is an update.
    Updated,
    /// Everything else is left alone.
    LeftAlone,
    /// create_before_destroy spreads to all dependencies.
    SettingSpreads,
    /// Order reaches through resources that are left alone.
    WholeChain,
    /// What no rule orders may overlap.
    Unordered,
}

impl Rule {
    /// All rules, in the order of their numbers.
    pub const ALL: [Self; 16] = [
        Self::DependencyMadeFirst,
        Self::DependentDeletedFirst,
        Self::DeleteThenCreate,
        Self::CreateThenDelete,
        Self::DependentDeletedBeforeChange,
        Self::RemovedDependencyFirst,
        Self::RemovedDependencyOutlives,
        Self::DependentsChangeOver,
        Self::Created,
        Self::Removed,
        Self::Replaced,
        Self::Updated,
        Self::LeftAlone,
        Self::SettingSpreads,
        Self::WholeChain,
        Self::Unordered,
    ];

    /// Its number in `docs/model.md`.
    pub fn number(self) -> u8 {
        self.about().number
    }

    /// Its name, as files and options have it.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// What it demands, in a sentence.
    pub fn text(self) -> &'static str {
        self.about().text
    }

    /// Where it comes from.
    pub fn sources(self) -> &'static [Source] {
        self.about().sources
    }

    /// Where somebody upstream wants it otherwise; empty if the rule is not contested.
    pub fn contested(self) -> &'static [Source] {
        self.about().contested
    }

    /// Whether it orders two operations. Such a rule can be left out.
    pub fn orders(self) -> bool {
        self <= Self::DependentsChangeOver
    }

    fn about(self) -> &'static About {
        &ABOUT[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_own_number_and_name_and_a_source() {
        for (rule, number) in Rule::ALL.into_iter().zip(1..) {
            assert_eq!(rule.number(), number);
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.name());
            assert!(!rule.sources().is_empty(), "{}", rule.name());
        }
    }

    #[test]
    fn the_page_of_the_model_has_every_rule_with_every_source() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/model.md")).unwrap();
        for rule in Rule::ALL {
            let heading = format!("**{} `{}`**", rule.number(), rule.name());
            let part = page.split(&heading).nth(1).unwrap_or_else(|| panic!("the page has no {heading}"));
            let part = part.split("\n- **").next().unwrap_or_default();
            let words = part.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(rule.text()), "{heading} says something else than {:?}", rule.text());
            for source in rule.sources().iter().chain(rule.contested()) {
                assert!(words.contains(source.place), "{heading} does not name {}", source.place);
            }
            assert_eq!(words.contains("Contested:"), !rule.contested().is_empty(), "{heading}");
        }
    }
}
