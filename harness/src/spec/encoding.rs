//! How a meaning is written: the address of each node, and what else the files hold.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use super::address::Address;
use super::meaning::NodeKey;
use super::text::composed;

/// The type of the resources that campaigns deploy.
pub const NODE_TYPE: &str = "mock_node";

/// The same, shared: each address holds it.
static SHARED_NODE_TYPE: LazyLock<Arc<str>> = LazyLock::new(|| NODE_TYPE.into());

/// Where each node is written. A node without an entry is a plain block in the root module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Encoding {
    /// The nodes that are written elsewhere than in a plain block of the root module.
    pub placed: BTreeMap<NodeKey, Address>,
    /// Texts that are written in another way than engines hold them, by what engines hold: letters that engines compose
    /// when they read them.
    pub spelled: BTreeMap<Arc<str>, Arc<str>>,
    /// Whether the program reports each resource's id and label by an output of the resource's name.
    pub outputs: bool,
}

impl Encoding {
    /// Every node is a plain block in the root module, and there are no outputs.
    pub const PLAIN: Self = Self { placed: BTreeMap::new(), spelled: BTreeMap::new(), outputs: false };

    /// The address of a node.
    pub fn address(&self, key: &NodeKey) -> Address {
        self.placed.get(key).cloned().unwrap_or_else(|| plain_address(key))
    }

    /// What is written for a text.
    pub fn written<'a>(&'a self, text: &'a str) -> &'a str {
        self.spelled.get(text).map_or(text, |spelled| spelled)
    }
}

/// The address of a block with a name, in the root module.
pub fn named_address(name: &str) -> Address {
    Address::managed(SHARED_NODE_TYPE.clone(), name)
}

/// Whether a text can be the name of a block: composed letters, digits, `_` and `-`, a letter or `_` first.
pub fn is_name(text: &str) -> bool {
    let begins = |first: char| first.is_alphabetic() || first == '_';
    let goes_on = |it: char| it.is_alphabetic() || it.is_ascii_digit() || matches!(it, '_' | '-');
    text.starts_with(begins) && text.chars().all(goes_on) && *composed(text) == *text
}

/// The address of a node that is a plain block in the root module. A character that a name cannot hold is written as
/// its number.
pub fn plain_address(key: &NodeKey) -> Address {
    let plain = !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !key.starts_with(|first: char| first.is_ascii_digit());
    let name = if plain { key.clone() } else { escaped(key).into() };
    Address::managed(SHARED_NODE_TYPE.clone(), name)
}

fn escaped(key: &str) -> String {
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
    name
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn different_nodes_have_different_addresses_and_all_are_legal() {
        let keys =
            ["a_5f_", "a_", "a__", "a", "A", "1", "_31_", "", "_", "a-b", "a b", "ab", "ü", "vpc/main"];
        let addresses: BTreeSet<Address> = keys.map(|key| plain_address(&key.into())).into();
        assert_eq!(addresses.len(), keys.len(), "{addresses:?}");
        for address in addresses.iter().filter(|address| !address.name.is_empty()) {
            assert_eq!(&address.to_string().parse::<Address>().unwrap(), address);
        }
    }

    #[test]
    fn a_node_is_where_its_encoding_places_it() {
        let (a, b): (NodeKey, NodeKey) = ("a".into(), "b".into());
        let placed: Address = r#"module.net["x"].mock_node.a[0]"#.parse().unwrap();
        let encoding = Encoding { placed: [(a.clone(), placed.clone())].into(), ..Encoding::PLAIN };
        assert_eq!(encoding.address(&a), placed);
        assert_eq!(encoding.address(&b).to_string(), "mock_node.b");
    }
}
