//! A case: a source with its variants, and all that is needed to deploy and judge them again.
//!
//! [`edges`] decides by seed how each edge is written; a case's file holds the seed, not the outcome.

pub mod edges;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::graph::{NamedGraph, Resource};
use crate::model::{Deployment, LeftOut, ResourceDescription};
use crate::program::{Step, parse};
use edges::EdgeChoice;

/// The version of the case format that this program writes and reads.
pub const CASE_VERSION: u32 = 1;

/// The name of a case's file in its folder.
pub const CASE_FILE: &str = "case.json";

/// A case as it is stored in `case.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The version of the format.
    pub version: u32,
    /// The seed it was generated from.
    pub seed: u64,
    /// The engine it was run on, with its exact version. A case that was not run yet has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The rules of the model that it is not judged by.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
    /// The version of equiform that generated it; older ones did not say. Another may generate another case
    /// by the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equiform: Option<String>,
    /// The version of the provider that it was run with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The graph that every variant ends in.
    pub source: NamedGraph,
    /// How edges and lifecycles are chosen.
    pub edges: EdgeChoice,
    /// The variants as terms, each with its cuts.
    pub variants: Vec<String>,
}

/// A case that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The file could not be read.
    #[error("{path} cannot be read: {source}")]
    Io {
        /// The file.
        path: String,
        /// The system's word.
        source: std::io::Error,
    },
    /// It is not a case.
    #[error("{path} is not a case: {source}")]
    Json {
        /// The file.
        path: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// It was written by a newer program.
    #[error(
        "{path} has case version {found}, and this program reads version {CASE_VERSION}: use a newer equiform"
    )]
    Newer {
        /// The file.
        path: String,
        /// The version it has.
        found: u32,
    },
    /// It has no variants, so there is nothing to run or judge.
    #[error("{path} has no variants: there is nothing to run or to judge")]
    NoVariants {
        /// The file.
        path: String,
    },
    /// A variant does not parse or is ill-formed.
    #[error("variant {variant}: {error}")]
    Variant {
        /// Its number.
        variant: usize,
        /// What is wrong.
        error: String,
    },
}

/// What is deployed at one cut of a variant: the program, and the order in which its resources stand in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// What the program describes.
    pub deployment: Deployment,
    /// The keys in the order of the text: as the variant added them.
    pub order: Vec<String>,
}

impl Case {
    /// Reads `case.json`.
    pub fn read(path: &Path) -> Result<Self, CaseError> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| CaseError::Io { path: name.clone(), source })?;
        #[derive(Deserialize)]
        struct AnyVersion {
            version: u32,
        }
        let json = |source| CaseError::Json { path: name.clone(), source };
        let any: AnyVersion = serde_json::from_slice(&bytes).map_err(json)?;
        if any.version != CASE_VERSION {
            return Err(CaseError::Newer { path: name, found: any.version });
        }
        let case: Self = serde_json::from_slice(&bytes).map_err(json)?;
        if case.variants.is_empty() { Err(CaseError::NoVariants { path: name }) } else { Ok(case) }
    }

    /// What was generated: the case without what tells where it was run.
    pub fn generated(&self) -> Self {
        Self { engine: None, equiform: None, provider: None, ..self.clone() }
    }

    /// The batches of a variant, the last one the whole program. A program without steps is one batch without
    /// resources.
    pub fn batches(&self, variant: usize) -> Result<Vec<Batch>, CaseError> {
        let failed = |error: String| CaseError::Variant { variant, error };
        let parsed = parse(&self.variants[variant]).map_err(|error| failed(error.to_string()))?;
        let name = |resource| parsed.names.of(resource).to_owned();
        let steps = parsed.program.steps();
        // When each resource that is there was added: the order of the text.
        let mut added: BTreeMap<Resource, usize> = BTreeMap::new();
        let mut batches = Vec::new();
        parsed
            .eval_each(|done, graph| {
                match steps[done - 1] {
                    Step::Add(resource) => {
                        added.entry(resource).or_insert(done);
                    }
                    Step::Rem(resource) => {
                        added.remove(&resource);
                    }
                    Step::Con(_) | Step::Disc(_) => {}
                }
                if done == steps.len() || parsed.cuts.binary_search(&done).is_ok() {
                    let edges = graph.edges().map(|edge| (name(edge.dependency), name(edge.dependent)));
                    let deployment = self.describe(graph.nodes().map(name), edges);
                    let mut order: Vec<Resource> = added.keys().copied().collect();
                    order.sort_unstable_by_key(|resource| added[resource]);
                    batches.push(Batch { deployment, order: order.into_iter().map(name).collect() });
                }
            })
            .map_err(|error| failed(error.to_string()))?;
        if steps.is_empty() {
            batches.push(Batch { deployment: Deployment::default(), order: Vec::new() });
        }
        Ok(batches)
    }

    fn describe(
        &self,
        nodes: impl Iterator<Item = String>,
        edges: impl Iterator<Item = (String, String)>,
    ) -> Deployment {
        let mut deployment = Deployment::default();
        for node in nodes {
            let create_before_destroy = self.edges.creates_before_destroy(&node);
            let description = ResourceDescription { create_before_destroy, ..ResourceDescription::default() };
            deployment.resources.insert(node, description);
        }
        for (dependency, dependent) in edges {
            let kind = self.edges.kind(&dependency, &dependent);
            let description = deployment.resources.get_mut(&dependent).expect("an edge's ends are nodes");
            description.dependencies.insert(dependency, kind);
        }
        deployment
    }
}

#[cfg(test)]
mod tests;
