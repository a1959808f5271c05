//! An engine that talks to its provider wrongly: `fault_proxy RULE... -- ENGINE ARGUMENT...` runs an engine whose
//! requests to an attached provider pass through here, and changes some of them on the way.
//!
//! To the provider this *is* the engine, so a rule is a fault in an engine that no script around it could commit: it
//! forgets a field, asks twice, does not ask at all, or does not wait. Tests use it; `rule.rs` lists the rules.
//!
//! The proxy knows HTTP/2 and the wire format of protocol buffers, and none of the protocol's messages: fields are
//! numbers. `proto/proto/tfplugin6.proto` has the numbers.

mod awake;
mod message;
mod rule;

use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Collected, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::SendRequest;
use hyper::header::HeaderMap;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value as Json;
use tokio::net::{UnixListener, UnixStream};

use rule::{Rule, Rules};

/// How engines learn where an attached provider is.
const REATTACH: &str = "TF_REATTACH_PROVIDERS";

type Failure = io::Error;
type Body = BoxBody<Bytes, Failure>;
type Upstream = SendRequest<Body>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("fault_proxy: {error}");
            // No exit code of an engine.
            ExitCode::from(99)
        }
    }
}

async fn run() -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let split = arguments
        .iter()
        .position(|argument| argument == "--")
        .ok_or_else(|| io::Error::other("RULE... -- ENGINE ARGUMENT..."))?;
    let rules: Result<Vec<Rule>, _> = arguments[..split].iter().map(|text| text.parse()).collect();
    let rules = Arc::new(Rules(rules?));
    let (engine, arguments) =
        arguments[split + 1..].split_first().ok_or_else(|| io::Error::other("no engine after --"))?;
    let mut command = Command::new(engine);
    command.args(arguments);
    // Commands that need no provider run without one.
    let folder = tempfile::tempdir()?;
    if let Some(reattach) = std::env::var(REATTACH).ok().filter(|value| !value.is_empty()) {
        let socket = folder.path().join("provider");
        let listener = UnixListener::bind(&socket)?;
        let (provider, reattach) = redirected(&reattach, &socket)?;
        command.env(REATTACH, reattach);
        tokio::spawn(accept(listener, provider, rules));
    }
    let mut engine = command.spawn()?;
    awake::follow(engine.id());
    let status = tokio::task::spawn_blocking(move || engine.wait()).await??;
    Ok(status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(u8::try_from(code).unwrap_or(1))))
}

/// Where the provider is, and the variable's value with this socket in its place.
fn redirected(reattach: &str, socket: &Path) -> Result<(PathBuf, String), Failure> {
    let mut value: Json = serde_json::from_str(reattach)?;
    let provider = value
        .as_object_mut()
        .and_then(|map| map.values_mut().next())
        .ok_or_else(|| io::Error::other("no provider is attached"))?;
    let address = &mut provider["Addr"]["String"];
    let at = PathBuf::from(
        address.as_str().ok_or_else(|| io::Error::other("the attached provider has no address"))?,
    );
    *address = socket.to_string_lossy().into();
    Ok((at, value.to_string()))
}

/// Serves the engine's connections. Each has one of its own to the provider, which tells sessions apart by them.
async fn accept(listener: UnixListener, provider: PathBuf, rules: Arc<Rules>) {
    while let Ok((engine, _)) = listener.accept().await {
        let (provider, rules) = (provider.clone(), Arc::clone(&rules));
        tokio::spawn(async move {
            if let Err(error) = serve(engine, &provider, rules).await {
                eprintln!("fault_proxy: {error}");
            }
        });
    }
}

async fn serve(engine: UnixStream, provider: &Path, rules: Arc<Rules>) -> Result<(), Failure> {
    let provider = TokioIo::new(UnixStream::connect(provider).await?);
    let (upstream, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), provider)
        .await
        .map_err(io::Error::other)?;
    tokio::spawn(connection);
    let forward = service_fn(move |request| {
        let (upstream, rules) = (upstream.clone(), Arc::clone(&rules));
        async move { forward(request, upstream, &rules).await }
    });
    // An engine that ends closes its connection in the middle of whatever is open.
    let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(engine), forward)
        .await;
    Ok(())
}

/// Passes a request on, and its answer back; by the rules for its method if there are any.
async fn forward(
    request: Request<Incoming>,
    mut upstream: Upstream,
    rules: &Rules,
) -> Result<Response<Body>, Failure> {
    let method = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
    if !rules.concern(&method) {
        let answer = upstream
            .send_request(request.map(|body| body.map_err(io::Error::other).boxed()))
            .await
            .map_err(io::Error::other)?;
        return Ok(answer.map(|body| body.map_err(io::Error::other).boxed()));
    }
    let (head, body) = request.into_parts();
    let mut message = message::unframed(body.collect().await.map_err(io::Error::other)?.to_bytes())?;
    let chosen = rules.chosen(&method, &message);
    for rule in &chosen {
        rule.change_request(&mut message)?;
    }
    let request = || {
        let body = message::framed(&message);
        let mut request = Request::new(whole(body, None));
        *request.method_mut() = head.method.clone();
        *request.uri_mut() = head.uri.clone();
        *request.headers_mut() = head.headers.clone();
        request.headers_mut().remove("content-length");
        request
    };
    let send = |upstream: &mut Upstream| {
        let answer = upstream.send_request(request());
        async { answer.await.map_err(io::Error::other) }
    };
    for _ in 0..chosen.iter().map(|rule| rule.extra_requests()).sum() {
        send(&mut upstream).await?.into_body().collect().await.map_err(io::Error::other)?;
    }
    for _ in 0..chosen.iter().map(|rule| rule.at_once()).sum() {
        tokio::spawn(send(&mut upstream));
    }
    if let Some(answer) = chosen.iter().find_map(|rule| rule.own_answer(&message)) {
        if chosen.iter().any(|rule| rule.asks_in_the_background()) {
            let delay = chosen.iter().map(|rule| rule.delay()).max().unwrap_or_default();
            let request = request();
            tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                upstream.send_request(request).await
            });
        }
        return Ok(answered(message::framed(&answer?)));
    }
    let (head, body) = send(&mut upstream).await?.into_parts();
    let answer: Collected<Bytes> = body.collect().await.map_err(io::Error::other)?;
    let (trailers, bytes) = (answer.trailers().cloned(), answer.to_bytes());
    // An RPC that fails has no message.
    if bytes.is_empty() {
        return Ok(Response::from_parts(head, whole(bytes, trailers)));
    }
    let mut answer = message::unframed(bytes)?;
    for rule in &chosen {
        rule.change_answer(&mut answer)?;
    }
    Ok(Response::from_parts(head, whole(message::framed(&answer), trailers)))
}

/// A body that is at hand.
fn whole(bytes: Bytes, trailers: Option<HeaderMap>) -> Body {
    let never = |never: Infallible| match never {};
    Full::new(bytes).with_trailers(async move { trailers.map(Ok) }).map_err(never).boxed()
}

/// A successful answer that the provider knows nothing of.
fn answered(bytes: Bytes) -> Response<Body> {
    let trailers = HeaderMap::from_iter([(
        hyper::header::HeaderName::from_static("grpc-status"),
        hyper::header::HeaderValue::from_static("0"),
    )]);
    let mut answer = Response::new(whole(bytes, Some(trailers)));
    let content = hyper::header::HeaderValue::from_static("application/grpc");
    answer.headers_mut().insert(hyper::header::CONTENT_TYPE, content);
    answer
}
