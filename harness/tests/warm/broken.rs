//! A worker that is killed, hangs or crashes costs its variant one cold run, and leaves nothing behind.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::support::engine;

/// The processes that keep the engine warm for a campaign.
fn workers(campaign: &Child) -> Vec<u32> {
    let parent = campaign.id().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let of_campaign = |id: &u32| {
        let Ok(stat) = fs::read_to_string(format!("/proc/{id}/stat")) else { return false };
        let Some((name, rest)) = stat.rsplit_once(')') else { return false };
        name.contains("(equiform-terraf") && rest.split_whitespace().nth(1) == Some(parent.as_str())
    };
    ids.filter(of_campaign).collect()
}

fn campaign(out: &Path, timeout: &str) -> Child {
    engine("terraform@1.15.5");
    Command::new(env!("CARGO_BIN_EXE_equiform"))
        .args(["run", "--engine=terraform@1.15.5", "--sources=2", "--variants=2", "--batches=2"])
        // So long that it is amid a command when it is met.
        .args([
            "--resources=4",
            "--edges=3",
            "--jobs=1",
            "--hold=100ms",
            "--workflows=plain",
            "--format=json",
            "--timeout",
            timeout,
        ])
        .arg("--out")
        .arg(out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The ledger of the first variant has something in it, so its worker is at work.
fn is_at_work(out: &Path) -> bool {
    let ledger = out.join("case-0000/variant-0000/warm/ledger.jsonl");
    fs::metadata(ledger).is_ok_and(|ledger| ledger.len() > 1000)
}

fn survives(signal: Signal, timeout: &str, kind: &str) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let campaign = campaign(&out, timeout);
    let begin = Instant::now();
    while !is_at_work(&out) {
        assert!(begin.elapsed() < Duration::from_secs(60), "the campaign begins");
        std::thread::sleep(Duration::from_millis(5));
    }
    let met = workers(&campaign);
    assert_eq!(met.len(), 1, "one for each job");
    kill_process(Pid::from_raw(met[0] as i32).unwrap(), signal).unwrap();
    let output = campaign.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["counts"]["passed"], &report["counts"]["warm_only"]), (&4.into(), &1.into()));
    let told = &report["cases"][0]["variants"][0]["warm_only"][0];
    assert_eq!((&told["oracle"], &told["kind"]), (&"health".into(), &kind.into()), "{told}");
    assert_eq!((&report["workers"]["started"], &report["workers"]["broken"]), (&2.into(), &1.into()));
    let first = out.join("case-0000/variant-0000");
    assert!(first.join("warm/ledger.jsonl").exists(), "what the broken one left stays");
    let records: Value = serde_json::from_slice(&fs::read(first.join("stages.json")).unwrap()).unwrap();
    assert_eq!(records[0]["warm"], Value::Null, "the variant was run cold");
    assert!(!Path::new(&format!("/proc/{}", met[0])).exists(), "nobody is left");
}

#[test]
fn a_worker_that_is_killed_costs_its_variant_one_cold_run() {
    survives(Signal::KILL, "60s", "crash");
}

#[test]
fn a_worker_that_crashes_costs_its_variant_one_cold_run() {
    survives(Signal::SEGV, "60s", "crash");
}

#[test]
fn a_worker_that_hangs_costs_its_variant_one_cold_run() {
    survives(Signal::STOP, "8s", "hang");
}

#[test]
fn workers_end_with_a_campaign_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut campaign = campaign(&out, "60s");
    let begin = Instant::now();
    while !is_at_work(&out) {
        assert!(begin.elapsed() < Duration::from_secs(60), "the campaign begins");
        std::thread::sleep(Duration::from_millis(5));
    }
    let met = workers(&campaign);
    campaign.kill().unwrap();
    campaign.wait().unwrap();
    let begin = Instant::now();
    while met.iter().any(|id| Path::new(&format!("/proc/{id}")).exists()) {
        assert!(begin.elapsed() < Duration::from_secs(60), "its input ends, and it ends after its command");
        std::thread::sleep(Duration::from_millis(20));
    }
}
