//! What a change amounts to: nothing, an update in place, or a replacement.

use super::{compute, correlate};
use crate::schema::{Attribute, Block, Nesting, OnChange, Origin, Rule, Shape};
use crate::value::{Object, PathStep, Value};

/// A way from an object to a part of it.
pub type Path = Vec<PathStep>;

/// What an object will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The object after the change, unknown where only the apply can tell.
    pub planned: Object,
    /// The attributes whose change needs a new object, sorted by name.
    pub replaced_by: Vec<Path>,
}

const NULL: &Value = &Value::Null;

fn at<'a>(object: &'a Object, name: &str) -> &'a Value {
    object.get(name).unwrap_or(NULL)
}

/// Plans from the object as it was (`None` for one that is to be created) to what the program asks for. What
/// the provider computes is unknown only if something changes: a plan without a change must be empty to the
/// last leaf.
///
/// `proposed` is the program's configuration with the engine's guess for what the provider computes: what was there
/// before. `config` is the configuration alone.
pub fn plan(block: &Block, prior: Option<&Object>, proposed: &Object, config: &Object) -> Plan {
    let mut planned = settled(block, prior, proposed, config);
    if let Some(prior) = prior {
        correlate::adopt(block, &mut planned, prior, config);
    }
    if prior == Some(&planned) {
        return Plan { planned, replaced_by: Vec::new() };
    }
    for attribute in &block.attributes {
        if !is_left_to_us(attribute, config) {
            if let Some(value) = planned.get_mut(&attribute.name) {
                open_attribute(attribute, value);
            }
        } else if attribute.default.is_none() {
            let before = prior.map_or(NULL, |prior| at(prior, &attribute.name));
            let keeps = *before != Value::Null && !attribute.rule.changes_each_time();
            let value = match &attribute.rule {
                Rule::Constant(value) => value.clone(),
                _ if keeps => before.clone(),
                _ => Value::Unknown,
            };
            planned.insert(attribute.name.clone(), value);
        }
    }
    for nested in &block.blocks {
        if let Some(value) = planned.get_mut(&nested.name) {
            each_object(nested.nesting, value, &mut |object| open_block(&nested.block, object));
        }
    }
    compute::derive(block, &mut planned, config);
    let mut replaced_by = Vec::new();
    if let Some(prior) = prior {
        replaced(block, prior, &planned, &mut Vec::new(), &mut replaced_by);
    }
    Plan { planned, replaced_by }
}

/// Whether the provider says what an attribute of an object is.
pub fn is_left_to_us(attribute: &Attribute, config: &Object) -> bool {
    match attribute.origin {
        Origin::Computed => true,
        Origin::OptionalComputed => *at(config, &attribute.name) == Value::Null,
        Origin::Required | Origin::Optional => false,
    }
}

/// The object that the program asks for, before anything is computed: with what was computed before, with defaults, and
/// without what is not kept.
fn settled(block: &Block, prior: Option<&Object>, proposed: &Object, config: &Object) -> Object {
    let mut object = Object::new();
    for attribute in &block.attributes {
        let given = at(proposed, &attribute.name);
        let value = if attribute.write_only {
            Value::Null
        } else if is_left_to_us(attribute, config) {
            match &attribute.default {
                Some(default) => default.clone(),
                None => prior.map_or(NULL, |prior| at(prior, &attribute.name)).clone(),
            }
        } else {
            let mut value = given.clone();
            settle_attribute(attribute, &mut value);
            value
        };
        object.insert(attribute.name.clone(), value);
    }
    for nested in &block.blocks {
        let mut value = at(proposed, &nested.name).clone();
        each_object(nested.nesting, &mut value, &mut |object| settle_block(&nested.block, object));
        object.insert(nested.name.clone(), value);
    }
    object
}

/// Defaults, and nothing where nothing is kept, within a value.
pub fn settle_attribute(attribute: &Attribute, value: &mut Value) {
    if attribute.write_only {
        *value = Value::Null;
    } else if let (Value::Null, Some(default)) = (&*value, &attribute.default) {
        *value = default.clone();
    } else if let Shape::Nested(nesting, attributes) = &attribute.shape {
        each_object(*nesting, value, &mut |object| {
            attributes
                .iter()
                .for_each(|inner| in_object(object, &inner.name, |value| settle_attribute(inner, value)));
        });
    }
}

/// The same within a block.
pub fn settle_block(block: &Block, object: &mut Object) {
    block
        .attributes
        .iter()
        .for_each(|inner| in_object(object, &inner.name, |value| settle_attribute(inner, value)));
    for nested in &block.blocks {
        in_object(object, &nested.name, |value| {
            each_object(nested.nesting, value, &mut |object| settle_block(&nested.block, object));
        });
    }
}

/// Makes unknown what the provider computes within a value that the program gives.
fn open_attribute(attribute: &Attribute, value: &mut Value) {
    if let Shape::Nested(nesting, attributes) = &attribute.shape {
        each_object(*nesting, value, &mut |object| {
            attributes
                .iter()
                .for_each(|inner| in_object(object, &inner.name, |value| open_inner(inner, value)));
        });
    }
}

fn open_block(block: &Block, object: &mut Object) {
    block
        .attributes
        .iter()
        .for_each(|inner| in_object(object, &inner.name, |value| open_inner(inner, value)));
    for nested in &block.blocks {
        in_object(object, &nested.name, |value| {
            each_object(nested.nesting, value, &mut |object| open_block(&nested.block, object));
        });
    }
}

