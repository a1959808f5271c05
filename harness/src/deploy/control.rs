//! The control channel to the provider: an endpoint for an engine to connect to, and which run is served there.

use std::path::Path;
use std::time::Duration;

use equiform_proto::control::{Calls, Client, ControlError, Endpoint, Run};

/// How long the provider has for an answer. It takes far less than a millisecond; a machine may be very busy.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// An endpoint of the provider. Engines that connect there belong to the run that is served there at the moment.
#[derive(Debug)]
pub struct ServedEndpoint {
    client: Client,
    endpoint: Endpoint,
}

impl ServedEndpoint {
    /// Asks a provider for an endpoint, by its control socket. It ends when this is dropped.
    pub fn open(control: &Path) -> Result<Self, ControlError> {
        let mut client = Client::connect(control, ANSWER_TIMEOUT)?;
        let endpoint = client.listen()?;
        Ok(Self { client, endpoint })
    }

    /// Where engines connect.
    pub fn address(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Begins a run, which ends the one before.
    pub fn begin(&mut self, run: Run) -> Result<(), ControlError> {
        self.client.begin_run(run)
    }

    /// Ends the run, and gives what was called in it. A provider that does not answer any more is found out when the
    /// next one begins, or by [`ping`].
    pub fn end(&mut self) -> Option<Calls> {
        self.client.end_run().ok()
    }
}

/// Asks a provider whether it still answers, by its control socket. That the system accepts a connection on its behalf
/// is not enough.
pub fn ping(control: &Path) -> Result<(), ControlError> {
    Client::connect(control, ANSWER_TIMEOUT)?.ping()
}
