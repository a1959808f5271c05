//! `equiform-lab rules`: lists the equalities and checks them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use equiform_algebra::cli::algebra_args::AlgebraArgs;
use equiform_algebra::cli::{CannotRun, output};
use equiform_algebra::rules::{Rule, Rules, RulesError, check};
use equiform_algebra::signature::Signature;

use super::{CliResult, Outcome};

/// List the equalities between programs, or check that they are sound.
///
/// A rule file has one rule per line: family, name, left = right, and guards (docs/formats.md), for example `commute
/// add-past-rem (add a (rem b g)) = (rem b (add a g)) if a != b`. Guards are `a != b` and `a in g`, joined by `and`
/// and `or`. `;` starts a comment, and `#` does at the beginning of a line. In `(set a x v g)` and `(con a b k g)`,
/// `x` stands for any attribute, `v` for any value and `k` for any kind; `:label` or `:depends_on` is the attribute or
/// kind of that name, and `default` the default.
#[derive(Debug, Args)]
pub struct RulesArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print every rule: family, name, both sides, guards.
    List(ListArgs),
    /// Evaluate both sides of every rule on every small graph under every binding; exit 1 with a
    /// counterexample if they differ.
    Check(FileArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// A rule file; without it, the equalities of the algebra.
    #[arg(long, value_name = "FILE", conflicts_with = "algebra")]
    file: Option<PathBuf>,
    #[command(flatten)]
    algebra: AlgebraArgs,
}

#[derive(Debug, Args)]
struct FileArgs {
    /// A rule file; without it, the equalities of the algebra.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    algebra: AlgebraArgs,
}

/// The rules to use: the algebra's, or the user's own if they pass the check.
pub fn read(algebra: AlgebraArgs, file: Option<&Path>) -> Result<Rules, CannotRun> {
    let signature = algebra.signature();
    let Some(path) = file else { return Ok(Rules::over(signature)) };
    let located = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| located(&error))?;
    Ok(Rules::from_user_file(&text, signature).map_err(|error| match error {
        RulesError::Attributed(_) => located(&error) + "; give --algebra attributed",
        RulesError::Syntax(_) => located(&error) + EXPECTED,
        RulesError::Unsound { .. } => located(&error),
    })?)
}

/// The expected form of a rule file.
const EXPECTED: &str = ". Expected is one rule per line, `family name left = right if guard`, such as `commute \
                        add-past-rem (add a (rem b g)) = (rem b (add a g)) if a != b` (docs/formats.md)";

/// Runs the subcommand.
pub fn run(args: RulesArgs) -> CliResult {
    match args.action {
        Action::List(ListArgs { file, algebra }) => {
            let rules = read_unjudged(&FileArgs { file, algebra })?;
            output(|out| rules.iter().try_for_each(|rule| writeln!(out, "{rule}")))?;
            Ok(Outcome::Clean)
        }
        Action::Check(file) => run_check(&read_unjudged(&file)?, file.algebra.signature()),
    }
}

fn run_check(rules: &Rules, signature: &Signature) -> CliResult {
    let mut unsound = 0;
    // A rule about attributes says nothing without them, so it is tried with them in any case.
    let attributed = rules.iter().any(Rule::is_attributed);
    let signature = if attributed { Signature::attributed() } else { signature };
    output(|out| judge(rules, signature, out, &mut unsound))?;
    Ok(if unsound == 0 { Outcome::Clean } else { Outcome::Findings })
}

fn judge(rules: &Rules, signature: &Signature, out: &mut dyn Write, unsound: &mut usize) -> io::Result<()> {
    for rule in rules.iter() {
        match check(rule, signature) {
            None => writeln!(out, "sound    {}", rule.name)?,
            Some(counterexample) => {
                *unsound += 1;
                writeln!(out, "UNSOUND  {}: {counterexample}", rule.name)?;
            }
        }
    }
    writeln!(out, "{} rules, {} unsound", rules.iter().count(), unsound)
}

fn read_unjudged(args: &FileArgs) -> Result<Rules, CannotRun> {
    let Some(path) = &args.file else { return Ok(Rules::over(args.algebra.signature())) };
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Rules::parse(&text).map_err(|error| format!("{}: {error}{EXPECTED}", path.display()))?)
}
