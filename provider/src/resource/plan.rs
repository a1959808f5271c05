//! What a change amounts to: nothing, an update in place, or a replacement.

use crate::schema::{AttributeOrigin, OnChange, Schema};
use crate::value::{Object, Value};

/// What an object will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The object after the change, unknown where only the apply can tell.
    pub planned: Object,
    /// The attributes whose change needs a new object, sorted.
    pub replaced_by: Vec<&'static str>,
}

/// Plans from the object as it was (`None` for one that is to be created) to what the program asks for. What
/// the provider computes is unknown only if something changes: a plan without a change must be empty to the
/// last leaf.
pub fn plan(schema: &Schema, prior: Option<&Object>, proposed: &Object) -> Plan {
    let before = |name: &str| prior.and_then(|prior| prior.get(name)).unwrap_or(&Value::Null);
    let after = |name: &str| proposed.get(name).unwrap_or(&Value::Null);
    let given = || schema.attributes.iter().filter(|attribute| !attribute.origin.is_computed());
    let changed: Vec<_> =
        given().filter(|attribute| before(attribute.name) != after(attribute.name)).collect();

    let planned = schema.attributes.iter().map(|attribute| {
        let value = match attribute.origin {
            AttributeOrigin::Required | AttributeOrigin::Optional => after(attribute.name).clone(),
            AttributeOrigin::Minted if prior.is_some() => before(attribute.name).clone(),
            AttributeOrigin::Recomputed if prior.is_some() && changed.is_empty() => {
                before(attribute.name).clone()
            }
            AttributeOrigin::Minted | AttributeOrigin::Recomputed => Value::Unknown,
        };
        (attribute.name.to_owned(), value)
    });
    let mut replaced_by: Vec<_> = changed
        .iter()
        .filter(|attribute| prior.is_some() && attribute.on_change == OnChange::Replace)
        .map(|attribute| attribute.name)
        .collect();
    replaced_by.sort_unstable();
    Plan { planned: planned.collect(), replaced_by }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::node;
    use crate::value::Number;

    fn object(pairs: &[(&str, Value)]) -> Object {
        let mut object: Object =
            node::resource().schema.attributes.iter().map(|a| (a.name.to_owned(), Value::Null)).collect();
        object.extend(pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        object
    }

    fn existing(pairs: &[(&str, Value)]) -> Object {
        let mut object = object(&[
            ("key", "a".into()),
            ("id", "node-1".into()),
            ("revision", Value::Number(Number::from(3))),
        ]);
        object.extend(pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        object
    }

    fn plan_of(prior: Option<&Object>, proposed: &Object) -> Plan {
        plan(&node::resource().schema, prior, proposed)
    }

    #[test]
    fn a_new_object_has_an_unknown_id_and_revision() {
        let plan = plan_of(None, &object(&[("key", "a".into())]));
        assert_eq!(
            plan.planned,
            object(&[("key", "a".into()), ("id", Value::Unknown), ("revision", Value::Unknown)])
        );
        assert!(plan.replaced_by.is_empty());
    }

    #[test]
    fn an_unchanged_object_plans_to_itself() {
        let prior = existing(&[("label", "x".into())]);
        let plan = plan_of(Some(&prior), &prior);
        assert_eq!(plan, Plan { planned: prior, replaced_by: Vec::new() });
    }

    #[test]
    fn a_changed_label_keeps_the_id_and_leaves_the_revision_open() {
        let plan = plan_of(Some(&existing(&[])), &existing(&[("label", "new".into())]));
        assert_eq!(plan.planned, existing(&[("label", "new".into()), ("revision", Value::Unknown)]));
        assert!(plan.replaced_by.is_empty());
    }

    #[test]
    fn a_changed_key_pin_or_pinned_reference_replaces_the_object() {
        let proposed = existing(&[
            ("key", "b".into()),
            ("pin", "x".into()),
            ("pinned_refs", Value::set(vec![Value::Unknown])),
            ("refs", Value::set(vec!["node-2".into()])),
        ]);
        let plan = plan_of(Some(&existing(&[])), &proposed);
        assert_eq!(plan.replaced_by, ["key", "pin", "pinned_refs"]);
    }
}
