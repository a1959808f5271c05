//! What the cases of a campaign are like: how large, driven how, and how much they differ.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::path::Path;

use rayon::prelude::*;
use rustc_hash::FxHasher;
use serde::Serialize;

use crate::campaign::report::Report;
use crate::case::{CASE_FILE, Case};
use crate::evidence::records;
use crate::judge::variant::{graph_of, variant_folder};
use crate::spec::Action;

/// A case.
#[derive(Debug, Default)]
pub struct CaseFacts {
    /// How many resources its source has.
    pub resources: usize,
    /// Its variants.
    pub variants: Vec<VariantFacts>,
    hashes: Hashes,
}

/// A variant.
#[derive(Debug, Default)]
pub struct VariantFacts {
    /// How the engine was driven.
    pub workflow: String,
    /// How many batches there are.
    pub batches: usize,
    /// How many of its commands change the world.
    pub applies: usize,
    /// Its stages, as far as they were reached, with the milliseconds that each took.
    pub times: Vec<(String, u64)>,
}

/// How many different ones there are of something, and how many in all.
#[derive(Debug, Serialize)]
pub struct Diversity {
    what: &'static str,
    about: &'static str,
    different: usize,
    all: usize,
}

/// By what things are told apart.
#[derive(Debug, Default)]
struct Hashes {
    source: u64,
    terms: Vec<u64>,
    batches: Vec<u64>,
    graphs: Vec<u64>,
    stages: Vec<u64>,
}

fn hash(content: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = FxHasher::default();
    content.hash(&mut hasher);
    hasher.finish()
}

/// What the cases of a campaign are like.
pub fn read_cases(report: &Report) -> (Vec<CaseFacts>, Vec<Diversity>) {
    // A case that cannot be read has verdicts that say so, and nothing else.
    let facts: Vec<CaseFacts> =
        report.cases.par_iter().map(|(folder, _)| read_case(folder).unwrap_or_default()).collect();
    let count = |what, about, hashes: &dyn Fn(&Hashes) -> Vec<u64>| {
        let all: Vec<u64> = facts.iter().flat_map(|facts| hashes(&facts.hashes)).collect();
        let different: BTreeSet<u64> = all.iter().copied().collect();
        Diversity { what, about, different: different.len(), all: all.len() }
    };
    let diversity = vec![
        count("sources", "graphs that families of programs start from", &|of| vec![of.source]),
        count("programs", "ways to reach a source, as terms of the algebra", &|of| of.terms.clone()),
        count("batches", "texts that the engine received", &|of| of.batches.clone()),
        count("graphs", "what these texts mean", &|of| of.graphs.clone()),
        count("courses", "lists of commands, each with its options", &|of| of.stages.clone()),
    ];
    (facts, diversity)
}

fn read_case(folder: &Path) -> Option<CaseFacts> {
    let case = Case::read(&folder.join(CASE_FILE)).ok()?;
    let json = |content: &dyn Fn() -> serde_json::Result<String>| content().unwrap_or_default();
    let mut facts = CaseFacts { resources: case.source.nodes.len(), ..CaseFacts::default() };
    facts.hashes.source = hash(&json(&|| serde_json::to_string(&case.source)));
    for (number, variant) in case.variants.iter().enumerate() {
        facts.hashes.terms.push(hash(&variant.program));
        facts.hashes.stages.push(hash(&json(&|| serde_json::to_string(&variant.stages))));
        let batches = case.batches(number).unwrap_or_default();
        for batch in &batches {
            let graph = hash(&json(&|| serde_json::to_string(&graph_of(&batch.program, &case.spelling))));
            facts.hashes.graphs.push(graph);
            facts.hashes.batches.push(hash(&(graph, &batch.order)));
        }
        let records = records(&variant_folder(folder, number)).unwrap_or_default();
        let is_apply =
            |action: &Action| matches!(action, Action::Apply(_) | Action::ApplySaved(_) | Action::Destroy(_));
        facts.variants.push(VariantFacts {
            workflow: variant.workflow.clone(),
            batches: batches.len(),
            applies: variant.stages.iter().zip(&records).filter(|(stage, _)| is_apply(&stage.action)).count(),
            times: records.into_iter().map(|record| (record.stage, record.milliseconds)).collect(),
        });
    }
    Some(facts)
}
