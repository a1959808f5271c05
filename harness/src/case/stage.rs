//! Stages: one command of the engine each, or something that happens to the world between two of them, as data.

use std::collections::BTreeSet;

use equiform_proto::faults::Faults;
use serde::{Deserialize, Serialize};

use crate::spec::{Action, NodeKey, OperationKind, Options, ResourceOperation};

/// A stage of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Its name: that of its folder, and the label of its entries in the ledger.
    pub name: String,
    /// What the engine is asked to do.
    pub action: Action,
    /// With which program.
    pub program: ProgramRef,
    /// What it should result in.
    pub judged_as: JudgedAs,
    /// The operations that the provider fails in it.
    #[serde(default, skip_serializing_if = "Faults::is_empty")]
    pub faults: Faults,
    /// Whether another command holds the lock on the engine's memory meanwhile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub locked: bool,
    /// The stage that it repeats, from the same start: state and world are as they were when that one began, and are
    /// put away afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<String>,
}

/// A program of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramRef {
    /// A batch of the variant itself, counted from 1.
    Batch(usize),
    /// The last batch of another variant, counted from 0 as everywhere.
    LastOf(usize),
    /// A program without resources.
    Empty,
    /// A batch of the variant with a defect, for which an engine has to refuse it.
    Broken {
        /// The batch.
        batch: usize,
        /// What is wrong with it.
        defect: Defect,
    },
}

/// What is wrong with a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Defect {
    /// A resource depends on one that depends on it.
    Cycle {
        /// The one that gets an edge too many.
        resource: NodeKey,
        /// What it then depends on.
        dependent: NodeKey,
    },
    /// A resource depends on one that is not written.
    Dangling {
        /// The resource.
        resource: NodeKey,
    },
    /// A resource depends on itself.
    SelfReference {
        /// The resource.
        resource: NodeKey,
    },
    /// A resource has an argument that its type does not know.
    UnknownArgument {
        /// The resource.
        resource: NodeKey,
    },
    /// A resource lacks an argument that it must have.
    MissingArgument {
        /// The resource.
        resource: NodeKey,
    },
    /// An argument of a resource has a value of another type.
    WrongType {
        /// The resource.
        resource: NodeKey,
    },
    /// A resource is written twice.
    Twice {
        /// The resource.
        resource: NodeKey,
    },
    /// The provider refuses what is written of a resource.
    EmptyKey {
        /// The resource.
        resource: NodeKey,
    },
    /// An object that the program would delete is protected from deletion.
    PreventDestroy {
        /// The resource.
        resource: NodeKey,
    },
}

impl Defect {
    /// The resource that has it.
    pub fn resource(&self) -> &NodeKey {
        match self {
            Self::Cycle { resource, .. }
            | Self::Dangling { resource }
            | Self::SelfReference { resource }
            | Self::UnknownArgument { resource }
            | Self::MissingArgument { resource }
            | Self::WrongType { resource }
            | Self::Twice { resource }
            | Self::EmptyKey { resource }
            | Self::PreventDestroy { resource } => resource,
        }
    }

    /// Whether an engine sees it in the program alone, before it asks a provider for anything.
    pub fn shows_in_the_text(&self) -> bool {
        !matches!(self, Self::PreventDestroy { .. } | Self::SelfReference { .. })
    }
}

/// What a stage should result in. Each oracle says which of these it judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgedAs {
    /// The program is deployed.
    Batch,
    /// The program is deployed, and it is the source.
    Source,
    /// What is deployed already is deployed once more: nothing is planned, and nothing done.
    Idle,
    /// Another program of the same meaning is planned: there is no difference.
    Cross,
    /// A program is planned, and nothing done.
    Plan,
    /// Everything is deleted.
    Destroy,
    /// A part of the program is deployed, or a part of what is deployed is deleted.
    Part,
    /// What has changed behind the engine's back is taken into the state, and nothing done.
    Refresh,
    /// The engine refuses: nothing is done, and the state is as it was.
    Refused,
    /// The provider fails an operation: the engine says so, and does what does not depend on it.
    Failure,
    /// A mark is set in the state or taken away, and nothing else.
    Mark,
    /// An object changes behind the engine's back.
    Drift,
    /// The engine is asked about what is deployed, and changes nothing.
    Query,
}

