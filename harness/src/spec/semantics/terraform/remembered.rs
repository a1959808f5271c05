//! What is there after a step, and what the state holds of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::spec::changes::{Change, Changes};
use crate::spec::configuration::Configuration;
use crate::spec::dependencies::Number;
use crate::spec::deployed::{Deployed, NotModelled};
use crate::spec::meaning::{EdgeKind, Node, NodeKey};
use crate::spec::memory::{Current, Remembered};
use crate::spec::operation::{Effect, ObjectRole, OperationKind, ResourceOperation};
use crate::spec::world::{Object, ObjectId};

/// What is deployed after all changes are made.
pub(super) fn outcome(
    changes: &Changes,
    deployed: &Deployed,
    configuration: &Configuration,
    reached: Option<&BTreeSet<NodeKey>>,
) -> Deployed {
    let mut next = Deployed::NOTHING;
    for number in changes.numbers() {
        let key = changes.numbering.key(number);
        let is_reached = reached.is_none_or(|reached| reached.contains(key));
        let (was, node) = (NodeState::of(deployed, key), configuration.node(key));
        let now = match (changes.of_number(number), was, node) {
            (Change::Deleted, ..) => continue,
            (Change::Created | Change::Replaced, _, Some(node)) => {
                next.create(key, node, &configuration.encoding);
                continue;
            }
            (Change::Updated, Some(was), Some(node)) if is_reached => {
                was.updated(node, configuration, key).alone()
            }
            (Change::Kept, Some(was), Some(node)) if is_reached => {
                was.rewritten(node, configuration, key).alone()
            }
            (_, Some(was), _) => was.left_alone(changes, number),
            (_, None, _) => continue,
        };
        now.put(&mut next, key);
    }
    next
}

/// What is there after some operations of a step to a program, in the order in which they took effect. What was not
/// operated on is as it was, but for references to objects that are no longer there.
pub(super) fn after_failure(
    deployed: &Deployed,
    configuration: &Configuration,
    effects: &[Effect],
) -> Result<Deployed, NotModelled> {
    let mut changed: BTreeMap<&NodeKey, Vec<&Effect>> = BTreeMap::new();
    for effect in effects {
        changed.entry(&effect.operation.key).or_default().push(effect);
    }
    let mut next = deployed.clone();
    for (key, effects) in &changed {
        let was = NodeState::take(&mut next, key);
        let now = folded(was, configuration, key, effects);
        now.ok_or_else(|| NotModelled { key: (*key).clone() })?.put(&mut next, key);
    }
    if changed.is_empty() {
        return Ok(next);
    }
    let did = |key: &NodeKey, is: fn(&Effect) -> bool| {
        changed.get(key).is_some_and(|effects| effects.iter().any(|effect| is(effect)))
    };
    let creates = |effect: &Effect| effect.operation.kind == OperationKind::Create;
    let writes = |effect: &Effect| effect.operation.kind != OperationKind::Delete && !effect.partial;
    for (key, remembered) in &next.memory.nodes {
        let Some(current) = remembered.current.as_ref().filter(|_| !did(key, writes)) else { continue };
        let by_value = remembered.dependencies.iter().filter(|(_, kind)| kind.leaves_a_value());
        let replaced =
            by_value.map(|(dependency, _)| dependency).filter(|dependency| did(dependency, creates));
        let replaced: Vec<NodeKey> = replaced.cloned().collect();
        if !replaced.is_empty()
            && let Some(object) =
                next.world.objects.get_mut(&ObjectId { key: key.clone(), number: current.object })
        {
            object.outdated.extend(replaced);
        }
    }
    Ok(next)
}

