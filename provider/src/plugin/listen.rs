//! The socket, and the connections that come in on it.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::transport::server::Connected;

use super::log::{Level, log};
use crate::rpc::{Host, Session, Sessions};

/// How long a peer may take for its half of the TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);

/// How those who connect are received.
#[derive(Clone)]
pub struct Welcome {
    /// Our side of TLS; without it connections are in plaintext.
    pub tls: Option<TlsAcceptor>,
    /// What a host is to us, by its process where the system names it.
    pub host_at: fn(Option<u32>) -> Host,
    /// The connections that are open.
    pub sessions: Arc<Sessions>,
    /// Who is told of the process at the other end of each connection.
    pub peers: Option<mpsc::UnboundedSender<Option<u32>>>,
}

/// A socket in a folder that only its owner can enter. Both are removed with it.
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
    _folder: TempDir,
}

impl Socket {
    /// Makes the folder and listens.
    pub fn new() -> io::Result<Self> {
        let owner_only = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("equiform-").permissions(owner_only).tempdir()?;
        let path = folder.path().join("plugin.sock");
        let listener = UnixListener::bind(&path)?;
        Ok(Self { listener, path, _folder: folder })
    }

    /// Where to connect.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Accepts connections for as long as someone takes them. A peer that fails its handshake is dropped, and a slow
    /// one keeps nobody waiting.
    pub async fn accept(&self, welcome: Welcome, connections: mpsc::Sender<io::Result<Connection>>) {
        while !connections.is_closed() {
            let stream = match self.listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    log(Level::Error, &format!("a connection could not be accepted: {error}"));
                    // Out of descriptors, most likely: let some be given back.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let (welcome, connections) = (welcome.clone(), connections.clone());
            tokio::spawn(async move {
                match open(stream, welcome).await {
                    // Nobody takes it any more if the server has ended meanwhile.
                    Ok(connection) => drop(connections.send(Ok(connection)).await),
                    Err(error) => log(Level::Error, &format!("a connection was refused: {error}")),
                }
            });
        }
    }
}

/// The process that connected. The system gives 0 for one that it cannot name here.
fn peer_of(stream: &UnixStream) -> Option<u32> {
    let pid = stream.peer_cred().ok()?.pid()?;
    u32::try_from(pid).ok().filter(|pid| *pid != 0)
}

async fn open(stream: UnixStream, welcome: Welcome) -> io::Result<Connection> {
    let peer = peer_of(&stream);
    let session = welcome.sessions.open((welcome.host_at)(peer));
    let stream: Box<dyn Stream> = match welcome.tls {
        None => Box::new(stream),
        Some(tls) => Box::new(tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await??),
    };
    if let Some(peers) = welcome.peers {
        // Nobody listens any more once the end has come.
        let _ = peers.send(peer);
    }
    let closed = Box::pin(session.closed().cancelled_owned());
    Ok(Connection { stream: Box::into_pin(stream), session, closed })
}

trait Stream: AsyncRead + AsyncWrite + Send {}
impl<T: AsyncRead + AsyncWrite + Send> Stream for T {}

/// A connection, and the session that every request on it belongs to.
pub struct Connection {
    stream: Pin<Box<dyn Stream>>,
    session: Arc<Session>,
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Connected for Connection {
    type ConnectInfo = Arc<Session>;

    fn connect_info(&self) -> Arc<Session> {
        self.session.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // Whoever reads nothing more takes the other side for gone, and hangs up.
        if self.closed.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        self.stream.as_mut().poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(cx)
    }
}
