//! A folder belongs to one campaign: what it was started with is written there first.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Settings;

const FILE: &str = "campaign.json";

/// The version of the file that this program writes and reads.
const VERSION: u32 = 1;

/// All that the verdicts in a folder depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    version: u32,
    engine: String,
    oracles: Vec<String>,
    settings: Settings,
}

/// A folder that cannot be used for a campaign.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another campaign is in it.
    #[error(
        "{} holds a campaign with other settings ({FILE} has them): run with those to go on with it, or name another folder with --out",
        .0.display()
    )]
    Other(PathBuf),
    /// Something else is in it.
    #[error("{} is not empty and holds no campaign: name another folder with --out", .0.display())]
    Foreign(PathBuf),
    /// It cannot be made, read or written.
    #[error("the folder {} cannot be used: {source}; name another with --out", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
}

impl Claim {
    /// The claim of a campaign on an engine, named with its exact version.
    pub fn new(engine: String, oracles: Vec<String>, settings: Settings) -> Self {
        Self { version: VERSION, engine, oracles, settings }
    }

    /// Makes the folder this campaign's. One that is this campaign's already may be gone on with.
    pub fn stake(&self, folder: &Path) -> Result<(), ClaimError> {
        let io = |source| ClaimError::Io { path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(io)?;
        match fs::read(folder.join(FILE)) {
            Ok(bytes) => match serde_json::from_slice::<Self>(&bytes) {
                Ok(there) if there == *self => Ok(()),
                _ => Err(ClaimError::Other(folder.to_owned())),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if fs::read_dir(folder).map_err(io)?.next().is_some() {
                    return Err(ClaimError::Foreign(folder.to_owned()));
                }
                let file = tempfile::NamedTempFile::new_in(folder).map_err(io)?;
                serde_json::to_writer_pretty(&file, self).map_err(|error| io(error.into()))?;
                file.persist(folder.join(FILE)).map_err(|error| io(error.error))?;
                Ok(())
            }
            Err(error) => Err(io(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(seed: u64) -> Claim {
        let settings = Settings {
            seed,
            sources: 1,
            variants: 1,
            batches: 1,
            resources: 1..=1,
            edges: 0..=0,
            create_before_destroy: 0.2,
        };
        Claim::new("terraform@1.15.5".to_owned(), vec!["graph".to_owned()], settings)
    }

    #[test]
    fn a_campaign_may_come_back_to_its_folder_and_another_may_not() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("new/folder");
        claim(1).stake(&out).unwrap();
        claim(1).stake(&out).unwrap();
        let before = fs::read(out.join(FILE)).unwrap();
        assert!(matches!(claim(2).stake(&out), Err(ClaimError::Other(_))));
        assert_eq!(fs::read(out.join(FILE)).unwrap(), before);
    }

    #[test]
    fn a_folder_with_other_things_in_it_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.txt"), "mine").unwrap();
        assert!(matches!(claim(1).stake(folder.path()), Err(ClaimError::Foreign(_))));
    }

    #[test]
    fn a_folder_that_cannot_be_made_gives_a_sentence() {
        let error = claim(1).stake(Path::new("/dev/null/folder")).unwrap_err().to_string();
        assert!(error.starts_with("the folder /dev/null/folder cannot be used: "), "{error}");
    }
}
