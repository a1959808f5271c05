//! The tables in `docs/protocol.md`: which RPC is called by which engine, as the rules have seen it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use equiform::engines::{EngineName, EngineSpec};

use crate::lab::{Protocol, has_called};

/// Between these two lines stands what is written anew.
const BEGIN: &str = "<!-- tables, made by the conformance suite -->";
const END: &str = "<!-- end of the tables -->";

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/protocol.md")
}

/// Holds the page to what was seen, or writes it anew where that is asked for.
pub fn check(specs: &[EngineSpec]) -> Result<(), String> {
    let seen = tables(specs);
    let text = fs::read_to_string(page()).map_err(|error| format!("{}: {error}", page().display()))?;
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?)));
    let (before, (written, after)) = parts
        .ok_or_else(|| format!("{} lacks the lines between which the tables stand", page().display()))?;
    if std::env::var_os("EQUIFORM_WRITE_DOCS").is_some_and(|value| !value.is_empty()) {
        let text = format!("{before}{BEGIN}\n{seen}{END}{after}");
        return fs::write(page(), text).map_err(|error| error.to_string());
    }
    // Other engines than the usual ones have no column.
    let is_usual = std::env::var_os("EQUIFORM_TEST_ENGINES").is_none_or(|engines| engines.is_empty());
    if is_usual && written.trim() != seen.trim() {
        return Err(format!(
            "docs/protocol.md is out of date. EQUIFORM_WRITE_DOCS=1 cargo test --workspace --test conformance writes \
             its tables anew. They would be:\n{seen}"
        ));
    }
    Ok(())
}

fn tables(specs: &[EngineSpec]) -> String {
    let mut text = String::new();
    for protocol in Protocol::ALL {
        let _ = writeln!(text, "\n### Protocol {}", protocol.number());
        let names: Vec<_> = specs.iter().map(title).collect();
        let _ = writeln!(text, "| RPC | {} | by a client |", names.join(" | "));
        let _ = writeln!(text, "|---|{}---|", "---|".repeat(specs.len()));
        for rpc in protocol.rpcs() {
            let called: Vec<_> = specs.iter().map(|spec| has_called(protocol, spec, rpc)).collect();
            let by_client = if called.contains(&true) { "" } else { "x" };
            let cells: Vec<_> = called.into_iter().map(|called| if called { "x" } else { "" }).collect();
            let _ = writeln!(text, "| {rpc} | {} | {by_client} |", cells.join(" | "));
        }
    }
    text.push('\n');
    text
}

fn title(spec: &EngineSpec) -> String {
    let name = match spec.name {
        EngineName::Terraform => "Terraform",
        EngineName::Tofu => "OpenTofu",
    };
    format!("{name} {}", spec.to_string().split('@').next_back().unwrap_or_default())
}
