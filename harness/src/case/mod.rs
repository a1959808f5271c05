//! A case: a source with its variants, and all that is needed to deploy and judge them again.
//!
//! [`spelling`] is what its programs write in place of keys and values, [`stage`] what the engine is asked to do with
//! a variant, one command after the other, `staged` a stage with its program, [`workflow`] the lists of stages by
//! which an engine is driven.

pub mod spelling;
pub mod stage;
mod staged;
pub mod streams;
pub mod workflow;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::algebra::graph::{NamedGraph, Resource};
use crate::algebra::program::{Parsed, Step, parse};
use crate::algebra::signature::{AttributeId, Kind, Signature, ValueId};
use crate::engine_id::RecordedEngine;
use crate::spec::text::{check_key, composed};
use crate::spec::{Configuration, EdgeKind, LeftOut, Meaning, Node, NodeKey};
use spelling::Spelling;
use stage::{Defect, ProgramRef, Stage};
pub use staged::StagedBatch;

/// The version of the case format that this program reads and writes.
pub const CASE_VERSION: u32 = 5;

/// The name of a case's file in its folder.
pub const CASE_FILE: &str = "case.json";

/// A case as it is stored in `case.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The version of the format.
    pub version: u32,
    /// Its number in the campaign that it is of. A case that was not run yet has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// The seed it was generated from.
    pub seed: u64,
    /// The engine it was run on. A case that was not run yet has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<RecordedEngine>,
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
    /// Whether programs tell of their resources by outputs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outputs: bool,
    /// What programs write in place of keys and values.
    #[serde(default, skip_serializing_if = "Spelling::is_empty")]
    pub spelling: Spelling,
    /// The variants.
    pub variants: Vec<Variant>,
}

/// A variant of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// The program as a term, with its cuts.
    pub program: String,
    /// How the engine is driven, by name; its stages tell what that comes to.
    pub workflow: String,
    /// What is done with it, in order.
    pub stages: Vec<Stage>,
}

/// A case that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The file could not be read.
    #[error("{path} cannot be read: {source}")]
    Io {
        /// The file.
        path: String,
        /// The operating system's error.
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
    /// It was written by another version of this program.
    #[error(
        "{path} has case version {found}, and this program reads version {CASE_VERSION}: use the equiform that wrote it"
    )]
    UnsupportedVersion {
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
    /// A variant does not parse, is ill-formed, or has stages that cannot be run.
    #[error("variant {variant}: {error}")]
    Variant {
        /// Its number.
        variant: usize,
        /// What is wrong.
        error: String,
    },
}

/// What is deployed at one cut of a variant: the program, and the order in which its resources stand in the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// What is written.
    pub program: Configuration,
    /// The nodes in the order of the text: as the variant added them.
    pub order: Vec<NodeKey>,
    /// What is wrong with it, if it is one that an engine has to refuse.
    pub defect: Option<Defect>,
    /// Whether nothing at all is written, not even which provider there is: the engine's state has to tell it.
    pub is_blank: bool,
}

impl Batch {
    /// A program of which nothing is written.
    pub fn blank() -> Self {
        Self { is_blank: true, ..Self::default() }
    }
}

