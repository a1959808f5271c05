//! The types that the provider serves: the mock's own, those of a types file, or those of a provider that it stands in
//! for. A type is read when it is first asked for: the largest providers have thousands.

mod document;
mod file;
pub mod functions;
mod names;
mod overrides;
pub mod own;
pub mod schema_json;
mod standin;
pub mod tfcoremock;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub use standin::StandIn;

use equiform_proto::ledger::Digest;

use document::Document;
use file::TypesFile;
use overrides::Overrides;
use schema_json::{Family, SchemaFile};

use crate::diagnostic::Problem;
use crate::resource::plausible::{Context, Salt};
use crate::resource::{Ids, ResourceType, node, secrets};
use crate::schema::Schema;
use crate::value::{Object, Type, Value, json};

/// The types file of a working directory, if the environment names no other.
pub const DEFAULT_TYPES: &str = "equiform.types.json";
/// The overrides of a working directory, if the environment names no other.
pub const DEFAULT_OVERRIDES: &str = "equiform.overrides.json";

/// Where types come from, beside what the provider has itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Sources {
    /// The user's types.
    pub types: Option<PathBuf>,
    /// The user's overrides.
    pub overrides: Option<PathBuf>,
    /// The seed of what is computed.
    pub seed: String,
    /// Whether attributes have no nested ones, as in protocol 5.
    pub flat: bool,
}

/// A type of data source.
#[derive(Debug)]
pub struct DataType {
    /// Its name in programs.
    pub name: String,
    /// Its attributes and blocks.
    pub schema: Schema,
    /// The type of its objects.
    pub object_type: Type,
}

impl DataType {
    /// What tells an object from another, without what nobody may see.
    pub fn digest(&self, object: &Object) -> Digest {
        json::digest(&secrets::without(&self.schema.block, object))
    }
}

/// The types that the provider serves.
pub struct Types {
    standin: Option<Arc<StandIn>>,
    schema: Option<Arc<SchemaFile>>,
    file: TypesFile,
    overrides: Vec<Overrides>,
    seed: Arc<str>,
    flat: bool,
    resources: Mutex<HashMap<String, Arc<ResourceType>>>,
    data: Mutex<HashMap<String, Arc<DataType>>>,
}

impl Types {
    /// The types of a provider that stands in for another, or of the mock itself.
    pub fn load(standin: Option<Arc<StandIn>>, sources: &Sources) -> Result<Self, Problem> {
        let mut overrides = Vec::new();
        if let Some(path) = &sources.overrides {
            overrides.push(read_overrides(path)?);
        }
        let mut types = Self {
            schema: None,
            file: TypesFile::default(),
            seed: sources.seed.as_str().into(),
            flat: sources.flat,
            resources: Mutex::default(),
            data: Mutex::default(),
            overrides,
            standin: standin.clone(),
        };
        if standin.as_ref().is_some_and(|standin| standin.is_tfcoremock()) {
            let file = tfcoremock::types(sources.types.as_deref());
            types.file = file.map_err(|defect| defect.problem("file with dynamic resources"))?;
        } else if let Some(standin) = standin {
            types.schema = Some(standin.schema()?);
            if let Some(path) = standin.overrides() {
                types.overrides.push(read_overrides(&path)?);
            }
            types.overrides.push(Overrides::common());
        } else {
            if let Some(path) = &sources.types {
                let document = Document::read(path).map_err(|defect| defect.problem("types file"))?;
                types.file = TypesFile::read(&document).map_err(|defect| defect.problem("types file"))?;
            }
            let node = Arc::new(node::resource());
            types.resources.get_mut().expect("nobody else has it").insert(node::NAME.to_owned(), node);
        }
        Ok(types)
    }

    /// The provider that is stood in for.
    pub fn standin(&self) -> Option<&StandIn> {
        self.standin.as_deref()
    }

    /// The schema of the provider block, where it is another provider's.
    pub fn provider_schema(&self) -> Result<Option<Schema>, Problem> {
        match (&self.schema, &self.standin) {
            (Some(schema), _) => schema.provider().map(Some).map_err(bad_schema),
            (None, Some(_)) => Ok(Some(tfcoremock::provider_block())),
            (None, None) => Ok(None),
        }
    }

    /// Whether tfcoremock is stood in for, whose types need no schema.
    pub fn is_tfcoremock(&self) -> bool {
        self.standin.is_some() && self.schema.is_none()
    }

