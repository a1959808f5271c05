//! What is deployed: the instances that an engine has made, as it wrote them last.
//!
//! It is not what is written. A program says what is to be; after a step that failed, some of what is deployed
//! is as the program says, some as an earlier one said.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::address::{Address, InstanceAddress};
use super::operation::{OperationKind, ResourceOperation};
use super::program::{Block, Dependencies, Program};

/// An instance as it was written last: its object in the world, and what the engine's state remembers of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// The key of its object.
    pub key: Arc<str>,
    /// What it depends on, and how: references are attributes of the object, all of them stand in the state.
    pub dependencies: Arc<Dependencies>,
    /// Whether it asked for create_before_destroy.
    pub create_before_destroy: bool,
}

impl From<&Block> for Instance {
    fn from(block: &Block) -> Self {
        Self {
            key: block.key.clone(),
            dependencies: block.dependencies.clone(),
            create_before_destroy: block.create_before_destroy,
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

    /// What is there after a program was deployed as a whole.
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

    /// What is there after some operations of a step to a program, in the order in which they took effect. What
    /// was not operated on is as it was.
    pub fn after<'a>(
        &self,
        program: &Program,
        operations: impl IntoIterator<Item = &'a ResourceOperation>,
    ) -> Result<Self, NotModelled> {
        let mut changed: BTreeMap<&Arc<str>, Vec<OperationKind>> = BTreeMap::new();
        for operation in operations {
            changed.entry(&operation.key).or_default().push(operation.kind);
        }
        if changed.is_empty() {
            return Ok(self.clone());
        }
        let addresses: BTreeMap<&str, &InstanceAddress> =
            self.instances.iter().map(|(address, instance)| (&*instance.key, address)).collect();
        let mut next = self.clone();
        for (key, kinds) in changed {
            use OperationKind::{Create, Delete, Update};
            let (was, written) = (addresses.get(&**key).copied(), program.by_key(key));
            match (was, written, kinds.as_slice()) {
                (Some(address), _, [Delete]) => {
                    next.instances.remove(address);
                }
                (None, Some((address, block)), [Create]) => {
                    next.instances.insert(address.into(), block.into());
                }
                (Some(address), Some((_, block)), [Update] | [Delete, Create] | [Create, Delete]) => {
                    next.instances.insert(address.clone(), block.into());
                }
                _ => return Err(NotModelled { key: key.clone() }),
            }
        }
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::super::notation::{operation, program};
    use super::*;

    fn after(before: &str, after: &str, operations: &str) -> Result<Deployed, NotModelled> {
        let operations: Vec<ResourceOperation> = operations.split_whitespace().map(operation).collect();
        Deployed::by(&program(before)).after(&program(after), &operations)
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
    fn an_old_object_beside_a_new_one_is_nothing_to_go_on_from() {
        assert_eq!(after("x a!", "x a!<^x", "+a").unwrap_err().key.as_ref(), "a");
        assert!(after("a", "a", "-z").is_err(), "what nobody wrote");
    }
}
