//! The rules of the model, each with where it comes from.
//!
//! `docs/model.md` has the same rules and sources in tables; a test holds the page to this file.

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A rule of the model. The first eight order operations and can be left out; the others say which operations are
/// due, and how far the first ones reach.
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
    /// With create_before_destroy the old object of a dependency is deleted after its dependents have changed over.
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

/// What a rule rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// An engine's documentation.
    Documentation,
    /// A test in an engine's repository.
    Test,
    /// What a maintainer wrote, or did, in an issue, a pull request or a commit.
    Maintainer,
    /// What somebody asks for, and nobody has agreed to yet.
    Proposal,
    /// What engines were seen to do. Nobody promises it.
    Observed,
}

impl Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Documentation => "documentation",
            Self::Test => "test",
            Self::Maintainer => "maintainer",
            Self::Proposal => "proposal",
            Self::Observed => "observed",
        })
    }
}

/// A place where a rule is written down, or was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// What kind of evidence it is.
    pub evidence: Evidence,
    /// The place: a repository with a file and a heading or a test, an issue, or versions.
    pub place: &'static str,
}

const fn documentation(place: &'static str) -> Source {
    Source { evidence: Evidence::Documentation, place }
}

const fn test(place: &'static str) -> Source {
    Source { evidence: Evidence::Test, place }
}

const fn maintainer(place: &'static str) -> Source {
    Source { evidence: Evidence::Maintainer, place }
}

const fn proposal(place: &'static str) -> Source {
    Source { evidence: Evidence::Proposal, place }
}

const fn observed(place: &'static str) -> Source {
    Source { evidence: Evidence::Observed, place }
}

/// All that there is to say of a rule.
struct About {
    number: u8,
    name: &'static str,
    text: &'static str,
    sources: &'static [Source],
    /// Who wants it otherwise.
    contested: &'static [Source],
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

/// The rules in the order of [`Rule::ALL`].
static ABOUT: [About; 16] = [
    About {
        number: 1,
        name: "dependency-made-first",
        text: "a dependency is made before its dependent",
        sources: &[
            documentation("terraform and opentofu, docs/destroying.md: Simple Resource Creation"),
            documentation("terraform and opentofu, docs/destroying.md: Resource Updates"),
            documentation("opentofu, website/docs/language/meta-arguments/depends_on.mdx"),
        ],
        contested: &[],
    },
    About {
        number: 2,
        name: "dependent-deleted-first",
        text: "a dependent is deleted before its dependency",
        sources: &[
            documentation("terraform and opentofu, docs/destroying.md: Simple Resource Destruction"),
            test("terraform and opentofu, TestContext2Apply_destroyOrder"),
        ],
        contested: &[],
    },
    About {
        number: 3,
        name: "delete-then-create",
        text: "a replacement deletes the old object before it creates the new one",
        sources: &[
            documentation("terraform and opentofu, docs/destroying.md: Resource Replacement"),
            documentation("opentofu, website/docs/language/resources/behavior.mdx: create_before_destroy"),
        ],
        contested: &[],
    },
    About {
        number: 4,
        name: "create-then-delete",
        text: "create_before_destroy creates the new object before it deletes the old one",
        sources: &[
            documentation("terraform and opentofu, docs/destroying.md: Create Before Destroy"),
            test("terraform and opentofu, TestApplyGraphBuilder_depCbd"),
        ],
        contested: &[],
    },
    About {
        number: 5,
        name: "dependent-deleted-before-change",
        text: "a dependent's old object is deleted before its dependency is changed",
        sources: &[
            documentation("terraform and opentofu, docs/destroying.md: Resource Replacement, last example"),
            documentation("terraform and opentofu, docs/destroying.md: Create Before Destroy, first example"),
            test("terraform and opentofu, TestDestroyEdgeTransformer_destroyThenUpdate"),
            maintainer("terraform, issue 28150 and pull request 28165"),
        ],
        contested: &[],
    },
    About {
        number: 6,
        name: "removed-dependency-first",
        text: "a removed dependency is deleted before the dependent that lost it is updated",
        sources: &[
            test("terraform and opentofu, TestApplyGraphBuilder_updateFromOrphan"),
            maintainer("terraform, issue 32136: the order is to be relied on"),
            maintainer("terraform, pull request 24662, which wanted the opposite: turned down"),
        ],
        contested: &[
            proposal("opentofu, issue 3843: open, labelled as a bug and as pending a decision"),
            maintainer("opentofu, pull request 4286: the new runtime deletes after the update"),
            proposal("terraform, pull request 39175, which wants the opposite: closed"),
        ],
    },
    About {
        number: 7,
        name: "removed-dependency-outlives",
        text: "with create_before_destroy in force, a removed dependency outlives the change of its dependent",
        sources: &[
            documentation("terraform and opentofu, docs/destroying.md: Create Before Destroy, last example"),
            test("terraform and opentofu, TestApplyGraphBuilder_updateFromCBDOrphan"),
            maintainer("terraform, pull request 24084: why the state remembers the setting"),
        ],
        contested: &[],
    },
    About {
        number: 8,
        name: "dependents-change-over",
        text: "with create_before_destroy, dependents change over to the new object before the old one is deleted",
        sources: &[
            documentation(
                "terraform and opentofu, docs/destroying.md: Create Before Destroy, second example",
            ),
            test("terraform and opentofu, TestCBDEdgeTransformer"),
        ],
        contested: &[],
    },
    About {
        number: 9,
        name: "created",
        text: "what only the new program has is created, once",
        sources: &[
            documentation("terraform and opentofu, docs/planning-behaviors.md"),
            documentation("opentofu, website/docs/language/resources/behavior.mdx: How OpenTofu Applies"),
        ],
        contested: &[],
    },
    About {
        number: 10,
        name: "removed",
        text: "what only the old program has is deleted, once",
        sources: &[
            documentation("terraform and opentofu, docs/planning-behaviors.md"),
            documentation("opentofu, website/docs/language/resources/behavior.mdx: How OpenTofu Applies"),
        ],
        contested: &[],
    },
    About {
        number: 11,
        name: "replaced",
        text: "what has other pinned references, or one to something that is replaced, is replaced: deleted and created",
        sources: &[
            documentation("terraform and opentofu, docs/planning-behaviors.md"),
            documentation("terraform and opentofu, docs/plugin-protocol: requires_replace"),
            observed(
                "our provider asks for it; kept on Terraform 1.6.6 to 1.15.5, OpenTofu 1.10.10 and 1.12.6",
            ),
        ],
        contested: &[],
    },
    About {
        number: 12,
        name: "updated",
        text: "what has other plain references, or one to something that is replaced, is updated in place, once",
        sources: &[
            documentation("terraform and opentofu, docs/planning-behaviors.md"),
            documentation("terraform and opentofu, docs/destroying.md: Resource Replacement, second example"),
        ],
        contested: &[],
    },
    About {
        number: 13,
        name: "left-alone",
        text: "nothing is done to what does not change, though a depends_on comes or goes",
        sources: &[
            documentation("terraform and opentofu, docs/planning-behaviors.md"),
            observed("for depends_on: Terraform 1.6.6 to 1.15.5, OpenTofu 1.10.10 and 1.12.6"),
        ],
        contested: &[],
    },
    About {
        number: 14,
        name: "setting-spreads",
        text: "create_before_destroy is in force for all that a resource with it depends on, and is remembered",
        sources: &[
            documentation("terraform and opentofu, docs/destroying.md: Forced Create Before Destroy"),
            documentation("opentofu, website/docs/language/resources/behavior.mdx: create_before_destroy"),
            test("terraform and opentofu, TestContext2Apply_inheritAndStoreCBD"),
        ],
        contested: &[],
    },
    About {
        number: 15,
        name: "whole-chain",
        text: "the order holds through resources between the two that are left alone",
        sources: &[
            documentation("terraform and opentofu, docs/destroying.md: Simple Resource Creation"),
            test("terraform, TestContext2Apply_transitiveDestroyOrder"),
        ],
        contested: &[],
    },
    About {
        number: 16,
        name: "unordered",
        text: "what no rule orders may overlap, or come in any order",
        sources: &[documentation("opentofu, website/docs/internals/graph.mdx: Walking the Graph")],
        contested: &[],
    },
];

/// The rules that a campaign does not judge by.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeftOut(BTreeSet<Rule>);

impl LeftOut {
    /// None: all rules are judged by.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether no rule is left out.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a rule is left out.
    pub fn has(&self, rule: Rule) -> bool {
        self.0.contains(&rule)
    }

