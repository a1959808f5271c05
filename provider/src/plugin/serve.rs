//! Serving: as a plugin of the one engine that started us, for any engine that attaches, or for the runs that another
//! program begins.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use equiform_proto::control::{Announcement, CONTROL_VERSION};
use equiform_proto::goplugin::grpc_broker_server::GrpcBrokerServer;
use equiform_proto::goplugin::grpc_controller_server::GrpcControllerServer;
use equiform_proto::goplugin::grpc_stdio_server::GrpcStdioServer;
use equiform_proto::{tfplugin5, tfplugin6};
use rustix::process::Signal;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio_rustls::TlsAcceptor;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;

use super::control::Control;
use super::handshake::{self, Offer, Protocol};
use super::listen::{Connection, Socket, Welcome};
use super::log::{Level, log};
use super::owners;
use super::rpc_log::Logged;
use super::services::{Broker, Controller, Stdio};
use super::tls;
use crate::rpc::{Host, MockProvider, Session};
use crate::types::StandIn;

/// Hosts send and accept messages of this size; the library's default is 4 MiB.
const MESSAGE_LIMIT: usize = 256 << 20;

/// How long connections may take to drain once the end has come. The host kills us after two seconds.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The source address that programs give for this provider.
const PROVIDER_ADDRESS: &str = "equiform.test/equiform/mock";

/// Where the connections of engines go.
type Connections = tokio::sync::mpsc::Sender<io::Result<Connection>>;

/// A start that failed, as stderr says it.
type Failure = Box<dyn std::error::Error>;

/// Serves the engine that started this process, until it says that it is done, or is gone.
pub fn plugin() -> Result<(), Failure> {
    let standin = StandIn::of_this_binary()?;
    let offer = Offer::from_env(standin.as_ref().map(|standin| standin.protocol))?;
    runtime()?.block_on(async {
        let starter = owners::starter_is_gone();
        let (peers, connected) = tokio::sync::mpsc::unbounded_channel();
        // Ctrl-C reaches the whole process group. The engine decides what it means and tells us by StopProvider.
        let _interrupts_are_ours_to_ignore = signal(SignalKind::interrupt())?;
        // A limit on the size of files would kill us; with a handler it is an error like a full disk.
        let _size_limits_are_errors = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?;
        let mut terminate = signal(SignalKind::terminate())?;
        let tls = offer.client_certificate.as_deref().map(tls::pinned_to).transpose()?;
        let socket = Socket::new("plugin.sock")?;
        let certificate = tls.as_ref().map(|tls| tls.certificate.as_ref());
        announce(&handshake::line(socket.path(), certificate, &offer))?;
        let role = standin.as_ref().map(|it| format!(" as a stand-in for {} {}", it.address, it.version));
        let role = role.unwrap_or_default();
        log(Level::Debug, &format!("mock provider {} is listening{role}", env!("CARGO_PKG_VERSION")));

        let end = CancellationToken::new();
        let tls = tls.map(|tls| TlsAcceptor::from(tls.config));
        let controller = Controller { end: Some(end.clone()) };
        let receive = Arc::new(|pid| Some(Arc::new(Session::new(Host::Parent { pid }))));
        let welcome = Welcome { tls, receive, peers: Some(peers) };
        let accept = |connections| socket.accept(welcome, connections);
        tokio::select! {
            served = serve(offer.protocol, standin, accept, controller, end.clone()) => served,
            () = starter => Ok(()),
            () = owners::peers_are_gone(connected) => Ok(()),
            _ = terminate.recv() => Ok(()),
        }
    })
}

