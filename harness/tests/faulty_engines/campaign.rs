//! A campaign of 50 variants on an engine, and which oracles saw something.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use equiform::campaign::case_folder;
use equiform::campaign::verdict::{CaseVerdict, Result as TrialResult};

/// A seed whose 50 variants ask for every rule of the model, some of them only two or three times.
pub const SEED: u64 = 2;
pub const SOURCES: usize = 5;
pub const VARIANTS: usize = 10;

/// What the oracles saw in a campaign, without what is known of the engine as it is.
#[derive(Debug, Default)]
pub struct Seen {
    /// How many variants it took until something was found, and which oracles found it there.
    pub first: Option<(usize, BTreeSet<String>)>,
    /// In how many variants something was found.
    pub variants: usize,
    /// All oracles that found something.
    pub oracles: BTreeSet<String>,
    /// One finding of each oracle, to read.
    pub samples: Vec<String>,
    /// Variants that could not be judged, with the reason.
    pub inconclusive: Vec<String>,
}

/// Runs the campaign on the engine at `path`; its cases stay in `out`.
pub fn run(path: &Path, out: &Path) -> Seen {
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
    seen(out)
}

fn seen(out: &Path) -> Seen {
    let mut seen = Seen::default();
    for case in 0..SOURCES {
        let folder = case_folder(out, case);
        let verdict = CaseVerdict::read(&folder).unwrap_or_else(|error| panic!("{error}"));
        let verdict = verdict.unwrap_or_else(|| panic!("{} has no verdict", folder.display()));
        for variant in verdict.variants {
            let place = format!("case {case}, variant {}", variant.variant);
            if let TrialResult::Inconclusive { reason } = &variant.result {
                seen.inconclusive.push(format!("{place}: {reason}"));
            }
            let new: Vec<_> = variant.result.findings().iter().filter(|it| it.known.is_none()).collect();
            if new.is_empty() {
                continue;
            }
            let oracles: BTreeSet<String> = new.iter().map(|finding| finding.oracle.clone()).collect();
            for oracle in oracles.difference(&seen.oracles) {
                let finding =
                    new.iter().find(|finding| finding.oracle == *oracle).expect("it found something");
                seen.samples.push(format!("{place}, {}: {oracle}: {}", finding.stage, finding.text));
            }
            seen.variants += 1;
            seen.oracles.extend(oracles.iter().cloned());
            seen.first.get_or_insert((case * VARIANTS + variant.variant + 1, oracles));
        }
    }
    seen
}
