//! What an operation costs must not depend on how much has happened before.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use equiform_proto::ledger::{Entry, FORMAT_VERSION, Header, LineHash, Operation, Phase};
use serde_json::json;

use crate::support::*;

/// Writes a ledger of that many entries: creations, each a begin and a commit.
fn ledger_of(entries: u64, path: &Path) {
    let mut file = BufWriter::new(std::fs::File::create(path).unwrap());
    let mut write = |line: Vec<u8>| {
        file.write_all(&line).unwrap();
        file.write_all(b"\n").unwrap();
        LineHash::of(&line)
    };
    let created = "2026-01-01T00:00:00Z".parse().unwrap();
    let header = Header { version: FORMAT_VERSION, id: format!("ledger-{entries}"), created };
    let mut prev = write(serde_json::to_vec(&header).unwrap());
    for seq in 1..=entries {
        let number = seq.div_ceil(2);
        let phase = if seq % 2 == 1 { Phase::Begin } else { Phase::Commit };
        let mut entry = Entry::new(seq, Operation::Create, phase, 1, prev);
        entry.begin = (phase == Phase::Commit).then(|| seq - 1);
        entry.type_name = Some("mock_node".to_owned());
        let (key, id) = (format!("old-{number}"), format!("node-{number:020}"));
        let after = json!({
            "key": key, "id": id, "revision": 1, "refs": null, "pinned_refs": null, "label": null, "pin": null
        });
        (entry.key, entry.id) = (Some(key), Some(id));
        entry.after = Some(after.as_object().unwrap().clone());
        prev = write(serde_json::to_vec(&entry).unwrap());
    }
}

/// What a command's worth of work came to.
#[derive(Debug, Clone, Copy)]
struct Cost {
    read: u64,
    written: u64,
    time: Duration,
}

/// A process that starts, configures, creates an object and reads that and the oldest one.
fn operation(ledger: &Path, oldest: bool) -> Cost {
    let start = Instant::now();
    let plugin = Plugin::start();
    run(async {
        let mut engine = Engine::new(plugin.channel().await);
        assert_eq!(engine.configure(ledger).await, []);
        let kept = engine.create("new").await;
        assert_eq!(engine.read(&kept).await.new_state, Some(kept.state));
        if oldest {
            let id = format!("node-{:020}", 1);
            let private = format!(r#"{{"equiform":1,"id":"{id}"}}"#).into_bytes();
            let old = Kept { state: value(&json!({"key": "old-1", "id": id, "revision": 1})), private };
            let read = engine.read(&old).await;
            assert_eq!(read.diagnostics, []);
            assert_ne!(read.new_state, Some(null()));
        }
    });
    let time = start.elapsed();
    Cost { read: plugin.account("io", "rchar"), written: plugin.account("io", "wchar"), time }
}

/// Costs of many operations, one after the other, on a ledger of that many entries; sorted by time.
fn operations(entries: u64, count: usize) -> Vec<Cost> {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("ledger.jsonl");
    ledger_of(entries, &ledger);
    // The first one reads it all and leaves an index, as the process that wrote it would have.
    operation(&ledger, entries > 0);
    let mut costs: Vec<_> = (0..count).map(|_| operation(&ledger, entries > 0)).collect();
    costs.sort_by_key(|cost| cost.time);
    costs
}

#[test]
fn an_operation_reads_and_writes_as_much_on_a_long_ledger_as_on_a_short_one() {
    let worst = |entries| {
        let costs = operations(entries, 6);
        let most = costs.iter().map(|cost| cost.read + cost.written).max().unwrap();
        eprintln!("{entries} entries: at most {most} bytes read and written, start included");
        most
    };
    let (short, long) = (worst(100), worst(100_000));
    // A tail without an index may be read, and some blocks of one; the ledger itself has 40 MB.
    assert!(long < short + 400 * 1024, "{short} bytes on a short ledger, {long} on a long one");
}

#[test]
fn a_process_that_creates_much_writes_as_much_on_a_long_ledger_as_on_a_short_one() {
    let written = |entries| {
        let (_, written) = creations(entries, 1500);
        eprintln!("{entries} entries: {written} bytes written for each creation");
        written
    };
    let (short, long) = (written(0), written(40_000));
    // An index that is written anew with all that there is would cost some twelve thousand bytes more.
    assert!(long < short + 2500, "{short} bytes on a short ledger, {long} on a long one");
}

/// Figures for people: `cargo test --release -p terraform-provider-mock --test plugin -- --ignored figures
/// --nocapture`.
#[test]
#[ignore = "takes minutes, and asserts nothing that a machine could judge"]
fn figures_of_an_operations_cost() {
    for entries in [0, 1_000, 100_000, 1_000_000] {
        let costs = operations(entries, 51);
        let median = costs[25];
        let slowest = costs[50];
        let mean = |of: fn(&Cost) -> u64| costs.iter().map(of).sum::<u64>() / 51;
        println!(
            "{entries:>9} entries: median {:?}, slowest {:?}, {} bytes read and {} written on average",
            median.time,
            slowest.time,
            mean(|cost| cost.read),
            mean(|cost| cost.written)
        );
    }
}

/// How long each of many creations by one process takes, and how many bytes each writes.
fn creations(entries: u64, count: u64) -> (Vec<Duration>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("ledger.jsonl");
    ledger_of(entries, &ledger);
    operation(&ledger, entries > 0);
    let plugin = Plugin::start();
    run(async {
        let mut engine = Engine::new(plugin.channel().await);
        assert_eq!(engine.configure(&ledger).await, []);
        let before = plugin.account("io", "wchar");
        let mut times = Vec::new();
        for _ in 0..count {
            let start = Instant::now();
            engine.create("new").await;
            times.push(start.elapsed());
        }
        (times, (plugin.account("io", "wchar") - before) / count)
    })
}

/// Many creations by one process, so that the index's upkeep shows.
#[test]
#[ignore = "takes minutes, and asserts nothing that a machine could judge"]
fn figures_of_many_creations() {
    for entries in [0, 1_000, 100_000, 1_000_000] {
        let (mut times, written) = creations(entries, 2000);
        times.sort();
        let mean = times.iter().sum::<Duration>() / 2000;
        println!(
            "{entries:>9} entries: median {:?}, mean {mean:?}, slowest {:?}, {} bytes written for each",
            times[1000], times[1999], written
        );
    }
}
