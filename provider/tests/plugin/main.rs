//! The provider's binary over the real protocol, as an engine sees it.

mod commands;
mod control;
mod cost;
mod crash;
mod deferral;
mod families;
mod faults;
mod handshake;
mod hostile;
mod orphans;
mod processes;
mod protocol;
mod protocol5;
mod reattach;
mod state_stores;
mod support;
mod tls;
