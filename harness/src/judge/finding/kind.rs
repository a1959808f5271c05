//! What can be found, by whom: a closed list with stable names. Files and options use these names, so a name stays as
//! it is even where the sentences that are made of a finding change.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::evidence::Limited;
use crate::spec::Rule;

/// Declares the oracles, and the kinds of findings of each, with a sentence about each kind.
macro_rules! kinds {
    ($($oracle:ident $oracle_name:literal { $($kind:ident $name:literal $about:literal)+ })+) => {
        /// Who saw something. All but the last two are entries of [`ORACLES`](crate::judge::oracles::ORACLES).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum OracleId {
            $(#[doc = concat!("`", $oracle_name, "`")] $oracle,)+
        }

        impl OracleId {
            /// All there are.
            pub const ALL: &[Self] = &[$(Self::$oracle),+];

            /// Its name, as files and options have it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$oracle => $oracle_name),+ }
            }
        }

        /// What went wrong. Each kind belongs to one oracle.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum FindingKind {
            $($(#[doc = $about] $kind,)+)+
        }

        impl FindingKind {
            /// All there are.
            pub const ALL: &[Self] = &[$($(Self::$kind),+),+];

            /// Its name, as files and options have it.
            pub fn name(self) -> &'static str {
                match self { $($(Self::$kind => $name),+),+ }
            }

            /// What it means, in a sentence.
            pub fn about(self) -> &'static str {
                match self { $($(Self::$kind => $about),+),+ }
            }

            /// The oracle that it belongs to.
            pub fn oracle(self) -> OracleId {
                match self { $($(Self::$kind)|+ => OracleId::$oracle),+ }
            }
        }
    };
}

