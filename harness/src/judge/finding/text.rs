//! A finding in a sentence, for people. No program reads it back.

mod phrases;

use std::fmt::{self, Display, Formatter};

use serde_json::Value as Json;

use super::detail::RequestProblem;
use super::{Detail, Finding, FindingKind, Subject};
use crate::evidence::Moment;
use phrases::{
    changes, counts, ended, listed, planned_reason, set, signed, state_change, warned_of, wrong_with_message,
};

/// How much of a long text is shown at each end.
const END: usize = 60;

/// A text of which the middle is left out if it is long. The ends are where long texts differ.
pub fn shortened(text: String) -> String {
    let count = text.chars().count();
    if count <= 3 * END {
        return text;
    }
    let (begin, end): (String, String) =
        (text.chars().take(END).collect(), text.chars().skip(count - END).collect());
    format!("{begin} … {end} ({count} characters)")
}

#[cfg(test)]
thread_local! {
    static REWORDED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Does something while every finding is told in other words: a test of what must not depend on them.
#[cfg(test)]
pub fn reworded<T>(act: impl FnOnce() -> T) -> T {
    REWORDED.set(true);
    let done = act();
    REWORDED.set(false);
    done
}

impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        #[cfg(test)]
        if REWORDED.get() {
            return f.write_str("Ein Unterschied, in ganz anderen Worten");
        }
        f.write_str(&self.observation())?;
        self.rule.map_or(Ok(()), |rule| write!(f, ": {}", rule.text()))
    }
}

/// An operation, as sentences name it.
pub fn operation_text(subject: &Subject) -> Option<String> {
    match subject {
        Subject::Operation { .. } => subject.resource_operation().map(|operation| operation.to_string()),
        Subject::OperationAt { address, operation } => Some(format!("{operation} {address}")),
        _ => None,
    }
}

