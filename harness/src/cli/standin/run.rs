//! `equiform standin run`: a program, deployed without a cloud.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::missing;
use crate::audit::{AddressBook, Walk};
use crate::cli::amount::duration;
use crate::cli::{CannotRun, CliResult, Outcome, interrupt, ledger, output};
use crate::deploy::process::Ended;
use crate::deploy::provider;
use crate::deploy::stop::Stop;
use crate::engines::terraform::instances;
use crate::engines::{EngineChoice, Engines};
use crate::standin::chosen::{Chosen, choose};
use crate::standin::program::Program;
use crate::standin::session::{Said, Session};
use crate::standin::store::Schemas;

/// The file of overrides that stand-ins look for.
const OVERRIDES: &str = "equiform.overrides.json";

/// Deploy a program without a cloud: all its providers are stand-ins
///
/// Finds the providers that the program needs, looks for their schemas beside it and in folders of schemas, copies the
/// program into a scratch folder, and runs init and apply there. Shows what the ledger says, and the graph of what was
/// built. The program's own folder, state and backend are not touched; provisioners do what they say.
///
/// Exit code 1 if the engine fails, 2 if it cannot be run, as where a schema is missing: it is said then how to get it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    equiform standin run infrastructure --destroy\n  \
    equiform standin run . --var region=here --keep /tmp/try      # again, after a change: goes on from there")]
pub(super) struct Run {
    /// The program's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// The engine: terraform or tofu, with @VERSION if it matters, or the path of an executable that takes
    /// their commands
    #[arg(long, default_value = "terraform")]
    engine: EngineChoice,

    /// A folder of schemas (NAMESPACE/TYPE.json or NAMESPACE/TYPE-VERSION.json), or a file of `terraform providers
    /// schema -json`; may be given several times [default: `schemas` in equiform's cache folder]
    #[arg(long, value_name = "PLACE")]
    schemas: Vec<PathBuf>,

    /// A file that sets what schemas do not say [default: equiform.overrides.json in the program's folder]
    #[arg(long, value_name = "FILE")]
    overrides: Option<PathBuf>,

    /// Destroy everything afterwards
    #[arg(long)]
    destroy: bool,

    /// Plan, and change nothing
    #[arg(long, conflicts_with = "destroy")]
    plan: bool,

    /// The value of a variable (may be given several times)
    #[arg(long, value_name = "NAME=VALUE")]
    var: Vec<String>,

    /// A file of values of variables (may be given several times)
    #[arg(long, value_name = "FILE")]
    var_file: Vec<PathBuf>,

    /// Keep the scratch folder here: copy, state, ledger, output. A folder that was kept before is gone on from: the
    /// program may have changed meanwhile
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,

    /// What computed values are made from: another number, other values [default: 0]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// How long one engine command may take: 60s, 2m
    #[arg(long, default_value = "10m", value_parser = duration)]
    timeout: Duration,

    /// Show all that the engine says
    #[arg(short, long)]
    verbose: bool,
}

