//! Where schemas are looked for that a program's providers need: beside the program, and in folders of schemas.
//!
//! A folder of schemas has `NAMESPACE/TYPE-VERSION.json` and `NAMESPACE/TYPE.json`, and may have files of several
//! providers at its top. Beside a program, `schema.json`, `schemas.json` and `*.schema.json` are such files.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use semver::Version;

use super::address::ProviderAddress;
use super::constraint::{self, Constraints};
use super::schema_file::{SchemaError, SchemaFile};

/// Folders and files to look in, in this order.
#[derive(Debug, Default)]
pub struct Schemas {
    /// Files of any providers.
    files: Vec<PathBuf>,
    /// Folders of schemas.
    folders: Vec<PathBuf>,
    /// What was read already: a file of several providers is asked for each of them.
    read: RefCell<BTreeMap<PathBuf, Rc<SchemaFile>>>,
}

/// A schema that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The file.
    pub file: Rc<SchemaFile>,
    /// The version that its name tells.
    pub version: Option<Version>,
}

impl Schemas {
    /// Those beside a program, then those in other places: folders of schemas, or files.
    pub fn of(program: &Path, others: &[PathBuf]) -> Self {
        let mut schemas = Self { files: at_the_top(program, is_beside_a_program), ..Self::default() };
        schemas.add(&program.join("schemas"));
        for place in others {
            schemas.add(place);
        }
        schemas
    }

    fn add(&mut self, place: &Path) {
        if place.is_dir() {
            self.folders.push(place.to_owned());
            self.files.extend(at_the_top(place, |name| name.ends_with(".json")));
        } else if place.exists() {
            self.files.push(place.to_owned());
        }
    }

    /// The schema of a provider: by preference that of a version, else the newest of an allowed version, else one that
    /// does not tell its version, else the newest of any.
    pub fn find(
        &self,
        address: &ProviderAddress,
        locked: Option<&Version>,
        constraints: &Constraints,
    ) -> Result<Option<Found>, SchemaError> {
        let mut named: Vec<(Option<Version>, PathBuf)> =
            self.folders.iter().flat_map(|folder| named_for(folder, address)).collect();
        named.sort_by_key(|(version, _)| {
            let is_locked = version.is_some() && version.as_ref() == locked;
            let is_allowed = version.as_ref().is_some_and(|version| constraints.allow(version));
            std::cmp::Reverse((is_locked, is_allowed, version.is_none(), version.clone()))
        });
        if let Some((version, path)) = named.into_iter().next() {
            let file = self.open(&path)?;
            // It was put there for this provider: if it is for another one, that is a mistake to be told.
            file.expect(address)?;
            return Ok(Some(Found { file, version }));
        }
        for path in &self.files {
            // Other JSON files may stand there, too.
            let Ok(file) = self.open(path) else { continue };
            if file.part(address).is_some() {
                return Ok(Some(Found { file, version: None }));
            }
        }
        Ok(None)
    }

    fn open(&self, path: &Path) -> Result<Rc<SchemaFile>, SchemaError> {
        if let Some(file) = self.read.borrow().get(path) {
            return Ok(file.clone());
        }
        let file = Rc::new(SchemaFile::read(path)?);
        self.read.borrow_mut().insert(path.to_owned(), file.clone());
        Ok(file)
    }
}

/// The name that a provider's schema has in a folder of schemas.
pub fn name_in_folder(address: &ProviderAddress, version: Option<&Version>) -> PathBuf {
    let version = version.map(|version| format!("-{version}")).unwrap_or_default();
    Path::new(&address.namespace).join(format!("{}{version}.json", address.type_name))
}

/// The version that the name of a provider's schema tells: none if it tells none, or is another name.
pub fn version_in_name(path: &Path, address: &ProviderAddress) -> Option<Version> {
    let name = path.file_name()?.to_str()?.strip_suffix(".json")?;
    constraint::version(name.strip_prefix(&address.type_name)?.strip_prefix('-')?)
}

