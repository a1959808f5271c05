//! A finding as files have it: `oracle` and `text` are written for those who read them, and follow from the rest.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::kind::check_oracle;
use super::{Detail, Finding, FindingKind, OracleId, StageName, Subject};
use crate::spec::Rule;

#[derive(Serialize)]
struct Written<'a> {
    oracle: OracleId,
    kind: FindingKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<Rule>,
    stage: &'a StageName,
    subjects: &'a [Subject],
    detail: &'a Detail,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    oracle: OracleId,
    kind: FindingKind,
    #[serde(default)]
    rule: Option<Rule>,
    stage: StageName,
    subjects: Vec<Subject>,
    detail: Detail,
    /// Whatever it says: the sentence is made anew.
    #[serde(default, rename = "text")]
    _text: serde::de::IgnoredAny,
    #[serde(default)]
    known: Option<String>,
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { kind, rule, stage, subjects, detail, known } = self;
        let (oracle, text) = (self.oracle(), self.to_string());
        Written { oracle, kind: *kind, rule: *rule, stage, subjects, detail, text, known: known.as_deref() }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Finding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Read { oracle, kind, rule, stage, subjects, detail, known, .. } =
            Read::deserialize(deserializer)?;
        check_oracle(oracle, kind).map_err(D::Error::custom)?;
        Ok(Self { kind, rule, stage, subjects, detail, known })
    }
}
