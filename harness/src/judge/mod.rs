//! Judging an engine by what is on disk: nothing is deployed here.
//!
//! [`history`] is what was deployed when a stage began, [`observe`] what the world in the ledger shows, [`requests`]
//! what the engine sent along, [`oracles`] compare that with the model, [`finding`] is what they find, [`exercised`]
//! counts what was exercised by it, [`stages`] and [`variant`] put it together, [`known`] tells known engine bugs
//! from new ones, [`cause`] causes from what follows, [`verdict`] is what comes of it, [`view`] what can be shown of
//! it, with [`program_change`], [`explain`] the same in sentences, [`compare`] compares engines with each other.

pub mod cause;
pub mod compare;
pub mod exercised;
pub mod explain;
pub mod finding;
pub mod history;
pub mod known;
pub mod observe;
pub mod oracles;
pub mod program_change;
pub mod requests;
pub mod stages;
pub mod variant;
pub mod verdict;
pub mod view;