impl Finding {
    /// What was seen, without the rule that it breaks.
    pub fn observation(&self) -> String {
        use FindingKind as Kind;
        let name = self.name();
        match (self.kind, &self.detail) {
            (_, Detail::Quote { words }) => self.quote(words),
            (_, Detail::Command { command, end, errors }) => ended(command, end, errors),
            (_, Detail::Errors { errors }) => listed(errors),
            (_, Detail::Graph { .. } | Detail::References { .. } | Detail::Value { .. }) => self.difference(),
            (_, Detail::Spans { first, second }) => {
                let end = first.end.map_or("never".to_owned(), |seq| seq.to_string());
                let [earlier, later] = self.operations();
                format!(
                    "{earlier} (seq {} to {end}) had not ended when {later} began (seq {})",
                    first.begin, second.begin
                )
            }
            (_, Detail::Request { request, seq, problem }) => {
                let place = format!("{request} of {name} (seq {seq})");
                match self.problem(problem) {
                    Some(why) => format!("{place}: {why}"),
                    None => place,
                }
            }
            (kind, Detail::Changes { only_announced, only_there }) => {
                let [announced, there] = match kind {
                    Kind::PlanDiffersFromModel => ["planned and not due", "due and not planned"],
                    Kind::DriftMisreported => ["reported and not so", "drifted and not reported"],
                    _ => ["planned and not done", "done and not planned"],
                };
                format!("{announced}: {}; {there}: {}", changes(only_announced), changes(only_there))
            }
            (_, Detail::Planned { changes }) if changes.is_empty() => "its exit code says so".to_owned(),
            (_, Detail::Planned { changes }) => {
                let changes = changes.iter().map(|change| format!("{} {}", change.action, change.address));
                changes.collect::<Vec<_>>().join(", ")
            }
            (_, Detail::Counts { command, summarised, observed, done }) => {
                let what = if *done { "were" } else { "are due" };
                format!(
                    "the summary of {command} has {} created, updated and deleted, and {} {what}",
                    counts(*summarised),
                    counts(*observed)
                )
            }
            (_, Detail::OutputChanges { planned, due }) => {
                format!("planned are {planned:?}, and due {due:?}")
            }
            (_, Detail::OutputValue { expected, observed }) => {
                let show =
                    |value: &Option<Json>| value.as_ref().map_or("not there".to_owned(), Json::to_string);
                format!("{name} is {}, and in the world {}", show(observed), show(expected))
            }
            (_, Detail::Message { moment, id }) => {
                let moment = match moment {
                    Moment::Begin => "begins",
                    Moment::End => "has ended",
                    Moment::Failure => "has failed",
                };
                let of = id.as_ref().map(|id| format!(", of {id}")).unwrap_or_default();
                format!("{} {moment}{of}", self.operations()[0])
            }
            (_, Detail::Read { moment, id }) => {
                let moment = if *moment == Moment::Begin { "is being read" } else { "was read" };
                let of = id.as_ref().map(|id| format!(", as {id}")).unwrap_or_default();
                format!("{name} {moment}{of}")
            }
            (_, Detail::Flaw { line, problem, text }) => {
                format!("line {line}, {text:?}: {}", wrong_with_message(problem))
            }
            (_, Detail::Reason { given, possible }) => {
                let possible: Vec<&str> = possible.iter().map(|it| planned_reason(*it)).collect();
                format!("{name}: {}, and the reason is: {}", planned_reason(*given), possible.join(" or "))
            }
            (_, Detail::Blame { error, blamed, expected }) => {
                let blamed = blamed.as_deref().unwrap_or("nothing");
                format!("{error:?} names {blamed}, and the cause is {}", set(expected))
            }
            (_, Detail::StateChange { change }) => state_change(change),
            (_, Detail::Dependencies { expected, observed }) => {
                format!(
                    "{name} depends on {} in the state, on {} in the program",
                    set(observed),
                    set(expected)
                )
            }
            (_, Detail::Ends { first, second }) => {
                let word = |succeeded| if succeeded { "succeeded" } else { "failed" };
                format!("it {} first, and {} now", word(*first), word(*second))
            }
            (_, Detail::Runs { only_first, only_second }) => {
                format!("only first: {}; only now: {}", signed(only_first), signed(only_second))
            }
            (_, Detail::Late { request, phase, stage }) => format!(
                "after the command had ended: {phase} of {request} {name} (seq {}), asked for in {stage}",
                self.seq()
            ),
            (kind, Detail::Warning { warning }) => {
                let says = if kind == Kind::WarningMissing { "does not say" } else { "says" };
                format!("it {says} that {}", warned_of(*warning))
            }
            (_, Detail::Variant { variant }) => {
                format!("variant {variant} ended in another world than most variants of its case")
            }
            (_, Detail::Versions { before, after }) => self.versions(before, after),
            (_, Detail::LeftRunning { programs }) => format!("it left {} running", programs.join(", ")),
            (_, Detail::Mark { marked }) => {
                let is = if *marked { "is marked" } else { "is not marked" };
                format!("{name} {is} in the state as one to be replaced")
            }
            (_, Detail::Setting { is_set }) => {
                let has = if *is_set { "has" } else { "does not have" };
                format!("{name} {has} {} in the state", self.attribute())
            }
            (_, Detail::Field { expected, observed }) => {
                let of = if name == "?" { String::new() } else { format!(" of {name}") };
                let observed = shortened(observed.clone().unwrap_or_default());
                match expected {
                    Some(expected) => {
                        format!(
                            "{}{of} is {observed} in the state, and can only be {expected}",
                            self.attribute()
                        )
                    }
                    None => format!("the state has a field {}{of}", self.attribute()),
                }
            }
            (_, Detail::Identity { stored }) => {
                let is = stored.as_deref().unwrap_or("none");
                format!("{name} is {}, and goes by {is} in the state", self.id())
            }
            (_, Detail::Count { observed, expected }) => self.count(*observed, *expected),
            (_, Detail::None) => self.plain(),
        }
    }

