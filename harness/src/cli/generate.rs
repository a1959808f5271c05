//! `equiform generate`: programs that mean the same, one per line, or as [`files`] for other tools.

mod files;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use equiform_algebra::cli::generate::{LineFormat, ProgramArgs};

use super::layered::Layered;
use super::no_effect::refuse;
use super::{CannotRun, CliResult, Outcome};
use crate::algebra::program::print;

/// Generate programs that mean the same as a source graph.
///
/// The first line is the source's canonical program, followed by the variants, one line each. With `--format hcl --out
/// DIR`, the command writes the same as folders with programs for Terraform and OpenTofu. The same seed gives the same
/// output on any number of threads. `(cut G)` in a program is `G` itself and marks the end of a batch.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  equiform generate --resources 5 --edges 4 --variants 10
  equiform generate --shape real --seed 7 --variants 1000 --batches 4 --format json
  equiform generate --source graph.json --variants 100 --length 40
  equiform generate --resources 5 --batches 3 --format hcl --out programs")]
pub struct GenerateArgs {
    #[command(flatten)]
    programs: ProgramArgs,
    /// The output format: terms or JSON, one line each, or HCL for other tools, in files below --out.
    #[arg(long, value_enum, default_value_t = ProgramFormat::Sexpr)]
    format: ProgramFormat,
    /// A new or empty folder for `--format hcl`. It gets source/, variant-0000/ and so on, each with batch-1/main.tf
    /// and so on. Writing the programs needs no engine; they use the mock provider.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProgramFormat {
    /// Terms, one line each.
    Sexpr,
    /// Terms with their numbers, one line of JSON each.
    Json,
    /// HCL for Terraform and OpenTofu, with a folder for each variant and batch.
    Hcl,
}

/// Runs the subcommand.
pub fn run(args: GenerateArgs) -> CliResult {
    refuse_idle(&Layered::own::<GenerateArgs>("generate")?, &args)?;
    let programs = &args.programs;
    programs.limit_threads()?;
    let (source, weights) = (programs.source()?, programs.algebra.weights());
    let generator = programs.implicit(&source, &weights)?;
    match (args.format, &args.out) {
        (ProgramFormat::Sexpr, _) => programs.print(&source, generator, LineFormat::Sexpr)?,
        (ProgramFormat::Json, _) => programs.print(&source, generator, LineFormat::Json)?,
        (ProgramFormat::Hcl, None) => {
            return Err("--format hcl writes files: name a folder with --out".into());
        }
        (ProgramFormat::Hcl, Some(out)) => {
            let mut files = files::Programs::new(out, &source)?;
            programs.each(
                &source,
                generator,
                |number, variant| (number, print(&variant.derivation, &variant.cuts, &source.names)),
                |(number, term)| match number {
                    None => files.write("source", &term),
                    Some(number) => files.write(&format!("variant-{number:04}"), &term),
                },
            )?;
            files.finish()?;
        }
    }
    Ok(Outcome::Clean)
}

/// Refuses options that have no effect in combination with others.
fn refuse_idle(given: &Layered, args: &GenerateArgs) -> Result<(), CannotRun> {
    args.programs.refuse_idle(&|option| given.says(option))?;
    refuse(args.out.is_some() && args.format != ProgramFormat::Hcl, "--out", "except with --format hcl")
}
