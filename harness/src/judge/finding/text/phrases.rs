//! The phrases that sentences about findings are made of.

use std::fmt::Debug;

use crate::evidence::{EngineError, MessageProblem, PlannedReason, Refusal, StateChange, Warning};
use crate::judge::finding::detail::{ChangeAt, CommandEnd, Counts};
use crate::spec::ResourceOperation;

/// How a command ended.
pub fn ended(command: &str, end: &CommandEnd, errors: &[EngineError]) -> String {
    match end {
        CommandEnd::TimedOut => format!("{command} did not end"),
        CommandEnd::Exceeded { excess } => format!("{command} was ended: {excess}"),
        CommandEnd::ProviderKilled { signal } => {
            format!("the provider was killed by signal {signal} while only {command} was under way, twice")
        }
        CommandEnd::Exit { code } => format!("{command} ended with exit code {code}: {}", listed(errors)),
        CommandEnd::Signal => format!("{command} ended with a signal: {}", listed(errors)),
        CommandEnd::Success { refusal } => match refusal {
            None => format!("{command} succeeded"),
            Some(refusal) => format!("{command} succeeded: {}", reason(*refusal)),
        },
    }
}

pub fn listed(errors: &[EngineError]) -> String {
    errors.iter().map(|error| error.text.as_str()).collect::<Vec<_>>().join("; ")
}

/// Why an engine has to refuse a command.
pub fn reason(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Cycle => "the program has a cycle",
        Refusal::Dangling => "the program refers to a resource that it does not have",
        Refusal::SelfReference => "a resource refers to itself",
        Refusal::UnknownArgument => "a resource has an argument that nobody knows",
        Refusal::MissingArgument => "a resource lacks an argument",
        Refusal::WrongType => "an argument has a value of another type",
        Refusal::Twice => "a resource is written twice",
        Refusal::EmptyKey => "the provider refuses what is written",
        Refusal::PreventDestroy => "an object would have gone that has prevent_destroy",
        Refusal::StalePlan => "the saved plan is stale",
        Refusal::Locked => "another command holds the lock on the state",
        Refusal::Provider => "the provider failed an operation",
        Refusal::InvalidPlan => "the provider planned what it must not",
        Refusal::InconsistentResult => "the result is not what the provider planned",
        Refusal::InvalidResult => "the provider's result is none that the operation can have",
        Refusal::WrongAnswer => "the provider answered with a value of another type",
    }
}

/// Of what an engine warns.
pub fn warned_of(warning: Warning) -> &'static str {
    match warning {
        Warning::Targeted => "the plan is about a part of the program only",
        Warning::MayBeIncomplete => "only a part of the program may have been applied",
    }
}

pub fn state_change(change: &StateChange) -> String {
    match change {
        StateChange::CameOrWent => "the state file came or went".to_owned(),
        StateChange::NotAState => "the state file was another one, and one of the two is no state".to_owned(),
        StateChange::Rewritten => "the state file was written anew".to_owned(),
        StateChange::At { path } => format!("the state file differs at {path}"),
    }
}

/// Texts as a set: `{"a", "b"}`.
pub fn set<T: Debug>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("{item:?}")).collect();
    format!("{{{}}}", items.join(", "))
}

pub fn changes(changes: &[ChangeAt]) -> String {
    let changes: Vec<String> =
        changes.iter().map(|change| format!("{} {}", change.operation, change.address)).collect();
    set(&changes)
}

pub fn signed(operations: &[ResourceOperation]) -> String {
    set(&operations.iter().map(ResourceOperation::signed).collect::<Vec<_>>())
}

pub fn counts(counts: Counts) -> String {
    format!("({}, {}, {})", counts.created, counts.updated, counts.deleted)
}

/// What is wrong with a message by itself.
pub fn wrong_with_message(problem: &MessageProblem) -> String {
    match problem {
        MessageProblem::UnexpectedKind { kind, .. } => {
            format!("nothing gives a reason for a message of the kind {kind:?}")
        }
        MessageProblem::Incomplete => "it lacks fields that messages of its kind have".to_owned(),
        MessageProblem::Text => "its fields say something else".to_owned(),
        MessageProblem::Address => "the parts of its address are not those of the address".to_owned(),
        MessageProblem::Level => "it has another level than messages of its kind".to_owned(),
        MessageProblem::Time => "it has no time, or an earlier one than the message before it".to_owned(),
        MessageProblem::Position => "what it quotes is not at that place in the program".to_owned(),
    }
}

/// Why an engine says that it changes something.
pub fn planned_reason(reason: PlannedReason) -> &'static str {
    match reason {
        PlannedReason::None => "no reason is given",
        PlannedReason::CannotUpdate => "an attribute cannot be changed in place",
        PlannedReason::Asked => "the command asks for it",
        PlannedReason::Marked => "the object is marked",
        PlannedReason::Triggered => "another resource changes",
        PlannedReason::NotWritten => "the program does not have it",
        PlannedReason::Other => "a reason that the program does not give",
    }
}
