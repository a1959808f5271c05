//! Batches deployed and judged in a minute, against the plain way, on the same cases: `make bench-campaign`.
//!
//! The ways take turns, four cases at a time, so that whatever else the machine does hits them alike. Ours is
//! what `equiform run` does: all oracles, and with them the stages that only they need (`idle`, `cross`,
//! `destroy`). These are in its time, and not among its batches. With `--hold off` it tells what holding costs, with
//! `--cold` what keeping the engine warm gains.
//!
//! `EQUIFORM_BENCH_ENGINE` names the engine (Terraform 1.15.5, and OpenTofu 1.12.6 where it is installed, unless told),
//! `EQUIFORM_BENCH_CASES` how many cases of 5 variants there are.

#[path = "plain.rs"]
mod plain;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use equiform::campaign::settings::{Algebra, Values};
use equiform::campaign::shard::{Part, Shard};
use equiform::campaign::tally::Tally;
use equiform::campaign::{Campaign, Settings, case_folder};
use equiform::case::workflow::Shares;
use equiform::deploy::Runner;
use equiform::deploy::access::Provider;
use equiform::deploy::hold::Hold;
use equiform::deploy::scratch::Scratch;
use equiform::deploy::time_spent::TimeSplit;
use equiform::engines::driver::{Driver, ProviderMode};
use equiform::engines::{self, EngineChoice, Engines, Family};
use equiform::evidence::{STAGES, StageRecord};
use equiform::judge::known::KnownFindings;
use equiform::judge::oracles::{ORACLES, Oracle};
use equiform::judge::variant as judge;
use plain::Plain;

const VARIANTS: u64 = 5;

/// So many that the jobs are busy most of the time, as they are in a campaign.
const CASES_A_ROUND: usize = 4;

fn main() {
    let cases = std::env::var("EQUIFORM_BENCH_CASES").map_or(8, |cases| {
        cases.parse().unwrap_or_else(|_| panic!("EQUIFORM_BENCH_CASES is no number: {cases}"))
    });
    let settings = Settings {
        seed: 2026,
        sources: cases,
        variants: VARIANTS,
        batches: 4,
        resources: 3..=12,
        edges: 1..=16,
        // What the plain way can deploy too: one apply for each batch.
        algebra: Algebra::Bare,
        workflows: Shares::plain(),
        create_before_destroy: 0.2,
        values: Values::Plain,
        large_every: 0,
        ..Settings::default()
    };
    let places = Engines::from_env().expect("there is a folder for engines");
    let find = |choice: &str| places.find(&choice.parse::<EngineChoice>().expect("it names an engine"));
    let chosen = match std::env::var("EQUIFORM_BENCH_ENGINE") {
        Ok(choice) => vec![find(&choice).unwrap_or_else(|error| panic!("{error}"))],
        Err(_) => ["terraform@1.15.5", "tofu@1.12.6"].iter().filter_map(|choice| find(choice).ok()).collect(),
    };
    assert!(!chosen.is_empty(), "no engine is installed: `equiform engines install terraform@1.15.5`");
    for engine in chosen {
        measure(&settings, engines::open(&engine));
    }
}

/// What one way came to.
#[derive(Default)]
struct Measured {
    batches: usize,
    time: Duration,
    found: usize,
}

impl Measured {
    fn per_minute(&self) -> f64 {
        60.0 * self.batches as f64 / self.time.as_secs_f64()
    }

    fn print(&self, way: &str, plain: &Self) {
        let (seconds, per_minute) = (self.time.as_secs_f64(), self.per_minute());
        let ratio = per_minute / plain.per_minute();
        println!(
            "| {way} | {} | {seconds:.1} | {per_minute:.0} | {ratio:.2} | {} |",
            self.batches, self.found
        );
    }
}

