//! What two processes agree on: the plugin protocol's messages, the format of the ledger, the messages of the control
//! channel, and the faults and holds that they carry.
//!
//! The provider writes the ledger and the harness reads it; this crate is the only thing they share. It knows
//! nothing of either.

pub mod control;
pub mod faults;
pub mod holds;
pub mod ledger;

/// Plugin protocol 6.11: the messages of the 36 RPCs, and the service that an engine calls.
#[cfg(feature = "plugin")]
#[expect(missing_docs, reason = "generated; proto/tfplugin6.proto is where to read")]
#[expect(clippy::all, clippy::allow_attributes, reason = "generated")]
pub mod tfplugin6 {
    tonic::include_proto!("tfplugin6");
}

/// Plugin protocol 5.10: the service of its 28 RPCs, and those of its messages that are not protocol 6's on the wire.
#[cfg(feature = "plugin")]
#[expect(missing_docs, reason = "generated; proto/tfplugin5.proto is where to read")]
#[expect(clippy::allow_attributes, reason = "generated")]
pub mod tfplugin5 {
    tonic::include_proto!("tfplugin5");
}

/// A point in time, as messages have it.
#[cfg(feature = "plugin")]
pub use prost_types::Timestamp;

/// The three services that go-plugin expects beside the provider.
#[cfg(feature = "plugin")]
#[expect(missing_docs, reason = "generated; proto/goplugin.proto is where to read")]
#[expect(clippy::all, clippy::allow_attributes, reason = "generated")]
pub mod goplugin {
    tonic::include_proto!("plugin");
}
