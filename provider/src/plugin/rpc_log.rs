//! Which RPCs came in: names only, never what they carry. They are counted for the run that they belong to, and written
//! down for whoever wants to know what an engine asks of a provider.

use std::convert::Infallible;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tonic::body::Body;
use tonic::codegen::{Service, http};
use tonic::server::NamedService;

use super::log::{Level, log};
use crate::rpc::Session;

/// Names the file to which every RPC is written, a line each: `tfplugin6.Provider/ReadResource`.
const RPC_LOG_VARIABLE: &str = "EQUIFORM_RPC_LOG";

/// The RPCs of which engines have as many under way as they may do at once. Protocol 5 has another name for one.
const ABOUT_RESOURCES: &[&str] = &[
    "ValidateResourceConfig",
    "ValidateResourceTypeConfig",
    "ReadResource",
    "PlanResourceChange",
    "ApplyResourceChange",
    "ImportResourceState",
];

/// A service whose RPCs are written down, if that is asked for.
#[derive(Clone)]
pub struct Logged<S> {
    service: S,
    file: Option<Arc<File>>,
}

impl<S> Logged<S> {
    /// Opens the file that the environment names.
    pub fn new(service: S) -> Self {
        let path = std::env::var_os(RPC_LOG_VARIABLE).filter(|path| !path.is_empty());
        let file = path.and_then(|path| {
            let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
            let complain = |error| {
                let path = path.display();
                log(
                    Level::Error,
                    &format!("{RPC_LOG_VARIABLE} names {path}, which cannot be written: {error}"),
                );
            };
            file.map_err(complain).ok().map(Arc::new)
        });
        Self { service, file }
    }
}

impl<S: NamedService> NamedService for Logged<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<Body>> for Logged<S>
where
    S: Service<http::Request<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        if let Some(mut file) = self.file.as_deref() {
            // One write a line: several processes may append to the file.
            let line = format!("{}\n", request.uri().path().trim_start_matches('/'));
            // Without a line the log is short of it; the engine is served all the same.
            let _ = file.write_all(line.as_bytes());
        }
        let method = request.uri().path().rsplit('/').next().unwrap_or_default();
        let session: Option<&Arc<Session>> = request.extensions().get();
        let run = session.and_then(|session| session.host.run());
        let open = run.and_then(|run| run.called(method, ABOUT_RESOURCES.contains(&method)));
        let answer = self.service.call(request);
        Box::pin(async move {
            let answer = answer.await;
            // Before the engine can know the answer, and ask for more.
            drop(open);
            answer
        })
    }
}
