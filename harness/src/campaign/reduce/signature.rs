//! By what a failure is recognised while it is cut down, so that a reduction never slips to another bug.

use serde::{Deserialize, Serialize};

use crate::engine_id::EngineId;
use crate::judge::cause::cause;
use crate::judge::oracles::Finding;

/// The signature of a failure: of the finding that is its cause. What follows from it may come and go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Signature {
    /// The oracle that sees it.
    pub oracle: String,
    /// As what.
    pub kind: String,
    /// The engine, whichever build.
    pub engine: EngineId,
    /// What else tells it from others of its kind: the operation that was not as expected, or the engine's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The known engine bug that explains it. Without one it must stay one that nothing known explains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
}

impl Signature {
    /// That of no finding, for deployments in which none is looked for.
    pub fn of_nothing(engine: &EngineId) -> Self {
        let engine = engine.any_build();
        Self { oracle: String::new(), kind: String::new(), engine, detail: None, known: None }
    }

    /// That of a finding.
    pub fn of(finding: &Finding, engine: &EngineId) -> Self {
        Self {
            oracle: finding.oracle.clone(),
            kind: finding.kind.clone(),
            engine: engine.any_build(),
            detail: detail(finding),
            known: finding.known.clone(),
        }
    }

    /// That of the cause of what was found; none if nothing was.
    pub fn of_cause(findings: &[Finding], engine: &EngineId) -> Option<Self> {
        cause(findings).map(|finding| Self::of(finding, engine))
    }

    /// The finding with this signature that is the cause of what was found, and no consequence of something else.
    pub fn shown_by<'a>(&self, findings: &'a [Finding]) -> Option<&'a Finding> {
        let as_known: Vec<&Finding> = findings.iter().filter(|it| it.known == self.known).collect();
        // The same failure may show in several stages; what comes before its first is another one.
        let first = as_known.first()?;
        let in_stage = as_known.iter().filter(|it| it.stage == first.stage).copied();
        let in_stage: Vec<Finding> = in_stage.cloned().collect();
        let nearest = cause(&in_stage)?;
        let same = |finding: &Finding| Self::of(finding, &self.engine) == *self;
        // Several findings of one kind are equally near.
        let is_it = |finding: &&Finding| {
            (&finding.oracle, &finding.kind) == (&nearest.oracle, &nearest.kind)
                && finding.stage == first.stage
                && same(finding)
        };
        findings.iter().find(is_it)
    }

    /// In words.
    pub fn text(&self) -> String {
        let detail = self.detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
        format!("{}: {}{detail}", self.oracle, self.kind)
    }

    /// As a part of a path: `steps-missing-delete`.
    pub fn file_name(&self) -> String {
        let words = [Some(&self.oracle), Some(&self.kind), self.detail.as_ref()];
        let text = words.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ");
        let mut name = String::new();
        for letter in text.chars().map(|letter| letter.to_ascii_lowercase()) {
            if letter.is_ascii_alphanumeric() {
                name.push(letter);
            } else if !name.ends_with('-') {
                name.push('-');
            }
        }
        name.truncate(60);
        name.trim_matches('-').to_owned()
    }
}

/// See [`Signature::detail`].
fn detail(finding: &Finding) -> Option<String> {
    match (finding.oracle.as_str(), finding.kind.as_str()) {
        // `create a`: what is done counts, and not to what.
        ("steps", _) => finding.text.split(' ').next().map(str::to_owned),
        // Kinds of failures that say nothing of their reason: the engine's summary does.
        ("health", "fails" | "reports an error" | "says it has a bug") => {
            let error = finding.text.split_once("Error: ")?.1;
            Some(error.split([':', ';', '\n']).next().unwrap_or(error).trim().to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::{EngineName, Version};

    fn engine() -> EngineId {
        EngineId::new(EngineName::Terraform, Version::new(1, 15, 5))
    }

    fn finding(oracle: &str, kind: &str, stage: &str, text: &str) -> Finding {
        Finding {
            oracle: oracle.to_owned(),
            kind: kind.to_owned(),
            stage: stage.to_owned(),
            text: text.to_owned(),
            known: None,
        }
    }

    #[test]
    fn a_consequence_of_something_else_does_not_show_it() {
        let missing = finding("steps", "missing", "batch-2", "delete a");
        let signature = Signature::of(&missing, &engine());
        assert!(signature.shown_by(std::slice::from_ref(&missing)).is_some());
        let crash = finding("health", "crashes", "batch-2", "apply ended with a signal");
        assert!(signature.shown_by(&[missing.clone(), crash]).is_none(), "the engine crashed instead");
        let earlier = finding("order", "dependency-made-first", "batch-1", "b before a");
        assert!(signature.shown_by(&[earlier, missing.clone()]).is_none(), "something went wrong before");
        let other = finding("steps", "missing", "batch-2", "create a");
        assert!(signature.shown_by(std::slice::from_ref(&other)).is_none(), "another operation is missing");
        assert!(signature.shown_by(&[other, missing.clone()]).is_some(), "it is missing too");
        let graver = finding("steps", "without effect", "batch-2", "delete a");
        assert!(signature.shown_by(&[graver, missing]).is_none(), "something more telling is there");
    }

    #[test]
    fn a_known_bug_on_the_way_neither_shows_nor_hides_it() {
        let missing = finding("steps", "missing", "batch-2", "delete a");
        let known =
            Finding { known: Some("a-bug".to_owned()), ..finding("steps", "missing", "batch-1", "delete a") };
        let signature = Signature::of(&missing, &engine());
        assert!(signature.shown_by(std::slice::from_ref(&known)).is_none());
        assert!(signature.shown_by(&[known.clone(), missing.clone()]).is_some());
        assert!(Signature::of(&known, &engine()).shown_by(&[known, missing]).is_some());
    }

    #[test]
    fn errors_of_one_kind_are_told_apart_by_what_the_engine_says() {
        let fails = |error: &str| {
            let text = format!("apply -json ended with exit code 1: {error}");
            Signature::of(&finding("health", "fails", "batch-1", &text), &engine())
        };
        assert_eq!(fails("Error: Invalid count: a").detail.as_deref(), Some("Invalid count"));
        assert_ne!(fails("Error: Invalid count: a"), fails("Error: Unknown value: a"));
        assert_eq!(fails("Error: Invalid count: a"), fails("Error: Invalid count: b; Error: more"));
        assert_eq!(fails("Error: Invalid count: a").file_name(), "health-fails-invalid-count");
    }
}
