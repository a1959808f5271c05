//! Known engine bugs, so that a campaign can report them as known and fail on new ones only.
//!
//! [`conditions`] are what the model says of the step in which a bug is due, and of the resources that it is about;
//! `cycle` is what an engine says of them. A finding is taken as known by its signature, the engine's version and such a
//! condition, whose resources it has to name, or a part of its text: never by its signature alone.

pub mod conditions;
mod cycle;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use semver::VersionReq;
use serde::Deserialize;

use crate::case::Batch;
use crate::deploy::evidence::Stage;
use crate::engine::title::Title;
use crate::model::{Deployment, Expectation};
use crate::oracle::Finding;
use conditions::{Condition, last_step};

/// The findings that come with this program.
const SHIPPED: &str = include_str!("../../../../fixtures/findings/known.toml");

/// The kind of a finding that reports a cycle.
const CYCLE: &str = "reports a cycle";

/// The version of the file that this program reads.
const VERSION: u32 = 1;

/// An oracle and a kind of difference.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The oracle.
    pub oracle: String,
    /// The kind.
    pub kind: String,
}

impl Signature {
    fn fits(&self, finding: &Finding) -> bool {
        self.oracle == finding.oracle && self.kind == finding.kind
    }
}

/// A known engine bug.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownFinding {
    /// Its short name.
    pub name: String,
    /// What it is, in a sentence.
    pub text: String,
    /// The folder of its smallest case.
    pub case: String,
    /// The oracle that sees it.
    pub oracle: String,
    /// As what.
    pub kind: String,
    /// A part of the finding's text.
    #[serde(default)]
    pub contains: Option<String>,
    /// When it is due.
    #[serde(default)]
    pub condition: Option<Condition>,
    /// The engines that have it, with their versions.
    pub engines: BTreeMap<String, VersionReq>,
    /// What else is found in the same stage because of it.
    #[serde(default)]
    pub follows: Vec<Signature>,
}

impl KnownFinding {
    fn concerns(&self, engine: &str) -> bool {
        let Some(Title { name, mut version }) = Title::parse(engine) else { return false };
        // A pre-release counts as the release it leads to; ranges alone would leave all of them out.
        version.pre = semver::Prerelease::EMPTY;
        self.engines.get(name).is_some_and(|versions| versions.matches(&version))
    }

    fn fits(&self, finding: &Finding, programs: &[&Deployment]) -> bool {
        self.oracle == finding.oracle
            && self.kind == finding.kind
            && self.contains.as_ref().is_none_or(|part| finding.text.contains(part))
            && self.condition.is_none_or(|condition| explains(condition, finding, programs))
    }
}

/// Whether a condition is true of resources that a finding names. A cycle must consist of them and of other nodes of the
/// step; another text has to have both of them in it.
fn explains(condition: Condition, finding: &Finding, programs: &[&Deployment]) -> bool {
    let pairs = condition.pairs(programs);
    if finding.kind == CYCLE {
        let (before, after) = last_step(programs);
        return cycle::explained(&finding.text, &pairs, before, after);
    }
    let part_of_name = |character: char| character.is_alphanumeric() || character == '_' || character == '-';
    let words: Vec<&str> = finding.text.split(|character| !part_of_name(character)).collect();
    pairs.iter().any(|pair| words.contains(&pair.dependent) && words.contains(&pair.dependency))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    #[serde(default)]
    finding: Vec<KnownFinding>,
}

/// A file of known findings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KnownError {
    /// It cannot be read.
    #[error("the known findings in {} cannot be read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// It is not such a file.
    #[error("{} is no file of known findings: {why}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        why: String,
    },
}

/// What is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownFindings(Vec<KnownFinding>);

impl KnownFindings {
    /// Nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// What comes with this program.
    pub fn shipped() -> Self {
        Self::parse(SHIPPED).expect("a test reads it")
    }

    /// What a file holds.
    pub fn read(path: &Path) -> Result<Self, KnownError> {
        let text =
            fs::read_to_string(path).map_err(|source| KnownError::Io { path: path.to_owned(), source })?;
        Self::parse(&text).map_err(|why| KnownError::Format { path: path.to_owned(), why })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        if file.version != VERSION {
            return Err(format!("it has version {}, and this program reads version {VERSION}", file.version));
        }
        if let Some(bare) =
            file.finding.iter().find(|entry| entry.condition.is_none() && entry.contains.is_none())
        {
            return Err(format!(
                "`{}` has neither `condition` nor `contains`: an oracle and a kind alone would hide new bugs",
                bare.name
            ));
        }
        Ok(Self(file.finding))
    }

    /// The entry with this name.
    pub fn get(&self, name: &str) -> Option<&KnownFinding> {
        self.0.iter().find(|entry| entry.name == name)
    }

    /// Puts the name of what is known on each finding of a variant that it explains, and takes other names off.
    /// `compared` says that operations were compared with those that were due: what was done and what was not can be
    /// told from the findings then.
    pub fn mark(&self, engine: &str, batches: &[Batch], compared: bool, findings: &mut [Finding]) {
        findings.iter_mut().for_each(|finding| finding.known = None);
        let entries: Vec<&KnownFinding> = self.0.iter().filter(|entry| entry.concerns(engine)).collect();
        for index in 0..findings.len() {
            let programs = programs(batches, &findings[index].stage);
            let fits = |entry: &&&KnownFinding| entry.fits(&findings[index], &programs);
            let Some(entry) = entries.iter().find(fits) else { continue };
            let stage = findings[index].stage.clone();
            // An engine that finds a cycle in its graph has done nothing yet. If it did, this is another bug.
            if entry.kind == CYCLE && did_something(&stage, &programs, compared, findings) {
                continue;
            }
            findings[index].known = Some(entry.name.clone());
            let of_it = |finding: &&mut Finding| {
                finding.stage == stage
                    && finding.known.is_none()
                    && entry.follows.iter().any(|signature| signature.fits(finding))
            };
            findings.iter_mut().filter(of_it).for_each(|finding| finding.known = Some(entry.name.clone()));
        }
    }
}

/// Whether operations that are due in a stage were done: not all of them are missing.
fn did_something(stage: &str, programs: &[&Deployment], compared: bool, findings: &[Finding]) -> bool {
    let is_missing =
        |finding: &&Finding| finding.stage == stage && finding.oracle == "steps" && finding.kind == "missing";
    let missing = findings.iter().filter(is_missing).count();
    let (before, after) = last_step(programs);
    (compared || missing > 0) && missing != Expectation::between(before, after).operations.len()
}

/// The programs that were deployed up to and with a stage.
fn programs<'a>(batches: &'a [Batch], stage: &str) -> Vec<&'a Deployment> {
    static NOTHING: Deployment = Deployment { resources: BTreeMap::new() };
    let all = batches.iter().map(|batch| &batch.deployment);
    match Stage::all(batches.len()).find(|known| known.name() == stage) {
        Some(Stage::Batch(number)) => all.take(number).collect(),
        Some(Stage::Destroy) => all.chain([&NOTHING]).collect(),
        Some(Stage::Idle | Stage::Cross) => {
            let last = all.clone().next_back();
            all.chain(last).collect()
        }
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
