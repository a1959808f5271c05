//! What was computed before, and an engine leaves out of what it proposes. An element of a set has no place of its
//! own, so an engine does not always know which it was; and it takes a nested object for the program's where parts of
//! it could not have been computed.

use super::plan::{settle_attribute, settle_block};
use crate::schema::{Attribute, Block, Nesting, Shape};
use crate::value::{Object, Value};

/// Gives an object what was computed for it before. Elements of sets are taken for the same where all that the program
/// says of them is the same; so they are looked for by the configuration, and not by what the engine makes of it.
pub fn adopt(block: &Block, object: &mut Object, prior: &Object, config: &Object) {
    adopt_attributes(&block.attributes, object, prior, config);
    for nested in &block.blocks {
        if let (Some(value), Some(before)) = (object.get_mut(&nested.name), prior.get(&nested.name)) {
            let inner = Inner { attributes: &nested.block.attributes, block: Some(&nested.block) };
            inner.adopt(nested.nesting, value, before, config.get(&nested.name));
        }
    }
}

fn adopt_attributes(attributes: &[Attribute], object: &mut Object, prior: &Object, config: &Object) {
    for attribute in attributes {
        let (Some(value), Some(before)) = (object.get_mut(&attribute.name), prior.get(&attribute.name))
        else {
            continue;
        };
        if *value == Value::Null && attribute.origin.is_computed() {
            *value = before.clone();
        } else if let Shape::Nested(nesting, inner) = &attribute.shape {
            Inner { attributes: inner, block: None }.adopt(
                *nesting,
                value,
                before,
                config.get(&attribute.name),
            );
        }
    }
}

/// Pairs as many of one side with the other as can be, each with one that fits: who is hard to please goes before who
/// is content with any.
fn matching(count: usize, others: usize, fits: impl Fn(usize, usize) -> bool) -> Vec<Option<usize>> {
    let fits: Vec<Vec<bool>> =
        (0..count).map(|one| (0..others).map(|other| fits(one, other)).collect()).collect();
    let mut taken_by: Vec<Option<usize>> = vec![None; others];
    for one in 0..count {
        place(one, &fits, &mut taken_by, &mut vec![false; others]);
    }
    let mut pairs = vec![None; count];
    for (other, one) in taken_by.into_iter().enumerate() {
        if let Some(one) = one {
            pairs[one] = Some(other);
        }
    }
    pairs
}

/// Finds a place for one, where need be by moving others.
fn place(one: usize, fits: &[Vec<bool>], taken_by: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    for other in 0..taken_by.len() {
        if fits[one][other] && !std::mem::replace(&mut seen[other], true) {
            let free = match taken_by[other] {
                None => true,
                Some(holder) => place(holder, fits, taken_by, seen),
            };
            if free {
                taken_by[other] = Some(one);
                return true;
            }
        }
    }
    false
}

/// What the objects of a nested attribute or of nested blocks hold.
#[derive(Clone, Copy)]
struct Inner<'a> {
    attributes: &'a [Attribute],
    block: Option<&'a Block>,
}

