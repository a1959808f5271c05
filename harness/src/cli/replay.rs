//! `equiform replay`: a stored case on an engine once more.

use std::path::{Path, PathBuf};

use clap::Args;

use super::CliResult;
use super::engine_args::EngineArgs;
use super::layered::Layered;
use super::no_effect::refuse;
use super::observer::SessionDisplay;
use super::report_args::{ReportArgs, command_line, interrupted};
use super::verdict_args::VerdictArgs;
use crate::campaign::engine_of;
use crate::campaign::place::StoredCase;
use crate::campaign::session::Session;
use crate::case::CASE_FILE;
use crate::engines::{EngineChoice, RecordedEngine};
use crate::util::files::unused;

/// Run a stored case again: the same programs, batch by batch, on its engine or on another
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The folder of a case, or of a variant to run only that, such as …/case-0003/variant-0001
    folder: PathBuf,
    /// Only this variant of a case, counted from 0 [default: all]
    #[arg(long, value_name = "N")]
    variant: Option<usize>,
    #[command(flatten)]
    engine: EngineArgs,
    /// A new or empty folder for the evidence [default: a new one in .equiform/replay, named after the case
    /// and the engine]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Do not deploy a variant with a new finding a second time to check whether it occurs again
    #[arg(long)]
    no_again: bool,
    #[command(flatten)]
    verdict: VerdictArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// Replays.
pub fn run(args: ReplayArgs) -> CliResult {
    let mut stored = StoredCase::find(&args.folder)?;
    args.variant.map_or(Ok(()), |variant| stored.has(variant))?;
    stored.case.left_out = args.verdict.leave_out.or(&stored.case.left_out);
    refuse(stored.variant.is_some() && args.variant.is_some(), "--variant", "with the folder of a variant")?;
    let variant = stored.variant.or(args.variant);
    args.report.check()?;
    let given = Layered::own::<ReplayArgs>("replay")?;
    args.engine.how.refuse_idle(&|option| given.says(option))?;
    let (oracles, known) = args.verdict.read()?;
    let host = args.engine.start(engine_of(&stored.folder, &stored.case).as_ref())?;
    let name = stored.folder.file_name().unwrap_or_default().to_string_lossy();
    let out = args.out.clone().unwrap_or_else(|| usual_folder(&name, &host.engine));
    let session = Session {
        host: &host,
        oracles: &oracles,
        known: &known,
        jobs: args.engine.how.jobs(),
        again: !args.no_again,
        observer: &SessionDisplay { is_resumed: false },
    };
    let mut finished = session.replay(&stored, variant, &out)?;
    finished.report.repeat = Some(repeat(&args.folder, variant, &host.engine));
    let outcome = args.report.conclude(&finished.report, &known);
    if finished.is_whole() {
        return outcome;
    }
    let (done, all) = (finished.judged(), finished.variants);
    let stopped = format!("stopped after {done} of {all} variants; run it again to begin anew");
    let sentence = match finished.error {
        Some(error) => format!("{error}; {stopped}"),
        None => stopped,
    };
    interrupted(outcome, &sentence, host.runner.stop.asked_now())
}

/// The command that does the same again, in a new folder.
fn repeat(folder: &Path, variant: Option<usize>, engine: &RecordedEngine) -> String {
    let is_of_variant = folder.join(CASE_FILE).exists();
    let variant =
        variant.filter(|_| is_of_variant).map(|number| vec!["--variant".to_owned(), number.to_string()]);
    let fixed = [
        "replay".to_owned(),
        folder.display().to_string(),
        "--engine".to_owned(),
        EngineChoice::again(engine).to_string(),
    ];
    command_line(fixed.into_iter().chain(variant.into_iter().flatten()))
}

/// A folder that does not exist yet.
fn usual_folder(case: &str, engine: &RecordedEngine) -> PathBuf {
    let engine = engine.to_string().replace(['/', ' '], "-");
    unused(Path::new(".equiform/replay"), &format!("{case}-{engine}"))
}