impl Run {
    pub(super) fn run(self) -> CliResult {
        let engines = Engines::from_env()?;
        let engine = engines.find(&self.engine)?;
        let title = engine.to_string();
        let provider = provider::locate()?;
        let program = Program::read(&self.folder)?;
        let store = engines.cache.root().join("schemas");
        let places = if self.schemas.is_empty() { vec![store.clone()] } else { self.schemas.clone() };
        for place in &self.schemas {
            if !place.exists() {
                return Err(format!("{}: there is no such file or folder of schemas", place.display()).into());
            }
        }
        let (chosen, missing) = choose(&program, &self.folder, &Schemas::of(&self.folder, &places))?;
        for (file, why) in &program.read_in_part {
            let why = why.lines().last().unwrap_or_default().trim_start_matches([' ', '=']);
            eprintln!("note: {} is read in part only, the engine decides: {why}", file.display());
        }
        if !missing.is_empty() {
            let store = self.schemas.iter().find(|place| place.is_dir()).unwrap_or(&store);
            return Err(missing::sentence(&self.folder, &missing, engine.id.name, store).into());
        }
        for (call, source) in &program.remote_modules {
            eprintln!(
                "note: {call} comes from {source}: the engine fetches it, and what it needs is not known here"
            );
        }
        for file in &program.provisioners {
            eprintln!("note: {} has provisioners, which do what they say", file.display());
        }
        let stop = Stop::default();
        interrupt::watch(stop.clone())?;
        let scratch = match &self.keep {
            Some(_) => None,
            None => Some(tempfile::Builder::new().prefix("equiform-standin-").tempdir()?),
        };
        let folder = match (&self.keep, &scratch) {
            (Some(folder), _) => folder.as_path(),
            (None, Some(scratch)) => {
                stop.removes(scratch.path());
                scratch.path()
            }
            (None, None) => unreachable!("one of the two is there"),
        };
        let mut session = Session::prepare(engine, folder, &program, &chosen, &provider)?;
        (session.timeout, session.stop) = (self.timeout, stop.clone());
        session.environment = self.environment()?;
        tell_standins(&title, &chosen)?;
        let outcome = self.commands(&session)?;
        if let Some(crash) = session.crash() {
            eprintln!("error: a stand-in crashed, which is a bug in equiform:\n{}", crash.trim_end());
        }
        if let Some(folder) = &self.keep {
            output(|out| writeln!(out, "== kept in {}", folder.display()))?;
        }
        match stop.asked() {
            true => Err("stopped early".into()),
            false => Ok(outcome),
        }
    }

    /// Runs the engine, and shows what came of it.
    fn commands(&self, session: &Session) -> Result<Outcome, CannotRun> {
        let before = last_seq(&session.ledger())?;
        let arguments = |words: &[&str]| -> Result<Vec<String>, CannotRun> {
            let mut all: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            all.extend(["-input=false", "-no-color"].map(str::to_owned));
            Ok(all)
        };
        let with_variables = |words: &[&str]| -> Result<Vec<String>, CannotRun> {
            let mut all = arguments(words)?;
            all.extend(self.variables()?);
            Ok(all)
        };
        let init = arguments(&["init"])?;
        if !self.command(session, "init", &init)? {
            return Ok(Outcome::Findings);
        }
        if self.plan {
            let plan = with_variables(&["plan"])?;
            return Ok(if self.command(session, "plan", &plan)? {
                Outcome::Clean
            } else {
                Outcome::Findings
            });
        }
        // What is deleted has its name from before.
        let mut book = AddressBook::default();
        learn(&mut book, session)?;
        let applied = self.command(session, "apply", &with_variables(&["apply", "-auto-approve"])?)?;
        if learn(&mut book, session)? {
            show(session, &book, before)?;
        } else {
            output(|out| writeln!(out, "== there is no ledger: no provider was asked for anything"))?;
        }
        let destroyed = !self.destroy || session.stop.asked() || {
            let arguments = with_variables(&["destroy", "-auto-approve"])?;
            self.command(session, "destroy", &arguments)?
        };
        Ok(if applied && destroyed { Outcome::Clean } else { Outcome::Findings })
    }

    /// Runs a command; whether it succeeded. What it says is shown if it did not, or in part.
    fn command(&self, session: &Session, name: &str, arguments: &[String]) -> Result<bool, CannotRun> {
        if session.stop.asked() {
            return Ok(false);
        }
        let spinner = spinner(name);
        let said = session.run(arguments, name)?;
        spinner.finish_and_clear();
        let succeeded = said.succeeded();
        output(|out| {
            writeln!(out, "== {name}")?;
            match succeeded && !self.verbose {
                true => write!(out, "{}", gist(name, &said.text)),
                false => writeln!(out, "{}", said.text.trim()),
            }
        })?;
        if !succeeded {
            eprintln!("error: `{name}` failed: {}", ending(&said, self.timeout));
            if said.text.contains(OVERRIDES) {
                let folder = self.folder.display();
                eprintln!(
                    "hint: {OVERRIDES} belongs in {folder}, from where it is copied; or name it by --overrides"
                );
            }
        }
        Ok(succeeded)
    }

    fn variables(&self) -> Result<Vec<String>, CannotRun> {
        let mut all: Vec<String> = self.var.iter().map(|var| format!("-var={var}")).collect();
        for file in &self.var_file {
            all.push(format!("-var-file={}", absolute(file)?.display()));
        }
        Ok(all)
    }