impl Inner<'_> {
    fn adopt(self, nesting: Nesting, value: &mut Value, before: &Value, config: Option<&Value>) {
        let nothing = Object::new();
        let said = |config: Option<&Value>| match config {
            Some(Value::Object(config)) => config.clone(),
            _ => nothing.clone(),
        };
        match (nesting, value, before) {
            (Nesting::Single | Nesting::Group, Value::Object(object), Value::Object(before)) => {
                self.adopt_object(object, before, &said(config));
            }
            (Nesting::List, Value::List(elements), Value::List(before)) => {
                let config = match config {
                    Some(Value::List(config)) => &config[..],
                    _ => &[],
                };
                for (index, pair) in elements.iter_mut().zip(before).enumerate() {
                    if let (Value::Object(object), Value::Object(before)) = pair {
                        self.adopt_object(object, before, &said(config.get(index)));
                    }
                }
            }
            (Nesting::Map, Value::Map(elements), Value::Map(before)) => {
                for (key, element) in elements {
                    let config = match config {
                        Some(Value::Map(config)) => config.get(key),
                        _ => None,
                    };
                    if let (Value::Object(object), Some(Value::Object(before))) = (element, before.get(key)) {
                        self.adopt_object(object, before, &said(config));
                    }
                }
            }
            (Nesting::Set, value @ Value::Set(_), Value::Set(before)) => {
                self.adopt_set(value, before, config)
            }
            _ => {}
        }
    }

    fn adopt_object(self, object: &mut Object, before: &Object, config: &Object) {
        match self.block {
            Some(block) => adopt(block, object, before, config),
            None => adopt_attributes(self.attributes, object, before, config),
        }
    }

    fn adopt_set(self, value: &mut Value, before: &[Value], config: Option<&Value>) {
        let mut elements = match (&mut *value, config) {
            (_, Some(Value::Set(config))) => {
                let mut elements = config.clone();
                elements.iter_mut().for_each(|element| self.settle(element));
                elements
            }
            (Value::Set(elements), _) => std::mem::take(elements),
            _ => return,
        };
        let pairs = matching(elements.len(), before.len(), |element, prior| {
            match (&elements[element], &before[prior]) {
                (Value::Object(object), Value::Object(before)) => self.comes_from(object, before),
                _ => false,
            }
        });
        for (element, prior) in elements.iter_mut().zip(pairs) {
            if let Some(prior) = prior {
                *element = before[prior].clone();
            }
        }
        *value = Value::set(elements);
    }

    /// Defaults, and nothing where nothing is kept, in an element.
    fn settle(self, element: &mut Value) {
        let Value::Object(object) = element else { return };
        match self.block {
            Some(block) => settle_block(block, object),
            None => {
                for attribute in self.attributes {
                    if let Some(value) = object.get_mut(&attribute.name) {
                        settle_attribute(attribute, value);
                    }
                }
            }
        }
    }

    /// Whether an object is as it was, but for what was computed.
    fn comes_from(self, object: &Object, before: &Object) -> bool {
        let value = |object: &Object, name: &str| object.get(name).cloned().unwrap_or(Value::Null);
        let attributes = self.attributes.iter().all(|attribute| {
            let (value, before) = (value(object, &attribute.name), value(before, &attribute.name));
            attribute.write_only
                || (value == Value::Null && attribute.origin.is_computed())
                || match &attribute.shape {
                    Shape::Plain(_) => value == before,
                    Shape::Nested(nesting, inner) => {
                        Inner { attributes: inner, block: None }.value_comes_from(*nesting, &value, &before)
                    }
                }
        });
        let nested = self.block.map(|block| &block.blocks[..]).unwrap_or_default();
        attributes
            && nested.iter().all(|nested| {
                let inner = Inner { attributes: &nested.block.attributes, block: Some(&nested.block) };
                inner.value_comes_from(
                    nested.nesting,
                    &value(object, &nested.name),
                    &value(before, &nested.name),
                )
            })
    }

    fn value_comes_from(self, nesting: Nesting, value: &Value, before: &Value) -> bool {
        let one = |value: &Value, before: &Value| match (value, before) {
            (Value::Object(object), Value::Object(before)) => self.comes_from(object, before),
            (value, before) => value == before,
        };
        match (nesting, value, before) {
            (Nesting::List, Value::List(elements), Value::List(before)) => {
                elements.len() == before.len() && elements.iter().zip(before).all(|(e, b)| one(e, b))
            }
            (Nesting::Map, Value::Map(elements), Value::Map(before)) => {
                elements.keys().eq(before.keys())
                    && elements.values().zip(before.values()).all(|(e, b)| one(e, b))
            }
            (Nesting::Set, Value::Set(elements), Value::Set(before)) => {
                let fits = |element: usize, prior: usize| one(&elements[element], &before[prior]);
                elements.len() == before.len()
                    && matching(elements.len(), before.len(), fits).iter().all(Option::is_some)
            }
            (_, value, before) => one(value, before),
        }
    }
}
