//! Known engine bugs, so that a campaign can report them as known and fail on new ones only.
//!
//! [`conditions`] are what the model says of the step in which a bug shows, and of the resources that it is about;
//! `cycle` is what an engine says of them. A finding is taken as known by its signature, the engine's version and what
//! it is about: a condition whose resources are its subjects, or a subject by name. Never by its signature alone, and
//! never by the words in which it is told.

pub mod conditions;
mod cycle;
mod versions;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::finding::kind::check_oracle;
use super::finding::{Finding, FindingKind, OracleId, Signature, Subject};
use super::history::{self, Failed, PastStage};
use crate::case::StagedBatch;
use crate::case::stage::JudgedAs;
use crate::engines::{self, EngineId, EngineName};
use crate::spec::{NodeKey, OperationKind, PlanMode, Rule, Step};
use conditions::{Condition, Pair};
pub use versions::VersionRanges;

/// The findings that come with this program.
const SHIPPED: &str = include_str!("../../../../fixtures/findings/known.toml");

/// The version of the file that this program reads.
const VERSION: u32 = 2;

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
    pub oracle: OracleId,
    /// As what.
    pub kind: FindingKind,
    /// The rule that is not kept.
    #[serde(default)]
    pub rule: Option<Rule>,
    /// When it shows, and on which resources.
    #[serde(default)]
    pub condition: Option<Condition>,
    /// What the command is for in which it shows.
    #[serde(default)]
    pub mode: Option<PlanMode>,
    /// What is done in the operation that it is about.
    #[serde(default)]
    pub operation: Option<OperationKind>,
    /// The key of a resource that it is about.
    #[serde(default)]
    pub resource: Option<String>,
    /// The address of an instance that it is about.
    #[serde(default)]
    pub address: Option<String>,
    /// The attribute or setting that it is about.
    #[serde(default)]
    pub attribute: Option<String>,
    /// The output that it is about.
    #[serde(default)]
    pub output: Option<String>,
    /// What the engine's error is about: its words up to the first colon.
    #[serde(default)]
    pub error: Option<String>,
    /// The engines that have it, with their versions.
    pub engines: BTreeMap<EngineName, VersionRanges>,
    /// What else is found in the same stage because of it.
    #[serde(default)]
    pub follows: Vec<Signature>,
    /// Whether all that is found in later stages of the variant counts as part of it: nothing is as it should be then.
    #[serde(default)]
    pub ends: bool,
}

impl KnownFinding {
    /// By what its findings are recognised.
    pub fn signature(&self) -> Signature {
        Signature { kind: self.kind, rule: self.rule }
    }

    fn concerns(&self, engine: &EngineId) -> bool {
        self.engines.get(&engine.name).is_some_and(|versions| versions.matches(&engine.version))
    }

    fn fits(&self, finding: &Finding, steps: &[Step<'_>]) -> bool {
        self.signature() == finding.signature()
            && self.is_about(&finding.subjects)
            && self.operation.is_none_or(|operation| finding.operation() == Some(operation))
            && self.error.as_deref().is_none_or(|wanted| {
                finding.error().and_then(|error| error.summary.as_deref()) == Some(wanted)
            })
            && self.condition.is_none_or(|condition| explains(condition, finding, steps))
    }

    /// Whether all that it names is among the subjects, as a whole name.
    fn is_about(&self, subjects: &[Subject]) -> bool {
        let has = |wanted: &Option<String>, is_it: &dyn Fn(&Subject, &str) -> bool| {
            wanted.as_deref().is_none_or(|name| subjects.iter().any(|subject| is_it(subject, name)))
        };
        has(&self.resource, &|subject, key| subject.is_resource(key, ""))
            && has(&self.address, &|subject, address| subject.is_resource("", address))
            && has(&self.attribute, &|subject, name| *subject == Subject::attribute(name))
            && has(&self.output, &|subject, name| *subject == Subject::output(name))
    }

    /// Whether it names something that a finding is about beyond its signature: without, it would hide new bugs.
    fn is_narrow(&self) -> bool {
        let Self { condition, resource, address, attribute, output, error, .. } = self;
        condition.is_some() || [resource, address, attribute, output, error].iter().any(|it| it.is_some())
    }
}

/// Whether a condition is true of the resources that a finding is about. A cycle must consist of them and of other
/// nodes of the step; anything else must be about them, and about no other resource.
fn explains(condition: Condition, finding: &Finding, steps: &[Step<'_>]) -> bool {
    let (Some(step), pairs) = (steps.last(), condition.pairs(steps)) else { return false };
    if finding.kind == FindingKind::ReportsCycle {
        return cycle::explained(finding.detail.errors(), &pairs, step);
    }
    if condition.is_of_the_command() && finding.subjects.iter().all(|subject| !subject.is_a_resource()) {
        return !pairs.is_empty();
    }
    let is = |subject: &Subject, key: &NodeKey| subject.is_resource(key, &step.address(key).to_string());
    let resources: Vec<&Subject> =
        finding.subjects.iter().filter(|subject| subject.is_a_resource()).collect();
    let is_about = |pair: &Pair| {
        let both = [&pair.dependent, &pair.dependency];
        both.iter().all(|key| resources.iter().any(|subject| is(subject, key)))
            && resources.iter().all(|subject| both.iter().any(|key| is(subject, key)))
    };
    pairs.iter().any(is_about)
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
        "{} is no file of known findings: {why}. Expected is TOML with `version = 2` and a [[finding]] table for each \
         bug, which has name, text, case, oracle, kind, engines, and condition or another field that says what it is \
         about (docs/formats.md)",
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
        for entry in &file.finding {
            check_oracle(entry.oracle, entry.kind).map_err(|why| format!("`{}`: {why}", entry.name))?;
        }
        if let Some(bare) = file.finding.iter().find(|entry| !entry.is_narrow()) {
            return Err(format!(
                "`{}` has no `condition`, `resource`, `address`, `attribute`, `output` or `error`: an oracle and a \
                 kind alone would hide new bugs",
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
        let judged_as = engines::judged_as(engine);
        let entries: Vec<&KnownFinding> = self.0.iter().filter(|entry| entry.concerns(&judged_as)).collect();
        let profile = engines::profile(engine);
        for index in 0..findings.len() {
            if findings[index].known.is_some() {
                continue;
            }
            let stage = findings[index].stage.clone();
            // What led to the stage is asked for only where it matters.
            if !entries.iter().any(|entry| entry.signature() == findings[index].signature()) {
                continue;
            }
            let past = history::up_to(stages.to_vec(), stage.as_str(), failed, profile.semantics);
            let steps = steps_taken(&past, failed);
            let mode = past.last().map(PastStage::mode);
            let fits = |entry: &&&KnownFinding| {
                entry.mode.is_none_or(|wanted| mode == Some(wanted)) && entry.fits(&findings[index], &steps)
            };
            let Some(entry) = entries.iter().find(fits) else { continue };
            // An engine that finds a cycle in its graph has done nothing yet. If it did, this is another bug.
            if entry.kind == FindingKind::ReportsCycle
                && failed.get(stage.as_str()).is_some_and(|effects| !effects.is_empty())
            {
                continue;
            }
            findings[index].known = Some(entry.name.clone());
            let of_it = |finding: &&mut Finding| {
                finding.stage == stage
                    && finding.known.is_none()
                    && entry.follows.contains(&finding.signature())
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
