//! The faults of a run: which operations the provider fails on demand, and how.
//!
//! A list of faults is a JSON document with a version. A case stores it, the harness sends it to the provider, and
//! people give it in `EQUIFORM_FAULTS` or in the provider block. Values and fields that a version does not know are
//! refused: a fault that the provider passed over in silence would blame the engine.

mod breach;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ledger::Operation;
pub use breach::Breach;

/// The newest version of the list that this crate reads. A list is written with the oldest version that has all its
/// actions: the second has [`FaultAction::Breach`].
pub const FAULTS_VERSION: u32 = 2;

/// The faults of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Document", try_from = "Document")]
pub struct Faults(Vec<Fault>);

/// One fault: the call that it meets, and what the provider does in that call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The call.
    #[serde(rename = "match")]
    pub call: Call,
    /// What the provider does.
    pub action: FaultAction,
}

/// One call of the provider. What is not given matches anything.
///
/// The plugin protocol tells a provider no addresses, so an object is matched by its type and its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The operation.
    pub operation: FaultOperation,
    /// The type of the object.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// The key of the object. Every operation on an object needs one; `configure` has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Which call of the operation on this object it is within the run, counted from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub nth: u64,
}

/// An operation that can fail on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultOperation {
    /// Creating an object.
    Create,
    /// Updating it.
    Update,
    /// Deleting it.
    Delete,
    /// Reading it. Reads of data sources do not fail.
    Read,
    /// Planning a change of it.
    Plan,
    /// Validating its configuration.
    Validate,
    /// Configuring the provider.
    Configure,
}

/// What the provider does in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultAction {
    /// It answers with an error, and nothing takes effect.
    Error,
    /// It answers with an error, and a part takes effect: a created object exists, and an updated one has its new
    /// label and no other new value. The answer has the object as it is then.
    ErrorWithPartialObject,
    /// It answers without an error, and with something that no provider may answer.
    Breach(Breach),
}

impl FaultAction {
    /// How the answer breaks the contract, if it does.
    pub fn breach(self) -> Option<Breach> {
        match self {
            Self::Breach(breach) => Some(breach),
            Self::Error | Self::ErrorWithPartialObject => None,
        }
    }
}

impl FaultOperation {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Create, Self::Update, Self::Delete, Self::Read, Self::Plan, Self::Validate, Self::Configure];

    /// Its name.
    pub fn name(self) -> &'static str {
        self.in_ledger().map_or("validate", Operation::name)
    }

    /// The operation as the ledger records it; none for `validate`, which may come before there is a ledger.
    pub fn in_ledger(self) -> Option<Operation> {
        match self {
            Self::Create => Some(Operation::Create),
            Self::Update => Some(Operation::Update),
            Self::Delete => Some(Operation::Delete),
            Self::Read => Some(Operation::Read),
            Self::Plan => Some(Operation::Plan),
            Self::Configure => Some(Operation::Configure),
            Self::Validate => None,
        }
    }
}

impl fmt::Display for FaultOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Fault {
    /// A fault in the first call of an operation; `configure` has no key.
    pub fn in_first_call(operation: FaultOperation, key: Option<&str>, action: FaultAction) -> Self {
        let key = key.map(str::to_owned);
        Self { call: Call { operation, type_name: None, key, nth: first() }, action }
    }

    /// Why it is no fault that the provider can produce.
    fn check(&self) -> Result<(), InvalidFaults> {
        let Call { operation, type_name, key, nth } = &self.call;
        let partial = self.action == FaultAction::ErrorWithPartialObject;
        let configures = *operation == FaultOperation::Configure;
        match key.as_deref() {
            Some(_) if configures => Err(InvalidFaults::KeyOfConfigure),
            None if !configures => Err(InvalidFaults::MissingKey(*operation)),
            Some("") => Err(InvalidFaults::EmptyKey(*operation)),
            _ if configures && type_name.is_some() => Err(InvalidFaults::KeyOfConfigure),
            _ if *nth == 0 => Err(InvalidFaults::Nth),
            _ if partial && !matches!(operation, FaultOperation::Create | FaultOperation::Update) => {
                Err(InvalidFaults::Partial(*operation))
            }
            _ if self.action.breach().is_some_and(|breach| !breach.is_possible_in(*operation)) => {
                Err(InvalidFaults::Breach(*operation))
            }
            _ => Ok(()),
        }
    }
}