fn measure(settings: &Settings, engine: Arc<dyn Driver>) {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let ours = |jobs, hold, warm| Ours::new(&engine, jobs, hold, warm);
    let parallel = ours(processors, Hold::QUIET, true);
    let (unheld, alone) = (ours(processors, Hold::Off, true), ours(1, Hold::QUIET, true));
    let cold = ours(processors, Hold::QUIET, false);
    let mirror =
        Provider::start(ProviderMode::Init, Family::Terraform).unwrap_or_else(|error| panic!("{error}"));
    let plain = Plain { engine: engine.clone(), mirror: mirror.access() };
    let mut measured: [Measured; 5] = Default::default();
    // Removed in the end only: after a file was removed, some file systems take long to make new ones for a while.
    let all = tempfile::tempdir().expect("a temporary folder can be made");
    let rounds = settings.sources.div_ceil(CASES_A_ROUND);
    for round in 0..rounds {
        let [plainly, ours, ours_unheld, ours_alone, ours_cold] = &mut measured;
        let part: Shard = format!("{}/{rounds}", round + 1).parse().expect("there is such a part");
        for turn in 0..5 {
            let folder = all.path().join(format!("{round}-{turn}"));
            // Who goes first changes from round to round.
            match (round + turn) % 5 {
                0 => {
                    for number in part.cases(settings.sources) {
                        let case = settings.case(number);
                        let begin = Instant::now();
                        let outcome = plain.run(&case, &folder.join(number.to_string()));
                        plainly.time += begin.elapsed();
                        plainly.batches += outcome.batches;
                        plainly.found += outcome.found;
                    }
                    // It removes files, and ext4 without a journal searches past them for five seconds.
                    std::thread::sleep(Duration::from_secs(6));
                }
                1 => parallel.run(settings, part, &folder, ours),
                2 => unheld.run(settings, part, &folder, ours_unheld),
                3 => cold.run(settings, part, &folder, ours_cold),
                _ => alone.run(settings, part, &folder, ours_alone),
            }
        }
    }
    let [plainly, ours, ours_unheld, ours_alone, ours_cold] = &measured;
    let cases = settings.sources;
    println!("\n{}, {cases} cases of {VARIANTS} variants, {processors} processors", engine.engine());
    println!("\n| way | batches | seconds | batches a minute | to the plain way | variants with findings |");
    println!("|---|--:|--:|--:|--:|--:|");
    plainly.print("plain", plainly);
    ours.print(&format!("equiform run --jobs {processors}"), plainly);
    ours_unheld.print(&format!("equiform run --jobs {processors} --hold off"), plainly);
    ours_alone.print("equiform run --jobs 1", plainly);
    ours_cold.print(&format!("equiform run --jobs {processors} --cold"), plainly);
    let slower = 100.0 * (ours_unheld.per_minute() / ours.per_minute() - 1.0);
    println!("\nHolding makes it {slower:.1} % slower.");
    println!("\n| where the time goes | --jobs {processors} | | --jobs 1 | |\n|---|--:|--:|--:|--:|");
    print_split(&parallel.split(ours.time), &alone.split(ours_alone.time));
}

/// Our own way, with so many jobs.
struct Ours {
    runner: Runner,
    provider: Provider,
    jobs: usize,
}

impl Ours {
    fn new(engine: &Arc<dyn Driver>, jobs: usize, hold: Hold, warm: bool) -> Self {
        let provider = Provider::up().unwrap_or_else(|error| panic!("{error}"));
        let binary = equiform::deploy::provider::locate().expect("the provider is built");
        let usual = Runner::new(engine.clone(), provider.access(), binary, provider.log());
        let scratch = Scratch::in_memory().map(Arc::new);
        let runner = Runner { hold, timeout: Duration::from_secs(120), scratch, ..usual };
        let runner = if warm { runner.kept_warm() } else { runner };
        Self { runner, provider, jobs }
    }

    fn run(&self, settings: &Settings, part: Shard, out: &Path, measured: &mut Measured) {
        let (oracles, known) = (ORACLES.iter().collect::<Vec<&Oracle>>(), KnownFindings::none());
        let recorded = self.runner.engine.engine().recorded();
        let campaign = Campaign {
            part: Part::Shard(part),
            jobs: self.jobs,
            again: false,
            ..Campaign::new(&self.runner, &recorded, &oracles, &known)
        };
        let begin = Instant::now();
        let verdicts = campaign.run(settings, out).cases().unwrap_or_else(|error| panic!("{error}"));
        measured.time += begin.elapsed();
        measured.found += Tally::of(&verdicts).failed;
        let variants = verdicts.iter().flat_map(|verdict| {
            let folder = case_folder(out, verdict.case);
            verdict.variants.iter().map(move |variant| judge::variant_folder(&folder, variant.variant))
        });
        for variant in variants {
            let records = std::fs::read(variant.join(STAGES));
            let records: Vec<StageRecord> =
                serde_json::from_slice(&records.expect("a deployment leaves records"))
                    .expect("they are JSON");
            let is_batch =
                |record: &&StageRecord| record.stage.starts_with("batch-") && record.exit == Some(0);
            measured.batches += records.iter().filter(is_batch).count();
        }
    }

    /// Where the time went, and for how long threads had nothing to do.
    fn split(&self, time: Duration) -> (TimeSplit, Duration) {
        let split = self.runner.spent.split(self.provider.computed());
        let threads = time * u32::try_from(self.jobs).expect("there are few");
        (split, threads.saturating_sub(split.total()))
    }
}

fn print_split(one: &(TimeSplit, Duration), other: &(TimeSplit, Duration)) {
    let row = |name: &str, part: &dyn Fn(&(TimeSplit, Duration)) -> Duration| {
        let [one, other] = [one, other].map(|split| {
            let (time, whole) = (part(split), split.0.total() + split.1);
            let percent = 100.0 * time.as_secs_f64() / whole.as_secs_f64();
            format!("{:.2} s | {percent:.2} %", time.as_secs_f64())
        });
        println!("| {name} | {one} | {other} |");
    };
    row("engine (waiting for it)", &|(split, _)| split.engine);
    row("of it the provider (processor time)", &|(split, _)| split.provider.unwrap_or_default());
    row("generating", &|(split, _)| split.generating);
    row("rendering", &|(split, _)| split.rendering);
    row("keeping evidence", &|(split, _)| split.keeping);
    row("judging", &|(split, _)| split.judging);
    row("no variant left in the round, and the rest", &|(_, idle)| *idle);
    row("ours together, without waiting", &|(split, _)| split.ours());
}
