//! Types from a file of the user's own: what attributes they have, and what becomes of them. `docs/types.md` describes
//! it, `docs/schema/types.json` is its JSON Schema.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Value as Json;

use super::document::{Defect, Document};
use super::is_type_name;
use super::overrides::Answer;
use super::schema_json::{CtyType, JsonNesting};
use crate::schema::{Attribute, Block, Check, NestedBlock, OnChange, Origin, Piece, Rule, Schema, Shape};
use crate::value::{Type, Value, json};

/// The longest time after which an ephemeral resource is renewed, in milliseconds.
const A_DAY: u64 = 86_400_000;

/// A types file.
#[derive(Debug, Default)]
pub struct TypesFile {
    /// Managed resources.
    pub resources: BTreeMap<String, DeclaredType>,
    /// Data sources.
    pub data: BTreeMap<String, DeclaredType>,
    /// Ephemeral resources.
    pub ephemeral: BTreeMap<String, DeclaredType>,
    /// Names of resource types that can be listed.
    pub lists: Vec<String>,
}

/// A type of the file.
#[derive(Debug)]
pub struct DeclaredType {
    /// Its schema.
    pub schema: Schema,
    /// What its ids begin with.
    pub id_prefix: Option<String>,
    /// What it answers, as a data source.
    pub answers: Vec<Answer>,
    /// The attribute that has to be known before a change is planned; until then it is deferred.
    pub defers_on: Option<String>,
    /// After how many milliseconds it is to be renewed, as an ephemeral resource.
    pub renew_after_ms: Option<u64>,
}