/// As people read it, such as `create of "r1", call 1: error`.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Call { operation, type_name, key, nth } = &self.call;
        f.write_str(operation.name())?;
        if let Some(type_name) = type_name {
            write!(f, " of {type_name}")?;
        }
        if let Some(key) = key {
            let before = if type_name.is_some() { " " } else { " of " };
            write!(f, "{before}{key:?}")?;
        }
        write!(f, ", call {nth}: ")?;
        f.write_str(match self.action {
            FaultAction::Error => "error",
            FaultAction::ErrorWithPartialObject => "error with a partial object",
            FaultAction::Breach(breach) => breach.text(),
        })
    }
}

impl Faults {
    /// A list of faults, which must all be possible and meet different calls.
    pub fn new(faults: Vec<Fault>) -> Result<Self, InvalidFaults> {
        for (place, fault) in faults.iter().enumerate() {
            fault.check()?;
            if faults[..place].iter().any(|earlier| earlier.call == fault.call) {
                return Err(InvalidFaults::Duplicate(fault.to_string()));
            }
        }
        Ok(Self(faults))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The faults, in the order in which they are listed.
    pub fn iter(&self) -> std::slice::Iter<'_, Fault> {
        self.0.iter()
    }

    /// Keeps those faults of which this is so.
    pub fn retain(&mut self, keep: impl FnMut(&Fault) -> bool) {
        self.0.retain(keep);
    }

    /// Gives the objects other keys. Different keys must stay different.
    pub fn rename(&mut self, name: impl Fn(&str) -> String) {
        for key in self.0.iter_mut().filter_map(|fault| fault.call.key.as_mut()) {
            *key = name(key);
        }
    }

    /// The same as JSON text, in one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("faults are always JSON")
    }
}

impl<'a> IntoIterator for &'a Faults {
    type Item = &'a Fault;
    type IntoIter = std::slice::Iter<'a, Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// Reads the JSON document. An empty text is an empty list.
impl FromStr for Faults {
    type Err = InvalidFaults;

    fn from_str(text: &str) -> Result<Self, InvalidFaults> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_str::<Document>(text)
            .map_err(|error| InvalidFaults::Json(error.to_string()))?
            .try_into()
    }
}

/// The list as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    faults: Vec<Fault>,
}

impl From<Faults> for Document {
    fn from(Faults(faults): Faults) -> Self {
        let breaks_contract = faults.iter().any(|fault| fault.action.breach().is_some());
        Self { version: if breaks_contract { FAULTS_VERSION } else { 1 }, faults }
    }
}

impl TryFrom<Document> for Faults {
    type Error = InvalidFaults;

    fn try_from(document: Document) -> Result<Self, InvalidFaults> {
        match document.version {
            1 if document.faults.iter().any(|fault| fault.action.breach().is_some()) => {
                Err(InvalidFaults::TooOld)
            }
            1..=FAULTS_VERSION => Self::new(document.faults),
            other => Err(InvalidFaults::Version(other)),
        }
    }
}

/// A list of faults that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFaults {
    /// It is not the JSON of a list of faults.
    #[error("it is not a JSON document such as {EXAMPLE}: {0}")]
    Json(String),
    /// It has another version.
    #[error("it has version {0}, and this program reads versions 1 to {FAULTS_VERSION}")]
    Version(u32),
    /// Its version has no such action.
    #[error("it has version 1, in which providers keep their contract; a breach needs version 2")]
    TooOld,
    /// A fault lacks the key of its object.
    #[error("a fault in {0} needs the `key` of an object")]
    MissingKey(FaultOperation),
    /// A key is empty.
    #[error("a fault in {0} has an empty `key`, and no object has such a key")]
    EmptyKey(FaultOperation),
    /// A fault in `configure` names an object.
    #[error("a fault in configure has neither `key` nor `type`")]
    KeyOfConfigure,
    /// Calls are counted from 1.
    #[error("`nth` counts calls from 1")]
    Nth,
    /// An operation cannot take effect in part.
    #[error("only create and update can take effect in part, and {0} cannot")]
    Partial(FaultOperation),
    /// An answer cannot break the contract in this way.
    #[error("no answer to a {0} can break the contract in this way")]
    Breach(FaultOperation),
    /// Two faults meet the same call.
    #[error("two faults meet the same call: {0}")]
    Duplicate(String),
}

