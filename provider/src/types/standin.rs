//! The provider that this binary stands in for, as told by files beside the binary.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::Deserialize;

use super::document::Document;
use super::schema_json::SchemaFile;
use crate::diagnostic::Problem;
use crate::schema::{Attribute, Block, Origin, Schema, Shape};
use crate::value::Type;

/// The folder beside the binary.
const FOLDER: &str = "standin";

/// The provider that is stood in for.
pub struct StandIn {
    /// Its source address.
    pub address: String,
    /// Its version.
    pub version: String,
    /// The version of the plugin protocol that it speaks.
    pub protocol: u32,
    /// Attributes of `provider_meta` that programs give.
    meta: Vec<String>,
    folder: PathBuf,
    schema: OnceLock<Result<Arc<SchemaFile>, Problem>>,
}

#[derive(Deserialize)]
struct Manifest {
    standin: u32,
    address: String,
    #[serde(default)]
    version: String,
    #[serde(default = "six")]
    protocol: u32,
    #[serde(default)]
    provider_meta: Vec<String>,
}

/// What modules tell common providers of themselves: engines do not print the schema of `provider_meta`.
const COMMON_META: [&str; 2] = ["module_name", "user_agent"];

fn six() -> u32 {
    6
}

impl StandIn {
    /// The stand-in that the files beside this process's binary make it; `None` where there are none.
    pub fn of_this_binary() -> Result<Option<Arc<Self>>, String> {
        let Ok(binary) = std::env::current_exe() else { return Ok(None) };
        let Some(folder) = binary.parent().map(|parent| parent.join(FOLDER)) else { return Ok(None) };
        Self::read(&folder)
    }

    /// The stand-in that a folder describes.
    pub fn read(folder: &Path) -> Result<Option<Arc<Self>>, String> {
        let path = folder.join("standin.json");
        if !path.exists() {
            return Ok(None);
        }
        let document = Document::read(&path).map_err(|defect| defect.to_string())?;
        let manifest: Manifest = document.parse().map_err(|defect| defect.to_string())?;
        if manifest.standin != 1 || !matches!(manifest.protocol, 5 | 6) {
            return Err(format!(
                "{}: this stand-in was installed by another version of equiform; install it again",
                path.display()
            ));
        }
        Ok(Some(Arc::new(Self {
            address: manifest.address,
            version: manifest.version,
            protocol: manifest.protocol,
            meta: manifest.provider_meta,
            folder: folder.to_owned(),
            schema: OnceLock::new(),
        })))
    }

    /// Its schema, which is looked into when it is first asked for.
    pub fn schema(&self) -> Result<Arc<SchemaFile>, Problem> {
        let read = || {
            let document = Document::read(&self.folder.join("schema.json"));
            let read = document.and_then(|document| SchemaFile::new(document, &self.address));
            read.map(Arc::new).map_err(|defect| defect.problem("schema file"))
        };
        self.schema.get_or_init(read).clone()
    }

    /// Whether it is tfcoremock, whose types are known here.
    pub fn is_tfcoremock(&self) -> bool {
        self.address.ends_with("/tfcoremock") && !self.folder.join("schema.json").exists()
    }

    /// The schema of `provider_meta`: whatever it is given is taken, and nothing is made of it.
    pub fn meta_schema(&self) -> Schema {
        let mut names: Vec<&str> =
            COMMON_META.into_iter().chain(self.meta.iter().map(String::as_str)).collect();
        names.sort_unstable();
        names.dedup();
        let any = |name: &str| Attribute::new(name, Shape::Plain(Type::Dynamic), Origin::Optional);
        let block = Block { attributes: names.into_iter().map(any).collect(), ..Block::default() };
        Schema { version: 0, block }
    }

    /// The overrides that were installed with it.
    pub fn overrides(&self) -> Option<PathBuf> {
        let path = self.folder.join("overrides.json");
        path.exists().then_some(path)
    }
}
