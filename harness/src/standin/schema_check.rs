//! Whether what a schema file says of a provider can be served: walked through once, without keeping any of it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// How many types there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Resources.
    pub resources: usize,
    /// Data sources.
    pub data_sources: usize,
    /// Ephemeral resources, lists, functions and actions.
    pub others: usize,
}

/// The names that lead to a place, from the outside in.
type Names = Vec<String>;

/// Checks the part of a provider. Where it is wrong, gives the parser's error, and the names that lead to the place.
pub fn check(text: &str) -> Result<Counts, (serde_json::Error, Names)> {
    let walk = Walk { names: RefCell::default(), counts: RefCell::default() };
    let mut parser = serde_json::Deserializer::from_str(text);
    match (At { walk: &walk, what: What::Provider }).deserialize(&mut parser) {
        Ok(()) => Ok(walk.counts.into_inner()),
        // Names are taken back where all is well, so those of the place are left.
        Err(error) => Err((error, walk.names.into_inner().into_iter().map(Cow::into_owned).collect())),
    }
}

struct Walk<'de> {
    names: RefCell<Vec<Cow<'de, str>>>,
    counts: RefCell<Counts>,
}

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// A provider.
    Provider,
    /// Types by name.
    Types(Kind),
    /// The schema of a type.
    Schema,
    /// A block.
    Block,
    /// Attributes by name.
    Attributes,
    /// An attribute.
    Attribute,
    /// A type whose parts are attributes.
    NestedType,
    /// Blocks by name.
    Blocks,
    /// A block in another.
    NestedBlock,
    /// The word for how it is nested.
    Nesting,
    /// A type.
    Type,
    /// Types of an object by name.
    Members,
    /// Yes or no.
    Flag,
    /// Anything.
    Anything,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Resource,
    DataSource,
    Other,
}

impl What {
    /// What stands under a name in it.
    fn under(self, name: &str) -> Self {
        match (self, name) {
            (Self::Provider, "provider") => Self::Schema,
            (Self::Provider, "resource_schemas") => Self::Types(Kind::Resource),
            (Self::Provider, "data_source_schemas") => Self::Types(Kind::DataSource),
            (Self::Provider, "ephemeral_resource_schemas" | "list_resource_schemas" | "action_schemas") => {
                Self::Types(Kind::Other)
            }
            (Self::Types(_), _) => Self::Schema,
            (Self::Schema | Self::NestedBlock, "block") => Self::Block,
            (Self::Block | Self::NestedType, "attributes") => Self::Attributes,
            (Self::Block, "block_types") => Self::Blocks,
            (Self::Attributes, _) => Self::Attribute,
            (Self::Attribute, "type") => Self::Type,
            (Self::Attribute, "nested_type") => Self::NestedType,
            (Self::Attribute, "required" | "optional" | "computed" | "sensitive" | "write_only") => {
                Self::Flag
            }
            (Self::NestedType | Self::NestedBlock, "nesting_mode") => Self::Nesting,
            (Self::Blocks, _) => Self::NestedBlock,
            (Self::Members, _) => Self::Type,
            _ => Self::Anything,
        }
    }

    fn has_names(self) -> bool {
        matches!(self, Self::Types(_) | Self::Attributes | Self::Blocks | Self::Members)
    }

    fn is_object(self) -> bool {
        !matches!(self, Self::Nesting | Self::Type | Self::Flag | Self::Anything)
    }
}

/// A place, to be walked through.
struct At<'w, 'de> {
    walk: &'w Walk<'de>,
    what: What,
}

