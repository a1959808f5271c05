//! What an engine believed: what it sent along with its requests, held against the world as it was at that moment and
//! against what it had planned. It is looked at while the ledger is folded, as only then that world is at hand.

use std::collections::BTreeMap;

use equiform_proto::ledger::{Digest, Entry, Operation, Phase, World};
use rustc_hash::{FxHashMap, FxHashSet};

/// The kind of an object that was not read.
pub const NOT_REFRESHED: &str = "not refreshed";

/// The kind of an object that was read too late.
pub const READ_TOO_LATE: &str = "changed before it was read";

/// The kind of a change that was planned by another configuration.
pub const ANOTHER_CONFIGURATION: &str = "planned by another configuration";

/// Something that an engine sent, or did not send, and that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestProblem {
    /// Of which kind.
    pub kind: &'static str,
    /// What it was, for people.
    pub text: String,
    /// The key that it is about, where that decides whether it counts.
    pub key: Option<Box<str>>,
}

/// The requests of a stage.
#[derive(Debug, Clone, Default)]
pub struct Requests {
    /// Whether requests that change nothing are in the ledger: format 1 had none.
    pub recorded: bool,
    /// What does not fit, in the order of the ledger.
    pub problems: Vec<RequestProblem>,
    /// The keys that were planned.
    pub planned: FxHashSet<Box<str>>,
    /// How many objects were read.
    pub reads: usize,
    /// How many requests there were about objects.
    pub about_objects: usize,
    /// How often each check was made.
    pub checks: BTreeMap<&'static str, usize>,
}

/// What was planned for a key: from which object, by which configuration, to which object.
type Plan = (Option<Digest>, Option<Digest>, Option<Digest>);

/// Takes the requests of a stage one by one.
pub struct RequestCheck {
    requests: Requests,
    plans: FxHashMap<Box<str>, Vec<Plan>>,
    /// The objects that were there when the stage began and have not been read yet.
    unread: FxHashMap<Box<str>, Box<str>>,
    /// The objects that have changed behind the engine's back, and that it has not read since.
    drifted: FxHashSet<Box<str>>,
}

impl RequestCheck {
    /// Before the first request of a stage.
    pub fn new(recorded: bool, world: &World, drifted: FxHashSet<Box<str>>) -> Self {
        let unread = world.unordered().filter(|_| recorded);
        let name = |key: &Option<String>| key.as_deref().unwrap_or("?").into();
        let unread = unread.map(|object| (object.id.as_str().into(), name(&object.key))).collect();
        let requests = Requests { recorded, ..Requests::default() };
        Self { requests, plans: FxHashMap::default(), unread, drifted }
    }

    /// Looks at an entry, before it is folded into the world.
    pub fn look(&mut self, entry: &Entry, world: &World) {
        if !self.requests.recorded || entry.mode.is_some() {
            return;
        }
        self.requests.about_objects += usize::from(entry.id.is_some() || entry.key.is_some());
        self.requests.reads += usize::from(entry.op == Operation::Read);
        match (entry.op, entry.phase) {
            // The provider was told to.
            (Operation::Read | Operation::Plan, Phase::Fail) if entry.fault.is_some() => {}
            (Operation::Read | Operation::Plan | Operation::Import, Phase::Fail) => {
                let error = entry.error.as_deref().unwrap_or("no reason given");
                self.found("refused by the provider", format!("{}: {error}", place(entry)));
            }
            (Operation::Read, _) => {
                self.compare_prior(entry, world);
                let id = entry.id.as_deref().unwrap_or_default();
                self.unread.remove(id);
                self.drifted.remove(id);
            }
            (Operation::Plan, _) => {
                self.compare_prior(entry, world);
                let key = entry.key.as_deref().unwrap_or_default();
                self.requests.planned.insert(key.into());
                let plan = (entry.prior, entry.config, entry.planned);
                self.plans.entry(key.into()).or_default().push(plan);
            }
            (Operation::Create | Operation::Update, Phase::Begin) => {
                self.compare_prior(entry, world);
                self.compare_plan(entry);
                self.demand_read(entry);
            }
            (Operation::Delete, Phase::Begin) => {
                self.compare_prior(entry, world);
                self.demand_read(entry);
            }
            _ => {}
        }
    }

    /// After the last request. Whether the engine was to refresh is for the caller to know.
    pub fn finish(mut self) -> Requests {
        let mut unread: Vec<_> = std::mem::take(&mut self.unread).into_iter().collect();
        unread.sort_unstable_by(|one, other| (&one.1, &one.0).cmp(&(&other.1, &other.0)));
        for (id, key) in unread {
            let text = format!("{key} ({id}) was not read");
            self.requests.problems.push(RequestProblem { kind: NOT_REFRESHED, text, key: Some(key) });
        }
        self.requests
    }

    /// The object that the engine sent as the one before is the one that is there.
    fn compare_prior(&mut self, entry: &Entry, world: &World) {
        let Some(prior) = entry.prior else { return };
        let id = entry.id.as_deref().unwrap_or_default();
        if self.drifted.contains(id) {
            return;
        }
        self.count("objects sent as they are");
        match world.get(id) {
            None => self.found("asks for what is gone", format!("{}: {id} is not there", place(entry))),
            Some(object) if object.attributes.digest() != prior => {
                self.found("stale object", format!("{}: the object sent is not {id} as it is", place(entry)));
            }
            Some(_) => {}
        }
    }