kinds! {
    Graph "graph" {
        GraphDiffers "graph-differs" "the deployed graph is not the source's"
    }
    Attributes "attributes" {
        ObjectMissing "object-missing" "an object of the program is not there"
        ObjectUnexpected "object-unexpected" "an object is there that the program does not have"
        AttributeDiffers "attribute-differs" "an object has another value than the program gives it"
        SeveralObjects "several-objects" "a resource has more objects than it should"
    }
    Steps "steps" {
        OperationWithoutEffect "operation-without-effect" "an operation begins and has no effect"
        OperationMissing "operation-missing" "an operation that the change asks for is not done"
        OperationRepeated "operation-repeated" "an operation is done more than once"
        OperationExtra "operation-extra" "an operation is done that nothing asks for"
    }
    Order "order" {
        OrderViolated "order-violated" "an operation begins before one has ended that it has to wait for"
        ReplacementOverlaps "replacement-overlaps" "a replacement creates and deletes at once"
        TooManyAtOnce "too-many-at-once" "more operations are under way at once than may be"
    }
    Requests "requests" {
        RequestRefused "request-refused" "the provider refuses a request"
        GoneObjectRequested "gone-object-requested" "a request is about an object that is not there"
        StaleObjectSent "stale-object-sent" "a request carries an object as it no longer is"
        ChangeNotAsPlanned "change-not-as-planned" "a change is not the one that was planned"
        ConfigurationNotAsPlanned "configuration-not-as-planned" "a change has another configuration than its plan"
        ChangedBeforeRead "changed-before-read" "an object is changed before it is read"
        ObjectNotRead "object-not-read" "an object is never read"
        RefusedCommandAsks "refused-command-asks" "a command that has to be refused asks the provider about objects"
        UnwantedRead "unwanted-read" "objects are read by a command that is to read none"
        ResourceNotPlanned "resource-not-planned" "a resource of the program is never planned"
        PlannedBeforeRead "planned-before-read" "an object is planned before it is read"
        UnreachedRequest "unreached-request" "a request is about a resource that no target reaches"
        TooManyCalls "too-many-calls" "a command calls the provider more often than it needs"
        ResourceNotValidated "resource-not-validated" "the provider is not asked to validate a resource of the program"
        ChangeWithoutLock "change-without-lock" "an object is asked about while the state is not locked"
        TooManyCallsAtOnce "too-many-calls-at-once" "more calls are under way at once than may be"
    }
    Plan "plan" {
        SeveralPlans "several-plans" "one command makes several plans"
        SavedPlanMadeAgain "saved-plan-made-again" "the apply of a saved plan makes another plan"
        ChangesDenied "changes-denied" "the exit code of a plan says that nothing changes, and something does"
        ChangesClaimed "changes-claimed" "the exit code of a plan says that something changes, and nothing does"
        PlanDiffersFromModel "plan-differs-from-model" "the plan announces other changes than the model expects"
        PlanDiffersFromDone "plan-differs-from-done" "the plan announces other changes than are made"
        Miscount "miscount" "a summary counts other changes than there are"
        SummaryMissing "summary-missing" "a command does not print a summary that it has to print"
        SummaryExtra "summary-extra" "a command prints a summary too many"
        ChangeUnasked "change-unasked" "the engine announces a move, an import or the like that nobody asked for"
        ReasonDiffers "reason-differs" "a change is announced for another reason than there is"
        DriftMisreported "drift-misreported" "the engine reports another drift than there is"
        OutputMisreported "output-misreported" "an output is reported with another value than is stored"
        OutputsUnreported "outputs-unreported" "the outputs are not reported"
        OutputPlanDiffers "output-plan-differs" "the plan announces other changes of outputs than are made"
    }
    Progress "progress" {
        UndoneOperationReported "undone-operation-reported" "a message reports an operation that is not done"
        FailureUnreported "failure-unreported" "no message tells that an operation failed"
        OperationUnreported "operation-unreported" "no message reports an operation"
        ReadUnreported "read-unreported" "no message reports that an object is read"
        UnreadReported "unread-reported" "a message reports that an object is read, and it is not"
        IntroductionDiffers "introduction-differs" "the engine introduces itself as another one, or not at all"
        MessageUnexpected "message-unexpected" "a message is of a kind that nothing gives a reason for"
        MessageContradictory "message-contradictory" "a message contradicts itself or the program"
        MessageRepeated "message-repeated" "a message is printed more often than it should be"
        MessageOutOfOrder "message-out-of-order" "a message comes before one that it has to follow"
    }
    State "state" {
        SettingRewritten "setting-rewritten" "a command that changes nothing rewrites a setting in the state"
        StateChanged "state-changed" "a command that changes nothing changes the state"
        LineageChanged "lineage-changed" "the state has another lineage than before"
        SerialWentBack "serial-went-back" "the state has an older serial than before"
        SerialNotRaised "serial-not-raised" "the state has changed, and has the same serial"
        SerialJumped "serial-jumped" "the serial of the state advances by more than was written"
        FieldDiffers "field-differs" "a field of the state has another value than the only one that it can have"
        FieldUnknown "field-unknown" "the state has a field that no engine writes"
        ResourceEmpty "resource-empty" "the state has a resource without objects"
        ResourceTwice "resource-twice" "a resource, an instance or an old object is more than once in the state"
        BackupMissing "backup-missing" "there is no backup of the state before the command"
        BackupDiffers "backup-differs" "the backup is not the state before the command that changed it last"
        StateMissing "state-missing" "there are objects or was a state, and there is no state"
        StoredTwice "stored-twice" "an object is more than once in the state"
        OldObjectLeft "old-object-left" "an old object waits in the state for its deletion"
        MarkDiffers "mark-differs" "the state marks another object as one to be replaced"
        GhostObject "ghost-object" "the state has an object that is not in the world"
        StoredAttributesDiffer "stored-attributes-differ" "the state has other attributes of an object than the world"
        StoredAddressDiffers "stored-address-differs" "the state has an object at the address of another resource"
        IdentityMissing "identity-missing" "the state lacks the identity of an object"
        IdentityDiffers "identity-differs" "the state has another identity of an object"
        DependenciesDiffer "dependencies-differ" "the state has other dependencies of an object than the program"
        SettingDiffers "setting-differs" "the state has another create_before_destroy of an object than the program"
        MemoryChanged "memory-changed" "a command changes the state of an object that it does not reach"
        OrphanObject "orphan-object" "the world has an object that is not in the state"
        StoredOutputsDiffer "stored-outputs-differ" "the state has another value of an output than the world gives it"
    }
    Conservation "conservation" {
        DeletedTwice "deleted-twice" "an object is deleted that is gone already"
        ObjectLost "object-lost" "an object is left that the engine does not know of"
    }
    Idle "idle" {
        IdlePlansChange "idle-plans-change" "the same program once more has changes to plan"
        IdleChangesWorld "idle-changes-world" "the same program once more changes something"
    }
    Cross "cross" {
        CrossPlansChange "cross-plans-change" "a program of the same meaning has changes to plan"
    }
    Repeat "repeat" {
        RepetitionEndsDifferently "repetition-ends-differently" "the same step from the same start ends differently"
        RepetitionDiffers "repetition-differs" "the same step from the same start does other operations"
        RepetitionWorldDiffers "repetition-world-differs" "the same operations from the same start make another world"
    }
    Queries "queries" {
        AnswerUnreadable "answer-unreadable" "the answer to a query cannot be read"
        AnswerLacksObject "answer-lacks-object" "the answer to a query lacks an object"
        AnswerHasExtraObject "answer-has-extra-object" "the answer to a query has an object too many"
        AnsweredObjectDiffers "answered-object-differs" "an object is shown with other attributes than it has"
        AnsweredOutputDiffers "answered-output-differs" "an output is shown with another value than it has"
        AnsweredPlanDiffers "answered-plan-differs" "a saved plan is shown with other changes than expected"
        AnsweredPlanValueDiffers "answered-plan-value-differs" "a saved plan is shown with another value than it has"
        AnsweredPlanContradictory "answered-plan-contradictory" "a saved plan is shown that contradicts itself"
        AnsweredProgramDiffers "answered-program-differs" "a saved plan is shown with another program than it has"
        StateCopyDiffers "state-copy-differs" "a copy of the state is not the state"
        AnsweredProvidersDiffer "answered-providers-differ" "other providers are shown than are needed"
        ValidCalledInvalid "valid-called-invalid" "a valid program is called invalid"
        AnswerLacksDependency "answer-lacks-dependency" "the graph lacks a dependency of the program"
        AnswerHasExtraDependency "answer-has-extra-dependency" "the graph has a dependency that the program lacks"
    }
    Destroy "destroy" {
        ObjectsLeft "objects-left" "objects are left after a destroy"
        StateLeft "state-left" "the state is not empty after a destroy"
        OutputsLeft "outputs-left" "the state has outputs after a destroy"
    }
    Health "health" {
        Hang "hang" "the command does not end"
        ExcessiveFile "excessive-file" "the command writes a file that is too large"
        ExcessiveMemory "excessive-memory" "the command takes too much memory"
        ExcessiveProcesses "excessive-processes" "the command runs too many processes and threads"
        FailureSwallowed "failure-swallowed" "the command succeeds although the provider failed an operation"
        InvalidAccepted "invalid-accepted" "the command succeeds although it has to be refused"
        BreachAccepted "breach-accepted" "the command succeeds although the provider broke its contract"
        WrongResourceBlamed "wrong-resource-blamed" "the command blames the provider for another resource"
        Crash "crash" "the command crashes"
        ReportsCycle "reports-cycle" "the command reports a cycle"
        ReportsInconsistency "reports-inconsistency" "the command finds a plan or a result inconsistent"
        BreaksProtocol "breaks-protocol" "the command breaks the plugin protocol"
        ReportsOwnBug "reports-own-bug" "the engine says that it has a bug"
        Failure "failure" "the command fails"
        MissingObjectMarked "missing-object-marked" "the command marks an object that is not there"
        ReportsError "reports-error" "the command succeeds and reports an error"
        StateUnreadable "state-unreadable" "the command writes a state that cannot be read"
        StrayOutput "stray-output" "the command prints a line that is no message"
        StderrOutput "stderr-output" "the command prints on standard error"
        DoesNotWait "does-not-wait" "the command ends before its operations do"
        LockLeft "lock-left" "the command leaves the state locked"
        LockBroken "lock-broken" "the command removes the lock that another command holds"
        ProcessesLeft "processes-left" "the command leaves processes running"
        ProviderKilled "provider-killed" "the command kills the provider"
        FileLeft "file-left" "the command leaves a file that no sound engine leaves"
        ProgramChanged "program-changed" "the command changes or removes a file of the program"
        SavedPlanChanged "saved-plan-changed" "the command changes or removes a saved plan"
        ChangedLate "changed-late" "a file changes after the command has ended"
        FileModeDiffers "file-mode-differs" "the command leaves a file with a mode that it must not have"
        WarningMissing "warning-missing" "the command does not warn"
        WarningUnfounded "warning-unfounded" "the command warns for nothing"
        WarningUnexpected "warning-unexpected" "the command warns of something that nothing gives a reason for"
        ErrorMisattributed "error-misattributed" "an error is about something else than what caused it"
        ErrorMissing "error-missing" "an operation fails, and no error says so"
        Panic "panic" "the engine prints that it panics"
        BlamesProvider "blames-provider" "the engine blames the provider"
    }
    Evidence "evidence" {
        EvidenceUnreadable "evidence-unreadable" "the evidence cannot be read to its end"
    }
    Variants "variants" {
        WorldDiffers "world-differs" "the variant ends in another world than most of its case"
    }
}

