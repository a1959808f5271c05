//! A bundle: a folder from which somebody who has nothing but an engine can see a bug, and that can be sent upstream.
//!
//! This module decides in which form a bug is shown and tries it on engines, `only` cuts the case down to what
//! matters, `folder` writes the files. What is in the files belongs to an engine family, behind [`FamilyBundles`]:
//! `terraform` is the only one. Nothing is written before the script itself has shown the bug.

pub mod folder;
mod only;
mod terraform;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::place::StoredVariant;
use crate::case::{Case, CaseError};
use crate::deploy::limits::Limits;
use crate::deploy::process::{Command, Ended};
use crate::deploy::stop::Stop;
use crate::deploy::{DeployError, provider};
use crate::engine_id::Family;
use crate::engines::{Engine, EngineChoice, RecordedEngine};
use crate::evidence::{StageRecord, Unreadable, records};
use crate::judge::explain::{Explanation, Tried};
use crate::judge::finding::{FindingKind, OracleId};
use crate::private;
use folder::{Description, Files};
pub use terraform::observed::Observed;

/// The name of the script.
pub const SCRIPT: &str = "repro.sh";

/// How long a script may take.
const TIMEOUT: Duration = Duration::from_secs(300);

/// How much of what a script prints is read.
const MOST_SAID: u64 = 64 << 20;

/// With which resources a bundle is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// With resources that every engine of the family has built in.
    Builtin,
    /// With those of our provider.
    Mock {
        /// Why not without.
        why: String,
    },
}

/// How often a script deploys the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Once, as the bug always shows.
    Once,
    /// Until the bug shows, as it does not always.
    UntilShown,
}

/// What a bundle is about.
pub struct Subject<'a> {
    /// What is known of the variant.
    pub explanation: &'a Explanation,
    /// The case, cut down: its first variant is the one that counts, and its last stage shows the bug.
    pub case: Case,
    /// The number that the variant had.
    pub variant: usize,
    /// How the commands of its stages ended.
    pub records: Vec<StageRecord>,
    /// The title of the text for the maintainers.
    pub title: String,
}

/// A bug that a script has shown.
pub struct Shown<'a> {
    /// The title.
    pub title: &'a str,
    /// What is known of the variant.
    pub explanation: &'a Explanation,
    /// What the script printed on the engine.
    pub observed: &'a Observed,
    /// Where it was tried.
    pub tried: &'a [Tried],
    /// What somebody has to add, such as where it comes from.
    pub context: Option<&'a str>,
}

/// How bundles for the maintainers of an engine family are written.
pub trait FamilyBundles {
    /// The resource that every engine of the family has built in.
    fn builtin(&self) -> &'static str;

    /// The form in which a bug shows on an engine: without our provider if possible.
    fn form(&self, subject: &Subject<'_>, engine: &Engine, stop: &Stop) -> Result<Form, DeployError>;

    /// The files that show a bug. Equiform says whether it shows if `by_equiform` asks for that, or if no shell can.
    fn draft(
        &self,
        subject: &Subject<'_>,
        engine: &Engine,
        form: &Form,
        runs: Runs,
        by_equiform: bool,
    ) -> Result<Box<dyn Draft>, BundleError>;
}

/// Files that show a bug.
pub trait Draft {
    /// The programs, the script and the case.
    fn files(&self) -> &Files;

    /// Whether the script itself says whether the bug shows, without equiform.
    fn is_told_by_shell(&self) -> bool;

