//! What an engine did with a variant, as far as two engines must do the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};

use equiform_proto::ledger::World;

use crate::algebra::graph::NamedGraph;
use crate::evidence::StageEvidence;
use crate::judge::finding::{Finding, OracleId, Signature};
use crate::judge::observe::graph_of;
use crate::judge::verdict::VariantVerdict;
use crate::spec::ResourceOperation;

/// What was done in one stage. When operations that may overlap began and ended is left out: it differs from
/// run to run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StageBehaviour {
    /// The stage's name.
    pub stage: String,
    /// Whether the command succeeded.
    pub succeeded: bool,
    /// The operations, with how often each was begun and how often it took effect.
    pub operations: BTreeMap<ResourceOperation, (usize, usize)>,
    /// The world afterwards: its nodes and its edges by value.
    pub world: NamedGraph,
    /// What the oracles say of it: with the order of operations, which is not compared itself.
    pub findings: BTreeSet<Signature>,
}

impl StageBehaviour {
    /// What the evidence of a stage shows, and what was found in it.
    pub fn of(evidence: &StageEvidence, world: &World, verdict: &VariantVerdict) -> Self {
        let mut operations: BTreeMap<ResourceOperation, (usize, usize)> = BTreeMap::new();
        for observed in &evidence.operations {
            let (begun, done) = operations.entry(observed.operation.clone()).or_default();
            *begun += 1;
            *done += usize::from(matches!(observed.end, Some((_, true))));
        }
        let stage = evidence.record.stage.clone();
        let here = verdict.result.findings().iter().filter(|finding| finding.stage == stage);
        let findings = here.map(Finding::signature).collect();
        let succeeded = evidence.succeeded && !evidence.tells_of_changes;
        Self { stage, succeeded, operations, world: graph_of(world).0, findings }
    }
}

impl Display for StageBehaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operations: Vec<String> = self
            .operations
            .iter()
            .map(|(operation, (begun, done))| {
                let often =
                    if (*begun, *done) == (1, 1) { String::new() } else { format!(" ({done} of {begun})") };
                operation.signed() + &often
            })
            .collect();
        let operations = if operations.is_empty() { "does nothing".to_owned() } else { operations.join(" ") };
        write!(f, "{}: {operations}", if self.succeeded { "succeeds" } else { "fails" })?;
        for signature in self.findings.iter().filter(|signature| signature.oracle() != OracleId::Steps) {
            write!(f, "; {signature}")?;
        }
        Ok(())
    }
}
