//! What resources are called.

use super::Resource;

/// The names of a universe of resources, in its fixed order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(Vec<String>);

impl Names {
    /// Names in the order of the resources they belong to; the caller sees to it that no two are the same.
    pub fn new(names: Vec<String>) -> Self {
        Self(names)
    }

    /// `r0`, `r1`, … for so many resources.
    pub fn numbered(count: u32) -> Self {
        Self((0..count).map(|index| format!("r{index}")).collect())
    }

    /// The name of a resource of this universe.
    pub fn of(&self, resource: Resource) -> &str {
        &self.0[resource.at()]
    }

    /// How many resources the universe has.
    pub fn count(&self) -> u32 {
        u32::try_from(self.0.len()).expect("a universe has fewer than 2^32 resources")
    }

    /// All names, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}