    /// Leaves out those that another leaves out, too.
    pub fn extend(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// The rules, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = Rule> {
        self.0.iter().copied()
    }
}

/// What an option takes: numbers or names of rules, `contested` for all contested ones, or `none`.
impl FromStr for LeftOut {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rules = BTreeSet::new();
        for word in text.split(',').map(str::trim) {
            let named = |rule: &Rule| rule.name() == word || rule.number().to_string() == word;
            match word {
                "none" if text.trim() == "none" => {}
                "contested" => {
                    rules.extend(Rule::ALL.into_iter().filter(|rule| !rule.contested().is_empty()))
                }
                _ => match Rule::ALL.into_iter().find(named) {
                    Some(rule) if rule.orders() => {
                        rules.insert(rule);
                    }
                    Some(rule) => {
                        return Err(format!(
                            "rule {} ({}) orders nothing and cannot be left out; those from 1 to 8 can",
                            rule.number(),
                            rule.name()
                        ));
                    }
                    None => {
                        return Err(format!(
                            "`{word}` is no rule: give numbers or names, `contested` or `none`; \
                             `equiform model` lists the rules"
                        ));
                    }
                },
            }
        }
        Ok(Self(rules))
    }
}

impl Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        let names: Vec<&str> = self.iter().map(Rule::name).collect();
        f.write_str(&names.join(","))
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

    #[test]
    fn rules_are_left_out_by_number_by_name_or_all_that_are_contested() {
        let names = |text: &str| text.parse::<LeftOut>().map(|left_out| left_out.to_string());
        assert_eq!(names("contested").unwrap(), "removed-dependency-first");
        assert_eq!(names("6, 1").unwrap(), "dependency-made-first,removed-dependency-first");
        assert_eq!(names("dependents-change-over").unwrap(), "dependents-change-over");
        assert_eq!(names("none").unwrap(), "none");
        assert!(names("none").unwrap().parse::<LeftOut>().unwrap().is_empty());
        assert!(names("12").unwrap_err().contains("cannot be left out"));
        assert!(names("13th").unwrap_err().contains("`equiform model` lists"));
        assert!(names("").is_err());
    }
}
