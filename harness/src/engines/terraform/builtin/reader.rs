//! Reads what an engine leaves that was given programs without our provider. There is no ledger, so it has only its own
//! word for what it did: its messages say when each operation began and ended.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::TYPE;
use crate::engines::terraform::{FilesOfTerraform, answer, output, quote, state};
use crate::evidence::{
    Answer, FileRole, ObservedOperation, OperationsBy, Output, Quote, Reader, StageRecord, StateComparison,
    StateDifference, StateFile, Topic, Unreadable, unreadable,
};
use crate::spec::encoding::NODE_TYPE;
use crate::spec::{OperationKind, Query, ResourceOperation};

/// The reader. Resources have the addresses that the case knows them by.
#[derive(Debug)]
pub struct WithoutLedger;

/// A text of the engine in which resources have the type that the case knows.
fn text_of(path: &Path) -> Result<String, Unreadable> {
    let bytes = fs::read(path).map_err(unreadable(path))?;
    Ok(String::from_utf8_lossy(&bytes).replace(TYPE, NODE_TYPE))
}

#[derive(Deserialize)]
struct Message {
    #[serde(rename = "type", default)]
    kind: String,
    hook: Option<Hook>,
}

#[derive(Deserialize)]
struct Hook {
    resource: Resource,
    #[serde(default)]
    action: String,
}

#[derive(Deserialize)]
struct Resource {
    resource_name: String,
}

impl Reader for WithoutLedger {
    fn role_of(&self, path: &str) -> Option<FileRole> {
        FilesOfTerraform.role_of(path)
    }

    fn succeeded(&self, record: &StageRecord) -> bool {
        FilesOfTerraform.succeeded(record)
    }

    fn tells_of_changes(&self, record: &StageRecord) -> bool {
        FilesOfTerraform.tells_of_changes(record)
    }

    fn output(&self, stdout: &Path, stderr: &Path) -> Result<Output, Unreadable> {
        let errors = if stderr.exists() { text_of(stderr)? } else { String::new() };
        // It would be held against itself.
        Ok(Output { is_compared: false, flaws: Vec::new(), ..output::parse(&text_of(stdout)?, &errors) })
    }

    fn answer(&self, query: Query, stdout: &Path) -> Result<Answer, Unreadable> {
        Ok(answer::parse(query, &text_of(stdout)?))
    }

    fn state(&self, path: &Path) -> Result<StateFile, Unreadable> {
        if path.exists() { Ok(state::parse(text_of(path)?.as_bytes())) } else { Ok(StateFile::Missing) }
    }

    fn state_difference(
        &self,
        before: &Path,
        after: &Path,
        comparison: StateComparison,
    ) -> Result<Option<StateDifference>, Unreadable> {
        FilesOfTerraform.state_difference(before, after, comparison)
    }

    /// The places of messages among all of them stand for sequence numbers.
    fn operations(&self, stdout: &Path) -> Result<OperationsBy, Unreadable> {
        let text = text_of(stdout)?;
        let mut operations: Vec<ObservedOperation> = Vec::new();
        for (line, place) in text.lines().zip(1..) {
            let Ok(Message { kind, hook: Some(hook) }) = serde_json::from_str(line) else { continue };
            let operation = match hook.action.as_str() {
                "create" => OperationKind::Create,
                "update" => OperationKind::Update,
                "delete" => OperationKind::Delete,
                _ => continue,
            };
            let operation = ResourceOperation::new(&hook.resource.resource_name.into(), operation);
            let took_effect = match kind.as_str() {
                "apply_start" => {
                    operations.push(ObservedOperation {
                        operation,
                        begin: place,
                        end: None,
                        id: None,
                        fault: None,
                    });
                    continue;
                }
                "apply_complete" => true,
                "apply_errored" => false,
                _ => continue,
            };
            let mut open = operations.iter_mut().filter(|it| it.end.is_none());
            if let Some(begun) = open.find(|it| it.operation == operation) {
                begun.end = Some((place, took_effect));
            }
        }
        Ok(OperationsBy::Engine(operations))
    }

    fn quote_output(&self, stage: &Path, topic: Topic) -> Vec<Quote> {
        quote::of_output(stage, topic)
    }

    fn quote_state(&self, stage: &Path, names: &[String]) -> Vec<Quote> {
        quote::of_state(stage, names)
    }
}
