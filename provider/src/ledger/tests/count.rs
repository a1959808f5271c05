//! What is counted over the whole ledger: it is right whoever wrote, and nobody reads the ledger for it.

use equiform_proto::ledger::Digest;

use super::*;
use crate::ledger::append::BYTES_READ;

fn plan(number: usize) -> Digest {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    Digest(bytes)
}

/// Creates an object without a key from a plan, as stand-ins do; how many were created from that plan before.
fn created(ledger: &Ledger, number: usize, planned: Digest) -> u64 {
    run(async {
        let mut transaction = ledger.lock().await.unwrap();
        let before = transaction.creations("cloud_disk", planned).unwrap();
        let mut body = Body {
            type_name: Some("cloud_disk".to_owned()),
            id: Some(format!("disk-{number}")),
            after: json!({"id": format!("disk-{number}")}).as_object().cloned(),
            ..Body::default()
        };
        let begun = Body { sent: Sent { planned: Some(planned), ..Sent::default() }, ..body.clone() };
        body.begin = Some(transaction.append(Operation::Create, Phase::Begin, begun).unwrap());
        transaction.append(Operation::Create, Phase::Commit, body).unwrap();
        before
    })
}

fn read(ledger: &Ledger, id: &str) -> u64 {
    run(async {
        let mut transaction = ledger.lock().await.unwrap();
        let before = transaction.reads(id).unwrap();
        let body = Body { id: Some(id.to_owned()), ..Body::default() };
        transaction.append(Operation::Read, Phase::Commit, body).unwrap();
        before
    })
}

#[test]
fn creating_and_reading_many_objects_does_not_read_the_ledger_again_for_each() {
    let (_folder, path) = folder();
    let ledger = open(&path);
    let before = BYTES_READ.get();
    for number in 0..500 {
        assert_eq!(created(&ledger, number, plan(number)), 0);
        assert_eq!(read(&ledger, &format!("disk-{number}")), 0);
    }
    let (bytes, length) = (BYTES_READ.get() - before, fs::metadata(&path).unwrap().len());
    // Only indexes are checked against the line at which they end.
    assert!(bytes < length, "{bytes} bytes were read of a ledger of {length}");
}

#[test]
fn counts_are_those_of_the_whole_ledger_over_all_processes_and_indexes() {
    let (_folder, path) = folder();
    // Each opening stands for a process; there are many indexes within.
    let mut processes = [open(&path), open(&path)];
    for number in 0..200 {
        let turn = number % 3 % 2;
        assert_eq!(created(&processes[turn], number, plan(number % 7)), number as u64 / 7, "{number}");
        assert_eq!(read(&processes[turn], &format!("disk-{}", number % 5)), number as u64 / 5, "{number}");
        if number % 20 == 19 {
            processes[turn] = open(&path);
        }
    }
    assert!(path.with_extension("jsonl.index").exists());
    for suffix in ["jsonl.index", "jsonl.index-recent"] {
        let _ = fs::remove_file(path.with_extension(suffix));
    }
    assert_eq!(created(&open(&path), 200, plan(0)), 29, "without an index as well");
}
