//! The faults, as data: what a script around a real engine does wrong, and the oracle that has to see it.

mod changes;
mod kinds;
mod passed_once;
mod workflows;

use equiform::case::Case;

/// A fault: shell text that stands in for some of the engine's commands in a case. `real` runs the engine, which is at
/// `$engine`; `"$@"` are its arguments; `without PATTERN "$@"` runs it without those of a pattern, and
/// `said "$@"` with what it prints in the file `said` and its exit code in `$code`.
pub struct Fault {
    pub name: &'static str,
    /// The oracle that sees it, whatever others see.
    pub seen_by: &'static str,
    /// What is deployed.
    pub case: fn() -> Case,
    /// Which commands it stands in for.
    pub at: At,
    pub script: &'static str,
    /// What it cannot show itself without.
    pub only_with: Option<With>,
}

/// The commands that a script stands in for: a shell pattern.
pub enum At {
    /// By the name of the stage.
    Stage(&'static str),
    /// By the arguments: it does not know of stages, as an engine does not.
    Command(&'static str),
}

/// What a fault needs to show itself.
#[derive(Clone, Copy)]
pub enum With {
    /// A workflow, by the first seed for which all of these occur in the JSON of its stages. The same case that is
    /// driven plainly does not show the fault.
    Workflow(&'static str, &'static [&'static str]),
    /// A change from one batch to the next. A case without it does not show the fault.
    Change(&'static str, fn() -> Case),
}

impl With {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Workflow(name, _) | Self::Change(name, _) => name,
        }
    }
}

/// The faults that plain programs show, applied one after the other.
pub fn plain() -> Vec<&'static Fault> {
    [kinds::FAULTS, passed_once::FAULTS].into_iter().flatten().collect()
}

/// The faults that need more than that.
pub fn special() -> Vec<&'static Fault> {
    [workflows::FAULTS, changes::FAULTS].into_iter().flatten().collect()
}