/// The same if old objects were left that should have been deleted, by what was done: an old object is there until it
/// is deleted, and the one that was current when another was created is an old one since.
pub(super) fn with_objects_left(mut outcome: Deployed, before: &Deployed, effects: &[Effect]) -> Deployed {
    let keys: Vec<NodeKey> = outcome.memory.nodes.keys().cloned().collect();
    for key in keys {
        let Some(was) = NodeState::of(before, &key) else { continue };
        let of_key: Vec<&Effect> = effects.iter().filter(|effect| effect.operation.key == key).collect();
        let is_deleted = |role: ObjectRole| {
            of_key.iter().any(|it| it.operation.kind == OperationKind::Delete && it.operation.object == role)
        };
        let created = of_key.iter().any(|effect| effect.operation.kind == OperationKind::Create);
        let current = created.then(|| was.current_object().cloned()).flatten();
        let current = current.filter(|_| !is_deleted(ObjectRole::Current));
        let old = (0..).zip(was.old_objects()).filter(|(place, _)| !is_deleted(ObjectRole::Old(*place)));
        let left: Vec<Object> = old.map(|(_, object)| object.clone()).chain(current).collect();
        let had = outcome.memory.nodes.get(&key).is_some_and(|it| !it.pending.is_empty());
        if !left.is_empty() || had {
            let now = NodeState::take(&mut outcome, &key).expect("the node is remembered");
            now.with_old(left).put(&mut outcome, &key);
        }
    }
    outcome
}

/// The same if less was done than expected: what should have been changed, and was not, is as it was; what should have
/// been replaced, and was only deleted, is gone.
pub(super) fn with_left_out(
    mut outcome: Deployed,
    before: &Deployed,
    expected: &BTreeSet<ResourceOperation>,
    effects: &[Effect],
) -> Deployed {
    let keys: BTreeSet<&NodeKey> = expected.iter().map(|operation| &operation.key).collect();
    for key in keys {
        let mut done = effects.iter().filter(|effect| effect.operation.key == *key).peekable();
        if done.peek().is_none() {
            NodeState::take(&mut outcome, key);
            if let Some(was) = NodeState::of(before, key) {
                was.put(&mut outcome, key);
            }
            continue;
        }
        let creates = expected.contains(&ResourceOperation::new(key, OperationKind::Create));
        let had_old = before.memory.node(key).is_some_and(|it| !it.pending.is_empty());
        if creates && !had_old && done.all(|effect| effect.operation.kind == OperationKind::Delete) {
            NodeState::take(&mut outcome, key);
        }
    }
    outcome
}

/// What an engine takes for deployed that destroys everything with a program in hand that was never deployed: what
/// stands in the program it takes to depend on no more than the program says. Nobody promises more.
pub(super) fn before_destroy(mut deployed: Deployed, configuration: &Configuration) -> Deployed {
    for (key, remembered) in &mut deployed.memory.nodes {
        let Some(node) = configuration.node(key) else { continue };
        if remembered.dependencies != node.dependencies {
            let still = remembered.dependencies.iter();
            let still = still.filter(|(dependency, _)| node.dependencies.contains_key(*dependency));
            remembered.dependencies = Arc::new(still.map(|(key, kind)| (key.clone(), *kind)).collect());
        }
    }
    deployed
}

/// The same with every dependency that a destroy may go by: those that were deployed, and those that are written.
pub(super) fn before_destroy_by_either(mut deployed: Deployed, configuration: &Configuration) -> Deployed {
    for (key, remembered) in &mut deployed.memory.nodes {
        let Some(node) = configuration.node(key) else { continue };
        if remembered.dependencies != node.dependencies {
            let mut either = Arc::unwrap_or_clone(node.dependencies.clone());
            either.extend(remembered.dependencies.iter().map(|(key, kind)| (key.clone(), *kind)));
            remembered.dependencies = Arc::new(either);
        }
    }
    deployed
}

/// What an engine knows and the world holds of one node, while a step is folded into it.
struct NodeState {
    remembered: Remembered,
    /// The objects by number, the oldest first. An object that vanished behind the engine's back is not among them.
    objects: BTreeMap<u32, Object>,
}

