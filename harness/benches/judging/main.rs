//! How long judging takes, and how much memory, as the ledger grows: `cargo bench -p equiform --bench judging`.
//!
//! Each size is judged in a process of its own, whose time and peak are read in its end. It has one thread,
//! and its time is that of the processor: a machine that is busy with other things does not change it much.

#[path = "synthetic.rs"]
mod synthetic;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use equiform::judge::oracles::{ORACLES, Oracle};
use equiform::judge::variant as judge;
use equiform::judge::verdict::VariantResult;
use synthetic::{ENTRIES_PER_RESOURCE, Tree};

/// Names the case to judge to a process that was started for it.
const FOLDER: &str = "EQUIFORM_BENCH_CASE";

fn main() {
    match std::env::var_os(FOLDER) {
        Some(folder) => judge_and_tell(Path::new(&folder)),
        None => measure(),
    }
}

fn measure() {
    println!("| entries | ledger | processor time | peak memory | peak / ledger |\n|--:|--:|--:|--:|--:|");
    for entries in [250_000, 500_000, 1_000_000] {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let ledger = Tree { resources: entries / ENTRIES_PER_RESOURCE }.write(folder.path()) as f64 / 1e6;
        let own = std::env::current_exe().expect("this program has a name");
        let output = Command::new(own).env(FOLDER, folder.path()).output().expect("this program runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let mut numbers = text.split_whitespace().filter_map(|word| word.parse::<f64>().ok());
        let (Some(seconds), Some(peak)) = (numbers.next(), numbers.next()) else {
            panic!("{}", String::from_utf8_lossy(&output.stderr));
        };
        println!("| {entries} | {ledger:.0} MB | {seconds:.1} s | {peak:.0} MB | {:.2} |", peak / ledger);
    }
}

/// Judges a case and prints the seconds it took and the megabytes that it needed at most.
fn judge_and_tell(folder: &Path) {
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let verdict = judge::case(0, folder, &oracles).expect("there is a case");
    assert!(verdict.variants.iter().all(|variant| variant.result == VariantResult::Pass), "{verdict:?}");
    println!("{} {}", processor_time().as_secs_f64(), peak_megabytes());
}

fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the time, which is ours.
    let told = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(told, 0, "the clock of the process is there");
    let (seconds, nanoseconds) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds)
}

fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells about processes");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak is told");
    let kilobytes = line.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    kilobytes.expect("the peak is a number") * 1024.0 / 1e6
}