    /// Of kinds that need no detail.
    fn plain(&self) -> String {
        use FindingKind as Kind;
        let (name, id) = (self.name(), self.id());
        match self.kind {
            Kind::OperationWithoutEffect
            | Kind::OperationMissing
            | Kind::OperationRepeated
            | Kind::OperationExtra => self.operations()[0].clone(),
            Kind::ObjectMissing => format!("{name} is not there"),
            Kind::ObjectUnexpected => format!("{name} ({id})"),
            Kind::ObjectNotRead => format!("{name} ({id}) was not read"),
            Kind::ResourceNotPlanned => format!("{name} was not planned"),
            Kind::ResourceNotValidated => format!("{name} was not validated"),
            Kind::UnreachedRequest => format!("{name} was read or planned, and no target reaches it"),
            Kind::ChangesDenied => "its exit code says that there is nothing to change".to_owned(),
            Kind::ChangesClaimed => "its exit code says that there is something to change".to_owned(),
            Kind::OutputMisreported => format!("{name} is told to be another value than is stored"),
            Kind::StateMissing => "the engine wrote no state".to_owned(),
            Kind::StoredTwice => format!("{id} is more than once in the state, here as {name}"),
            Kind::OldObjectLeft => format!("{name} has an old object {id} that was not deleted"),
            Kind::GhostObject => format!("{name} is {id} in the state, which is not in the world"),
            Kind::StoredAttributesDiffer => {
                format!("{name} has other attributes in the state than in the world")
            }
            Kind::StoredAddressDiffers => {
                format!("{id} is {name} in the state, which is {} in the world", self.key())
            }
            Kind::IdentityMissing => format!("{name} has no identity in the state"),
            Kind::ResourceEmpty => format!("{name} has no objects in the state"),
            Kind::ResourceTwice => format!("{name} is more than once in the state"),
            Kind::OrphanObject => format!("{name} is {id} in the world, which is not in the state"),
            Kind::DeletedTwice => format!("{name} was gone already (seq {})", self.seq()),
            Kind::ObjectLost => format!("{name} is {id} in the world, and the engine does not know of it"),
            Kind::RepetitionWorldDiffers => "the same operations led to another world".to_owned(),
            Kind::StateLeft => "the state is not empty".to_owned(),
            Kind::OutputsLeft => "the state still has outputs".to_owned(),
            Kind::ErrorMissing => format!("{} failed, and no error is about it", self.operations()[0]),
            Kind::LockLeft => "the state is still locked".to_owned(),
            kind => kind.about().to_owned(),
        }
    }

    fn difference(&self) -> String {
        let name = self.name();
        match &self.detail {
            Detail::Graph { missing_nodes, extra_nodes, missing_edges, extra_edges, dangling } => {
                let edge = |(from, to): &(String, String)| format!("edge {from} → {to}");
                let missing = missing_nodes.iter().map(|node| format!("- node {node}"));
                let extra = extra_nodes.iter().map(|node| format!("+ node {node}"));
                let cut = missing_edges.iter().map(|it| format!("- {}", edge(it)));
                let made = extra_edges.iter().map(|it| format!("+ {}", edge(it)));
                let all: Vec<String> = missing.chain(extra).chain(cut).chain(made).collect();
                format!("{} ({dangling} references lead nowhere)", all.join(", "))
            }
            Detail::References { expected, observed } => {
                let gone = "something that is not there";
                let found: Vec<&str> = observed.iter().map(|key| key.as_deref().unwrap_or(gone)).collect();
                let attribute = self.attribute();
                format!("{name}: {attribute} refers to {found:?}, and the program says {expected:?}")
            }
            Detail::Value { expected, observed } => {
                let [observed, expected] = [observed, expected].map(|value| shortened(value.to_string()));
                format!("{name}: {} is {observed}, and the program says {expected}", self.attribute())
            }
            _ => String::new(),
        }
    }

