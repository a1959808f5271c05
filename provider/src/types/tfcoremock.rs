//! The types of tfcoremock, the engines' own mock provider: its two types, and those of its `dynamic_resources.json`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value as Json;

use super::document::{Defect, Document};
use super::file::{DeclaredType, TypesFile};
use super::is_type_name;
use crate::resource::node;
use crate::schema::{Attribute, Block, NestedBlock, Nesting, OnChange, Origin, Rule, Schema, Shape};
use crate::value::{Number, Type, Value, json};

/// The file with types of the user's own, if the environment names no other.
pub const DEFAULT_FILE: &str = "dynamic_resources.json";
/// Names that file.
pub const FILE_VARIABLE: &str = "TFCOREMOCK_DYNAMIC_RESOURCES_FILE";
/// Where data sources are read from, if the provider block names no other folder.
pub const DATA_DIRECTORY: &str = "terraform.data";
/// How deep the complex resource nests.
const DEPTH: u32 = 3;

/// The provider block.
pub fn provider_block() -> Schema {
    let list = || Type::List(Box::new(Type::String));
    let attributes = [
        (
            "data_directory",
            Type::String,
            "The folder from which data sources are read; terraform.data by default.",
        ),
        ("resource_directory", Type::String, "Has no effect: objects are in the ledger."),
        ("use_only_state", Type::Bool, "Has no effect: objects are in the ledger."),
        ("fail_on_create", list(), "Ids of objects that cannot be created."),
        ("fail_on_update", list(), "Ids of objects that cannot be updated."),
        ("fail_on_read", list(), "Ids of objects that cannot be read."),
        ("fail_on_delete", list(), "Ids of objects that cannot be deleted."),
    ];
    let attributes = attributes.map(|(name, ty, description)| Attribute {
        description: description.to_owned(),
        ..Attribute::new(name, Shape::Plain(ty), Origin::Optional)
    });
    let description = "tfcoremock, as equiform stands in for it: with a ledger.".to_owned();
    Schema { version: 0, block: Block { attributes: attributes.into(), description, ..Block::default() } }
}

/// All types: the two that are always there, and those of the file.
pub fn types(file: Option<&Path>) -> Result<TypesFile, Defect> {
    let mut resources = BTreeMap::from([
        ("tfcoremock_simple_resource".to_owned(), Block { attributes: simple(), ..Block::default() }),
        ("tfcoremock_complex_resource".to_owned(), complex(0)),
    ]);
    if let Some(path) = file {
        let document = Document::read(path)?;
        let declared: BTreeMap<String, JsonBlock> = document.parse()?;
        for (name, block) in declared {
            if !is_type_name(&name) {
                return Err(document.defect(None, "", format!("{name:?} is not a name of a type.")));
            }
            if block.attributes.contains_key(node::ID) {
                let message = "Every type has an `id` of its own; name this attribute otherwise.";
                return Err(document.defect(None, format!("{name}.attributes.id"), message));
            }
            let block = block.read(&name).map_err(|(path, message)| document.defect(None, path, message))?;
            resources.insert(name, block);
        }
    }
    let declared = |schema| DeclaredType {
        schema,
        id_prefix: None,
        answers: Vec::new(),
        defers_on: None,
        renew_after_ms: None,
    };
    let data = resources.iter().map(|(name, block)| (name.clone(), declared(data_source(block)))).collect();
    let resources = resources.into_iter().map(|(name, mut block)| {
        block.attributes.push(Attribute {
            rule: Rule::Id,
            on_change: OnChange::Replace,
            ..Attribute::new(node::ID, Shape::Plain(Type::String), Origin::OptionalComputed)
        });
        (name, declared(Schema { version: 0, block }))
    });
    Ok(TypesFile { resources: resources.collect(), data, ephemeral: BTreeMap::new(), lists: Vec::new() })
}

fn simple() -> Vec<Attribute> {
    let types = [
        ("bool", Type::Bool),
        ("float", Type::Number),
        ("integer", Type::Number),
        ("number", Type::Number),
        ("string", Type::String),
    ];
    types.map(|(name, ty)| Attribute::new(name, Shape::Plain(ty), Origin::Optional)).into()
}

fn complex(depth: u32) -> Block {
    let mut block = Block { attributes: complex_attributes(depth), ..Block::default() };
    if depth < DEPTH {
        for (name, nesting) in [("list_block", Nesting::List), ("set_block", Nesting::Set)] {
            block.blocks.push(NestedBlock {
                name: name.to_owned(),
                nesting,
                block: complex(depth + 1),
                min_items: 0,
                max_items: 0,
                on_change: OnChange::Update,
            });
        }
    }
    block
}

fn complex_attributes(depth: u32) -> Vec<Attribute> {
    let mut attributes = simple();
    if depth < DEPTH {
        let nested = [
            ("list", Nesting::List),
            ("map", Nesting::Map),
            ("object", Nesting::Single),
            ("set", Nesting::Set),
        ];
        attributes.extend(nested.map(|(name, nesting)| {
            Attribute::new(name, Shape::Nested(nesting, complex_attributes(depth + 1)), Origin::Optional)
        }));
    }
    attributes
}

