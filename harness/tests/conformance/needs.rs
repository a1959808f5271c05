//! Which engines have what a rule is about.

use equiform::engines::EngineSpec;

use crate::support::behaviour::since;
pub use crate::support::behaviour::{everywhere, imports_by_identity, moves_between_providers};

/// Functions of providers.
pub fn functions(spec: &EngineSpec) -> bool {
    since(spec, 8, 10)
}

/// Ephemeral resources.
pub fn ephemeral_resources(spec: &EngineSpec) -> bool {
    since(spec, 10, 11)
}

/// Attributes that are only written.
pub fn write_only_attributes(spec: &EngineSpec) -> bool {
    since(spec, 11, 11)
}

/// Actions and lists, which OpenTofu does not have.
pub fn actions_and_lists(spec: &EngineSpec) -> bool {
    since(spec, 14, u64::MAX)
}
