//! `equiform reduce`: a failing variant, cut down to the smallest that fails in the same way.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::campaign_text::note;
use super::engine_args::EngineArgs;
use super::format::OutputFormat;
use super::variant_args::VariantArgs;
use super::{CannotRun, CliResult, Outcome, output};
use crate::campaign::place::StoredVariant;
use crate::campaign::reduce::budget::Budget;
use crate::campaign::reduce::symptom::Symptom;
use crate::campaign::reduce::{Ended, Reducer, Reduction, Size, Watcher};
use crate::case::Case;
use crate::judge::cause::cause;
use crate::judge::finding::Finding;
use crate::judge::known::KnownFindings;
use crate::judge::oracles::{ORACLES, Oracle};
use crate::judge::variant as judge;
use crate::judge::verdict::VariantResult;
use crate::private;
use crate::util::files::{is_occupied, unused};

/// Reduce a failing variant to the smallest that fails in the same way
///
/// The command removes stages, resources, edges, settings and changes as long as the failure stays: the same oracle,
/// the same kind of difference, and the cause of what is found, not a consequence. The result is a case with its
/// evidence that `show`, `explain`, `bundle`, `replay` and `reduce` accept like any other.
///
/// Ctrl-C keeps the smallest so far.
///
/// The exit code is 0 if it was reduced, 2 if it could not be: the variant passes, or the failure no longer occurs.
#[derive(Debug, Args)]
pub struct ReduceArgs {
    #[command(flatten)]
    variant: VariantArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// A new or empty folder for the reduced case [default: a new one in .equiform/reduced, named after the failure]
    #[arg(long)]
    out: Option<PathBuf>,
    /// The limit: a number of attempts such as 150, or a time such as 5m
    #[arg(long, default_value = "5m", value_name = "ATTEMPTS|TIME")]
    budget: Budget,
    /// The finding to keep, by its oracle, or by oracle and kind: `steps`, `steps: missing` [default: the cause]
    #[arg(long, value_name = "ORACLE[: KIND]")]
    finding: Option<String>,
    /// An executable that decides instead of the signature. It receives the folder of a deployed case (also in
    /// EQUIFORM_CASE, and the variant's in EQUIFORM_VARIANT), and exits with 0 if the case is of interest
    #[arg(long, value_name = "COMMAND", conflicts_with = "finding")]
    interesting: Option<PathBuf>,
    /// The output format
    #[arg(long, default_value = "text")]
    format: OutputFormat,
}

/// Reduces.
pub fn run(args: ReduceArgs) -> CliResult {
    let (place, known) = args.variant.find()?;
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let findings = findings_of(&place, &oracles, &known)?;
    let began = Instant::now();
    let started = args.engine.start(Some(&place.engine))?;
    let symptom = match &args.finding {
        // A failure that is looked for on another engine is recognised by what it was on the first.
        _ if findings.is_empty() => None,
        None => Symptom::of_cause(&findings, &started.engine.id),
        Some(wanted) => Some(Symptom::of(chosen(&findings, wanted)?, &started.engine.id)),
    };
    let interesting = args.interesting.as_ref().map(|path| {
        path.canonicalize().map_err(|error| format!("--interesting {}: {error}", path.display()))
    });
    let interesting = interesting.transpose()?;
    let out = match &args.out {
        Some(out) => out.clone(),
        None => {
            let name = symptom.as_ref().map_or_else(|| "failure".to_owned(), Symptom::file_name);
            unused(Path::new(".equiform/reduced"), &name)
        }
    };
    if is_occupied(&out) {
        return Err(format!("{} is not empty: name a new folder with --out", out.display()).into());
    }
    let scratch = tempfile::tempdir()?;
    started.runner.stop.removes(scratch.path());
    let display = Display::new(symptom.as_ref());
    let in_memory = started.runner.scratch.as_ref().map(|scratch| scratch.path().to_owned());
    let reducer = Reducer {
        runner: &started.runner,
        engine: &started.engine,
        oracles: &oracles,
        known: &known,
        jobs: args.engine.how.jobs(),
        budget: &[args.budget],
        interesting: interesting.as_deref(),
        scratch: in_memory.as_deref().unwrap_or(scratch.path()),
        began,
        earlier: 0,
        watcher: &display,
    };
    let from = place.folder.display().to_string();
    let reduced = reducer.reduce(&place.case, place.variant, symptom, &from);
    drop(display);
    let reduced = reduced?;
    private::create_folder(&out)
        .map_err(|error| format!("the folder {} cannot be used: {error}", out.display()))?;
    reduced.keep(&out)?;
    let reduction = &reduced.reduction;
    output(|to| match args.format {
        OutputFormat::Json => writeln!(to, "{}", serde_json::to_string_pretty(reduction)?),
        OutputFormat::Text => tell(to, reduction, reduced.case(), &out),
    })?;
    Ok(if started.runner.stop.asked_now() { Outcome::Interrupted } else { Outcome::Clean })
}

