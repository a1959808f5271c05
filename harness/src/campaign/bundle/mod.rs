//! A bundle: a folder from which somebody who has nothing but an engine can see a bug, and that can be sent upstream.
//!
//! `steps` makes commands of stages, `check` tells whether the bug shows, `script` is both as a shell script.
//! `builtins` tries whether it shows with resources that every engine has built in; only then the bundle is written
//! with them. `observed` is what the script said, `issue` the text for the engine's maintainers, `only` the case cut
//! down to what matters, `folder` writes it all. Nothing is written before the script itself has shown the bug.

mod builtins;
mod check;
pub mod folder;
mod issue;
mod observed;
mod only;
#[cfg(test)]
mod rewording;
mod script;
mod steps;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::place::StoredVariant;
use crate::case::{CASE_FILE, CaseError};
use crate::deploy::limits::Limits;
use crate::deploy::process::{Command, Ended};
use crate::deploy::stop::Stop;
use crate::deploy::{DeployError, provider};
use crate::engines::terraform::builtin::Builtins;
use crate::engines::{self, Engine, EngineChoice, RecordedEngine};
use crate::evidence::{Unreadable, records};
use crate::judge::explain::{Explanation, Tried};
use crate::judge::finding::{FindingKind, OracleId};
use crate::private;
use check::Check;
use folder::{Description, Files};
use issue::Issue;
pub use observed::Observed;
use script::Runs;
pub use script::SCRIPT;
use steps::{Steps, Writes};

/// How long a script may take.
const TIMEOUT: Duration = Duration::from_secs(300);

/// How much of what a script prints is read.
const MOST_SAID: u64 = 64 << 20;

