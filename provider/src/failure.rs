//! Failures on demand. A cloud fails now and then, and what an engine does afterwards has to be tested; so the provider
//! fails exactly those operations that it is told to, and the ledger says that it was told.

use std::fmt;
use std::str::FromStr;

use equiform_proto::ledger::Operation;

use crate::diagnostic::Problem;
use crate::ledger::{LedgerFailure, Transaction};

/// What every diagnostic of a failure on demand says first. Judges know it by this.
pub const SUMMARY: &str = "The mock provider was told to fail this operation";

/// Stands for the key where an operation has none.
const NO_KEY: &str = "-";

/// What can be told to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// An operation that leaves entries in the ledger.
    Ledgered(Operation),
    /// The check of a configuration, which comes before there is a ledger.
    Validate,
}

impl Target {
    const ALL: [Self; 7] = [
        Self::Ledgered(Operation::Create),
        Self::Ledgered(Operation::Update),
        Self::Ledgered(Operation::Delete),
        Self::Ledgered(Operation::Read),
        Self::Ledgered(Operation::Plan),
        Self::Validate,
        Self::Ledgered(Operation::Configure),
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Ledgered(op) => op.name(),
            Self::Validate => "validate",
        }
    }

    fn can_be_partial(self) -> bool {
        matches!(self, Self::Ledgered(Operation::Create | Operation::Update))
    }
}

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Nothing takes effect.
    Error,
    /// A part takes effect: a created object is there, an updated one has its new label and nothing else that is new.
    Partial,
}

/// One operation that is to fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    target: Target,
    /// The object's key, or [`NO_KEY`].
    key: String,
    /// Which call of the operation on the key within the run, counted from 1.
    nth: u64,
    /// How it fails.
    pub how: How,
    /// The item as the list has it, which the ledger repeats.
    pub text: String,
}

impl Failure {
    /// One that a provider block asks for by an object's id.
    pub fn by_id(op: Operation, id: &str) -> Self {
        let text = format!("fail_on_{} = [{id:?}]", op.name());
        Self { target: Target::Ledgered(op), key: id.to_owned(), nth: 0, how: How::Error, text }
    }

    /// What the engine is told.
    pub fn problem(&self) -> Problem {
        if self.nth == 0 {
            let detail = format!("The provider block says so: {}. Nothing took effect.", self.text);
            return Problem::new(SUMMARY, detail);
        }
        let effect = match (self.how, self.target) {
            (How::Error, _) => "Nothing took effect",
            (How::Partial, Target::Ledgered(Operation::Create)) => "The object was created all the same",
            (How::Partial, _) => "Of all changes only that of `label` took effect",
        };
        let of = if self.key == NO_KEY { String::new() } else { format!(" of {:?}", self.key) };
        Problem::new(
            SUMMARY,
            format!(
                "It is the {}{of}, call {} of this run, as the list of failures says: {}. {effect}. Run the command \
                 again to go on, or take it off the list, which is `failures` in the provider block or \
                 EQUIFORM_FAILURES.",
                self.target.name(),
                self.nth,
                self.text
            ),
        )
    }
}

/// The operations that are to fail in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failures(Vec<Failure>);

impl Failures {
    /// Whether nothing is to fail.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether some call of the operation on the key is to fail, so that its calls have to be counted.
    pub fn concern(&self, target: Target, key: &str) -> bool {
        self.0.iter().any(|failure| failure.target == target && failure.key == key)
    }

    /// The failure that is due in this call.
    pub fn in_call(&self, target: Target, key: &str, nth: u64) -> Option<&Failure> {
        self.0.iter().find(|failure| failure.target == target && failure.key == key && failure.nth == nth)
    }

    /// The failure that is due in the operation that is about to be written into the ledger. The lock is held until it
    /// is, so that two processes never count the same call.
    pub fn due(
        &self,
        transaction: &mut Transaction<'_>,
        run: Option<&str>,
        op: Operation,
        key: Option<&str>,
    ) -> Result<Option<&Failure>, LedgerFailure> {
        let target = Target::Ledgered(op);
        let name = match op {
            Operation::Configure => NO_KEY,
            // A plan may come before the key is known; nobody can mean it then.
            _ => key.unwrap_or_default(),
        };
        if !self.concern(target, name) {
            return Ok(None);
        }
        let nth = transaction.calls(run, op, key)? + 1;
        Ok(self.in_call(target, name, nth))
    }
}