/// What a kind of stage means to whoever runs, judges or counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageMeaning {
    /// The name of such stages in reports. Kinds with the same name are counted together.
    pub name: &'static str,
    /// Whether the engine should fail.
    pub fails: bool,
    /// Whether the engine should refuse the command and change nothing.
    pub is_refused: bool,
    /// Whether the state must stay as it was.
    pub keeps_state: KeepsState,
    /// As what it is counted where applies are counted.
    pub counts_as: Option<Counted>,
}

/// When a stage leaves the state as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepsState {
    /// It may change it.
    Never,
    /// It leaves it, unless it fails.
    IfItSucceeds,
    /// It leaves it, whatever happens.
    Always,
}

/// As what a stage is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// An apply.
    Apply,
    /// A destroy.
    Destroy,
}

impl JudgedAs {
    /// All there are.
    pub const ALL: [Self; 13] = [
        Self::Batch,
        Self::Source,
        Self::Idle,
        Self::Cross,
        Self::Plan,
        Self::Destroy,
        Self::Part,
        Self::Refresh,
        Self::Refused,
        Self::Failure,
        Self::Mark,
        Self::Drift,
        Self::Query,
    ];

    /// What it means: the one place that says so.
    pub fn meaning(self) -> StageMeaning {
        use Counted::{Apply, Destroy};
        use KeepsState::{Always, IfItSucceeds, Never};
        let meaning = |name, keeps_state, counts_as| StageMeaning {
            name,
            fails: matches!(self, Self::Refused | Self::Failure),
            is_refused: self == Self::Refused,
            keeps_state,
            counts_as,
        };
        match self {
            Self::Batch | Self::Source => meaning("batches", Never, Some(Apply)),
            Self::Idle => meaning("idle applies", Always, Some(Apply)),
            Self::Cross => meaning("cross plans", Never, None),
            Self::Plan => meaning("plans", Never, None),
            Self::Destroy => meaning("destroys", Never, Some(Destroy)),
            Self::Part => meaning("parts applied", Never, Some(Apply)),
            Self::Refresh => meaning("refreshes", IfItSucceeds, None),
            Self::Refused => meaning("refusals", Always, None),
            Self::Failure => meaning("failures of the provider", Never, Some(Apply)),
            Self::Mark => meaning("marks", IfItSucceeds, None),
            Self::Drift => meaning("drifts", Always, None),
            Self::Query => meaning("queries", Always, None),
        }
    }
}

impl Stage {
    /// Whether the engine has to refuse it, if these operations are due. An object that is not there, because an
    /// earlier stage failed, cannot be protected.
    pub fn is_to_be_refused(&self, due: &BTreeSet<ResourceOperation>) -> bool {
        let goes =
            |resource: &NodeKey| due.iter().any(|it| it.kind == OperationKind::Delete && it.key == *resource);
        self.judged_as == JudgedAs::Refused
            && match &self.program {
                ProgramRef::Broken { defect: Defect::PreventDestroy { resource }, .. } => goes(resource),
                _ => true,
            }
    }

    /// A stage in which nothing fails, and which repeats no other.
    pub fn new(name: impl Into<String>, action: Action, program: ProgramRef, judged_as: JudgedAs) -> Self {
        let faults = Faults::default();
        Self { name: name.into(), action, program, judged_as, faults, locked: false, repeats: None }
    }

    /// The usual stages of a variant with a number of batches: each of them applied, the last one once more, another
    /// variant's last one planned, everything destroyed.
    pub fn usual(batches: usize, other: usize) -> Vec<Self> {
        let apply = |number| Self::apply(&format!("batch-{number}"), number, batches);
        let mut stages: Vec<Self> = (1..=batches).map(apply).collect();
        stages.extend(Self::ending(batches, other));
        stages
    }

    /// A batch that is applied; the last one is the source.
    pub fn apply(name: &str, number: usize, batches: usize) -> Self {
        let judged_as = if number == batches { JudgedAs::Source } else { JudgedAs::Batch };
        Self::new(name, Action::Apply(Options::USUAL), ProgramRef::Batch(number), judged_as)
    }

