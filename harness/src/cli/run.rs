//! `equiform run`: a campaign on an engine.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::{CannotRun, CliResult, Outcome};
use crate::campaign::verdict::{Result as TrialResult, VariantVerdict};
use crate::campaign::{self, Settings, Watcher};
use crate::deploy::Runner;
use crate::deploy::provider::{self, Server};
use crate::engine::{EngineSpec, Engines};
use crate::implicit::Escape;
use crate::oracle::{ORACLES, Oracle};

/// Run a campaign: generate equivalent programs, deploy them batch by batch on an engine, judge it by the ledger.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The engine: NAME[@VERSION]
    #[arg(long, default_value = "terraform")]
    engine: EngineSpec,
    /// The seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many sources
    #[arg(long, default_value_t = 10)]
    sources: usize,
    /// How many variants of each source
    #[arg(long, default_value_t = 10)]
    variants: u64,
    /// Into how many batches each variant is cut
    #[arg(long, default_value_t = 4)]
    batches: usize,
    /// How many resources a source has at least and at most
    #[arg(long, num_args = 2, value_names = ["LEAST", "MOST"], default_values_t = [3, 12])]
    resources: Vec<u32>,
    /// How many edges a source has at least and at most
    #[arg(long, num_args = 2, value_names = ["LEAST", "MOST"], default_values_t = [1, 16])]
    edges: Vec<u64>,
    /// How many variants are deployed at once
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// The folder for cases and evidence; one that is there is gone on with
    #[arg(long, default_value = ".equiform/campaign")]
    out: PathBuf,
    /// The oracles to ask [default: all]
    #[arg(long, value_delimiter = ',')]
    oracles: Vec<String>,
    /// How many seconds one engine command may take
    #[arg(long, default_value_t = 60)]
    timeout: u64,
}

/// Runs the campaign.
pub fn run(args: RunArgs) -> CliResult {
    let oracles = chosen(&args.oracles)?;
    let engine = Engines::from_env()?.locate(&args.engine)?;
    let server = Server::start(&provider::locate()?)?;
    let runner = Runner {
        engine: engine.path.clone(),
        attachment: server.attachment().clone(),
        patience: Duration::from_secs(args.timeout),
    };
    std::fs::create_dir_all(&args.out)
        .map_err(|error| format!("the folder {} cannot be made: {error}", args.out.display()))?;
    let out = args.out.canonicalize()?;
    let settings = Settings {
        seed: args.seed,
        sources: args.sources,
        variants: args.variants,
        batches: args.batches,
        resources: args.resources[0]..=args.resources[1],
        edges: args.edges[0]..=args.edges[1],
        escape: Escape::new(0.25).expect("a quarter is a probability"),
        create_before_destroy: 0.2,
    };
    let bar = ProgressBar::new(args.sources as u64 * args.variants);
    bar.set_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len} variants, {per_sec}, {eta} left  {msg}")
            .expect("the template is valid"),
    );
    let watcher = Display { bar, counts: Mutex::default() };
    let stop = AtomicBool::new(false);
    campaign::run(&settings, &runner, &oracles, args.jobs.max(1), &out, &stop, &watcher)?;
    watcher.bar.finish_and_clear();
    let counts = watcher.counts.into_inner().expect("no holder panics");
    println!("{} on {} {}", out.display(), engine.name, engine.version);
    println!("  passed        {}", counts.passed);
    println!("  failed        {}", counts.failed);
    println!("  inconclusive  {}", counts.inconclusive);
    for ((oracle, kind), count) in &counts.signatures {
        println!("  {count:5} × {oracle}: {kind}");
    }
    let _ = stop.load(Ordering::Relaxed);
    Ok(if counts.failed > 0 { Outcome::Findings } else { Outcome::Clean })
}

fn chosen(names: &[String]) -> Result<Vec<&'static Oracle>, CannotRun> {
    if names.is_empty() {
        return Ok(ORACLES.iter().collect());
    }
    names
        .iter()
        .map(|name| {
            ORACLES.iter().find(|oracle| oracle.name == name).ok_or_else(|| {
                CannotRun::from(format!("there is no oracle {name:?}; `equiform oracles` lists them"))
            })
        })
        .collect()
}

#[derive(Default)]
struct Counts {
    passed: u64,
    failed: u64,
    inconclusive: u64,
    signatures: BTreeMap<(String, String), u64>,
}

struct Display {
    bar: ProgressBar,
    counts: Mutex<Counts>,
}

impl Watcher for Display {
    fn judged(&self, case: usize, variant: &VariantVerdict) {
        let mut counts = self.counts.lock().expect("no holder panics");
        match &variant.result {
            TrialResult::Pass => counts.passed += 1,
            TrialResult::Inconclusive { reason } => {
                counts.inconclusive += 1;
                self.bar
                    .suspend(|| eprintln!("case {case} variant {}: inconclusive, {reason}", variant.variant));
            }
            TrialResult::Fail { findings } => {
                counts.failed += 1;
                for finding in findings {
                    *counts.signatures.entry((finding.oracle.clone(), finding.kind.clone())).or_default() +=
                        1;
                    self.bar.suspend(|| {
                        eprintln!(
                            "case {case} variant {} {}: {}: {}: {}",
                            variant.variant, finding.stage, finding.oracle, finding.kind, finding.text
                        );
                    });
                }
            }
        }
        self.bar.inc(1);
    }
}
