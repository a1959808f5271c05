//! Being a plugin: how an engine starts the provider, trusts it, talks to it and ends it.
//!
//! [`handshake`] is what is said before the first RPC, [`tls`] whom we talk to, [`listen`] the socket and its
//! connections, [`control`] the channel by which a program says what we serve, [`services`] what go-plugin wants beside
//! the provider, [`log`](mod@log) what we say on stderr, [`rpc_log`] which RPCs came in, [`owners`] for whom we are
//! there, [`serve`] puts it together.

mod control;
mod handshake;
mod listen;
mod log;
mod owners;
mod rpc_log;
mod serve;
mod services;
mod tls;

pub use handshake::{Protocol, started_by_engine};
pub use log::{Level, install_panic_hook, log};
pub use serve::{controlled, plugin, reattach};