    /// What usually follows the last batch.
    pub fn ending(batches: usize, other: usize) -> [Self; 3] {
        let last = || ProgramRef::Batch(batches);
        [
            Self::new("idle", Action::Apply(Options::USUAL), last(), JudgedAs::Idle),
            Self::new("cross", Action::Plan(Options::USUAL), ProgramRef::LastOf(other), JudgedAs::Cross),
            Self::new("destroy", Action::Destroy(Options::USUAL), last(), JudgedAs::Destroy),
        ]
    }

    /// What is wrong with the stages of a variant, given the number of its batches and of the variants of its case.
    pub fn check_all(stages: &[Self], batches: usize, variants: usize) -> Result<(), String> {
        if stages.is_empty() {
            return Err("it has no stages".to_owned());
        }
        for (place, stage) in stages.iter().enumerate() {
            let name = &stage.name;
            let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            if name.is_empty() || !name.bytes().all(legal) {
                return Err(format!(
                    "`{name}` is no name for a stage: lower-case letters, digits and hyphens, as it names a folder"
                ));
            }
            if stages[..place].iter().any(|earlier| earlier.name == *name) {
                return Err(format!("two stages have the name `{name}`"));
            }
            match stage.program {
                ProgramRef::Batch(batch) | ProgramRef::Broken { batch, .. }
                    if !(1..=batches).contains(&batch) =>
                {
                    return Err(format!("stage `{name}` deploys batch {batch}, and there are {batches}"));
                }
                ProgramRef::LastOf(variant) if variant >= variants => {
                    return Err(format!("stage `{name}` takes variant {variant}, and there are {variants}"));
                }
                _ => {}
            }
            let saves = |before: &Self| matches!(&before.action, Action::Plan(options) if options.save);
            if matches!(stage.action, Action::ApplySaved(_)) && !stages[..place].iter().any(saves) {
                return Err(format!("stage `{name}` applies a plan, and no stage before it saves one"));
            }
            if stage.repeats.is_some() && !matches!(stage.action, Action::Apply(_)) {
                return Err(format!("stage `{name}` repeats another, and is no apply"));
            }
            if let Some(repeated) = &stage.repeats
                && !stages[..place]
                    .iter()
                    .any(|earlier| earlier.name == *repeated && earlier.repeats.is_none())
            {
                return Err(format!("stage `{name}` repeats `{repeated}`, which is no stage before it"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_stages_are_batches_once_more_another_variant_and_the_end() {
        let names: Vec<String> = Stage::usual(2, 1).into_iter().map(|stage| stage.name).collect();
        assert_eq!(names, ["batch-1", "batch-2", "idle", "cross", "destroy"]);
        Stage::check_all(&Stage::usual(2, 1), 2, 2).unwrap();
    }

    #[test]
    fn a_stage_is_stored_as_one_reads_it() {
        let json = serde_json::to_string(&Stage::usual(1, 0)[1..3]).unwrap();
        let idle = r#"{"name":"idle","action":{"apply":{}},"program":{"batch":1},"judged_as":"idle"}"#;
        let cross = r#"{"name":"cross","action":{"plan":{}},"program":{"last_of":0},"judged_as":"cross"}"#;
        assert_eq!(json, format!("[{idle},{cross}]"));
    }

    #[test]
    fn stages_that_cannot_be_run_are_told_with_the_reason() {
        let usual = || Stage::usual(2, 1);
        let wrong = |change: fn(&mut Vec<Stage>)| {
            let mut stages = usual();
            change(&mut stages);
            Stage::check_all(&stages, 2, 2).unwrap_err()
        };
        assert!(wrong(Vec::clear).contains("no stages"));
        assert!(wrong(|stages| stages[0].name = "../x".to_owned()).contains("names a folder"));
        assert!(wrong(|stages| stages[0].name = "idle".to_owned()).contains("two stages"));
        assert!(wrong(|stages| stages[0].program = ProgramRef::Batch(3)).contains("there are 2"));
        assert!(wrong(|stages| stages[0].program = ProgramRef::LastOf(2)).contains("there are 2"));
        let saved = |stages: &mut Vec<Stage>| {
            stages[1].action = Action::ApplySaved(crate::spec::SavedOptions::default())
        };
        assert!(wrong(saved).contains("saves one"));
        let repeats = |stages: &mut Vec<Stage>| stages[0].repeats = Some("idle".to_owned());
        assert!(wrong(repeats).contains("no stage before it"));
    }
}
