//! Values as MessagePack, the form in which engines send and expect them.

use std::collections::btree_map::Entry;

use rmp::Marker;
use rmp::encode;

use super::budget::Budget;
use super::number::Wire;
use super::{MAX_DEPTH, Number, Object, PathStep, Type, Value, ValueError};

/// The extension type of an unknown value that says more than "unknown".
const REFINED_UNKNOWN: i8 = 12;

/// Writes a value of the given type. An unknown is written without refinements: they would bind the apply.
pub fn encode(value: &Value, ty: &Type) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out, value, ty);
    out
}

fn write(out: &mut Vec<u8>, value: &Value, ty: &Type) {
    match (value, ty) {
        (Value::Null, _) => out.push(0xc0),
        (Value::Unknown, _) => out.extend_from_slice(&[0xd4, 0, 0]),
        (Value::Dynamic(inner_type, inner), _) => {
            let type_bytes = inner_type.to_json().to_string();
            infallible(encode::write_array_len(out, 2));
            infallible(encode::write_bin(out, type_bytes.as_bytes()));
            write(out, inner, inner_type);
        }
        (Value::Bool(bool), _) => out.push(if *bool { 0xc3 } else { 0xc2 }),
        (Value::Number(number), _) => match number.wire() {
            Wire::Int(int) => {
                infallible(encode::write_sint(out, int));
            }
            Wire::Float(float) => infallible(encode::write_f64(out, float)),
            Wire::Text(text) => infallible(encode::write_str(out, text)),
        },
        (Value::String(text), _) => infallible(encode::write_str(out, text)),
        (Value::List(elements), Type::Tuple(types)) => {
            infallible(encode::write_array_len(out, length(elements.len())));
            for (element, ty) in elements.iter().zip(types) {
                write(out, element, ty);
            }
        }
        (Value::List(elements) | Value::Set(elements), Type::List(ty) | Type::Set(ty)) => {
            infallible(encode::write_array_len(out, length(elements.len())));
            for element in elements {
                write(out, element, ty);
            }
        }
        (Value::Map(elements), Type::Map(ty)) => {
            infallible(encode::write_map_len(out, length(elements.len())));
            for (key, element) in elements {
                infallible(encode::write_str(out, key));
                write(out, element, ty);
            }
        }
        (Value::Object(attributes), Type::Object(types)) => {
            // Every attribute of the type is present on the wire, also where the value leaves it out.
            infallible(encode::write_map_len(out, length(types.len())));
            for (name, ty) in types {
                infallible(encode::write_str(out, name));
                write(out, attributes.get(name).unwrap_or(&Value::Null), ty);
            }
        }
        (value, ty) => unreachable!("a value of another type than {ty:?}: {value:?}"),
    }
}

fn length(length: usize) -> u32 {
    u32::try_from(length).expect("no collection comes near four thousand million elements")
}

fn infallible<T, E: std::fmt::Debug>(result: Result<T, E>) -> T {
    result.expect("writing to memory does not fail")
}

/// Reads a value of the given type, and nothing after it.
pub fn decode(bytes: &[u8], ty: &Type) -> Result<Value, ValueError> {
    let mut input = Input { bytes, budget: Budget::for_bytes(bytes.len()) };
    let value = input.value(ty, MAX_DEPTH)?;
    match input.bytes.len() {
        0 => Ok(value),
        rest => Err(ValueError::new(format!("{rest} bytes follow the value"))),
    }
}

struct Input<'a> {
    bytes: &'a [u8],
    budget: Budget,
}

