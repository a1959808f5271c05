//! What was computed before, and an engine leaves out of what it proposes. An element of a set has no place of its own,
//! so an engine does not always know which it was; and it takes a nested object for the program's where parts of it could
//! not have been computed.

use crate::schema::{Attribute, Block, Nesting, Shape};
use crate::value::{Object, Value};

/// Gives an object what was computed for it before. Elements of sets are taken for the same where all that the program
/// says of them is the same.
pub fn adopt(block: &Block, object: &mut Object, prior: &Object) {
    adopt_attributes(&block.attributes, object, prior);
    for nested in &block.blocks {
        if let (Some(value), Some(before)) = (object.get_mut(&nested.name), prior.get(&nested.name)) {
            let inner = Inner { attributes: &nested.block.attributes, block: Some(&nested.block) };
            inner.adopt(nested.nesting, value, before);
        }
    }
}

fn adopt_attributes(attributes: &[Attribute], object: &mut Object, prior: &Object) {
    for attribute in attributes {
        let (Some(value), Some(before)) = (object.get_mut(&attribute.name), prior.get(&attribute.name))
        else {
            continue;
        };
        if *value == Value::Null && attribute.origin.is_computed() {
            *value = before.clone();
        } else if let Shape::Nested(nesting, inner) = &attribute.shape {
            Inner { attributes: inner, block: None }.adopt(*nesting, value, before);
        }
    }
}

/// Pairs as many of one side with the other as can be, each with one that fits: who is hard to please goes before who is
/// content with any.
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
    fn adopt(self, nesting: Nesting, value: &mut Value, before: &Value) {
        match (nesting, value, before) {
            (Nesting::Single | Nesting::Group, Value::Object(object), Value::Object(before)) => {
                self.adopt_object(object, before);
            }
            (Nesting::List, Value::List(elements), Value::List(before)) => {
                for pair in elements.iter_mut().zip(before) {
                    if let (Value::Object(object), Value::Object(before)) = pair {
                        self.adopt_object(object, before);
                    }
                }
            }
            (Nesting::Map, Value::Map(elements), Value::Map(before)) => {
                for (key, element) in elements {
                    if let (Value::Object(object), Some(Value::Object(before))) = (element, before.get(key)) {
                        self.adopt_object(object, before);
                    }
                }
            }
            (Nesting::Set, value @ Value::Set(_), Value::Set(before)) => self.adopt_set(value, before),
            _ => {}
        }
    }

    fn adopt_object(self, object: &mut Object, before: &Object) {
        match self.block {
            Some(block) => adopt(block, object, before),
            None => adopt_attributes(self.attributes, object, before),
        }
    }

    fn adopt_set(self, value: &mut Value, before: &[Value]) {
        let Value::Set(elements) = value else { return };
        let mut elements = std::mem::take(elements);
        // What is there as it was is nobody else's.
        let left: Vec<_> = before.iter().filter(|before| !elements.contains(before)).collect();
        let mut open: Vec<_> = elements.iter_mut().filter(|element| !before.contains(element)).collect();
        let pairs =
            matching(open.len(), left.len(), |element, before| match (&*open[element], left[before]) {
                (Value::Object(object), Value::Object(before)) => self.comes_from(object, before),
                _ => false,
            });
        for (element, before) in open.iter_mut().zip(pairs) {
            if let Some(before) = before {
                **element = left[before].clone();
            }
        }
        *value = Value::set(elements);
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
