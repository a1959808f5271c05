//! By what a failure is recognised while it is cut down, so that a reduction never slips to another bug.

use serde::{Deserialize, Serialize};

use crate::engine_id::EngineId;
use crate::judge::cause::cause;
use crate::judge::finding::{Finding, FindingKind, OracleId, Signature};
use crate::spec::OperationKind;

/// A failure by the finding that is its cause. What follows from it may come and go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symptom {
    /// The signature of that finding.
    pub signature: Signature,
    /// The engine, whichever build.
    pub engine: EngineId,
    /// The operation that was not as expected: what is done counts, and not to what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationKind>,
    /// What the engine's error is about, where the kind says nothing of its reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The known engine bug that explains it. Without one it must stay one that nothing known explains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
}

impl Symptom {
    /// That of a finding.
    pub fn of(finding: &Finding, engine: &EngineId) -> Self {
        let gives_no_reason = matches!(
            finding.kind,
            FindingKind::Failure | FindingKind::ReportsError | FindingKind::ReportsOwnBug
        );
        let error = finding.error().filter(|_| gives_no_reason).and_then(|error| error.summary.clone());
        Self {
            signature: finding.signature(),
            engine: engine.any_build(),
            operation: finding.operation().filter(|_| finding.oracle() == OracleId::Steps),
            error,
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
            finding.signature() == nearest.signature() && finding.stage == first.stage && same(finding)
        };
        findings.iter().find(is_it)
    }

    /// In words.
    pub fn text(&self) -> String {
        let detail = self.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
        format!("{}{detail}", self.signature)
    }

    /// What else tells it from others with its signature.
    fn detail(&self) -> Option<String> {
        self.operation.map(|operation| operation.to_string()).or_else(|| self.error.clone())
    }

    /// As a part of a path: `steps-operation-missing-delete`.
    pub fn file_name(&self) -> String {
        let words = self.signature.names().map(str::to_owned).chain(self.detail());
        let text = words.collect::<Vec<_>>().join(" ");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::{EngineName, Version};
    use crate::evidence::EngineError;
    use crate::judge::finding::{Detail, Subject};

    fn engine() -> EngineId {
        EngineId::new(EngineName::Terraform, Version::new(1, 15, 5))
    }

    fn finding(kind: FindingKind, stage: &str, operation: Option<OperationKind>) -> Finding {
        let subject =
            |operation| Subject::Operation { key: "a".to_owned(), operation, role: None, object: None };
        Finding::new(kind, stage).about(operation.map(subject))
    }

    fn missing(stage: &str, operation: OperationKind) -> Finding {
        finding(FindingKind::OperationMissing, stage, Some(operation))
    }

    #[test]
    fn a_consequence_of_something_else_does_not_show_it() {
        let deleted = missing("batch-2", OperationKind::Delete);
        let symptom = Symptom::of(&deleted, &engine());
        assert!(symptom.shown_by(std::slice::from_ref(&deleted)).is_some());
        let crash = finding(FindingKind::Crash, "batch-2", None);
        assert!(symptom.shown_by(&[deleted.clone(), crash]).is_none(), "the engine crashed instead");
        let earlier = finding(FindingKind::OrderViolated, "batch-1", None);
        assert!(symptom.shown_by(&[earlier, deleted.clone()]).is_none(), "something went wrong before");
        let other = missing("batch-2", OperationKind::Create);
        assert!(symptom.shown_by(std::slice::from_ref(&other)).is_none(), "another operation is missing");
        assert!(symptom.shown_by(&[other, deleted.clone()]).is_some(), "it is missing too");
        let graver = finding(FindingKind::OperationWithoutEffect, "batch-2", Some(OperationKind::Delete));
        assert!(symptom.shown_by(&[graver, deleted]).is_none(), "something more telling is there");
    }

    #[test]
    fn a_known_bug_on_the_way_neither_shows_nor_hides_it() {
        let new = missing("batch-2", OperationKind::Delete);
        let known = Finding { known: Some("a-bug".to_owned()), ..missing("batch-1", OperationKind::Delete) };
        let symptom = Symptom::of(&new, &engine());
        assert!(symptom.shown_by(std::slice::from_ref(&known)).is_none());
        assert!(symptom.shown_by(&[known.clone(), new.clone()]).is_some());
        assert!(Symptom::of(&known, &engine()).shown_by(&[known, new]).is_some());
    }

    #[test]
    fn errors_of_one_kind_are_told_apart_by_what_the_engine_says() {
        let fails = |summaries: &[&str]| {
            let error = |summary: &&str| EngineError {
                summary: Some((*summary).to_owned()),
                ..EngineError::unknown("whatever its words are")
            };
            let detail = Detail::Errors { errors: summaries.iter().map(error).collect() };
            Symptom::of(&finding(FindingKind::Failure, "batch-1", None).with(detail), &engine())
        };
        assert_eq!(fails(&["Invalid count"]).error.as_deref(), Some("Invalid count"));
        assert_ne!(fails(&["Invalid count"]), fails(&["Unknown value"]));
        assert_eq!(fails(&["Invalid count"]), fails(&["Invalid count", "More"]));
        assert_eq!(fails(&["Invalid count"]).file_name(), "health-failure-invalid-count");
    }
}
