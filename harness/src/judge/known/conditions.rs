//! When a known bug is due, and between which resources: conditions on the programs that led to a step,
//! decided by the model alone. What the engine printed plays no part here; that it names these resources is
//! checked apart.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::spec::changes::{Change, Changes};
use crate::spec::dependencies::{Number, Walk};
use crate::spec::{NodeKey, Step};

/// A condition by its name in the file of known findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// A dependent that had create_before_destroy in force is removed. Something that it depended on,
    /// directly or not, is replaced, the old object first.
    RemovedDependentOutlivesReplacedDependency,
    /// A dependent is replaced, the new object first. Something that it depended on, directly or not, and
    /// that did not have create_before_destroy in force, is removed.
    ReplacedDependentOutlivesRemovedDependency,
    /// A dependent is replaced, the new object first. Something that it depended on, directly or not, is
    /// replaced too, the old object first: the edge between them is gone, or create_before_destroy would have
    /// spread.
    ReplacedDependentOutlivesReplacedDependency,
    /// A dependent is replaced, the new object first. Something that it depended on, directly or not, is
    /// removed. create_before_destroy was in force for that, and was forgotten in the step before: it was
    /// changed, and none of its dependents that pass the setting on was.
    ReplacedDependentOutlivesForgetfulDependency,
    /// A dependent is updated, or replaced with the old object first. Something that it depended on, directly or not,
    /// is removed. create_before_destroy was in force for that, and was forgotten in the step before, as above.
    ChangedDependentNeedsForgetfulDependency,
    /// A dependent was to be changed in an earlier step, and was not, because that failed. By the program of that step
    /// it no longer depends on something that its object still refers to, and that is removed now, or has an old object
    /// that is.
    FailedDependentForgotDependency,
    /// Something is replaced, the new object first, because a target depends on it, and is no target by name.
    TargetedDependencyKeepsOldObject,
    /// Something is changed because targets depend on it, none of which changes itself.
    DependencyOfUnchangedTarget,
    /// Something is replaced, and the new object may come first.
    OldObjectOutlivesCreation,
    /// Something is replaced without having been read, and create_before_destroy, which was in force for it, is not any
    /// more.
    UnreadReplacementLosesSetting,
    /// Something is replaced, the old object first, and depends, directly or not, on something that changes and has
    /// create_before_destroy in force.
    ReplacedDependentOfOutlivingDependency,
    /// Nothing has drifted, and the program, which has outputs, is not what is deployed.
    OutputsAloneDiffer,
}

/// Two resources of which a condition is true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The one that depended on the other, directly or not.
    pub dependent: NodeKey,
    /// The other.
    pub dependency: NodeKey,
}

impl Condition {
    /// Whether it also explains findings that are about a command as a whole, and about no resource.
    pub fn is_of_the_command(self) -> bool {
        matches!(self, Self::ReplacedDependentOfOutlivingDependency | Self::OutputsAloneDiffer)
    }

