//! Stages: one command of the engine each, as data.

use serde::{Deserialize, Serialize};

use crate::spec::{Action, Options};

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
    /// What it is to amount to.
    pub judged_as: JudgedAs,
}

/// A program of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramRef {
    /// A batch of the variant itself, counted from 1.
    Batch(usize),
    /// The last batch of another variant, counted from 0 as everywhere.
    LastOf(usize),
}

/// What a stage is to amount to. Each oracle says in which of these it has something to look at.
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
}

impl JudgedAs {
    /// Whether the program is deployed afterwards.
    pub fn leaves_the_program(self) -> bool {
        matches!(self, Self::Batch | Self::Source | Self::Idle | Self::Cross)
    }
}

impl Stage {
    /// The stages of a variant with so many batches: each of them applied, the last one once more, another
    /// variant's last one planned, everything destroyed.
    pub fn usual(batches: usize, other: usize) -> Vec<Self> {
        let stage = |name: &str, action: fn(Options) -> Action, program, judged_as| Self {
            name: name.to_owned(),
            action: action(Options::default()),
            program,
            judged_as,
        };
        let last = ProgramRef::Batch(batches);
        let mut stages: Vec<Self> = (1..=batches)
            .map(|number| {
                let judged_as = if number == batches { JudgedAs::Source } else { JudgedAs::Batch };
                stage(&format!("batch-{number}"), Action::Apply, ProgramRef::Batch(number), judged_as)
            })
            .collect();
        stages.extend([
            stage("idle", Action::Apply, last, JudgedAs::Idle),
            stage("cross", Action::Plan, ProgramRef::LastOf(other), JudgedAs::Cross),
            stage("destroy", Action::Destroy, last, JudgedAs::Destroy),
        ]);
        stages
    }

    /// What is wrong with the stages of a variant with so many batches, in a case of so many variants.
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
                ProgramRef::Batch(batch) if !(1..=batches).contains(&batch) => {
                    return Err(format!("stage `{name}` deploys batch {batch}, and there are {batches}"));
                }
                ProgramRef::LastOf(variant) if variant >= variants => {
                    return Err(format!("stage `{name}` takes variant {variant}, and there are {variants}"));
                }
                ProgramRef::Batch(_) | ProgramRef::LastOf(_) => {}
            }
            let before = place.checked_sub(1).map(|before| &stages[before]);
            let saved = |before: &&Self| matches!(&before.action, Action::Plan(options) if options.save);
            if matches!(stage.action, Action::ApplySaved(_)) && before.filter(saved).is_none() {
                return Err(format!("stage `{name}` applies a plan, and the stage before it saves none"));
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
        let saved = |stages: &mut Vec<Stage>| stages[1].action = Action::ApplySaved(Options::default());
        assert!(wrong(saved).contains("saves none"));
    }
}