    fn count(&self, observed: usize, expected: Option<usize>) -> String {
        use FindingKind as Kind;
        match self.kind {
            Kind::SeveralObjects => format!("{} is there {observed} times", self.name()),
            Kind::TooManyAtOnce => {
                let may = expected.unwrap_or_default();
                format!("{observed} operations were under way at once, and {may} may be")
            }
            Kind::RefusedCommandAsks => {
                format!("{observed} requests about objects, and the command has to be refused")
            }
            Kind::UnwantedRead => format!("{observed} objects were read, and the command is to read none"),
            Kind::SeveralPlans => format!("one command made {observed} plans"),
            Kind::SavedPlanMadeAgain => format!("the apply of a saved plan made {observed} more"),
            Kind::ObjectsLeft => format!("{observed} objects are left"),
            _ => format!("{observed} operations"),
        }
    }

    fn versions(&self, before: &str, after: &str) -> String {
        match self.kind {
            FindingKind::LineageChanged => format!("its lineage was {before} and is {after}"),
            FindingKind::SerialNotRaised => {
                format!("its serial is still {after}, and it has changed")
            }
            _ => format!("its serial was {before} and is {after}"),
        }
    }

    fn quote(&self, words: &str) -> String {
        match self.kind {
            FindingKind::StrayOutput | FindingKind::StderrOutput | FindingKind::WarningUnexpected => {
                format!("{words:?}")
            }
            FindingKind::SummaryMissing => format!("there is no summary of {words}"),
            FindingKind::SummaryExtra => format!("there is a summary of {words} too many"),
            FindingKind::IntroductionDiffers => format!("the engine says that it is {words}"),
            FindingKind::MessageRepeated => format!("printed more than once: {words}"),
            FindingKind::MessageOutOfOrder => format!("too early: {words}"),
            FindingKind::Panic | FindingKind::BlamesProvider | FindingKind::ReportsOwnBug => {
                format!("the engine printed {words:?}")
            }
            _ => words.to_owned(),
        }
    }

    fn problem(&self, problem: &RequestProblem) -> Option<String> {
        Some(match problem {
            RequestProblem::ByItsKind => return None,
            RequestProblem::Refused { error } => error.clone().unwrap_or("no reason given".to_owned()),
            RequestProblem::Object { id } if self.kind == FindingKind::GoneObjectRequested => {
                format!("{id} is not there")
            }
            RequestProblem::Object { id } => format!("the object sent is not {id} as it is"),
            RequestProblem::NotPlanned => "what is asked for was not planned".to_owned(),
            RequestProblem::PlannedFromAnotherObject => "it was planned from another object".to_owned(),
        })
    }

    /// The first two operations that it is about.
    fn operations(&self) -> [String; 2] {
        let mut all = self.subjects.iter().filter_map(operation_text);
        [all.next().unwrap_or_default(), all.next().unwrap_or_default()]
    }

    /// What the first subject is called that has a name: an address before a key.
    fn name(&self) -> &str {
        let addressed = self.subjects.iter().find_map(|subject| match subject {
            Subject::Address { address } | Subject::OperationAt { address, .. } => Some(address.as_str()),
            Subject::Output { name } => Some(name.as_str()),
            _ => None,
        });
        addressed.unwrap_or_else(|| self.key())
    }

    fn key(&self) -> &str {
        let key = self.subjects.iter().find_map(|subject| match subject {
            Subject::Resource { key } | Subject::Operation { key, .. } => Some(key.as_str()),
            _ => None,
        });
        key.unwrap_or("?")
    }

    fn attribute(&self) -> &str {
        let name = self.subjects.iter().find_map(|subject| match subject {
            Subject::Attribute { name } => Some(name.as_str()),
            _ => None,
        });
        name.unwrap_or("?")
    }

    fn id(&self) -> &str {
        let id = self.subjects.iter().find_map(|subject| match subject {
            Subject::Object { id } => Some(id.as_str()),
            _ => None,
        });
        id.unwrap_or("?")
    }

    fn seq(&self) -> u64 {
        let seq = self.subjects.iter().find_map(|subject| match subject {
            Subject::Entry { seq } => Some(*seq),
            _ => None,
        });
        seq.unwrap_or_default()
    }
}
