//! How often an operation was asked for in a run. The ledger is what all processes share, so it is the ledger that they
//! count by; and only what someone asks for is counted, as most runs need none of it.

use equiform_proto::ledger::{Entry, Operation, Phase};

use super::LedgerFailure;

/// The counts that have been asked for.
#[derive(Default)]
pub struct Tally(Vec<Count>);

/// How often one operation on one key was asked for in one run.
struct Count {
    run: Option<String>,
    op: Operation,
    key: Option<String>,
    calls: u64,
}

impl Count {
    /// Counts an entry in which the operation is asked for: the begin of a change, the only line of a request.
    fn take_in(&mut self, entry: &Entry) {
        let asks = match entry.op {
            Operation::Create | Operation::Update | Operation::Delete => entry.phase == Phase::Begin,
            // What is read as a data source is another operation that only shares the name.
            _ => entry.mode.is_none(),
        };
        if asks && entry.op == self.op && entry.key == self.key && entry.run == self.run {
            self.calls += 1;
        }
    }
}

impl Tally {
    /// Counts the next entry of the ledger.
    pub fn take_in(&mut self, entry: &Entry) {
        for count in &mut self.0 {
            count.take_in(entry);
        }
    }

    /// How often an operation on a key was asked for in a run. `read_all` hands over all entries that the ledger has by
    /// now; it is called where the count was not asked for before.
    pub fn calls(
        &mut self,
        run: Option<&str>,
        op: Operation,
        key: Option<&str>,
        read_all: impl FnOnce(&mut dyn FnMut(&Entry)) -> Result<(), LedgerFailure>,
    ) -> Result<u64, LedgerFailure> {
        let known = self
            .0
            .iter()
            .find(|known| known.op == op && known.key.as_deref() == key && known.run.as_deref() == run);
        if let Some(known) = known {
            return Ok(known.calls);
        }
        let mut count = Count { run: run.map(str::to_owned), op, key: key.map(str::to_owned), calls: 0 };
        read_all(&mut |entry| count.take_in(entry))?;
        let calls = count.calls;
        self.0.push(count);
        Ok(calls)
    }
}