/// What the evidence shows about the variant to reduce; nothing if there is none.
fn findings_of(
    place: &StoredVariant,
    oracles: &[&Oracle],
    known: &KnownFindings,
) -> Result<Vec<Finding>, CannotRun> {
    let mut verdict = judge::verdict(&place.case, place.variant, &place.folder, oracles);
    judge::mark_known(known, &place.engine.id, &place.case, &mut verdict);
    match verdict.result {
        VariantResult::Pass => Err(format!(
            "variant {} passed: there is nothing to reduce; `equiform judge {}` says which variants failed",
            place.variant,
            place.case_folder.display()
        )
        .into()),
        // Without evidence the variant is deployed to see what fails.
        VariantResult::Inconclusive { .. } => Ok(Vec::new()),
        VariantResult::Fail { findings } | VariantResult::Known { findings } => Ok(findings),
    }
}

/// The finding that the user named.
fn chosen<'a>(findings: &'a [Finding], wanted: &str) -> Result<&'a Finding, CannotRun> {
    let (oracle, kind) = wanted.split_once(':').map_or((wanted, None), |(it, kind)| (it, Some(kind.trim())));
    let fits = |finding: &&Finding| {
        finding.oracle().name() == oracle.trim()
            && kind.is_none_or(|kind| [finding.kind.name(), &finding.signature().what()].contains(&kind))
    };
    let fitting: Vec<Finding> = findings.iter().filter(fits).cloned().collect();
    let place = cause(&fitting).and_then(|it| findings.iter().position(|finding| finding == it));
    place.map(|place| &findings[place]).ok_or_else(|| {
        let mut all: Vec<String> = findings.iter().map(|it| format!("`{}`", it.signature())).collect();
        all.sort_unstable();
        all.dedup();
        format!("nothing in this variant was found as `{wanted}`; there are {}", all.join(", ")).into()
    })
}

fn tell(out: &mut dyn Write, reduction: &Reduction, case: &Case, folder: &Path) -> io::Result<()> {
    let Reduction { symptom, finding, before, after, attempts, seconds, ended, rate, .. } = reduction;
    let text = finding.as_ref().map(Finding::to_string).unwrap_or_default();
    writeln!(out, "{} on {}: {text}", symptom.text(), symptom.engine)?;
    if let Some(known) = &symptom.known {
        writeln!(out, "  known         {known}")?;
    }
    writeln!(out, "  program       {}", case.variants[0].program)?;
    writeln!(out, "                  before   after")?;
    for (what, before, after) in [
        ("resources", before.resources, after.resources),
        ("edges", before.edges, after.edges),
        ("batches", before.batches, after.batches),
        ("commands", before.commands, after.commands),
    ] {
        writeln!(out, "  {what:<12}  {before:>8}{after:>8}")?;
    }
    let why = match ended {
        Ended::Minimal => "nothing more can be taken away",
        Ended::Budget => "the budget is used up; `equiform reduce` of the result goes on from there",
        Ended::Stopped => "stopped; `equiform reduce` of the result goes on from there",
    };
    writeln!(out, "  attempts      {attempts} in {seconds:.1} s: {why}")?;
    match rate {
        Some(rate) if rate.is_flaky() => {
            writeln!(out, "  flaky         it showed in {} of {} deployments", rate.shown, rate.of)?;
        }
        Some(rate) => writeln!(out, "  confirmed     in {} deployments in fresh processes", rate.of)?,
        None => writeln!(out, "  confirmed     not yet: it was stopped before")?,
    }
    writeln!(out, "  look at       equiform explain {}", folder.display())
}

/// How often progress is reported without a terminal.
const INTERVAL: Duration = Duration::from_secs(15);

/// Reports progress: a line that changes on a terminal, otherwise a new line now and then.
pub struct Display {
    bar: ProgressBar,
    told: Mutex<(Instant, String)>,
}

impl Display {
    /// For a failure.
    pub fn new(symptom: Option<&Symptom>) -> Self {
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {pos} attempts, {elapsed}: {msg}");
        bar.set_style(style.expect("the template is valid"));
        bar.enable_steady_tick(Duration::from_millis(200));
        if let Some(symptom) = symptom {
            bar.set_message(symptom.text());
            note(&format!("reducing {}", symptom.text()));
        }
        Self { bar, told: Mutex::new((Instant::now(), "nothing taken away yet".to_owned())) }
    }
}

impl Watcher for Display {
    fn attempted(&self, attempts: usize) {
        self.bar.set_position(attempts as u64);
        let mut told = self.told.lock().expect("no holder panics");
        if !io::stderr().is_terminal() && told.0.elapsed() > INTERVAL {
            told.0 = Instant::now();
            note(&format!("{attempts} attempts: {}", told.1));
        }
    }

    fn reduced(&self, what: &str, size: Size) {
        let Size { resources, edges, batches, commands } = size;
        let left = format!(
            "fewer {what}: {resources} resources, {edges} edges, {batches} batches, {commands} commands are left"
        );
        self.bar.set_message(left.clone());
        self.told.lock().expect("no holder panics").1 = left;
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