    /// The names of all types of a family, sorted.
    pub fn names(&self, family: Family) -> Vec<String> {
        if let Some(schema) = &self.schema {
            return match family {
                // What another provider's state store says of a cloud, we have no place for.
                Family::StateStore => Vec::new(),
                family => schema.names(family).map(str::to_owned).collect(),
            };
        }
        let own = |types: &BTreeMap<String, file::DeclaredType>| types.keys().cloned().collect::<Vec<_>>();
        let mut names = match family {
            Family::Resource => own(&self.file.resources),
            Family::Data => own(&self.file.data),
            Family::Ephemeral => own(&self.file.ephemeral),
            Family::List => self.file.lists.clone(),
            Family::Action | Family::Function | Family::Identity | Family::StateStore => Vec::new(),
        };
        if self.standin.is_some() {
            return names;
        }
        let own = match family {
            Family::Resource | Family::Data | Family::List | Family::Identity => node::NAME,
            Family::Ephemeral => own::TICKET,
            Family::Action => own::TOUCH,
            Family::Function => own::GRAPH_KEY,
            Family::StateStore => own::STORE,
        };
        names.push(own.to_owned());
        names.sort();
        names.dedup();
        names
    }

    /// The names of all types of resources that have an identity.
    pub fn names_with_identity(&self) -> Vec<String> {
        match &self.schema {
            Some(schema) => schema.names(Family::Identity).map(str::to_owned).collect(),
            None => self.names(Family::List),
        }
    }

    /// A type of resource.
    pub fn resource(&self, name: &str) -> Result<Arc<ResourceType>, Problem> {
        if let Some(known) = self.resources.lock().expect("no holder panics").get(name) {
            return Ok(known.clone());
        }
        let found = Arc::new(self.read_resource(name)?);
        self.resources.lock().expect("no holder panics").insert(name.to_owned(), found.clone());
        Ok(found)
    }

    fn read_resource(&self, name: &str) -> Result<ResourceType, Problem> {
        let mut schema = self.resource_schema(name)?;
        let mut identity = None;
        let prefix = if let Some(file) = &self.schema {
            names::complete(&mut schema.block);
            for overrides in self.overrides.iter().rev() {
                overrides.change(name, &mut schema)?;
            }
            identity = file.identity(name).map_err(bad_schema)?;
            for attribute in &mut schema.block.attributes {
                let names_it = |identity: &crate::resource::Identity| {
                    identity.attributes.iter().any(|part| part.name == attribute.name)
                };
                // What an object is told by stays the same as long as it lives.
                if identity.as_ref().is_some_and(names_it) {
                    attribute.on_change = crate::schema::OnChange::Replace;
                }
            }
            let told = self.overrides.iter().find_map(|overrides| overrides.id_prefix(name));
            told.map_or_else(|| names::id_prefix(name), str::to_owned)
        } else {
            if self.file.lists.iter().any(|listed| listed == name) {
                identity = Some(own::identity());
            }
            let declared = self.file.resources.get(name).and_then(|declared| declared.id_prefix.clone());
            declared.unwrap_or_else(|| names::id_prefix(name))
        };
        let key = schema.block.attribute(node::KEY).filter(|_| self.standin.is_none()).map(|_| node::KEY);
        Ok(ResourceType {
            identity,
            key,
            ids: Ids::Seeded { prefix, seed: self.seed.clone() },
            provider: self.standin.as_ref().map(|standin| standin.address.as_str().into()),
            ..ResourceType::new(name, schema)
        })
    }

    /// The schema of a type of resource as it is declared.
    pub fn resource_schema(&self, name: &str) -> Result<Schema, Problem> {
        let found = match &self.schema {
            Some(file) => file.schema(Family::Resource, name).map_err(bad_schema)?,
            None if name == node::NAME => Some(node::resource().schema),
            None => self.file.resources.get(name).map(|declared| declared.schema.clone()),
        };
        found.map(|schema| self.shown(schema)).ok_or_else(|| unknown_type(name))
    }

    /// A schema as the protocol can show it.
    fn shown(&self, mut schema: Schema) -> Schema {
        if self.flat {
            schema.block.flatten();
        }
        schema
    }

    /// The schema of a type of another family as it is declared.
    pub fn schema(&self, family: Family, name: &str) -> Result<Schema, Problem> {
        let own =
            |types: &BTreeMap<String, file::DeclaredType>| types.get(name).map(|own| own.schema.clone());
        let found = match (&self.schema, family) {
            // What a user says of a type may change what programs may say of it.
            (Some(_), Family::Resource) if self.overrides.iter().any(|told| told.speaks_of(name)) => {
                return Ok(self.resource(name)?.schema.clone());
            }
            (_, Family::Resource) => return self.resource_schema(name),
            (Some(file), family) => file.schema(family, name).map_err(bad_schema)?,
            (None, Family::Data) if name == node::NAME => Some(node::data_source()),
            (None, Family::Data) => own(&self.file.data),
            (None, Family::Ephemeral) if name == own::TICKET => Some(own::ticket()),
            (None, Family::Ephemeral) => own(&self.file.ephemeral),
            (None, Family::List) if name == node::NAME => Some(own::node_list()),
            (None, Family::List) if self.file.lists.iter().any(|listed| listed == name) => Some(own::list()),
            (None, Family::Action) if name == own::TOUCH => Some(own::touch()),
            (None, Family::StateStore) if name == own::STORE => Some(own::store()),
            (None, _) => None,
        };
        found.map(|schema| self.shown(schema)).ok_or_else(|| unknown_type(name))
    }

