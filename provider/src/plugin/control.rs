//! The control channel: a program that started us says which runs we serve, and where engines find us.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use equiform_proto::control::{Answer, CONTROL_VERSION, Endpoint as Address, LINE_LIMIT, Network, Request};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::handshake::Protocol;
use super::listen::{Connection, Socket, Welcome};
use super::log::{Level, log};
use crate::rpc::Endpoint;

/// What all clients have in common.
pub struct Control {
    /// The control socket.
    pub socket: Socket,
    /// The protocol that engines are told to speak.
    pub protocol: Protocol,
}

impl Control {
    /// Serves clients for as long as someone takes the connections of engines.
    pub async fn accept(&self, connections: mpsc::Sender<io::Result<Connection>>) {
        static ENDPOINTS: AtomicU64 = AtomicU64::new(0);
        while !connections.is_closed() {
            let stream = self.socket.next().await;
            let folder = self.socket.folder().to_owned();
            let client = Client {
                protocol: self.protocol,
                connections: connections.clone(),
                place: Box::new(move || {
                    let number = ENDPOINTS.fetch_add(1, Ordering::Relaxed) + 1;
                    folder.join(format!("{number}.sock"))
                }),
                has_greeted: false,
                endpoint: None,
            };
            tokio::spawn(async move {
                if let Err(error) = client.serve(stream).await {
                    log(Level::Error, &format!("a connection to the control socket failed: {error}"));
                }
            });
        }
    }
}

/// One connection to the control socket.
struct Client {
    protocol: Protocol,
    connections: mpsc::Sender<io::Result<Connection>>,
    /// Where the next endpoint is.
    place: Box<dyn Fn() -> PathBuf + Send>,
    has_greeted: bool,
    endpoint: Option<Listening>,
}

/// An endpoint that engines can connect to, until this is dropped.
struct Listening {
    endpoint: Arc<Endpoint>,
    accepting: JoinHandle<()>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.endpoint.end();
        self.accepting.abort();
    }
}

impl Client {
    async fn serve(mut self, mut stream: UnixStream) -> io::Result<()> {
        let (read, mut write) = stream.split();
        let mut read = BufReader::new(read);
        loop {
            let mut line = Vec::new();
            if (&mut read).take(LINE_LIMIT).read_until(b'\n', &mut line).await? == 0 {
                return Ok(());
            }
            let answer = match serde_json::from_slice(&line) {
                Ok(request) => self.answer(request).unwrap_or_else(|message| Answer::Error { message }),
                Err(error) => Answer::Error { message: format!("it is no request: {error}") },
            };
            let mut answer = serde_json::to_vec(&answer)?;
            answer.push(b'\n');
            write.write_all(&answer).await?;
        }
    }

    fn answer(&mut self, request: Request) -> Result<Answer, String> {
        if let Request::Hello { version } = request {
            // A client of another version decides by the answer whether it goes on.
            self.has_greeted = version == CONTROL_VERSION;
            return Ok(Answer::Hello { version: CONTROL_VERSION });
        }
        if !self.has_greeted {
            return Err(format!("say hello first, with version {CONTROL_VERSION}"));
        }
        match request {
            Request::Hello { .. } | Request::Ping => Ok(Answer::Pong),
            Request::Listen => self.listen(),
            Request::BeginRun { run } => {
                for path in [&run.ledger, &run.working_directory] {
                    if !path.is_absolute() {
                        return Err(format!("{} is not an absolute path", path.display()));
                    }
                }
                self.endpoint()?.begin(run);
                Ok(Answer::Done)
            }
            Request::EndRun => match self.endpoint()?.end() {
                Some(calls) => Ok(Answer::Ended { calls }),
                None => Err("no run has begun".to_owned()),
            },
        }
    }

    fn endpoint(&self) -> Result<&Arc<Endpoint>, String> {
        let listening = self.endpoint.as_ref().map(|listening| &listening.endpoint);
        listening.ok_or_else(|| "ask for an endpoint first, by listen".to_owned())
    }

    fn listen(&mut self) -> Result<Answer, String> {
        if self.endpoint.is_some() {
            return Err("this connection has an endpoint already".to_owned());
        }
        let path = (self.place)();
        let address = path.to_str().ok_or("the path of the endpoint is no text")?.to_owned();
        let socket = Socket::at(path).map_err(|error| format!("no endpoint can be opened: {error}"))?;
        let endpoint = Arc::new(Endpoint::default());
        let (served, connections) = (endpoint.clone(), self.connections.clone());
        let receive = Arc::new(move |peer| served.connected(peer));
        let welcome = Welcome { tls: None, receive, peers: None };
        let accepting = tokio::spawn(async move { socket.accept(welcome, connections).await });
        self.endpoint = Some(Listening { endpoint, accepting });
        let endpoint = Address {
            network: Network::Unix,
            address,
            protocol_version: self.protocol.number(),
            pid: std::process::id(),
        };
        Ok(Answer::Listening { endpoint })
    }
}
