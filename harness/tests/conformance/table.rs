//! `docs/protocol.md`: which RPC is called by which engine, as the rules have seen it, and which test holds which rule.

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
    let seen = tables(specs)?;
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

/// Demands that every rule stands on the page, and that every test on the page is there.
pub fn check_rules(rules: &[&str]) -> Result<(), String> {
    let text = fs::read_to_string(page()).map_err(|error| format!("{}: {error}", page().display()))?;
    let section =
        text.split("\n## Rules").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap_or_default();
    let named: Vec<_> = section.split('`').skip(1).step_by(2).filter(|name| name.contains('_')).collect();
    if let Some(missing) = rules.iter().find(|rule| !named.contains(rule)) {
        return Err(format!("docs/protocol.md does not tell of {missing}"));
    }
    let clients = provider_tests()?;
    let is_there = |name: &str| rules.contains(&name) || clients.contains(&format!("fn {name}("));
    match named.into_iter().find(|name| !is_there(name)) {
        Some(gone) => Err(format!("docs/protocol.md names {gone}, and there is no such test")),
        None => Ok(()),
    }
}

/// The tests of the provider by itself, in which a client calls what engines do not.
fn provider_tests() -> Result<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../provider/tests/plugin");
    let mut text = String::new();
    for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        text += &fs::read_to_string(entry.map_err(|error| error.to_string())?.path()).unwrap_or_default();
    }
    Ok(text)
}

/// The name of an RPC's function.
fn snake_case(rpc: &str) -> String {
    let mut name = String::new();
    for letter in rpc.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

fn tables(specs: &[EngineSpec]) -> Result<String, String> {
    let clients = provider_tests()?;
    let mut text = String::new();
    for protocol in Protocol::ALL {
        let _ = writeln!(text, "\n### Protocol {}", protocol.number());
        let names: Vec<_> = specs.iter().map(title).collect();
        let _ = writeln!(text, "| RPC | {} | by a client |", names.join(" | "));
        let _ = writeln!(text, "|---|{}---|", "---|".repeat(specs.len()));
        for rpc in protocol.rpcs() {
            let called: Vec<_> = specs.iter().map(|spec| has_called(protocol, spec, rpc)).collect();
            let by_client = clients.contains(&format!("{}(", snake_case(rpc)));
            if !by_client && !called.contains(&true) {
                return Err(format!(
                    "nobody tests {rpc}: no engine calls it, and no client of the provider's tests"
                ));
            }
            let by_client = if by_client { "x" } else { "" };
            let cells: Vec<_> = called.into_iter().map(|called| if called { "x" } else { "" }).collect();
            let _ = writeln!(text, "| {rpc} | {} | {by_client} |", cells.join(" | "));
        }
    }
    text.push('\n');
    Ok(text)
}

fn title(spec: &EngineSpec) -> String {
    let name = match spec.name {
        EngineName::Terraform => "Terraform",
        EngineName::Tofu => "OpenTofu",
    };
    format!("{name} {}", spec.to_string().split('@').next_back().unwrap_or_default())
}