/// A text that is no list of failures.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{item:?} is no failure: {why}. A list of failures is OPERATION:KEY:NTH:HOW, with commas between several, such \
     as create:r1:1:error,update:x0:2:partial. HOW is error or partial; in KEY `:`, `,` and `%` are written as %3A, \
     %2C and %25"
)]
pub struct BadList {
    item: String,
    why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Parts,
    Operation,
    Escape,
    EmptyKey,
    KeyOfConfigure,
    Nth,
    How,
    Partial,
    Twice,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parts => f.write_str("it has not four parts"),
            Self::Operation => {
                f.write_str("OPERATION is one of ")?;
                f.write_str(&Target::ALL.map(Target::name).join(", "))
            }
            Self::Escape => f.write_str("a % in KEY is followed by two hexadecimal digits, and KEY is UTF-8"),
            Self::EmptyKey => f.write_str("KEY is empty, and no node has such a key"),
            Self::KeyOfConfigure => f.write_str("the KEY of configure is -"),
            Self::Nth => f.write_str("NTH is a number, counted from 1"),
            Self::How => f.write_str("HOW is error or partial"),
            Self::Partial => {
                f.write_str("only create and update can take effect in part, all else fails by error")
            }
            Self::Twice => f.write_str("the same call is on the list twice"),
        }
    }
}

impl FromStr for Failures {
    type Err = BadList;

    fn from_str(list: &str) -> Result<Self, BadList> {
        let mut failures = Self::default();
        if list.is_empty() {
            return Ok(failures);
        }
        for item in list.split(',') {
            let refused = |why| BadList { item: item.to_owned(), why };
            let failure = Failure::read(item).map_err(refused)?;
            let Failure { target, key, nth, .. } = &failure;
            if failures.in_call(*target, key, *nth).is_some() {
                return Err(refused(Why::Twice));
            }
            failures.0.push(failure);
        }
        Ok(failures)
    }
}

impl Failure {
    fn read(item: &str) -> Result<Self, Why> {
        let parts: Vec<&str> = item.split(':').collect();
        let [operation, key, nth, how] = parts[..] else { return Err(Why::Parts) };
        let target =
            Target::ALL.into_iter().find(|target| target.name() == operation).ok_or(Why::Operation)?;
        let key = decoded(key).ok_or(Why::Escape)?;
        if key.is_empty() {
            return Err(Why::EmptyKey);
        }
        if target == Target::Ledgered(Operation::Configure) && key != NO_KEY {
            return Err(Why::KeyOfConfigure);
        }
        let digits = nth.bytes().all(|byte| byte.is_ascii_digit());
        let nth = nth.parse().ok().filter(|nth| digits && *nth > 0).ok_or(Why::Nth)?;
        let how = match how {
            "error" => How::Error,
            "partial" if target.can_be_partial() => How::Partial,
            "partial" => return Err(Why::Partial),
            _ => return Err(Why::How),
        };
        Ok(Self { target, key, nth, how, text: item.to_owned() })
    }
}

