//! What the model expects of the stage in which something went wrong, and by which rule.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::toposort;
use serde::Serialize;

use super::super::finding::{Finding, FindingKind, OracleId, Subject};
use super::super::oracles::{ModelView, ORACLES, Trial};
use super::is_broken;
use crate::case::stage::JudgedAs;
use crate::spec::changes::{Change, Changes};
use crate::spec::{Reason, ReplacementOrder, ResourceOperation, Rule, Semantics, Step};

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
        let sentence = sentence(trial, cause);
        let Some(model) = &trial.model else { return Self { sentence, ..Self::default() } };
        let (deployed, configuration, options) = (model.deployed, model.program, trial.options);
        let step = Step { deployed, configuration, options, semantics };
        let (changes, due) = (step.changes(), model.expectation);
        let named = named_operations(trial, model, cause);
        let matters = |reason: &Reason| match cause.kind {
            FindingKind::OrderViolated => Some(reason.rule) == cause.rule,
            FindingKind::ReportsCycle => !reason.implied,
            _ => false,
        };
        let pairs: Vec<_> = due
            .pairs()
            .filter(|(first, second, reason)| {
                matters(reason) && named.contains(first) && named.contains(second)
            })
            .collect();
        let mut rules: BTreeSet<Rule> = pairs.iter().map(|(_, _, reason)| reason.rule).collect();
        rules.extend(cause.rule);
        if cause.oracle() == OracleId::Steps {
            rules.extend(of_steps(cause, &changes));
        }
        let order = pairs.iter().map(|(first, second, reason)| OrderedPair {
            first: first.to_string(),
            second: second.to_string(),
            rule: reason.rule.number(),
        });
        Self {
            sentence,
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
    let operation = cause.subjects.iter().find_map(Subject::resource_operation)?;
    let number = changes.numbers().find(|number| *changes.numbering.key(*number) == operation.key);
    Some(match number.map(|number| changes.of_number(number)) {
        Some(Change::Created) => Rule::Created,
        Some(Change::Deleted) => Rule::Removed,
        Some(Change::Replaced) => Rule::Replaced,
        Some(Change::Updated) => Rule::Updated,
        Some(Change::Kept) | None => Rule::LeftAlone,
    })
}

/// The operations that a finding is about, or on whose resources a cycle is that it reports.
fn named_operations<'a>(
    trial: &Trial<'_>,
    model: &ModelView<'a>,
    cause: &Finding,
) -> BTreeSet<&'a ResourceOperation> {
    let named: BTreeSet<ResourceOperation> =
        cause.subjects.iter().filter_map(Subject::resource_operation).collect();
    let is_named = |operation: &&ResourceOperation| match cause.oracle() {
        OracleId::Order => named.contains(*operation),
        _ => {
            let address = trial.address(&operation.key).unwrap_or_default();
            cause.subjects.iter().any(|subject| subject.is_resource(&operation.key, &address))
        }
    };
    model.expectation.operations.iter().filter(is_named).collect()
}

/// What is expected where a finding was made.
fn sentence(trial: &Trial<'_>, cause: &Finding) -> String {
    let about = || {
        let oracle = ORACLES.iter().find(|oracle| oracle.id == cause.oracle());
        oracle.map_or(String::new(), |oracle| oracle.about.to_owned())
    };
    let (judged_as, is_health) = (trial.stage.judged_as, cause.oracle() == OracleId::Health);
    match cause.kind {
        FindingKind::ReportsCycle => {
            "the programs have no cycle, and there is an order for all operations: the command succeeds"
                .to_owned()
        }
        _ if is_health && is_broken(trial.stage) => {
            "the program cannot be deployed: the engine refuses it, says why, and changes nothing".to_owned()
        }
        _ if is_health && judged_as == JudgedAs::Refused => {
            "the engine refuses the command, says why, and changes nothing".to_owned()
        }
        _ if is_health && judged_as == JudgedAs::Failure => {
            "the provider fails an operation: the engine says so, and fails".to_owned()
        }
        FindingKind::OperationMissing => format!("{cause} is due"),
        FindingKind::OperationExtra => format!("{cause} is not due"),
        FindingKind::OperationRepeated => format!("{cause} is due once"),
        FindingKind::OperationWithoutEffect => format!("{cause} is due, and takes effect"),
        FindingKind::TooManyAtOnce => "-parallelism limits how many operations are under way".to_owned(),
        FindingKind::OrderViolated => cause.rule.map_or_else(about, |rule| rule.text().to_owned()),
        FindingKind::SettingRewritten | FindingKind::StateChanged => {
            "there is nothing to change: the command leaves the state as it is".to_owned()
        }
        _ => about(),
    }
}
