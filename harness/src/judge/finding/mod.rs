//! Findings: what a correct engine would not have done, as data.
//!
//! [`kind`] is what can be found and by whom, [`subject`] what a finding is about, [`detail`] what was seen of it.
//! `text` is the one place that makes sentences of it, and `stored` how it is written to files. Nothing reads a
//! sentence back: whoever wants to know something of a finding asks its kind, rule, subjects and detail.

pub mod detail;
pub mod kind;
mod stored;
pub mod subject;
mod text;

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::evidence::EngineError;
use crate::spec::{Address, OperationKind, Rule};
pub use detail::Detail;
pub use kind::{FindingKind, OracleId, Signature};
pub use subject::Subject;
#[cfg(test)]
pub use text::reworded;
pub use text::shortened;

/// The name of a stage.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StageName(String);

impl StageName {
    /// Where a finding is about a variant as a whole.
    pub fn of_variant() -> Self {
        Self("last batch".to_owned())
    }

    /// As a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for StageName {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl Display for StageName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl PartialEq<str> for StageName {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<String> for StageName {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}

/// Something that a correct engine would not have done. As a text it is a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What went wrong; it says which oracle saw it.
    pub kind: FindingKind,
    /// The rule of the model that was not kept, if it is about one.
    pub rule: Option<Rule>,
    /// The stage.
    pub stage: StageName,
    /// What it is about.
    pub subjects: Vec<Subject>,
    /// What was seen.
    pub detail: Detail,
    /// The name of the known engine bug that explains it.
    pub known: Option<String>,
}

impl Finding {
    /// A finding in a stage, of which nothing but the kind is known yet.
    pub fn new(kind: FindingKind, stage: &str) -> Self {
        let (subjects, detail) = (Vec::new(), Detail::None);
        Self { kind, rule: None, stage: stage.into(), subjects, detail, known: None }
    }

    /// The same about something.
    #[must_use]
    pub fn about(mut self, subjects: impl IntoIterator<Item = Subject>) -> Self {
        self.subjects.extend(subjects);
        self
    }

    /// The same with what was seen.
    #[must_use]
    pub fn with(self, detail: Detail) -> Self {
        Self { detail, ..self }
    }

    /// The same of a rule of the model.
    #[must_use]
    pub fn of_rule(self, rule: Rule) -> Self {
        Self { rule: Some(rule), ..self }
    }

    /// Not the engine's doing: what comes after the findings of this stage could not be judged.
    pub fn broken_evidence(stage: StageName, reason: String) -> Self {
        let finding = Self::new(FindingKind::EvidenceUnreadable, "").with(Detail::Quote { words: reason });
        Self { stage, ..finding }
    }

    /// Whether it is [`Finding::broken_evidence`].
    pub fn is_broken_evidence(&self) -> bool {
        self.kind == FindingKind::EvidenceUnreadable
    }

    /// The oracle that saw it.
    pub fn oracle(&self) -> OracleId {
        self.kind.oracle()
    }

    /// By what it is grouped with others.
    pub fn signature(&self) -> Signature {
        Signature { kind: self.kind, rule: self.rule }
    }

    /// By what two findings are held to be the same: signature and stage.
    pub fn place(&self) -> (Signature, &StageName) {
        (self.signature(), &self.stage)
    }

    /// Whether it is about a resource, or what was seen names it.
    pub fn mentions(&self, key: &str, address: &Address) -> bool {
        let text = address.to_string();
        let is_output =
            |subject: &Subject| matches!(subject, Subject::Output { name } if **name == *address.name);
        self.subjects.iter().any(|subject| subject.is_resource(key, &text) || is_output(subject))
            || self.detail.keys().contains(&key)
            || self.detail.addresses().contains(&text.as_str())
    }

    /// What is done in the first operation that it is about.
    pub fn operation(&self) -> Option<OperationKind> {
        self.subjects.iter().find_map(Subject::operation_kind)
    }

    /// The first error of the engine that says what it is about.
    pub fn error(&self) -> Option<&EngineError> {
        self.detail.errors().iter().find(|error| error.summary.is_some())
    }
}