/// A resource as a data source: all is read, by the id.
fn data_source(block: &Block) -> Schema {
    let mut block = block.clone();
    computed(&mut block);
    block.attributes.push(Attribute::new(node::ID, Shape::Plain(Type::String), Origin::Required));
    Schema { version: 0, block }
}

fn computed(block: &mut Block) {
    block.attributes.iter_mut().for_each(computed_attribute);
    block.blocks.iter_mut().for_each(|nested| computed(&mut nested.block));
}

fn computed_attribute(attribute: &mut Attribute) {
    attribute.origin = Origin::Computed;
    if let Shape::Nested(_, inner) = &mut attribute.shape {
        inner.iter_mut().for_each(computed_attribute);
    }
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct JsonBlock {
    attributes: BTreeMap<String, JsonAttribute>,
    blocks: BTreeMap<String, JsonNestedBlock>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct JsonNestedBlock {
    attributes: BTreeMap<String, JsonAttribute>,
    blocks: BTreeMap<String, JsonNestedBlock>,
    mode: Mode,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    #[serde(alias = "")]
    List,
    Set,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonAttribute {
    r#type: Kind,
    #[serde(default)]
    optional: bool,
    #[serde(default)]
    required: bool,
    #[serde(default)]
    computed: bool,
    #[serde(default)]
    sensitive: bool,
    #[serde(default)]
    replace: bool,
    #[serde(default)]
    skip_nested_metadata: bool,
    #[serde(default)]
    value: Option<JsonValue>,
    #[serde(default)]
    list: Option<Box<JsonAttribute>>,
    #[serde(default)]
    map: Option<Box<JsonAttribute>>,
    #[serde(default)]
    set: Option<Box<JsonAttribute>>,
    #[serde(default)]
    object: Option<BTreeMap<String, JsonAttribute>>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Boolean,
    Float,
    Integer,
    Number,
    String,
    List,
    Map,
    Set,
    Object,
}

/// A value, as that provider writes it: by its type.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct JsonValue {
    boolean: Option<bool>,
    number: Option<Json>,
    string: Option<String>,
    list: Option<Vec<JsonValue>>,
    map: Option<BTreeMap<String, JsonValue>>,
    object: Option<BTreeMap<String, JsonValue>>,
    set: Option<Vec<JsonValue>>,
}

/// An object in a file, as that provider writes it.
#[derive(Deserialize)]
struct JsonObject {
    values: BTreeMap<String, JsonValue>,
}

/// A defect: where, and what.
type At = (String, String);

impl JsonBlock {
    fn read(self, path: &str) -> Result<Block, At> {
        let blocks = read_blocks(self.blocks, path)?;
        Ok(Block { attributes: read_attributes(self.attributes, path)?, blocks, ..Block::default() })
    }
}

fn read_blocks(blocks: BTreeMap<String, JsonNestedBlock>, path: &str) -> Result<Vec<NestedBlock>, At> {
    let each = blocks.into_iter().map(|(name, nested)| {
        let path = format!("{path}.blocks.{name}");
        let block = Block {
            attributes: read_attributes(nested.attributes, &path)?,
            blocks: read_blocks(nested.blocks, &path)?,
            ..Block::default()
        };
        let nesting = match nested.mode {
            Mode::List => Nesting::List,
            Mode::Set => Nesting::Set,
        };
        Ok(NestedBlock { name, nesting, block, min_items: 0, max_items: 0, on_change: OnChange::Update })
    });
    each.collect()
}

fn read_attributes(attributes: BTreeMap<String, JsonAttribute>, path: &str) -> Result<Vec<Attribute>, At> {
    let each = attributes.into_iter().map(|(name, attribute)| {
        let path = format!("{path}.attributes.{name}");
        attribute.read(name, &path)
    });
    each.collect()
}

impl JsonAttribute {
    fn read(mut self, name: String, path: &str) -> Result<Attribute, At> {
        let origin = match (self.required, self.optional, self.computed) {
            (true, false, false) => Origin::Required,
            (false, true, true) => Origin::OptionalComputed,
            (false, true, false) => Origin::Optional,
            (false, false, true) => Origin::Computed,
            _ => {
                let message = "It is `required`, `optional`, `computed`, or both of the last two.";
                return Err((path.to_owned(), message.to_owned()));
            }
        };
        if self.value.is_some() && !self.computed {
            return Err((path.to_owned(), "It has a `value` without being `computed`.".to_owned()));
        }
        let value = self.value.take();
        let (replace, sensitive) = (self.replace, self.sensitive);
        let shape = self.shape(path)?;
        let mut attribute = Attribute {
            on_change: if replace { OnChange::Replace } else { OnChange::Update },
            sensitive,
            ..Attribute::new(name, shape, origin)
        };
        let computed = value.as_ref().map(|value| typed(value, &attribute.ty()));
        attribute.rule = Rule::Value(match computed {
            Some(Some(value)) => value,
            Some(None) => return Err((path.to_owned(), "Its `value` is not of its type.".to_owned())),
            None => Value::Null,
        });
        Ok(attribute)
    }

    /// Objects have attributes of their own, unless it is said that they are plain values.
    fn shape(self, path: &str) -> Result<Shape, At> {
        let nesting = match self.r#type {
            Kind::List => Nesting::List,
            Kind::Map => Nesting::Map,
            Kind::Set => Nesting::Set,
            Kind::Object => Nesting::Single,
            _ => return Ok(Shape::Plain(self.ty(path)?)),
        };
        if self.skip_nested_metadata {
            return Ok(Shape::Plain(self.ty(path)?));
        }
        let is_object = match self.r#type {
            Kind::Object => true,
            _ => self.element().is_some_and(|element| element.r#type == Kind::Object),
        };
        if !is_object {
            return Ok(Shape::Plain(self.ty(path)?));
        }
        let attributes = match self.r#type {
            Kind::Object => self.object,
            Kind::List => self.list.and_then(|element| element.object),
            Kind::Map => self.map.and_then(|element| element.object),
            _ => self.set.and_then(|element| element.object),
        };
        Ok(Shape::Nested(nesting, read_attributes(attributes.unwrap_or_default(), path)?))
    }

    fn element(&self) -> Option<&JsonAttribute> {
        match self.r#type {
            Kind::List => self.list.as_deref(),
            Kind::Map => self.map.as_deref(),
            Kind::Set => self.set.as_deref(),
            _ => None,
        }
    }

    fn ty(&self, path: &str) -> Result<Type, At> {
        let element = || {
            let missing = || (path.to_owned(), "It does not say what its elements are.".to_owned());
            self.element().ok_or_else(missing)?.ty(path).map(Box::new)
        };
        Ok(match self.r#type {
            Kind::Boolean => Type::Bool,
            Kind::Float | Kind::Integer | Kind::Number => Type::Number,
            Kind::String => Type::String,
            Kind::List => Type::List(element()?),
            Kind::Map => Type::Map(element()?),
            Kind::Set => Type::Set(element()?),
            Kind::Object => {
                let attributes = self.object.iter().flatten();
                let types: Result<_, At> =
                    attributes.map(|(name, attribute)| Ok((name.clone(), attribute.ty(path)?))).collect();
                Type::Object(types?)
            }
        })
    }
}