/// Serves every engine that attaches, in plaintext on a private socket, until interrupted, or until standard
/// input ends.
pub fn reattach(protocol: Protocol, until_stdin_closes: bool) -> Result<(), Failure> {
    let start = || {
        let socket = Socket::new("plugin.sock")?;
        let address = json!({
            PROVIDER_ADDRESS: {
                "Protocol": "grpc",
                "ProtocolVersion": protocol.number(),
                "Pid": std::process::id(),
                "Test": true,
                "Addr": {"Network": "unix", "String": socket.path()},
            }
        });
        announce(&format!("export TF_REATTACH_PROVIDERS={}", quoted(&address.to_string())))?;
        Ok(async move |connections| {
            let receive = Arc::new(|pid| Some(Arc::new(Session::new(Host::Attached { pid }))));
            socket.accept(Welcome { tls: None, receive, peers: None }, connections).await;
        })
    };
    until_ended(protocol, until_stdin_closes, start)
}

/// Serves the runs that another program begins over the control socket, until standard input ends.
pub fn controlled(protocol: Protocol) -> Result<(), Failure> {
    let start = || {
        let control = Control { socket: Socket::new("control.sock")?, protocol };
        let socket = control.socket.path().to_owned();
        announce(&serde_json::to_string(&Announcement { version: CONTROL_VERSION, socket })?)?;
        Ok(async move |connections| control.accept(connections).await)
    };
    until_ended(protocol, true, start)
}

/// Serves any number of engines until interrupted, or until standard input ends. `start` says where we are, and gives
/// what accepts connections.
fn until_ended<A: AsyncFnOnce(Connections)>(
    protocol: Protocol,
    until_stdin_closes: bool,
    start: impl FnOnce() -> io::Result<A>,
) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let starter = watch_stdin(until_stdin_closes);
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let _size_limits_are_errors = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?;
        let accept = start()?;
        let end = CancellationToken::new();
        let controller = Controller { end: None };
        let served = serve(protocol, None, accept, controller, end.clone());
        tokio::pin!(served);
        tokio::select! {
            served = &mut served => return served,
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            () = starter => {}
        }
        end.cancel();
        served.await
    })
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

async fn serve(
    protocol: Protocol,
    standin: Option<Arc<StandIn>>,
    accept: impl AsyncFnOnce(Connections),
    controller: Controller,
    end: CancellationToken,
) -> Result<(), Failure> {
    let provider = MockProvider::new(standin);
    let provider = Arc::new(match protocol {
        Protocol::Five => provider.for_protocol_5(),
        Protocol::Six => provider,
    });
    // Both doors are open: which one an engine comes to is said in the handshake.
    let protocol_5 = tfplugin5::provider_server::ProviderServer::from_arc(provider.clone())
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT);
    let protocol_6 = tfplugin6::provider_server::ProviderServer::from_arc(provider)
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT);
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_service_status("plugin", tonic_health::ServingStatus::Serving).await;
    let (sender, connections) = tokio::sync::mpsc::channel(16);
    let server = Server::builder()
        .add_service(Logged::new(protocol_6))
        .add_service(Logged::new(protocol_5))
        .add_service(health_service)
        .add_service(GrpcControllerServer::new(controller))
        .add_service(GrpcStdioServer::new(Stdio { end: end.clone() }))
        .add_service(GrpcBrokerServer::new(Broker { end: end.clone() }))
        .serve_with_incoming_shutdown(ReceiverStream::new(connections), end.clone().cancelled_owned());
    tokio::select! {
        served = server => served?,
        () = accept(sender) => {}
        () = async { end.cancelled().await; tokio::time::sleep(DRAIN_TIMEOUT).await } => {}
    }
    Ok(())
}

/// Prints the one line that whoever started us waits for.
fn announce(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

/// Everything here waits for others most of the time: one thread serves best, and starts fastest.
fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// Ends when standard input does, if that is asked for: a pipe whose writer is gone ends on every system.
fn watch_stdin(asked: bool) -> impl Future<Output = ()> {
    let (gone, ended) = tokio::sync::oneshot::channel();
    if asked {
        // A thread, which may wait for longer than the runtime lives.
        std::thread::spawn(move || {
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            let _ = gone.send(());
        });
    }
    async move {
        match asked {
            true => drop(ended.await),
            false => std::future::pending().await,
        }
    }
}
