//! What each rule says, and where it comes from.

use std::fmt::{self, Display};

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
pub(super) struct About {
    pub number: u8,
    pub name: &'static str,
    pub text: &'static str,
    pub sources: &'static [Source],
    /// Who wants it otherwise.
    pub contested: &'static [Source],
}

/// The rules in the order of [`super::Rule::ALL`].
pub(super) static ABOUT: [About; 16] = [
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
        text: "what has other pinned references, or one to something that is replaced, is replaced: deleted and \
               created",
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
