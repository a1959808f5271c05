//! What a stand-in is told beyond a schema: what forces a replacement, which values a program needs to be particular,
//! and what data sources answer.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

use super::document::{Defect, Document};
use crate::diagnostic::Problem;
use crate::schema::{Attribute, Block, OnChange, Origin, Rule, Schema};
use crate::value::{Object, Type, Value, json};

/// What is known of common types of common providers; a user's own file goes before it.
const COMMON: &str = include_str!("common.json");

/// A file of overrides.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overrides {
    #[serde(default, rename = "$schema")]
    _schema: Option<String>,
    /// The version of the format.
    equiform_overrides: u32,
    #[serde(default)]
    resources: BTreeMap<String, ResourceOverride>,
    #[serde(default)]
    data: BTreeMap<String, Answers>,
    #[serde(default)]
    ephemeral: BTreeMap<String, Answers>,
    /// Whether attributes may be named that a type does not have: a provider has them in some versions only.
    #[serde(skip)]
    lenient: bool,
}

/// What is told of a type of resource.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ResourceOverride {
    /// Attributes whose change replaces an object; `*` for all.
    replace: Vec<String>,
    /// Attributes whose change updates it in place, whatever their names say.
    in_place: Vec<String>,
    /// Attributes that are computed anew with every change.
    each_change: Vec<String>,
    /// Attributes that are known when a change is planned, with their values.
    constants: BTreeMap<String, Json>,
    /// Values that are known when a change is done.
    values: BTreeMap<String, Json>,
    /// Attributes that are the same as another one.
    copies: BTreeMap<String, String>,
    /// What ids begin with.
    id_prefix: Option<String>,
}

/// What a data source answers: always the same, or by its configuration.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Answers {
    Several(Vec<Answer>),
    One(Answer),
}

/// An answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The values that the configuration has to have for it.
    #[serde(default)]
    when: BTreeMap<String, Json>,
    /// The values that are answered; what is left out is made up.
    #[serde(default)]
    answer: BTreeMap<String, Json>,
    /// Attributes that hold a part of the configuration as JSON.
    #[serde(default)]
    to_json: BTreeMap<String, Vec<String>>,
}

impl Overrides {
    /// Reads a user's file.
    pub fn read(document: &Document) -> Result<Self, Defect> {
        let overrides: Self = document.parse()?;
        match overrides.equiform_overrides {
            1 => Ok(overrides),
            version => {
                let message = format!("Its format is {version}, and this program reads format 1.");
                Err(document.defect(None, "equiform_overrides", message))
            }
        }
    }

    /// What is known of common types.
    pub fn common() -> Self {
        let common: Self = serde_json::from_str(COMMON).expect("a test reads it");
        Self { lenient: true, ..common }
    }

    /// Whether a type of resource is spoken of.
    pub fn speaks_of(&self, type_name: &str) -> bool {
        self.resources.contains_key(type_name)
    }

    /// What ids of a type begin with.
    pub fn id_prefix(&self, type_name: &str) -> Option<&str> {
        self.resources.get(type_name)?.id_prefix.as_deref()
    }

    /// Changes what a type does. An attribute that the type does not have is a mistake, and told.
    pub fn change(&self, type_name: &str, schema: &mut Schema) -> Result<(), Problem> {
        let Some(told) = self.resources.get(type_name) else { return Ok(()) };
        if told.replace.iter().any(|name| name == "*") {
            let given = schema.block.attributes.iter_mut().filter(|a| a.origin != Origin::Computed);
            given.for_each(|attribute| attribute.on_change = OnChange::Replace);
            schema.block.blocks.iter_mut().for_each(|nested| nested.on_change = OnChange::Replace);
        }
        for (names, on_change) in [(&told.replace, OnChange::Replace), (&told.in_place, OnChange::Update)] {
            for name in names.iter().filter(|name| *name != "*") {
                match schema.block.blocks.iter_mut().find(|nested| nested.name == *name) {
                    Some(nested) => nested.on_change = on_change,
                    None => {
                        let Some(attribute) = self.attribute(type_name, &mut schema.block, name)? else {
                            continue;
                        };
                        attribute.on_change = on_change;
                    }
                }
            }
        }
        for name in &told.each_change {
            let Some(attribute) = self.attribute(type_name, &mut schema.block, name)? else { continue };
            attribute.rule = Rule::EachChange;
        }
        for (values, rule) in [
            (&told.constants, Rule::Constant as fn(Value) -> Rule),
            (&told.values, Rule::Value as fn(Value) -> Rule),
        ] {
            for (name, value) in values {
                let Some(attribute) = self.attribute(type_name, &mut schema.block, name)? else { continue };
                let value = typed(type_name, name, value, &attribute.ty())?;
                // What a program may leave out has then a default: old providers have such, without saying so.
                if attribute.origin == Origin::Optional {
                    attribute.origin = Origin::OptionalComputed;
                    attribute.default = Some(value.clone());
                }
                attribute.rule = rule(value);
            }
        }
        for (name, other) in &told.copies {
            let Some(attribute) = self.attribute(type_name, &mut schema.block, name)? else { continue };
            attribute.rule = Rule::CopyOf(other.clone());
        }
        Ok(())
    }

