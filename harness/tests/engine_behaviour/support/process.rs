//! Running a command to its end, or until a timeout.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::output::Output;

/// No command of these tests comes near this, also on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(300);

/// A command that runs, with a process group of its own.
pub struct Running {
    command: String,
    child: Child,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
}

impl Running {
    /// Starts a command.
    pub fn start(command: &mut Command) -> Self {
        let spawned = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let text = format!("{command:?}");
        let mut child = spawned.unwrap_or_else(|error| panic!("{text} cannot be started: {error}"));
        let stdout = collect(child.stdout.take().expect("it is piped"));
        let stderr = collect(child.stderr.take().expect("it is piped"));
        Self { command: text, child, stdout, stderr }
    }

    /// Waits for the end.
    pub fn wait(mut self) -> Output {
        let Some(status) = wait_until(TIMEOUT, || self.ended()) else {
            self.signal(libc::SIGKILL);
            let output = self.output(None);
            panic!("after {} seconds it still ran: {output}", TIMEOUT.as_secs());
        };
        self.output(status.code())
    }

    /// Sends a signal to the whole process group, as a terminal does.
    pub fn signal(&self, signal: libc::c_int) {
        let group = libc::pid_t::try_from(self.child.id()).expect("a process id fits");
        // SAFETY: it touches no memory. The child has not been waited for, so the group is still ours.
        let sent = unsafe { libc::kill(-group, signal) };
        assert_eq!(sent, 0, "{} cannot be signalled: {}", self.command, std::io::Error::last_os_error());
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be waited for")
    }

    fn output(self, code: Option<i32>) -> Output {
        let [stdout, stderr] =
            [self.stdout, self.stderr].map(|text| text.join().expect("readers do not panic"));
        Output { command: self.command, code, stdout, stderr }
    }
}

/// Looks again and again until there is an answer; `None` when the timeout is over.
pub fn wait_until<T>(timeout: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + timeout;
    loop {
        if let Some(answer) = look() {
            return Some(answer);
        }
        if Instant::now() > deadline {
            return None;
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

fn collect(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is still worth showing.
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