impl<'de> DeserializeSeed<'de> for At<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.what {
            What::Anything => deserializer.deserialize_ignored_any(IgnoredAny).map(drop),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for At<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.what {
            What::Type => "a type",
            What::Nesting => "how it is nested, a word",
            What::Flag => "true or false",
            _ => "an object",
        })
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let Self { walk, what } = self;
        if !what.is_object() {
            return Err(M::Error::invalid_type(serde::de::Unexpected::Map, &self));
        }
        let (mut has_block, mut has_nesting, mut types) = (false, false, 0);
        while let Some(name) = map.next_key_seed(Name)? {
            if what.has_names() && !is_name(&name) {
                let shown: String = name.chars().take(60).flat_map(char::escape_debug).collect();
                return Err(M::Error::custom(format_args!(
                    "`{shown}` cannot be the name of a type, a block or an attribute"
                )));
            }
            has_block |= name == "block";
            has_nesting |= name == "nesting_mode";
            types += usize::from(matches!(&*name, "type" | "nested_type"));
            if let What::Types(kind) = what {
                let counts = &mut *walk.counts.borrow_mut();
                *match kind {
                    Kind::Resource => &mut counts.resources,
                    Kind::DataSource => &mut counts.data_sources,
                    Kind::Other => &mut counts.others,
                } += 1;
            }
            let under = what.under(&name);
            walk.names.borrow_mut().push(name);
            map.next_value_seed(At { walk, what: under })?;
            walk.names.borrow_mut().pop();
        }
        let lacks = |what: &str| Err(M::Error::custom(what));
        match what {
            What::Attribute if types == 0 => lacks("an attribute needs a `type` or a `nested_type`"),
            What::Attribute if types > 1 => lacks("an attribute has a `type` or a `nested_type`, not both"),
            What::Schema | What::NestedBlock if !has_block => lacks("there is no `block` here"),
            What::NestedType | What::NestedBlock if !has_nesting => lacks("there is no `nesting_mode` here"),
            _ => Ok(()),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        let shown = || -> String { text.chars().take(60).flat_map(char::escape_debug).collect() };
        match self.what {
            What::Type if ["string", "number", "bool", "dynamic"].contains(&text) => Ok(()),
            What::Type => Err(E::custom(format_args!("`{}` is not a type", shown()))),
            What::Nesting if ["single", "group", "list", "set", "map"].contains(&text) => Ok(()),
            What::Nesting => Err(E::custom(format_args!(
                "`{}` is not a nesting mode; use single, group, list, set or map",
                shown()
            ))),
            _ => Err(E::invalid_type(serde::de::Unexpected::Str(&shown()), &self)),
        }
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        match self.what {
            What::Flag => Ok(()),
            _ => Err(E::invalid_type(serde::de::Unexpected::Bool(value), &self)),
        }
    }

    /// A type of several parts: `["list", TYPE]`, `["object", {…}]`, `["tuple", [TYPE, …]]`.
    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<(), S::Error> {
        let Self { walk, what } = self;
        if what != What::Type {
            return Err(S::Error::invalid_type(serde::de::Unexpected::Seq, &self));
        }
        let kind = seq.next_element_seed(Name)?.unwrap_or_default();
        let of = match &*kind {
            "list" | "set" | "map" => seq.next_element_seed(At { walk, what: What::Type })?,
            "object" => seq.next_element_seed(At { walk, what: What::Members })?,
            "tuple" => seq.next_element_seed(Elements(walk))?,
            _ => {
                let shown: String = kind.chars().take(60).flat_map(char::escape_debug).collect();
                return Err(S::Error::custom(format_args!("`{shown}` is not a type")));
            }
        };
        if of.is_none() {
            return Err(S::Error::custom(format_args!("a {kind} needs the type of its elements")));
        }
        // Which members of an object may be missing.
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// The types of a tuple.
struct Elements<'w, 'de>(&'w Walk<'de>);

impl<'de> DeserializeSeed<'de> for Elements<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Elements<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of types")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<(), S::Error> {
        while seq.next_element_seed(At { walk: self.0, what: What::Type })?.is_some() {}
        Ok(())
    }
}

/// A name, borrowed from the text where it has no escapes.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// Whether a name can be that of a type, a block or an attribute in a program.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.len() <= 256 && name.starts_with(begins) && name.chars().all(fits)
}
