//! What two processes agree on: the plugin protocol's messages, and the format of the ledger.
//!
//! The provider writes the ledger and the harness reads it; this crate is the only thing they share. It knows nothing of
//! either.

pub mod ledger;
