//! One folder of a program: what its files say of providers and modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{BUILT_IN, BUILT_IN_HOST, ProgramError, hcl_files, json_files};
use crate::standin::address::ProviderAddress;
use crate::standin::constraint::Constraints;

/// What `required_providers` says of one, in one place.
#[derive(Debug)]
pub struct Requirement {
    /// The local name.
    pub local: String,
    /// The address, if it is named.
    pub source: Option<String>,
    /// The constraint on its version, if there is one.
    pub version: Option<String>,
}

/// The kinds of blocks whose first label is a type of a provider.
pub const TYPED: [&str; 4] = ["resource", "data", "ephemeral", "action"];

/// What a module's files say.
#[derive(Debug, Default)]
pub struct Module {
    /// How many files it has.
    pub files: usize,
    required: Vec<(Requirement, PathBuf)>,
    /// Local names of providers that are used, with the file that does first.
    used: BTreeMap<String, PathBuf>,
    /// Local names of providers with the attributes that their `provider_meta` has.
    meta: Vec<(String, Vec<String>, PathBuf)>,
    /// Modules that are called: name, source, file.
    pub calls: Vec<(String, String, PathBuf)>,
    /// Files with provisioners.
    pub provisioners: BTreeSet<PathBuf>,
    /// Files that were read in part only, and why.
    pub read_in_part: Vec<(PathBuf, String)>,
}

impl Module {
    /// Reads the files of a folder.
    pub fn read(folder: &Path) -> Result<Self, ProgramError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| ProgramError::Io { path, source }
        };
        let entries = fs::read_dir(folder).map_err(io(folder))?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let mut module = Self::default();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_ignored = name.starts_with('.') || name.ends_with('~') || name.starts_with('#');
            // OpenTofu prefers files of its own name.
            let is_json = name.ends_with(".tf.json") || name.ends_with(".tofu.json");
            let is_program = is_json || name.ends_with(".tf") || name.ends_with(".tofu");
            if is_ignored || !is_program || !path.is_file() {
                continue;
            }
            module.files += 1;
            let text = fs::read_to_string(&path).map_err(io(&path))?;
            let read = if is_json { json_files::read } else { hcl_files::read };
            let mut file = InFile { module: &mut module, path: &path };
            read(&text, &mut file).map_err(|why| ProgramError::Syntax { path: path.clone(), why })?;
        }
        Ok(module)
    }

    /// The attributes of `provider_meta`, by provider.
    pub fn meta(&self) -> Result<Vec<(ProviderAddress, Vec<String>)>, ProgramError> {
        let with_address = |(local, names, path): &(String, Vec<String>, PathBuf)| {
            let named = self.required.iter().find(|(required, _)| required.local == *local);
            let source = named.and_then(|(required, _)| required.source.as_ref()).unwrap_or(local);
            Ok((parse_address(source, path)?, names.clone()))
        };
        self.meta.iter().map(with_address).collect()
    }

    /// The providers that it needs: address, constraint, and a file that says so.
    pub fn providers(&self) -> Result<Vec<(ProviderAddress, Constraints, PathBuf)>, ProgramError> {
        let mut addresses: BTreeMap<&str, ProviderAddress> = BTreeMap::new();
        let mut needed = Vec::new();
        for (Requirement { local, source, .. }, path) in &self.required {
            if let Some(source) = source {
                addresses.insert(local, parse_address(source, path)?);
            }
        }
        for (Requirement { local, version, .. }, path) in &self.required {
            let address = match addresses.get(local.as_str()) {
                Some(address) => address.clone(),
                None => parse_address(local, path)?,
            };
            let constraints = match version {
                None => Constraints::default(),
                Some(text) => {
                    text.parse().map_err(|error| ProgramError::Constraint { path: path.clone(), error })?
                }
            };
            needed.push((address, constraints, path.clone()));
        }
        for (local, path) in &self.used {
            if local == BUILT_IN || self.required.iter().any(|(required, _)| required.local == *local) {
                continue;
            }
            needed.push((parse_address(local, path)?, Constraints::default(), path.clone()));
        }
        needed.retain(|(address, ..)| address.host.as_deref() != Some(BUILT_IN_HOST));
        Ok(needed)
    }
}

fn parse_address(text: &str, path: &Path) -> Result<ProviderAddress, ProgramError> {
    text.parse().map_err(|error| ProgramError::Address { path: path.to_owned(), error })
}

/// A module while one of its files is read.
pub struct InFile<'a> {
    module: &'a mut Module,
    path: &'a Path,
}

impl InFile<'_> {
    /// A provider is required.
    pub fn requires(&mut self, requirement: Requirement) {
        self.module.required.push((requirement, self.path.to_owned()));
    }

    /// A block of a type: its provider is the one that it names, or the one that the type's name begins with.
    pub fn has_type(&mut self, type_name: &str, provider: Option<&str>) {
        let implied = type_name.split('_').next().unwrap_or(type_name);
        self.configures(provider.unwrap_or(implied));
    }

    /// A provider is used, by its local name and perhaps an alias.
    pub fn configures(&mut self, provider: &str) {
        let local = provider.split('.').next().unwrap_or(provider);
        self.module.used.entry(local.to_owned()).or_insert_with(|| self.path.to_owned());
    }

    /// A provider is told something of the module.
    pub fn has_meta(&mut self, provider: &str, names: Vec<String>) {
        self.module.meta.push((provider.to_owned(), names, self.path.to_owned()));
    }

    /// A module is called.
    pub fn calls(&mut self, name: &str, source: &str) {
        self.module.calls.push((name.to_owned(), source.to_owned(), self.path.to_owned()));
    }

    /// The file was read in part only.
    pub fn is_not_read(&mut self, why: String) {
        self.module.read_in_part.push((self.path.to_owned(), why));
    }

    /// There is a provisioner.
    pub fn provisions(&mut self) {
        self.module.provisioners.insert(self.path.to_owned());
    }
}
