use std::io::Cursor;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::ledger::sample::{self, Sample};

fn read(bytes: &[u8]) -> Result<(Vec<Entry>, Tail), LedgerError> {
    let mut reader = Reader::new(bytes);
    let mut entries = Vec::new();
    for line in &mut reader {
        if let Record::Entry(entry) = line?.record {
            entries.push(*entry);
        }
    }
    let tail = reader.tail();
    Ok((entries, tail))
}

fn bad(bytes: &[u8]) -> (u64, BadLine) {
    match read(bytes) {
        Err(LedgerError::Bad { line, reason }) => (line, reason),
        other => panic!("read {other:?} where a bad line was due"),
    }
}

fn join(lines: &[Vec<u8>]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect()
}

#[test]
fn a_whole_ledger_reads_to_its_end() {
    let (entries, tail) = read(&Sample::eventful().bytes).unwrap();
    assert_eq!(entries.len(), 11);
    assert_eq!(tail, Tail::Whole);
}

#[test]
fn a_header_alone_is_a_ledger_without_entries() {
    assert_eq!(read(&Sample::empty().bytes).unwrap(), (Vec::new(), Tail::Whole));
}

#[test]
fn an_unterminated_but_whole_last_entry_counts() {
    let sample = Sample::eventful();
    let unterminated = sample.bytes.strip_suffix(b"\n").unwrap();
    assert_eq!(read(unterminated).unwrap(), read(&sample.bytes).unwrap());
}

#[test]
fn a_run_of_torn_lines_is_accounted_for_by_the_mark_after_it() {
    let mut sample = Sample::eventful();
    sample.tear(40);
    sample.tear(1);
    sample.tear(100);
    assert_eq!(read(&sample.bytes).unwrap().1, Tail::Torn { bytes: 143 });
    sample.append(Operation::Mark, Phase::Commit, |_| {});
    sample.create("c", &[]);
    let (entries, tail) = read(&sample.bytes).unwrap();
    assert_eq!((entries.len(), tail), (14, Tail::Whole));
    assert_eq!(entries[11].torn.as_ref().unwrap().bytes, 143);
}

#[test]
fn a_torn_line_that_no_later_line_accounts_for_is_named() {
    let mut sample = Sample::empty();
    sample.tear(40);
    sample.tear(20);
    sample.append(Operation::Mark, Phase::Commit, |_| {});
    let mut lines = sample.lines();
    let mut mark: Value = serde_json::from_slice(&lines[3]).unwrap();
    mark.as_object_mut().unwrap().remove("torn");
    lines[3] = serde_json::to_vec(&mark).unwrap();
    assert_eq!(bad(&join(&lines)), (2, BadLine::Unaccounted));
}

#[test]
fn a_mark_that_accounts_for_other_bytes_than_stand_before_it_is_wrong() {
    let mut sample = Sample::empty();
    sample.tear(40);
    sample.append(Operation::Mark, Phase::Commit, |_| {});
    let mut lines = sample.lines();
    lines[1].pop();
    assert_eq!(bad(&join(&lines)), (3, BadLine::WrongTorn));
    lines.remove(1);
    assert_eq!(bad(&join(&lines)), (2, BadLine::WrongTorn));
}