    /// The text for the maintainers.
    fn issue(&self, shown: &Shown<'_>) -> String;
}

/// How bundles for a family are written.
fn bundles_of(family: Family) -> &'static dyn FamilyBundles {
    match family {
        Family::Terraform => &terraform::TerraformBundles,
    }
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
    /// A script cannot make the bug show.
    #[error(
        "{finding} needs another command that holds the lock on the state, which a script cannot: `equiform replay \
         {}` shows it; nothing was written", case.display()
    )]
    NeedsLock {
        /// What was found.
        finding: String,
        /// The case's folder.
        case: PathBuf,
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
    /// Receives what is being done.
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

/// Files that have shown a bug, and what the script said.
struct Attempt {
    draft: Box<dyn Draft>,
    form: Form,
    observed: Observed,
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
        let subject = Subject {
            explanation,
            case: only::only(&place.case, place.variant, cause.stage.as_str()),
            variant: place.variant,
            records: records(&place.folder)?,
            title: self.title.map_or_else(|| title(explanation), str::to_owned),
        };
        if subject.case.variants[0].stages.iter().any(|stage| stage.locked) {
            let (finding, case) = (cause.to_string(), place.folder.clone());
            return Err(BundleError::NeedsLock { finding, case });
        }
        let runs = if place.is_flaky() { Runs::UntilShown } else { Runs::Once };
        let Attempt { draft, form, observed } = self.attempt(&subject, runs)?;
        self.check_shown(&observed, place, explanation)?;
        let tried = self.try_others(draft.files())?;
        let shown = Shown {
            title: &subject.title,
            explanation,
            observed: &observed,
            tried: &tried,
            context: self.context,
        };
        let mut files = draft.files().clone();
        files.insert("ISSUE.md".to_owned(), draft.issue(&shown));
        files.insert("expected.txt".to_owned(), explanation.expected.to_string());
        files.insert("observed.txt".to_owned(), observed.in_short());
        files.insert("versions.txt".to_owned(), folder::versions(&tried));
        let why = match &form {
            Form::Builtin => None,
            Form::Mock { why } => Some(why.as_str()),
        };
        folder::write(out, &files, Description::new(explanation.engine.without_folder(), Some(cause), why))?;
        Ok(Made { form, tried })
    }

    /// Tries to show a bug, in one form after the other, from what asks least of the maintainers to what asks most.
    fn attempt(&self, subject: &Subject<'_>, runs: Runs) -> Result<Attempt, BundleError> {
        let bundles = bundles_of(self.engine.id.family);
        let draft = |form: &Form, runs: Runs, by_equiform: bool| {
            bundles.draft(subject, self.engine, form, runs, by_equiform)
        };
        (self.watch)("trying it without the provider");
        let mut form = bundles.form(subject, self.engine, &self.stop)?;
        let mut runs = runs;
        let mut made = draft(&form, runs, false)?;
        if form == Form::Builtin && !made.is_told_by_shell() {
            let oracle = subject.explanation.cause.oracle();
            form = Form::Mock { why: format!("no shell can tell what `{oracle}` looks at") };
            made = draft(&form, runs, false)?;
        }
        let mut observed = self.run(made.files(), self.engine)?;
        if form == Form::Builtin && observed.exit == Some(1) {
            form = Form::Mock { why: format!("with {} it does not always show", bundles.builtin()) };
            made = draft(&form, runs, false)?;
            observed = self.run(made.files(), self.engine)?;
        }
        // What shows sometimes may not have shown in the one run.
        if runs == Runs::Once && observed.exit == Some(1) {
            let repeated = draft(&form, Runs::UntilShown, false)?;
            let again = self.run(repeated.files(), self.engine)?;
            if again.exit == Some(0) {
                (made, observed, runs) = (repeated, again, Runs::UntilShown);
            }
        }
        // The script runs the engine for people, and equiform asks it for JSON: it may show in one of them only.
        if made.is_told_by_shell() && observed.exit == Some(1) {
            made = draft(&form, runs, true)?;
            observed = self.run(made.files(), self.engine)?;
        }
        Ok(Attempt { draft: made, form, observed })
    }

    /// Checks that the script has shown the bug.
    fn check_shown(
        &self,
        observed: &Observed,
        place: &StoredVariant,
        explanation: &Explanation,
    ) -> Result<(), BundleError> {
        let engine = Box::new(self.engine.recorded().without_folder());
        let said = observed.last_line();
        match observed.exit {
            Some(0) => Ok(()),
            Some(1) => Err(BundleError::DoesNotShow {
                finding: explanation.cause.signature().to_string(),
                engine,
                said,
                case: place.case_folder.clone(),
            }),
            _ => Err(BundleError::CouldNotRun { engine, said }),
        }
    }

    /// Where the bug shows: on its own engine, and on those of the others on which a script shows it.
    fn try_others(&self, files: &Files) -> Result<Vec<Tried>, BundleError> {
        let own_engine = self.engine.recorded().without_folder();
        let mut tried = vec![Tried { engine: own_engine, shows: Some(true), text: String::new() }];
        for engine in self.others {
            let observed = self.run(files, engine)?;
            let (shows, text) = match observed.exit {
                Some(0) => (Some(true), String::new()),
                Some(1) => (Some(false), String::new()),
                _ => (None, observed.last_line()),
            };
            tried.push(Tried { engine: engine.recorded().without_folder(), shows, text });
        }
        tried.sort_by(|one, other| one.engine.id.cmp(&other.engine.id));
        Ok(tried)
    }

    /// Runs the script on an engine, in a folder of its own.
    fn run(&self, files: &Files, engine: &Engine) -> Result<Observed, BundleError> {
        (self.watch)(&format!("running {SCRIPT} on {engine}"));
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