fn open_inner(attribute: &Attribute, value: &mut Value) {
    if *value == Value::Null && attribute.origin.is_computed() {
        *value = match &attribute.rule {
            Rule::Constant(constant) => constant.clone(),
            _ => Value::Unknown,
        };
    } else {
        open_attribute(attribute, value);
    }
}

fn in_object(object: &mut Object, name: &str, change: impl FnOnce(&mut Value)) {
    change(object.entry(name.to_owned()).or_insert(Value::Null));
}

/// Changes each object of a nested attribute or of nested blocks. A set is put in order again.
pub fn each_object(nesting: Nesting, value: &mut Value, change: &mut impl FnMut(&mut Object)) {
    let mut in_one = |value: &mut Value| {
        if let Value::Object(object) = value {
            change(object);
        }
    };
    match (nesting, &mut *value) {
        (Nesting::Single | Nesting::Group, value) => in_one(value),
        (Nesting::List, Value::List(elements)) => elements.iter_mut().for_each(in_one),
        (Nesting::Map, Value::Map(elements)) => elements.values_mut().for_each(in_one),
        (Nesting::Set, Value::Set(elements)) => {
            elements.iter_mut().for_each(in_one);
            let elements = std::mem::take(elements);
            *value = Value::set(elements);
        }
        _ => {}
    }
}

/// Collects the attributes whose change needs a new object.
fn replaced(block: &Block, prior: &Object, planned: &Object, path: &mut Path, found: &mut Vec<Path>) {
    replaced_attributes(&block.attributes, prior, planned, path, found);
    for nested in &block.blocks {
        let (before, after) = (at(prior, &nested.name), at(planned, &nested.name));
        path.push(PathStep::Attribute(nested.name.clone()));
        if nested.on_change == OnChange::Replace {
            if before != after {
                found.push(path.clone());
            }
        } else if before != after {
            let any = block_replaces(&nested.block);
            pairs(nested.nesting, before, after, any, path, found, &mut |before, after, path, found| {
                replaced(&nested.block, before, after, path, found);
            });
        }
        path.pop();
    }
    if path.is_empty() {
        found.sort_by_cached_key(|path| format!("{path:?}"));
    }
}

fn replaced_attributes(
    attributes: &[Attribute],
    prior: &Object,
    planned: &Object,
    path: &mut Path,
    found: &mut Vec<Path>,
) {
    for attribute in attributes {
        let (before, after) = (at(prior, &attribute.name), at(planned, &attribute.name));
        if before == after {
            continue;
        }
        path.push(PathStep::Attribute(attribute.name.clone()));
        if attribute.on_change == OnChange::Replace {
            found.push(path.clone());
        } else if let Shape::Nested(nesting, inner) = &attribute.shape {
            let any = inner.iter().any(attribute_replaces);
            pairs(*nesting, before, after, any, path, found, &mut |before, after, path, found| {
                replaced_attributes(inner, before, after, path, found);
            });
        }
        path.pop();
    }
}

/// What is done with an object before and after, the way to it, and what was found so far.
type Look<'a> = &'a mut dyn FnMut(&Object, &Object, &mut Path, &mut Vec<Path>);

/// Looks at each object before and after. Where they do not pair, it is the whole that differs.
fn pairs(
    nesting: Nesting,
    before: &Value,
    after: &Value,
    any: bool,
    path: &mut Path,
    found: &mut Vec<Path>,
    look: Look<'_>,
) {
    if !any {
        return;
    }
    match (nesting, before, after) {
        (Nesting::Single | Nesting::Group, Value::Object(before), Value::Object(after)) => {
            look(before, after, path, found);
        }
        (Nesting::List, Value::List(before), Value::List(after)) if before.len() == after.len() => {
            for (index, pair) in before.iter().zip(after).enumerate() {
                if let (Value::Object(before), Value::Object(after)) = pair {
                    path.push(PathStep::Index(index));
                    look(before, after, path, found);
                    path.pop();
                }
            }
        }
        (Nesting::Map, Value::Map(before), Value::Map(after)) if before.keys().eq(after.keys()) => {
            for ((key, before), after) in before.iter().zip(after.values()) {
                if let (Value::Object(before), Value::Object(after)) = (before, after) {
                    path.push(PathStep::Key(key.clone()));
                    look(before, after, path, found);
                    path.pop();
                }
            }
        }
        _ => found.push(path.clone()),
    }
}

fn attribute_replaces(attribute: &Attribute) -> bool {
    attribute.on_change == OnChange::Replace
        || matches!(&attribute.shape, Shape::Nested(_, inner) if inner.iter().any(attribute_replaces))
}

fn block_replaces(block: &Block) -> bool {
    block.attributes.iter().any(attribute_replaces)
        || block.blocks.iter().any(|b| b.on_change == OnChange::Replace || block_replaces(&b.block))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::node;
    use crate::value::Number;

    fn object(pairs: &[(&str, Value)]) -> Object {
        let attributes = node::resource().schema.block.attributes;
        let mut object: Object = attributes.into_iter().map(|a| (a.name, Value::Null)).collect();
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
        let mut config = proposed.clone();
        config.insert("id".to_owned(), Value::Null);
        config.insert("revision".to_owned(), Value::Null);
        plan(&node::resource().schema.block, prior, proposed, &config)
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
        let names = ["key", "pin", "pinned_refs"].map(|name| vec![PathStep::Attribute(name.to_owned())]);
        assert_eq!(plan.replaced_by, names);
    }
}
