//! Which types a connection sees: those of the provider that is stood in for, or the mock's own with those of the types
//! file that the host's environment or working directory names.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::types::{DEFAULT_OVERRIDES, DEFAULT_TYPES, Sources, Types, tfcoremock};

/// Names the user's types.
pub const TYPES_VARIABLE: &str = "EQUIFORM_TYPES";
/// Names the user's overrides.
pub const OVERRIDES_VARIABLE: &str = "EQUIFORM_OVERRIDES";
/// The seed of what is computed.
pub const SEED_VARIABLE: &str = "EQUIFORM_SEED";

/// The types that a connection has seen.
#[derive(Clone)]
pub struct Seen(Result<Arc<Types>, Problem>);

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seen")
    }
}

/// Where types come from, and how those files look: one that was changed is read again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    sources: Sources,
    stamps: Vec<Option<(u64, SystemTime)>>,
}

impl MockProvider {
    /// The types that a connection sees.
    pub(super) fn types(&self, session: &Session) -> Result<Arc<Types>, Problem> {
        if let Some(Seen(types)) = &*session.types.lock().expect("no holder panics") {
            return types.clone();
        }
        let types = self.load_types(session);
        *session.types.lock().expect("no holder panics") = Some(Seen(types.clone()));
        types
    }

    /// Checks that the file that the provider block names is the one whose types were shown.
    pub(super) fn check_types(&self, session: &Session, path: &str) -> Result<(), Problem> {
        let folder = session.host.working_directory()?;
        let shown = file(session, TYPES_VARIABLE, DEFAULT_TYPES)?;
        let same = |shown: &PathBuf| match (shown.canonicalize(), folder.join(path).canonicalize()) {
            (Ok(shown), Ok(named)) => shown == named,
            _ => false,
        };
        if shown.as_ref().is_some_and(same) {
            return Ok(());
        }
        let shown = shown.map_or_else(|| "none".to_owned(), |path| path.display().to_string());
        Err(Problem::new(
            "These are not the types that the engine received",
            format!(
                "`types` in the provider block names {path:?}, and the engine asked for the schema before it showed \
                 that block. The types file that it was shown: {shown}. Set {TYPES_VARIABLE}={path} in the \
                 environment, or name the file {DEFAULT_TYPES}."
            ),
        )
        .at("types"))
    }

    fn load_types(&self, session: &Session) -> Result<Arc<Types>, Problem> {
        let sources = Sources {
            types: match &self.standin {
                Some(standin) if standin.is_tfcoremock() => {
                    file(session, tfcoremock::FILE_VARIABLE, tfcoremock::DEFAULT_FILE)?
                }
                Some(_) => None,
                None => file(session, TYPES_VARIABLE, DEFAULT_TYPES)?,
            },
            overrides: match &self.standin {
                Some(_) => file(session, OVERRIDES_VARIABLE, DEFAULT_OVERRIDES)?,
                None => None,
            },
            seed: variable(session, SEED_VARIABLE)
                .map(|seed| seed.to_string_lossy().into_owned())
                .unwrap_or_default(),
            flat: self.flat,
        };
        let stamp = |path: &Option<PathBuf>| {
            let metadata = std::fs::metadata(path.as_ref()?).ok()?;
            Some((metadata.len(), metadata.modified().ok()?))
        };
        let stamps = vec![stamp(&sources.types), stamp(&sources.overrides)];
        let origin = Origin { sources, stamps };
        let known = || self.types.lock().expect("no holder panics").get(&origin).cloned();
        if let Some(types) = known() {
            return Ok(types);
        }
        let types = Arc::new(Types::load(self.standin.clone(), &origin.sources)?);
        let mut known = self.types.lock().expect("no holder panics");
        // A server that stays up for days sees many files come and go.
        if known.len() >= 64 {
            known.clear();
        }
        known.insert(origin, types.clone());
        Ok(types)
    }
}

/// A variable of the host. One that cannot be read is told where the provider is configured.
fn variable(session: &Session, name: &str) -> Option<OsString> {
    session.variable(name).ok().flatten()
}

/// The file that a variable names, or the one of that name in the working directory if it is there.
fn file(session: &Session, name: &str, default: &str) -> Result<Option<PathBuf>, Problem> {
    match variable(session, name) {
        Some(path) if PathBuf::from(&path).is_absolute() => Ok(Some(path.into())),
        Some(path) => Ok(Some(session.host.working_directory()?.join(path))),
        None => {
            let path = session.host.working_directory().ok().map(|folder| folder.join(default));
            Ok(path.filter(|path| path.is_file()))
        }
    }
}
