//! Where resources stand: modules, type and name, and for one of several instances its key.

use std::fmt::{self, Display, Write as _};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The type of the resources that campaigns deploy.
pub const NODE_TYPE: &str = "mock_node";

/// The address of a resource block: `mock_node.a`, `module.net.mock_node.a`.
///
/// It is kept as text, which programs of 100,000 resources can afford to share and to compare.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Address(Arc<str>);

impl Address {
    /// A resource in the root module.
    pub fn new(type_name: &str, name: &str) -> Self {
        Self(format!("{type_name}.{name}").into())
    }

    /// The resource that stands for a node of a graph. What a name cannot hold is written by its number.
    pub fn of_node(key: &str) -> Self {
        let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if plain && !key.is_empty() && !key.starts_with(|first: char| first.is_ascii_digit()) {
            return Self::new(NODE_TYPE, key);
        }
        let mut name = String::new();
        for (place, character) in key.chars().enumerate() {
            match character {
                'a'..='z' | 'A'..='Z' => name.push(character),
                '0'..='9' if place > 0 => name.push(character),
                _ => {
                    let _ = write!(name, "_{:x}_", u32::from(character));
                }
            }
        }
        Self::new(NODE_TYPE, &name)
    }

    /// The same block in a module that is called from the root module.
    pub fn within(&self, module: &str) -> Self {
        Self(format!("module.{module}.{}", self.0).into())
    }

    /// The calls of modules that lead to it, from the root module down.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        let mut parts = self.0.split('.');
        std::iter::from_fn(move || if parts.next()? == "module" { parts.next() } else { None })
    }

    /// The resource's type.
    pub fn type_name(&self) -> &str {
        self.0.rsplit('.').nth(1).unwrap_or_default()
    }

    /// The resource's name.
    pub fn name(&self) -> &str {
        self.0.rsplit('.').next().unwrap_or_default()
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no address: expected TYPE.NAME, or module.NAME in front of that")]
pub struct NoAddress(String);

impl FromStr for Address {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        let wrong = || NoAddress(text.to_owned());
        let parts: Vec<&str> = text.split('.').collect();
        let is_name = |part: &&str| {
            let legal = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
            !part.is_empty()
                && part.chars().all(legal)
                && !part.starts_with(|first: char| first.is_ascii_digit())
        };
        let (modules, resource) = parts.split_at(parts.len().saturating_sub(2));
        let in_modules = modules.chunks(2).all(|call| call.len() == 2 && call[0] == "module");
        if resource.len() == 2 && in_modules && parts.iter().all(is_name) {
            Ok(Self(text.into()))
        } else {
            Err(wrong())
        }
    }
}

impl TryFrom<String> for Address {
    type Error = NoAddress;

    fn try_from(text: String) -> Result<Self, NoAddress> {
        text.parse()
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.0.as_ref().to_owned()
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What tells the instances of a block apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstanceKey {
    /// Counted.
    Number(u64),
    /// By a key of its own.
    Text(Arc<str>),
}

/// The address of an instance: `mock_node.a`, `mock_node.a[0]`, `mock_node.a["x"]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceAddress {
    /// The block.
    pub block: Address,
    /// Which of its instances; none if there is only one.
    pub key: Option<InstanceKey>,
}

impl From<&Address> for InstanceAddress {
    fn from(block: &Address) -> Self {
        Self { block: block.clone(), key: None }
    }
}

impl Display for InstanceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            None => self.block.fmt(f),
            Some(InstanceKey::Number(number)) => write!(f, "{}[{number}]", self.block),
            Some(InstanceKey::Text(key)) => write!(f, "{}[{key:?}]", self.block),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_tells_its_modules_its_type_and_its_name() {
        let address: Address = "module.net.module.inner.mock_node.a".parse().unwrap();
        assert_eq!(address.modules().collect::<Vec<_>>(), ["net", "inner"]);
        assert_eq!((address.type_name(), address.name()), ("mock_node", "a"));
        let plain = Address::new("mock_node", "a");
        assert_eq!(plain.within("inner").within("net"), address);
        assert_eq!(plain.modules().count(), 0);
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in
            ["", "a", "mock_node.", ".a", "module.mock_node.a", "mock_node.a.b", "mock_node.1a", "x.a b"]
        {
            assert!(text.parse::<Address>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn instances_are_written_as_engines_write_them() {
        let of = |key| InstanceAddress { block: Address::of_node("a"), key }.to_string();
        assert_eq!(of(None), "mock_node.a");
        assert_eq!(of(Some(InstanceKey::Number(3))), "mock_node.a[3]");
        assert_eq!(of(Some(InstanceKey::Text("x\"y".into()))), "mock_node.a[\"x\\\"y\"]");
    }

    #[test]
    fn different_nodes_have_different_addresses_and_all_are_legal() {
        let keys = ["a_5f_", "a_", "a__", "a", "A", "1", "_31_", "", "_", "a-b", "a b", "ab", "ü"];
        let addresses: std::collections::BTreeSet<Address> = keys.map(Address::of_node).into();
        assert_eq!(addresses.len(), keys.len(), "{addresses:?}");
        for address in addresses.iter().filter(|address| !address.name().is_empty()) {
            assert_eq!(&address.as_str().parse::<Address>().unwrap(), address);
        }
    }
}
