//! Known engine bugs, so that a campaign can report them as known and fail on new ones only.
//!
//! [`conditions`] are what the model says of the step in which a bug is due, and of the resources that it is
//! about; `cycle` is what an engine says of them. A finding is taken as known by its signature, the engine's
//! version and such a condition, whose resources it has to name, or a part of its text: never by its
//! signature alone.

pub mod conditions;
mod cycle;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use semver::VersionReq;
use serde::Deserialize;

use super::history::{self, Failed, PastStage};
use super::oracles::Finding;
use crate::case::StagedBatch;
use crate::case::stage::JudgedAs;
use crate::engines::{self, EngineId, EngineName};
use crate::evidence::Reader;
use crate::spec::Step;
use conditions::Condition;

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
    pub engines: BTreeMap<EngineName, VersionReq>,
    /// What else is found in the same stage because of it.
    #[serde(default)]
    pub follows: Vec<Signature>,
    /// Whether all that is found in later stages of the variant counts as part of it: nothing is as it should be then.
    #[serde(default)]
    pub ends: bool,
}

impl KnownFinding {
    fn concerns(&self, engine: &EngineId) -> bool {
        let mut version = engine.version.clone();
        // A pre-release counts as the release it leads to; ranges alone would leave all of them out.
        version.pre = semver::Prerelease::EMPTY;
        self.engines.get(&engine.name).is_some_and(|versions| versions.matches(&version))
    }

    fn fits(&self, finding: &Finding, steps: &[Step<'_>], reader: &dyn Reader) -> bool {
        self.oracle == finding.oracle
            && self.kind == finding.kind
            && self.contains.as_ref().is_none_or(|part| finding.text.contains(part))
            && self.condition.is_none_or(|condition| explains(condition, finding, steps, reader))
    }
}

/// Whether a condition is true of resources that a finding names. A cycle must consist of them and of other
/// nodes of the step; another text has to have both of them in it.
fn explains(condition: Condition, finding: &Finding, steps: &[Step<'_>], reader: &dyn Reader) -> bool {
    let (Some(step), pairs) = (steps.last(), condition.pairs(steps)) else { return false };
    if finding.kind == CYCLE {
        return cycle::explained(&finding.text, &pairs, step, reader);
    }
    let part_of_name = |character: char| character.is_alphanumeric() || character == '_' || character == '-';
    let words: Vec<&str> = finding.text.split(|character| !part_of_name(character)).collect();
    pairs.iter().any(|pair| words.contains(&&*pair.dependent) && words.contains(&&*pair.dependency))
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
        /// The operating system's error.
        source: io::Error,
    },
    /// It is not such a file.
    #[error(
        "{} is no file of known findings: {why}. Expected is TOML with `version = 1` and a [[finding]] table for each \
         bug, which has name, text, case, oracle, kind, engines, and contains or condition (docs/formats.md)",
        path.display()
    )]
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
        let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
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

    /// All entries.
    pub fn iter(&self) -> impl Iterator<Item = &KnownFinding> {
        self.0.iter()
    }

    /// The entry with this name.
    pub fn get(&self, name: &str) -> Option<&KnownFinding> {
        self.0.iter().find(|entry| entry.name == name)
    }

    /// Puts the name of what is known on each finding of a variant that it explains, and takes other names
    /// off. `failed` has what took effect in stages that failed.
    pub fn mark(
        &self,
        engine: &EngineId,
        stages: &[StagedBatch<'_>],
        failed: &Failed,
        findings: &mut [Finding],
    ) {
        findings.iter_mut().for_each(|finding| finding.known = None);
        let entries: Vec<&KnownFinding> = self.0.iter().filter(|entry| entry.concerns(engine)).collect();
        let profile = engines::profile(engine);
        let reader = profile.reader;
        for index in 0..findings.len() {
            if findings[index].known.is_some() {
                continue;
            }
            let stage = findings[index].stage.clone();
            let signature = |entry: &&&KnownFinding| {
                entry.oracle == findings[index].oracle && entry.kind == findings[index].kind
            };
            // What led to the stage is asked for only where it matters.
            if !entries.iter().any(|entry| signature(&entry)) {
                continue;
            }
            let past = history::up_to(stages.to_vec(), &stage, failed, profile.semantics);
            let steps = steps_taken(&past, failed);
            let fits = |entry: &&&KnownFinding| entry.fits(&findings[index], &steps, reader);
            let Some(entry) = entries.iter().find(fits) else { continue };
            // An engine that finds a cycle in its graph has done nothing yet. If it did, this is another bug.
            if entry.kind == CYCLE && failed.get(&stage).is_some_and(|effects| !effects.is_empty()) {
                continue;
            }
            findings[index].known = Some(entry.name.clone());
            let of_it = |finding: &&mut Finding| {
                finding.stage == stage
                    && finding.known.is_none()
                    && entry.follows.iter().any(|signature| signature.fits(finding))
            };
            findings.iter_mut().filter(of_it).for_each(|finding| finding.known = Some(entry.name.clone()));
            let later = findings[index..].iter_mut().filter(|finding| entry.ends && finding.stage != stage);
            later.for_each(|finding| finding.known = Some(entry.name.clone()));
        }
    }
}

/// The steps that led to the last of these stages, and the one that it asks for itself. A stage that failed before
/// it did anything took none.
fn steps_taken<'a>(past: &'a [PastStage<'_>], failed: &Failed) -> Vec<Step<'a>> {
    let Some((last, earlier)) = past.split_last() else { return Vec::new() };
    // One in which the provider failed came as far as to write the state.
    let took_one = |past: &&PastStage<'_>| {
        let stage = past.stage();
        let did = || failed.get(&stage.name).is_none_or(|done| !done.is_empty());
        stage.action.changes_the_world()
            && stage.repeats.is_none()
            && (stage.judged_as == JudgedAs::Failure || did())
    };
    let taken = earlier.iter().filter(took_one);
    taken.chain([last]).map(PastStage::step).collect()
}

#[cfg(test)]
mod tests;
