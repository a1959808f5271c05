//! The lines of evidence that show a finding.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use equiform_proto::ledger::{Entry, Operation, Phase, Reader, Record};

use super::super::finding::{Finding, FindingKind, OracleId, Subject};
use super::super::oracles::Trial;
use super::keys_in;
use crate::case::Case;
use crate::evidence::{self, LEDGER, ObservedOperation, Quote, Topic};

/// The most lines of a ledger.
const MOST: usize = 24;

/// Where a stage begins to differ from what is expected of it.
pub fn first_difference(trial: &Trial<'_>, cause: &Finding) -> String {
    let operations = &trial.evidence.operations;
    let named = cause.subjects.iter().find_map(Subject::resource_operation);
    let of_it = |place: usize| {
        operations.iter().filter(|observed| Some(&observed.operation) == named.as_ref()).nth(place)
    };
    let begins = |observed: Option<&ObservedOperation>, how: &str| match observed {
        Some(observed) => format!("seq {} begins {}{how}", observed.begin, observed.operation),
        None => cause.observation(),
    };
    match cause.kind {
        FindingKind::OperationMissing => {
            let last = operations.iter().filter_map(|observed| observed.end).map(|(seq, _)| seq).max();
            match last {
                Some(last) => format!("{cause} never began: the last operation ended with seq {last}"),
                None => format!("{cause} never began: there is no operation in the stage"),
            }
        }
        FindingKind::OperationExtra => begins(of_it(0), ", which is not due"),
        FindingKind::OperationRepeated => begins(of_it(1), " for the second time"),
        FindingKind::OperationWithoutEffect => begins(of_it(0), ", which has no effect"),
        // The rule stands above.
        _ => cause.observation(),
    }
}

/// The lines that show a finding.
pub fn quotes(
    reader: &dyn evidence::Reader,
    case: &Case,
    variant: usize,
    folder: &Path,
    cause: &Finding,
) -> Vec<Quote> {
    let (stage, keys) = (folder.join(cause.stage.as_str()), keys_in(case, variant, cause));
    let ledger = |requests: bool| {
        let own = stage.join(LEDGER);
        let path = if own.exists() { own } else { folder.join(LEDGER) };
        of_ledger(&path, folder, cause.stage.as_str(), &keys, requests)
    };
    let mut quotes = match cause.oracle() {
        OracleId::Health => reader.quote_output(&stage, Topic::Errors),
        // What is not done shows beside what was announced.
        OracleId::Plan | OracleId::Idle | OracleId::Cross | OracleId::Steps => {
            reader.quote_output(&stage, Topic::Plans)
        }
        OracleId::State | OracleId::Conservation | OracleId::Destroy => reader.quote_state(&stage, &keys),
        _ => Vec::new(),
    };
    if cause.oracle() == OracleId::State {
        // A difference to the stage before shows only beside that.
        let names: Vec<&str> =
            case.variants[variant].stages.iter().map(|stage| stage.name.as_str()).collect();
        let before =
            names.iter().position(|name| cause.stage == **name).and_then(|place| place.checked_sub(1));
        if let Some(before) = before {
            let earlier = reader.quote_state(&folder.join(names[before]), &keys);
            quotes.splice(0..0, earlier);
        }
    }
    quotes.extend(ledger(cause.oracle() == OracleId::Requests));
    quotes
}

/// The changes of a stage to objects with these keys, or to all, as the ledger has them; with the requests that change
/// nothing, if they matter.
fn of_ledger(path: &Path, folder: &Path, stage: &str, keys: &[String], requests: bool) -> Vec<Quote> {
    let Ok(file) = File::open(path) else { return Vec::new() };
    let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
    let mut quotes = Vec::new();
    for line in Reader::new(BufReader::new(file)) {
        // What cannot be read was told when it was judged.
        let Ok(line) = line else { break };
        let Record::Entry(entry) = line.record else { continue };
        let is_change = !entry.op.changes_nothing() && entry.op != Operation::Mark;
        let is_named = keys.is_empty() || entry.key.as_ref().is_some_and(|key| keys.contains(key));
        if entry.run.as_deref() == Some(stage) && is_named && (is_change || requests) {
            quotes.push(Quote {
                file: name.clone(),
                place: format!("seq {}", entry.seq),
                text: told(&entry),
            });
        }
    }
    if quotes.len() > MOST {
        let left = quotes.len() - MOST;
        quotes.truncate(MOST);
        let text = format!("{left} more: `equiform ledger show {}`", path.display());
        quotes.push(Quote { file: name, place: "…".to_owned(), text });
    }
    quotes
}

fn told(entry: &Entry) -> String {
    let Entry { op, phase, key, id, begin, error, fault, .. } = entry;
    let mut text = format!("{op} {phase} {}", key.as_deref().unwrap_or("-"));
    let short = |id: &str| id.chars().take(13).collect::<String>() + "…";
    text += &id.as_deref().map_or(String::new(), |id| format!(" {}", short(id)));
    if *phase != Phase::Begin {
        text += &begin.map_or(String::new(), |begin| format!(" (began {begin})"));
    }
    text += &fault.as_deref().map_or(String::new(), |fault| format!(", told to fail: {fault}"));
    text += &error.as_deref().map_or(String::new(), |error| format!(": {error}"));
    text
}