impl<'a> Input<'a> {
    fn value(&mut self, ty: &Type, depth: usize) -> Result<Value, ValueError> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(ValueError::new(format!("the value nests deeper than {MAX_DEPTH} levels")));
        };
        self.budget.take_value()?;
        let marker = self.marker()?;
        match marker {
            Marker::Null => return Ok(Value::Null),
            Marker::FixExt1
            | Marker::FixExt2
            | Marker::FixExt4
            | Marker::FixExt8
            | Marker::FixExt16
            | Marker::Ext8
            | Marker::Ext16
            | Marker::Ext32 => return self.unknown(marker),
            _ => {}
        }
        match ty {
            Type::Dynamic => self.dynamic(marker, depth),
            Type::Bool => match marker {
                Marker::True => Ok(Value::Bool(true)),
                Marker::False => Ok(Value::Bool(false)),
                _ => Err(unexpected("true or false", marker)),
            },
            Type::Number => self.number(marker),
            Type::String => Ok(Value::String(self.text(marker)?.to_owned())),
            Type::List(element) => Ok(Value::List(self.elements(marker, element, depth)?)),
            Type::Set(element) => Ok(Value::set(self.elements(marker, element, depth)?)),
            Type::Tuple(types) => {
                let length = self.array_length(marker)?;
                if length != types.len() {
                    return Err(ValueError::new(format!(
                        "{length} elements where {} are expected",
                        types.len()
                    )));
                }
                types
                    .iter()
                    .enumerate()
                    .map(|(i, ty)| self.value(ty, depth).map_err(|error| error.within(PathStep::Index(i))))
                    .collect::<Result<_, _>>()
                    .map(Value::List)
            }
            Type::Map(element) => {
                let mut map = Object::new();
                for _ in 0..self.map_length(marker)? {
                    let key = self.key()?;
                    let value = self
                        .value(element, depth)
                        .map_err(|error| error.within(PathStep::Key(key.clone())))?;
                    insert(&mut map, key, value)?;
                }
                Ok(Value::Map(map))
            }
            Type::Object(types) => {
                let mut object = Object::new();
                for _ in 0..self.map_length(marker)? {
                    let name = self.key()?;
                    let Some(ty) = types.get(&name) else {
                        return Err(ValueError::new(format!("there is no attribute {name:?}")));
                    };
                    let value = self
                        .value(ty, depth)
                        .map_err(|error| error.within(PathStep::Attribute(name.clone())))?;
                    insert(&mut object, name, value)?;
                }
                for name in types.keys() {
                    if !object.contains_key(name) {
                        return Err(ValueError::new(format!("the attribute {name:?} is missing")));
                    }
                }
                Ok(Value::Object(object))
            }
        }
    }

    fn dynamic(&mut self, marker: Marker, depth: usize) -> Result<Value, ValueError> {
        if self.array_length(marker)? != 2 {
            return Err(ValueError::new("a value of any type is a pair of its type and itself"));
        }
        let marker = self.marker()?;
        let type_bytes = match marker {
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
                let length = self.length(marker)?;
                self.take(length)?
            }
            _ => self.text(marker)?.as_bytes(),
        };
        // A type takes at most about ten times its text, while it is parsed and after.
        self.budget.take(type_bytes.len().saturating_mul(16))?;
        let ty = serde_json::from_slice(type_bytes).ok().as_ref().and_then(Type::from_json);
        let ty = ty.ok_or_else(|| ValueError::new("a value of any type that does not name its type"))?;
        let value = self.value(&ty, depth)?;
        Ok(Value::Dynamic(ty, Box::new(value)))
    }

    fn elements(&mut self, marker: Marker, ty: &Type, depth: usize) -> Result<Vec<Value>, ValueError> {
        // No capacity is set aside for what the length says: it may say anything, and every element takes a byte.
        (0..self.array_length(marker)?)
            .map(|i| self.value(ty, depth).map_err(|error| error.within(PathStep::Index(i))))
            .collect::<Result<_, _>>()
    }

    fn number(&mut self, marker: Marker) -> Result<Value, ValueError> {
        let int = |int: i64| Ok(Value::Number(Number::from(int)));
        match marker {
            Marker::FixPos(int8) => int(int8.into()),
            Marker::FixNeg(int8) => int(int8.into()),
            Marker::U8 => int(self.array::<1>()?[0].into()),
            Marker::U16 => int(u16::from_be_bytes(self.array()?).into()),
            Marker::U32 => int(u32::from_be_bytes(self.array()?).into()),
            Marker::U64 => {
                let uint = u64::from_be_bytes(self.array()?);
                Ok(Value::Number(Number::parse(&uint.to_string()).expect("digits are a number")))
            }
            Marker::I8 => int(i8::from_be_bytes(self.array()?).into()),
            Marker::I16 => int(i16::from_be_bytes(self.array()?).into()),
            Marker::I32 => int(i32::from_be_bytes(self.array()?).into()),
            Marker::I64 => int(i64::from_be_bytes(self.array()?)),
            Marker::F32 => Self::float(f32::from_be_bytes(self.array()?).into()),
            Marker::F64 => Self::float(f64::from_be_bytes(self.array()?)),
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                let text = self.text(marker)?;
                Number::parse(text)
                    .map(Value::Number)
                    .ok_or_else(|| ValueError::new("a text that is not a number where a number is expected"))
            }
            _ => Err(unexpected("a number", marker)),
        }
    }

    fn float(float: f64) -> Result<Value, ValueError> {
        Number::from_float(float)
            .map(Value::Number)
            .ok_or_else(|| ValueError::new("a number that is not finite"))
    }

    fn unknown(&mut self, marker: Marker) -> Result<Value, ValueError> {
        let length = self.length(marker)?;
        let kind = i8::from_be_bytes(self.array()?);
        self.take(length)?;
        if length > 1 && kind != REFINED_UNKNOWN {
            return Err(ValueError::new(format!("an extension of unknown kind {kind}")));
        }
        Ok(Value::Unknown)
    }

    fn key(&mut self) -> Result<String, ValueError> {
        self.budget.take(size_of::<String>())?;
        let marker = self.marker()?;
        self.text(marker).map(str::to_owned)
    }

    fn text(&mut self, marker: Marker) -> Result<&'a str, ValueError> {
        let length = match marker {
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => self.length(marker)?,
            _ => return Err(unexpected("a text", marker)),
        };
        std::str::from_utf8(self.take(length)?).map_err(|_| ValueError::new("a text that is not UTF-8"))
    }

    fn array_length(&mut self, marker: Marker) -> Result<usize, ValueError> {
        match marker {
            Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => self.length(marker),
            _ => Err(unexpected("an array", marker)),
        }
    }

    fn map_length(&mut self, marker: Marker) -> Result<usize, ValueError> {
        match marker {
            Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => self.length(marker),
            _ => Err(unexpected("a map", marker)),
        }
    }

    /// The length that a marker of something with a length announces, in elements or bytes.
    fn length(&mut self, marker: Marker) -> Result<usize, ValueError> {
        Ok(match marker {
            Marker::FixStr(length) | Marker::FixArray(length) | Marker::FixMap(length) => length.into(),
            Marker::Str8 | Marker::Bin8 | Marker::Ext8 => self.array::<1>()?[0].into(),
            Marker::Str16 | Marker::Bin16 | Marker::Ext16 | Marker::Array16 | Marker::Map16 => {
                u16::from_be_bytes(self.array()?).into()
            }
            Marker::Str32 | Marker::Bin32 | Marker::Ext32 | Marker::Array32 | Marker::Map32 => {
                u32::from_be_bytes(self.array()?) as usize
            }
            Marker::FixExt1 => 1,
            Marker::FixExt2 => 2,
            Marker::FixExt4 => 4,
            Marker::FixExt8 => 8,
            Marker::FixExt16 => 16,
            _ => return Err(unexpected("something with a length", marker)),
        })
    }

    fn marker(&mut self) -> Result<Marker, ValueError> {
        Ok(Marker::from_u8(self.array::<1>()?[0]))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ValueError> {
        let (head, rest) = self.bytes.split_first_chunk().ok_or_else(cut_off)?;
        self.bytes = rest;
        Ok(*head)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], ValueError> {
        let (head, rest) = self.bytes.split_at_checked(length).ok_or_else(cut_off)?;
        self.bytes = rest;
        Ok(head)
    }
}

/// Inserts what must not stand twice: which of the two the sender means is anybody's guess.
fn insert(object: &mut Object, key: String, value: Value) -> Result<(), ValueError> {
    match object.entry(key) {
        Entry::Vacant(vacant) => {
            vacant.insert(value);
            Ok(())
        }
        Entry::Occupied(there) => Err(ValueError::new(format!("the key {:?} occurs twice", there.key()))),
    }
}

fn cut_off() -> ValueError {
    ValueError::new("the value is cut off")
}

fn unexpected(due: &str, found: Marker) -> ValueError {
    ValueError::new(format!("{due} is expected, but the bytes hold {found:?}"))
}
