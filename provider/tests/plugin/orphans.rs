//! Plugins whose starter was gone before they looked who it is: they must not stay for ever.

use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::*;

/// A plugin that has been inherited by another process before its first instruction. It says where it is in a
/// file, so that no pipe tells it that nobody listens.
struct Orphan {
    folder: tempfile::TempDir,
    pid: u32,
}

impl Orphan {
    fn start(connect_timeout: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The outer shell ends at once and is waited for; the inner one goes on once it is gone.
        let script = r#"
            sh -c 'while kill -0 "$0" 2>/dev/null; do :; done; echo $$ >pid; exec "$1" >line 2>said' $$ "$1" &
        "#;
        let plugin = command(folder.path());
        let environment = plugin.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let mut starter = Command::new("/bin/sh");
        starter
            .args(["-c", script, "sh"])
            .arg(plugin.get_program())
            .env_clear()
            .envs(environment)
            .env("EQUIFORM_TEST_CONNECT_TIMEOUT", connect_timeout.as_millis().to_string())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        assert!(starter.status().unwrap().success());
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
        eventually("the orphan says where it is", || read("line").ends_with('\n'));
        let pid = read("pid").trim().parse().unwrap();
        Self { folder, pid }
    }

    fn socket(&self) -> PathBuf {
        let line = fs::read_to_string(self.folder.path().join("line")).unwrap();
        line.split('|').nth(3).unwrap().into()
    }

    fn starter(&self) -> String {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap();
        stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().to_owned()
    }

    /// Demands that it ends, and that its socket goes with it.
    fn ends(&self) {
        eventually("the orphan has ended", || !is_alive(self.pid));
        assert!(!self.socket().exists(), "its socket is left");
    }
}

impl Drop for Orphan {
    fn drop(&mut self) {
        if is_alive(self.pid) {
            signal(self.pid, libc::SIGKILL);
        }
    }
}

/// A process that has connected to a socket and holds the connection.
fn peer_at(socket: &Path) -> Child {
    let socket = socket.to_owned();
    let mut peer = Command::new("sleep");
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        peer.arg("1000").pre_exec(move || {
            let stream = UnixStream::connect(&socket)?;
            libc::fcntl(stream.as_raw_fd(), libc::F_SETFD, 0);
            std::mem::forget(stream);
            Ok(())
        })
    };
    peer.spawn().unwrap()
}

#[test]
fn an_orphan_to_which_nobody_connects_ends() {
    let orphan = Orphan::start(Duration::from_millis(300));
    assert_ne!(orphan.starter(), std::process::id().to_string());
    orphan.ends();
}

#[test]
fn an_orphan_serves_those_who_connect_and_ends_with_the_last_of_them() {
    let orphan = Orphan::start(Duration::from_secs(5));
    let mut peers = [peer_at(&orphan.socket()), peer_at(&orphan.socket())];
    for peer in &mut peers {
        assert!(is_alive(orphan.pid));
        peer.kill().unwrap();
        peer.wait().unwrap();
    }
    orphan.ends();
}

#[test]
fn a_plugin_to_which_its_engine_connects_late_is_still_there_after_long_idle_times() {
    let plugin = Plugin::start_with(|command| {
        command.env("EQUIFORM_TEST_CONNECT_TIMEOUT", "2000");
    });
    run(async { plugin.engine().await.create("a").await });
    // The connection is closed, and twice the time passes that a first one may take.
    std::thread::sleep(Duration::from_millis(4000));
    run(async { plugin.engine().await.create("b").await });
}
