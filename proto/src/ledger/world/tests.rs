use proptest::prelude::*;

use super::*;
use crate::ledger::sample::{attributes, entry, of};
use crate::ledger::{Phase, Reader, Record, sample::Sample};

fn change(seq: u64, op: Operation, key: &str, refs: &[&str]) -> Entry {
    let mut entry = entry(seq, op, Phase::Commit);
    of(&mut entry, key, refs);
    entry
}

fn removal(seq: u64, op: Operation, key: &str) -> Entry {
    let mut entry = change(seq, op, key, &[]);
    entry.before = entry.after.take();
    entry
}

fn world_of(entries: impl IntoIterator<Item = Entry>) -> World {
    let mut world = World::default();
    for entry in entries {
        world.apply(entry).unwrap();
    }
    world
}

fn why(world: &World, entry: Entry) -> String {
    let mut after = world.clone();
    let conflict = after.apply(entry).unwrap_err();
    assert_eq!(&after, world, "a conflict leaves the world as it was");
    conflict.to_string()
}

#[test]
fn a_created_object_is_there_with_all_its_entry_says() {
    let world = world_of([change(2, Operation::Create, "a", &["z"])]);
    let object = world.get("node-a").unwrap();
    assert_eq!((object.key.as_deref(), object.type_name.as_str()), (Some("a"), "mock_node"));
    assert_eq!((object.created, object.changed), (2, 2));
    assert_eq!(object.attributes.unpack(), attributes("a"));
    assert_eq!(object.refs[0].id, "node-z");
}

#[test]
fn an_update_and_a_drift_replace_attributes_and_references() {
    for op in [Operation::Update, Operation::Drift] {
        let mut later = change(4, op, "a", &["y"]);
        later.after = Some(attributes("changed"));
        let world = world_of([change(2, Operation::Create, "a", &["z"]), later]);
        let object = world.get("node-a").unwrap();
        assert_eq!((object.created, object.changed), (2, 4));
        assert_eq!(object.attributes.unpack(), attributes("changed"));
        assert_eq!(object.refs.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), ["node-y"]);
    }
}

#[test]
fn a_delete_and_a_drift_without_attributes_remove_the_object() {
    for op in [Operation::Delete, Operation::Drift] {
        assert!(world_of([change(2, Operation::Create, "a", &[]), removal(4, op, "a")]).is_empty());
    }
}

#[test]
fn begins_failures_reads_imports_and_marks_change_nothing() {
    let before = world_of([change(2, Operation::Create, "a", &[])]);
    let mut quiet = Vec::new();
    for op in [Operation::Create, Operation::Update, Operation::Delete] {
        for phase in [Phase::Begin, Phase::Fail] {
            let mut entry = change(3, op, "a", &["b"]);
            entry.phase = phase;
            quiet.push(entry);
        }
    }
    for op in [Operation::Read, Operation::Import, Operation::Mark] {
        quiet.push(change(3, op, "a", &["b"]));
    }
    let mut after = before.clone();
    for entry in quiet {
        after.apply(entry).unwrap();
    }
    assert_eq!(after, before);
}

#[test]
fn what_cannot_follow_on_the_world_is_a_conflict() {
    let world = world_of([change(2, Operation::Create, "a", &[])]);
    let again = change(4, Operation::Create, "a", &[]);
    assert_eq!(why(&world, again), "seq 4: create of node-a, which already exists");
    for op in [Operation::Update, Operation::Drift] {
        assert_eq!(
            why(&world, change(4, op, "b", &[])),
            format!("seq 4: {op} of node-b, which does not exist")
        );
    }
    for op in [Operation::Delete, Operation::Drift] {
        assert_eq!(why(&world, removal(4, op, "b")), format!("seq 4: {op} of node-b, which does not exist"));
    }
    for op in [Operation::Create, Operation::Update] {
        assert_eq!(
            why(&world, removal(4, op, "a")),
            format!("seq 4: {op} of node-a, without the attributes after")
        );
    }
    let half_deleted = change(4, Operation::Delete, "a", &[]);
    assert_eq!(why(&world, half_deleted), "seq 4: delete of node-a, with attributes after");
    let mut nameless = change(4, Operation::Create, "a", &[]);
    nameless.id = None;
    assert_eq!(why(&world, nameless), "seq 4: create of ?, without an id");
}

#[test]
fn a_ledger_folds_to_what_its_commits_left() {
    let mut world = World::default();
    for line in Reader::new(Sample::eventful().bytes.as_slice()) {
        if let Record::Entry(entry) = line.unwrap().record {
            world.apply(*entry).unwrap();
        }
    }
    assert_eq!(world.objects().map(|o| (o.id.as_str(), o.changed)).collect::<Vec<_>>(), [("node-a", 7)]);
}

proptest! {
    #[test]
    fn the_world_holds_what_was_created_and_not_removed(
        steps in prop::collection::vec((0..4u8, 0..6usize), 0..60),
    ) {
        let keys = ["a", "b", "c", "d", "e", "f"];
        let mut world = World::default();
        let mut model = std::collections::BTreeSet::new();
        for (seq, (kind, key)) in (1..).zip(steps) {
            let key = keys[key];
            let (entry, fits) = match kind {
                0 => (change(seq, Operation::Create, key, &[]), model.insert(key)),
                1 => (change(seq, Operation::Update, key, &[]), model.contains(key)),
                2 => (removal(seq, Operation::Delete, key), model.remove(key)),
                _ => (removal(seq, Operation::Drift, key), model.remove(key)),
            };
            prop_assert_eq!(world.apply(entry).is_ok(), fits);
            let there: Vec<&str> = world.objects().map(|o| o.key.as_deref().unwrap()).collect();
            prop_assert_eq!(there, model.iter().copied().collect::<Vec<_>>());
        }
    }
}