/// A value of a type; `None` if it is of another one.
fn typed(value: &JsonValue, ty: &Type) -> Option<Value> {
    let all = |values: &[JsonValue], ty: &Type| -> Option<Vec<Value>> {
        values.iter().map(|value| typed(value, ty)).collect()
    };
    Some(match (ty, value) {
        (Type::Bool, JsonValue { boolean: Some(bool), .. }) => Value::Bool(*bool),
        (Type::String, JsonValue { string: Some(text), .. }) => Value::String(text.clone()),
        (Type::Number, JsonValue { number: Some(number), .. }) => {
            let text = number.as_str().map_or_else(|| number.to_string(), str::to_owned);
            Value::Number(Number::parse(&text)?)
        }
        (Type::List(ty), JsonValue { list: Some(elements), .. }) => Value::List(all(elements, ty)?),
        (Type::Set(ty), JsonValue { set: Some(elements), .. }) => Value::set(all(elements, ty)?),
        (Type::Map(ty), JsonValue { map: Some(elements), .. }) => {
            let each = elements.iter().map(|(key, value)| Some((key.clone(), typed(value, ty)?)));
            Value::Map(each.collect::<Option<_>>()?)
        }
        (Type::Object(types), JsonValue { object: Some(attributes), .. }) => {
            let each = types.iter().map(|(name, ty)| {
                let value = attributes.get(name).map_or(Some(Value::Null), |value| typed(value, ty));
                Some((name.clone(), value?))
            });
            Value::Object(each.collect::<Option<_>>()?)
        }
        (_, value) if value.is_null() => Value::Null,
        _ => return None,
    })
}

impl JsonValue {
    fn is_null(&self) -> bool {
        self.boolean.is_none()
            && self.number.is_none()
            && self.string.is_none()
            && self.list.is_none()
            && self.map.is_none()
            && self.object.is_none()
            && self.set.is_none()
    }
}

/// The object that a data source reads from its file.
pub fn read_data(path: &Path, ty: &Type) -> Result<Value, Defect> {
    let document = Document::read(path)?;
    let object: JsonObject = document.parse()?;
    let object = JsonValue { object: Some(object.values), ..JsonValue::default() };
    let missing = || document.defect(None, "values", "They are not of the attributes' types.");
    let value = typed(&object, ty).ok_or_else(missing)?;
    // Reading it once more puts it into the form that engines expect.
    json::decode(&json::encode(&value), ty)
        .map_err(|error| document.defect(None, "values", error.to_string()))
}
