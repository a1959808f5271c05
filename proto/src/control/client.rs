//! A client of the control channel that waits for each answer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::{Answer, CONTROL_VERSION, Calls, Endpoint, LINE_LIMIT, Request, Run};

/// A connection to a provider's control socket.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
}

/// A request over the control channel that was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The provider cannot be reached, or does not answer in time.
    #[error("the provider does not answer on its control socket: {0}")]
    Unreachable(#[from] io::Error),
    /// The request cannot be written as JSON: a path is no text.
    #[error("the request cannot be sent: {0}")]
    Unwritable(serde_json::Error),
    /// The answer is no answer of this version.
    #[error("the provider gave an answer that is not understood: {0:?}")]
    Unexpected(String),
    /// The provider speaks another version.
    #[error(
        "the provider speaks version {0} of the control channel, and this program version {CONTROL_VERSION}"
    )]
    Version(u32),
    /// The provider refused the request.
    #[error("the provider refused: {0}")]
    Refused(String),
}

impl Client {
    /// Connects to a control socket. The provider has so long for each answer.
    pub fn connect(socket: &Path, timeout: Duration) -> Result<Self, ControlError> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(timeout))?;
        stream.set_write_timeout(Some(timeout))?;
        let mut client = Self { stream: BufReader::new(stream) };
        match client.ask(&Request::Hello { version: CONTROL_VERSION })? {
            Answer::Hello { version: CONTROL_VERSION } => Ok(client),
            Answer::Hello { version } => Err(ControlError::Version(version)),
            other => Err(unexpected(&other)),
        }
    }

    /// Whether the provider still answers.
    pub fn ping(&mut self) -> Result<(), ControlError> {
        match self.ask(&Request::Ping)? {
            Answer::Pong => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    /// Opens the endpoint of this connection, which lives as long as the connection.
    pub fn listen(&mut self) -> Result<Endpoint, ControlError> {
        match self.ask(&Request::Listen)? {
            Answer::Listening { endpoint } => Ok(endpoint),
            other => Err(unexpected(&other)),
        }
    }

    /// Says which run the endpoint serves from now on.
    pub fn begin_run(&mut self, run: Run) -> Result<(), ControlError> {
        self.order(&Request::BeginRun { run })
    }

    /// Says that the run is over, and learns what was called in it.
    pub fn end_run(&mut self) -> Result<Calls, ControlError> {
        match self.ask(&Request::EndRun)? {
            Answer::Ended { calls } => Ok(calls),
            other => Err(unexpected(&other)),
        }
    }

    fn order(&mut self, request: &Request) -> Result<(), ControlError> {
        match self.ask(request)? {
            Answer::Done => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, ControlError> {
        let mut line = serde_json::to_vec(request).map_err(ControlError::Unwritable)?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line)?;
        let mut answer = String::new();
        (&mut self.stream).take(LINE_LIMIT).read_line(&mut answer)?;
        if answer.is_empty() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        match serde_json::from_str(&answer) {
            Ok(Answer::Error { message }) => Err(ControlError::Refused(message)),
            Ok(answer) => Ok(answer),
            Err(_) => Err(ControlError::Unexpected(answer)),
        }
    }
}

fn unexpected(answer: &Answer) -> ControlError {
    ControlError::Unexpected(serde_json::to_string(answer).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    /// What a client makes of a provider that answers with these lines.
    fn connected_to(answers: &'static str) -> Result<Client, ControlError> {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("control.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let provider = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(answers.as_bytes()).unwrap();
            BufReader::new(stream).read_line(&mut String::new()).unwrap();
        });
        let client = Client::connect(&socket, Duration::from_secs(10));
        provider.join().unwrap();
        client
    }

    #[test]
    fn a_provider_of_another_version_is_refused() {
        assert!(connected_to("{\"answer\":\"hello\",\"version\":1}\n").is_ok());
        let refused = |answers| connected_to(answers).unwrap_err();
        assert!(matches!(refused("{\"answer\":\"hello\",\"version\":2}\n"), ControlError::Version(2)));
        assert!(matches!(refused("hello\n"), ControlError::Unexpected(_)));
        assert!(matches!(refused("{\"answer\":\"error\",\"message\":\"no\"}\n"), ControlError::Refused(_)));
        assert!(matches!(refused(""), ControlError::Unreachable(_)));
    }

    #[test]
    fn a_provider_that_does_not_answer_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("control.sock");
        // The system accepts connections on behalf of a provider that hangs.
        let _listener = UnixListener::bind(&socket).unwrap();
        let connected = Client::connect(&socket, Duration::from_millis(50));
        assert!(matches!(connected, Err(ControlError::Unreachable(_))));
    }
}
