//! The faults, as data: what a script around a real engine does wrong, and the oracle that has to see it.

mod breaches;
mod changes;
mod directory;
mod kinds;
mod locks;
mod messages;
mod old_objects;
mod passed_once;
mod proxied;
mod queries;
mod runaway;
mod stored;
mod texts;
mod workflows;

use equiform::case::Case;

use super::scenario::Scenario;

/// A fault: shell text that replaces some of the engine's commands in a case. `real` runs the engine, which is at
/// `$engine`; `"$@"` are its arguments; `without PATTERN "$@"` runs it without those of a pattern, and
/// `said "$@"` with what it prints in the file `said` and its exit code in `$code`; `proxied RULES "$@"` runs it with
/// the faults of `examples/fault_proxy` between it and the provider. A script may leave files of its own and change the
/// program: only after `untidy` is that a part of the fault.
pub struct Fault {
    pub name: &'static str,
    /// The oracle that sees it, whatever others see.
    pub seen_by: &'static str,
    /// What is deployed.
    pub case: fn() -> Case,
    /// Which commands it replaces.
    pub at: At,
    pub script: &'static str,
    /// What it cannot show itself without.
    pub only_with: Option<With>,
}

impl Fault {
    /// Whether it is between the engine and an attached provider.
    pub fn is_proxied(&self) -> bool {
        self.script.contains("proxied ")
    }

    /// Whether it shows only while another command holds the lock.
    pub fn needs_lock(&self) -> bool {
        matches!(self.only_with, Some(With::Workflow("locked", _)))
    }
}

/// The commands that a script replaces: a shell pattern.
pub enum At {
    /// By the name of the stage.
    Stage(&'static str),
    /// By the arguments: it does not know of stages, as an engine does not.
    Command(&'static str),
}

/// What a fault needs to show itself.
#[derive(Clone, Copy)]
pub enum With {
    /// A workflow, in the first stages that it makes with this scenario. The plain workflow does not show the fault
    /// with the same case.
    Workflow(&'static str, Scenario),
    /// A change from one batch to the next. A case without it does not show the fault.
    Change(&'static str, fn() -> Case),
}

impl With {
    /// The name in the page's table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Workflow(name, _) | Self::Change(name, _) => name,
        }
    }
}

/// The faults that plain programs show, applied one after the other.
pub fn plain() -> Vec<&'static Fault> {
    let lists = [
        kinds::FAULTS,
        passed_once::FAULTS,
        messages::FAULTS,
        runaway::FAULTS,
        proxied::FAULTS,
        directory::FAULTS,
        stored::PLAIN,
        locks::PLAIN,
    ];
    lists.into_iter().flatten().collect()
}

/// The faults that need more than that.
pub fn special() -> Vec<&'static Fault> {
    let lists = [
        workflows::FAULTS,
        changes::FAULTS,
        texts::FAULTS,
        stored::SPECIAL,
        old_objects::FAULTS,
        breaches::FAULTS,
        queries::FAULTS,
        locks::SPECIAL,
    ];
    lists.into_iter().flatten().collect()
}
