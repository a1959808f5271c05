//! A behaviour: a sentence that must hold on every engine that has what it needs.

use equiform::engines::{Engine, EngineName, EngineSpec, VersionRequest, catalogue};

/// A sentence, and the function that finds out whether it holds.
pub struct Behaviour {
    /// The sentence.
    pub name: &'static str,
    /// Whether an engine has what the behaviour is about.
    pub needs: fn(&EngineSpec) -> bool,
    /// Whether the machine allows it. Where it does not, the test is shown as ignored.
    pub possible: fn() -> bool,
    /// Panics if the sentence does not hold.
    pub run: fn(&Engine),
}

/// A list of behaviours, by the names of their functions. What comes before `=>` is what they need of the engine.
macro_rules! behaviours {
    ($($needs:expr => [$($name:ident),* $(,)?]),* $(,)?) => {
        &[$($($crate::support::behaviour::Behaviour {
            name: stringify!($name),
            needs: $needs,
            possible: || true,
            run: $name,
        },)*)*]
    };
}
pub(crate) use behaviours;

/// Every engine has it.
pub fn everywhere(_: &EngineSpec) -> bool {
    true
}

/// The newest version of each engine, and the newest that comes prebuilt: for what takes long and does not depend on
/// the version.
pub fn newest(spec: &EngineSpec) -> bool {
    let prebuilt = catalogue::find(&EngineSpec { name: spec.name, version: VersionRequest::Any });
    let prebuilt = prebuilt.expect("the catalogue has every engine").version;
    [prebuilt, catalogue::newest_tested(spec.name)].iter().any(|version| spec.version.accepts(version))
}

/// Blocks that let go of an object without destroying it.
pub fn removed_blocks(spec: &EngineSpec) -> bool {
    since(spec, 7, 10)
}

/// Moves from one provider to another.
pub fn moves_between_providers(spec: &EngineSpec) -> bool {
    since(spec, 8, 10)
}

/// Imports by a resource's identity.
pub fn imports_by_identity(spec: &EngineSpec) -> bool {
    since(spec, 12, 12)
}

/// Whether an engine is of this minor version of Terraform 1 or OpenTofu 1, or a later one.
pub fn since(spec: &EngineSpec, terraform: u64, tofu: u64) -> bool {
    let minor = match &spec.version {
        VersionRequest::Exact(version) => version.minor,
        VersionRequest::Minor { minor, .. } => *minor,
        VersionRequest::Any => panic!("write the version of {spec} too: what is tested depends on it"),
    };
    minor >= if spec.name == EngineName::Terraform { terraform } else { tofu }
}
