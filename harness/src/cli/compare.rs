//! `equiform compare`: the same cases on several engines.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::campaign_text::note;
use super::cases_args::CasesArgs;
use super::engine_args::HowArgs;
use super::format::OutputFormat;
use super::known_args::KnownArgs;
use super::layered::Layered;
use super::observer::SessionDisplay;
use super::report::{leave_comparison, write_page};
use super::report_args::interrupted;
use super::{CannotRun, CliResult, Outcome, output};
use crate::campaign::Settings;
use crate::campaign::comparison::{Comparison, CostDifference, EngineCampaign, EngineCounts};
use crate::campaign::keep::Keep;
use crate::campaign::limits::Limits;
use crate::campaign::session::{Finished, RunRequest, Session};
use crate::campaign::tally::Tally;
use crate::deploy::stop::Stop;
use crate::engines::{Engine, EngineChoice, EngineName, Engines, RecordedEngine};
use crate::html::comparison::ComparisonSource;
use crate::judge::compare::Difference;
use crate::judge::known::KnownFindings;
use crate::judge::oracles::{ORACLES, Oracle};

/// Run the same cases on several engines or versions, and show where they differ, and since which version
///
/// Each engine has its own campaign in a folder below `--out`. The ledgers are compared stage by stage. A difference
/// that no known bug explains is a finding.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  equiform compare --engine terraform@1.11 --engine tofu\n  \
                  equiform compare --installed --sources 50 --variants 2")]
