//! One connection from a host.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use equiform_proto::faults::Faults;
use tokio_util::sync::CancellationToken;

use super::configuration::{self, Configuration};
use super::host::Host;
use super::registry::Seen;
use crate::diagnostic::Problem;
use crate::store::Store;

/// A connection's state. Several hosts may be connected at once; none sees another's.
#[derive(Debug)]
pub struct Session {
    /// Who is at the other end.
    pub host: Host,
    /// Which connection to this process it is, counted from 1.
    pub number: u64,
    requests: AtomicU64,
    closed: CancellationToken,
    /// How it configured the provider.
    pub(super) configuration: Mutex<Option<Configuration>>,
    /// What fails on demand, as soon as it is known.
    faults: Mutex<Option<Arc<Faults>>>,
    /// The types that it has seen, as soon as it has asked for one.
    pub(super) types: Mutex<Option<Seen>>,
    stop: Mutex<CancellationToken>,
    /// The state store, once it is configured.
    store: Mutex<Option<Store>>,
}

impl Session {
    /// A new connection.
    pub fn new(host: Host) -> Self {
        static SESSIONS: AtomicU64 = AtomicU64::new(0);
        Self {
            host,
            number: SESSIONS.fetch_add(1, Ordering::Relaxed) + 1,
            requests: AtomicU64::new(0),
            closed: CancellationToken::new(),
            configuration: Mutex::new(None),
            faults: Mutex::new(None),
            types: Mutex::new(None),
            stop: Mutex::new(CancellationToken::new()),
            store: Mutex::new(None),
        }
    }

    /// A variable that the host's user has set.
    pub(super) fn variable(&self, name: &str) -> Result<Option<OsString>, Problem> {
        self.host.env(name)
    }

    /// What fails on demand from now on.
    pub(super) fn set_faults(&self, faults: Arc<Faults>) {
        *self.faults.lock().expect("no holder panics") = Some(faults);
    }

    /// What fails on demand. An engine shows its provider block first; without one, the run or the environment says it.
    pub(super) fn faults(&self) -> Result<Arc<Faults>, Problem> {
        if let Some(faults) = &*self.faults.lock().expect("no holder panics") {
            return Ok(faults.clone());
        }
        let faults = configuration::faults_of_host(self)?;
        self.set_faults(faults.clone());
        Ok(faults)
    }

    /// Where states are kept from now on.
    pub(super) fn set_store(&self, store: Store) {
        *self.store.lock().expect("no holder panics") = Some(store);
    }

    /// Where states are kept, if that has been said.
    pub(super) fn store(&self) -> Option<Store> {
        self.store.lock().expect("no holder panics").clone()
    }

    /// Cancelled when the connection is to end.
    pub fn closed(&self) -> CancellationToken {
        self.closed.clone()
    }

    /// Ends the connection.
    pub(super) fn close(&self) {
        self.closed.cancel();
    }

    /// One more request has come in.
    pub(super) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of the request that came in last, counted from 1.
    pub(super) fn request(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Cancelled when the host wants what is in flight now to stop.
    pub(super) fn stopped(&self) -> CancellationToken {
        self.stop.lock().expect("no holder panics").clone()
    }

    /// Cancels what is in flight. What comes later is not affected.
    pub(super) fn stop(&self) {
        let mut stop = self.stop.lock().expect("no holder panics");
        std::mem::take(&mut *stop).cancel();
    }
}
