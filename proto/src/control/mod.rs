//! The control channel: how a program tells a provider that it serves which run it serves.
//!
//! `terraform-provider-mock serve` prints an [`Announcement`] and listens on the control socket that it names. A client
//! connects, says [`Request::Hello`], and then sends one request at a time. Requests and answers are JSON, one in each
//! line: a person can speak it with `socat`, and no JSON text has a line break inside.
//!
//! A client asks for an endpoint by [`Request::Listen`]: an address at which engines find the provider. The endpoint
//! belongs to the client's connection and ends with it. [`Request::BeginRun`] then says which run the endpoint serves.
//! So an engine's connection itself says which run it belongs to: nothing has to pass through the engine, and the
//! provider looks into no other process.

mod client;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::faults::Faults;
use crate::holds::Hold;

pub use client::{Client, ControlError};

/// The version of the messages that this crate reads and writes.
pub const CONTROL_VERSION: u32 = 1;

/// The longest line that is read.
pub const LINE_LIMIT: u64 = 16 << 20;

/// What a provider prints once it can be reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// The version of the messages. Its name makes the line recognisable.
    #[serde(rename = "equiform_control")]
    pub version: u32,
    /// The control socket.
    pub socket: PathBuf,
}

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// The first request of a connection.
    Hello {
        /// The version of the messages that the client speaks.
        version: u32,
    },
    /// Whether the provider still answers.
    Ping,
    /// Opens the endpoint of this connection.
    Listen,
    /// The endpoint serves this run from now on. Connections of the run before are closed.
    BeginRun {
        /// The run.
        run: Run,
    },
    /// The run is over: its connections are closed, and the endpoint serves nobody until the next one begins.
    EndRun,
}

/// A run of an engine: one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The ledger's file.
    pub ledger: PathBuf,
    /// The label that the entries of the run carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The directory that relative paths in a program start from.
    pub working_directory: PathBuf,
    /// How operations are held.
    pub hold: Hold,
    /// Which operations fail, and how.
    #[serde(default, skip_serializing_if = "Faults::is_empty")]
    pub faults: Faults,
    /// The file that the engine has to keep locked while it asks about objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked: Option<PathBuf>,
    /// The engine's process, where it is known already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<u32>,
}

/// What the provider answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// To [`Request::Hello`].
    Hello {
        /// The version of the messages that the provider speaks.
        version: u32,
    },
    /// To [`Request::Ping`].
    Pong,
    /// To [`Request::Listen`].
    Listening {
        /// Where engines connect.
        endpoint: Endpoint,
    },
    /// To [`Request::EndRun`].
    Ended {
        /// What was called in the run.
        calls: Calls,
    },
    /// To whatever has no answer of its own.
    Done,
    /// The request was not carried out.
    Error {
        /// Why.
        message: String,
    },
}

/// What an engine called in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// How often each RPC was called, by its name in the protocol.
    pub counts: BTreeMap<String, u64>,
    /// How often each node's configuration was validated, by its key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub validated: BTreeMap<String, u64>,
    /// The most calls about resources that were under way at once.
    pub most_at_once: u64,
    /// How many requests about objects came while the file was not locked that has to be.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlocked: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Where engines find the provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// The kind of address.
    pub network: Network,
    /// The address.
    pub address: String,
    /// The version of the plugin protocol that is spoken there.
    pub protocol_version: u32,
    /// The provider's process.
    pub pid: u32,
}

/// A kind of address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// The path of a unix socket.
    Unix,
}
