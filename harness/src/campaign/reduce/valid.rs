//! Whether stages still ask for what they are judged as, after something was taken away: a mark can be set only on
//! what is there, and an apply is idle only if its program is deployed. The model says what is deployed.

use crate::case::Case;
use crate::case::stage::{Defect, JudgedAs, ProgramRef, Stage};
use crate::engines;
use crate::judge::history::{History, PastStage};
use crate::spec::{Action, NodeKey, Options, Remembered};

use super::candidate::Candidate;

impl Candidate {
    /// The same with its stages as they have to be; none if nothing is left of it. A stage that cannot be asked for
    /// any more is dropped, and one that is not what it was said to be is judged as what it is.
    pub fn valid(&self) -> Option<Self> {
        let mut candidate = self.clone().tidied();
        // Each round mends one stage at most, the first that is wrong.
        for _ in 0..=2 * self.stages.len() {
            if candidate.stages.is_empty() {
                return None;
            }
            match wrong(&candidate) {
                None => return Some(candidate),
                Some((place, None)) => {
                    candidate.stages.remove(place);
                }
                Some((place, Some(stage))) => candidate.stages[place] = *stage,
            }
            candidate = candidate.tidied();
        }
        None
    }
}

/// The first stage that is not as it has to be, with what it should be; none if it has to go.
fn wrong(candidate: &Candidate) -> Option<(usize, Option<Box<Stage>>)> {
    let case: Case = candidate.to_case();
    let stages = &candidate.stages;
    for (place, stage) in stages.iter().enumerate() {
        let earlier = &stages[..place];
        let repeats_nothing = |repeated: &String| !earlier.iter().any(|it| it.name == *repeated);
        if stage.repeats.as_ref().is_some_and(repeats_nothing) {
            return Some((place, None));
        }
        if matches!(stage.action, Action::ApplySaved(_)) && !saved_plan_fits(earlier, stage) {
            return Some((place, None));
        }
    }
    let staged = case.stages(0).ok()?;
    // Whoever reduces a case says on which engine.
    let profile = engines::profile(&case.engine.as_ref()?.id);
    let mut history = History::of(&staged, profile.semantics);
    // Whether anything was changed since a plan was saved: only then it is stale.
    let mut has_changed = false;
    for (place, staged) in staged.into_iter().enumerate() {
        let past = history.begin(staged);
        let action = &past.stage().action;
        let is_saved = matches!(action, Action::ApplySaved(_));
        if is_saved && past.stage().judged_as == JudgedAs::Refused && !has_changed {
            return Some((place, None));
        }
        if matches!(action, Action::Plan(options) if options.save) {
            has_changed = false;
        } else if action.changes_the_world() && past.step().changes().operations().next().is_some() {
            has_changed = true;
        }
        match mended(&past, &stages[place]) {
            Mended::AsItIs => {}
            Mended::Gone => return Some((place, None)),
            Mended::To(stage) => return Some((place, Some(stage))),
        }
        // A stage that is to fail is followed by one that does the same: nothing is lost by leaving it out.
        let outcome = if past.stage().judged_as.meaning().fails {
            Ok(past.deployed.clone())
        } else {
            past.outcome(None)
        };
        if let Ok(outcome) = outcome {
            history.end(&past, &outcome);
        }
    }
    None
}

/// Whether the plan that was saved last is for the same program, and was not applied yet, or was, if it has to be
/// refused for that.
fn saved_plan_fits(earlier: &[Stage], stage: &Stage) -> bool {
    let saves = |it: &Stage| matches!(&it.action, Action::Plan(options) if options.save);
    let Some(plan) = earlier.iter().rposition(saves) else { return false };
    let since = &earlier[plan + 1..];
    let changed = since.iter().any(|it| !matches!(it.action, Action::Plan(_)));
    changed == (stage.judged_as == JudgedAs::Refused) && earlier[plan].program == stage.program
}

enum Mended {
    AsItIs,
    Gone,
    To(Box<Stage>),
}

fn mended(past: &PastStage<'_>, stage: &Stage) -> Mended {
    let judged_as = |judged_as| Mended::To(Box::new(Stage { judged_as, ..stage.clone() }));
    let program = &past.staged.batch.program;
    let there = |key: &NodeKey| past.deployed.has(key);
    match &stage.action {
        Action::Mark(key) if !there(key) => return Mended::Gone,
        Action::Unmark(key) if !past.deployed.memory.node(key).is_some_and(Remembered::is_marked) => {
            return Mended::Gone;
        }
        Action::Drift { key, .. } => {
            return if past.deployed.has(key) { Mended::AsItIs } else { Mended::Gone };
        }
        _ => {}
    }
    let options = stage.action.options();
    let may_be_replaced = |key: &&NodeKey| there(key) && program.node(key).is_some();
    if !options.replace.iter().all(|key| may_be_replaced(&key)) {
        let replace = options.replace.iter().filter(may_be_replaced).cloned().collect();
        let options = Options { replace, ..options.clone() };
        let action = match &stage.action {
            Action::Apply(_) => Action::Apply(options),
            Action::Plan(_) => Action::Plan(options),
            other => other.clone(),
        };
        return Mended::To(Box::new(Stage { action, ..stage.clone() }));
    }
    if let ProgramRef::Broken { defect, .. } = &stage.program {
        let mut fits = program.node(defect.resource()).is_some();
        if let Defect::Cycle { resource, dependent } = defect {
            let node = program.node(dependent);
            fits &= node.is_some_and(|node| node.dependencies.contains_key(resource));
        }
        return if fits { Mended::AsItIs } else { Mended::Gone };
    }
    let is_deployed = || past.step().changes().operations().next().is_none();
    match stage.judged_as {
        JudgedAs::Idle if !is_deployed() => judged_as(JudgedAs::Batch),
        JudgedAs::Cross if !is_deployed() => judged_as(JudgedAs::Plan),
        JudgedAs::Part if options.target.is_empty() => judged_as(JudgedAs::Batch),
        JudgedAs::Failure if stage.faults.is_empty() => judged_as(JudgedAs::Batch),
        JudgedAs::Batch | JudgedAs::Source if !options.target.is_empty() => judged_as(JudgedAs::Part),
        _ => Mended::AsItIs,
    }
}
