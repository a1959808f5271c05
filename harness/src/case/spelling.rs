//! How a case writes its programs: what blocks are called, and which texts stand for values.
//!
//! Programs are drawn with numbered resources and a few values of each attribute (`a`, `b`, `c`), so that a small
//! signature has all changes that there are. What an engine reads in their place is stored here: a name, or a text such
//! as an empty one, a long one, or one with `${` in it. Two values of an attribute never stand for the same text.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::algebra::signature::{AttributeId, Signature};
use crate::spec::Encoding;
use crate::spec::encoding::{is_name, named_address};
use crate::spec::text::composed;

/// The texts of one attribute of a resource, by value.
type ByValue = BTreeMap<String, String>;

/// The attributes whose values are texts.
pub const TEXTS: [AttributeId; 2] = [AttributeId::LABEL, AttributeId::PIN];

/// What is written in place of keys and values. By default, blocks are called by their keys, and values stand for
/// themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spelling {
    /// What blocks are called, by the key of their resource.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    names: BTreeMap<String, String>,
    /// The texts of values: by key, attribute and value.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    texts: BTreeMap<String, BTreeMap<String, ByValue>>,
}

/// One thing that a spelling says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spelled {
    /// What the block of a resource is called.
    Name {
        /// The resource.
        node: String,
    },
    /// The text of a value.
    Text {
        /// The resource.
        node: String,
        /// The attribute.
        attribute: String,
        /// The value.
        value: String,
    },
}

/// A spelling that no program can be written with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSpelling {
    /// A block cannot be called that.
    #[error(
        "{node} cannot be called {name:?}: a name has letters, digits, `_` and `-`, and begins with a letter or `_`"
    )]
    Name {
        /// The resource.
        node: String,
        /// The name.
        name: String,
    },
    /// Two blocks have the same name.
    #[error("two resources are called {0:?}")]
    SameName(String),
    /// There is no such value, or it is not a text.
    #[error("{node} has a text for {value:?} of {attribute:?}, which is not a value that can have one")]
    NoValue {
        /// The resource.
        node: String,
        /// The attribute.
        attribute: String,
        /// The value.
        value: String,
    },
    /// Two values stand for the same text.
    #[error("two values of {attribute} stand for the same text in {node}")]
    SameText {
        /// The resource.
        node: String,
        /// The attribute.
        attribute: String,
    },
}

impl Spelling {
    /// Whether everything is written as it is.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.texts.is_empty()
    }

    /// Calls the block of a resource something.
    pub fn call(&mut self, node: &str, name: String) {
        self.names.insert(node.to_owned(), name);
    }

    /// Has a text stand for a value.
    pub fn spell(&mut self, node: &str, attribute: &str, value: &str, text: String) {
        let of_node = self.texts.entry(node.to_owned()).or_default();
        of_node.entry(attribute.to_owned()).or_default().insert(value.to_owned(), text);
    }

    /// The text that stands for a value.
    pub fn text<'a>(&'a self, node: &str, attribute: &str, value: &'a str) -> &'a str {
        let texts = self.texts.get(node).and_then(|of_node| of_node.get(attribute));
        texts.and_then(|texts| texts.get(value)).map_or(value, String::as_str)
    }

    /// The value that a text stands for, where the text is as an engine holds it.
    pub fn value<'a>(&'a self, node: &str, attribute: &str, text: &'a str) -> &'a str {
        let texts = self.texts.get(node).and_then(|of_node| of_node.get(attribute));
        let found = texts.and_then(|texts| texts.iter().find(|(_, it)| composed(it) == text));
        found.map_or(text, |(value, _)| value)
    }

    /// The encoding of all programs of the case.
    pub fn encoding(&self, outputs: bool) -> Encoding {
        let placed = self.names.iter().map(|(node, name)| (node.as_str().into(), named_address(name)));
        let texts = self.texts.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values);
        let spelled = texts.filter_map(|text| {
            let composed = composed(text);
            (*composed != **text).then(|| ((*composed).into(), text.as_str().into()))
        });
        Encoding { placed: placed.collect(), spelled: spelled.collect(), outputs }
    }

    /// Refuses what cannot be written, for resources with these keys.
    pub fn check<'a>(&self, nodes: impl Iterator<Item = &'a str>) -> Result<(), InvalidSpelling> {
        for (node, name) in &self.names {
            if !is_name(name) {
                return Err(InvalidSpelling::Name { node: node.clone(), name: name.clone() });
            }
        }
        let (encoding, mut names) = (self.encoding(false), BTreeSet::new());
        for node in nodes.filter(|_| !self.names.is_empty()) {
            let name = encoding.address(&node.into()).name;
            if !names.insert(name.clone()) {
                return Err(InvalidSpelling::SameName(name.to_string()));
            }
        }
        for (node, attributes) in &self.texts {
            for (attribute, texts) in attributes {
                check_texts(node, attribute, texts)?;
            }
        }
        Ok(())
    }

    /// Everything that it says.
    pub fn all(&self) -> Vec<Spelled> {
        let names = self.names.keys().map(|node| Spelled::Name { node: node.clone() });
        let texts = self.texts.iter().flat_map(|(node, attributes)| {
            attributes.iter().flat_map(move |(attribute, texts)| {
                texts.keys().map(move |value| Spelled::Text {
                    node: node.clone(),
                    attribute: attribute.clone(),
                    value: value.clone(),
                })
            })
        });
        names.chain(texts).collect()
    }

    /// What is written for something.
    pub fn written(&self, spelled: &Spelled) -> Option<&str> {
        let written = match spelled {
            Spelled::Name { node } => self.names.get(node),
            Spelled::Text { node, attribute, value } => self.texts.get(node)?.get(attribute)?.get(value),
        };
        written.map(String::as_str)
    }

    /// The same with only some of what it says.
    #[must_use]
    pub fn only(&self, is_kept: impl Fn(&Spelled) -> bool) -> Self {
        let mut kept = Self::default();
        for spelled in self.all().into_iter().filter(is_kept) {
            let written = self.written(&spelled).unwrap_or_default().to_owned();
            kept.write(&spelled, written);
        }
        kept
    }

    /// Has something written in another way.
    pub fn write(&mut self, spelled: &Spelled, written: String) {
        match spelled {
            Spelled::Name { node } => self.call(node, written),
            Spelled::Text { node, attribute, value } => self.spell(node, attribute, value, written),
        }
    }

    /// The same for resources with other keys.
    #[must_use]
    pub fn renamed(&self, key: impl Fn(&String) -> String) -> Self {
        Self {
            names: self.names.iter().map(|(node, name)| (key(node), name.clone())).collect(),
            texts: self.texts.iter().map(|(node, texts)| (key(node), texts.clone())).collect(),
        }
    }
}

