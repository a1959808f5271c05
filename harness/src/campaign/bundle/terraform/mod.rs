//! Bundles for the maintainers of Terraform and OpenTofu.
//!
//! `steps` makes commands of stages, `check` says whether the bug shows, `script` is both as a shell script. `builtins`
//! tries whether it shows with resources that every engine has built in. `observed` reads what the script said, `issue`
//! is the text for the maintainers.

mod builtins;
mod check;
mod issue;
pub mod observed;
#[cfg(test)]
mod rewording;
mod script;
mod steps;

use super::folder::Files;
use super::{BundleError, Draft, FamilyBundles, Form, Runs, SCRIPT, Shown, Subject};
use crate::case::CASE_FILE;
use crate::deploy::DeployError;
use crate::deploy::stop::Stop;
use crate::engines::terraform::builtin;
use crate::engines::{self, Engine};
use check::Check;
use issue::Issue;
use steps::{Steps, Writes};

/// Bundles for Terraform's family.
#[derive(Debug)]
pub struct TerraformBundles;

/// Files that show a bug, and what they were made of.
struct TerraformDraft {
    files: Files,
    steps: Steps,
    check: Check,
    form: Form,
    runs: Runs,
}

impl FamilyBundles for TerraformBundles {
    fn builtin(&self) -> &'static str {
        builtin::TYPE
    }

    fn form(&self, subject: &Subject<'_>, engine: &Engine, stop: &Stop) -> Result<Form, DeployError> {
        let explanation = subject.explanation;
        builtins::form(engine, &subject.case, &explanation.cause, &explanation.others, stop)
    }

    fn draft(
        &self,
        subject: &Subject<'_>,
        engine: &Engine,
        form: &Form,
        runs: Runs,
        by_equiform: bool,
    ) -> Result<Box<dyn Draft>, BundleError> {
        let (cause, case) = (&subject.explanation.cause, &subject.case);
        let writes = if check::is_about_messages(cause) { Writes::Messages } else { Writes::Text };
        let driver = engines::open(engine);
        let steps = Steps::of((case, subject.variant), &subject.records, &*driver, (form, writes))?;
        let check = if by_equiform { Check::Equiform } else { check::of(cause, steps.last(), form) };
        let script = script::script(&subject.title, &steps, &check, form, cause, runs);
        let programs = steps.programs.iter().zip(1..);
        let mut files: Files =
            programs.map(|(program, number)| (format!("{number}/main.tf"), program.clone())).collect();
        files.insert(SCRIPT.to_owned(), script::with_version(script));
        let case = serde_json::to_string_pretty(case).expect("a case is JSON") + "\n";
        files.insert(CASE_FILE.to_owned(), case);
        Ok(Box::new(TerraformDraft { files, steps, check, form: form.clone(), runs }))
    }
}

impl Draft for TerraformDraft {
    fn files(&self) -> &Files {
        &self.files
    }

    fn is_told_by_shell(&self) -> bool {
        matches!(self.check, Check::Shell { .. })
    }

    fn issue(&self, shown: &Shown<'_>) -> String {
        Issue { shown, steps: &self.steps, form: &self.form, runs: self.runs }.text()
    }
}
