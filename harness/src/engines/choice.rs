//! How people choose an engine to run: by name, or by the path of an executable.

use std::fmt::{self, Display};
use std::path::PathBuf;
use std::str::FromStr;

use super::spec::{EngineSpec, SpecError};

/// An engine as asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineChoice {
    /// By name, to be found on the PATH or in the cache.
    Named(EngineSpec),
    /// This executable, which takes the commands of Terraform.
    At(PathBuf),
}

impl FromStr for EngineChoice {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        // What a report calls an engine that was given by its path.
        let path = text.split_once(" at ").map_or(text, |(_, path)| path);
        if path.contains('/') {
            return Ok(Self::At(PathBuf::from(path)));
        }
        text.parse().map(Self::Named)
    }
}

impl Display for EngineChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(spec) => spec.fmt(f),
            Self::At(path) => path.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_slash_in_it_is_a_path() {
        for path in ["./terraform", "/opt/engine", "build/tofu"] {
            assert_eq!(path.parse(), Ok(EngineChoice::At(path.into())));
        }
        assert_eq!("tofu@1.12.6 at /opt/tofu".parse(), Ok(EngineChoice::At("/opt/tofu".into())));
        assert_eq!("tofu@1.12".parse(), Ok(EngineChoice::Named("tofu@1.12".parse().unwrap())));
    }
}
