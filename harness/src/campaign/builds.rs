//! The builds that a campaign's verdicts depend on: of the engine and the provider, as they are on disk, and of this
//! program.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::digest::{self, Digests};
use crate::engine_id::{BuildDigest, EngineId, RecordedEngine};
use crate::engines::cache::TERRAFORM_LIBRARY;
use crate::engines::worker;
use crate::util::hash::{sha256, sha256_of_file};

/// What the files of an engine are.
const EXECUTABLE: &str = "executable";
const LIBRARY: &str = "library";
const WORKER: &str = "worker";

/// Which builds they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Builds {
    /// Equiform's version.
    pub equiform: String,
    /// The SHA-256 digests of the engine's files, by what they are: the executable, the library that it loads, and
    /// what keeps it warm. Their names and folders do not matter.
    pub engine: Digests,
    /// The version that the provider gives as its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_version: Option<String>,
    /// The SHA-256 digest of the provider's binary.
    pub provider: String,
}

impl Builds {
    /// Those at these paths. Files are read whole each time: a cached digest could be that of an older build.
    pub fn at(engine: &Path, provider: &Path) -> Result<Self, String> {
        let told = |path: &Path, error: io::Error| format!("{} cannot be read: {error}", path.display());
        // The library lies beside the executable itself, wherever links to it are.
        let real = engine.canonicalize().map_err(|error| told(engine, error))?;
        let library = Some(real.with_file_name(TERRAFORM_LIBRARY)).filter(|library| library.is_file());
        let worker = worker::built_beside(&real);
        let files = [(EXECUTABLE, Some(real)), (LIBRARY, library), (WORKER, worker)];
        let mut digests = Digests::new();
        for (role, file) in files.into_iter().filter_map(|(role, file)| Some((role, file?))) {
            digests.insert(role.to_owned(), sha256_of_file(&file).map_err(|error| told(&file, error))?);
        }
        Ok(Self {
            equiform: env!("CARGO_PKG_VERSION").to_owned(),
            engine: digests,
            provider_version: provider_version(provider),
            provider: sha256_of_file(provider).map_err(|error| told(provider, error))?,
        })
    }

    /// Which build of the engine it is. What keeps the engine warm is ours, and no part of that.
    pub fn build(&self) -> BuildDigest {
        let files = [EXECUTABLE, LIBRARY].into_iter().filter_map(|role| self.engine.get(role));
        match files.collect::<Vec<_>>().as_slice() {
            [executable] => BuildDigest((*executable).clone()),
            several => {
                let listed = several.iter().map(|digest| format!("{digest}\n")).collect::<String>();
                BuildDigest(sha256(listed))
            }
        }
    }

    /// An engine, together with which build of it this is.
    pub fn identify(&self, engine: &RecordedEngine) -> RecordedEngine {
        let id = EngineId { build: Some(self.build()), ..engine.id.clone() };
        RecordedEngine { id, path: engine.path.clone() }
    }

    /// What differs between the builds of a campaign and those that are there now, for people; none if nothing does.
    pub fn changed(&self, now: &Self) -> Option<String> {
        let mut changes = Vec::new();
        if self.engine != now.engine {
            let files = digest::differing(&self.engine, &now.engine);
            changes.push(format!("the engine's {}", files.join(" and ")));
        }
        if self.provider != now.provider {
            changes.push("the provider's binary".to_owned());
        }
        if self.equiform != now.equiform {
            changes.push(format!("equiform (it was {}, and is {})", self.equiform, now.equiform));
        }
        (!changes.is_empty()).then(|| changes.join(", and "))
    }
}

/// The version that a provider's binary gives as its own; none if it gives none.
pub fn provider_version(provider: &Path) -> Option<String> {
    let output = Command::new(provider).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.trim().strip_prefix("terraform-provider-mock ").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn another_build_of_the_engine_its_library_or_the_provider_is_told_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("bin")).unwrap();
        for file in ["terraform", TERRAFORM_LIBRARY, "provider"] {
            fs::write(path(file), file).unwrap();
        }
        std::os::unix::fs::symlink(path("terraform"), path("bin/engine")).unwrap();
        let now = || Builds::at(&path("bin/engine"), &path("provider")).unwrap();
        let before = now();
        assert_eq!(before.changed(&now()), None);
        fs::create_dir(path("elsewhere")).unwrap();
        fs::copy(path("terraform"), path("elsewhere/my-build")).unwrap();
        fs::copy(path(TERRAFORM_LIBRARY), path("elsewhere").join(TERRAFORM_LIBRARY)).unwrap();
        let copied = Builds::at(&path("elsewhere/my-build"), &path("provider")).unwrap();
        assert_eq!((copied.build(), before.changed(&copied)), (before.build(), None), "it is the same build");
        fs::write(path(TERRAFORM_LIBRARY), "rebuilt").unwrap();
        assert_ne!(before.build(), now().build());
        assert_eq!(before.changed(&now()).unwrap(), "the engine's library");
        fs::write(path("terraform"), "rebuilt").unwrap();
        fs::write(path("provider"), "rebuilt").unwrap();
        let older = Builds { equiform: "0.0.1".to_owned(), ..before };
        assert_eq!(
            older.changed(&now()).unwrap(),
            format!(
                "the engine's executable and library, and the provider's binary, \
                 and equiform (it was 0.0.1, and is {})",
                env!("CARGO_PKG_VERSION")
            )
        );
    }
}
