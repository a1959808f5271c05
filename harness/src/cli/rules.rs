//! `equiform rules`: shows the equalities and judges them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::{CannotRun, CliResult, Outcome, output};
use crate::algebra::rules::{Rules, check};

/// List the equalities between programs, or check that they are sound.
///
/// A rule file has one rule a line: family, name, left = right, and guards, for example
/// `commute add-past-rem (add a (rem b g)) = (rem b (add a g)) if a != b`. Guards are `a != b` and `a in g`, joined by
/// `and` and `or`. `;` starts a comment.
#[derive(Debug, Args)]
pub struct RulesArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print every rule: family, name, both sides, guards.
    List(FileArgs),
    /// Evaluate both sides of every rule on every small graph under every binding; exit 1 with a
    /// counterexample if they differ.
    Check(FileArgs),
}

#[derive(Debug, Args)]
struct FileArgs {
    /// A rule file; without it, the equalities of the algebra.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Runs the subcommand.
pub fn run(args: RulesArgs) -> CliResult {
    match args.action {
        Action::List(file) => {
            let rules = read_unjudged(file.file.as_deref())?;
            output(|out| rules.iter().try_for_each(|rule| writeln!(out, "{rule}")))?;
            Ok(Outcome::Clean)
        }
        Action::Check(file) => run_check(&read_unjudged(file.file.as_deref())?),
    }
}

fn run_check(rules: &Rules) -> CliResult {
    let mut unsound = 0;
    output(|out| judge(rules, out, &mut unsound))?;
    Ok(if unsound == 0 { Outcome::Clean } else { Outcome::Findings })
}

fn judge(rules: &Rules, out: &mut dyn Write, unsound: &mut usize) -> io::Result<()> {
    for rule in rules.iter() {
        match check(rule) {
            None => writeln!(out, "sound    {}", rule.name)?,
            Some(counterexample) => {
                *unsound += 1;
                writeln!(out, "UNSOUND  {}: {counterexample}", rule.name)?;
            }
        }
    }
    writeln!(out, "{} rules, {} unsound", rules.iter().count(), unsound)
}

fn read_unjudged(file: Option<&Path>) -> Result<Rules, CannotRun> {
    let Some(path) = file else { return Ok(Rules::algebra()) };
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Rules::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?)
}

/// The rules to work with: the algebra's, or a person's own once they have passed the gate.
pub(super) fn rules_to_use(file: Option<&Path>) -> Result<Rules, CannotRun> {
    let Some(path) = file else { return Ok(Rules::algebra()) };
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Rules::from_user_file(&text).map_err(|error| format!("{}: {error}", path.display()))?)
}
