//! A campaign of 50 variants on an engine, and which oracles saw something.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use equiform::campaign::case_folder;
use equiform::campaign::stored::VERDICT_FILE;
use equiform::judge::finding::{Finding, Signature};
use equiform::judge::variant::variant_folder;
use equiform::judge::verdict::{VariantResult, VariantVerdict};

/// The default one.
pub const SEED: u64 = 0;
pub const SOURCES: usize = 5;
pub const VARIANTS: usize = 10;

/// A finding without its details: case, variant, stage and signature.
type Mark = (usize, usize, String, Signature);

/// What the oracles saw in a campaign.
#[derive(Debug, Default)]
pub struct Seen {
    /// How many variants it took until something was found, and which oracles found it there.
    pub first: Option<(usize, BTreeSet<String>)>,
    /// All that was found.
    pub marks: BTreeSet<Mark>,
    /// In how many variants something was found.
    pub variants: usize,
    /// All oracles that found something.
    pub oracles: BTreeSet<String>,
    /// One finding of each oracle, to read.
    pub samples: Vec<String>,
    /// Variants that could not be judged, with the reason.
    pub inconclusive: Vec<String>,
}

/// Runs the campaign on the engine at `path`; its cases stay in `out`. What the engine as it is shows, too,
/// is left out.
pub fn run(path: &Path, out: &Path, as_it_is: &BTreeSet<Mark>) -> Seen {
    if out.exists() {
        fs::remove_dir_all(out).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_equiform"))
        .args(["run", "--seed", &SEED.to_string(), "--sources", &SOURCES.to_string()])
        .args(["--variants", &VARIANTS.to_string(), "--engine"])
        .arg(path)
        .arg("--out")
        .arg(out)
        .output()
        .expect("equiform starts");
    let judged = matches!(output.status.code(), Some(0 | 1));
    assert!(judged, "{}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    seen(out, as_it_is)
}

fn seen(out: &Path, as_it_is: &BTreeSet<Mark>) -> Seen {
    let mut seen = Seen::default();
    for number in 0..SOURCES * VARIANTS {
        let (case, variant) = (number / VARIANTS, number % VARIANTS);
        let path = variant_folder(&case_folder(out, case), variant).join(VERDICT_FILE);
        let verdict = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let verdict: VariantVerdict = serde_json::from_slice(&verdict).expect("it is a verdict");
        let place = format!("case {case}, variant {variant}");
        if let VariantResult::Inconclusive { reason } = &verdict.result {
            seen.inconclusive.push(format!("{place}: {reason}"));
        }
        let mark = |it: &Finding| (case, variant, it.stage.to_string(), it.signature());
        let is_new = |it: &&Finding| it.known.is_none() && !as_it_is.contains(&mark(it));
        let new: Vec<&Finding> = verdict.result.findings().iter().filter(is_new).collect();
        if new.is_empty() {
            continue;
        }
        let oracles: BTreeSet<String> = new.iter().map(|finding| finding.oracle().to_string()).collect();
        for oracle in oracles.difference(&seen.oracles) {
            let finding =
                new.iter().find(|finding| finding.oracle().name() == *oracle).expect("it found something");
            seen.samples.push(format!("{place}, {}: {oracle}: {finding}", finding.stage));
        }
        seen.marks.extend(new.into_iter().map(mark));
        seen.variants += 1;
        seen.oracles.extend(oracles.iter().cloned());
        seen.first.get_or_insert((number + 1, oracles));
    }
    seen
}
