//! The stages of a variant as steps of a script: which program, which command, how it ended.

use equiform_proto::faults::Faults;

use std::sync::Arc;

use super::super::Form;
use crate::case::{Batch, Case, CaseError};
use crate::deploy::hold::Hold;
use crate::deploy::{drift_arguments, seed_of};
use crate::engines::driver::{Driver, Syntax};
use crate::engines::terraform::builtin::{self, Builtins};
use crate::evidence::StageRecord;
use crate::spec::{Action, Encoding};

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The stage's name.
    pub stage: String,
    /// The program that is put in place before it, counted from 1; none if it is the one of the step before.
    pub program: Option<usize>,
    /// What is run.
    pub command: StepCommand,
    /// Whether the command succeeded.
    pub succeeded: bool,
    /// The operations that the provider fails.
    pub faults: Faults,
    /// How the provider holds operations.
    pub hold: String,
}

impl Step {
    /// Whether it is an apply, which tells what it planned and what it did.
    pub fn applies(&self) -> bool {
        let StepCommand::Engine(arguments) = &self.command else { return false };
        self.succeeded && arguments.first().is_some_and(|command| command == "apply")
    }

    /// Whether it is a plan whose exit code says that there are changes, which is a success too.
    pub fn tells_by_exit_code(&self) -> bool {
        let StepCommand::Engine(arguments) = &self.command else { return false };
        self.succeeded && arguments.iter().any(|argument| argument == "-detailed-exitcode")
    }
}

/// What is run in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepCommand {
    /// The engine, with these arguments.
    Engine(Vec<String>),
    /// The provider's own program, which changes the world behind the engine's back.
    Provider(Vec<String>),
}

/// Steps, and the programs that they use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steps {
    /// The texts of the programs.
    pub programs: Vec<String>,
    /// The steps, of which the last shows the bug.
    pub steps: Vec<Step>,
}

impl Steps {
    /// The steps of a case with one variant that counts, the first, which had this number once. `records` tells how the
    /// commands ended.
    pub fn of(
        (case, variant): (&Case, usize),
        records: &[StageRecord],
        driver: &dyn Driver,
        (form, writes): (&Form, Writes),
    ) -> Result<Self, CaseError> {
        let reader = driver.profile().reader;
        let stages = case.stages(0)?;
        let builtins = match form {
            Form::Builtin => Builtins::of(&stages).ok(),
            Form::Mock { .. } => None,
        };
        let (mut programs, mut steps): (Vec<String>, Vec<Step>) = (Vec::new(), Vec::new());
        let text = |batch: &Arc<Batch>| match &builtins {
            Some(builtins) => builtins.render(batch),
            // Engines read the files of a folder as one program.
            None => {
                let files = driver.files(batch, Syntax::Hcl).into_iter();
                files.map(|file| file.content).collect::<Vec<_>>().join("\n")
            }
        };
        for (staged, record) in stages.iter().zip(records) {
            let (stage, program) = (staged.stage, text(&staged.batch));
            let is_new = programs.last() != Some(&program);
            if is_new {
                programs.push(program);
            }
            let command = match &stage.action {
                Action::Drift { key, change } => StepCommand::Provider(drift_arguments(key, change)),
                action => {
                    let action = (action, &staged.batch.program.encoding);
                    StepCommand::Engine(arguments(driver, action, form, writes))
                }
            };
            steps.push(Step {
                stage: stage.name.clone(),
                program: is_new.then_some(programs.len()),
                command,
                succeeded: reader.succeeded(record),
                faults: stage.faults.clone(),
                hold: Hold::QUIET.with_seed(seed_of(case.seed, variant, &stage.name).into()).to_string(),
            });
        }
        Ok(Self { programs, steps })
    }

    /// The step that shows the bug.
    pub fn last(&self) -> &Step {
        self.steps.last().expect("a variant has a stage")
    }
}

/// For whom commands write what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// Text to read.
    Text,
    /// JSON messages.
    Messages,
}

/// The arguments of a command as people type them.
fn arguments(
    driver: &dyn Driver,
    (action, encoding): (&Action, &Encoding),
    form: &Form,
    writes: Writes,
) -> Vec<String> {
    let arguments = driver.command(action, encoding).arguments.into_iter();
    let as_written = |argument: String| match (argument.as_str(), writes) {
        ("-json", Writes::Text) => "-no-color".to_owned(),
        _ => argument,
    };
    let mut arguments: Vec<String> = arguments.map(as_written).collect();
    if let Form::Builtin = form {
        arguments.iter_mut().for_each(|argument| *argument = builtin::renamed(argument));
    }
    arguments
}