impl NodeState {
    fn of(deployed: &Deployed, key: &NodeKey) -> Option<Self> {
        let remembered = deployed.memory.node(key)?.clone();
        let objects = deployed.world.of_node(key).map(|(id, object)| (id.number, object.clone())).collect();
        Some(Self { remembered, objects })
    }

    fn take(deployed: &mut Deployed, key: &NodeKey) -> Option<Self> {
        let taken = Self::of(deployed, key);
        let ids: Vec<ObjectId> = deployed.world.of_node(key).map(|(id, _)| id.clone()).collect();
        ids.iter().for_each(|id| drop(deployed.world.objects.remove(id)));
        deployed.memory.nodes.remove(key);
        taken
    }

    /// Puts it into what is deployed, its objects numbered by age. A node of which nothing is left is not put there.
    fn put(mut self, deployed: &mut Deployed, key: &NodeKey) {
        let known = self.remembered.current.iter().map(|current| current.object);
        let numbers: BTreeSet<u32> = known
            .chain(self.remembered.pending.iter().copied())
            .chain(self.objects.keys().copied())
            .collect();
        let number: BTreeMap<u32, u32> = numbers.into_iter().zip(0..).collect();
        for (old, object) in self.objects {
            deployed.world.objects.insert(ObjectId { key: key.clone(), number: number[&old] }, object);
        }
        if let Some(current) = &mut self.remembered.current {
            current.object = number[&current.object];
        }
        self.remembered.pending.iter_mut().for_each(|pending| *pending = number[pending]);
        if self.remembered.current.is_some() || !self.remembered.pending.is_empty() {
            deployed.memory.nodes.insert(key.clone(), self.remembered);
        }
    }

    fn current_object(&self) -> Option<&Object> {
        self.objects.get(&self.remembered.current.as_ref()?.object)
    }

    fn old_objects(&self) -> impl Iterator<Item = &Object> {
        self.remembered.pending.iter().filter_map(|number| self.objects.get(number))
    }

    /// As a node is written, without a new object: the engine remembers what is written of it.
    fn rewritten(mut self, node: &Node, configuration: &Configuration, key: &NodeKey) -> Self {
        self.remembered.address = configuration.encoding.address(key);
        self.remembered.dependencies = node.dependencies.clone();
        self.remembered.create_before_destroy = node.create_before_destroy;
        if let Some(current) = &mut self.remembered.current {
            if !node.ignore_changes {
                current.label.clone_from(&node.label);
            }
            current.pin.clone_from(&node.pin);
            current.marked = false;
        }
        self
    }

    /// The same after an update in place, which writes the object too.
    fn updated(self, node: &Node, configuration: &Configuration, key: &NodeKey) -> Self {
        let mut updated = self.rewritten(node, configuration, key);
        if let Some(current) = &updated.remembered.current
            && let Some(object) = updated.objects.get_mut(&current.object)
        {
            let (label, pin) = (current.label.clone(), current.pin.clone());
            *object = Object { label, pin, outdated: BTreeSet::new() };
        }
        updated
    }

    /// Its current object alone: whatever awaited deletion is deleted.
    fn alone(self) -> Self {
        self.with_old(Vec::new())
    }

    /// Its current object, and these old ones.
    fn with_old(self, old: Vec<Object>) -> Self {
        let Self { mut remembered, mut objects } = self;
        let object = remembered.current.as_ref().and_then(|current| objects.remove(&current.object));
        let newest = old.len() as u32;
        remembered.pending = (0..newest).collect();
        let mut objects: BTreeMap<u32, Object> = (0..).zip(old).collect();
        if let Some(current) = &mut remembered.current {
            current.object = newest;
            objects.extend(object.map(|object| (newest, object)));
        }
        Self { remembered, objects }
    }

