//! How people choose an engine to run: by name, or by the path of an executable.

use std::fmt::{self, Display};
use std::path::PathBuf;
use std::str::FromStr;

use super::spec::{EngineSpec, SpecError, VersionRequest};
use crate::engine_id::{EngineName, RecordedEngine};

/// An engine as asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineChoice {
    /// By name, to be found on the PATH or in the cache.
    Named(EngineSpec),
    /// This executable.
    At {
        /// Where it is.
        path: PathBuf,
        /// Which engine it is, if it does not say so itself.
        named: Option<EngineName>,
    },
}

impl EngineChoice {
    /// The choice that finds an engine again that was run before.
    pub fn again(engine: &RecordedEngine) -> Self {
        let RecordedEngine { id, path } = engine;
        match path {
            Some(path) => Self::At { path: path.clone(), named: Some(id.name) },
            None => {
                Self::Named(EngineSpec { name: id.name, version: VersionRequest::Exact(id.version.clone()) })
            }
        }
    }
}

impl FromStr for EngineChoice {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        if !text.contains('/') {
            return text.parse().map(Self::Named);
        }
        let named = text.split_once(':').and_then(|(name, path)| Some((name.parse().ok()?, path)));
        Ok(match named {
            Some((name, path)) => Self::At { path: path.into(), named: Some(name) },
            None => Self::At { path: text.into(), named: None },
        })
    }
}

impl Display for EngineChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(spec) => spec.fmt(f),
            Self::At { path, named: None } => path.display().fmt(f),
            Self::At { path, named: Some(name) } => write!(f, "{name}:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_slash_in_it_is_a_path() {
        for path in ["./terraform", "/opt/engine", "build/tofu"] {
            assert_eq!(path.parse(), Ok(EngineChoice::At { path: path.into(), named: None }));
        }
        let named = EngineChoice::At { path: "./fork".into(), named: Some(EngineName::Tofu) };
        assert_eq!("tofu:./fork".parse(), Ok(named));
        assert_eq!("tofu@1.12".parse(), Ok(EngineChoice::Named("tofu@1.12".parse().unwrap())));
    }

    #[test]
    fn an_engine_that_was_run_is_chosen_again_by_its_path_or_its_exact_version() {
        let id = "tofu@1.12.6".parse::<EngineSpec>().unwrap().id().unwrap();
        let at = RecordedEngine { id: id.clone(), path: Some("/found at home/tofu".into()) };
        for (engine, text) in [(at, "tofu:/found at home/tofu"), (id.into(), "tofu@1.12.6")] {
            let choice = EngineChoice::again(&engine);
            assert_eq!(choice.to_string(), text);
            assert_eq!(text.parse(), Ok(choice));
        }
    }
}
