//! Oracles: small functions from expectation and evidence to findings. Each has a name and a file, and is silent on a
//! correct engine. They are asked about one stage at a time, so that a variant need not be in memory as a whole.

mod attributes;
mod cross;
mod destroy;
mod graph;
mod health;
mod idle;
mod order;
mod plan;
mod requests;
mod state;
mod steps;

use equiform_proto::ledger::World;
use serde::{Deserialize, Serialize};

use crate::case::Batch;
use crate::deploy::evidence::{Stage, StageEvidence};
use crate::graph::NamedGraph;
use crate::model::{Deployment, Expectation, LeftOut};

/// What a variant should do in a stage, and what it did.
pub struct Trial<'a> {
    /// The graph in which the variant must end.
    pub source: &'a NamedGraph,
    /// What it deploys, batch by batch.
    pub batches: &'a [Batch],
    /// What the model expects of the stage.
    pub expectation: &'a Expectation,
    /// What happened in it.
    pub stage: &'a StageEvidence,
    /// The world afterwards.
    pub world: &'a World,
}

/// What the model expects of a stage of a variant, by all rules that are not left out.
pub fn expected(batches: &[Batch], stage: Stage, left_out: &LeftOut) -> Expectation {
    let nothing = Deployment::default();
    let batch = |number: usize| match number {
        0 => &nothing,
        number => &batches[number - 1].deployment,
    };
    match stage {
        Stage::Batch(number) => Expectation::without(left_out, batch(number - 1), batch(number)),
        Stage::Idle | Stage::Cross => {
            let left_alone = batch(batches.len()).resources.len();
            Expectation { left_alone, ..Expectation::default() }
        }
        Stage::Destroy => Expectation::without(left_out, batch(batches.len()), &nothing),
    }
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
    fn new(oracle: &str, kind: &str, trial: &Trial<'_>, text: impl Into<String>) -> Self {
        Self {
            oracle: oracle.to_owned(),
            kind: kind.to_owned(),
            stage: trial.stage.stage.name(),
            text: text.into(),
            known: None,
        }
    }
}

/// What stands in the place of an oracle's name where evidence could not be read to its end.
const EVIDENCE: &str = "evidence";

impl Finding {
    /// Not the engine's doing: what comes after the findings of this stage could not be judged.
    pub fn broken_evidence(stage: String, text: String) -> Self {
        Self { oracle: EVIDENCE.to_owned(), kind: "cannot be read on".to_owned(), stage, text, known: None }
    }

    /// Whether it is [`Finding::broken_evidence`].
    pub fn is_broken_evidence(&self) -> bool {
        self.oracle == EVIDENCE
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
    /// What it finds in a stage.
    pub fn judge(&self, trial: &Trial<'_>) -> Vec<Finding> {
        (self.judge)(trial)
    }
}

/// All oracles.
pub const ORACLES: &[Oracle] = &[
    Oracle { name: "graph", about: graph::ABOUT, judge: graph::judge },
    Oracle { name: "attributes", about: attributes::ABOUT, judge: attributes::judge },
    Oracle { name: "steps", about: steps::ABOUT, judge: steps::judge },
    Oracle { name: "order", about: order::ABOUT, judge: order::judge },
    Oracle { name: "requests", about: requests::ABOUT, judge: requests::judge },
    Oracle { name: "plan", about: plan::ABOUT, judge: plan::judge },
    Oracle { name: "state", about: state::ABOUT, judge: state::judge },
    Oracle { name: "idle", about: idle::ABOUT, judge: idle::judge },
    Oracle { name: "cross", about: cross::ABOUT, judge: cross::judge },
    Oracle { name: "destroy", about: destroy::ABOUT, judge: destroy::judge },
    Oracle { name: "health", about: health::ABOUT, judge: health::judge },
];