/// The key that is meant by its percent-encoded form.
fn decoded(key: &str) -> Option<String> {
    let mut pieces = key.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        let digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(digits)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Body, Ledger};
    use equiform_proto::ledger::Phase;

    fn list(text: &str) -> Failures {
        text.parse().unwrap()
    }

    #[test]
    fn a_list_names_operation_key_call_and_how() {
        let failures = list("create:r1:1:error,update:x0:2:partial,configure:-:1:error,validate:-:3:error");
        let create = failures.in_call(Target::Ledgered(Operation::Create), "r1", 1).unwrap();
        assert_eq!((create.how, create.text.as_str()), (How::Error, "create:r1:1:error"));
        let update = failures.in_call(Target::Ledgered(Operation::Update), "x0", 2).unwrap();
        assert_eq!(update.how, How::Partial);
        assert!(failures.in_call(Target::Ledgered(Operation::Update), "x0", 1).is_none());
        assert!(failures.concern(Target::Ledgered(Operation::Update), "x0"));
        assert!(!failures.concern(Target::Ledgered(Operation::Delete), "x0"));
        assert!(failures.in_call(Target::Validate, "-", 3).is_some(), "a node may have this key");
        assert!(list("").is_empty());
    }

    #[test]
    fn a_key_may_hold_whatever_a_node_key_may() {
        for (written, key) in
            [("a%3Ab%2Cc%25d", "a:b,c%d"), ("%3a%3A", "::"), ("a b=\"ü\"", "a b=\"ü\""), ("%C3%BC%0A", "ü\n")]
        {
            let failures = list(&format!("delete:{written}:1:error"));
            assert!(failures.in_call(Target::Ledgered(Operation::Delete), key, 1).is_some(), "{written}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused_with_a_sentence() {
        for (text, why) in [
            ("create", "it has not four parts"),
            ("create:a:b:1:error", "it has not four parts"),
            ("create:a:1:error,", "it has not four parts"),
            (
                "import:a:1:error",
                "OPERATION is one of create, update, delete, read, plan, validate, configure",
            ),
            ("Create:a:1:error", "OPERATION is one of"),
            ("create::1:error", "KEY is empty"),
            ("create:%:1:error", "a % in KEY is followed by two hexadecimal digits"),
            ("create:%+1:1:error", "a % in KEY is followed by two hexadecimal digits"),
            ("create:%aü:1:error", "a % in KEY is followed by two hexadecimal digits"),
            ("create:%ff:1:error", "KEY is UTF-8"),
            ("configure:a:1:error", "the KEY of configure is -"),
            ("create:a:0:error", "NTH is a number, counted from 1"),
            ("create:a:+1:error", "NTH is a number, counted from 1"),
            ("create:a::error", "NTH is a number, counted from 1"),
            ("create:a:1:panic", "HOW is error or partial"),
            ("delete:a:1:partial", "only create and update can take effect in part"),
            ("read:a:1:partial", "only create and update can take effect in part"),
            ("plan:a:1:partial", "only create and update can take effect in part"),
            ("validate:a:1:partial", "only create and update can take effect in part"),
            ("configure:-:1:partial", "only create and update can take effect in part"),
            ("create:a:1:error,create:a:1:partial", "the same call is on the list twice"),
        ] {
            let said = text.parse::<Failures>().unwrap_err().to_string();
            assert!(said.contains(why), "{text}: {said}");
            assert!(said.contains("OPERATION:KEY:NTH:HOW"), "{said}");
        }
    }

    #[test]
    fn the_problem_names_operation_key_and_call() {
        let problem = |text: &str| Failure::read(text).unwrap().problem();
        assert_eq!(problem("create:r1:2:error").summary, SUMMARY);
        let detail = problem("create:r%3A1:2:error").detail;
        assert!(detail.contains("the create of \"r:1\", call 2 of this run"), "{detail}");
        assert!(detail.contains("create:r%3A1:2:error. Nothing took effect."), "{detail}");
        assert!(problem("configure:-:1:error").detail.contains("the configure, call 1 of this run"));
        assert!(problem("create:a:1:partial").detail.contains("created all the same"));
        assert!(problem("update:a:1:partial").detail.contains("only that of `label`"));
    }

    #[test]
    fn calls_are_counted_by_run_operation_and_key_over_all_processes() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("ledger.jsonl");
            // Each opening stands for a process.
            let (one, other) = (Ledger::open(&path).await.unwrap(), Ledger::open(&path).await.unwrap());
            let failures = list("create:a:3:error,plan:a:2:error,configure:-:2:error");
            let call = async |ledger: &Ledger, run: Option<&str>, op: Operation, key: Option<&str>| {
                let mut transaction = ledger.lock().await.unwrap();
                let due = failures.due(&mut transaction, run, op, key).unwrap().is_some();
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
