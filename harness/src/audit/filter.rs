//! Which entries a person asked to see.

use std::str::FromStr;

use equiform_proto::ledger::{Entry, Operation, Phase};

/// What an entry has to be to be shown. An empty list lets everything pass.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// The object's key.
    pub keys: Vec<String>,
    /// The object's id, or how it begins.
    pub ids: Vec<String>,
    /// The run's label.
    pub runs: Vec<String>,
    /// The operation.
    pub ops: Vec<Operation>,
    /// Whether requests that change nothing are shown. Those that failed always are.
    pub requests: bool,
    /// The phase.
    pub phases: Vec<Phase>,
    /// The place in the ledger.
    pub seqs: SeqRange,
}

impl Filter {
    /// Whether the entry is one that was asked for.
    pub fn passes(&self, entry: &Entry) -> bool {
        self.seqs.contains(entry.seq)
            && (self.ops.is_empty() || self.ops.contains(&entry.op))
            && (self.requests || entry.phase == Phase::Fail || !entry.op.changes_nothing())
            && (self.phases.is_empty() || self.phases.contains(&entry.phase))
            && is_one_of(&self.keys, entry.key.as_deref(), |key, wanted| key == wanted)
            && is_one_of(&self.runs, entry.run.as_deref(), |run, wanted| run == wanted)
            && is_one_of(&self.ids, entry.id.as_deref(), |id, wanted| {
                id.starts_with(wanted.trim_end_matches('\u{2026}'))
            })
    }
}

fn is_one_of(wanted: &[String], value: Option<&str>, same: impl Fn(&str, &str) -> bool) -> bool {
    wanted.is_empty() || value.is_some_and(|value| wanted.iter().any(|wanted| same(value, wanted)))
}

/// A stretch of a ledger, both ends included: `5`, `5..9`, `5..` or `..9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeqRange {
    /// The first `seq`.
    pub first: u64,
    /// The last `seq`.
    pub last: u64,
}

impl SeqRange {
    /// Whether it is the whole ledger.
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the range includes this `seq`.
    pub fn contains(&self, seq: u64) -> bool {
        (self.first..=self.last).contains(&seq)
    }
}

impl Default for SeqRange {
    fn default() -> Self {
        Self { first: 0, last: u64::MAX }
    }
}

/// A text that is no range of `seq`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a range of seq is written 5, 5..9, 5.. or ..9 (both ends included, the first not after the last)")]
pub struct NotARange;

impl FromStr for SeqRange {
    type Err = NotARange;

    fn from_str(text: &str) -> Result<Self, NotARange> {
        let bound = |text: &str, missing: u64| match text {
            "" => Ok(missing),
            _ => text.parse().map_err(|_| NotARange),
        };
        let range = match text.split_once("..") {
            Some((first, last)) => Self { first: bound(first, 0)?, last: bound(last, u64::MAX)? },
            None => {
                let seq = text.parse().map_err(|_| NotARange)?;
                Self { first: seq, last: seq }
            }
        };
        if range.first > range.last { Err(NotARange) } else { Ok(range) }
    }
}

#[cfg(test)]
mod tests {
    use equiform_proto::ledger::LineHash;

    use super::*;

    fn entry() -> Entry {
        let mut entry = Entry::new(7, Operation::Create, Phase::Begin, 1, LineHash([0; 32]));
        entry.key = Some("r0".to_owned());
        entry.id = Some("node-abc".to_owned());
        entry
    }

    #[test]
    fn ranges_include_both_ends() {
        let range: SeqRange = "5..9".parse().unwrap();
        let inside: Vec<u64> = (0..12).filter(|&seq| range.contains(seq)).collect();
        assert_eq!(inside, [5, 6, 7, 8, 9]);
    }

    #[test]
    fn ranges_may_be_open_or_a_single_seq() {
        assert_eq!("5..".parse(), Ok(SeqRange { first: 5, last: u64::MAX }));
        assert_eq!("..9".parse(), Ok(SeqRange { first: 0, last: 9 }));
        assert_eq!("7".parse(), Ok(SeqRange { first: 7, last: 7 }));
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in ["", "a", "9..5", "1..2..3", "-1", "1...3"] {
            assert_eq!(text.parse::<SeqRange>(), Err(NotARange), "{text:?}");
        }
    }

    #[test]
    fn all_conditions_must_hold_and_any_of_their_values() {
        let mut filter = Filter { keys: vec!["r1".to_owned(), "r0".to_owned()], ..Filter::default() };
        assert!(filter.passes(&entry()));
        filter.phases = vec![Phase::Commit];
        assert!(!filter.passes(&entry()));
    }

    #[test]
    fn an_id_may_be_given_by_how_it_begins() {
        let with = |id: &str| Filter { ids: vec![id.to_owned()], ..Filter::default() };
        assert!(with("node-a").passes(&entry()));
        assert!(with("node-a\u{2026}").passes(&entry()));
        assert!(!with("node-b").passes(&entry()));
    }

    #[test]
    fn an_entry_without_the_value_asked_for_does_not_pass() {
        let filter = Filter { runs: vec!["apply".to_owned()], ..Filter::default() };
        assert!(!filter.passes(&entry()));
    }
}
