//! What the model expects of the stage in which something went wrong, and by which rule.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::toposort;
use serde::Serialize;

use super::super::oracles::{Finding, ORACLES, Trial};
use super::is_broken;
use crate::case::stage::JudgedAs;
use crate::spec::changes::{Change, Changes};
use crate::spec::{OperationKind, ReplacementOrder, ResourceOperation, Rule, Semantics, Step};

/// What the model expects of a stage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Expected {
    /// What is expected where the finding was made, in a sentence.
    pub sentence: String,
    /// What becomes of each resource that is changed, and why.
    pub changes: Vec<String>,
    /// All operations, in one of the orders that keep all rules.
    pub in_order: Vec<String>,
    /// The pairs of operations whose order matters for the finding.
    pub order: Vec<OrderedPair>,
    /// The rules that it rests on.
    pub rules: Vec<RuleText>,
}

/// Two operations that a rule orders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrderedPair {
    /// The one that must have ended.
    pub first: String,
    /// Before this one begins.
    pub second: String,
    /// The rule's number.
    pub rule: u8,
}

/// A rule of the model, with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleText {
    /// Its number.
    pub number: u8,
    /// Its name.
    pub name: &'static str,
    /// What it demands.
    pub text: &'static str,
    /// Where it is written down, or was seen.
    pub sources: Vec<String>,
    /// Where somebody upstream wants it otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contested: Vec<String>,
}

impl From<Rule> for RuleText {
    fn from(rule: Rule) -> Self {
        let told = |sources: &[crate::spec::rule::Source]| {
            sources.iter().map(|source| format!("{}: {}", source.evidence, source.place)).collect()
        };
        Self {
            number: rule.number(),
            name: rule.name(),
            text: rule.text(),
            sources: told(rule.sources()),
            contested: told(rule.contested()),
        }
    }
}

impl Expected {
    /// What was expected where a finding was made.
    pub fn of(trial: &Trial<'_>, cause: &Finding, semantics: &dyn Semantics) -> Self {
        let (deployed, configuration, options) = (trial.deployed, trial.program, trial.options);
        let step = Step { deployed, configuration, options, semantics };
        let changes = step.changes();
        let due = trial.expectation;
        let named = named_operations(cause, &due.operations);
        let pairs: Vec<_> = due
            .pairs()
            .filter(|(first, second, reason)| match cause.oracle.as_str() {
                "order" => {
                    reason.rule.text() == cause.kind && named.contains(first) && named.contains(second)
                }
                "health" if cause.kind == "reports a cycle" => {
                    !reason.implied && named.contains(first) && named.contains(second)
                }
                _ => false,
            })
            .collect();
        let mut rules: BTreeSet<Rule> = pairs.iter().map(|(_, _, reason)| reason.rule).collect();
        rules.extend(
            Rule::ALL.into_iter().filter(|rule| cause.oracle == "order" && rule.text() == cause.kind),
        );
        if cause.oracle == "steps" {
            rules.extend(of_steps(cause, &changes));
        }
        let order = pairs.iter().map(|(first, second, reason)| OrderedPair {
            first: first.to_string(),
            second: second.to_string(),
            rule: reason.rule.number(),
        });
        Self {
            sentence: sentence(trial, cause),
            changes: if due.operations.is_empty() { Vec::new() } else { told(&changes, &due.replacements) },
            in_order: toposort(&due.order, None)
                .map(|sorted| sorted.iter().map(|node| due.order[*node].to_string()).collect())
                .unwrap_or_default(),
            order: order.collect(),
            rules: rules.into_iter().map(RuleText::from).collect(),
        }
    }
}