impl Display for OracleId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Display for FindingKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FindingKind {
    /// The kind that an exceeded limit is.
    pub fn of_excess(limited: Limited) -> Self {
        match limited {
            Limited::FileSize => Self::ExcessiveFile,
            Limited::Memory => Self::ExcessiveMemory,
            Limited::Tasks => Self::ExcessiveProcesses,
        }
    }

    /// Whether it says how a command ended, which comes before all that the command did or left.
    pub fn is_an_end(self) -> bool {
        matches!(
            self,
            Self::Crash
                | Self::Panic
                | Self::ReportsCycle
                | Self::Hang
                | Self::ProviderKilled
                | Self::ExcessiveFile
                | Self::ExcessiveMemory
                | Self::ExcessiveProcesses
                | Self::ReportsInconsistency
                | Self::BreaksProtocol
                | Self::ReportsOwnBug
                | Self::Failure
                | Self::InvalidAccepted
                | Self::FailureSwallowed
                | Self::BreachAccepted
                | Self::WrongResourceBlamed
                | Self::ReportsError
        )
    }
}

/// By what findings are grouped and recognised: the kind, with its oracle, and the rule of the model if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature {
    /// The kind.
    pub kind: FindingKind,
    /// The rule.
    pub rule: Option<Rule>,
}