/// With which resources a bundle is written.
#[derive(Debug, Clone)]
pub enum Form {
    /// With `terraform_data`, which every engine has built in.
    Builtin(Builtins),
    /// With `mock_node` of our provider.
    Mock {
        /// Why not without.
        why: String,
    },
}

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The folder holds something else.
    #[error("{} is not empty and holds no bundle: name another folder with --out; nothing was written", .0.display())]
    Foreign(PathBuf),
    /// The folder holds a bundle of a newer version.
    #[error(
        "{} holds a bundle of version {found}, which this program does not know: use a newer equiform, or name \
         another folder with --out; nothing was written", folder.display()
    )]
    Newer {
        /// The folder.
        folder: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The bug did not show.
    #[error(
        "{finding} no longer shows on {engine}: {said}. `equiform replay {} --engine {}` deploys the case again; \
         nothing was written", case.display(), EngineChoice::again(engine)
    )]
    DoesNotShow {
        /// What was found once.
        finding: String,
        /// The engine.
        engine: Box<RecordedEngine>,
        /// What the script said.
        said: String,
        /// The case's folder.
        case: PathBuf,
    },
    /// The script could not be run.
    #[error("{SCRIPT} could not be run on {engine}: {said}; nothing was written")]
    CouldNotRun {
        /// The engine.
        engine: Box<RecordedEngine>,
        /// What it said.
        said: String,
    },
    /// A variant could not be deployed.
    #[error(transparent)]
    Deploy(#[from] DeployError),
    /// The case cannot be used.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The evidence cannot be used.
    #[error(transparent)]
    Evidence(#[from] Unreadable),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

/// What a bundle is made with.
pub struct Bundler<'a> {
    /// The engine on which the bug has to show.
    pub engine: &'a Engine,
    /// Others on which it is tried.
    pub others: &'a [Engine],
    /// What the text for the maintainers is called; by default, what is known or was found.
    pub title: Option<&'a str>,
    /// What is to be added to it.
    pub context: Option<&'a str>,
    /// Who may end it early.
    pub stop: Stop,
    /// Who is told what is being done.
    pub watch: &'a dyn Fn(&str),
}

/// What came of it.
#[derive(Debug)]
pub struct Made {
    /// The form.
    pub form: Form,
    /// Where it was tried.
    pub tried: Vec<Tried>,
}

impl Bundler<'_> {
    /// Makes a bundle of a variant in a folder.
    pub fn make(
        &self,
        place: &StoredVariant,
        explanation: &Explanation,
        out: &Path,
    ) -> Result<Made, BundleError> {
        folder::may_be_written(out)?;
        let cause = &explanation.cause;
        let case = only::only(&place.case, place.variant, cause.stage.as_str());
        let records = records(&place.folder)?;
        let driver = engines::open(self.engine);
        (self.watch)("trying it without the provider");
        let form = builtins::form(self.engine, &case, cause, &explanation.others, &self.stop)?;
        let title = self.title.map_or_else(|| title(explanation), str::to_owned);
        type Prepared = (Files, Steps, Check);
        let prepare_by = |form: &Form, check: Option<Check>, runs: Runs| -> Result<Prepared, BundleError> {
            let writes = if check::is_about_messages(cause) { Writes::Messages } else { Writes::Text };
            let steps = Steps::of((&case, place.variant), &records, &*driver, (form, writes))?;
            let check = check.unwrap_or_else(|| check::of(cause, steps.last(), form));
            let script = script::with_version(script::script(&title, &steps, &check, form, cause, runs));
            let mut files: Files = steps
                .programs
                .iter()
                .zip(1..)
                .map(|(program, number)| (format!("{number}/main.tf"), program.clone()))
                .collect();
            files.insert(SCRIPT.to_owned(), script);
            let case = serde_json::to_string_pretty(&case).expect("a case is JSON") + "\n";
            files.insert(CASE_FILE.to_owned(), case);
            Ok((files, steps, check))
        };
        let mut runs = if place.is_flaky() { Runs::UntilShown } else { Runs::Once };
        let own_engine = self.engine.recorded().without_folder();
        let run = |files: &Files, engine: &Engine| -> Result<Observed, BundleError> {
            (self.watch)(&format!("running {SCRIPT} on {engine}"));
            self.run(files, engine)
        };
        let mut form = form;
        let (mut files, mut steps, mut check) = prepare_by(&form, None, runs)?;
        if let (Form::Builtin(_), Check::Equiform) = (&form, &check) {
            form = Form::Mock { why: format!("no shell can tell what `{}` looks at", cause.oracle()) };
            (files, steps, check) = prepare_by(&form, None, runs)?;
        }
        let mut observed = run(&files, self.engine)?;
        if let (Form::Builtin(_), Some(1)) = (&form, observed.exit) {
            form = Form::Mock { why: "with terraform_data it does not always show".to_owned() };
            (files, steps, check) = prepare_by(&form, None, runs)?;
            observed = run(&files, self.engine)?;
        }
        // What shows sometimes may not have shown in the one run.
        if let (Runs::Once, Some(1)) = (runs, observed.exit) {
            let (repeated, ..) = prepare_by(&form, None, Runs::UntilShown)?;
            let again = run(&repeated, self.engine)?;
            if again.exit == Some(0) {
                (files, observed, runs) = (repeated, again, Runs::UntilShown);
            }
        }
        // The script runs the engine for people, and equiform asks it for JSON: it may show in one of them only.
        if let (Check::Shell { .. }, Some(1)) = (&check, observed.exit) {
            (files, steps, _) = prepare_by(&form, Some(Check::Equiform), runs)?;
            observed = run(&files, self.engine)?;
        }
        match observed.exit {
            Some(0) => {}
            Some(1) => {
                return Err(BundleError::DoesNotShow {
                    finding: cause.signature().to_string(),
                    engine: own_engine.into(),
                    said: observed.last_line(),
                    case: place.case_folder.clone(),
                });
            }
            _ => {
                return Err(BundleError::CouldNotRun {
                    engine: own_engine.into(),
                    said: observed.last_line(),
                });
            }
        }
        let mut tried = vec![Tried { engine: own_engine, shows: Some(true), text: String::new() }];
        for engine in self.others {
            let observed = run(&files, engine)?;
            let (shows, text) = match observed.exit {
                Some(0) => (Some(true), String::new()),
                Some(1) => (Some(false), String::new()),
                _ => (None, observed.last_line()),
            };
            tried.push(Tried { engine: engine.recorded().without_folder(), shows, text });
        }
        tried.sort_by(|one, other| one.engine.id.cmp(&other.engine.id));
        let why = match &form {
            Form::Builtin(_) => None,
            Form::Mock { why } => Some(why.as_str()),
        };
        let context = self.context;
        let issue = Issue {
            title: &title,
            explanation,
            steps: &steps,
            form: &form,
            runs,
            observed: &observed,
            tried: &tried,
            context,
        };
        files.insert("ISSUE.md".to_owned(), issue.text());
        files.insert("expected.txt".to_owned(), explanation.expected.to_string());
        files.insert("observed.txt".to_owned(), observed.in_short());
        files.insert("versions.txt".to_owned(), folder::versions(&tried));
        folder::write(out, &files, Description::new(explanation.engine.without_folder(), Some(cause), why))?;
        Ok(Made { form, tried })
    }

    /// Runs the script on an engine, in a folder of its own.
    fn run(&self, files: &Files, engine: &Engine) -> Result<Observed, BundleError> {
        let place =
            tempfile::tempdir().map_err(|source| BundleError::Io { path: std::env::temp_dir(), source })?;
        let bundle = place.path().join("bundle");
        folder::write(&bundle, files, Description::new(engine.recorded(), None, None))?;
        run_script(&bundle, engine, &self.stop)
    }
}

