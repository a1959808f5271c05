//! Requests that change nothing, written down all the same: what an engine asks for shows what it believes.

use equiform_proto::faults::Breach;
use equiform_proto::ledger::{Digest, Operation, Phase};

use crate::diagnostic::Problem;
use crate::ledger::{Body, Ledger, LedgerFailure};
use crate::resource::apply::Caller;

/// Writes a request that changes nothing into the ledger, with what came of it, before its answer leaves. Here it fails
/// if a fault meets it.
pub(super) async fn noted<T>(
    ledger: &Ledger,
    caller: &Caller,
    op: Operation,
    body: Body,
    result: Result<T, Problem>,
    returned: impl FnOnce(&T) -> Option<Digest>,
) -> Result<T, Problem> {
    let (result, _) = noted_with_breach(ledger, caller, op, body, result, returned).await?;
    Ok(result)
}

/// The same, and how the answer has to break the contract, if a fault says so.
pub(super) async fn noted_with_breach<T>(
    ledger: &Ledger,
    caller: &Caller,
    op: Operation,
    mut body: Body,
    result: Result<T, Problem>,
    returned: impl FnOnce(&T) -> Option<Digest>,
) -> Result<(T, Option<Breach>), Problem> {
    ledger.wire().touch();
    let note = async {
        let mut transaction = ledger.lock().await?;
        // Data sources share the word for reading, and no fault is meant for them.
        let fault = match body.mode {
            None => caller.fault_due(&mut transaction, op, &body)?,
            Some(_) => None,
        };
        let result = match (result, fault) {
            (Ok(value), Some(fault)) => {
                body.fault = Some(fault.text.clone());
                body.sent.planned = None;
                match fault.breach() {
                    Some(breach) => Ok((value, Some(breach))),
                    None => Err(fault.problem()),
                }
            }
            // What fails by itself needs no telling.
            (result, _) => result.map(|value| (value, None)),
        };
        let phase = match &result {
            Ok((value, _)) => {
                body.returned = returned(value);
                Phase::Commit
            }
            Err(problem) => {
                body.error = Some(problem.summary.clone());
                Phase::Fail
            }
        };
        transaction.append(op, phase, body)?;
        Ok::<_, LedgerFailure>(result)
    };
    tokio::select! {
        biased;
        noted = note => noted?,
        // The ledger may be locked by another; a stop does not wait for that.
        () = caller.stopped.cancelled() => Err(Problem::stopped()),
    }
}