    /// What a data source answers to a configuration: values for some of its attributes; `None` if nothing is said.
    pub fn answer(&self, type_name: &str, ty: &Type, config: &Object) -> Result<Option<Object>, Problem> {
        self.answer_of(self.data.get(type_name), type_name, ty, config)
    }

    /// The same for an ephemeral resource.
    pub fn ephemeral_answer(
        &self,
        type_name: &str,
        ty: &Type,
        config: &Object,
    ) -> Result<Option<Object>, Problem> {
        self.answer_of(self.ephemeral.get(type_name), type_name, ty, config)
    }

    fn answer_of(
        &self,
        answers: Option<&Answers>,
        type_name: &str,
        ty: &Type,
        config: &Object,
    ) -> Result<Option<Object>, Problem> {
        let answers = match answers {
            None => return Ok(None),
            Some(Answers::One(answer)) => std::slice::from_ref(answer),
            Some(Answers::Several(answers)) => &answers[..],
        };
        Self::first_of(answers, self.lenient, type_name, ty, config)
    }

    /// The first of several answers that fits a configuration.
    pub fn first(
        answers: &[Answer],
        type_name: &str,
        ty: &Type,
        config: &Object,
    ) -> Result<Option<Object>, Problem> {
        Self::first_of(answers, false, type_name, ty, config)
    }

    fn first_of(
        answers: &[Answer],
        lenient: bool,
        type_name: &str,
        ty: &Type,
        config: &Object,
    ) -> Result<Option<Object>, Problem> {
        let Type::Object(types) = ty else { return Ok(None) };
        let fits = |answer: &&Answer| {
            answer
                .when
                .iter()
                .all(|(name, value)| config.get(name).is_some_and(|given| json::encode(given) == *value))
        };
        let Some(answer) = answers.iter().find(fits) else { return Ok(None) };
        let mut object = Object::new();
        for (name, value) in &answer.answer {
            let Some(ty) = types.get(name) else {
                if lenient {
                    continue;
                }
                return Err(no_attribute(type_name, name));
            };
            object.insert(name.clone(), typed(type_name, name, value, ty)?);
        }
        for (name, parts) in &answer.to_json {
            let parts = parts.iter().filter_map(|part| Some((part.clone(), config.get(part)?.clone())));
            let text = Json::Object(json::encode_object(&parts.collect())).to_string();
            object.insert(name.clone(), Value::String(text));
        }
        Ok(Some(object))
    }

    fn attribute<'a>(
        &self,
        type_name: &str,
        block: &'a mut Block,
        name: &str,
    ) -> Result<Option<&'a mut Attribute>, Problem> {
        let found = block.attributes.iter_mut().find(|attribute| attribute.name == name);
        if found.is_none() && !self.lenient { Err(no_attribute(type_name, name)) } else { Ok(found) }
    }
}

fn typed(type_name: &str, name: &str, value: &Json, ty: &Type) -> Result<Value, Problem> {
    json::decode(value, ty).map_err(|error| {
        Problem::new(
            "The overrides do not fit the schema",
            format!(
                "They give {type_name} a value for {name:?} of another type than {}: {error}.",
                ty.to_json()
            ),
        )
    })
}

fn no_attribute(type_name: &str, name: &str) -> Problem {
    Problem::new(
        "The overrides do not fit the schema",
        format!("They name the attribute {name:?} of {type_name}, which its schema does not have."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_common_types_can_be_read() {
        assert_eq!(Overrides::common().equiform_overrides, 1);
    }
}