    /// What is asked for was planned: from the same object, by the same configuration.
    fn compare_plan(&mut self, entry: &Entry) {
        self.count("changes as planned");
        let plans = self.plans.get(entry.key.as_deref().unwrap_or_default()).map_or(&[][..], Vec::as_slice);
        if plans.contains(&(entry.prior, entry.config, entry.planned)) {
            return;
        }
        let differs = match plans.iter().find(|plan| plan.2 == entry.planned) {
            None => "what is asked for was not planned",
            Some(plan) if plan.1 != entry.config => {
                let key = entry.key.as_deref().map(Into::into);
                let problem = RequestProblem { kind: ANOTHER_CONFIGURATION, text: place(entry), key };
                return self.requests.problems.push(problem);
            }
            Some(_) => "it was planned from another object",
        };
        self.found("not as planned", format!("{}: {differs}", place(entry)));
    }

    /// An object is read before it is changed.
    fn demand_read(&mut self, entry: &Entry) {
        if self.unread.contains_key(entry.id.as_deref().unwrap_or_default()) {
            let key = entry.key.as_deref().map(Into::into);
            self.requests.problems.push(RequestProblem { kind: READ_TOO_LATE, text: place(entry), key });
        }
    }

    fn count(&mut self, check: &'static str) {
        *self.requests.checks.entry(check).or_default() += 1;
    }

    fn found(&mut self, kind: &'static str, text: String) {
        self.requests.problems.push(RequestProblem { kind, text, key: None });
    }
}

/// An entry in words.
fn place(entry: &Entry) -> String {
    format!("{} of {} (seq {})", entry.op, entry.key.as_deref().unwrap_or("?"), entry.seq)
}

#[cfg(test)]
mod tests {
    use equiform_proto::ledger::{Attributes, LineHash};

    use super::*;

    fn attributes(label: &str) -> Attributes {
        serde_json::from_value(serde_json::json!({ "key": "a", "label": label })).unwrap()
    }

    fn entry(seq: u64, op: Operation, phase: Phase) -> Entry {
        let mut entry = Entry::new(seq, op, phase, 1, LineHash([0; 32]));
        (entry.key, entry.id) = (Some("a".to_owned()), Some("node-a".to_owned()));
        entry
    }

    fn world() -> World {
        let mut world = World::default();
        let mut create = entry(1, Operation::Create, Phase::Commit);
        create.after = Some(attributes("old"));
        world.apply(create).unwrap();
        world
    }

    /// The kinds of problems in a stage that begins with one object and in which the given entries follow.
    fn kinds(entries: &[Entry]) -> Vec<&'static str> {
        let world = world();
        let mut check = RequestCheck::new(true, &world, FxHashSet::default());
        entries.iter().for_each(|entry| check.look(entry, &world));
        check.finish().problems.into_iter().map(|problem| problem.kind).collect()
    }

    fn read(label: &str) -> Entry {
        Entry { prior: Some(Digest::of(&attributes(label))), ..entry(2, Operation::Read, Phase::Commit) }
    }

    fn change(op: Operation, phase: Phase, config: &str, planned: &str) -> Entry {
        Entry {
            prior: Some(Digest::of(&attributes("old"))),
            config: Some(Digest::of(&attributes(config))),
            planned: Some(Digest::of(&attributes(planned))),
            ..entry(3, op, phase)
        }
    }

    #[test]
    fn an_engine_that_reads_plans_and_changes_what_it_planned_fits() {
        let plan = change(Operation::Plan, Phase::Commit, "new", "new");
        let update = change(Operation::Update, Phase::Begin, "new", "new");
        assert!(kinds(&[read("old"), plan, update]).is_empty());
    }

    #[test]
    fn a_change_that_differs_from_its_plan_does_not_fit() {
        let plan = change(Operation::Plan, Phase::Commit, "new", "new");
        let other = |config, planned| change(Operation::Update, Phase::Begin, config, planned);
        assert_eq!(kinds(&[read("old"), plan.clone(), other("new", "other")]), ["not as planned"]);
        assert_eq!(kinds(&[read("old"), plan, other("other", "new")]), [ANOTHER_CONFIGURATION]);
    }

    #[test]
    fn an_object_that_is_sent_as_it_was_once_does_not_fit() {
        assert_eq!(kinds(&[read("older")]), ["stale object"]);
    }

    #[test]
    fn an_object_that_is_not_there_is_not_to_be_asked_for() {
        let gone = Entry { id: Some("node-gone".to_owned()), ..read("old") };
        assert_eq!(kinds(&[read("old"), gone]), ["asks for what is gone"]);
    }

    #[test]
    fn what_is_never_read_or_read_too_late_does_not_fit() {
        assert_eq!(kinds(&[]), [NOT_REFRESHED]);
        let delete = Entry { prior: read("old").prior, ..entry(2, Operation::Delete, Phase::Begin) };
        assert_eq!(kinds(&[delete, read("old")]), [READ_TOO_LATE]);
    }

    #[test]
    fn a_request_that_the_provider_refuses_does_not_fit() {
        let refused = entry(3, Operation::Plan, Phase::Fail);
        assert_eq!(kinds(&[read("old"), refused]), ["refused by the provider"]);
    }
}
