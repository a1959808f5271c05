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
use crate::rpc::Session;

/// How long a peer may take for its half of the TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);

/// How those who connect are received.
#[derive(Clone)]
pub struct Welcome {
    /// Our side of TLS; without it connections are in plaintext.
    pub tls: Option<TlsAcceptor>,
    /// The session of a host, by its process where the system names it; none if nobody is served here now.
    pub receive: Arc<dyn Fn(Option<u32>) -> Option<Arc<Session>> + Send + Sync>,
    /// Receives the process at the other end of each connection.
    pub peers: Option<mpsc::UnboundedSender<Option<u32>>>,
}

/// A socket in a folder that only its owner can enter. The socket is removed with it.
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// The folder, if it is removed as well.
    _folder: Option<TempDir>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Socket {
    /// Makes a folder and listens in it, under this name.
    pub fn new(name: &str) -> io::Result<Self> {
        let owner_only = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("equiform-").permissions(owner_only).tempdir()?;
        let path = folder.path().join(name);
        let listener = UnixListener::bind(&path)?;
        Ok(Self { listener, path, _folder: Some(folder) })
    }

    /// Listens in a folder that is there.
    pub fn at(path: PathBuf) -> io::Result<Self> {
        Ok(Self { listener: UnixListener::bind(&path)?, path, _folder: None })
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        self.path.parent().expect("a socket is in a folder")
    }

    /// Where to connect.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Accepts connections for as long as someone takes them. A peer that fails its handshake is dropped, and a slow
    /// one keeps nobody waiting.
    pub async fn accept(&self, welcome: Welcome, connections: mpsc::Sender<io::Result<Connection>>) {
        while !connections.is_closed() {
            let stream = self.next().await;
            let (welcome, connections) = (welcome.clone(), connections.clone());
            tokio::spawn(async move {
                match open(stream, welcome).await {
                    // Nobody takes it any more if the server has ended meanwhile.
                    Ok(Some(connection)) => drop(connections.send(Ok(connection)).await),
                    Ok(None) => log(Level::Debug, "a connection was refused: no run is served here now"),
                    Err(error) => log(Level::Error, &format!("a connection was refused: {error}")),
                }
            });
        }
    }
}

impl Socket {
    /// The next connection.
    pub async fn next(&self) -> UnixStream {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => return stream,
                Err(error) => {
                    log(Level::Error, &format!("a connection could not be accepted: {error}"));
                    // Out of descriptors, most likely: let some be given back.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }
}

/// The process that connected. The system gives 0 for one that it cannot name here.
fn peer_of(stream: &UnixStream) -> Option<u32> {
    let pid = stream.peer_cred().ok()?.pid()?;
    u32::try_from(pid).ok().filter(|pid| *pid != 0)
}

async fn open(stream: UnixStream, welcome: Welcome) -> io::Result<Option<Connection>> {
    let peer = peer_of(&stream);
    let Some(session) = (welcome.receive)(peer) else { return Ok(None) };
    let stream: Box<dyn Stream> = match welcome.tls {
        None => Box::new(stream),
        Some(tls) => Box::new(tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await??),
    };
    if let Some(peers) = welcome.peers {
        // Nobody listens any more once the end has come.
        let _ = peers.send(peer);
    }
    let closed = Box::pin(session.closed().cancelled_owned());
    Ok(Some(Connection { stream: Box::into_pin(stream), session, closed }))
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