/// Runs the script of a bundle on an engine.
pub fn run_script(bundle: &Path, engine: &Engine, stop: &Stop) -> Result<Observed, BundleError> {
    let place =
        tempfile::tempdir().map_err(|source| BundleError::Io { path: std::env::temp_dir(), source })?;
    let script = bundle.join(SCRIPT);
    let mut command = Command::new(Path::new("sh"), place.path());
    command.stop = stop.clone();
    command.limits = Limits::usual();
    command.environment.push(("TMPDIR".into(), place.path().into()));
    // It says itself if it needs it and there is none.
    command.environment.extend(provider::locate().ok().map(|path| ("PROVIDER".into(), path.into())));
    command.environment.extend(own_program().map(|path| ("EQUIFORM".into(), path.into())));
    let arguments = [script.display().to_string(), engine.path.display().to_string()];
    let (stdout, stderr) = (place.path().join("stdout"), place.path().join("stderr"));
    let failed = |source| BundleError::Io { path: script.clone(), source };
    let ended = command.run(&arguments, &stdout, &stderr, TIMEOUT).map_err(failed)?;
    if stop.asked_now() {
        return Err(DeployError::Stopped.into());
    }
    let read = |path: &Path| {
        let bytes = private::read_beginning(path, MOST_SAID).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let text = read(&stdout);
    Ok(Observed {
        exit: match ended.end {
            Ended::Exit(code) => Some(code),
            Ended::Signal(_) | Ended::TimedOut | Ended::Exceeded(_) => None,
        },
        errors: read(&stderr),
        text,
    })
}

/// The program that is running, if it is equiform.
fn own_program() -> Option<PathBuf> {
    let beside = crate::engines::locate::beside_this_program("equiform");
    beside.is_file().then_some(beside)
}

/// What a bundle is called that nobody gave a title.
fn title(explanation: &Explanation) -> String {
    if let Some(known) = &explanation.known {
        return known.text.clone();
    }
    let cause = &explanation.cause;
    match (cause.oracle(), cause.rule) {
        _ if cause.kind == FindingKind::ReportsCycle => {
            "a cycle is reported where the programs have none".to_owned()
        }
        (OracleId::Steps, _) => format!("{}: {cause}", cause.kind.about()),
        (_, Some(rule)) => format!("the order of operations is not kept: {}", rule.text()),
        _ => cause.kind.about().to_owned(),
    }
}