#[test]
fn a_file_without_a_ledger_is_told_from_a_damaged_one() {
    let endless = vec![b'['; 1 << 20];
    let long = [br#"{"equiform_ledger":2,"id":""#.as_slice(), &[b'x'; 1 << 20]].concat();
    let cases: [(&[u8], BadLine); 15] = [
        (b"", BadLine::Empty),
        (b"\n", BadLine::NotALedger),
        (b"{\"equiform_led", BadLine::TornHeader),
        (b"{\"equiform_ledger\":2,\"id\":\"x", BadLine::TornHeader),
        (b"{\"name\":", BadLine::NotALedger),
        (b"{\"version\":4,\"serial\":1}\n", BadLine::NotALedger),
        (b"{\"equiform_ledger\":3,\"epoch\":0}\n", BadLine::OtherVersion { found: 3 }),
        (b"{\"equiform_ledger\":1}\n", BadLine::OtherVersion { found: 1 }),
        (&endless, BadLine::NotALedger),
        // Somebody else's JSON, over several lines or cut anywhere.
        (b"{\n  \"version\": 4,\n  \"serial\": 1\n}\n", BadLine::NotALedger),
        (b"{", BadLine::NotALedger),
        (b"{\"", BadLine::NotALedger),
        (b"{\"equi", BadLine::NotALedger),
        (b"{\"equiform_ledger\":\n1}\n", BadLine::NotALedger),
        (&long, BadLine::NotALedger),
    ];
    for (bytes, reason) in cases {
        assert!(reason.is_no_ledger());
        assert_eq!(bad(bytes), (1, reason));
    }
    let mut lines = Sample::eventful().lines();
    lines.remove(3);
    assert!(!bad(&join(&lines)).1.is_no_ledger());
}

#[test]
fn a_foreign_file_is_told_by_its_beginning_without_reading_it_all() {
    let mut file = Cursor::new(vec![b' '; 1 << 20]);
    assert!(Reader::new(&mut file).next().unwrap().is_err());
    assert!(file.position() <= HEADER_LIMIT as u64);
}

/// So many blanks, which take no memory.
struct Blanks(u64);

impl std::io::Read for Blanks {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = buffer.len().min(usize::try_from(self.0).unwrap_or(usize::MAX));
        buffer[..read].fill(b' ');
        self.0 -= read as u64;
        Ok(read)
    }
}

#[test]
fn a_line_that_does_not_end_is_refused_before_it_is_read_to_its_end() {
    let lines = Sample::eventful().lines();
    let mut blanks = Blanks(1 << 40);
    let begin = Cursor::new(join(&lines[..2]));
    let mut reader = Reader::new(std::io::BufReader::new(begin.chain(&mut blanks)));
    assert!(reader.by_ref().take(2).all(|line| line.is_ok()));
    let Some(Err(error)) = reader.next() else { panic!("the line was taken") };
    assert!(error.to_string().starts_with("line 3: the line is longer than 64 MiB"), "{error}");
    assert!(reader.next().is_none());
    drop(reader);
    assert!((1 << 40) - blanks.0 < 2 * LINE_LIMIT as u64, "{} blanks are left", blanks.0);
}

#[test]
fn a_dropped_line_is_missed_where_it_stood() {
    let lines = Sample::eventful().lines();
    for dropped in 1..lines.len() - 1 {
        let mut lines = lines.clone();
        lines.remove(dropped);
        let (line, reason) = bad(&join(&lines));
        assert_eq!(line, dropped as u64 + 1);
        assert_eq!(reason, BadLine::Sequence { expected: dropped as u64, found: dropped as u64 + 1 });
    }
}

#[test]
fn a_doubled_line_is_wrong_where_it_stands_again() {
    let lines = Sample::eventful().lines();
    for doubled in 1..lines.len() {
        let mut lines = lines.clone();
        lines.insert(doubled, lines[doubled].clone());
        let (line, reason) = bad(&join(&lines));
        assert_eq!(line, doubled as u64 + 2);
        assert_eq!(reason, BadLine::Sequence { expected: doubled as u64 + 1, found: doubled as u64 });
    }
}

#[test]
fn swapped_lines_are_wrong_from_the_first_of_them_on() {
    let lines = Sample::eventful().lines();
    for (first, second) in (1..lines.len()).flat_map(|a| (a + 1..lines.len()).map(move |b| (a, b))) {
        let mut lines = lines.clone();
        lines.swap(first, second);
        let (line, reason) = bad(&join(&lines));
        assert_eq!(line, first as u64 + 1);
        assert_eq!(reason, BadLine::Sequence { expected: first as u64, found: second as u64 });
    }
}