impl Case {
    /// A case that was not run yet, with the usual stages for each program.
    pub fn new(seed: u64, source: NamedGraph, programs: Vec<String>) -> Result<Self, CaseError> {
        let count = programs.len();
        let variants = programs.into_iter().enumerate().map(|(number, program)| {
            let batches = batch_count(&parse_variant(number, &program)?);
            let stages = Stage::usual(batches, (number + 1) % count);
            Ok(Variant { program, workflow: workflow::plain_name(), stages })
        });
        Ok(Self {
            version: CASE_VERSION,
            number: None,
            seed,
            engine: None,
            left_out: LeftOut::none(),
            equiform: None,
            provider: None,
            source,
            outputs: false,
            spelling: Spelling::default(),
            variants: variants.collect::<Result<_, CaseError>>()?,
        })
    }

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
            return Err(CaseError::UnsupportedVersion { path: name, found: any.version });
        }
        let case: Self = serde_json::from_slice(&bytes).map_err(json)?;
        if case.variants.is_empty() { Err(CaseError::NoVariants { path: name }) } else { Ok(case) }
    }

    /// The case as one that was run on an engine.
    #[must_use]
    pub fn on(self, engine: impl Into<RecordedEngine>) -> Self {
        Self { engine: Some(engine.into()), ..self }
    }

    /// What was generated: the case without what tells where it was run.
    pub fn generated(&self) -> Self {
        Self { number: None, engine: None, equiform: None, provider: None, ..self.clone() }
    }

    /// The batches of a variant, the last one the whole program. A program without steps is one batch without
    /// resources.
    pub fn batches(&self, variant: usize) -> Result<Vec<Arc<Batch>>, CaseError> {
        let parsed = parse_variant(variant, &self.variants[variant].program)?;
        let steps = parsed.derivation.steps();
        let keys: Vec<NodeKey> = parsed.names.iter().map(NodeKey::from).collect();
        self.spelling
            .check(parsed.names.iter())
            .map_err(|error| CaseError::Variant { variant, error: error.to_string() })?;
        let encoding = self.spelling.encoding(self.outputs);
        // Texts are shared: they may be long.
        let mut texts: BTreeMap<(Resource, AttributeId, ValueId), Arc<str>> = BTreeMap::new();
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
                    Step::Con(..) | Step::Disc(_) | Step::Set(..) => {}
                }
                if ends_a_batch(&parsed, done) {
                    let mut order: Vec<Resource> = added.keys().copied().collect();
                    order.sort_unstable_by_key(|resource| added[resource]);
                    let key = |resource: Resource| keys[resource.index() as usize].clone();
                    let mut dependencies: BTreeMap<Resource, BTreeMap<NodeKey, _>> = BTreeMap::new();
                    for (edge, kind) in graph.kinds() {
                        let of_dependent = dependencies.entry(edge.dependent).or_default();
                        of_dependent.insert(key(edge.dependency), edge_kind(kind));
                    }
                    let nodes = graph.nodes().map(|resource| {
                        let mut node = Node {
                            dependencies: Arc::new(dependencies.remove(&resource).unwrap_or_default()),
                            ..Node::default()
                        };
                        for (attribute, value) in graph.values_of(resource) {
                            let text = || self.text(&keys[resource.index() as usize], attribute, value);
                            set(&mut node, attribute, || {
                                texts.entry((resource, attribute, value)).or_insert_with(text).clone()
                            });
                        }
                        (key(resource), node)
                    });
                    let meaning = Meaning { nodes: nodes.collect() };
                    let program = Configuration { meaning, encoding: encoding.clone() };
                    batches.push(Arc::new(Batch {
                        program,
                        order: order.into_iter().map(key).collect(),
                        defect: None,
                        is_blank: false,
                    }));
                }
            })
            .map_err(|error| CaseError::Variant { variant, error: error.to_string() })?;
        if steps.is_empty() {
            batches.push(Arc::default());
        }
        Ok(batches)
    }

    /// The text that a value stands for, as an engine holds it.
    fn text(&self, node: &str, attribute: AttributeId, value: ValueId) -> Arc<str> {
        let signature = Signature::attributed();
        let (attribute, value) =
            (signature.attribute_name(attribute), signature.value_name(attribute, value));
        composed(self.spelling.text(node, attribute, value)).into()
    }

    /// The stages of a variant, each with its program.
    pub fn stages(&self, variant: usize) -> Result<Vec<StagedBatch<'_>>, CaseError> {
        let (stages, own) = (&self.variants[variant].stages, self.batches(variant)?);
        Stage::check_all(stages, own.len(), self.variants.len())
            .map_err(|error| CaseError::Variant { variant, error })?;
        let last = |batches: &[Arc<Batch>]| batches.last().expect("a variant has a batch").clone();
        let staged = stages.iter().map(|stage| {
            let batch = match &stage.program {
                ProgramRef::Batch(number) => own[number - 1].clone(),
                ProgramRef::LastOf(other) if *other == variant => last(&own),
                ProgramRef::LastOf(other) => last(&self.batches(*other)?),
                ProgramRef::Empty => Arc::new(Batch::blank()),
                ProgramRef::Broken { batch, defect } => Arc::new(staged::broken(&own[batch - 1], defect)),
            };
            Ok(StagedBatch { stage, batch })
        });
        staged.collect()
    }
}

/// A kind of the algebra, as the specification knows it.
fn edge_kind(kind: Kind) -> EdgeKind {
    let name = Signature::attributed().kind_name(kind);
    EdgeKind::named(name).expect("a test holds the two lists together")
}

/// Gives a node a value that is not the default; a text, if the attribute has texts.
fn set(node: &mut Node, attribute: AttributeId, text: impl FnOnce() -> Arc<str>) {
    match Signature::attributed().attribute_name(attribute) {
        "label" => node.label = Some(text()),
        "pin" => node.pin = Some(text()),
        "create_before_destroy" => node.create_before_destroy = true,
        "ignore_changes" => node.ignore_changes = true,
        other => unreachable!("a test holds all attributes, {other:?} too, to being known here"),
    }
}

fn parse_variant(variant: usize, text: &str) -> Result<Parsed, CaseError> {
    let invalid = |error: String| CaseError::Variant { variant, error };
    let parsed = parse(text).map_err(|error| invalid(error.to_string()))?;
    parsed.names.iter().try_for_each(check_key).map_err(|error| invalid(error.to_string()))?;
    Ok(parsed)
}

/// Whether a batch ends after this many steps.
fn ends_a_batch(parsed: &Parsed, done: usize) -> bool {
    done == parsed.derivation.steps().len() || parsed.cuts.binary_search(&done).is_ok()
}

/// How many batches a variant has.
fn batch_count(parsed: &Parsed) -> usize {
    let steps = parsed.derivation.steps().len();
    (1..=steps).filter(|done| ends_a_batch(parsed, *done)).count().max(1)
}

#[cfg(test)]
mod tests;
