//! Judging an engine by what is on disk: nothing is deployed here.
//!
//! [`history`] is what was deployed when a stage began, [`observe`] what the world in the ledger shows, [`oracles`]
//! hold that against the model, [`coverage`] counts what was exercised by it, [`variant`] puts it together, [`known`]
//! tells known engine bugs from new ones, [`cause`] causes from what follows, [`verdict`] is what comes of it,
//! [`view`] what can be shown of it, with [`program_change`], [`explain`] the same in sentences, [`compare`] holds
//! engines against each other.

pub mod cause;
pub mod compare;
pub mod coverage;
pub mod explain;
pub mod history;
pub mod known;
pub mod observe;
pub mod oracles;
pub mod program_change;
pub mod variant;
pub mod verdict;
pub mod view;