    /// The pairs of which it is true in the last of these steps, which were taken one after the other.
    pub fn pairs(self, steps: &[Step<'_>]) -> Vec<Pair> {
        let Some((step, earlier)) = steps.split_last() else { return Vec::new() };
        let changes = step.changes();
        match self {
            Self::ChangedDependentNeedsForgetfulDependency => return removed_too_early(&changes, earlier),
            Self::FailedDependentForgotDependency => return forgotten_by_failure(&changes, earlier),
            Self::TargetedDependencyKeepsOldObject => return kept_by_target(step, &changes),
            Self::DependencyOfUnchangedTarget => return skipped_by_target(step, &changes),
            Self::OldObjectOutlivesCreation => return deleted_last(&changes),
            Self::UnreadReplacementLosesSetting => return lost_unread(step, &changes),
            Self::ReplacedDependentOfOutlivingDependency => return replaced_above_outliving(&changes),
            Self::OutputsAloneDiffer => return not_deployed(step, &changes),
            _ => {}
        }
        let (dependent, dependency) = match self {
            Self::RemovedDependentOutlivesReplacedDependency => (Change::Deleted, Change::Replaced),
            Self::ReplacedDependentOutlivesReplacedDependency => (Change::Replaced, Change::Replaced),
            _ => (Change::Replaced, Change::Deleted),
        };
        let was_in_force = changes.before.create_before_destroy();
        let forgets = self == Self::ReplacedDependentOutlivesForgetfulDependency;
        let in_state = if forgets { in_forgetful_state(&changes, earlier) } else { was_in_force.clone() };
        let forgotten = |number: Number| was_in_force[number as usize] && !in_state[number as usize];
        let named = |number: Number| changes.numbering.key(number).clone();
        outliving(&changes, &in_state)
            .into_iter()
            .filter(|(lower, upper)| {
                (changes.of_number(*lower), changes.of_number(*upper)) == (dependent, dependency)
            })
            .filter(|(_, upper)| !forgets || forgotten(*upper))
            .map(|(lower, upper)| Pair { dependent: named(lower), dependency: named(upper) })
            .collect()
    }
}

/// The pairs of a dependent and one of its dependencies, as they were deployed, of which both old objects go, the
/// dependent's after something new is made (create_before_destroy), the dependency's before. An engine that takes the
/// edges of both orders into one graph has a cycle there.
fn outliving(changes: &Changes, was_in_force: &[bool]) -> Vec<(Number, Number)> {
    let in_force = changes.after.create_before_destroy();
    // Whether the old object goes after something new is made; none if it stays.
    let goes_late = |number: Number| match changes.of_number(number) {
        Change::Deleted => Some(was_in_force[number as usize]),
        Change::Replaced => Some(in_force[number as usize]),
        Change::Created | Change::Kept | Change::Updated => None,
    };
    let mut walk = Walk::over(changes.numbering.len());
    let mut pairs = Vec::new();
    for dependent in changes.before.numbers().filter(|number| goes_late(*number) == Some(true)) {
        let reached = walk.from(&changes.before, dependent, |_| false).iter();
        pairs.extend(
            reached.filter(|upper| goes_late(**upper) == Some(false)).map(|upper| (dependent, *upper)),
        );
    }
    pairs.sort_unstable();
    pairs
}

/// The pairs of a dependent that is made, and does not outlive its successor's creation, and something that it
/// depended on, directly or not, which is removed and for which create_before_destroy was forgotten. An engine that
/// does not know of the setting deletes that first.
fn removed_too_early(changes: &Changes, earlier: &[Step<'_>]) -> Vec<Pair> {
    let (was_in_force, in_force) =
        (changes.before.create_before_destroy(), changes.after.create_before_destroy());
    let in_state = in_forgetful_state(changes, earlier);
    let is_forgotten = |number: Number| {
        let place = number as usize;
        changes.of_number(number) == Change::Deleted && was_in_force[place] && !in_state[place]
    };
    let is_made = |number: &Number| match changes.of_number(*number) {
        Change::Updated => true,
        Change::Replaced => !in_force[*number as usize],
        Change::Created | Change::Deleted | Change::Kept => false,
    };
    let mut walk = Walk::over(changes.numbering.len());
    let mut pairs = Vec::new();
    for dependent in changes.before.numbers().filter(is_made) {
        let reached = walk.from(&changes.before, dependent, |_| false).iter();
        pairs.extend(reached.filter(|number| is_forgotten(**number)).map(|number| Pair {
            dependent: changes.numbering.key(dependent).clone(),
            dependency: changes.numbering.key(*number).clone(),
        }));
    }
    pairs
}

/// The pairs of a dependent and something that its object refers to, directly or not, and that is removed: the last of
/// the earlier steps was to change the dependent so that it does not depend on that, and failed to.
fn forgotten_by_failure(changes: &Changes, earlier: &[Step<'_>]) -> Vec<Pair> {
    let Some(failed) = earlier.last().map(Step::changes) else { return Vec::new() };
    let (mut now, mut then) = (Walk::over(changes.numbering.len()), Walk::over(failed.numbering.len()));
    let mut pairs = Vec::new();
    // What was to be changed in the step before, and is as it was.
    for dependent in changes.before.numbers().filter(|number| changes.of_number(*number).making().is_some()) {
        let Some(was) = failed.numbering.number(changes.numbering.key(dependent)) else { continue };
        if failed.of_number(was) != Change::Updated {
            continue;
        }
        let written: BTreeSet<&NodeKey> = then
            .from(&failed.after, was, |_| false)
            .iter()
            .map(|number| failed.numbering.key(*number))
            .collect();
        let reached = now.from(&changes.before, dependent, |_| false).iter();
        let goes = |number: Number| {
            changes.of_number(number) == Change::Deleted || changes.old_deletes(number).next().is_some()
        };
        let forgotten = reached.filter(|number| goes(**number));
        let forgotten = forgotten.filter(|number| !written.contains(changes.numbering.key(**number)));
        pairs.extend(forgotten.map(|number| Pair {
            dependent: changes.numbering.key(dependent).clone(),
            dependency: changes.numbering.key(*number).clone(),
        }));
    }
    pairs
}

/// What is replaced, the new object first, in a step with targets, and is none of them itself: each as a pair with
/// itself.
fn kept_by_target(step: &Step<'_>, changes: &Changes) -> Vec<Pair> {
    let targets = &step.options.target;
    let in_force = changes.after.create_before_destroy();
    let is_it = |number: &Number| {
        changes.of_number(*number) == Change::Replaced
            && in_force[*number as usize]
            && !targets.contains(changes.numbering.key(*number))
    };
    let kept = changes.numbers().filter(|_| !targets.is_empty()).filter(is_it);
    let named = |number: Number| changes.numbering.key(number).clone();
    kept.map(|number| Pair { dependent: named(number), dependency: named(number) }).collect()
}

/// What is changed only because targets depend on it that do not change: each as a pair with itself.
fn skipped_by_target(step: &Step<'_>, changes: &Changes) -> Vec<Pair> {
    let is_target = |number: &Number| step.options.target.contains(changes.numbering.key(*number));
    let is_changed = |number: &Number| changes.of_number(*number) != Change::Kept;
    let mut walk = Walk::over(changes.numbering.len());
    let mut brought = BTreeSet::new();
    for target in changes.after.numbers().filter(is_target).filter(is_changed) {
        brought.insert(target);
        brought.extend(walk.from(&changes.after, target, |_| false));
    }
    let skipped = changes.numbers().filter(|_| !step.options.target.is_empty());
    let skipped = skipped.filter(is_changed).filter(|number| !brought.contains(number));
    let named = |number: Number| changes.numbering.key(number).clone();
    skipped.map(|number| Pair { dependent: named(number), dependency: named(number) }).collect()
}

/// What is replaced, and may be so by a new object before the old one goes: each as a pair with itself.
fn deleted_last(changes: &Changes) -> Vec<Pair> {
    let in_force = [changes.before.create_before_destroy(), changes.after.create_before_destroy()];
    let may_be_last = |number: &Number| in_force.iter().any(|in_force| in_force[*number as usize]);
    let replaced = changes.numbers().filter(|number| changes.of_number(*number) == Change::Replaced);
    let named = |number: Number| changes.numbering.key(number).clone();
    let pair = |number| Pair { dependent: named(number), dependency: named(number) };
    replaced.filter(may_be_last).map(pair).collect()
}

/// What is replaced in a step that reads nothing, and had create_before_destroy in force before it only: each as a pair
/// with itself.
fn lost_unread(step: &Step<'_>, changes: &Changes) -> Vec<Pair> {
    let (was, is) = (changes.before.create_before_destroy(), changes.after.create_before_destroy());
    let loses = |number: &Number| {
        changes.of_number(*number) == Change::Replaced && was[*number as usize] && !is[*number as usize]
    };
    let lost = changes.numbers().filter(|_| !step.options.refresh).filter(loses);
    let named = |number: Number| changes.numbering.key(number).clone();
    lost.map(|number| Pair { dependent: named(number), dependency: named(number) }).collect()
}

/// What is replaced, the old object first, and depends on something that changes with create_before_destroy in force:
/// each as a pair with itself.
fn replaced_above_outliving(changes: &Changes) -> Vec<Pair> {
    let in_force = changes.after.create_before_destroy();
    let changes_late = |number: &Number| {
        in_force[*number as usize] && matches!(changes.of_number(*number), Change::Replaced | Change::Updated)
    };
    let mut walk = Walk::over(changes.numbering.len());
    let mut is_it = |number: &Number| {
        changes.of_number(*number) == Change::Replaced
            && !in_force[*number as usize]
            && walk.from(&changes.after, *number, |_| false).iter().any(changes_late)
    };
    let named = |number: Number| changes.numbering.key(number).clone();
    let pair = |number| Pair { dependent: named(number), dependency: named(number) };
    changes.after.numbers().filter(|number| is_it(number)).map(pair).collect()
}

/// What is to change for the program to be deployed, if it has outputs and nothing has drifted: each as a pair with
/// itself.
fn not_deployed(step: &Step<'_>, changes: &Changes) -> Vec<Pair> {
    let is_due = step.configuration.encoding.outputs && !step.deployed.has_drifted();
    let changed = changes.numbers().filter(|number| changes.of_number(*number) != Change::Kept);
    let named = |number: Number| changes.numbering.key(number).clone();
    let pair = |number| Pair { dependent: named(number), dependency: named(number) };
    changed.filter(|_| is_due).map(pair).collect()
}

/// Whether a forgetful engine has create_before_destroy in its state, after the earlier steps, for each resource.
fn in_forgetful_state(changes: &Changes, earlier: &[Step<'_>]) -> Vec<bool> {
    let remembered = earlier.last().map(remembered).unwrap_or_default();
    changes.numbers().map(|number| remembered.contains(changes.numbering.key(number))).collect()
}

/// The resources that a forgetful engine has create_before_destroy in its state for, after a step: what it left alone
/// has the setting if it is in force, what it changed only if it is in force among all that was changed in the same
/// step.
fn remembered(step: &Step<'_>) -> BTreeSet<NodeKey> {
    let changes = step.changes();
    let after = &changes.after;
    let made = |number: Number| changes.of_number(number).making().is_some();
    let mut passed_on = vec![false; changes.numbering.len()];
    let mut walk = Walk::over(changes.numbering.len());
    for number in after.numbers().filter(|number| made(*number) && after.asks(*number)) {
        passed_on[number as usize] = true;
        for &dependency in walk.from(after, number, |dependency| !made(dependency)) {
            passed_on[dependency as usize] |= made(dependency);
        }
    }
    let in_force = after.create_before_destroy();
    let remembers = |number: &Number| {
        let place = *number as usize;
        in_force[place] && (!made(*number) || passed_on[place])
    };
    after.numbers().filter(remembers).map(|number| changes.numbering.key(number).clone()).collect()
}
