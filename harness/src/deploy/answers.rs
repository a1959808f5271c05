//! Whether a provider that engines attach to still answers: it speaks HTTP/2, in which either side may send a ping at any
//! time. A connection alone says nothing, because the operating system accepts it for a process that hangs.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// How a client begins, and its settings, of which there are none.
const GREETING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// A ping with eight bytes that come back.
const PING: &[u8] = b"\0\0\x08\x06\0\0\0\0\0equiform";

/// The type of a ping, and the flag of an answer to one.
const ANSWER: [u8; 2] = [6, 1];

/// The longest frame that a server may send to a client without settings.
const LONGEST: usize = 16 << 10;

/// Asks a provider for an answer, which it has to give within this time.
pub fn ask(socket: &Path, within: Duration) -> io::Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    let begin = Instant::now();
    stream.set_write_timeout(Some(within))?;
    stream.write_all(&[GREETING, PING].concat())?;
    loop {
        let left = within.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let mut head = [0; 9];
        stream.read_exact(&mut head).map_err(timed_out)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        if length > LONGEST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it does not speak HTTP/2"));
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).map_err(timed_out)?;
        if head[3..5] == ANSWER {
            return Ok(());
        }
    }
}

/// A read that takes too long ends in an error that says something else.
fn timed_out(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
        _ => error,
    }
}

#[cfg(test)]
pub mod tests {
    use std::os::unix::net::UnixListener;
    use std::thread::JoinHandle;

    use super::*;

    /// What a provider says that answers.
    pub const ANSWERS: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\x08\x06\x01\0\0\0\0equiform";

    /// A server that says this to the first client, and listens no more.
    pub fn server(socket: &Path, says: &'static [u8]) -> JoinHandle<()> {
        let listener = UnixListener::bind(socket).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            drop(listener);
            stream.read_exact(&mut vec![0; GREETING.len() + PING.len()]).unwrap();
            stream.write_all(says).unwrap();
            // Until the client has gone.
            let _ = stream.read(&mut [0]);
        })
    }

    const SOON: Duration = Duration::from_millis(200);

    /// What comes of asking a server that says this.
    fn asked(says: &'static [u8]) -> io::Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let server = server(&socket, says);
        let result = ask(&socket, SOON);
        server.join().unwrap();
        result
    }

    #[test]
    fn only_an_answer_is_an_answer() {
        asked(ANSWERS).unwrap();
        assert_eq!(asked(b"\0\0\0\x04\0\0\0\0\0").unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(asked(b"HTTP/1.1 400 Bad Request").unwrap_err().kind(), io::ErrorKind::InvalidData);
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(ask(&socket, SOON).unwrap_err().kind(), io::ErrorKind::TimedOut, "nobody accepts");
        drop(listener);
        assert_eq!(ask(&socket, SOON).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
}