fn is_beside_a_program(name: &str) -> bool {
    name == "schema.json" || name == "schemas.json" || name.ends_with(".schema.json")
}

/// The files in a folder whose names are wanted, in order.
fn at_the_top(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let fits = |path: &PathBuf| {
        path.is_file() && path.file_name().and_then(|name| name.to_str()).is_some_and(&wanted)
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(fits).collect();
    files.sort();
    files
}

fn named_for(folder: &Path, address: &ProviderAddress) -> Vec<(Option<Version>, PathBuf)> {
    let plain = format!("{}.json", address.type_name);
    let files = at_the_top(&folder.join(&address.namespace), |name| name.ends_with(".json"));
    files
        .into_iter()
        .filter_map(|path| match version_in_name(&path, address) {
            Some(version) => Some((Some(version), path)),
            None => path.ends_with(&plain).then_some((None, path)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: PathBuf, addresses: &[&str]) {
        let parts: Vec<String> = addresses.iter().map(|address| format!("\"{address}\":{{}}")).collect();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = format!("{{\"format_version\":\"1.0\",\"provider_schemas\":{{{}}}}}", parts.join(","));
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_version_that_is_wanted_comes_first_then_an_allowed_then_any() {
        let folder = tempfile::tempdir().unwrap();
        let (program, store) = (folder.path().join("program"), folder.path().join("store"));
        let aws = "registry.terraform.io/hashicorp/aws";
        for name in ["hashicorp/aws-5.1.0.json", "hashicorp/aws-5.2.0.json", "hashicorp/aws-6.0.0.json"] {
            write(store.join(name), &[aws]);
        }
        write(store.join("hashicorp/aws-cc-9.0.0.json"), &["registry.terraform.io/hashicorp/aws-cc"]);
        let address: ProviderAddress = "hashicorp/aws".parse().unwrap();
        let find = |locked: Option<Version>, constraints: &str| {
            let constraints =
                if constraints.is_empty() { Constraints::default() } else { constraints.parse().unwrap() };
            let found = Schemas::of(&program, std::slice::from_ref(&store)).find(
                &address,
                locked.as_ref(),
                &constraints,
            );
            found
                .unwrap()
                .map(|found| found.file.path().strip_prefix(folder.path()).unwrap().display().to_string())
        };
        assert_eq!(find(Some(Version::new(5, 1, 0)), "~> 5.0").unwrap(), "store/hashicorp/aws-5.1.0.json");
        assert_eq!(find(None, "~> 5.0").unwrap(), "store/hashicorp/aws-5.2.0.json");
        assert_eq!(find(None, "").unwrap(), "store/hashicorp/aws-6.0.0.json");
        assert_eq!(find(None, "~> 4.0").unwrap(), "store/hashicorp/aws-6.0.0.json");
        write(store.join("hashicorp/aws.json"), &[aws]);
        assert_eq!(find(None, "~> 4.0").unwrap(), "store/hashicorp/aws.json");
    }

    #[test]
    fn a_file_of_several_providers_beside_the_program_serves_all_of_them() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path().join("schema.json"), &["registry.terraform.io/a/b", "example.org/c/d"]);
        fs::write(folder.path().join("other.schema.json"), "[]").unwrap();
        let schemas = Schemas::of(folder.path(), &[]);
        let found = |text: &str| schemas.find(&text.parse().unwrap(), None, &Constraints::default()).unwrap();
        assert!(found("a/b").is_some() && found("example.org/c/d").is_some() && found("c/d").is_none());
    }

    #[test]
    fn a_schema_of_another_provider_under_the_name_of_one_is_a_mistake() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path().join("store/a/b.json"), &["registry.terraform.io/c/d"]);
        let schemas = Schemas::of(folder.path(), &[folder.path().join("store")]);
        let error =
            schemas.find(&"a/b".parse().unwrap(), None, &Constraints::default()).unwrap_err().to_string();
        assert!(
            error.contains("there is no schema of a/b in it; it has registry.terraform.io/c/d"),
            "{error}"
        );
    }
}
