//! Several providers on one ledger.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use equiform_proto::ledger::{Entry, Operation, Phase, Reader, Record, World};

use crate::support::*;

/// All entries of a ledger, and the world. The ledger must verify and fold.
pub fn verified(path: &Path) -> (Vec<Entry>, World) {
    let (mut entries, mut world) = (Vec::new(), World::default());
    for line in Reader::new(BufReader::new(File::open(path).unwrap())) {
        if let Record::Entry(entry) = line.unwrap().record {
            world.apply((*entry).clone()).unwrap();
            entries.push(*entry);
        }
    }
    (entries, world)
}

#[test]
fn ten_processes_append_at_once_and_nothing_is_lost() {
    const PROCESSES: usize = 10;
    const CREATES: usize = 100;
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("shared.jsonl");
    let plugins: Vec<_> = (0..PROCESSES).map(|_| Plugin::start()).collect();
    run(async {
        // A remark needs a ledger that is there.
        assert_eq!(Engine::new(plugins[0].channel().await).configure(&ledger).await, []);
    });
    let ids: BTreeSet<String> = std::thread::scope(|scope| {
        let engines: Vec<_> = plugins
            .iter()
            .enumerate()
            .map(|(number, plugin)| {
                let ledger = &ledger;
                scope.spawn(move || {
                    run(async {
                        let mut engine = Engine::new(plugin.channel().await);
                        assert_eq!(engine.configure(ledger).await, []);
                        let mut ids = Vec::new();
                        for create in 0..CREATES {
                            let kept = engine.create(&format!("key-{number}-{create}")).await;
                            let read = engine.read(&kept).await;
                            assert_eq!(read.new_state.as_ref(), Some(&kept.state));
                            ids.push(kept.id());
                        }
                        ids
                    })
                })
            })
            .collect();
        let marks = scope.spawn(|| {
            for number in 0..20 {
                let mut mark = command(folder.path());
                mark.args(["mark", &format!("mark {number}"), "--ledger"]).arg(&ledger);
                assert!(mark.status().unwrap().success());
            }
        });
        marks.join().unwrap();
        engines.into_iter().flat_map(|engine| engine.join().unwrap()).collect()
    });
    assert_eq!(ids.len(), PROCESSES * CREATES);
    let (entries, world) = verified(&ledger);
    // Each is configured once, and the first once more; each create has a plan before it and a read after it.
    assert_eq!(entries.len(), 1 + PROCESSES + 4 * PROCESSES * CREATES + 20);
    let committed =
        entries.iter().filter(|entry| entry.op == Operation::Create && entry.phase == Phase::Commit);
    assert_eq!(committed.filter_map(|entry| entry.id.clone()).collect::<BTreeSet<_>>(), ids);
    assert_eq!(world.len(), PROCESSES * CREATES);
    let writers: BTreeSet<_> = entries.iter().map(|entry| entry.provider_pid).collect();
    assert_eq!(writers.len(), PROCESSES + 20);
}
