//! What an engine believed: what it sent along with its requests, held against the world as it was at that moment and
//! against what it had planned. It is looked at while the ledger is folded, as only then that world is at hand.

use std::collections::BTreeMap;

use equiform_proto::ledger::{Digest, Entry, Operation, Phase, World};
use rustc_hash::{FxHashMap, FxHashSet};

use super::finding::detail::RequestProblem;
use super::finding::{Detail, FindingKind, Subject};
use crate::evidence::LedgerObserver;

/// Something that an engine sent, or did not send, and that does not fit. Whether it counts depends on the stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRequest {
    /// What is wrong.
    pub kind: FindingKind,
    /// What it is about.
    pub subjects: Vec<Subject>,
    /// What was seen.
    pub detail: Detail,
    /// The key that it is about, where that decides whether it counts.
    pub decides: Option<Box<str>>,
}

/// A read of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRead {
    /// The key of the object.
    pub key: Box<str>,
    /// Its id.
    pub id: Option<Box<str>>,
    /// Whether it exists.
    pub exists: bool,
    /// Whether the provider failed.
    pub failed: bool,
}

/// The requests of a stage.
#[derive(Debug, Clone, Default)]
pub struct Requests {
    /// What does not fit, in the order of the ledger.
    pub bad: Vec<BadRequest>,
    /// The keys that were planned.
    pub planned: FxHashSet<Box<str>>,
    /// How many objects were read.
    pub reads: usize,
    /// The reads of objects, in the order of the ledger.
    pub read: Vec<ObjectRead>,
    /// How often each object was read, by its id, with its key.
    pub reads_of: FxHashMap<Box<str>, (Box<str>, u64)>,
    /// How often each key was planned.
    pub plans_of: FxHashMap<Box<str>, u64>,
    /// How many objects there were when the stage began.
    pub objects: u64,
    /// How many requests there were about objects.
    pub about_objects: usize,
    /// How often each check was made.
    pub checks: BTreeMap<&'static str, usize>,
}

/// What was planned for a key: from which object, by which configuration, to which object.
type Plan = (Option<Digest>, Option<Digest>, Option<Digest>);

/// Takes the requests of one stage after the other.
#[derive(Debug, Default)]
pub struct RequestCheck {
    /// The objects that have changed behind the engine's back since it last wrote down what it read.
    drifted: FxHashSet<Box<str>>,
    /// The stage at hand.
    stage: StageRequests,
}

/// What is known of the requests of a stage so far.
#[derive(Debug, Default)]
struct StageRequests {
    requests: Requests,
    plans: FxHashMap<Box<str>, Vec<Plan>>,
    /// The objects that were there when the stage began and have not been read yet.
    unread: FxHashMap<Box<str>, Box<str>>,
    /// The objects that have changed behind the engine's back, and that it has not read since.
    drifted: FxHashSet<Box<str>>,
}

impl LedgerObserver for RequestCheck {
    fn begin(&mut self, world: &World) {
        let name = |key: &Option<String>| key.as_deref().unwrap_or("?").into();
        let unread = world.unordered().map(|object| (object.id.as_str().into(), name(&object.key)));
        let unread: FxHashMap<Box<str>, Box<str>> = unread.collect();
        let requests = Requests { objects: unread.len() as u64, ..Requests::default() };
        self.stage = StageRequests { requests, unread, drifted: self.drifted.clone(), ..Default::default() };
    }

    fn entry(&mut self, entry: &Entry, world: &World) {
        if entry.op == Operation::Drift {
            self.drifted.extend(entry.id.as_deref().map(Into::into));
            self.stage.drifted.extend(entry.id.as_deref().map(Into::into));
        }
        self.stage.look(entry, world);
    }
}

impl RequestCheck {
    /// After the last request of a stage. Whether the engine was to refresh is for the oracle to know.
    pub fn finish_stage(&mut self) -> Requests {
        std::mem::take(&mut self.stage).finish()
    }

    /// The engine has written down what it read.
    pub fn forget_drift(&mut self) {
        self.drifted.clear();
    }
}