#[test]
fn a_line_with_a_changed_value_is_missed_by_the_next_ones_hash() {
    let mut lines = Sample::eventful().lines();
    let before = LineHash::of(&lines[2]);
    let changed = String::from_utf8(lines[2].clone()).unwrap().replace("\"revision\":1", "\"revision\":7");
    lines[2] = changed.into_bytes();
    let expected = LineHash::of(&lines[2]);
    assert_ne!(before, expected);
    assert_eq!(bad(&join(&lines)), (4, BadLine::Chain { expected }));
}

#[test]
fn a_line_that_was_moved_here_from_another_ledger_is_refused() {
    let lines = Sample::eventful().lines();
    let mut other = Sample::empty();
    other.append(Operation::Mark, Phase::Commit, |_| {});
    let spliced = [&other.lines()[..2], &lines[2..]].concat();
    assert!(matches!(bad(&join(&spliced)), (3, BadLine::Chain { .. })));
}

#[test]
fn an_end_must_name_an_open_begin_of_the_same_operation_and_object() {
    let begun = || {
        let mut sample = Sample::empty();
        sample.append(Operation::Update, Phase::Begin, |e| e.id = Some("node-a".to_owned()));
        sample
    };
    type Ending = (Operation, Option<u64>, &'static str);
    let endings: [Ending; 4] = [
        (Operation::Update, None, "node-a"),
        (Operation::Update, Some(2), "node-a"),
        (Operation::Delete, Some(1), "node-a"),
        (Operation::Update, Some(1), "node-b"),
    ];
    for (op, begin, id) in endings {
        let mut sample = begun();
        sample.append(op, Phase::Commit, |e| {
            e.id = Some(id.to_owned());
            e.begin = begin;
        });
        assert_eq!(bad(&sample.bytes), (3, BadLine::NoBegin { op, phase: Phase::Commit, begin }));
    }
    let mut twice = begun();
    for _ in 0..2 {
        twice.append(Operation::Update, Phase::Fail, |e| {
            e.id = Some("node-a".to_owned());
            e.begin = Some(1);
        });
    }
    assert_eq!(bad(&twice.bytes).0, 4);
}

#[test]
fn a_begin_names_no_begin_and_a_mark_has_no_begin_line() {
    let mut sample = Sample::empty();
    sample.append(Operation::Create, Phase::Begin, |e| e.begin = Some(1));
    assert_eq!(bad(&sample.bytes), (2, BadLine::NoSpan { op: Operation::Create }));
    for op in [Operation::Mark, Operation::Drift] {
        let mut sample = Sample::empty();
        sample.append(op, Phase::Begin, |_| {});
        assert_eq!(bad(&sample.bytes), (2, BadLine::NoSpan { op }));
    }
}

#[test]
fn operations_without_an_end_stay_open() {
    let mut sample = Sample::eventful();
    let first = sample.append(Operation::Create, Phase::Begin, |e| sample::of(e, "x", &[]));
    let second = sample.append(Operation::Create, Phase::Begin, |e| sample::of(e, "y", &[]));
    let mut reader = Reader::new(sample.bytes.as_slice());
    assert!(reader.by_ref().all(|line| line.is_ok()));
    assert_eq!(reader.open_operations(), [first, second]);
}

#[test]
fn a_refused_line_leaves_the_chain_as_it_was() {
    let mut sample = Sample::eventful();
    sample.tear(30);
    let mut chain = Chain::default();
    for line in sample.lines() {
        chain.accept(&line).unwrap();
    }
    let (seq, torn) = (chain.last_seq(), chain.torn());
    let late = sample.next_line(Operation::Mark, Phase::Commit, |entry| entry.seq += 1);
    assert!(matches!(chain.accept(&late), Err(BadLine::Sequence { .. })));
    assert_eq!((chain.last_seq(), chain.torn()), (seq, torn));
    let next = sample.next_line(Operation::Mark, Phase::Commit, |_| {});
    assert!(matches!(chain.accept(&next), Ok(Record::Entry(_))));
}

#[test]
fn a_malformed_line_is_told_by_its_column_alone() {
    let mut bytes = Sample::empty().bytes;
    bytes.extend_from_slice(b"{\"seq\":1,}\n");
    let (line, reason) = bad(&bytes);
    assert_eq!(line, 2);
    assert_eq!(reason.to_string(), "not a ledger entry: trailing comma at column 10");
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

prop_compose! {
    fn any_entry()(
        note in prop::option::of(any::<String>()),
        key in prop::option::of(any::<String>()),
        before in prop::option::of(json_value()),
        after in prop::option::of(json_value()),
        refs in prop::collection::vec(any::<(String, String)>(), 0..3),
        seq in any::<u64>(),
        engine_pid in prop::option::of(any::<u32>()),
        torn in prop::option::of(any::<u64>()),
    ) -> Entry {
        let attributes = |value: Value| json!({"value": value}).as_object().unwrap().clone();
        let mut entry = sample::entry(seq, Operation::Create, Phase::Commit);
        entry.begin = Some(seq);
        entry.note = note;
        entry.key = key;
        entry.before = before.map(attributes);
        entry.after = after.map(attributes);
        entry.refs = refs.into_iter().map(|(path, id)| crate::ledger::Reference { path, id }).collect();
        entry.engine_pid = engine_pid;
        entry.torn = torn.map(|bytes| Torn { bytes, sha256: LineHash::of(b"torn") });
        entry
    }
}

const FIRST_TORN: u64 = 13;
const MARK: u64 = 15;

/// A ledger with two torn lines in it and a mark that accounts for them, some entries from the end.
fn scarred() -> Sample {
    let mut sample = Sample::eventful();
    sample.tear(60);
    sample.tear(30);
    sample.append(Operation::Mark, Phase::Commit, |_| {});
    sample.create("c", &["a"]);
    sample
}

proptest! {
    #[test]
    fn every_proper_prefix_of_a_line_is_torn_and_never_malformed(entry in any_entry()) {
        let line = serde_json::to_vec(&entry).unwrap();
        prop_assert!(!line.contains(&b'\n'));
        for cut in 1..line.len() {
            let mut chain = Chain::resume(entry.seq.wrapping_sub(1), entry.prev);
            prop_assert_eq!(chain.accept(&line[..cut]), Ok(Record::Torn), "cut at {}", cut);
        }
    }

    #[test]
    fn a_written_line_reads_back_as_the_same_entry(entry in any_entry()) {
        let line = serde_json::to_vec(&entry).unwrap();
        prop_assert_eq!(serde_json::from_slice::<Entry>(&line).unwrap(), entry);
    }

    #[test]
    fn altering_any_byte_of_any_line_but_the_last_is_detected(
        place in any::<prop::sample::Index>(), flip in 1..=255u8,
    ) {
        let sample = scarred();
        let last = sample.lines().pop().unwrap().len() + 1;
        let mut bytes = sample.bytes;
        let at = place.index(bytes.len() - last);
        let altered = bytes[..at].iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        bytes[at] ^= flip;
        let (line, _) = bad(&bytes);
        // At the latest, where the lines after it stop to follow on it. Before it only if it is the mark that no longer
        // accounts for the torn lines: then the first of those is named.
        let earliest = if altered == MARK { FIRST_TORN } else { altered };
        prop_assert!((earliest..=altered + 3).contains(&line), "line {} altered, line {} named", altered, line);
    }

    #[test]
    fn a_writer_killed_at_any_byte_leaves_a_ledger_that_verifies_and_can_be_continued(
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..5),
    ) {
        let mut sample = Sample::eventful();
        let header = sample.lines()[0].len();
        for cut in cuts {
            let kept = header + cut.index(sample.bytes.len() - header);
            sample.bytes.truncate(kept);
            prop_assert!(read(&sample.bytes).is_ok());
            sample = Sample::recover(sample.bytes);
            sample.append(Operation::Mark, Phase::Commit, |_| {});
            prop_assert_eq!(read(&sample.bytes).unwrap().1, Tail::Whole);
        }
    }

    #[test]
    fn reading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let ledger = [Sample::empty().bytes, bytes].concat();
        let _ = read(&ledger);
    }
}
