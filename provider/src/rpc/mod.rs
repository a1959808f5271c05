//! The protocol's door: requests come in as messages, go on as plain data, and answers leave as messages.
//!
//! One file for each family of RPCs; [`convert`] is the only place that translates. Failures are always
//! diagnostics in a well-formed answer, never a gRPC status: some hosts read most status codes as an empty
//! success.

mod actions;
mod configuration;
mod convert;
mod data_sources;
mod deferral;
mod description;
mod ephemeral;
mod functions;
mod generate;
mod identity;
mod lists;
mod note;
mod registry;
mod resources;
mod service;
mod service5;
mod session;
mod state_stores;
mod stored_state;
mod validation;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use crate::ledger::{Ledger, LedgerFailure};
use crate::types::{StandIn, Types};

pub use session::{Host, Session, Sessions};

use validation::Validations;

/// The provider: what it offers, and the ledgers that are open.
pub struct MockProvider {
    standin: Option<Arc<StandIn>>,
    /// Whether engines come by protocol 5, which has no nested attributes.
    flat: bool,
    types: Mutex<HashMap<registry::Origin, Arc<Types>>>,
    /// Those that a configuration still uses: one server may see thousands of ledgers come and go.
    ledgers: Mutex<HashMap<PathBuf, Weak<Ledger>>>,
    /// The last configuration of each host process, for a connection that it opens anew, and who gave it.
    configured: Mutex<HashMap<u32, (Arc<Session>, configuration::Configuration)>>,
    validations: Validations,
    identity_hosts: identity::IdentityHosts,
}

impl MockProvider {
    /// A provider that no host has configured yet.
    pub fn new(standin: Option<Arc<StandIn>>) -> Self {
        Self {
            standin,
            flat: false,
            types: Mutex::default(),
            ledgers: Mutex::default(),
            configured: Mutex::default(),
            validations: Validations::default(),
            identity_hosts: identity::IdentityHosts::default(),
        }
    }

    /// The same for engines that come by protocol 5.
    pub fn for_protocol_5(self) -> Self {
        Self { flat: true, ..self }
    }

    /// The ledger at a path; opened once, however many hosts use it.
    async fn ledger(&self, path: &Path) -> Result<Arc<Ledger>, LedgerFailure> {
        let there = || {
            let mut ledgers = self.ledgers.lock().expect("no holder panics");
            ledgers.retain(|_, ledger| ledger.strong_count() > 0);
            ledgers.get(path).and_then(Weak::upgrade).filter(|ledger| ledger.is_current())
        };
        if let Some(ledger) = there() {
            return Ok(ledger);
        }
        // Opening may wait for another process, and hosts with other ledgers must not wait with it.
        let opened = Arc::new(Ledger::open(path).await?);
        if let Some(ledger) = there() {
            return Ok(ledger);
        }
        let mut ledgers = self.ledgers.lock().expect("no holder panics");
        ledgers.insert(path.to_owned(), Arc::downgrade(&opened));
        Ok(opened)
    }
}