impl TypesFile {
    /// Reads a types file. All types are of the mock, so their names begin with its name.
    pub fn read(document: &Document) -> Result<Self, Defect> {
        let file: JsonFile = document.parse()?;
        if file.equiform_types != 1 {
            let message = format!("Its format is {}, and this program reads format 1.", file.equiform_types);
            return Err(document.defect(None, "equiform_types", message));
        }
        let read = |family: &str, types: BTreeMap<String, JsonType>| {
            let each = types.into_iter().map(|(name, declared)| {
                if !is_type_name(&name) {
                    let message =
                        format!("{name:?} is not a name of a type: letters, digits and `_` make one.");
                    return Err(document.defect(None, family, message));
                }
                let path = format!("{family}.{name}");
                let declared = declared.read().map_err(|message| document.defect(None, path, message))?;
                Ok((name, declared))
            });
            each.collect::<Result<BTreeMap<_, _>, _>>()
        };
        let resources = read("resources", file.resources)?;
        for name in &file.lists {
            if !resources.contains_key(name) && name != crate::resource::node::NAME {
                let message = format!("{name:?} is not one of the file's resources.");
                return Err(document.defect(None, "lists", message));
            }
            let id =
                |declared: &DeclaredType| declared.schema.block.attribute("id").map(|id| id.rule.clone());
            if resources.get(name).is_some_and(|declared| id(declared) != Some(Rule::Id)) {
                let message = format!(
                    "Objects of {name:?} are listed by their ids: it needs an attribute `id` that is computed as `id`."
                );
                return Err(document.defect(None, "lists", message));
            }
        }
        Ok(Self {
            resources,
            data: read("data", file.data)?,
            ephemeral: read("ephemeral", file.ephemeral)?,
            lists: file.lists,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonFile {
    #[serde(default, rename = "$schema")]
    _schema: Option<String>,
    equiform_types: u32,
    #[serde(default)]
    resources: BTreeMap<String, JsonType>,
    #[serde(default)]
    data: BTreeMap<String, JsonType>,
    #[serde(default)]
    ephemeral: BTreeMap<String, JsonType>,
    #[serde(default)]
    lists: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonType {
    #[serde(default)]
    version: i64,
    #[serde(default)]
    description: String,
    #[serde(default)]
    id_prefix: Option<String>,
    #[serde(default)]
    attributes: BTreeMap<String, JsonAttribute>,
    #[serde(default)]
    blocks: BTreeMap<String, JsonNestedBlock>,
    #[serde(default)]
    answers: Vec<Answer>,
    #[serde(default)]
    defers_on: Option<String>,
    #[serde(default)]
    renew_after_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonNestedBlock {
    nesting: JsonNesting,
    #[serde(default)]
    min_items: i64,
    #[serde(default)]
    max_items: i64,
    #[serde(default)]
    force_new: bool,
    #[serde(default)]
    description: String,
    #[serde(default)]
    attributes: BTreeMap<String, JsonAttribute>,
    #[serde(default)]
    blocks: BTreeMap<String, JsonNestedBlock>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonAttribute {
    #[serde(default)]
    r#type: Option<CtyType>,
    #[serde(default)]
    nested: Option<JsonNested>,
    #[serde(default)]
    required: bool,
    #[serde(default)]
    optional: bool,
    #[serde(default)]
    computed: Computed,
    #[serde(default)]
    default: Option<Json>,
    #[serde(default)]
    sensitive: bool,
    #[serde(default)]
    write_only: bool,
    #[serde(default)]
    deprecated: bool,
    #[serde(default)]
    force_new: bool,
    #[serde(default)]
    description: String,
    #[serde(default, rename = "enum")]
    one_of: Option<Vec<Json>>,
    #[serde(default)]
    range: Option<Bounds<f64>>,
    #[serde(default)]
    length: Option<Bounds<usize>>,
    #[serde(default)]
    pattern: Option<Pattern>,
    #[serde(default)]
    conflicts_with: Vec<String>,
    #[serde(default)]
    refers_to: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonNested {
    nesting: JsonNesting,
    attributes: BTreeMap<String, JsonAttribute>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounds<T> {
    #[serde(default = "Option::default")]
    min: Option<T>,
    #[serde(default = "Option::default")]
    max: Option<T>,
}

struct Pattern(Regex);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Regex::new(&text)
            .map(Self)
            .map_err(|error| D::Error::custom(format!("this is not a pattern: {error}")))
    }
}

/// `computed`: whether and how.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Computed {
    #[default]
    No,
    Whether(bool),
    Named(NamedRule),
    By(RuleWithValue),
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum NamedRule {
    Once,
    Id,
    EachChange,
    Revision,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum RuleWithValue {
    Constant(Json),
    Value(Json),
    CopyOf(String),
    Format(String),
    States(Vec<State>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    name: String,
    #[serde(default)]
    reads: u64,
}

impl JsonType {
    fn read(self) -> Result<DeclaredType, String> {
        let attributes = read_attributes(self.attributes, "attributes")?;
        let blocks = read_blocks(self.blocks, "blocks")?;
        let block = Block { attributes, blocks, deprecated: false, description: self.description };
        for attribute in &block.attributes {
            let named = match &attribute.rule {
                Rule::CopyOf(name) => vec![name],
                Rule::Format(pieces) => {
                    let names = pieces.iter().filter_map(|piece| match piece {
                        Piece::Attribute(name) => Some(name),
                        Piece::Text(_) => None,
                    });
                    names.collect()
                }
                _ => Vec::new(),
            };
            if let Some(missing) = named.into_iter().find(|name| block.attribute(name).is_none()) {
                return Err(format!(
                    "attributes.{}.computed: There is no attribute {missing:?} to take the value from.",
                    attribute.name
                ));
            }
        }
        if let Some(name) = self.defers_on.as_ref().filter(|name| block.attribute(name).is_none()) {
            return Err(format!("defers_on: There is no attribute {name:?}."));
        }
        if self.renew_after_ms.is_some_and(|after| !(1..=A_DAY).contains(&after)) {
            return Err(format!("renew_after_ms: This is at least 1 and at most {A_DAY}, which is a day."));
        }
        let schema = Schema { version: self.version, block };
        Ok(DeclaredType {
            schema,
            id_prefix: self.id_prefix,
            answers: self.answers,
            defers_on: self.defers_on,
            renew_after_ms: self.renew_after_ms,
        })
    }
}

fn read_attributes(
    attributes: BTreeMap<String, JsonAttribute>,
    path: &str,
) -> Result<Vec<Attribute>, String> {
    let each = attributes.into_iter().map(|(name, attribute)| {
        let path = format!("{path}.{name}");
        if !is_type_name(&name) {
            return Err(format!("{path}: This is not a name: letters, digits and `_` make one."));
        }
        attribute.read(name, &path)
    });
    each.collect()
}

fn read_blocks(blocks: BTreeMap<String, JsonNestedBlock>, path: &str) -> Result<Vec<NestedBlock>, String> {
    let each = blocks.into_iter().map(|(name, nested)| {
        let path = format!("{path}.{name}");
        Ok(NestedBlock {
            nesting: nested.nesting.into(),
            block: Block {
                attributes: read_attributes(nested.attributes, &format!("{path}.attributes"))?,
                blocks: read_blocks(nested.blocks, &format!("{path}.blocks"))?,
                deprecated: false,
                description: nested.description,
            },
            min_items: nested.min_items,
            max_items: nested.max_items,
            on_change: if nested.force_new { OnChange::Replace } else { OnChange::Update },
            name,
        })
    });
    each.collect()
}

impl JsonAttribute {
    fn read(self, name: String, path: &str) -> Result<Attribute, String> {
        let shape = match (self.r#type, self.nested) {
            (Some(CtyType(ty)), None) => Shape::Plain(ty),
            (None, Some(nested)) => {
                if matches!(nested.nesting, JsonNesting::Group) {
                    return Err(format!("{path}.nested: Only blocks can be a group."));
                }
                let attributes = read_attributes(nested.attributes, &format!("{path}.nested.attributes"))?;
                Shape::Nested(nested.nesting.into(), attributes)
            }
            _ => return Err(format!("{path}: An attribute has either a `type` or `nested` attributes.")),
        };
        let ty = Attribute::new("", shape.clone(), Origin::Optional).ty();
        let is_computed = !matches!(self.computed, Computed::No | Computed::Whether(false));
        let rule = rule(self.computed, &ty, path)?;
        let default =
            self.default.map(|default| value(&default, &ty, &format!("{path}.default"))).transpose()?;
        let origin = match (self.required, self.optional, is_computed || default.is_some()) {
            (true, false, false) => Origin::Required,
            (false, true, true) => Origin::OptionalComputed,
            (false, true, false) => Origin::Optional,
            (false, false, true) => Origin::Computed,
            _ => {
                return Err(format!(
                    "{path}: An attribute is `required`, `optional`, `computed`, or both of the last two."
                ));
            }
        };
        if self.write_only && origin.is_computed() {
            return Err(format!("{path}: A write-only attribute is not computed, and has no default."));
        }
        let mut checks = Vec::new();
        if let Some(values) = self.one_of {
            let values: Result<_, _> =
                values.iter().map(|one| value(one, &ty, &format!("{path}.enum"))).collect();
            checks.push(Check::OneOf(values?));
        }
        checks.extend(self.range.map(|bounds| Check::Between(bounds.min, bounds.max)));
        checks.extend(self.length.map(|bounds| Check::Length(bounds.min, bounds.max)));
        checks.extend(self.pattern.map(|Pattern(pattern)| Check::Pattern(pattern)));
        if !self.conflicts_with.is_empty() {
            checks.push(Check::ConflictsWith(self.conflicts_with));
        }
        if !self.refers_to.is_empty() {
            checks.push(Check::RefersTo(self.refers_to));
        }
        Ok(Attribute {
            on_change: if self.force_new { OnChange::Replace } else { OnChange::Update },
            rule,
            default,
            checks,
            sensitive: self.sensitive,
            write_only: self.write_only,
            deprecated: self.deprecated,
            description: self.description,
            ..Attribute::new(name, shape, origin)
        })
    }
}

fn rule(computed: Computed, ty: &Type, path: &str) -> Result<Rule, String> {
    let path = format!("{path}.computed");
    Ok(match computed {
        Computed::No | Computed::Whether(_) | Computed::Named(NamedRule::Once) => Rule::Once,
        Computed::Named(NamedRule::Id) => Rule::Id,
        Computed::Named(NamedRule::EachChange) => Rule::EachChange,
        Computed::Named(NamedRule::Revision) => Rule::Revision,
        Computed::By(RuleWithValue::Constant(constant)) => Rule::Constant(value(&constant, ty, &path)?),
        Computed::By(RuleWithValue::Value(late)) => Rule::Value(value(&late, ty, &path)?),
        Computed::By(RuleWithValue::CopyOf(name)) => Rule::CopyOf(name),
        Computed::By(RuleWithValue::Format(format)) => Rule::Format(pieces(&format).ok_or_else(|| {
            format!(
                "{path}: {format:?} has a `{{` without its `}}`; the name of an attribute goes between them."
            )
        })?),
        Computed::By(RuleWithValue::States(states)) if !states.is_empty() => {
            Rule::States(states.into_iter().map(|state| (state.reads, state.name)).collect())
        }
        Computed::By(RuleWithValue::States(_)) => return Err(format!("{path}: There is no state.")),
    })
}

/// The parts of a text such as `arn:{id}`.
fn pieces(format: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = format;
    while let Some((text, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        if !text.is_empty() {
            pieces.push(Piece::Text(text.to_owned()));
        }
        pieces.push(Piece::Attribute(name.to_owned()));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Some(pieces)
}

fn value(given: &Json, ty: &Type, path: &str) -> Result<Value, String> {
    json::decode(given, ty)
        .map_err(|error| format!("{path}: The value is not of the attribute's type: {error}."))
}
