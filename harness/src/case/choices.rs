//! How edges are written, and which resources carry which settings: chosen by seed when a case is generated, and
//! written out in it, so that each choice can be seen and changed by itself.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::algebra::program::{Parsed, Step};
use crate::spec::EdgeKind;

/// The choices of a case, the same wherever an edge or a resource appears.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choices {
    /// The kind of each edge.
    pub edges: EdgeKinds,
    /// The resources with create_before_destroy.
    pub create_before_destroy: BTreeSet<String>,
}

/// The kinds of edges, by dependency and dependent. An edge that is not in it is a plain reference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(String, String, EdgeKind)>", into = "Vec<(String, String, EdgeKind)>")]
pub struct EdgeKinds(pub BTreeMap<(String, String), EdgeKind>);

impl EdgeKinds {
    /// The kind of an edge.
    pub fn of(&self, dependency: &str, dependent: &str) -> EdgeKind {
        let edge = (dependency.to_owned(), dependent.to_owned());
        self.0.get(&edge).copied().unwrap_or(EdgeKind::Refs)
    }
}

impl From<Vec<(String, String, EdgeKind)>> for EdgeKinds {
    fn from(edges: Vec<(String, String, EdgeKind)>) -> Self {
        Self(edges.into_iter().map(|(dependency, dependent, kind)| ((dependency, dependent), kind)).collect())
    }
}

impl From<EdgeKinds> for Vec<(String, String, EdgeKind)> {
    fn from(kinds: EdgeKinds) -> Self {
        kinds.0.into_iter().map(|((dependency, dependent), kind)| (dependency, dependent, kind)).collect()
    }
}

/// The shares of the choices, and the seed that makes them.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chooser {
    /// The seed.
    pub seed: u64,
    /// The share of edges that are pinned references.
    pub pinned: f64,
    /// The share of edges that are a `depends_on`.
    pub depends_on: f64,
    /// The share of resources with create_before_destroy.
    pub create_before_destroy: f64,
}

impl Chooser {
    /// The choices for all that occurs in some programs.
    pub fn choose<'a>(&self, programs: impl IntoIterator<Item = &'a Parsed>) -> Choices {
        let mut choices = Choices::default();
        for parsed in programs {
            let name = |resource| parsed.names.of(resource);
            for step in parsed.derivation.steps() {
                match *step {
                    Step::Add(resource) if self.creates_before_destroy(name(resource)) => {
                        choices.create_before_destroy.insert(name(resource).to_owned());
                    }
                    Step::Con(edge, _) => {
                        let (dependency, dependent) = (name(edge.dependency), name(edge.dependent));
                        let kind = self.kind(dependency, dependent);
                        choices.edges.0.insert((dependency.to_owned(), dependent.to_owned()), kind);
                    }
                    Step::Add(_) | Step::Rem(_) | Step::Disc(_) | Step::Set(..) => {}
                }
            }
        }
        choices
    }

    fn kind(&self, dependency: &str, dependent: &str) -> EdgeKind {
        let place = self.place("edge", &[dependency, dependent]);
        if place < self.pinned {
            EdgeKind::PinnedRefs
        } else if place < self.pinned + self.depends_on {
            EdgeKind::DependsOn
        } else {
            EdgeKind::Refs
        }
    }

    fn creates_before_destroy(&self, resource: &str) -> bool {
        self.place("resource", &[resource]) < self.create_before_destroy
    }

    /// A number in 0..1 that depends on the seed and the names alone.
    fn place(&self, kind: &str, names: &[&str]) -> f64 {
        let mut hasher = Sha256::new().chain_update(self.seed.to_be_bytes()).chain_update(kind);
        for name in names {
            hasher.update([0]);
            hasher.update(name);
        }
        let digest = hasher.finalize();
        let first = u32::from_be_bytes(*digest.first_chunk().expect("a SHA-256 has 32 bytes"));
        f64::from(first) / (f64::from(u32::MAX) + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chooser(seed: u64) -> Chooser {
        Chooser { seed, pinned: 0.25, depends_on: 0.25, create_before_destroy: 0.2 }
    }

    #[test]
    fn choices_depend_on_seed_and_names_and_have_their_shares() {
        let names: Vec<String> = (0..2000).map(|number| format!("r{number}")).collect();
        let kinds =
            |seed| -> Vec<EdgeKind> { names.iter().map(|name| chooser(seed).kind(name, "x")).collect() };
        assert_eq!(kinds(1), kinds(1));
        assert_ne!(kinds(1), kinds(2));
        for kind in [EdgeKind::PinnedRefs, EdgeKind::DependsOn] {
            let count = kinds(1).iter().filter(|drawn| **drawn == kind).count();
            assert!((400..600).contains(&count), "{kind:?}: {count} of 2000 at a share of a quarter");
        }
        let asking = names.iter().filter(|name| chooser(1).creates_before_destroy(name)).count();
        assert!((320..480).contains(&asking), "{asking} of 2000 at a share of a fifth");
    }

    /// Pinned, so that a seed gives the same case from one release to the next.
    #[test]
    fn choices_stay_the_same_from_release_to_release() {
        let kinds: Vec<EdgeKind> =
            (0..6).map(|number| chooser(7).kind(&format!("r{number}"), "x0")).collect();
        use EdgeKind::{DependsOn, PinnedRefs, Refs};
        assert_eq!(kinds, [Refs, Refs, DependsOn, Refs, Refs, PinnedRefs]);
    }

    #[test]
    fn choices_are_made_for_all_that_occurs_and_stored_one_by_one() {
        let parsed = crate::algebra::program::parse("(disc a b (con a b (add b (add a empty))))").unwrap();
        let all = Chooser { seed: 1, pinned: 1.0, depends_on: 0.0, create_before_destroy: 1.0 };
        let choices = all.choose([&parsed]);
        let json = serde_json::to_string(&choices).unwrap();
        assert_eq!(json, r#"{"edges":[["a","b","pinned_refs"]],"create_before_destroy":["a","b"]}"#);
        assert_eq!(serde_json::from_str::<Choices>(&json).unwrap(), choices);
    }
}
