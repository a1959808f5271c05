//! The schema of a provider as engines print it (`providers schema -json`), read type by type: the largest has
//! thousands of types, and a program uses twenty.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::value::RawValue;

use super::document::{Defect, Document};
use super::is_type_name;
use crate::resource::{Identity, IdentityAttribute};
use crate::schema::{Attribute, Block, NestedBlock, Nesting, Origin, Schema, Shape};
use crate::value::Type;

/// The families of types that a provider has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// Managed resources.
    Resource,
    /// Data sources.
    Data,
    /// Ephemeral resources.
    Ephemeral,
    /// What can be listed.
    List,
    /// Actions.
    Action,
    /// Functions.
    Function,
    /// Identities of managed resources.
    Identity,
    /// Where states are stored.
    StateStore,
}

impl Family {
    const ALL: [Self; 8] = [
        Self::Resource,
        Self::Data,
        Self::Ephemeral,
        Self::List,
        Self::Action,
        Self::Function,
        Self::Identity,
        Self::StateStore,
    ];

    /// The family's name in the file.
    fn key(self) -> &'static str {
        match self {
            Self::Resource => "resource_schemas",
            Self::Data => "data_source_schemas",
            Self::Ephemeral => "ephemeral_resource_schemas",
            Self::List => "list_resource_schemas",
            Self::Action => "action_schemas",
            Self::Function => "functions",
            Self::Identity => "resource_identity_schemas",
            Self::StateStore => "state_store_schemas",
        }
    }
}

/// A provider's schema, of which it is known where each type stands.
#[derive(Debug)]
pub struct SchemaFile {
    document: Document,
    address: String,
    provider: Option<Range<usize>>,
    types: HashMap<Family, BTreeMap<String, Range<usize>>>,
}

impl SchemaFile {
    /// Finds the types of one provider. `address` may be of any of the default hosts, which have the same providers.
    pub fn new(document: Document, address: &str) -> Result<Self, Defect> {
        let file: File<'_> = read(&document)?;
        match file.format_version.as_deref() {
            Some(version) if version.starts_with("1.") || matches!(version, "0.1" | "0.2") => {}
            Some(version) => {
                let message = format!(
                    "Its format is {version}, and this program reads 0.1, 0.2 and 1.0, as Terraform 0.13 and later \
                     and OpenTofu write them."
                );
                return Err(document.defect(Some(1), "format_version", message));
            }
            None => {
                let message = "It has no format_version, so it is not what `providers schema -json` prints.";
                return Err(document.defect(Some(1), "", message));
            }
        }
        let found = file.provider_schemas.iter().find(|(name, _)| name.as_ref() == address);
        let found = found.or_else(|| {
            file.provider_schemas.iter().find(|(name, _)| without_host(name) == without_host(address))
        });
        let Some((name, raw)) = found else {
            let there: Vec<_> = file.provider_schemas.keys().map(AsRef::as_ref).collect();
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            let message = format!("It has no schema of {address}. Those that it has: {there}.");
            return Err(document.defect(None, "provider_schemas", message));
        };
        let path = format!("provider_schemas.{name}");
        let start = offset(&document.text, raw.get());
        let parts: BTreeMap<Cow<'_, str>, &RawValue> = borrowed(&document, raw.get(), &path)?;
        let mut types = HashMap::new();
        for family in Family::ALL {
            let Some(raw) = parts.get(family.key()) else { continue };
            let path = format!("{path}.{}", family.key());
            let named: BTreeMap<Cow<'_, str>, &RawValue> = borrowed(&document, raw.get(), &path)?;
            let mut places = BTreeMap::new();
            for (name, raw) in named {
                let place = range(&document.text, raw.get());
                if !is_type_name(&name) {
                    let line = Some(document.line_of(place.start));
                    return Err(document.defect(line, path, format!("{name:?} is not a name of a type.")));
                }
                places.insert(name.into_owned(), place);
            }
            types.insert(family, places);
        }
        let provider = parts.get("provider").map(|raw| range(&document.text, raw.get()));
        debug_assert!(start < document.text.len());
        drop(parts);
        Ok(Self { address: address.to_owned(), provider, types, document })
    }

