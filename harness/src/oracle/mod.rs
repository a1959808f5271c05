//! Oracles: small functions from expectation and evidence to findings. Each has a name and a file, and is silent on a
//! correct engine.

mod cross;
mod destroy;
mod graph;
mod health;
mod idle;
mod order;
mod plan;
mod state;
mod steps;

use serde::{Deserialize, Serialize};

use crate::case::Batch;
use crate::deploy::evidence::StageEvidence;
use crate::graph::NamedGraph;

/// What a variant should do, and what it did.
pub struct Trial<'a> {
    /// The graph in which it must end.
    pub source: &'a NamedGraph,
    /// What it deploys, batch by batch.
    pub batches: &'a [Batch],
    /// What happened, stage by stage; fewer stages than due after a failure.
    pub stages: &'a [StageEvidence],
}

/// Something that a correct engine would not have done.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// The oracle that saw it.
    pub oracle: String,
    /// The kind of difference: with the oracle and the engine it is the signature by which findings are grouped.
    pub kind: String,
    /// The stage.
    pub stage: String,
    /// What was seen, for people.
    pub text: String,
    /// The name of the known engine bug that explains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
}

impl Finding {
    fn new(oracle: &str, kind: &str, stage: &StageEvidence, text: impl Into<String>) -> Self {
        Self {
            oracle: oracle.to_owned(),
            kind: kind.to_owned(),
            stage: stage.stage.name(),
            text: text.into(),
            known: None,
        }
    }
}

/// An oracle.
pub struct Oracle {
    /// Its name.
    pub name: &'static str,
    /// What it looks at, in a sentence.
    pub about: &'static str,
    judge: fn(&Trial<'_>) -> Vec<Finding>,
}

impl Oracle {
    /// What it finds.
    pub fn judge(&self, trial: &Trial<'_>) -> Vec<Finding> {
        (self.judge)(trial)
    }
}

/// All oracles.
pub const ORACLES: &[Oracle] = &[
    Oracle { name: "graph", about: graph::ABOUT, judge: graph::judge },
    Oracle { name: "steps", about: steps::ABOUT, judge: steps::judge },
    Oracle { name: "order", about: order::ABOUT, judge: order::judge },
    Oracle { name: "plan", about: plan::ABOUT, judge: plan::judge },
    Oracle { name: "state", about: state::ABOUT, judge: state::judge },
    Oracle { name: "idle", about: idle::ABOUT, judge: idle::judge },
    Oracle { name: "cross", about: cross::ABOUT, judge: cross::judge },
    Oracle { name: "destroy", about: destroy::ABOUT, judge: destroy::judge },
    Oracle { name: "health", about: health::ABOUT, judge: health::judge },
];