    /// The schema file of the provider that is stood in for.
    pub fn schema_file(&self) -> Option<&SchemaFile> {
        self.schema.as_deref()
    }

    /// The type of an attribute of a resource.
    pub fn resource_attribute_type(&self, resource: &str, attribute: &str) -> Option<Type> {
        self.resource(resource).ok()?.schema.block.attribute(attribute).map(|attribute| attribute.ty())
    }

    /// The attribute that has to be known before a change of an object of this type is planned.
    pub fn defers_on(&self, name: &str) -> Option<&str> {
        self.file.resources.get(name)?.defers_on.as_deref()
    }

    /// A type of data source.
    pub fn data(&self, name: &str) -> Result<Arc<DataType>, Problem> {
        if let Some(known) = self.data.lock().expect("no holder panics").get(name) {
            return Ok(known.clone());
        }
        let schema = self.schema(Family::Data, name)?;
        let found = DataType { name: name.to_owned(), object_type: schema.object_type(), schema };
        let found = Arc::new(found);
        self.data.lock().expect("no holder panics").insert(name.to_owned(), found.clone());
        Ok(found)
    }

    /// What a data source answers by what the user says, or by what is known of it; `None` if nothing is said.
    pub fn answer(&self, data: &DataType, config: &Object) -> Result<Option<Object>, Problem> {
        if let Some(declared) = self.file.data.get(&data.name) {
            // The file declares all that there is: without an answer of its own, all that it computes is made up.
            let told = Overrides::first(&declared.answers, &data.name, &data.object_type, config)?;
            return Ok(Some(self.completed(data, config, told.unwrap_or_default())));
        }
        for overrides in &self.overrides {
            if let Some(told) = overrides.answer(&data.name, &data.object_type, config)? {
                return Ok(Some(self.completed(data, config, told)));
            }
        }
        Ok(None)
    }

    /// The answer in full: what is told, what the program says, and what is made up.
    pub fn completed(&self, data: &DataType, config: &Object, told: Object) -> Object {
        let salt = Salt::new(&[&self.seed, &data.name, &json::digest(config).to_string()]);
        let prefix = names::id_prefix(&data.name);
        let id = crate::mint::seeded(&prefix, salt.bytes());
        let context = Context { type_name: &data.name, id: &id, salt };
        let mut object = config.clone();
        for attribute in &data.schema.block.attributes {
            let value = object.entry(attribute.name.clone()).or_insert(Value::Null);
            if let Some(told) = told.get(&attribute.name) {
                *value = told.clone();
            } else if attribute.origin.is_computed() && *value == Value::Null {
                *value = match attribute.name.as_str() {
                    "id" if attribute.ty() == Type::String => Value::String(id.clone()),
                    name => context.value(&attribute.ty(), name),
                };
            }
        }
        // Within blocks, only what is computed is open.
        for nested in &data.schema.block.blocks {
            if let Some(told) = told.get(&nested.name) {
                object.insert(nested.name.clone(), told.clone());
            }
        }
        object
    }

    /// The seed of what is computed.
    pub fn seed(&self) -> &str {
        &self.seed
    }

    /// A type of ephemeral resource, list, action or state store.
    pub fn other(&self, family: Family, name: &str) -> Result<DataType, Problem> {
        let schema = self.schema(family, name)?;
        Ok(DataType { name: name.to_owned(), object_type: schema.object_type(), schema })
    }

    /// What an ephemeral resource holds: what the user says, and what is made up.
    pub fn ephemeral_result(&self, ephemeral: &DataType, config: &Object) -> Result<Object, Problem> {
        let (name, ty) = (&ephemeral.name, &ephemeral.object_type);
        let mut told = match self.file.ephemeral.get(name) {
            Some(declared) => Overrides::first(&declared.answers, name, ty, config)?,
            None => None,
        };
        for overrides in &self.overrides {
            if told.is_none() {
                told = overrides.ephemeral_answer(name, ty, config)?;
            }
        }
        Ok(self.completed(ephemeral, config, told.unwrap_or_default()))
    }

    /// After how many milliseconds an ephemeral resource is to be renewed, where its type says so.
    pub fn renew_after(&self, name: &str) -> Option<u64> {
        self.file.ephemeral.get(name)?.renew_after_ms
    }
}

fn read_overrides(path: &Path) -> Result<Overrides, Problem> {
    let document = Document::read(path).map_err(|defect| defect.problem("overrides file"))?;
    Overrides::read(&document).map_err(|defect| defect.problem("overrides file"))
}

fn bad_schema(defect: document::Defect) -> Problem {
    defect.problem("schema file")
}

fn unknown_type(name: &str) -> Problem {
    Problem::engine(format!("It asked for {name:?}, which is not in the provider's schema."))
}

/// Whether a text can be the name of a type or an attribute.
fn is_type_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
