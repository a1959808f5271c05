//! Endpoints, and the runs that the control channel begins on them.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use equiform_proto::control::{Calls, Run};
use rustix::fs::{FlockOperation, fcntl_lock};

use super::{Host, Session};

/// An address at which engines connect, and the run that is served there now.
#[derive(Debug, Default)]
pub struct Endpoint {
    served: Mutex<Served>,
    /// Whether an engine at this endpoint has asked for the schemas of identities. One that is kept warm asks once and
    /// runs many commands, so it does not belong to a run.
    pub(super) knows_identities: AtomicBool,
}

#[derive(Debug, Default)]
struct Served {
    run: Option<Arc<ServedRun>>,
    /// The connections of the run. Engines leave theirs open to the end of their process, which may run other commands
    /// first.
    sessions: Vec<Weak<Session>>,
}

/// A run, as the control channel has begun it.
#[derive(Debug)]
pub struct ServedRun {
    number: u64,
    /// What the control channel said of it.
    pub settings: Run,
    /// Where it is served.
    pub(super) endpoint: Weak<Endpoint>,
    is_over: AtomicBool,
    calls: Mutex<OpenCalls>,
}

/// What was called in a run, and what is under way.
#[derive(Debug, Default)]
struct OpenCalls {
    calls: Calls,
    open: u64,
}

/// A call about a resource that is under way.
pub struct OpenCall(Arc<ServedRun>);

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.0.calls.lock().expect("no holder panics").open -= 1;
    }
}

impl PartialEq for ServedRun {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for ServedRun {}

impl ServedRun {
    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Counts a call; one about a resource is under way until what comes back is dropped.
    pub fn called(self: &Arc<Self>, method: &str, about_resource: bool) -> Option<OpenCall> {
        let mut all = self.calls.lock().expect("no holder panics");
        match all.calls.counts.get_mut(method) {
            Some(count) => *count += 1,
            None => drop(all.calls.counts.insert(method.to_owned(), 1)),
        }
        about_resource.then(|| {
            all.open += 1;
            all.calls.most_at_once = all.calls.most_at_once.max(all.open);
            OpenCall(self.clone())
        })
    }

    /// Counts a request about an object that comes while the file is not locked that has to be.
    pub(super) fn asks_about_object(&self) {
        if self.settings.locked.as_deref().is_some_and(|file| !is_locked(file)) {
            self.calls.lock().expect("no holder panics").calls.unlocked += 1;
        }
    }

    /// Counts that a node's configuration was validated.
    pub(super) fn validated(&self, key: &str) {
        let mut all = self.calls.lock().expect("no holder panics");
        *all.calls.validated.entry(key.to_owned()).or_default() += 1;
    }
}

/// Whether another process holds a lock on a file.
fn is_locked(file: &Path) -> bool {
    let file = match File::options().read(true).write(true).open(file) {
        Ok(file) => file,
        // What cannot be opened for another reason, such as too many open files, says nothing about the engine.
        Err(error) => return error.kind() != std::io::ErrorKind::NotFound,
    };
    // A lock that is to be had is given up with the file, at the end of this function.
    fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).is_err()
}

impl Endpoint {
    /// Serves a run from now on, and no other.
    pub fn begin(self: &Arc<Self>, settings: Run) {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        self.end();
        let run = ServedRun {
            number: RUNS.fetch_add(1, Ordering::Relaxed) + 1,
            settings,
            endpoint: Arc::downgrade(self),
            is_over: AtomicBool::new(false),
            calls: Mutex::default(),
        };
        self.served.lock().expect("no holder panics").run = Some(Arc::new(run));
    }

    /// Ends the run that is served, and closes its connections. What was called in it; none if there is no run.
    pub fn end(&self) -> Option<Calls> {
        let Served { run, sessions } = std::mem::take(&mut *self.served.lock().expect("no holder panics"));
        for session in sessions.into_iter().filter_map(|session| session.upgrade()) {
            session.close();
        }
        let run = run?;
        run.is_over.store(true, Ordering::Relaxed);
        Some(std::mem::take(&mut run.calls.lock().expect("no holder panics").calls))
    }

    /// A new connection; none if no run is served.
    pub fn connected(&self, peer: Option<u32>) -> Option<Arc<Session>> {
        let mut served = self.served.lock().expect("no holder panics");
        let run = served.run.clone()?;
        let session = Arc::new(Session::new(Host::Served { peer, run }));
        served.sessions.retain(|session| session.strong_count() > 0);
        served.sessions.push(Arc::downgrade(&session));
        Some(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(label: &str) -> Run {
        Run {
            ledger: "/nowhere/ledger.jsonl".into(),
            label: Some(label.to_owned()),
            working_directory: "/nowhere".into(),
            hold: equiform_proto::holds::Hold::Off,
            faults: equiform_proto::faults::Faults::default(),
            locked: None,
            engine: None,
        }
    }

    #[test]
    fn connections_of_a_run_stay_open_until_it_ends_or_another_begins() {
        let endpoint = Arc::new(Endpoint::default());
        assert!(endpoint.connected(None).is_none(), "no run is served yet");
        endpoint.begin(run("first"));
        let [one, other] = [(); 2].map(|()| endpoint.connected(None).unwrap());
        assert_eq!(one.host, other.host);
        assert!(!one.closed().is_cancelled() && one.host.is_alive());
        endpoint.begin(run("second"));
        assert!(one.closed().is_cancelled() && other.closed().is_cancelled() && !one.host.is_alive());
        let next = endpoint.connected(None).unwrap();
        assert_ne!(next.host, one.host);
        assert_eq!(next.host.run().unwrap().settings.label.as_deref(), Some("second"));
        assert!(endpoint.end().is_some() && next.closed().is_cancelled());
        assert!(endpoint.end().is_none() && endpoint.connected(None).is_none());
    }

    #[test]
    fn the_process_that_connected_counts_before_the_one_that_was_started() {
        let endpoint = Arc::new(Endpoint::default());
        endpoint.begin(Run { engine: Some(7), ..run("first") });
        let (named, unnamed) = (endpoint.connected(Some(8)).unwrap(), endpoint.connected(None).unwrap());
        assert_eq!((named.host.pid(), unnamed.host.pid()), (Some(8), Some(7)));
    }
}
