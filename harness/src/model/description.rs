//! What a program says of its resources.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::graph::NamedGraph;

/// How a resource depends on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// By a reference whose change is an update in place.
    Refs,
    /// By a reference whose change is a replacement.
    PinnedRefs,
    /// By order alone: no value passes, so no change of the dependency shows in the dependent.
    DependsOn,
}

impl EdgeKind {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::Refs, Self::PinnedRefs, Self::DependsOn];

    /// The attribute or argument that it is written with.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refs => "refs",
            Self::PinnedRefs => "pinned_refs",
            Self::DependsOn => "depends_on",
        }
    }
}

/// A resource as a program describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceDescription {
    /// What it depends on, and how.
    pub dependencies: BTreeMap<String, EdgeKind>,
    /// Whether a replacement makes the new object before it deletes the old one.
    #[serde(default)]
    pub create_before_destroy: bool,
}

impl ResourceDescription {
    /// The dependencies of a kind.
    pub fn by(&self, kind: EdgeKind) -> impl Iterator<Item = &str> {
        self.dependencies.iter().filter(move |(_, k)| **k == kind).map(|(name, _)| name.as_str())
    }
}

/// A program, or what an engine has deployed of one: every resource by its key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Deployment {
    /// The resources.
    pub resources: BTreeMap<String, ResourceDescription>,
}

impl Deployment {
    /// The resources for which create_before_destroy is in force: those that ask for it, and, because an old dependency
    /// has to outlive the old objects that use it, everything those depend on, through the whole chain.
    pub fn create_before_destroy(&self) -> BTreeSet<&str> {
        let asked = self.resources.iter().filter(|(_, description)| description.create_before_destroy);
        self.spread(&asked.map(|(key, _)| key.as_str()).collect())
    }

    /// Those of these resources that are here, and everything they depend on here, through the whole chain.
    pub fn spread(&self, from: &BTreeSet<&str>) -> BTreeSet<&str> {
        let mut open: Vec<&str> =
            self.resources.keys().map(String::as_str).filter(|key| from.contains(key)).collect();
        let mut reached = BTreeSet::new();
        while let Some(key) = open.pop() {
            if reached.insert(key)
                && let Some(description) = self.resources.get(key)
            {
                open.extend(description.dependencies.keys().map(String::as_str));
            }
        }
        reached
    }

    /// Its graph, with edges of every kind.
    pub fn graph(&self) -> NamedGraph {
        let edges = self.edges().map(|(dependency, dependent)| (dependency.to_owned(), dependent.to_owned()));
        NamedGraph { nodes: self.resources.keys().cloned().collect(), edges: edges.collect() }
    }

    /// Pairs of a dependency and its dependent.
    pub fn edges(&self) -> impl Iterator<Item = (&str, &str)> {
        self.resources.iter().flat_map(|(dependent, description)| {
            description.dependencies.keys().map(move |dependency| (dependency.as_str(), dependent.as_str()))
        })
    }
}
