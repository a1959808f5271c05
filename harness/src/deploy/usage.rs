//! What a process took, as the system counts it.

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Pid;

use super::process::Usage;

/// Waits for a child that has ended, and tells what it took. Nobody may wait for it a second time.
pub fn wait(child: Pid) -> io::Result<(ExitStatus, Usage)> {
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    loop {
        // SAFETY: both pointers are to memory that is ours and large enough. A record of zeros is a valid one.
        let waited = unsafe { libc::wait4(child.as_raw_nonzero().get(), &mut status, 0, usage.as_mut_ptr()) };
        if waited > 0 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: it was all zeros, and the system has filled it in.
    let usage = unsafe { usage.assume_init() };
    let time = |time: libc::timeval| {
        let part = |number: i64| u64::try_from(number).unwrap_or(0);
        Duration::from_secs(part(time.tv_sec)) + Duration::from_micros(part(time.tv_usec))
    };
    let usage = Usage {
        cpu: time(usage.ru_utime) + time(usage.ru_stime),
        peak_memory: u64::try_from(usage.ru_maxrss).unwrap_or(0) << 10,
    };
    Ok((ExitStatus::from_raw(status), usage))
}

/// What a process that goes on has taken so far: its command is what it takes between two looks.
#[derive(Debug, Clone, Copy)]
pub struct SoFar {
    process: u32,
    cpu: Duration,
}

impl SoFar {
    /// A command begins in a process. None where the system does not tell.
    pub fn begin(process: u32) -> Option<Self> {
        // From here on the peak is the command's own. Where that is not allowed, it is that of the process.
        let _ = fs::write(format!("/proc/{process}/clear_refs"), "5");
        Some(Self { process, cpu: cpu(process)? })
    }

    /// The command has ended.
    pub fn end(self) -> Option<Usage> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(Usage { cpu: cpu(self.process)?.saturating_sub(self.cpu), peak_memory: kilobytes << 10 })
    }
}

/// How long a process has computed, with what it started and waited for.
pub fn cpu(process: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in the second field may hold blanks; the times are fields 14 to 17 of the whole.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let ticks: u64 = fields.get(11..15)?.iter().map(|ticks| ticks.parse::<u64>().unwrap_or(0)).sum();
    Some(Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deploy::stop::pid_of;

    #[test]
    fn a_process_that_computes_and_takes_memory_is_seen_to() {
        let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done
            head -c 30m /dev/zero | tail -c 30m >/dev/null";
        #[expect(clippy::zombie_processes, reason = "`wait` below waits for it")]
        let child = std::process::Command::new("/bin/sh").args(["-c", script]).spawn().unwrap();
        let (status, usage) = wait(pid_of(&child)).unwrap();
        assert!(status.success());
        assert!(usage.cpu > Duration::from_millis(5) && usage.peak_memory > 20 << 20, "{usage:?}");
        let begun = SoFar::begin(std::process::id()).unwrap();
        assert!(begun.end().unwrap().peak_memory > 0);
    }
}
