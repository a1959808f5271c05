//! `equiform standin list`: the installed stand-ins.

use clap::Args;

use super::MirrorArgs;
use crate::cli::format::OutputFormat;
use crate::cli::{CliResult, Outcome, output};

/// List the installed stand-ins
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    mirror: MirrorArgs,

    /// The output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,
}

impl List {
    pub(super) fn run(self) -> CliResult {
        let mirror = self.mirror.mirror();
        let installed = mirror.list()?;
        if self.format == OutputFormat::Json {
            let json = serde_json::to_string(&installed).map_err(|error| error.to_string())?;
            output(|out| writeln!(out, "{json}"))?;
            return Ok(Outcome::Clean);
        }
        if installed.is_empty() {
            eprintln!(
                "note: there is no stand-in in {}; `equiform standin install` puts one there",
                mirror.folder().display()
            );
            return Ok(Outcome::Clean);
        }
        let rows: Vec<[String; 4]> = installed
            .iter()
            .map(|installed| {
                [
                    installed.address.to_string(),
                    installed.version.to_string(),
                    installed.protocol.to_string(),
                    if installed.overrides { "yes" } else { "no" }.to_owned(),
                ]
            })
            .collect();
        let head = ["ADDRESS", "VERSION", "PROTOCOL", "OVERRIDES"].map(str::to_owned);
        let width = |column: usize| {
            let cells = rows.iter().chain([&head]).map(|row: &[String; 4]| row[column].len());
            cells.max().unwrap_or(0)
        };
        let widths = [0, 1, 2].map(width);
        output(|out| {
            for [address, version, protocol, overrides] in [&head].into_iter().chain(&rows) {
                let [a, b, c] = widths;
                writeln!(out, "{address:a$}  {version:b$}  {protocol:c$}  {overrides}")?;
            }
            Ok(())
        })?;
        Ok(Outcome::Clean)
    }
}
