//! A saved plan as Terraform shows it in JSON. It says most things twice: changes, the values that they lead to, and
//! the state that they start from. Where two of these differ, the plan contradicts itself.

use std::collections::{BTreeMap, BTreeSet};

use equiform_proto::ledger::Attributes;
use serde::Deserialize;
use serde_json::Value as Json;

use super::super::output;
use super::super::provider_access::PROVIDER_ADDRESS;
use super::{ShownOutput, has_true};
use crate::evidence::{PlanContradiction, PlannedObject, PlannedReason, ShownPlan, WrittenResource};

/// The fields that a plan of a campaign's program can have.
const FIELDS: &[&str] = &[
    "applyable",
    "complete",
    "configuration",
    "errored",
    "format_version",
    "output_changes",
    "planned_values",
    "prior_state",
    "relevant_attributes",
    "resource_changes",
    "resource_drift",
    "terraform_version",
    "timestamp",
];

#[derive(Deserialize)]
struct Plan {
    terraform_version: Option<String>,
    #[serde(default)]
    resource_changes: Vec<Change>,
    #[serde(default)]
    resource_drift: Vec<Change>,
    #[serde(default)]
    output_changes: BTreeMap<String, Actions<Json>>,
    #[serde(default)]
    planned_values: Values,
    #[serde(default)]
    prior_state: Prior,
    #[serde(default)]
    configuration: Configuration,
    applyable: Option<bool>,
    complete: Option<bool>,
    errored: Option<bool>,
}

#[derive(Deserialize)]
struct Change {
    address: String,
    mode: String,
    #[serde(rename = "type")]
    type_name: String,
    name: String,
    provider_name: String,
    deposed: Option<String>,
    action_reason: Option<String>,
    change: Actions<Attributes>,
}

#[derive(Deserialize)]
struct Actions<T> {
    actions: Vec<String>,
    before: Option<T>,
    after: Option<T>,
    #[serde(default)]
    after_unknown: Json,
    #[serde(default)]
    before_sensitive: Json,
    #[serde(default)]
    after_sensitive: Json,
    #[serde(default)]
    replace_paths: Vec<Vec<Json>>,
}

#[derive(Default, Deserialize)]
struct Values {
    #[serde(default)]
    outputs: BTreeMap<String, ShownOutput>,
    #[serde(default)]
    root_module: Module,
}

#[derive(Default, Deserialize)]
struct Module {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    address: String,
    values: Attributes,
    #[serde(default)]
    sensitive_values: Json,
    deposed_key: Option<String>,
}

#[derive(Default, Deserialize)]
struct Prior {
    #[serde(default)]
    values: Values,
}

#[derive(Default, Deserialize)]
struct Configuration {
    #[serde(default)]
    root_module: Program,
}

#[derive(Default, Deserialize)]
struct Program {
    #[serde(default)]
    resources: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    address: String,
    #[serde(default)]
    expressions: BTreeMap<String, Expression>,
    #[serde(default)]
    depends_on: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Expression {
    constant_value: Option<Json>,
    #[serde(default)]
    references: Vec<String>,
}

/// Reads a plan.
pub fn read(text: &str) -> Result<ShownPlan, String> {
    let fields: BTreeMap<String, &serde_json::value::RawValue> = super::json(text)?;
    let plan: Plan = super::json(text)?;
    let mut contradictions = Contradictions::default();
    for field in fields.keys().filter(|field| !FIELDS.contains(&field.as_str())) {
        contradictions.add(None, field);
    }
    plan.check(&mut contradictions);
    let written = plan.configuration.root_module.resources.into_iter().map(Block::written).collect();
    let drifted = plan.resource_drift.into_iter().map(|drift| drift.address).collect();
    Ok(ShownPlan {
        written_by: plan.terraform_version,
        is_complete: plan.complete != Some(false),
        objects: plan.resource_changes.into_iter().map(Change::planned).collect(),
        written,
        drifted,
        contradictions: contradictions.0,
    })
}

#[derive(Default)]
struct Contradictions(Vec<PlanContradiction>);

impl Contradictions {
    fn add(&mut self, subject: Option<&str>, field: &str) {
        self.0.push(PlanContradiction { address: subject.map(str::to_owned), field: field.to_owned() });
    }

    fn unless(&mut self, is_right: bool, subject: Option<&str>, field: &str) {
        if !is_right {
            self.add(subject, field);
        }
    }
}

impl Plan {
    fn check(&self, found: &mut Contradictions) {
        found.unless(self.errored != Some(true), None, "errored");
        let changes = self.resource_changes.iter().flat_map(|change| &change.change.actions);
        let outputs = self.output_changes.values().flat_map(|change| &change.actions);
        let has_changes = changes.chain(outputs).any(|action| action != "no-op");
        found.unless(self.applyable.is_none_or(|it| it == has_changes), None, "applyable");
        for change in self.resource_changes.iter().chain(&self.resource_drift) {
            let is_regular = change.address == format!("{}.{}", change.type_name, change.name)
                && change.mode == "managed"
                && change.provider_name == PROVIDER_ADDRESS;
            found.unless(is_regular, Some(&change.address), "address");
            found.unless(change.change.fits(), Some(&change.address), "actions");
        }
        self.check_values(found);
        self.check_outputs(found);
    }

