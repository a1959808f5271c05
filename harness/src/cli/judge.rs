//! `equiform judge`: cases judged again from their evidence.

use std::path::PathBuf;

use clap::Args;

use super::campaign_text::{conclude, lines};
use super::oracles::chosen;
use super::{CliResult, output};
use crate::campaign::judge;
use crate::campaign::tally::Tally;

/// Judge cases again, from their evidence alone: no engine is run and nothing is written.
#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// Folders of cases, or of campaigns
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// The oracles to ask [default: all]
    #[arg(long, value_delimiter = ',')]
    oracles: Vec<String>,
}

/// Judges.
pub fn run(args: JudgeArgs) -> CliResult {
    let oracles = chosen(&args.oracles)?;
    let mut verdicts = Vec::new();
    for folder in &args.folders {
        let name = folder.display();
        let cases = judge::case_folders(folder).map_err(|error| format!("{name} cannot be read: {error}"))?;
        if cases.is_empty() {
            return Err(format!(
                "{name} is neither a case nor a campaign: it has no case.json in it or below"
            )
            .into());
        }
        for case in cases {
            let verdict = judge::case(verdicts.len(), &case, &oracles)?;
            let place = case.display().to_string();
            let found: Vec<String> =
                verdict.variants.iter().flat_map(|variant| lines(&place, variant)).collect();
            output(|out| found.iter().try_for_each(|line| writeln!(out, "{line}")))?;
            verdicts.push(verdict);
        }
    }
    conclude(&format!("{} cases", verdicts.len()), &Tally::of(&verdicts))
}
