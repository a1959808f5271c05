//! How often an operation was asked for in a run. The ledger is what all processes share, so it is the ledger that they
//! count by; and only what someone asks for is counted, as most runs need none of it.

use equiform_proto::ledger::{Digest, Entry, Operation, Phase};

use super::LedgerFailure;

/// The counts that have been asked for.
#[derive(Default)]
pub struct Tally(Vec<(Question, u64)>);

/// What is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// How often one operation on one key was asked for in one run.
    Calls {
        /// The run's label.
        run: Option<String>,
        /// The operation.
        op: Operation,
        /// The key.
        key: Option<String>,
    },
    /// How many objects of a type were begun to be created from the same plan.
    Creations {
        /// The type.
        type_name: String,
        /// The plan.
        planned: Digest,
    },
    /// How often an object was read.
    Reads {
        /// Its id.
        id: String,
    },
}

impl Question {
    fn counts(&self, entry: &Entry) -> bool {
        match self {
            Self::Calls { run, op, key } => {
                let asks = match entry.op {
                    Operation::Create | Operation::Update | Operation::Delete => entry.phase == Phase::Begin,
                    // What is read as a data source is another operation that only shares the name.
                    _ => entry.mode.is_none(),
                };
                asks && entry.op == *op && entry.key == *key && entry.run == *run
            }
            Self::Creations { type_name, planned } => {
                entry.op == Operation::Create
                    && entry.phase == Phase::Begin
                    && entry.type_name.as_ref() == Some(type_name)
                    && entry.planned == Some(*planned)
            }
            Self::Reads { id } => {
                entry.op == Operation::Read && entry.mode.is_none() && entry.id.as_ref() == Some(id)
            }
        }
    }
}

impl Tally {
    /// Counts the next entry of the ledger.
    pub fn take_in(&mut self, entry: &Entry) {
        for (question, count) in &mut self.0 {
            *count += u64::from(question.counts(entry));
        }
    }

    /// The answer to a question. `read_all` hands over all entries that the ledger has by now; it is called where the
    /// question was not asked before.
    pub fn count(
        &mut self,
        question: Question,
        read_all: impl FnOnce(&mut dyn FnMut(&Entry)) -> Result<(), LedgerFailure>,
    ) -> Result<u64, LedgerFailure> {
        if let Some((_, count)) = self.0.iter().find(|(known, _)| *known == question) {
            return Ok(*count);
        }
        let mut count = 0;
        read_all(&mut |entry| count += u64::from(question.counts(entry)))?;
        self.0.push((question, count));
        Ok(count)
    }
}