    fn environment(&self) -> Result<Vec<(OsString, OsString)>, CannotRun> {
        let mut environment: Vec<(OsString, OsString)> = Vec::new();
        if let Some(overrides) = &self.overrides {
            environment.push(("EQUIFORM_OVERRIDES".into(), absolute(overrides)?.into()));
        }
        if let Some(seed) = self.seed {
            environment.push(("EQUIFORM_SEED".into(), seed.to_string().into()));
        }
        Ok(environment)
    }
}

/// Shows what the ledger says of this session, and the graph.
fn show(session: &Session, book: &AddressBook, before: u64) -> Result<(), CannotRun> {
    output(|out| writeln!(out, "== what the ledger says"))?;
    if !ledger::show_entries(&session.ledger(), book, before)? {
        output(|out| writeln!(out, "nothing was created, changed or deleted"))?;
    }
    output(|out| writeln!(out, "== the graph, rebuilt from it"))?;
    ledger::show_graph(&session.ledger(), book)
}

/// Learns the addresses that the state has now; whether there is a ledger.
fn learn(book: &mut AddressBook, session: &Session) -> Result<bool, CannotRun> {
    if !session.ledger().exists() {
        return Ok(false);
    }
    if session.state().exists() {
        let world = Walk::open(&session.ledger(), |file| Box::new(file))?.fold(None)?;
        book.learn(&instances::read(&session.state())?, &world);
    }
    Ok(true)
}

/// The last entry of a ledger; 0 if there is none.
fn last_seq(ledger: &Path) -> Result<u64, CannotRun> {
    if !ledger.exists() {
        return Ok(0);
    }
    let mut walk = Walk::open(ledger, |file| Box::new(file))?;
    walk.fold(None)?;
    Ok(walk.last_seq())
}

/// The path of a file that is there, wherever it is used.
fn absolute(path: &Path) -> Result<PathBuf, CannotRun> {
    path.canonicalize().map_err(|error| format!("{}: {error}", path.display()).into())
}

fn tell_standins(title: &str, chosen: &[Chosen]) -> Result<(), CannotRun> {
    output(|out| {
        writeln!(out, "== {title}")?;
        for one in chosen {
            let Chosen { address, version, schema, schema_version, counts, .. } = one;
            let Some(schema) = schema else {
                writeln!(out, "{address} {version} is a stand-in, which needs no schema")?;
                continue;
            };
            let other =
                schema_version.as_ref().map(|other| format!(" of version {other}")).unwrap_or_default();
            writeln!(
                out,
                "{address} {version} is a stand-in: {} resources, {} data sources, by {}{other}",
                counts.resources,
                counts.data_sources,
                schema.path().display()
            )?;
        }
        Ok(())
    })
}

/// What people want to know of a command that succeeded.
fn gist(name: &str, text: &str) -> String {
    let begins: &[&str] = match name {
        "apply" => &["Apply complete!"],
        "destroy" => &["Destroy complete!"],
        "plan" => &["Plan:", "No changes.", "Changes to Outputs:"],
        _ => return String::new(),
    };
    let mut lines = text.lines().skip_while(|line| !begins.iter().any(|begin| line.starts_with(begin)));
    let mut gist = String::new();
    for line in lines.by_ref() {
        gist += line;
        gist += "\n";
    }
    gist.trim_end().to_owned() + "\n"
}

fn ending(said: &Said, timeout: Duration) -> String {
    match said.end {
        Ended::Exit(code) => format!("exit code {code}; what it said stands above"),
        Ended::Signal(signal) => format!("it was ended by signal {signal}"),
        Ended::TimedOut => format!("it took longer than {} s, see --timeout", timeout.as_secs()),
        Ended::Exceeded(excess) => excess.to_string(),
    }
}

/// Shows that something is under way, where somebody looks.
fn spinner(name: &str) -> ProgressBar {
    let target =
        if io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let spinner = ProgressBar::with_draw_target(None, target);
    let style =
        ProgressStyle::with_template("{spinner} {msg}, {elapsed}").expect("the template is well formed");
    spinner.set_style(style);
    spinner.set_message(name.to_owned());
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner
}
