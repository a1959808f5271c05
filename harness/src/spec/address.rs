//! Where a resource stands: the calls of modules that lead to it, its mode, its type and name, and the key of one of
//! several instances. Addresses are parsed and printed as engines do it.

use std::fmt::{self, Display, Write as _};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The address of a resource or of one of its instances: `mock_node.a`, `module.net["x"].data.mock_node.a[0]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Address {
    /// The calls of modules that lead to it, from the root module down.
    pub module: Vec<ModuleCall>,
    /// Whether it is managed or only read.
    pub mode: Mode,
    /// Its type.
    pub type_name: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Which of its instances; none for the only one, or for all of them.
    pub key: Option<InstanceKey>,
}

/// One call of a module, or one of its instances.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleCall {
    /// The call's name.
    pub name: Arc<str>,
    /// Which of its instances.
    pub key: Option<InstanceKey>,
}

/// What the engine does with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// The engine creates, changes and deletes it.
    Managed,
    /// The engine only reads it.
    Data,
}

/// What tells the instances of a block apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstanceKey {
    /// Its number.
    Number(u64),
    /// Its key in a map or a set.
    Text(Arc<str>),
}

impl Address {
    /// A managed resource in the root module.
    pub fn managed(type_name: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        let (type_name, name) = (type_name.into(), name.into());
        Self { module: Vec::new(), mode: Mode::Managed, type_name, name, key: None }
    }

    /// The block that it is an instance of: the same address without any instance key.
    pub fn block(&self) -> Self {
        let module = self.module.iter().map(|call| ModuleCall { name: call.name.clone(), key: None });
        Self { module: module.collect(), key: None, ..self.clone() }
    }

    /// The same resource in a module that is called from the root module.
    pub fn within(mut self, module: impl Into<Arc<str>>, key: Option<InstanceKey>) -> Self {
        self.module.insert(0, ModuleCall { name: module.into(), key });
        self
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for call in &self.module {
            write!(f, "module.{}", call.name)?;
            call.key.iter().try_for_each(|key| key.fmt(f))?;
            f.write_char('.')?;
        }
        if self.mode == Mode::Data {
            f.write_str("data.")?;
        }
        write!(f, "{}.{}", self.type_name, self.name)?;
        self.key.iter().try_for_each(|key| key.fmt(f))
    }
}

impl Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "[{number}]"),
            Self::Text(text) => {
                f.write_str("[\"")?;
                quote(text, f)?;
                f.write_str("\"]")
            }
        }
    }
}

/// Writes a text as engines quote it in an address: what would begin an interpolation is doubled.
fn quote(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '"' | '\\' => write!(f, "\\{character}")?,
            '$' | '%' => {
                f.write_char(character)?;
                if characters.peek() == Some(&'{') {
                    f.write_char(character)?;
                }
            }
            _ if !character.is_control() => f.write_char(character)?,
            _ if u32::from(character) < 0x10000 => write!(f, "\\u{:04x}", u32::from(character))?,
            _ => write!(f, "\\U{:08x}", u32::from(character))?,
        }
    }
    Ok(())
}

/// A text that is not an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an address: expected TYPE.NAME, with module.NAME or data in front, and [0] or [\"KEY\"] for an \
     instance"
)]
pub struct InvalidAddress(String);

impl FromStr for Address {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        Parser { rest: text }.address().ok_or_else(|| InvalidAddress(text.to_owned()))
    }
}

impl TryFrom<String> for Address {
    type Error = InvalidAddress;

    fn try_from(text: String) -> Result<Self, InvalidAddress> {
        text.parse()
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.to_string()
    }
}

/// What is left of a text that is being parsed.
struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn address(mut self) -> Option<Address> {
        let (mut module, mut mode) = (Vec::new(), Mode::Managed);
        loop {
            let word = self.name()?;
            match word {
                "module" if mode == Mode::Managed => {
                    self.skip('.')?;
                    let name = self.name()?.into();
                    let key = self.key()?;
                    self.skip('.')?;
                    module.push(ModuleCall { name, key });
                }
                "data" if mode == Mode::Managed => {
                    self.skip('.')?;
                    mode = Mode::Data;
                }
                type_name => {
                    self.skip('.')?;
                    let name = self.name()?.into();
                    let key = self.key()?;
                    let address = Address { module, mode, type_name: type_name.into(), name, key };
                    return self.rest.is_empty().then_some(address);
                }
            }
        }
    }

    fn skip(&mut self, character: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(character)?;
        Some(())
    }

    /// A name of at least one character.
    fn name(&mut self) -> Option<&'a str> {
        let legal = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
        let end = self.rest.find(|character| !legal(character)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        let is_name =
            !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit() || first == '-');
        is_name.then_some(name)
    }

    /// The key of an instance, if one follows; `None` if what follows is not a key.
    #[expect(clippy::option_option, reason = "an absent key is legal, a malformed one is not")]
    fn key(&mut self) -> Option<Option<InstanceKey>> {
        let Some(rest) = self.rest.strip_prefix('[') else { return Some(None) };
        self.rest = rest;
        let key = if self.rest.starts_with('"') {
            InstanceKey::Text(self.quoted()?.into())
        } else {
            let end = self.rest.find(']')?;
            let (number, rest) = self.rest.split_at(end);
            self.rest = rest;
            let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            InstanceKey::Number(number.parse().ok().filter(|_| digits)?)
        };
        self.skip(']')?;
        Some(Some(key))
    }

    fn quoted(&mut self) -> Option<String> {
        self.skip('"')?;
        let (mut text, mut characters) = (String::new(), self.rest.chars());
        loop {
            match characters.next()? {
                '"' => break,
                '\\' => text.push(match characters.next()? {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    same @ ('"' | '\\') => same,
                    'u' => escaped(&mut characters, 4)?,
                    'U' => escaped(&mut characters, 8)?,
                    _ => return None,
                }),
                sign @ ('$' | '%') => {
                    text.push(sign);
                    let rest = characters.as_str();
                    if rest.starts_with('{') {
                        return None;
                    }
                    if rest.strip_prefix(sign).is_some_and(|rest| rest.starts_with('{')) {
                        characters.next();
                        text.push('{');
                        characters.next();
                    }
                }
                character => text.push(character),
            }
        }
        self.rest = characters.as_str();
        Some(text)
    }
}

/// The character whose number follows, in this number of hexadecimal digits.
fn escaped(characters: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let number = (0..digits).try_fold(0u32, |number, _| {
        let digit = characters.next()?.to_digit(16)?;
        Some(number * 16 + digit)
    })?;
    char::from_u32(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_has_modules_a_mode_a_type_a_name_and_an_instance_key() {
        let address: Address = r#"module.net["a.b"].module.inner[2].data.mock_node.a[0]"#.parse().unwrap();
        let text = |text: &str| Some(InstanceKey::Text(text.into()));
        let call = |name: &str, key| ModuleCall { name: name.into(), key };
        assert_eq!(address.module, [call("net", text("a.b")), call("inner", Some(InstanceKey::Number(2)))]);
        assert_eq!((address.mode, &*address.type_name, &*address.name), (Mode::Data, "mock_node", "a"));
        assert_eq!(address.key, Some(InstanceKey::Number(0)));
        assert_eq!(address.block().to_string(), "module.net.module.inner.data.mock_node.a");
        let plain = Address::managed("mock_node", "a");
        let within = plain.within("inner", Some(InstanceKey::Number(2))).within("net", text("a.b"));
        assert_eq!(within.to_string(), r#"module.net["a.b"].module.inner[2].mock_node.a"#);
    }

    #[test]
    fn what_is_not_an_address_is_refused() {
        for text in [
            "",
            "a",
            "mock_node.",
            ".a",
            "module.mock_node.a",
            "mock_node.a.b",
            "mock_node.1a",
            "x.a b",
            "data.a",
            "data.data.x.a",
            "data.module.m.x.a",
            "x.a[",
            "x.a[]",
            "x.a[+1]",
            "x.a[\"b]",
            "x.a[\"${b}\"]",
            "x.a[0]b",
            "module.m[0]x.a",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn keys_of_instances_are_quoted_as_engines_quote_them() {
        let of = |key: &str| {
            let key = Some(InstanceKey::Text(key.into()));
            Address { key, ..Address::managed("mock_node", "a") }.to_string()
        };
        assert_eq!(of("x\"y"), r#"mock_node.a["x\"y"]"#);
        assert_eq!(of("${a} %{b} $ %"), r#"mock_node.a["$${a} %%{b} $ %"]"#);
        assert_eq!(of("a\nb\t\u{7}"), r#"mock_node.a["a\nb\t\u0007"]"#);
    }

    proptest! {
        #[test]
        fn every_address_that_is_printed_is_parsed_back(
            module in prop::collection::vec(("[a-z][a-z0-9_-]{0,3}", prop::option::of(any::<String>())), 0..3),
            is_data in any::<bool>(),
            key in prop::option::of(prop_oneof![any::<u64>().prop_map(InstanceKey::Number),
                "[${%\"a\\\\.\\[\\]]{0,6}".prop_map(|text| InstanceKey::Text(text.into()))]),
        ) {
            let module = module.into_iter().map(|(name, key)| ModuleCall {
                name: name.into(),
                key: key.map(|key| InstanceKey::Text(key.into())),
            });
            let mode = if is_data { Mode::Data } else { Mode::Managed };
            let plain = Address::managed("mock_node", "a");
            let address = Address { module: module.collect(), mode, key, ..plain };
            prop_assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
        }
    }
}
