//! What workflows ask of engines that not every engine offers.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::spec::{Action, Options, PlanMode};

/// Something that an engine can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// A plan is saved, and applied later.
    SavedPlan,
    /// A run that takes what has changed in the world into the state, and does nothing else.
    Refresh,
    /// A run that does not look at the world first.
    NoRefresh,
    /// A bound on how many operations run at once.
    Parallelism,
    /// A run that is about some resources only.
    Target,
    /// A run that replaces resources that need not be.
    Replace,
    /// Resources are marked to be replaced later, and the marks taken off.
    Mark,
}

impl Feature {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::SavedPlan,
        Self::Refresh,
        Self::NoRefresh,
        Self::Parallelism,
        Self::Target,
        Self::Replace,
        Self::Mark,
    ];

    /// Those that an action needs.
    pub fn needed_by(action: &Action) -> BTreeSet<Self> {
        let Options { replace, target, refresh, mode, save, .. } = action.options();
        let refresh_only = matches!(action, Action::Refresh(_)) || *mode == PlanMode::Refresh;
        let needed = [
            (*save || matches!(action, Action::ApplySaved(_)), Self::SavedPlan),
            (refresh_only, Self::Refresh),
            (!*refresh, Self::NoRefresh),
            (action.parallelism().is_some(), Self::Parallelism),
            (!target.is_empty(), Self::Target),
            (!replace.is_empty(), Self::Replace),
            (matches!(action, Action::Mark(_) | Action::Unmark(_)), Self::Mark),
        ];
        needed.into_iter().filter_map(|(needs, feature)| needs.then_some(feature)).collect()
    }
}
