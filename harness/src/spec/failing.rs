//! What is expected of a step in which operations fail.

use std::collections::BTreeSet;
use std::sync::Arc;

use petgraph::graph::NodeIndex;
use petgraph::visit::{Dfs, Visitable};

use super::changes::{Change, Changes};
use super::dependencies::{Number, Walk};
use super::expectation::{Expectation, ReplacementOrder};
use super::operation::{OperationKind, ResourceOperation};

impl Expectation {
    /// The same if some operations fail: what comes after one of them is not begun, everything else is done as ever.
    ///
    /// Where the order is not promised, an engine may have waited for what failed, or not: see `held`.
    pub fn with_failing(mut self, changes: &Changes, failing: BTreeSet<ResourceOperation>) -> Self {
        let begins = |node: &NodeIndex| failing.contains(&self.order[*node]);
        let failed: Vec<NodeIndex> = self.order.node_indices().filter(begins).collect();
        let mut skipped = self.followers(failed.clone());
        skipped.retain(|node| !failed.contains(node));
        let mut may_wait = skipped.clone();
        may_wait.extend(&failed);
        loop {
            let held = self.held(changes, &may_wait);
            let before = may_wait.len();
            may_wait.extend(self.followers(held.into_iter().collect()));
            if may_wait.len() == before {
                break;
            }
        }
        let named = |nodes: &BTreeSet<NodeIndex>| -> BTreeSet<ResourceOperation> {
            nodes.iter().map(|node| self.order[*node].clone()).collect()
        };
        let (skipped, may_wait) = (named(&skipped), named(&may_wait));
        self.operations.retain(|operation| !skipped.contains(operation));
        self.failing = failing.into_iter().filter(|operation| self.operations.contains(operation)).collect();
        let is_optional = |operation: &&ResourceOperation| {
            may_wait.contains(*operation) && !self.failing.contains(*operation)
        };
        let optional: Vec<_> = self.operations.iter().filter(is_optional).cloned().collect();
        self.optional.extend(optional);
        self
    }

    /// Operations and all that must come after them.
    fn followers(&self, of: Vec<NodeIndex>) -> BTreeSet<NodeIndex> {
        let mut search = Dfs::from_parts(of, self.order.visit_map());
        std::iter::from_fn(|| search.next(&self.order)).collect()
    }

    /// What an engine may hold back because of operations that are not done. It may order deletes by what is written
    /// now as well as by what was deployed.
    fn held(&self, changes: &Changes, waiting: &BTreeSet<NodeIndex>) -> BTreeSet<NodeIndex> {
        let waiting: BTreeSet<&ResourceOperation> = waiting.iter().map(|node| &self.order[*node]).collect();
        let is_waiting = |key: &Arc<str>, kind| waiting.contains(&ResourceOperation::new(key, kind));
        // What is depended on, as it is written, by something that is not made, or whose old object is not deleted.
        let (mut of_made, mut of_deleted) = (BTreeSet::new(), BTreeSet::new());
        let mut walk = Walk::over(changes.numbering.len());
        for number in changes.after.numbers() {
            let key = changes.numbering.key(number);
            let above = walk.from(&changes.after, number, |_| false).iter();
            let above: Vec<&Arc<str>> = above.map(|number| changes.numbering.key(*number)).collect();
            if changes.of_number(number).making().is_some_and(|kind| is_waiting(key, kind)) {
                of_made.extend(above.iter().copied());
            }
            if is_waiting(key, OperationKind::Delete) {
                of_deleted.extend(above);
            }
        }
        // Old objects that go last, and depended on something that is not changed: engines change that first.
        let was_in_force = changes.before.create_before_destroy();
        let goes_last = |number: Number| match changes.of_number(number) {
            Change::Replaced => {
                self.replacements.get(changes.numbering.key(number)) != Some(&ReplacementOrder::DeleteFirst)
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
            let ResourceOperation { key, kind } = &self.order[*node];
            let order = self.replacements.get(key);
            let either = order == Some(&ReplacementOrder::Either);
            let outlives = either || order == Some(&ReplacementOrder::CreateFirst);
            let other = match kind {
                OperationKind::Create => OperationKind::Delete,
                _ => OperationKind::Create,
            };
            of_deleted.contains(key)
                || (*kind == OperationKind::Delete && outlives && of_made.contains(key))
                || (*kind == OperationKind::Delete && after_change.contains(key))
                || (either && *kind != OperationKind::Update && is_waiting(key, other))
        };
        self.order.node_indices().filter(is_held).collect()
    }
}
