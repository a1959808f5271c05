//! Laws of values: they survive both encodings, and no bytes do harm.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use super::types::tests::any_type;
use super::*;

/// Any value of a type; unknowns only where asked for.
fn value_of(ty: Type, unknowns: bool) -> BoxedStrategy<Value> {
    let known = match ty.clone() {
        Type::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Type::String => any::<String>().prop_map(Value::String).boxed(),
        Type::Number => any_number().prop_map(Value::Number).boxed(),
        Type::List(element) => vec(value_of(*element, unknowns), 0..4).prop_map(Value::List).boxed(),
        Type::Set(element) => vec(value_of(*element, unknowns), 0..4).prop_map(Value::set).boxed(),
        Type::Map(element) => {
            btree_map(".{0,4}", value_of(*element, unknowns), 0..4).prop_map(Value::Map).boxed()
        }
        Type::Tuple(types) => {
            let elements: Vec<_> = types.into_iter().map(|ty| value_of(ty, unknowns)).collect();
            elements.prop_map(Value::List).boxed()
        }
        Type::Object(types) => {
            let names: Vec<_> = types.keys().cloned().collect();
            let values: Vec<_> = types.into_values().map(|ty| value_of(ty, unknowns)).collect();
            values.prop_map(move |values| Value::Object(names.iter().cloned().zip(values).collect())).boxed()
        }
        Type::Dynamic => {
            let leaf = prop_oneof![Just(Type::String), Just(Type::Number), Just(Type::set_of(Type::Bool))];
            leaf.prop_flat_map(move |ty| {
                let inner = value_of(ty.clone(), unknowns);
                inner.prop_map(move |value| Value::Dynamic(ty.clone(), Box::new(value)))
            })
            .boxed()
        }
    };
    let unknown = if unknowns { Value::Unknown } else { Value::Null };
    prop_oneof![1 => Just(Value::Null), 1 => Just(unknown), 8 => known].boxed()
}

fn any_number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<f64>().prop_filter_map("not finite", Number::from_float),
        "-?[1-9][0-9]{0,60}([.][0-9]{1,60})?".prop_filter_map("too long", |text| Number::parse(&text)),
    ]
}

fn typed_value(unknowns: bool) -> impl Strategy<Value = (Type, Value)> {
    any_type().prop_flat_map(move |ty| {
        let values = value_of(ty.clone(), unknowns);
        values.prop_map(move |value| (ty.clone(), value))
    })
}

/// What is to be done to an encoding.
#[derive(Debug, Clone)]
enum Harm {
    Cut(Index),
    Set(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index),
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        any::<Index>().prop_map(Harm::Cut),
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Harm::Set(at, byte)),
        (any::<Index>(), vec(any::<u8>(), 1..6)).prop_map(|(at, bytes)| Harm::Insert(at, bytes)),
        any::<Index>().prop_map(Harm::Remove),
    ]
}

