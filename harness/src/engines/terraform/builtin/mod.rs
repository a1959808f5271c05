//! Programs without our provider: the same resources, edges and settings written with `terraform_data`, which every
//! engine has built in. A bug that shows with these can be shown to people who have nothing but the engine.
//!
//! | of a `mock_node` | of a `terraform_data` |
//! |---|---|
//! | `label`, ids in `refs` | `input`, whose change is an update in place |
//! | `pin`, ids in `pinned_refs` | `triggers_replace`, whose change is a replacement |
//! | `ignore_changes` of `label` | of `input`, or of `label` in it |
//! | `replace_triggered_by` of a `label` | of `input`, or of `label` in it |
//! | everything else | the same |
//!
//! There is no ledger then: `reader` takes the engine's own word for what it did. Nor is there anything that could fail
//! or drift, so not every variant can be written so: [`Builtins::of`] says why.

mod reader;
mod write;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use equiform_proto::control::Endpoint;

use super::PROGRAM_FILE;
use crate::case::stage::{Defect, ProgramRef};
use crate::case::{Batch, StagedBatch};
use crate::engines::Engine;
use crate::engines::driver::{
    Access, Capabilities, Driver, EngineCommand, EngineProfile, Syntax, WorkerProgram,
};
use crate::engines::workspace::{ProgramFile, RelativePath, Workspace};
use crate::evidence::StoredIdentity;
use crate::spec::encoding::NODE_TYPE;
use crate::spec::{Action, EdgeKind, Encoding, NodeKey};

/// The type of the resources.
pub const TYPE: &str = "terraform_data";

/// Why stages cannot be written without our provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotTranslatable {
    /// An operation is to fail.
    #[error("in {stage} the provider is told to fail an operation, and terraform_data never fails")]
    Failure {
        /// The stage.
        stage: String,
    },
    /// An object is to change behind the engine's back.
    #[error(
        "in {stage} an object changes behind the engine's back, and terraform_data has none outside the state"
    )]
    Drift {
        /// The stage.
        stage: String,
    },
    /// A program is to be refused for what our provider's schema says.
    #[error("the program of {stage} has a mistake in an argument that only mock_node has")]
    Schema {
        /// The stage.
        stage: String,
    },
    /// A key cannot be the name of a resource.
    #[error("the key {key:?} is not the name of its resource, and terraform_data has no keys")]
    Key {
        /// The key.
        key: String,
    },
    /// A stage is taken again from where an earlier one began.
    #[error("{stage} is taken again from where another one began")]
    Repetition {
        /// The stage.
        stage: String,
    },
}

/// How an argument is written that holds a text, ids, or both. It is the same in all stages, so that a change of it is
/// a change of what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// The text.
    Text,
    /// One id at most.
    Id,
    /// A list of ids.
    Ids,
    /// An object with both.
    Both,
}

impl Shape {
    /// For a resource that has a text in some stage or not, and at most this many ids in any.
    fn of(has_text: bool, ids: usize) -> Self {
        match (has_text, ids) {
            (_, 0) => Self::Text,
            (true, _) => Self::Both,
            (false, 1) => Self::Id,
            (false, _) => Self::Ids,
        }
    }
}

/// How the arguments of a resource are written.
#[derive(Debug, Clone, Copy)]
struct Shapes {
    input: Shape,
    triggers_replace: Shape,
}

/// What is known of a resource over all stages.
#[derive(Debug, Default)]
struct Seen {
    label: bool,
    refs: usize,
    pin: bool,
    pinned_refs: usize,
}

/// How the resources of some stages are written with `terraform_data`.
#[derive(Debug, Clone)]
pub struct Builtins {
    shapes: BTreeMap<NodeKey, Shapes>,
}

