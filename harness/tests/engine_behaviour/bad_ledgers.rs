//! To come.
use crate::support::behaviour::Behaviour;
pub const ALL: &[Behaviour] = &[];
