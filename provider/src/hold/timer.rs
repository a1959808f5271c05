//! Waiting for less than a millisecond.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Waits for so long.
pub async fn wait(time: Duration) -> io::Result<()> {
    // No time at all would never end.
    let time = Timespec::try_from(time.max(Duration::from_micros(1))).map_err(io::Error::other)?;
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
    let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: time };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once)?;
    // SAFETY: the file is owned, so what is registered stays the same file until it is dropped with its registration.
    let timer: AsyncFd<OwnedFd> = unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) }?;
    timer.readable().await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_takes_as_long_as_it_says_and_hardly_longer() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let asked = Duration::from_micros(200);
        let took = || {
            let begin = std::time::Instant::now();
            runtime.block_on(wait(asked)).unwrap();
            begin.elapsed()
        };
        // The machine may be busy; one of many is not disturbed.
        let least = (0..200).map(|_| took()).min().unwrap();
        assert!((asked..Duration::from_millis(1)).contains(&least), "{least:?}");
    }
}
