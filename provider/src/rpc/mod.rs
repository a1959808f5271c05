//! The protocol's door: requests come in as messages, go on as plain data, and answers leave as messages.
//!
//! One file for each family of RPCs; [`convert`] is the only place that translates. Failures are always
//! diagnostics in a well-formed answer, never a gRPC status: some hosts read most status codes as an empty
//! success.

mod actions;
mod breach;
mod configuration;
mod convert;
mod data_sources;
mod deferral;
mod description;
mod ephemeral;
mod functions;
mod generate;
mod host;
mod identity;
mod lists;
mod note;
mod registry;
mod resources;
mod served;
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

pub use host::Host;
pub use served::Endpoint;
pub use session::Session;

use validation::Validations;

/// The provider: what it offers, and the ledgers that are open.
pub struct MockProvider {
    standin: Option<Arc<StandIn>>,
    /// Whether engines come by protocol 5, which has no nested attributes.
    flat: bool,
    types: Mutex<HashMap<registry::Origin, Arc<Types>>>,
    /// Those that a configuration still uses: one server may see thousands of ledgers come and go.
    ledgers: Mutex<HashMap<PathBuf, Weak<Ledger>>>,
    /// The last configuration of each command, for a connection that its engine opens anew.
    configured: Mutex<Vec<(Host, configuration::Configuration)>>,
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
        // One file may be written in several ways, and has one schedule.
        let name = canonical(path);
        let there = || {
            let mut ledgers = self.ledgers.lock().expect("no holder panics");
            ledgers.retain(|_, ledger| ledger.strong_count() > 0);
            ledgers.get(&name).and_then(Weak::upgrade).filter(|ledger| ledger.is_current())
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
        ledgers.insert(name, Arc::downgrade(&opened));
        Ok(opened)
    }
}

/// The one path of a file, which may not be there yet.
fn canonical(path: &Path) -> PathBuf {
    let beside = || {
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}