    /// The names of a family's types, sorted.
    pub fn names(&self, family: Family) -> impl Iterator<Item = &str> {
        self.types.get(&family).into_iter().flat_map(|types| types.keys().map(String::as_str))
    }

    /// The schema of the provider block.
    pub fn provider(&self) -> Result<Schema, Defect> {
        match &self.provider {
            Some(range) => self.schema_at(range.clone(), "provider"),
            None => Ok(Schema::default()),
        }
    }

    /// The schema of a type; `None` if there is no such type.
    pub fn schema(&self, family: Family, name: &str) -> Result<Option<Schema>, Defect> {
        let range = self.types.get(&family).and_then(|types| types.get(name));
        range.map(|range| self.schema_at(range.clone(), &format!("{}.{name}", family.key()))).transpose()
    }

    /// The identity of a resource type.
    pub fn identity(&self, name: &str) -> Result<Option<Identity>, Defect> {
        let identity: Option<JsonIdentity> = self.part(Family::Identity, name)?;
        Ok(identity.map(Identity::from))
    }

    /// A part of the file that is no schema, such as a function.
    pub fn part<T: serde::de::DeserializeOwned>(
        &self,
        family: Family,
        name: &str,
    ) -> Result<Option<T>, Defect> {
        let range = self.types.get(&family).and_then(|types| types.get(name));
        range
            .map(|range| {
                let path = format!("provider_schemas.{}.{}.{name}", self.address, family.key());
                self.document.parse_part(range.clone(), &path)
            })
            .transpose()
    }

    fn schema_at(&self, range: Range<usize>, path: &str) -> Result<Schema, Defect> {
        let path = format!("provider_schemas.{}.{path}", self.address);
        let schema: JsonSchema = self.document.parse_part(range, &path)?;
        Ok(schema.into())
    }
}

/// An address without its host: the same providers stand at each of the default hosts.
pub fn without_host(address: &str) -> &str {
    match address.match_indices('/').count() {
        2 => address.split_once('/').map_or(address, |(_, rest)| rest),
        _ => address,
    }
}

fn read(document: &Document) -> Result<File<'_>, Defect> {
    borrowed(document, &document.text, "")
}

/// A part of the document that borrows from it.
fn borrowed<'a, T: Deserialize<'a>>(document: &'a Document, text: &'a str, path: &str) -> Result<T, Defect> {
    serde_json::from_str(text).map_err(|error| {
        let start = offset(&document.text, text);
        let line = document.line_of(start) + error.line().saturating_sub(1);
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        document.defect(Some(line), path, format!("It is not JSON of the expected form: {message}."))
    })
}

/// Where in a text a part of it begins.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

fn range(text: &str, part: &str) -> Range<usize> {
    let start = offset(text, part);
    start..start + part.len()
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    format_version: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    provider_schemas: BTreeMap<Cow<'a, str>, &'a RawValue>,
}

#[derive(Deserialize)]
struct JsonSchema {
    #[serde(default)]
    version: i64,
    #[serde(default)]
    block: JsonBlock,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct JsonBlock {
    attributes: BTreeMap<String, JsonAttribute>,
    block_types: BTreeMap<String, JsonNestedBlock>,
    description: String,
    deprecated: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct JsonNestedBlock {
    nesting_mode: JsonNesting,
    block: JsonBlock,
    min_items: i64,
    max_items: i64,
}

/// How objects stand in an attribute, or blocks in a block, by its name.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum JsonNesting {
    #[default]
    Single,
    Group,
    List,
    Set,
    Map,
}

#[derive(Deserialize)]
#[serde(try_from = "RawAttribute")]
struct JsonAttribute(Attribute);

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawAttribute {
    r#type: Option<CtyType>,
    nested_type: Option<JsonNestedType>,
    description: String,
    required: bool,
    optional: bool,
    computed: bool,
    sensitive: bool,
    write_only: bool,
    deprecated: bool,
}

#[derive(Deserialize)]
struct JsonNestedType {
    #[serde(default)]
    attributes: BTreeMap<String, JsonAttribute>,
    #[serde(default)]
    nesting_mode: JsonNesting,
}

/// A type in its JSON form.
#[derive(Debug, Clone)]
pub struct CtyType(pub Type);

impl<'de> Deserialize<'de> for CtyType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = serde_json::Value::deserialize(deserializer)?;
        Type::from_json(&json).map(Self).ok_or_else(|| {
            D::Error::custom(
                "this is not a type, such as \"string\" or [\"list\",\"string\"], or it nests too deep",
            )
        })
    }
}