fn harmed(mut bytes: Vec<u8>, harms: &[Harm]) -> Vec<u8> {
    for harm in harms {
        if bytes.is_empty() {
            break;
        }
        match harm {
            Harm::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Harm::Set(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Harm::Insert(at, more) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
            Harm::Remove(at) => drop(bytes.remove(at.index(bytes.len()))),
        }
    }
    bytes
}

/// What decodes is a value like any other: it can be encoded, and reads back as itself.
fn decodes_to_a_value_or_an_error(bytes: &[u8], ty: &Type) -> Result<(), TestCaseError> {
    if let Ok(value) = msgpack::decode(bytes, ty) {
        prop_assert_eq!(msgpack::decode(&msgpack::encode(&value, ty), ty), Ok(value.clone()));
        if value.is_wholly_known() {
            prop_assert_eq!(json::decode(&json::encode(&value), ty), Ok(value));
        }
    }
    if let Ok(json) = serde_json::from_slice(bytes)
        && let Ok(value) = json::decode(&json, ty)
    {
        prop_assert_eq!(msgpack::decode(&msgpack::encode(&value, ty), ty), Ok(value));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn a_value_survives_msgpack((ty, value) in typed_value(true)) {
        prop_assert_eq!(msgpack::decode(&msgpack::encode(&value, &ty), &ty), Ok(value));
    }

    #[test]
    fn a_known_value_survives_json((ty, value) in typed_value(false)) {
        let text = json::encode(&value).to_string();
        let json = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(json::decode(&json, &ty), Ok(value));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn random_bytes_do_no_harm(ty in any_type(), bytes in vec(any::<u8>(), 0..200)) {
        decodes_to_a_value_or_an_error(&bytes, &ty)?;
    }

    #[test]
    fn a_harmed_encoding_does_no_harm((ty, value) in typed_value(true), harms in vec(harm(), 1..4)) {
        decodes_to_a_value_or_an_error(&harmed(msgpack::encode(&value, &ty), &harms), &ty)?;
        decodes_to_a_value_or_an_error(&harmed(json::encode(&value).to_string().into_bytes(), &harms), &ty)?;
    }

    #[test]
    fn a_value_cut_off_is_an_error((ty, value) in typed_value(true), at in any::<Index>()) {
        let bytes = msgpack::encode(&value, &ty);
        prop_assert!(msgpack::decode(&bytes[..at.index(bytes.len())], &ty).is_err());
    }
}

#[test]
fn nesting_has_a_bound_in_every_form() {
    // Dynamic values within dynamic values: each level names its type and holds the next.
    let mut bytes = vec![0xc0];
    for _ in 0..100_000 {
        let mut outer = vec![0x92, 0xc4, 9];
        outer.extend_from_slice(b"\"dynamic\"");
        outer.append(&mut bytes);
        bytes = outer;
        if bytes.len() > 1 << 16 {
            break;
        }
    }
    let error = msgpack::decode(&bytes, &Type::Dynamic).unwrap_err();
    assert!(error.message.contains("deeper than 64"), "{error}");

    // Arrays within arrays, for a type that a dynamic value gives.
    for depth in [MAX_DEPTH - 2, MAX_DEPTH, 1000] {
        let ty = (0..depth).fold(json!("string"), |ty, _| json!(["list", ty])).to_string();
        let mut bytes = vec![0x92, 0xc5];
        bytes.extend_from_slice(&u16::try_from(ty.len()).unwrap().to_be_bytes());
        bytes.extend_from_slice(ty.as_bytes());
        bytes.extend(std::iter::repeat_n(0x91, depth));
        bytes.push(0xa0);
        assert_eq!(msgpack::decode(&bytes, &Type::Dynamic).is_ok(), depth < MAX_DEPTH - 1, "{depth}");
    }

    let deep = (0..100).fold(json!(null), |json, _| json!({"type": "dynamic", "value": json}));
    assert!(json::decode(&deep, &Type::Dynamic).is_err());
}

#[test]
fn any_unknown_is_unknown_whatever_it_says_beyond_that() {
    // Ext 12 with a map {1: false, 2: "node-"}: known not to be null, with a prefix.
    let refined = b"\xc7\x09\x0c\x82\x01\xc2\x02\xa5node-";
    let length = u8::try_from(refined.len() - 3).unwrap();
    let mut refined = refined.to_vec();
    refined[1] = length;
    for bytes in [&b"\xd4\x00\x00"[..], b"\xd4\x07\xff", b"\xc7\x00\x00", b"\xc7\x01\x00\x00", &refined] {
        for ty in [Type::String, Type::Dynamic, Type::set_of(Type::String), Type::Tuple(vec![])] {
            assert_eq!(msgpack::decode(bytes, &ty), Ok(Value::Unknown), "{bytes:?} as {ty:?}");
        }
    }
    // Another extension says something that nobody here understands.
    assert!(msgpack::decode(b"\xd5\x05\x00\x00", &Type::String).is_err());
}

#[test]
fn numbers_are_read_in_every_form_that_an_engine_may_choose() {
    let seven = Ok(Value::Number(Number::from(7)));
    for bytes in [
        &b"\x07"[..],
        b"\xcc\x07",
        b"\xcd\x00\x07",
        b"\xce\x00\x00\x00\x07",
        b"\xcf\x00\x00\x00\x00\x00\x00\x00\x07",
        b"\xd0\x07",
        b"\xd1\x00\x07",
        b"\xd2\x00\x00\x00\x07",
        b"\xd3\x00\x00\x00\x00\x00\x00\x00\x07",
        b"\xca\x40\xe0\x00\x00",
        b"\xcb\x40\x1c\x00\x00\x00\x00\x00\x00",
        b"\xa17",
        b"\xa37.0",
    ] {
        assert_eq!(msgpack::decode(bytes, &Type::Number), seven, "{bytes:?}");
    }
    let largest = Number::parse("18446744073709551615").map(Value::Number).unwrap();
    assert_eq!(msgpack::decode(&[0xcf, 255, 255, 255, 255, 255, 255, 255, 255], &Type::Number), Ok(largest));
    assert!(msgpack::decode(b"\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00", &Type::Number).is_err());
}

#[test]
fn an_error_tells_where_it_is() {
    let ty = Type::Object(BTreeMap::from([(
        "a".to_owned(),
        Type::Map(Box::new(Type::List(Box::new(Type::Bool)))),
    )]));
    let error = msgpack::decode(b"\x81\xa1a\x81\xa1k\x92\xc3\x05", &ty).unwrap_err();
    let path = [PathStep::Attribute("a".to_owned()), PathStep::Key("k".to_owned()), PathStep::Index(1)];
    assert_eq!(error.path, path);
    assert_eq!(json::decode(&json!({"a": {"k": [true, 5]}}), &ty).unwrap_err().path, path);
}

#[test]
fn a_set_keeps_every_unknown_and_each_known_element_once() {
    let set = Value::set(vec!["b".into(), Value::Unknown, "a".into(), Value::Unknown, "b".into()]);
    assert_eq!(set, Value::Set(vec![Value::Unknown, Value::Unknown, "a".into(), "b".into()]));
}

/// A list of `count` nulls.
fn nulls(count: u32) -> Vec<u8> {
    let mut bytes = vec![0xdd];
    bytes.extend_from_slice(&count.to_be_bytes());
    bytes.resize(bytes.len() + count as usize, 0xc0);
    bytes
}

#[test]
fn a_value_of_more_parts_than_there_is_memory_for_is_refused() {
    let list = Type::List(Box::new(Type::Bool));
    assert!(msgpack::decode(&nulls(1_000_000), &list).is_ok());
    let refused = msgpack::decode(&nulls(4_000_000), &list).unwrap_err();
    assert_eq!(refused.message, "it has too many parts: they would take more than 79 MiB");
    let text = |count: usize| format!("[{}null]", "null,".repeat(count - 1)).into_bytes();
    assert!(json::parse(&text(500_000)).is_ok());
    let refused = json::parse(&text(4_000_000)).unwrap_err();
    assert!(refused.message.contains("too many parts"), "{refused}");
    // A text is one part, whatever is in it.
    let commas = serde_json::to_vec(&format!("\\\"{}", ",".repeat(4_000_000))).unwrap();
    assert!(json::parse(&commas).is_ok());
}

#[test]
fn a_type_of_more_parts_than_there_is_memory_for_is_refused() {
    let ty = format!("[\"tuple\",[{}\"bool\"]]", "\"bool\",".repeat(1_000_000));
    let mut bytes = vec![0x92, 0xc6];
    bytes.extend_from_slice(&u32::try_from(ty.len()).unwrap().to_be_bytes());
    bytes.extend_from_slice(ty.as_bytes());
    let refused = msgpack::decode(&bytes, &Type::Dynamic).unwrap_err();
    assert!(refused.message.contains("too many parts"), "{refused}");
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    let map = Type::Map(Box::new(Type::Bool));
    let object = Type::Object(BTreeMap::from([("a".to_owned(), Type::Bool)]));
    let twice = b"\x82\xa1a\xc2\xa1a\xc3";
    for ty in [map, object] {
        let refused = msgpack::decode(twice, &ty).unwrap_err();
        assert_eq!(refused.message, "the key \"a\" occurs twice");
    }
    let refused = json::parse(br#"{"a":{"b":1,"b":1}}"#).unwrap_err();
    assert!(refused.message.starts_with("the key \"b\" occurs twice"), "{refused}");
}

#[test]
fn parsing_gives_what_the_library_gives() {
    for text in [r#"{"a":[null,true,-1,18446744073709551615,0.1,1e400,"\u0000é"],"":{}}"#, "[", "", "nul"] {
        let theirs: Option<serde_json::Value> = serde_json::from_str(text).ok();
        assert_eq!(json::parse(text.as_bytes()).ok(), theirs, "{text}");
    }
}
