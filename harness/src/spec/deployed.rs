//! What is deployed: the instances that an engine has made, as it wrote them last.
//!
//! It is not what is written. A program says what is to be; after a step that failed, some of what is deployed
//! is as the program says, some as an earlier one said. What an attribute is may also differ from what is written
//! because its changes are ignored, or because the world changed behind the engine's back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::address::{Address, InstanceAddress};
use super::operation::{Effect, OperationKind, ResourceOperation};
use super::program::{Block, Dependencies, Program};

/// An instance as it was written last: its object in the world, and what the engine's state remembers of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instance {
    /// The key of its object.
    pub key: Arc<str>,
    /// What it depends on, and how: references are attributes of the object, all of them stand in the state.
    pub dependencies: Arc<Dependencies>,
    /// Whether it asked for create_before_destroy.
    pub create_before_destroy: bool,
    /// Its label, as the engine knows it.
    pub label: Option<Arc<str>>,
    /// Its pin, as the engine knows it.
    pub pin: Option<Arc<str>>,
    /// Whether its object is to be replaced: its creation failed halfway, or somebody said so.
    pub tainted: bool,
    /// Whether an old object of it is left that could not be deleted.
    pub deposed: bool,
    /// The dependencies that its object refers to by an id which they no longer have.
    pub stale: BTreeSet<Address>,
    /// How its object differs from what the engine knows.
    pub drift: Option<Drift>,
}

/// How an object has changed behind the engine's back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drift {
    /// It is not there any more.
    Gone,
    /// It has another label.
    Label(Option<Arc<str>>),
    /// It has another pin.
    Pin(Option<Arc<str>>),
}

impl From<&Block> for Instance {
    fn from(block: &Block) -> Self {
        Self {
            key: block.key.clone(),
            dependencies: block.dependencies.clone(),
            create_before_destroy: block.create_before_destroy,
            label: block.label.clone(),
            pin: block.pin.clone(),
            ..Self::default()
        }
    }
}

impl Instance {
    /// The instance after its block was deployed without a new object: as the block says, but for the label if
    /// changes of that are ignored.
    pub fn written_by(&self, block: &Block) -> Self {
        let label = if block.ignore_changes { &self.label } else { &block.label };
        Self { label: label.clone(), ..block.into() }
    }

    /// The block that describes it as it is.
    pub fn as_block(&self) -> Block {
        Block {
            key: self.key.clone(),
            dependencies: self.dependencies.clone(),
            create_before_destroy: self.create_before_destroy,
            label: self.label.clone(),
            pin: self.pin.clone(),
            ..Block::default()
        }
    }
}

/// A deployed world.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deployed {
    /// The instances.
    pub instances: BTreeMap<InstanceAddress, Instance>,
}

/// What was done is nothing that the model can go on from: a resource has two objects, or one that nobody wrote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} is left with other objects than the one that its program describes")]
pub struct NotModelled {
    /// The resource's key.
    pub key: Arc<str>,
}

impl Deployed {
    /// Nothing.
    pub const NOTHING: Self = Self { instances: BTreeMap::new() };

    /// What is there after a program was deployed as a whole where nothing was before.
    pub fn by(program: &Program) -> Self {
        let instances = program.blocks.iter().map(|(address, block)| (address.into(), block.into()));
        Self { instances: instances.collect() }
    }

    /// What an engine takes for deployed that destroys everything with a program in hand that was never deployed: what
    /// stands in the program it takes to depend on no more than the program says. Nobody promises more.
    pub fn with_written(mut self, program: &Program) -> Self {
        for (address, instance) in &mut self.instances {
            let Some(block) = program.blocks.get(&address.block) else { continue };
            if instance.dependencies != block.dependencies {
                let written = |dependency: &Address| block.dependencies.contains_key(dependency);
                let still = instance.dependencies.iter().filter(|(dependency, _)| written(dependency));
                instance.dependencies =
                    Arc::new(still.map(|(address, kind)| (address.clone(), *kind)).collect());
            }
        }
        self
    }

    /// The same after the engine has read all objects: it knows of what has changed behind its back.
    pub fn refreshed(&self) -> Self {
        let mut refreshed = self.clone();
        refreshed.instances.retain(|_, instance| instance.drift != Some(Drift::Gone));
        for instance in refreshed.instances.values_mut() {
            match instance.drift.take() {
                Some(Drift::Label(label)) => instance.label = label,
                Some(Drift::Pin(pin)) => instance.pin = pin,
                Some(Drift::Gone) | None => {}
            }
        }
        refreshed
    }

    /// Whether an object has changed behind the engine's back.
    pub fn has_drifted(&self) -> bool {
        self.instances.values().any(|instance| instance.drift.is_some())
    }

    /// The same after an object has changed behind the engine's back.
    pub fn drifted(mut self, key: &str, drift: &Drift) -> Self {
        let instances = self.instances.values_mut();
        instances.filter(|instance| &*instance.key == key).for_each(|it| it.drift = Some(drift.clone()));
        self
    }

