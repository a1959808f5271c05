//! What a program needs: its providers with the versions that it demands, and the folders of its modules.
//!
//! A program is a folder with `.tf` and `.tf.json` files, the folders of modules that it calls by local paths, and
//! those that an engine has fetched for it already.

mod fetched;
mod hcl_files;
mod json_files;
mod module;
mod pieces;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

pub use self::fetched::FOLDER as FETCHED_MODULES;
use self::module::Module;
use super::address::{AddressError, ProviderAddress};
use super::constraint::{ConstraintError, Constraints};

/// The provider that is built into engines.
const BUILT_IN: &str = "terraform";

/// The host of what is built into engines.
const BUILT_IN_HOST: &str = "terraform.io";

/// The host of our own provider.
const OWN: &str = "equiform.test/equiform/mock";

/// A provider that a program needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needed {
    /// Which.
    pub address: ProviderAddress,
    /// What its version has to be.
    pub constraints: Constraints,
    /// The file that first names it, or one of its types.
    pub at: PathBuf,
    /// The attributes that modules give it in `provider_meta` blocks.
    pub provider_meta: BTreeSet<String>,
}

/// A program that was looked through.
#[derive(Debug, Default)]
pub struct Program {
    /// The providers that it needs, our own and what is built into engines left out.
    pub providers: Vec<Needed>,
    /// Whether it uses our own provider.
    pub uses_mock: bool,
    /// The folders of its modules, its own first.
    pub folders: Vec<PathBuf>,
    /// Modules that come from elsewhere and were not fetched yet: what calls them, and their source.
    pub remote_modules: Vec<(String, String)>,
    /// Files that were read in part only, as the parser refuses something that engines may take, and why.
    pub read_in_part: Vec<(PathBuf, String)>,
    /// Files with provisioners, which do what they say wherever they are run.
    pub provisioners: BTreeSet<PathBuf>,
}

/// A program that cannot be looked through.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// A file or folder cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A module is not there.
    #[error("{}: module.{name} is called from {}, which cannot be read: {error}", at.display(), path.display())]
    NoModule {
        /// The name of the call.
        name: String,
        /// The file with the call.
        at: PathBuf,
        /// The module's folder.
        path: PathBuf,
        /// The operating system's error.
        error: io::Error,
    },
    /// There is no program.
    #[error("{}: there is no .tf or .tf.json file in this folder, so there is no program to run", .0.display())]
    Empty(PathBuf),
    /// A file cannot be parsed.
    #[error("{}: {why}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The parser's words.
        why: String,
    },
    /// An address of a provider is none.
    #[error("{}: {error}", path.display())]
    Address {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: AddressError,
    },
    /// A constraint is none.
    #[error("{}: {error}", path.display())]
    Constraint {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: ConstraintError,
    },
    /// No end of modules.
    #[error("{}: it has more than {MOST_MODULES} modules; do they call each other in a cycle?", .0.display())]
    TooMany(PathBuf),
}

/// The most modules that are looked through.
const MOST_MODULES: usize = 1000;

impl Program {
    /// Looks through a program.
    pub fn read(folder: &Path) -> Result<Self, ProgramError> {
        let io = |source| ProgramError::Io { path: folder.to_owned(), source };
        let root = folder.canonicalize().map_err(io)?;
        let mut program = Self::default();
        let mut needed: BTreeMap<ProviderAddress, Needed> = BTreeMap::new();
        let fetched = fetched::modules(&root);
        let mut waiting = vec![(String::new(), root.clone())];
        while let Some((key, folder)) = waiting.pop() {
            if program.folders.contains(&folder) {
                continue;
            }
            if program.folders.len() == MOST_MODULES {
                return Err(ProgramError::TooMany(root));
            }
            let module = Module::read(&folder)?;
            if folder == root && module.files == 0 {
                return Err(ProgramError::Empty(root));
            }
            for (address, constraints, at) in module.providers()? {
                let (constraints_so_far, provider_meta) = (Constraints::default(), BTreeSet::new());
                let new =
                    Needed { address: address.clone(), constraints: constraints_so_far, at, provider_meta };
                needed.entry(address).or_insert(new).constraints.add(constraints);
            }
            for (address, names) in module.meta()? {
                if let Some(needed) = needed.get_mut(&address) {
                    needed.provider_meta.extend(names);
                }
            }
            for (name, source, at) in &module.calls {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                if let Some(folder) = fetched.get(&key) {
                    waiting.push((key, folder.clone()));
                    continue;
                }
                if !(source.starts_with("./") || source.starts_with("../") || source == "." || source == "..")
                {
                    program
                        .remote_modules
                        .push((format!("module.{name} in {}", at.display()), source.clone()));
                    continue;
                }
                let called = folder.join(source);
                match called.canonicalize() {
                    Ok(called) => waiting.push((key, called)),
                    Err(error) => {
                        return Err(ProgramError::NoModule {
                            name: name.clone(),
                            at: at.clone(),
                            path: plain(&called),
                            error,
                        });
                    }
                }
            }
            program.provisioners.extend(module.provisioners);
            program.read_in_part.extend(module.read_in_part);
            program.folders.push(folder);
        }
        let own: ProviderAddress = OWN.parse().expect("our own address is one");
        program.uses_mock = needed.remove(&own).is_some();
        program.providers = needed.into_values().collect();
        Ok(program)
    }

    /// The folder that all folders of the program are in.
    pub fn common_folder(&self) -> PathBuf {
        let mut folders = self.folders.iter();
        let mut common = folders.next().cloned().unwrap_or_default();
        for folder in folders {
            while !folder.starts_with(&common) && common.pop() {}
        }
        common
    }
}

/// A path without `.` and `..`, as far as its letters tell.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests;