pub struct CompareArgs {
    /// An engine, as for `run`; two or more
    #[arg(long = "engine", value_name = "ENGINE", required_unless_present = "installed")]
    engines: Vec<EngineChoice>,
    /// Compare all installed engines
    #[arg(long)]
    installed: bool,
    #[command(flatten)]
    cases: CasesArgs,
    #[command(flatten)]
    how: HowArgs,
    /// The folder for the campaigns; one with the same settings is resumed
    #[arg(long, default_value = ".equiform/compare")]
    out: PathBuf,
    #[command(flatten)]
    known: KnownArgs,
    /// What to print at the end: tables, or one JSON document
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    settings: &'a Settings,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

/// Compares.
pub fn run(args: CompareArgs) -> CliResult {
    let given = Layered::own::<CompareArgs>("compare")?;
    args.cases.refuse_idle(&|option| given.says(option))?;
    args.how.refuse_idle(&|option| given.says(option))?;
    let known = args.known.read()?;
    let engines = chosen(&args)?;
    let settings = args.cases.settings();
    args.cases.affordable(&settings, engines.len(), args.how.jobs(), None)?;
    let stop = args.how.watch()?;
    let mut campaigns = Vec::new();
    for engine in engines {
        let (done, stopped) = campaign(&args, &engine, &settings, &known, stop.clone())?;
        campaigns.push(done);
        if let Some(sentence) = stopped {
            leave(&args, &settings, &campaigns, None, &known, Some(&sentence))?;
            let found = campaigns.iter().any(|campaign| Tally::of(&campaign.verdicts).failed > 0);
            let outcome = if found { Outcome::Findings } else { Outcome::Clean };
            return interrupted(Ok(outcome), &sentence, stop.asked_now());
        }
    }
    let Some(comparison) = Comparison::of(&settings, &campaigns, &stop) else {
        leave(&args, &settings, &campaigns, None, &known, Some("stopped while comparing"))?;
        return Err("stopped while comparing; the same command resumes from there".into());
    };
    output(|out| match args.format {
        OutputFormat::Text => tell(out, &comparison),
        OutputFormat::Json => {
            let document = Document { version: 2, settings: &settings, comparison: &comparison };
            writeln!(out, "{}", serde_json::to_string_pretty(&document)?)
        }
    })?;
    leave(&args, &settings, &campaigns, Some(&comparison), &known, None)?;
    if comparison.has_new_findings() {
        return Ok(Outcome::Findings);
    }
    match comparison.inconclusive() {
        0 => Ok(Outcome::Clean),
        some => {
            Err(format!("{some} variants could not be judged; {} has the reasons", args.out.display()).into())
        }
    }
}

/// Leaves the page of a comparison in its folder.
fn leave(
    args: &CompareArgs,
    settings: &Settings,
    campaigns: &[EngineCampaign],
    comparison: Option<&Comparison>,
    known: &KnownFindings,
    stopped: Option<&str>,
) -> Result<(), CannotRun> {
    let folder = &args.out.canonicalize()?;
    let source = ComparisonSource { folder, settings, campaigns, comparison, known, stopped };
    leave_comparison(&source, args.format)
}

/// The engines in ascending order, each once.
fn chosen(args: &CompareArgs) -> Result<Vec<Engine>, CannotRun> {
    let places = Engines::from_env()?;
    let mut engines: Vec<Engine> = Vec::new();
    for choice in &args.engines {
        engines.push(places.find(choice)?);
    }
    if args.installed {
        engines.extend(EngineName::ALL.into_iter().flat_map(|name| places.installed(name)));
    }
    engines.sort_by(|a, b| (&a.id, &a.path).cmp(&(&b.id, &b.path)));
    engines.dedup_by(|a, b| a.recorded() == b.recorded());
    if engines.len() < 2 {
        return Err("a comparison needs two engines or more: name them with --engine, or use --installed; \
                    `equiform engines list` shows what there is"
            .into());
    }
    Ok(engines)
}

/// The campaign of one engine, and why it is not whole, if it is not.
fn campaign(
    args: &CompareArgs,
    engine: &Engine,
    settings: &Settings,
    known: &KnownFindings,
    stop: Stop,
) -> Result<(EngineCampaign, Option<String>), CannotRun> {
    let host = args.how.start(engine, args.how.mode(), stop)?;
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    note(&format!("on {}", host.engine));
    let session = Session {
        host: &host,
        oracles: &oracles,
        known,
        jobs: args.how.jobs(),
        // What counts here is where engines differ.
        again: false,
        observer: &SessionDisplay { is_resumed: false },
    };
    let (_, finished) = session.run(&RunRequest {
        settings,
        shard: None,
        only_case: None,
        limits: Limits::default(),
        keep: Keep::All,
        reduce_for: None,
        out: &args.out.join(folder_name(&host.engine)),
    })?;
    if finished.judged() > 0 {
        write_page(&finished.folder, &finished.report, &oracles, known);
    }
    let is_whole = finished.is_whole();
    let Finished { folder, report, error, .. } = finished;
    let stopped = format!("stopped on {}; the same command resumes it", host.engine);
    let stopped = match error {
        Some(error) => Some(format!("{error}; {stopped}")),
        None => (!is_whole).then_some(stopped),
    };
    let verdicts = report.cases.into_iter().map(|(_, verdict)| verdict).collect();
    Ok((EngineCampaign { engine: host.engine.clone(), folder, verdicts }, stopped))
}

/// An engine as the name of a folder.
fn folder_name(engine: &RecordedEngine) -> PathBuf {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || ['@', '.', '-', '_'].contains(&character);
    Path::new(&engine.to_string().chars().map(|c| if plain(c) { c } else { '-' }).collect::<String>())
        .to_owned()
}

fn listed(engines: &[RecordedEngine], separator: &str) -> String {
    engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
}

fn tell(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    let Comparison { engines, compared, differences, one_at_a_time, costs } = comparison;
    let width = engines.iter().map(|counts| counts.engine.to_string().len()).max().unwrap_or(0);
    writeln!(out, "{:width$}  passed  known  failed  inconclusive", "engine")?;
    for EngineCounts { engine, passed, known, failed, inconclusive, warm_only } in engines {
        write!(out, "{engine:width$}  {passed:6}  {known:5}  {failed:6}  {inconclusive:12}")?;
        match warm_only {
            0 => writeln!(out)?,
            some => writeln!(out, "  ({some} showed something warm only)")?,
        }
    }
    let known = differences.iter().filter(|difference| !difference.known.is_empty()).count();
    let new = differences.len() - known;
    writeln!(out, "\n{compared} variants compared: {new} differ, {known} more by known bugs")?;
    if !one_at_a_time.is_empty() {
        let engines = listed(one_at_a_time, ", ");
        writeln!(out, "never more than one operation at a time, where others do more: {engines}")?;
    }
    for CostDifference { engine, than, command, measure, amount, usual } in costs {
        let (amount, usual) = (measure.text(*amount), measure.text(*usual));
        writeln!(out, "{command} takes {engine} {amount}, and {than} {usual}")?;
    }
    for difference in differences {
        let Difference { case, variant, stage, groups, first_in, known } = difference;
        write!(out, "\ncase {case} variant {variant} {stage}")?;
        if !first_in.is_empty() {
            write!(out, ", first in {}", listed(first_in, " and in "))?;
        }
        if !known.is_empty() {
            let names: Vec<&str> = known.iter().map(String::as_str).collect();
            write!(out, ", known: {}", names.join(", "))?;
        }
        writeln!(out)?;
        for group in groups {
            writeln!(out, "  {}\n    {}", group.did, listed(&group.engines, ", "))?;
        }
    }
    Ok(())
}
