//! Cases of version 1: choices were made by seed whenever a case was read, and all variants had the usual stages.

use serde::Deserialize;

use super::choices::Chooser;
use super::{Case, CaseError, parse_variant};
use crate::algebra::graph::NamedGraph;
use crate::engine_id::RecordedEngine;
use crate::spec::LeftOut;

/// A case as version 1 stored it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version1 {
    #[serde(rename = "version")]
    _version: u32,
    seed: u64,
    engine: Option<RecordedEngine>,
    #[serde(default)]
    left_out: LeftOut,
    equiform: Option<String>,
    provider: Option<String>,
    source: NamedGraph,
    edges: Chooser,
    variants: Vec<String>,
}

impl Version1 {
    /// The same case, as it is stored now.
    pub fn migrate(self) -> Result<Case, CaseError> {
        let parsed = self.variants.iter().enumerate().map(|(number, text)| parse_variant(number, text));
        let choices = self.edges.choose(&parsed.collect::<Result<Vec<_>, CaseError>>()?);
        let Self { seed, source, variants, engine, left_out, equiform, provider, .. } = self;
        let case = Case::new(seed, source, choices, variants)?;
        Ok(Case { engine, left_out, equiform, provider, ..case })
    }
}
