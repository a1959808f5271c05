//! How often an operation was asked for in a run. The ledger is what all processes share, so it is the ledger that they
//! count by. Only calls that a fault may meet are counted, and most runs have none.

use equiform_proto::ledger::{Entry, Operation, Phase};

use super::LedgerFailure;

/// The counts that have been asked for.
#[derive(Default)]
pub struct Tally(Vec<(Calls, u64)>);

/// The calls of one operation on one object in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// The run's label.
    pub run: Option<String>,
    /// The operation.
    pub op: Operation,
    /// The type of the object; none for any.
    pub type_name: Option<String>,
    /// The key of the object.
    pub key: Option<String>,
}

impl Calls {
    fn count(&self, entry: &Entry) -> bool {
        let Self { run, op, type_name, key } = self;
        let asks = match entry.op {
            Operation::Create | Operation::Update | Operation::Delete => entry.phase == Phase::Begin,
            // What is read as a data source is another operation that only shares the name.
            _ => entry.mode.is_none(),
        };
        let of_type = type_name.is_none() || entry.type_name == *type_name;
        asks && of_type && entry.op == *op && entry.key == *key && entry.run == *run
    }
}

impl Tally {
    /// Counts the next entry of the ledger.
    pub fn take_in(&mut self, entry: &Entry) {
        for (calls, count) in &mut self.0 {
            *count += u64::from(calls.count(entry));
        }
    }

    /// How many such calls there were. `read_all` hands over all entries that the ledger has by now; it is called the
    /// first time that these calls are asked for.
    pub fn count(
        &mut self,
        calls: Calls,
        read_all: impl FnOnce(&mut dyn FnMut(&Entry)) -> Result<(), LedgerFailure>,
    ) -> Result<u64, LedgerFailure> {
        if let Some((_, count)) = self.0.iter().find(|(known, _)| *known == calls) {
            return Ok(*count);
        }
        let mut count = 0;
        read_all(&mut |entry| count += u64::from(calls.count(entry)))?;
        self.0.push((calls, count));
        Ok(count)
    }
}
