//! For whom a plugin is there. An engine that is killed says nothing, and nothing may be left behind.
//!
//! The process that started the plugin is its owner, and so is each that connects. The first alone is not
//! enough: an engine that ends before the plugin looks has left it to another process, which may live for
//! ever. That process cannot be told from an engine (an engine may well be process 1 of a container), so what
//! counts is whether somebody connects.

use std::collections::HashSet;
use std::io;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, getppid, pidfd_open};
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

/// How long to wait for the first connection. Engines connect within milliseconds of the handshake and give
/// up a start after a minute; one that is suspended meanwhile gets some more.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(300);

/// Ends when the process that started us does.
pub fn starter_is_gone() -> impl Future<Output = ()> {
    // Opened at once: a later look might find the process that inherited us.
    let starter = getppid().map(|starter| pidfd_open(starter, PidfdFlags::NONBLOCK));
    async move {
        match starter {
            Some(Ok(starter)) => ended(starter).await,
            // Without a handle on it, those who connect have to do.
            _ => std::future::pending().await,
        }
    }
}

/// Ends when nobody has connected for a long time after the start, and when all processes that connected have
/// ended.
pub async fn peers_are_gone(mut peers: UnboundedReceiver<Option<u32>>) {
    let timeout = crate::testing::connect_timeout().unwrap_or(CONNECT_TIMEOUT);
    let Ok(Some(first)) = tokio::time::timeout(timeout, peers.recv()).await else { return };
    let mut known = HashSet::from([first]);
    let mut alive = JoinSet::new();
    alive.spawn(has_ended(first));
    while !alive.is_empty() {
        tokio::select! {
            Some(peer) = peers.recv() => {
                if known.insert(peer) {
                    alive.spawn(has_ended(peer));
                }
            }
            Some(ended) = alive.join_next() => {
                if let Ok(peer) = ended {
                    known.remove(&peer);
                }
            }
        }
    }
}

/// Waits for the end of a process, and gives its id. One that the system does not tell us of counts as alive.
async fn has_ended(peer: Option<u32>) -> Option<u32> {
    let pid = peer.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    match pid.map(|pid| pidfd_open(pid, PidfdFlags::NONBLOCK)) {
        Some(Ok(process)) => ended(process).await,
        Some(Err(error)) if error == rustix::io::Errno::SRCH => {}
        _ => std::future::pending().await,
    }
    peer
}

async fn ended(process: impl std::os::fd::AsRawFd) {
    let readable = async {
        // SAFETY: the descriptor stays open, and stays the same, until it is dropped with the `AsyncFd`.
        let process = unsafe { AsyncFd::register(process) }?;
        process.readable().await.map(drop)
    };
    let watched: io::Result<()> = readable.await;
    if watched.is_err() {
        std::future::pending().await
    }
}