impl TryFrom<RawAttribute> for JsonAttribute {
    type Error = String;

    fn try_from(raw: RawAttribute) -> Result<Self, String> {
        let shape = match (raw.r#type, raw.nested_type) {
            (Some(CtyType(ty)), None) => Shape::Plain(ty),
            (None, Some(nested)) => {
                Shape::Nested(nested.nesting_mode.into(), named_attributes(nested.attributes))
            }
            _ => return Err("an attribute has either a `type` or a `nested_type`".to_owned()),
        };
        let origin = match (raw.required, raw.optional, raw.computed) {
            (true, _, _) => Origin::Required,
            (_, true, true) => Origin::OptionalComputed,
            (_, true, false) => Origin::Optional,
            (_, false, true) => Origin::Computed,
            (false, false, false) => {
                return Err("an attribute is `required`, `optional` or `computed`".to_owned());
            }
        };
        Ok(Self(Attribute {
            sensitive: raw.sensitive,
            write_only: raw.write_only,
            deprecated: raw.deprecated,
            description: raw.description,
            ..Attribute::new("", shape, origin)
        }))
    }
}

fn named_attributes(attributes: BTreeMap<String, JsonAttribute>) -> Vec<Attribute> {
    let named =
        attributes.into_iter().map(|(name, JsonAttribute(attribute))| Attribute { name, ..attribute });
    named.collect()
}

impl From<JsonNesting> for Nesting {
    fn from(nesting: JsonNesting) -> Self {
        match nesting {
            JsonNesting::Single => Self::Single,
            JsonNesting::Group => Self::Group,
            JsonNesting::List => Self::List,
            JsonNesting::Set => Self::Set,
            JsonNesting::Map => Self::Map,
        }
    }
}

impl From<JsonBlock> for Block {
    fn from(block: JsonBlock) -> Self {
        let nested = block.block_types.into_iter().map(|(name, nested)| NestedBlock {
            name,
            nesting: nested.nesting_mode.into(),
            block: nested.block.into(),
            min_items: nested.min_items,
            max_items: nested.max_items,
            on_change: crate::schema::OnChange::Update,
        });
        Self {
            blocks: nested.collect(),
            attributes: named_attributes(block.attributes),
            deprecated: block.deprecated,
            description: block.description,
        }
    }
}

impl From<JsonSchema> for Schema {
    fn from(schema: JsonSchema) -> Self {
        Self { version: schema.version, block: schema.block.into() }
    }
}

#[derive(Deserialize)]
struct JsonIdentity {
    #[serde(default)]
    version: i64,
    #[serde(default)]
    attributes: BTreeMap<String, JsonIdentityAttribute>,
}

#[derive(Deserialize)]
struct JsonIdentityAttribute {
    r#type: CtyType,
    #[serde(default)]
    required_for_import: bool,
    #[serde(default)]
    description: String,
}

impl From<JsonIdentity> for Identity {
    fn from(identity: JsonIdentity) -> Self {
        let attributes = identity.attributes.into_iter().map(|(name, attribute)| IdentityAttribute {
            name,
            ty: attribute.r#type.0,
            required_for_import: attribute.required_for_import,
            description: attribute.description,
        });
        Self { version: identity.version, attributes: attributes.collect() }
    }
}