impl Spelled {
    /// The resource.
    pub fn node(&self) -> &str {
        match self {
            Self::Name { node } | Self::Text { node, .. } => node,
        }
    }
}

fn check_texts(node: &str, attribute: &str, texts: &ByValue) -> Result<(), InvalidSpelling> {
    let signature = Signature::attributed();
    let id = signature.attribute(attribute).filter(|id| TEXTS.contains(id));
    let values = id.map_or(&[][..], |id| &signature.attributes()[id.at()].values()[1..]);
    if let Some(value) = texts.keys().find(|value| !values.contains(*value)) {
        let (node, attribute, value) = (node.to_owned(), attribute.to_owned(), value.clone());
        return Err(InvalidSpelling::NoValue { node, attribute, value });
    }
    let held: BTreeSet<_> = values.iter().map(|value| composed(texts.get(value).unwrap_or(value))).collect();
    if held.len() == values.len() {
        return Ok(());
    }
    Err(InvalidSpelling::SameText { node: node.to_owned(), attribute: attribute.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelling(json: &str) -> Spelling {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn what_is_not_said_is_written_as_it_is() {
        let spelling = spelling(r#"{"names":{"r0":"web-1"},"texts":{"r0":{"label":{"a":""}}}}"#);
        assert_eq!(spelling.text("r0", "label", "a"), "");
        assert_eq!(spelling.value("r0", "label", ""), "a");
        for (node, attribute, value) in [("r0", "label", "b"), ("r0", "pin", "a"), ("r1", "label", "a")] {
            assert_eq!(spelling.text(node, attribute, value), value);
            assert_eq!(spelling.value(node, attribute, value), value);
        }
        let address = |node: &str| spelling.encoding(false).address(&node.into()).to_string();
        assert_eq!((address("r0"), address("r1")), ("mock_node.web-1".into(), "mock_node.r1".into()));
        assert_eq!(serde_json::to_string(&Spelling::default()).unwrap(), "{}");
    }

    #[test]
    fn a_text_that_engines_compose_is_known_by_what_they_make_of_it() {
        let spelling = spelling("{\"texts\":{\"r0\":{\"pin\":{\"b\":\"e\u{301}\"}}}}");
        assert_eq!(spelling.value("r0", "pin", "\u{e9}"), "b");
        assert_eq!(spelling.encoding(false).written("\u{e9}"), "e\u{301}");
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let error =
            |json: &str| spelling(json).check(["r0", "r1", "web"].into_iter()).unwrap_err().to_string();
        assert!(error(r#"{"names":{"r0":"1a"}}"#).starts_with("r0 cannot be called \"1a\""));
        assert!(error(r#"{"names":{"r0":""}}"#).starts_with("r0 cannot be called"));
        assert_eq!(error(r#"{"names":{"r0":"x","r1":"x"}}"#), "two resources are called \"x\"");
        assert_eq!(error(r#"{"names":{"r0":"web"}}"#), "two resources are called \"web\"");
        let no_value = "is not a value that can have one";
        for json in [
            r#"{"texts":{"r0":{"label":{"none":"x"}}}}"#,
            r#"{"texts":{"r0":{"pin":{"c":"x"}}}}"#,
            r#"{"texts":{"r0":{"ignore_changes":{"true":"x"}}}}"#,
        ] {
            assert!(error(json).ends_with(no_value), "{json}");
        }
        let same = "two values of label stand for the same text in r0";
        assert_eq!(error(r#"{"texts":{"r0":{"label":{"a":"b"}}}}"#), same);
        assert_eq!(error("{\"texts\":{\"r0\":{\"label\":{\"a\":\"\u{e9}\",\"b\":\"e\u{301}\"}}}}"), same);
        spelling(r#"{"texts":{"r0":{"label":{"a":"b","b":"a"}}}}"#).check(["r0"].into_iter()).unwrap();
    }

    #[test]
    fn parts_can_be_kept_and_resources_renamed() {
        let whole =
            spelling(r#"{"names":{"r0":"x"},"texts":{"r0":{"label":{"a":""}},"r1":{"pin":{"b":" "}}}}"#);
        assert_eq!(whole.all().len(), 3);
        let kept = whole.only(|it| it.node() == "r1").renamed(|_| "z".to_owned());
        assert_eq!(serde_json::to_string(&kept).unwrap(), r#"{"texts":{"z":{"pin":{"b":" "}}}}"#);
    }
}