/// A list of faults, for messages.
const EXAMPLE: &str =
    r#"{"version":1,"faults":[{"match":{"operation":"create","key":"r1","nth":1},"action":"error"}]}"#;

fn first() -> u64 {
    1
}

fn is_first(nth: &u64) -> bool {
    *nth == first()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(item: &str) -> Result<Faults, InvalidFaults> {
        format!(r#"{{"version":1,"faults":[{item}]}}"#).parse()
    }

    #[test]
    fn a_list_is_read_and_written_as_json_with_a_version() {
        let faults: Faults = EXAMPLE.parse().unwrap();
        let fault = Fault::in_first_call(FaultOperation::Create, Some("r1"), FaultAction::Error);
        assert_eq!(faults, Faults::new(vec![fault]).unwrap());
        let short =
            r#"{"version":1,"faults":[{"match":{"operation":"create","key":"r1"},"action":"error"}]}"#;
        assert_eq!(faults.to_json(), short, "what is the default is left out");
        assert_eq!("".parse(), Ok(Faults::default()));
        let call = r#"{"operation":"update","type":"t","key":"k","nth":2}"#;
        let partial = format!(r#"{{"match":{call},"action":"error_with_partial_object"}}"#);
        assert!(with(&partial).unwrap().to_json().contains(&partial));
    }

    #[test]
    fn what_the_provider_cannot_produce_is_refused() {
        let call = |call: &str| with(&format!(r#"{{"match":{{{call}}},"action":"error"}}"#));
        assert_eq!(call(r#""operation":"create""#), Err(InvalidFaults::MissingKey(FaultOperation::Create)));
        assert_eq!(
            call(r#""operation":"read","key":"""#),
            Err(InvalidFaults::EmptyKey(FaultOperation::Read))
        );
        assert_eq!(call(r#""operation":"configure","key":"a""#), Err(InvalidFaults::KeyOfConfigure));
        assert_eq!(call(r#""operation":"plan","key":"a","nth":0"#), Err(InvalidFaults::Nth));
        let partial = r#"{"match":{"operation":"delete","key":"a"},"action":"error_with_partial_object"}"#;
        assert_eq!(with(partial), Err(InvalidFaults::Partial(FaultOperation::Delete)));
        let twice = r#"{"match":{"operation":"create","key":"a"},"action":"error"}"#;
        assert!(matches!(with(&format!("{twice},{twice}")), Err(InvalidFaults::Duplicate(_))));
        for unknown in [r#""operation":"import","key":"a""#, r#""operation":"create","address":"x.y""#] {
            assert!(matches!(call(unknown), Err(InvalidFaults::Json(_))), "{unknown}");
        }
        assert_eq!(r#"{"version":3,"faults":[]}"#.parse::<Faults>(), Err(InvalidFaults::Version(3)));
        assert!(matches!("create:a:1:error".parse::<Faults>(), Err(InvalidFaults::Json(_))));
    }

    #[test]
    fn a_breach_belongs_to_some_operations_and_needs_the_second_version() {
        let list = |version: u32, operation: &str, breach: &str| {
            let fault = format!(
                r#"{{"match":{{"operation":"{operation}","key":"a"}},"action":{{"breach":"{breach}"}}}}"#
            );
            format!(r#"{{"version":{version},"faults":[{fault}]}}"#)
        };
        let text = list(2, "plan", "invalid_plan");
        assert_eq!(text.parse::<Faults>().unwrap().to_json(), text);
        assert_eq!(list(1, "plan", "invalid_plan").parse::<Faults>(), Err(InvalidFaults::TooOld));
        let delete = list(2, "delete", "inconsistent_result").parse::<Faults>();
        assert_eq!(delete, Err(InvalidFaults::Breach(FaultOperation::Delete)));
        for breach in Breach::ALL {
            assert!(FaultOperation::ALL.into_iter().any(|it| breach.is_possible_in(it)), "{breach:?}");
        }
    }

    #[test]
    fn people_read_operation_object_call_and_action() {
        let fault = Fault::in_first_call(FaultOperation::Create, Some("r:1"), FaultAction::Error);
        assert_eq!(fault.to_string(), r#"create of "r:1", call 1: error"#);
        let fault = Fault::in_first_call(FaultOperation::Configure, None, FaultAction::Error);
        assert_eq!(fault.to_string(), "configure, call 1: error");
    }
}
