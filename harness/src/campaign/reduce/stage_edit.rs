//! How the stages of a candidate can be made simpler.

use std::collections::BTreeMap;

use super::candidate::Candidate;
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::spec::{Action, Options};

impl Candidate {
    /// With names for its stages by their places: `step-1`.
    pub fn with_plain_stage_names(&self) -> Self {
        let mut changed = self.clone();
        let names: BTreeMap<String, String> = self
            .stages
            .iter()
            .zip(1..)
            .map(|(stage, place)| (stage.name.clone(), format!("step-{place}")))
            .collect();
        for stage in &mut changed.stages {
            stage.name = names[&stage.name].clone();
            stage.repeats = stage.repeats.as_ref().map(|repeated| names[repeated].clone());
        }
        changed
    }

    /// What a stage can be made simpler to, the simplest first.
    pub fn simpler_stages(&self, place: usize) -> Vec<Self> {
        let stage = &self.stages[place];
        let with = |stage: Stage| {
            let mut changed = self.clone();
            changed.stages[place] = stage;
            changed
        };
        let plain = |judged_as| {
            let action = Action::Apply(Options::USUAL);
            let plain = Stage { faults: Default::default(), locked: false, repeats: None, ..stage.clone() };
            with(Stage { action, judged_as, ..plain })
        };
        let mut simpler = Vec::new();
        let options = stage.action.options();
        let is_plain = stage.action == Action::Apply(Options::USUAL)
            && stage.faults.is_empty()
            && stage.repeats.is_none();
        match (&stage.action, &stage.program) {
            _ if is_plain && stage.judged_as == JudgedAs::Batch => {}
            (Action::Destroy(_), _) if *options != Options::USUAL => {
                let action = Action::Destroy(Options::USUAL);
                simpler.push(with(Stage { action, judged_as: JudgedAs::Destroy, ..stage.clone() }));
            }
            (Action::Apply(_) | Action::ApplySaved(_), ProgramRef::Batch(_)) => {
                simpler.push(plain(JudgedAs::Batch));
            }
            (Action::Plan(_), ProgramRef::LastOf(_)) => {
                let program = ProgramRef::Batch(self.batches.len());
                simpler.push(with(Stage { program, ..stage.clone() }));
            }
            _ => {}
        }
        let mut with_options = |options: Options| {
            let mut action = stage.action.clone();
            if let Some(place) = options_of(&mut action) {
                *place = options;
            }
            simpler.push(with(Stage { action, ..stage.clone() }));
        };
        if options.parallelism.is_some() {
            with_options(Options { parallelism: None, ..options.clone() });
        }
        if !options.refresh {
            with_options(Options { refresh: true, ..options.clone() });
        }
        for address in &options.target {
            let mut fewer = options.clone();
            fewer.target.remove(address);
            if !fewer.target.is_empty() {
                with_options(fewer);
            }
        }
        for address in &options.replace {
            let mut fewer = options.clone();
            fewer.replace.remove(address);
            with_options(fewer);
        }
        simpler
    }

    /// A plan that is saved and applied by the next stage, as one apply.
    pub fn with_plan_applied_at_once(&self, place: usize) -> Option<Self> {
        let (plan, apply) = (self.stages.get(place)?, self.stages.get(place + 1)?);
        let (Action::Plan(options), Action::ApplySaved(_)) = (&plan.action, &apply.action) else {
            return None;
        };
        let options = Options { save: false, ..options.clone() };
        let mut changed = self.clone();
        changed.stages[place + 1] =
            Stage { action: Action::Apply(options), program: plan.program.clone(), ..apply.clone() };
        changed.stages.remove(place);
        Some(changed)
    }
}

/// The options of an action, if it has any.
pub fn options_of(action: &mut Action) -> Option<&mut Options> {
    match action {
        Action::Apply(options)
        | Action::Plan(options)
        | Action::Destroy(options)
        | Action::Refresh(options) => Some(options),
        Action::ApplySaved(_)
        | Action::Mark(_)
        | Action::Unmark(_)
        | Action::Query(_)
        | Action::Drift { .. } => None,
    }
}
