//! What is expected of a step in which operations fail.

use std::collections::BTreeSet;

use petgraph::graph::NodeIndex;
use petgraph::visit::{Dfs, Visitable};

use crate::spec::changes::{Change, Changes};
use crate::spec::dependencies::{Number, Walk};
use crate::spec::expectation::{Expectation, ReplacementOrder};
use crate::spec::meaning::NodeKey;
use crate::spec::operation::{ObjectRole, OperationKind, ResourceOperation};

/// The same if some operations fail: what comes after one of them is not begun, everything else is done as ever.
///
/// Where the order is not promised, an engine may have waited for what failed, or not: see `held`.
pub(super) fn with_failing(
    mut expectation: Expectation,
    changes: &Changes,
    failing: BTreeSet<ResourceOperation>,
) -> Expectation {
    let begins = |node: &NodeIndex| failing.contains(&expectation.order[*node]);
    let failed: Vec<NodeIndex> = expectation.order.node_indices().filter(begins).collect();
    // What fails may itself come after something that does.
    let skipped: BTreeSet<NodeIndex> = failed
        .iter()
        .flat_map(|first| {
            let mut after = followers(&expectation, vec![*first]);
            after.remove(first);
            after
        })
        .collect();
    let waits = may_wait(&expectation, changes, failed.clone());
    // Of two that fail, an engine may never come to one of them.
    let others = |of: NodeIndex| failed.iter().copied().filter(|it| *it != of).collect();
    let may_be_spared = |of: &NodeIndex| may_wait(&expectation, changes, others(*of)).contains(of);
    let spared: BTreeSet<NodeIndex> = match failed.len() {
        0 | 1 => BTreeSet::new(),
        _ => failed.iter().copied().filter(may_be_spared).collect(),
    };
    let named = |nodes: &BTreeSet<NodeIndex>| -> BTreeSet<ResourceOperation> {
        nodes.iter().map(|node| expectation.order[*node].clone()).collect()
    };
    let (skipped, may_wait, spared) = (named(&skipped), named(&waits), named(&spared));
    expectation.operations.retain(|operation| !skipped.contains(operation));
    expectation.failing =
        failing.into_iter().filter(|operation| expectation.operations.contains(operation)).collect();
    let is_optional = |operation: &&ResourceOperation| {
        spared.contains(*operation)
            || (may_wait.contains(*operation) && !expectation.failing.contains(*operation))
    };
    let optional: Vec<_> = expectation.operations.iter().filter(is_optional).cloned().collect();
    expectation.optional.extend(optional);
    expectation
}

/// Operations that fail, and all that an engine may hold back because of them.
fn may_wait(expectation: &Expectation, changes: &Changes, failed: Vec<NodeIndex>) -> BTreeSet<NodeIndex> {
    let mut waiting = followers(expectation, failed);
    loop {
        let held = held(expectation, changes, &waiting);
        let before = waiting.len();
        waiting.extend(followers(expectation, held.into_iter().collect()));
        if waiting.len() == before {
            return waiting;
        }
    }
}

/// Operations and all that must come after them.
fn followers(expectation: &Expectation, of: Vec<NodeIndex>) -> BTreeSet<NodeIndex> {
    let mut search = Dfs::from_parts(of, expectation.order.visit_map());
    std::iter::from_fn(|| search.next(&expectation.order)).collect()
}

/// What an engine may hold back because of operations that are not done. It may order deletes by what is written
/// now as well as by what was deployed.
fn held(expectation: &Expectation, changes: &Changes, waiting: &BTreeSet<NodeIndex>) -> BTreeSet<NodeIndex> {
    let waiting = waiting.iter().map(|node| &expectation.order[*node]);
    let waiting: BTreeSet<(&NodeKey, OperationKind)> = waiting.map(|it| (&it.key, it.kind)).collect();
    let is_waiting = |key: &NodeKey, kind| waiting.contains(&(key, kind));
    // What is depended on, as it is written, by something that is not made, or whose old object is not deleted.
    let (mut of_made, mut of_deleted) = (BTreeSet::new(), BTreeSet::new());
    let mut walk = Walk::over(changes.numbering.len());
    for number in changes.after.numbers() {
        let key = changes.numbering.key(number);
        let above = walk.from(&changes.after, number, |_| false).iter();
        let above: Vec<&NodeKey> = above.map(|number| changes.numbering.key(*number)).collect();
        if changes.of_number(number).making().is_some_and(|kind| is_waiting(key, kind)) {
            of_made.extend(above.iter().copied());
        }
        if is_waiting(key, OperationKind::Delete) {
            of_deleted.extend(above);
        }
    }
    // Old objects that go last, and depended on something that is not changed: engines change that first.
    let was_in_force = changes.before.create_before_destroy();
    let has_old = |number: Number| changes.old_deletes(number).next().is_some();
    let goes_last = |number: Number| match changes.of_number(number) {
        _ if has_old(number) => true,
        Change::Replaced => {
            expectation.replacements.get(changes.numbering.key(number))
                != Some(&ReplacementOrder::DeleteFirst)
        }
        Change::Deleted => was_in_force[number as usize],
        Change::Created | Change::Kept | Change::Updated => false,
    };
    let is_unchanged = |number: &Number| {
        let key = changes.numbering.key(*number);
        changes.of_number(*number).making().is_some_and(|kind| is_waiting(key, kind))
    };
    let mut after_change = BTreeSet::new();
    for number in changes.before.numbers().filter(|number| goes_last(*number)) {
        if walk.from(&changes.before, number, |_| false).iter().any(is_unchanged) {
            after_change.insert(changes.numbering.key(number));
        }
    }
    let is_held = |node: &NodeIndex| {
        let ResourceOperation { key, kind, object } = &expectation.order[*node];
        // Engines also make a resource, and what depends on it in the program, before they delete its old objects.
        let is_old = matches!(object, ObjectRole::Old(_));
        let own = [OperationKind::Create, OperationKind::Update].iter().any(|kind| is_waiting(key, *kind));
        let order = expectation.replacements.get(key);
        let either = order == Some(&ReplacementOrder::Either);
        let outlives = either || order == Some(&ReplacementOrder::CreateFirst);
        let other = match kind {
            OperationKind::Create => OperationKind::Delete,
            _ => OperationKind::Create,
        };
        of_deleted.contains(key)
            || (is_old && (own || of_made.contains(key)))
            || (*kind == OperationKind::Delete && outlives && of_made.contains(key))
            || (*kind == OperationKind::Delete && after_change.contains(key))
            || (either && *kind != OperationKind::Update && is_waiting(key, other))
    };
    expectation.order.node_indices().filter(is_held).collect()
}