impl From<FindingKind> for Signature {
    fn from(kind: FindingKind) -> Self {
        Self { kind, rule: None }
    }
}

impl Signature {
    /// The oracle.
    pub fn oracle(self) -> OracleId {
        self.kind.oracle()
    }

    /// The kind, and the rule if it is about one: `order-violated (delete-then-create)`.
    pub fn what(self) -> String {
        match self.rule {
            None => self.kind.name().to_owned(),
            Some(rule) => format!("{} ({})", self.kind, rule.name()),
        }
    }

    /// The names that it is made of.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        [self.oracle().name(), self.kind.name()].into_iter().chain(self.rule.map(Rule::name))
    }
}

impl Display for Signature {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.oracle(), self.what())
    }
}

/// A signature as files have it: the oracle is written too, for those who read it, and has to be the kind's.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    oracle: OracleId,
    kind: FindingKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule: Option<Rule>,
}

impl Serialize for Signature {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written { oracle: self.oracle(), kind: self.kind, rule: self.rule }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { oracle, kind, rule } = Written::deserialize(deserializer)?;
        check_oracle(oracle, kind).map_err(serde::de::Error::custom)?;
        Ok(Self { kind, rule })
    }
}

/// Checks that a kind is one of an oracle's.
pub(in crate::judge) fn check_oracle(oracle: OracleId, kind: FindingKind) -> Result<(), String> {
    if kind.oracle() == oracle {
        return Ok(());
    }
    Err(format!("`{kind}` is a kind of finding of the oracle `{}`, not of `{oracle}`", kind.oracle()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_oracle_and_every_kind_has_a_name_of_its_own_by_which_it_is_stored() {
        let names: BTreeSet<&str> = FindingKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), FindingKind::ALL.len());
        for kind in FindingKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(serde_json::from_value::<FindingKind>(kind.name().into()).unwrap(), *kind);
        }
        for oracle in OracleId::ALL {
            assert_eq!(serde_json::to_value(oracle).unwrap(), oracle.name());
        }
    }

    #[test]
    fn a_signature_is_stored_by_stable_names_and_read_back() {
        let signature = Signature { kind: FindingKind::OrderViolated, rule: Some(Rule::DeleteThenCreate) };
        let json = r#"{"oracle":"order","kind":"order-violated","rule":"delete-then-create"}"#;
        assert_eq!(serde_json::to_string(&signature).unwrap(), json);
        assert_eq!(serde_json::from_str::<Signature>(json).unwrap(), signature);
        assert_eq!(signature.to_string(), "order: order-violated (delete-then-create)");
        let wrong = serde_json::from_str::<Signature>(&json.replace("\"order\"", "\"steps\"")).unwrap_err();
        assert!(wrong.to_string().contains("finding of the oracle `order`"), "{wrong}");
    }

    #[test]
    fn the_page_of_the_oracles_has_every_kind() {
        let page =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/oracles.md")).unwrap();
        for kind in FindingKind::ALL {
            let row = format!("| `{}` | `{kind}` | {} |", kind.oracle(), kind.about());
            assert!(page.contains(&row), "docs/oracles.md lacks {row}");
        }
    }
}