impl Builtins {
    /// For these stages.
    pub fn of(stages: &[StagedBatch<'_>]) -> Result<Self, NotTranslatable> {
        let mut seen: BTreeMap<NodeKey, Seen> = BTreeMap::new();
        for StagedBatch { stage, batch } in stages {
            let name = || stage.name.clone();
            if !stage.faults.is_empty() {
                return Err(NotTranslatable::Failure { stage: name() });
            }
            if matches!(stage.action, Action::Drift { .. }) {
                return Err(NotTranslatable::Drift { stage: name() });
            }
            if stage.repeats.is_some() {
                return Err(NotTranslatable::Repetition { stage: name() });
            }
            if let ProgramRef::Broken { defect, .. } = &stage.program
                && is_of_schema(defect)
            {
                return Err(NotTranslatable::Schema { stage: name() });
            }
            for (key, node) in &batch.program.meaning.nodes {
                if batch.program.encoding.address(key).name != *key {
                    return Err(NotTranslatable::Key { key: key.to_string() });
                }
                let resource = seen.entry(key.clone()).or_default();
                resource.label |= node.label.is_some();
                resource.pin |= node.pin.is_some();
                resource.refs = resource.refs.max(node.by(EdgeKind::Refs).count());
                resource.pinned_refs = resource.pinned_refs.max(node.by(EdgeKind::PinnedRefs).count());
                // Whoever names the label has to find it, also where there is none.
                for dependency in node.by(EdgeKind::TriggeredByLabel) {
                    seen.entry(dependency.clone()).or_default().label = true;
                }
            }
        }
        let shapes = seen.into_iter().map(|(key, seen)| {
            let input = Shape::of(seen.label, seen.refs);
            (key, Shapes { input, triggers_replace: Shape::of(seen.pin, seen.pinned_refs) })
        });
        Ok(Self { shapes: shapes.collect() })
    }

    /// The text of a program.
    pub fn render(&self, batch: &Batch) -> String {
        write::program(self, batch)
    }

    fn shapes(&self, key: &NodeKey) -> Shapes {
        let usual = Shapes { input: Shape::Text, triggers_replace: Shape::Text };
        self.shapes.get(key).copied().unwrap_or(usual)
    }
}

/// Whether a mistake is one in arguments of our provider's resources.
fn is_of_schema(defect: &Defect) -> bool {
    match defect {
        Defect::UnknownArgument { .. }
        | Defect::MissingArgument { .. }
        | Defect::WrongType { .. }
        | Defect::EmptyKey { .. } => true,
        Defect::Cycle { .. }
        | Defect::Dangling { .. }
        | Defect::SelfReference { .. }
        | Defect::Twice { .. }
        | Defect::PreventDestroy { .. } => false,
    }
}

/// An argument or a line that speaks of resources of our provider, as it is without.
pub fn renamed(text: &str) -> String {
    text.replace(&format!("{NODE_TYPE}."), &format!("{TYPE}."))
}

/// An engine that is given programs without our provider.
#[derive(Debug, Clone)]
pub struct BuiltinsOnly {
    driver: Arc<dyn Driver>,
    builtins: Builtins,
}

impl BuiltinsOnly {
    /// For the driver of an engine and the stages that it is taken through.
    pub fn new(driver: Arc<dyn Driver>, builtins: Builtins) -> Self {
        Self { driver, builtins }
    }
}

impl Driver for BuiltinsOnly {
    fn engine(&self) -> &Engine {
        self.driver.engine()
    }

    fn worker(&self) -> Option<WorkerProgram> {
        None
    }

    fn profile(&self) -> EngineProfile {
        let profile = self.driver.profile();
        EngineProfile { reader: &reader::WithoutLedger, identity: StoredIdentity::Never, ..profile }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { syntaxes: &[Syntax::Hcl], ..self.driver.capabilities() }
    }

    fn files(&self, batch: &Batch, _: Syntax) -> Vec<ProgramFile> {
        let path = RelativePath::new(PROGRAM_FILE).expect("it is a file's name");
        vec![ProgramFile { path, content: self.builtins.render(batch) }]
    }

    fn is_steered_by(&self, variable: &str) -> bool {
        self.driver.is_steered_by(variable)
    }

    fn environment(&self, access: &Access, endpoint: Option<&Endpoint>) -> Vec<(OsString, OsString)> {
        self.driver.environment(access, endpoint)
    }

    /// What is built in needs no installation.
    fn preparation(&self, _: &Access) -> Option<Vec<String>> {
        None
    }

    fn command(&self, action: &Action, encoding: &Encoding) -> EngineCommand {
        let mut command = self.driver.command(action, encoding);
        command.arguments.iter_mut().for_each(|argument| *argument = renamed(argument));
        command
    }

    fn workspace(&self) -> &dyn Workspace {
        self.driver.workspace()
    }
}