    /// The same if old objects were left that should have been deleted: those of resources that got a new one beside
    /// the old one, by what was done.
    pub fn with_left_objects(mut self, before: &Self, effects: &[Effect]) -> Self {
        let did = |key: &str, kind| effects.iter().any(|effect| &*effect.key == key && effect.kind == kind);
        for (address, instance) in &mut self.instances {
            let left =
                did(&instance.key, OperationKind::Create) && !did(&instance.key, OperationKind::Delete);
            let was = before.instances.get(address);
            let had_one = was.is_some_and(|was| was.deposed);
            instance.deposed =
                (left && was.is_some()) || (had_one && !did(&instance.key, OperationKind::Delete));
        }
        self
    }

    /// The same if less was done than expected: what should have been changed, and was not, is as it was; what should
    /// have been replaced, and was only deleted, is gone.
    pub fn with_left_out(
        mut self,
        before: &Self,
        expected: &BTreeSet<ResourceOperation>,
        effects: &[Effect],
    ) -> Self {
        let was_due = |key: &Arc<str>| expected.iter().any(|operation| operation.key == *key);
        let done = |key: &Arc<str>| effects.iter().filter(|effect| effect.key == *key).collect::<Vec<_>>();
        let was_left_out = |key: &Arc<str>| was_due(key) && done(key).is_empty();
        let was_only_deleted = |key: &Arc<str>| {
            let created = ResourceOperation { key: key.clone(), kind: OperationKind::Create };
            let had_deposed = before.instances.values().any(|was| was.key == *key && was.deposed);
            let done = done(key);
            let deleted = done.iter().all(|effect| effect.kind == OperationKind::Delete);
            expected.contains(&created) && !done.is_empty() && deleted && !had_deposed
        };
        let there = before.instances.iter();
        let left: Vec<_> = there.filter(|(_, instance)| was_left_out(&instance.key)).collect();
        self.instances.retain(|_, instance| !was_left_out(&instance.key) && !was_only_deleted(&instance.key));
        self.instances
            .extend(left.into_iter().map(|(address, instance)| (address.clone(), instance.clone())));
        self
    }

    /// The same after a resource was marked as one to be replaced, or no longer as such.
    pub fn with_taint(mut self, address: &Address, tainted: bool) -> Self {
        if let Some(instance) = self.instances.get_mut(&InstanceAddress::from(address)) {
            instance.tainted = tainted;
        }
        self
    }

