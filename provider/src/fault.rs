//! Faults on demand. A cloud fails now and then, and what an engine does afterwards has to be tested; so the provider
//! fails exactly those calls that a run's list of faults names, and the ledger says so.

use equiform_proto::faults::{Breach, Call, Fault, FaultAction, FaultOperation, Faults};
use equiform_proto::ledger::Operation;

use crate::diagnostic::Problem;
use crate::ledger::{Calls, LedgerFailure, Transaction};

/// What every diagnostic of a fault says first. Judges know it by this.
pub const SUMMARY: &str = "The mock provider was told to fail this operation";

/// A fault that meets the call at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueFault {
    /// What the provider does.
    pub action: FaultAction,
    /// The fault in words, which the ledger repeats.
    pub text: String,
    detail: String,
}

impl DueFault {
    /// One that a provider block asks for by an object's id.
    pub fn by_id(op: Operation, id: &str) -> Self {
        let text = format!("fail_on_{} = [{id:?}]", op.name());
        let detail = format!("The provider block says so: {text}. Nothing took effect.");
        Self { action: FaultAction::Error, text, detail }
    }

    fn of(fault: &Fault) -> Self {
        let Call { operation, key, nth, .. } = &fault.call;
        let effect = match (fault.action, operation) {
            (FaultAction::Error, _) => "Nothing took effect",
            (FaultAction::ErrorWithPartialObject, FaultOperation::Create) => {
                "The object was created all the same"
            }
            (FaultAction::ErrorWithPartialObject, _) => "Of all changes only that of `label` took effect",
            (FaultAction::Breach(breach), _) if breach.takes_effect() => {
                "It took effect, and the answer is wrong"
            }
            (FaultAction::Breach(_), _) => "Nothing took effect, and the answer is wrong",
        };
        let of = key.as_ref().map(|key| format!(" of {key:?}")).unwrap_or_default();
        let detail = format!(
            "It is the {operation}{of}, call {nth} of this run, as the list of faults says. {effect}. Run the command \
             again to go on, or take it off the list, which is `faults` in the provider block or EQUIFORM_FAULTS."
        );
        Self { action: fault.action, text: fault.to_string(), detail }
    }

    /// How the answer breaks the contract, if it does: then the engine receives no error.
    pub fn breach(&self) -> Option<Breach> {
        self.action.breach()
    }

    /// Whether the operation takes effect, at least in part.
    pub fn takes_effect(&self) -> bool {
        match self.action {
            FaultAction::Error => false,
            FaultAction::ErrorWithPartialObject => true,
            FaultAction::Breach(breach) => breach.takes_effect(),
        }
    }

    /// What the engine is told.
    pub fn problem(&self) -> Problem {
        Problem::new(SUMMARY, self.detail.clone())
    }
}

/// The faults that meet some call of an operation on an object, so that its calls have to be counted.
fn on<'a>(
    faults: &'a Faults,
    operation: FaultOperation,
    type_name: Option<&'a str>,
    key: Option<&'a str>,
) -> impl Iterator<Item = &'a Fault> {
    faults.iter().filter(move |Fault { call, .. }| {
        let of_type = call.type_name.is_none() || call.type_name.as_deref() == type_name;
        // A plan may come before the key is known; no fault can mean it then.
        call.operation == operation && of_type && call.key.as_deref() == key
    })
}

/// The fault in the validation of an object. `count` counts one more, and says which it is.
pub fn in_validation(
    faults: &Faults,
    type_name: &str,
    key: &str,
    count: impl FnOnce() -> u64,
) -> Option<DueFault> {
    let mut met = on(faults, FaultOperation::Validate, Some(type_name), Some(key)).peekable();
    met.peek()?;
    let nth = count();
    met.find(|fault| fault.call.nth == nth).map(DueFault::of)
}