    /// Changes begin at the state before, and lead to the values after.
    fn check_values(&self, found: &mut Contradictions) {
        let (after, before) = (&self.planned_values.root_module, &self.prior_state.values.root_module);
        let (after, before) = (after.by_address(found), before.by_address(found));
        let mut listed: BTreeSet<&str> = BTreeSet::new();
        for change in self.resource_changes.iter().filter(|change| change.deposed.is_none()) {
            let address = change.address.as_str();
            found.unless(listed.insert(address), Some(address), "resource_changes");
            let known = change.change.after.as_ref();
            found.unless(after.get(address).copied() == known, Some(address), "planned_values");
            if let Some(values) = &change.change.before {
                found.unless(before.get(address) == Some(&values), Some(address), "prior_state");
            }
        }
        for address in after.keys().filter(|address| !listed.contains(**address)) {
            // A resource that no target reaches stays as it is.
            found.unless(after.get(address) == before.get(address), Some(address), "planned_values");
        }
    }

    fn check_outputs(&self, found: &mut Contradictions) {
        let planned = &self.planned_values.outputs;
        for (name, change) in &self.output_changes {
            found.unless(change.fits(), Some(name), "output_changes");
            let shown = planned.get(name);
            let is_right = match &change.after {
                _ if has_true(&change.after_unknown) => shown.is_some_and(|it| it.value.is_null()),
                None => shown.is_none_or(|it| it.value.is_null()),
                Some(after) => shown.is_some_and(|it| it.value == *after && !it.sensitive),
            };
            found.unless(is_right, Some(name), "planned_values.outputs");
        }
        for name in planned.keys().filter(|name| !self.output_changes.contains_key(*name)) {
            found.add(Some(name), "planned_values.outputs");
        }
    }
}

impl Module {
    fn by_address(&self, found: &mut Contradictions) -> BTreeMap<&str, &Attributes> {
        let mut all = BTreeMap::new();
        for resource in self.resources.iter().filter(|resource| resource.deposed_key.is_none()) {
            found.unless(!has_true(&resource.sensitive_values), Some(&resource.address), "sensitive_values");
            let earlier = all.insert(resource.address.as_str(), &resource.values);
            found.unless(earlier.is_none(), Some(&resource.address), "resources");
        }
        all
    }
}

impl<T: PartialEq> Actions<T> {
    /// Whether the actions are those that lead from what is before to what is after.
    fn fits(&self) -> bool {
        let actions: Vec<&str> = self.actions.iter().map(String::as_str).collect();
        let (before, after) = (self.before.is_some(), self.after.is_some() || has_true(&self.after_unknown));
        let is_same = self.before == self.after && !has_true(&self.after_unknown);
        match actions.as_slice() {
            ["create"] => !before && after,
            ["delete"] => before && !after,
            ["no-op"] => is_same,
            ["update"] => before && after && !is_same,
            ["create", "delete"] | ["delete", "create"] => before && after,
            _ => false,
        }
    }
}

impl Change {
    fn planned(self) -> PlannedObject {
        let Self { address, deposed, action_reason, change, .. } = self;
        let actions = change.actions.iter();
        let unknown = change.after_unknown.as_object().into_iter().flatten();
        let paths = change.replace_paths.iter().filter_map(|path| path.first()?.as_str());
        PlannedObject {
            address,
            is_old: deposed.is_some(),
            operations: actions.flat_map(|action| output::operations(action).iter().copied()).collect(),
            reason: reason(action_reason.as_deref()),
            replaced_for: paths.map(str::to_owned).collect(),
            before: change.before,
            after: change.after,
            unknown: unknown.filter(|(_, parts)| has_true(parts)).map(|(name, _)| name.clone()).collect(),
            has_secrets: has_true(&change.before_sensitive) || has_true(&change.after_sensitive),
        }
    }
}

/// Why a plan has a change. Messages have other words for most of it.
fn reason(given: Option<&str>) -> PlannedReason {
    match given {
        None => PlannedReason::None,
        Some("replace_because_cannot_update") => PlannedReason::CannotUpdate,
        Some("replace_by_request") => PlannedReason::Asked,
        Some("replace_because_tainted") => PlannedReason::Marked,
        Some("replace_by_triggers") => PlannedReason::Triggered,
        Some("delete_because_no_resource_config") => PlannedReason::NotWritten,
        Some(_) => PlannedReason::Other,
    }
}

impl Block {
    fn written(self) -> (String, WrittenResource) {
        // Each reference to an attribute is followed by one to its resource.
        let resource = |reference: &&String| reference.matches('.').count() == 1;
        let references = self.expressions.values().flat_map(|it| it.references.iter().filter(resource));
        let references = references.cloned().collect();
        let constants =
            self.expressions.into_iter().filter_map(|(name, it)| Some((name, it.constant_value?)));
        let constants = constants.collect();
        (self.address, WrittenResource { references, depends_on: self.depends_on, constants })
    }
}
