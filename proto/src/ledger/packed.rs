//! Attributes that are kept for long: as text, which takes a fraction of what the map of them does.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::entry::Attributes;
use super::hash::Digest;

/// Attributes as JSON with sorted names and no blanks, so that equal attributes are equal texts.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PackedAttributes(Box<str>);

impl PackedAttributes {
    /// The attributes as a map.
    pub fn unpack(&self) -> Attributes {
        serde_json::from_str(&self.0).expect("this is what packing has written")
    }

    /// Their digest, the same as that of the map.
    pub fn digest(&self) -> Digest {
        Digest::of_json(self.0.as_bytes())
    }
}

impl From<&Attributes> for PackedAttributes {
    fn from(attributes: &Attributes) -> Self {
        Self(serde_json::to_string(attributes).expect("attributes are JSON").into())
    }
}

impl fmt::Debug for PackedAttributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for PackedAttributes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.unpack().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PackedAttributes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from(&Attributes::deserialize(deserializer)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::attributes;
    use super::*;

    #[test]
    fn attributes_come_back_as_they_were_packed() {
        let packed = PackedAttributes::from(&attributes("a"));
        assert_eq!(packed.unpack(), attributes("a"));
        assert_eq!(packed.digest(), Digest::of(&attributes("a")));
    }

    #[test]
    fn blanks_and_the_order_of_names_make_no_difference() {
        let read = |text| serde_json::from_str::<PackedAttributes>(text).unwrap();
        assert_eq!(read(r#"{ "b": [1.5, null], "a": "\u0041" }"#), read(r#"{"a":"A","b":[1.5,null]}"#));
        assert_ne!(read(r#"{"a":1}"#), read(r#"{"a":2}"#));
    }
}