    /// What is there after some operations of a step to a program, in the order in which they took effect. What
    /// was not operated on is as it was, but for references to objects that are no longer there.
    pub fn after<'a>(
        &self,
        program: &Program,
        effects: impl IntoIterator<Item = &'a Effect>,
    ) -> Result<Self, NotModelled> {
        let mut changed: BTreeMap<&Arc<str>, Vec<(OperationKind, bool)>> = BTreeMap::new();
        for effect in effects {
            changed.entry(&effect.key).or_default().push((effect.kind, effect.partial));
        }
        if changed.is_empty() {
            return Ok(self.clone());
        }
        let addresses: BTreeMap<&str, &InstanceAddress> =
            self.instances.iter().map(|(address, instance)| (&*instance.key, address)).collect();
        let mut next = self.clone();
        for (key, kinds) in &changed {
            use OperationKind::{Create, Delete, Update};
            let (was, written) = (addresses.get(&***key).copied(), program.by_key(key));
            let had_deposed = was.is_some_and(|address| self.instances[address].deposed);
            match (was, written, kinds.as_slice()) {
                (Some(address), _, [(Delete, _)]) if had_deposed => {
                    next.instances.get_mut(address).expect("it is there").deposed = false;
                }
                (Some(address), _, [(Delete, _)]) => {
                    next.instances.remove(address);
                }
                (None, Some((address, block)), [(Create, partial)]) => {
                    let made = Instance { tainted: *partial, ..block.into() };
                    next.instances.insert(address.into(), made);
                }
                // The old object could not be deleted.
                (Some(address), Some((_, block)), [(Create, false)]) if !had_deposed => {
                    next.instances.insert(address.clone(), Instance { deposed: true, ..block.into() });
                }
                (Some(address), Some((_, block)), [(Update, true)]) => {
                    let instance = next.instances.get_mut(address).expect("it is there");
                    instance.label = instance.written_by(block).label;
                }
                (Some(address), Some((_, block)), [(Update, false)]) => {
                    let written = self.instances[address].written_by(block);
                    next.instances.insert(address.clone(), written);
                }
                (Some(address), Some((_, block)), [(Delete, _), (Create, partial)]) => {
                    let made = Instance { tainted: *partial, ..block.into() };
                    next.instances.insert(address.clone(), made);
                }
                (Some(address), Some((_, block)), [(Create, false), (Delete, _)]) => {
                    next.instances.insert(address.clone(), block.into());
                }
                _ => return Err(NotModelled { key: (*key).clone() }),
            }
        }
        let has_new_object = |address: &Address| {
            let key = program.key(address);
            let kinds = key.and_then(|key| changed.get(key)).map_or(&[][..], Vec::as_slice);
            kinds.iter().any(|(kind, _)| *kind == OperationKind::Create)
        };
        for instance in next.instances.values_mut() {
            let was_written = changed.get(&instance.key).is_some_and(|kinds| {
                kinds.iter().any(|(kind, partial)| *kind != OperationKind::Delete && !partial)
            });
            if !was_written {
                let by_value = instance.dependencies.iter().filter(|(_, kind)| kind.leaves_a_value());
                let stale = by_value.map(|(address, _)| address).filter(|address| has_new_object(address));
                let stale: Vec<Address> = stale.cloned().collect();
                instance.stale.extend(stale);
            }
        }
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::super::notation::{effect, operation, program};
    use super::*;

    fn after(before: &str, after: &str, effects: &str) -> Result<Deployed, NotModelled> {
        let effects: Vec<Effect> = effects.split_whitespace().map(effect).collect();
        Deployed::by(&program(before)).after(&program(after), &effects)
    }

    fn instance<'a>(deployed: &'a Deployed, key: &str) -> &'a Instance {
        deployed.instances.values().find(|instance| &*instance.key == key).unwrap()
    }

    #[test]
    fn after_all_operations_the_program_is_deployed() {
        let done = after("a b<a", "x a b<x", "-b +x +b").unwrap();
        assert_eq!(done, Deployed::by(&program("x a b<x")));
    }

    #[test]
    fn after_some_operations_the_rest_is_as_it_was() {
        assert_eq!(after("a b<a", "x a<x b<a", "").unwrap(), Deployed::by(&program("a b<a")));
        assert_eq!(after("a b<a", "x a b<x", "+x").unwrap(), Deployed::by(&program("x a b<a")));
        assert_eq!(after("x a b<^a", "x a<^x b<^a", "-b").unwrap(), Deployed::by(&program("x a")));
    }

    #[test]
    fn what_refers_to_an_object_that_was_replaced_and_is_not_written_itself_is_stale() {
        let done = after("x a b<a c<+a", "x a<^x b<a c<+a", "-a +a").unwrap();
        assert_eq!(instance(&done, "b").stale, [Address::of_node("a")].into());
        assert!(instance(&done, "c").stale.is_empty(), "it refers to nothing by value");
        let done = after("x a b<a", "x a<^x b<a", "-a +a ~b").unwrap();
        assert!(instance(&done, "b").stale.is_empty());
    }

    #[test]
    fn an_object_that_was_created_in_part_is_tainted_and_one_that_was_updated_in_part_has_the_new_label() {
        assert!(instance(&after("", "a", "+a?").unwrap(), "a").tainted);
        let done = after("x a", "x a=l<x", "~a?").unwrap();
        let a = instance(&done, "a");
        assert_eq!((a.label.as_deref(), a.dependencies.len()), (Some("l"), 0));
    }

    #[test]
    fn an_old_object_that_could_not_be_deleted_is_left_beside_the_new_one() {
        let done = after("x a!", "x a!<^x", "+a").unwrap();
        assert!(instance(&done, "a").deposed);
        let done = done.after(&program("x a!<^x"), &[effect("-a")]).unwrap();
        assert_eq!(done, Deployed::by(&program("x a!<^x")));
    }

    #[test]
    fn what_was_left_out_is_as_it_was_and_what_was_only_deleted_is_gone() {
        let (before, written) = (Deployed::by(&program("x a b<+a")), program("x a<^x b<+a"));
        let replacement = ["-a", "+a"].map(operation).into();
        let left_out = |effects: &str| {
            let effects: Vec<Effect> = effects.split_whitespace().map(effect).collect();
            Deployed::by(&written).with_left_out(&before, &replacement, &effects)
        };
        assert_eq!(left_out("-a +a"), Deployed::by(&written));
        assert_eq!(left_out(""), before);
        let gone = left_out("-a");
        assert!(gone.instances.values().map(|instance| &*instance.key).eq(["b", "x"]));
    }

    #[test]
    fn what_nobody_wrote_is_nothing_to_go_on_from() {
        assert!(after("a", "a", "-z").is_err());
        assert_eq!(
            after("x a!", "x a!<^x", "+a?").unwrap_err().key.as_ref(),
            "a",
            "two objects, one tainted"
        );
    }

    #[test]
    fn an_engine_that_refreshes_knows_what_has_drifted() {
        let deployed = Deployed::by(&program("a=l b<a"));
        let gone = deployed.clone().drifted("a", &Drift::Gone);
        assert!(gone.has_drifted() && gone.instances.len() == 2);
        assert_eq!(gone.refreshed().instances.len(), 1);
        let other = deployed.drifted("a", &Drift::Label(Some("m".into()))).refreshed();
        assert_eq!(instance(&other, "a").label.as_deref(), Some("m"));
    }
}