impl StageRequests {
    /// Looks at an entry, before it is folded into the world.
    fn look(&mut self, entry: &Entry, world: &World) {
        if entry.mode.is_some() {
            return;
        }
        self.requests.about_objects += usize::from(entry.id.is_some() || entry.key.is_some());
        self.requests.reads += usize::from(entry.op == Operation::Read);
        if entry.op == Operation::Read {
            let text = |text: &Option<String>| text.as_deref().map(Box::<str>::from);
            self.requests.read.push(ObjectRead {
                key: text(&entry.key).unwrap_or_default(),
                id: text(&entry.id),
                exists: entry.id.as_deref().is_some_and(|id| world.get(id).is_some()),
                // An answer that breaks the contract is none that the engine can report.
                failed: entry.phase == Phase::Fail || entry.fault.is_some(),
            });
        }
        let name = |text: &Option<String>| text.as_deref().unwrap_or_default().into();
        match entry.op {
            Operation::Read => {
                let count = self.requests.reads_of.entry(name(&entry.id));
                count.or_insert_with(|| (name(&entry.key), 0)).1 += 1;
            }
            Operation::Plan => *self.requests.plans_of.entry(name(&entry.key)).or_default() += 1,
            _ => {}
        }
        match (entry.op, entry.phase) {
            // The provider was told to.
            (Operation::Read | Operation::Plan, Phase::Fail) if entry.fault.is_some() => {}
            (Operation::Read | Operation::Plan | Operation::Import, Phase::Fail) => {
                let problem = RequestProblem::Refused { error: entry.error.clone() };
                self.found(FindingKind::RequestRefused, entry, problem, false);
            }
            (Operation::Read, _) => {
                self.compare_prior(entry, world);
                let id = entry.id.as_deref().unwrap_or_default();
                self.unread.remove(id);
                self.drifted.remove(id);
            }
            (Operation::Plan, _) => {
                self.compare_prior(entry, world);
                // What is to be deleted may be planned first: Terraform 1.11 does so.
                let stays = entry.prior.is_some() && entry.planned.is_some();
                if stays && self.unread.contains_key(entry.id.as_deref().unwrap_or_default()) {
                    self.found(FindingKind::PlannedBeforeRead, entry, RequestProblem::ByItsKind, true);
                }
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

    fn finish(mut self) -> Requests {
        let mut unread: Vec<_> = std::mem::take(&mut self.unread).into_iter().collect();
        unread.sort_unstable_by(|one, other| (&one.1, &one.0).cmp(&(&other.1, &other.0)));
        self.requests.bad.extend(unread.into_iter().map(|(id, key)| BadRequest {
            kind: FindingKind::ObjectNotRead,
            subjects: vec![Subject::resource(&key), Subject::object(&id)],
            detail: Detail::None,
            decides: Some(key),
        }));
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
        let problem = || RequestProblem::Object { id: id.to_owned() };
        match world.get(id) {
            None => self.found(FindingKind::GoneObjectRequested, entry, problem(), false),
            Some(object) if object.attributes.digest() != prior => {
                self.found(FindingKind::StaleObjectSent, entry, problem(), false);
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
        let problem = match plans.iter().find(|plan| plan.2 == entry.planned) {
            None => RequestProblem::NotPlanned,
            Some(plan) if plan.1 != entry.config => {
                let kind = FindingKind::ConfigurationNotAsPlanned;
                return self.found(kind, entry, RequestProblem::ByItsKind, true);
            }
            Some(_) => RequestProblem::PlannedFromAnotherObject,
        };
        self.found(FindingKind::ChangeNotAsPlanned, entry, problem, false);
    }

    /// An object is read before it is changed.
    fn demand_read(&mut self, entry: &Entry) {
        if self.unread.contains_key(entry.id.as_deref().unwrap_or_default()) {
            self.found(FindingKind::ChangedBeforeRead, entry, RequestProblem::ByItsKind, true);
        }
    }

    fn count(&mut self, check: &'static str) {
        *self.requests.checks.entry(check).or_default() += 1;
    }

    /// Notes what is wrong with a request. `by_key` says that its key decides whether it counts.
    fn found(&mut self, kind: FindingKind, entry: &Entry, problem: RequestProblem, by_key: bool) {
        let key = entry.key.as_deref();
        self.requests.bad.push(BadRequest {
            kind,
            subjects: key.map(Subject::resource).into_iter().collect(),
            detail: Detail::Request { request: entry.op, seq: entry.seq, problem },
            decides: key.filter(|_| by_key).map(Into::into),
        });
    }
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
    fn kinds(entries: &[Entry]) -> Vec<FindingKind> {
        let (world, mut check) = (world(), RequestCheck::default());
        check.begin(&world);
        entries.iter().for_each(|entry| check.entry(entry, &world));
        check.finish_stage().bad.into_iter().map(|bad| bad.kind).collect()
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
        assert_eq!(
            kinds(&[read("old"), plan.clone(), other("new", "other")]),
            [FindingKind::ChangeNotAsPlanned]
        );
        assert_eq!(
            kinds(&[read("old"), plan, other("other", "new")]),
            [FindingKind::ConfigurationNotAsPlanned]
        );
    }

    #[test]
    fn an_object_that_is_sent_as_it_was_once_does_not_fit() {
        assert_eq!(kinds(&[read("older")]), [FindingKind::StaleObjectSent]);
    }

    #[test]
    fn an_object_that_is_not_there_is_not_to_be_asked_for() {
        let gone = Entry { id: Some("node-gone".to_owned()), ..read("old") };
        assert_eq!(kinds(&[read("old"), gone]), [FindingKind::GoneObjectRequested]);
    }

    #[test]
    fn what_is_never_read_or_read_too_late_does_not_fit() {
        assert_eq!(kinds(&[]), [FindingKind::ObjectNotRead]);
        let delete = Entry { prior: read("old").prior, ..entry(2, Operation::Delete, Phase::Begin) };
        assert_eq!(kinds(&[delete, read("old")]), [FindingKind::ChangedBeforeRead]);
    }

    #[test]
    fn a_request_that_the_provider_refuses_does_not_fit() {
        let refused = entry(3, Operation::Plan, Phase::Fail);
        assert_eq!(kinds(&[read("old"), refused]), [FindingKind::RequestRefused]);
    }
}
