//! The fields of Terraform's messages, as far as they are read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

/// A text that is copied only if it has escaped characters.
pub type Text<'a> = Cow<'a, str>;

/// A message.
#[derive(Deserialize)]
pub struct Fields<'a> {
    #[serde(rename = "@level", borrow, default)]
    pub level: Text<'a>,
    #[serde(rename = "@module", borrow, default)]
    pub module: Text<'a>,
    #[serde(rename = "@message", borrow, default)]
    pub message: Text<'a>,
    #[serde(rename = "@timestamp", borrow, default)]
    pub time: Text<'a>,
    #[serde(rename = "type", borrow, default)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub change: Option<ChangeFields<'a>>,
    #[serde(borrow)]
    pub changes: Option<SummaryFields<'a>>,
    #[serde(borrow)]
    pub outputs: Option<BTreeMap<String, OutputFields<'a>>>,
    #[serde(borrow)]
    pub hook: Option<HookFields<'a>>,
    #[serde(borrow)]
    pub diagnostic: Option<DiagnosticFields<'a>>,
    #[serde(borrow)]
    pub terraform: Option<Text<'a>>,
    #[serde(borrow)]
    pub tofu: Option<Text<'a>>,
    #[serde(borrow)]
    pub ui: Option<Text<'a>>,
}

/// What is reported about an operation that is under way.
#[derive(Deserialize)]
pub struct HookFields<'a> {
    #[serde(borrow)]
    pub resource: Option<ResourceFields<'a>>,
    #[serde(borrow)]
    pub action: Option<Text<'a>>,
    #[serde(borrow)]
    pub id_key: Option<Text<'a>>,
    #[serde(borrow)]
    pub id_value: Option<Text<'a>>,
    pub elapsed_seconds: Option<f64>,
}

/// An output: in a plan with what is to be done with it, at the end with its value.
#[derive(Deserialize)]
pub struct OutputFields<'a> {
    #[serde(borrow)]
    pub action: Option<Text<'a>>,
    #[serde(default)]
    pub value: Json,
}

/// A planned change, or one that was found.
#[derive(Deserialize)]
pub struct ChangeFields<'a> {
    #[serde(borrow)]
    pub resource: ResourceFields<'a>,
    #[serde(borrow)]
    pub action: Text<'a>,
    #[serde(borrow)]
    pub reason: Option<Text<'a>>,
    pub previous_resource: Option<Json>,
    pub importing: Option<Json>,
}

/// The address of a resource, and its parts.
#[derive(Deserialize)]
pub struct ResourceFields<'a> {
    #[serde(borrow)]
    pub addr: Text<'a>,
    #[serde(borrow)]
    pub module: Option<Text<'a>>,
    #[serde(borrow)]
    pub resource: Option<Text<'a>>,
    #[serde(borrow)]
    pub implied_provider: Option<Text<'a>>,
    #[serde(borrow)]
    pub resource_type: Option<Text<'a>>,
    #[serde(borrow)]
    pub resource_name: Option<Text<'a>>,
    pub resource_key: Option<Json>,
}

/// What a summary counts.
#[derive(Deserialize)]
pub struct SummaryFields<'a> {
    #[serde(borrow)]
    pub operation: Text<'a>,
    pub add: usize,
    pub change: usize,
    pub remove: usize,
    #[serde(default)]
    pub import: usize,
    #[serde(default)]
    pub forget: usize,
    #[serde(default)]
    pub action_invocation: usize,
}

/// A warning or an error.
#[derive(Deserialize)]
pub struct DiagnosticFields<'a> {
    #[serde(borrow)]
    pub severity: Option<Text<'a>>,
    #[serde(borrow)]
    pub summary: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub detail: Text<'a>,
    #[serde(borrow)]
    pub address: Option<Text<'a>>,
    #[serde(borrow)]
    pub range: Option<RangeFields<'a>>,
    #[serde(borrow)]
    pub snippet: Option<SnippetFields<'a>>,
}

/// A source position.
#[derive(Deserialize)]
pub struct RangeFields<'a> {
    #[serde(borrow)]
    pub filename: Text<'a>,
    pub start: PointFields,
    pub end: PointFields,
}

/// One end of it.
#[derive(Deserialize)]
pub struct PointFields {
    pub line: usize,
    pub byte: usize,
}

/// What is quoted of a program.
#[derive(Deserialize)]
pub struct SnippetFields<'a> {
    #[serde(borrow)]
    pub code: Text<'a>,
    pub start_line: usize,
}
