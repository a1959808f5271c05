//! The text of an issue, by the forms of the trackers of Terraform and of OpenTofu, which have the same parts.

use std::fmt::Write as _;

use super::super::{Form, Runs, SCRIPT, Shown};
use super::steps::{StepCommand, Steps};
use crate::engine_id::EngineId;
use crate::engines::terraform::builtin;
use crate::judge::finding::{FindingKind, OracleId, Subject};
use crate::spec::ResourceOperation;
use crate::spec::encoding::NODE_TYPE;

/// What an issue is made of.
pub struct Issue<'a> {
    /// What a script has shown, and where.
    pub shown: &'a Shown<'a>,
    /// What people have to do.
    pub steps: &'a Steps,
    /// With which resources.
    pub form: &'a Form,
    /// How often the script does it.
    pub runs: Runs,
}

impl Issue<'_> {
    /// The text.
    pub fn text(&self) -> String {
        let name = self.shown.explanation.engine.id.name;
        let (product, program) = (name.product(), name.as_str());
        let mut text = format!("# {}\n", capital(self.shown.title));
        let mut part = |heading: &str, body: &str| {
            let _ = write!(text, "\n### {heading}\n{}\n", body.trim_end());
        };
        part(&format!("{product} Version"), &format!("```shell\n{}\n```", self.shown.observed.version()));
        part(&format!("{product} Configuration Files"), &self.programs());
        part(
            "Debug Output",
            &format!(
                "None attached. `TF_LOG=trace TF_LOG_PATH=$PWD/trace.log ./{SCRIPT} {program}` writes it."
            ),
        );
        part("Expected Behavior", &self.expected());
        part("Actual Behavior", &format!("{}\n\n```\n{}\n```", self.actual(), self.shown.observed.excerpt()));
        part("Steps to Reproduce", &self.steps_to_reproduce(program));
        part("Additional Context", &self.additional_context());
        text
    }

    fn programs(&self) -> String {
        let programs = self.steps.programs.iter().zip(1..);
        let text = programs.map(|(program, number)| {
            format!("`{number}/main.tf`\n\n```terraform\n{}```\n\n", with_end(program))
        });
        text.collect()
    }

    fn expected(&self) -> String {
        let expected = &self.shown.explanation.expected;
        let of_steps = self.shown.explanation.cause.oracle() == OracleId::Steps;
        let mut text = match of_steps {
            true => "The last command does what the change asks for, and nothing else:\n".to_owned(),
            false => format!("{}.\n", capital(&self.named(&expected.sentence))),
        };
        for change in &expected.changes {
            let _ = write!(text, "\n- {}", self.addressed(&self.named(change)));
        }
        if expected.changes.is_empty() && of_steps {
            text += "\n- nothing";
        }
        if expected.in_order.len() > 1 {
            let order: Vec<String> = expected.in_order.iter().map(|it| self.addressed(it)).collect();
            let _ = write!(text, "\n\nIn an order such as: {}.", order.join(", "));
        }
        for rule in expected.rules.iter() {
            // What was only seen is no ground on which to ask for it.
            let written = |source: &&String| !source.starts_with("observed");
            let sources: Vec<&String> = rule.sources.iter().filter(written).collect();
            // The first eight speak of order, and of nothing that only our provider has.
            let what =
                if rule.number <= 8 { capital(rule.text) } else { "What a change amounts to".to_owned() };
            let _ = write!(text, "\n\n{what}. Where that is written:\n");
            for source in sources {
                let _ = write!(text, "\n- {source}");
            }
        }
        text
    }

    fn actual(&self) -> String {
        let cause = &self.shown.explanation.cause;
        let operations: Vec<String> =
            cause.subjects.iter().filter_map(|subject| self.operation(subject)).collect();
        let told = || self.named(&cause.observation());
        match (cause.kind, operations.as_slice()) {
            (FindingKind::OperationMissing, [it, ..]) => format!("{} is not done.", capital(it)),
            (FindingKind::OperationExtra, [it, ..]) => format!("{} is done, which is not due.", capital(it)),
            (FindingKind::OperationRepeated, [it, ..]) => {
                format!("{} is done more than once.", capital(it))
            }
            (FindingKind::OperationWithoutEffect, [it, ..]) => {
                format!("{} is begun, and has no effect.", capital(it))
            }
            (FindingKind::OrderViolated, [first, second, ..]) => {
                format!("{} had not ended when {second} began.", capital(first))
            }
            (FindingKind::UndoneOperationReported, _) => {
                format!("A message says, and it is not so: {}.", told())
            }
            (FindingKind::FailureUnreported | FindingKind::OperationUnreported, _) => {
                format!("No message says: {}.", told())
            }
            // The command stands below.
            (kind, _) if kind.oracle() == OracleId::Health => format!("{}.", capital(kind.about())),
            _ => format!("{}.", capital(told().trim_end_matches('.'))),
        }
    }

    /// An operation with the address of its resource, as the programs have it.
    fn operation(&self, subject: &Subject) -> Option<String> {
        let ResourceOperation { key, kind, .. } = subject.resource_operation()?;
        Some(format!("{kind} `{}.{key}`", self.type_name()))
    }

    fn type_name(&self) -> &'static str {
        match self.form {
            Form::Builtin => builtin::TYPE,
            Form::Mock { .. } => NODE_TYPE,
        }
    }

    fn steps_to_reproduce(&self, program: &str) -> String {
        let mut text = format!(
            "`./{SCRIPT} {program}` does it in a temporary folder, and ends with exit code 0 if the bug shows.{}{} \
             By hand, in an empty folder:\n",
            match self.runs {
                Runs::Once => "",
                Runs::UntilShown => " It does not show every time, and is tried until it does.",
            },
            match self.form {
                Form::Builtin => "",
                Form::Mock { .. } => " It needs the mock provider, see below.",
            }
        );
        let mut number = 0;
        let mut item = |line: String| {
            number += 1;
            let _ = write!(text, "\n{number}. {line}");
        };
        for (place, step) in self.steps.steps.iter().enumerate() {
            if let Some(program) = step.program {
                item(format!("Copy `{program}/main.tf` here."));
            }
            if place == 0 {
                item(format!("`{program} init`"));
            }
            match &step.command {
                StepCommand::Engine(arguments) => {
                    let words = arguments.iter().filter(|it| *it != "-input=false" && *it != "-no-color");
                    let words: Vec<&str> = words.map(String::as_str).collect();
                    let fails = match step.faults.is_empty() {
                        true => String::new(),
                        false => {
                            let faults = step.faults.to_json();
                            format!(", with `EQUIFORM_FAULTS='{faults}'`, by which the provider fails it")
                        }
                    };
                    // Without it, operations are over before others begin that do not wait for them.
                    let held = match self.form {
                        Form::Mock { .. }
                            if self.shown.explanation.cause.oracle() == OracleId::Order
                                && fails.is_empty() =>
                        {
                            format!(", with `EQUIFORM_HOLD={}`, by which operations take time", step.hold)
                        }
                        _ => String::new(),
                    };
                    item(format!("`{program} {}`{fails}{held}", words.join(" ")));
                }
                StepCommand::Provider(arguments) => {
                    item(format!(
                        "`terraform-provider-mock {}`, behind the engine's back",
                        arguments.join(" ")
                    ));
                }
            }
        }
        text
    }

    fn additional_context(&self) -> String {
        let mut text = String::new();
        if let Some(context) = self.shown.context {
            let _ = write!(text, "{}\n\n", context.trim());
        }
        let tried: Vec<String> = self
            .shown
            .tried
            .iter()
            .filter_map(|tried| {
                let shows = if tried.shows? { "the bug shows" } else { "the bug does not show" };
                Some(format!("- {}: {shows}", product_name(&tried.engine.id)))
            })
            .collect();
        let _ = write!(text, "Tried with `{SCRIPT}`:\n\n{}\n", tried.join("\n"));
        if let Form::Mock { why } = self.form {
            let _ = write!(
                text,
                "\nThe program uses the mock provider of equiform, a provider without side effects that writes down \
                 every operation: {why}.\n"
            );
        }
        text += "\nFound by equiform, which deploys programs of the same meaning and compares what engines do with a \
                 model of it. `case.json` is the case in its form.\n";
        text
    }

    /// An operation, or what begins with one, with the address of its resource.
    fn addressed(&self, operation: &str) -> String {
        let type_name = self.type_name();
        let Some((what, rest)) = operation.split_once(' ') else { return operation.to_owned() };
        let key = rest.split([' ', ',']).next().unwrap_or_default();
        format!("{what} `{type_name}.{key}`{}", &rest[key.len()..])
    }

    /// A text with the names that resources have in the programs.
    fn named(&self, text: &str) -> String {
        match self.form {
            Form::Builtin => {
                let words = [("its pin", "its triggers_replace"), ("its label", "its input")];
                let renamed = builtin::renamed(text);
                words.iter().fold(renamed, |text, (ours, theirs)| text.replace(ours, theirs))
            }
            Form::Mock { .. } => text.to_owned(),
        }
    }
}

/// An engine as its makers call it.
fn product_name(engine: &EngineId) -> String {
    format!("{} {}", engine.name.product(), engine.version)
}

fn with_end(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

/// A text as a sentence begins; a word of the language stays as it is.
fn capital(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    if first.contains('_') {
        return format!("`{first}`{}", &text[first.len()..]);
    }
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}
