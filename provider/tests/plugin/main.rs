//! The provider's binary over the real protocol, as an engine sees it.

mod cost;
mod handshake;
mod hostile;
mod processes;
mod protocol;
mod reattach;
mod support;
mod tls;