/// What each resource that is changed comes to, and why.
fn told(changes: &Changes, replacements: &BTreeMap<std::sync::Arc<str>, ReplacementOrder>) -> Vec<String> {
    let told = changes.numbers().filter_map(|number| {
        let key = changes.numbering.key(number);
        let because = changes.cause(number).map(|cause| format!(", because of {}", reason(cause.name())));
        let because = because.unwrap_or_default();
        Some(match changes.of_number(number) {
            Change::Kept => return None,
            Change::Created => format!("create {key}"),
            Change::Deleted => format!("delete {key}"),
            Change::Updated => format!("update {key} in place{because}"),
            Change::Replaced => {
                let order = replacements.get(key).copied().map_or("either order", ReplacementOrder::name);
                format!("replace {key}, {order}{because}")
            }
        })
    });
    told.collect()
}

/// The name of a cause, in a sentence.
fn reason(name: &str) -> String {
    match name {
        "references" => "its references".to_owned(),
        "label" | "pin" => format!("its {name}"),
        "trigger" => "replace_triggered_by".to_owned(),
        "taint" => "its taint".to_owned(),
        other => other.to_owned(),
    }
}

/// The rule by which an operation is due or not.
fn of_steps(cause: &Finding, changes: &Changes) -> Option<Rule> {
    let key = cause.text.split_once(' ')?.1;
    let number = changes.numbers().find(|number| &**changes.numbering.key(*number) == key);
    Some(match number.map(|number| changes.of_number(number)) {
        Some(Change::Created) => Rule::Created,
        Some(Change::Deleted) => Rule::Removed,
        Some(Change::Replaced) => Rule::Replaced,
        Some(Change::Updated) => Rule::Updated,
        Some(Change::Kept) | None => Rule::LeftAlone,
    })
}

/// The operations that a finding names, or whose resources it names where it speaks of a cycle.
fn named_operations<'a>(
    cause: &Finding,
    operations: &'a BTreeSet<ResourceOperation>,
) -> BTreeSet<&'a ResourceOperation> {
    let part_of_name = |character: char| character.is_alphanumeric() || character == '_' || character == '-';
    let words: Vec<&str> =
        cause.text.split(|character| !part_of_name(character)).filter(|word| !word.is_empty()).collect();
    let kind = |kind: OperationKind| kind.to_string();
    let is_named = |operation: &&ResourceOperation| {
        if cause.oracle == "order" {
            words.windows(2).any(|pair| pair[0] == kind(operation.kind) && pair[1] == &*operation.key)
        } else {
            words.contains(&&*operation.key)
        }
    };
    operations.iter().filter(is_named).collect()
}

/// What is expected where a finding was made.
fn sentence(trial: &Trial<'_>, cause: &Finding) -> String {
    let about = || {
        let oracle = ORACLES.iter().find(|oracle| oracle.name == cause.oracle);
        oracle.map_or(String::new(), |oracle| oracle.about.to_owned())
    };
    match (cause.oracle.as_str(), cause.kind.as_str()) {
        ("health", "reports a cycle") => {
            "the programs have no cycle, and there is an order for all operations: the command succeeds"
                .to_owned()
        }
        ("health", _) if is_broken(trial.stage) => {
            "the program cannot be deployed: the engine refuses it, says why, and changes nothing".to_owned()
        }
        ("health", _) if trial.stage.judged_as == JudgedAs::Refused => {
            "the engine refuses the command, says why, and changes nothing".to_owned()
        }
        ("health", _) if trial.stage.judged_as == JudgedAs::Failure => {
            "the provider fails an operation: the engine says so, and fails".to_owned()
        }
        ("steps", "missing") => format!("{} is due", cause.text),
        ("steps", "extra") => format!("{} is not due", cause.text),
        ("steps", "repeated") => format!("{} is due once", cause.text),
        ("steps", _) => format!("{} is due, and takes effect", cause.text),
        ("order", "more at once than may be") => {
            "-parallelism limits how many operations are under way".to_owned()
        }
        ("order", _) => cause.kind.clone(),
        ("state", "setting rewritten" | "changed where nothing was to be") => {
            "there is nothing to change: the command leaves the state as it is".to_owned()
        }
        _ => about(),
    }
}