    /// A node that the step does not reach: what its object refers to may have been replaced.
    fn left_alone(mut self, changes: &Changes, number: Number) -> Self {
        let replaced = changes.before.dependencies(number).iter().copied().filter(|dependency| {
            let by_value = changes.before.edge(*dependency, number).is_some_and(EdgeKind::leaves_a_value);
            by_value && changes.of_number(*dependency) == Change::Replaced
        });
        let replaced: Vec<NodeKey> = replaced.map(|it| changes.numbering.key(it).clone()).collect();
        if let Some(current) = &self.remembered.current
            && let Some(object) = self.objects.get_mut(&current.object)
        {
            object.outdated.extend(replaced);
        }
        self
    }

    /// The number of the object with a role, as the step began.
    fn number(&self, role: ObjectRole) -> Option<u32> {
        match role {
            ObjectRole::Current => Some(self.remembered.current.as_ref()?.object),
            ObjectRole::Old(place) => self.remembered.pending.get(place as usize).copied(),
            ObjectRole::New => None,
        }
    }
}

/// A node after operations on it, or none if the model cannot go on from what they left.
fn folded(
    was: Option<NodeState>,
    configuration: &Configuration,
    key: &NodeKey,
    effects: &[&Effect],
) -> Option<NodeState> {
    let node = configuration.node(key);
    let of_kind = |kind| effects.iter().filter(move |effect| effect.operation.kind == kind);
    let mut gone = BTreeSet::new();
    for effect in of_kind(OperationKind::Delete) {
        // What nobody knew, or what was deleted before, cannot be deleted.
        if !gone.insert(was.as_ref()?.number(effect.operation.object)?) {
            return None;
        }
    }
    let mut now = was;
    if let Some(now) = &mut now {
        now.objects.retain(|number, _| !gone.contains(number));
        now.remembered.pending.retain(|number| !gone.contains(number));
        now.remembered.current.take_if(|current| gone.contains(&current.object));
    }
    let mut making = effects.iter().filter(|effect| effect.operation.kind != OperationKind::Delete);
    match (making.next(), making.next()) {
        (None, _) => now,
        (Some(effect), None) if effect.operation.kind == OperationKind::Create => {
            let is_suspect = effect.partial || effect.breach.is_some();
            Some(created_beside(now, node?, configuration, key, is_suspect)?.breached(effect))
        }
        (Some(effect), None) => {
            let now = now.filter(|now| now.remembered.current.is_some())?;
            let node = node?;
            let now =
                if effect.partial { now.with_label(node) } else { now.updated(node, configuration, key) };
            Some(now.breached(effect))
        }
        (Some(_), Some(_)) => None,
    }
}

/// A node with a new object beside those that are left. One that was created only in part, beside an old one, is
/// nothing that the model can go on from.
fn created_beside(
    left: Option<NodeState>,
    node: &Node,
    configuration: &Configuration,
    key: &NodeKey,
    partial: bool,
) -> Option<NodeState> {
    let mut remembered = Remembered::new(configuration.encoding.address(key), node);
    let old: Vec<Object> = left.iter().flat_map(|left| left.objects.values().cloned()).collect();
    if partial && left.as_ref().is_some_and(|left| left.remembered.current.is_some()) {
        return None;
    }
    if let Some(Current { marked, .. }) = &mut remembered.current {
        *marked = partial;
    }
    Some(NodeState { remembered, objects: [(0, node.into())].into() }.with_old(old))
}

impl NodeState {
    /// With the label that the provider gave the object against the plan, if it did. The engine remembers that one.
    fn breached(mut self, effect: &Effect) -> Self {
        let label = effect.breach.and_then(|breach| breach.label());
        if let (Some(label), Some(current)) = (label, &mut self.remembered.current) {
            current.label = label.map(Arc::from);
            if let Some(object) = self.objects.get_mut(&current.object) {
                object.label.clone_from(&current.label);
            }
        }
        self
    }

    /// The label as it is written, and nothing else: an update did a part of its work.
    fn with_label(mut self, node: &Node) -> Self {
        if let Some(current) = &mut self.remembered.current {
            if !node.ignore_changes {
                current.label.clone_from(&node.label);
            }
            if let Some(object) = self.objects.get_mut(&current.object) {
                object.label.clone_from(&current.label);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests;