/// The fault in the operation that is about to be written into the ledger. The lock is held until it is, so that two
/// processes never count the same call.
pub fn due(
    faults: &Faults,
    transaction: &mut Transaction<'_>,
    run: Option<&str>,
    op: Operation,
    object: (Option<&str>, Option<&str>),
) -> Result<Option<DueFault>, LedgerFailure> {
    let Some(operation) = FaultOperation::ALL.into_iter().find(|operation| operation.in_ledger() == Some(op))
    else {
        return Ok(None);
    };
    let (type_name, key) = object;
    for fault in on(faults, operation, type_name, key) {
        let calls = Calls {
            run: run.map(str::to_owned),
            op,
            type_name: fault.call.type_name.clone(),
            key: key.map(str::to_owned),
        };
        if transaction.calls(calls)? + 1 == fault.call.nth {
            return Ok(Some(DueFault::of(fault)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Body, Ledger};
    use equiform_proto::ledger::Phase;

    fn fault(operation: FaultOperation, key: Option<&str>, nth: u64) -> Fault {
        let mut fault = Fault::in_first_call(operation, key, FaultAction::Error);
        fault.call.nth = nth;
        fault
    }

    #[test]
    fn a_validation_is_counted_only_if_a_fault_may_meet_it() {
        let faults = Faults::new(vec![fault(FaultOperation::Validate, Some("a"), 2)]).unwrap();
        let due = |key: &str, nth| in_validation(&faults, "mock_node", key, || nth).is_some();
        assert!(!due("a", 1) && due("a", 2) && !due("a", 3));
        assert!(in_validation(&faults, "mock_node", "b", || panic!("no fault is on it")).is_none());
    }

    #[test]
    fn the_problem_names_operation_key_and_call() {
        let problem = |operation, key, nth, action| {
            DueFault::of(&Fault { action, ..fault(operation, key, nth) }).problem()
        };
        let create = problem(FaultOperation::Create, Some("r:1"), 2, FaultAction::Error);
        assert_eq!(create.summary, SUMMARY);
        assert!(create.detail.contains("the create of \"r:1\", call 2 of this run"), "{}", create.detail);
        assert!(create.detail.contains("Nothing took effect."), "{}", create.detail);
        let configure = problem(FaultOperation::Configure, None, 1, FaultAction::Error);
        assert!(configure.detail.contains("the configure, call 1 of this run"));
        let partial =
            |operation| problem(operation, Some("a"), 1, FaultAction::ErrorWithPartialObject).detail;
        assert!(partial(FaultOperation::Create).contains("created all the same"));
        assert!(partial(FaultOperation::Update).contains("only that of `label`"));
    }

    #[test]
    fn a_fault_of_a_type_meets_objects_of_that_type_alone() {
        let mut of_type = fault(FaultOperation::Plan, Some("a"), 1);
        of_type.call.type_name = Some("mock_node".to_owned());
        let faults = Faults::new(vec![of_type]).unwrap();
        let meets = |type_name| on(&faults, FaultOperation::Plan, type_name, Some("a")).next().is_some();
        assert!(meets(Some("mock_node")));
        assert!(!meets(Some("mock_other")) && !meets(None));
    }

    #[test]
    fn calls_are_counted_by_run_operation_and_key_over_all_processes() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("ledger.jsonl");
            // Each opening stands for a process.
            let (one, other) = (Ledger::open(&path).await.unwrap(), Ledger::open(&path).await.unwrap());
            let faults = Faults::new(vec![
                fault(FaultOperation::Create, Some("a"), 3),
                fault(FaultOperation::Plan, Some("a"), 2),
                fault(FaultOperation::Configure, None, 2),
            ]);
            let faults = faults.unwrap();
            let call = async |ledger: &Ledger, run: Option<&str>, op: Operation, key: Option<&str>| {
                let mut transaction = ledger.lock().await.unwrap();
                let due = due(&faults, &mut transaction, run, op, (None, key)).unwrap().is_some();
                let owned = |text: Option<&str>| text.map(str::to_owned);
                let mut body = Body { run: owned(run), key: owned(key), ..Body::default() };
                if op.may_be_single_line() {
                    transaction.append(op, Phase::Commit, body).unwrap();
                } else {
                    body.id = Some("node-1".to_owned());
                    body.begin = Some(transaction.append(op, Phase::Begin, body.clone()).unwrap());
                    transaction.append(op, Phase::Fail, body).unwrap();
                }
                due
            };
            let (create, plan) = (Operation::Create, Operation::Plan);
            assert!(!call(&one, Some("r"), create, Some("a")).await);
            // None of these is a call of it: another key, operation or run.
            assert!(!call(&one, Some("r"), create, Some("b")).await);
            assert!(!call(&one, Some("r"), plan, Some("a")).await);
            assert!(!call(&one, None, create, Some("a")).await);
            assert!(!call(&other, Some("r"), create, Some("a")).await);
            assert!(
                call(&one, Some("r"), create, Some("a")).await,
                "the third, one of them by another process"
            );
            assert!(!call(&other, Some("r"), create, Some("a")).await);
            assert!(call(&other, Some("r"), plan, Some("a")).await);
            assert!(!call(&one, Some("r"), plan, None).await);
            assert!(!call(&one, Some("r"), Operation::Configure, None).await);
            assert!(call(&other, Some("r"), Operation::Configure, None).await);
            let late = Ledger::open(&path).await.unwrap();
            assert!(!call(&late, None, create, Some("a")).await);
            assert!(call(&late, None, create, Some("a")).await, "without a label they are counted as well");
        });
    }
}
