//! What the state holds of each object beside its attributes: its mark, its dependencies, its create_before_destroy.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Trial, of_stored, writes};
use crate::evidence::{State, StateChange, Stored, StoredSetting};
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::judge::oracles::ModelView;
use crate::spec::dependencies::{Number, NumberedGraph, Numbering, Walk};
use crate::spec::{Action, Effect, NodeKey, OperationKind, PlanMode, Remembered};

/// The setting that spreads to dependencies.
const SETTING: &str = "create_before_destroy";

/// What the model says of the state.
pub struct Memory<'a> {
    trial: &'a Trial<'a>,
    model: &'a ModelView<'a>,
    numbering: Numbering,
    chains: Chains,
    /// What is remembered of each node after the stage.
    remembered: Vec<Option<&'a Remembered>>,
    /// What the program in hand says.
    written: NumberedGraph,
    /// Whether create_before_destroy is in force for each node, by that program.
    in_force: Vec<bool>,
    /// How many old objects are still to be met, by address.
    old: FxHashMap<String, usize>,
    /// What is asked of dependencies and settings; none if the command does not write them.
    written_as: Option<WrittenAs>,
    /// The nodes that the command reaches; none if it reaches all.
    reached: Option<BTreeSet<NodeKey>>,
    before: Before<'a>,
}

/// What a command does to what the state remembers.
enum WrittenAs {
    /// It succeeded: everything that it reached is as the program says.
    Program {
        /// What is deployed after it.
        now: NumberedGraph,
    },
    /// It failed, or takes only drift in: what it made is as the program says, everything else as it was, or as the
    /// program says where that forgets nothing.
    Parts {
        /// What was deployed before it.
        was: NumberedGraph,
        /// What it did.
        effects: Vec<Effect>,
    },
}

impl<'a> Memory<'a> {
    pub fn of(trial: &'a Trial<'_>, model: &'a ModelView<'a>) -> Option<Self> {
        let deployed = model.outcome?;
        let numbering = Numbering::of(model.deployed, model.written);
        let mut numbers = FxHashMap::default();
        let mut remembered = vec![None; numbering.len()];
        for (key, node) in &model.deployed.memory.nodes {
            numbers.extend(numbering.number(key).map(|number| (node.address.to_string(), number)));
        }
        for (key, node) in &deployed.memory.nodes {
            let Some(number) = numbering.number(key) else { continue };
            numbers.insert(node.address.to_string(), number);
            remembered[number as usize] = Some(node);
        }
        for key in model.written.meaning.nodes.keys() {
            let number = numbering.number(key).expect("what is written has a number");
            if remembered[number as usize].is_none() {
                numbers.insert(model.written.encoding.address(key).to_string(), number);
            }
        }
        let is_refresh =
            matches!(trial.stage.action, Action::Refresh(_)) || trial.options.mode == PlanMode::Refresh;
        let takes_parts = is_refresh && (trial.takes_drift_in() || !model.program_is_deployed);
        let written_as = writes(trial).then(|| {
            if trial.evidence.succeeded && !takes_parts {
                WrittenAs::Program { now: numbering.deployed(deployed) }
            } else {
                let effects = trial.evidence.took_effect(&trial.stage.faults);
                WrittenAs::Parts { was: numbering.deployed(model.deployed), effects }
            }
        });
        let reached = model.reached(trial.options);
        let written = numbering.written(model.written);
        // What a command does not reach passes no setting on: engines do not look at it.
        let asks = |number: Number| {
            let is_reached = reached.as_ref().is_none_or(|all| all.contains(numbering.key(number)));
            is_reached && written.has(number) && written.asks(number)
        };
        let asks: Vec<bool> = (0..numbering.len() as Number).map(asks).collect();
        Some(Self {
            trial,
            model,
            in_force: written.spread(&asks),
            chains: Chains { numbers, walk: Walk::over(numbering.len()) },
            numbering,
            remembered,
            written,
            old: FxHashMap::default(),
            written_as,
            reached,
            before: Before::of(trial.evidence.state_before.as_deref()),
        })
    }

    /// The node that an object is of.
    pub fn key(&self, stored: &Stored) -> Option<&'a NodeKey> {
        let number = self.chains.number(&stored.address)?;
        let key = self.numbering.key(number);
        self.model.outcome?.memory.nodes.get_key_value(key).map(|(key, _)| key)
    }

    /// Old objects and marks are those that the model expects.
    pub fn marks(&mut self, stored: &Stored) -> Option<Finding> {
        let number = self.chains.number(&stored.address);
        let node = number.and_then(|number| self.remembered[number as usize]);
        if stored.deposed.is_some() {
            let due = || node.map_or(0, |it| it.pending.len());
            let left = self.old.entry(stored.address.clone()).or_insert_with(due);
            let is_due = left.checked_sub(1).map(|rest| *left = rest).is_some();
            return (!is_due).then(|| of_stored(self.trial, FindingKind::OldObjectLeft, stored));
        }
        node.filter(|it| it.is_marked() != stored.tainted).map(|_| {
            of_stored(self.trial, FindingKind::MarkDiffers, stored)
                .with(Detail::Mark { marked: stored.tainted })
        })
    }

    /// What the state remembers of an object is what it did, or what the program says.
    pub fn kept(&mut self, stored: &Stored) -> Option<Finding> {
        let written_as = self.written_as.take()?;
        let found = self.kept_as(&written_as, stored);
        self.written_as = Some(written_as);
        found
    }

    fn kept_as(&mut self, written_as: &WrittenAs, stored: &Stored) -> Option<Finding> {
        let number = self.chains.number(&stored.address)?;
        let key = self.numbering.key(number);
        let is_reached = self.reached.as_ref().is_none_or(|all| all.contains(key));
        let is_old = stored.deposed.is_some();
        if is_reached && !is_old {
            match written_as {
                WrittenAs::Program { now } => return self.as_written(Some(now), number, stored),
                WrittenAs::Parts { effects, .. } if is_made(effects, key) => {
                    return self.as_written(None, number, stored);
                }
                WrittenAs::Parts { .. } => {}
            }
        }
        let before = self.before.object(&stored.content.id)?;
        // A destroy reads what its targets depend on, by the program in hand.
        let destroys = matches!(self.trial.stage.action, Action::Destroy(_))
            || self.trial.options.mode == PlanMode::Destroy;
        if !is_reached && !destroys {
            return self.is_unchanged(number, before, stored);
        }
        if is_old && before.deposed.is_some() {
            return self.is_unchanged(number, before, stored);
        }
        let was;
        let was = match written_as {
            WrittenAs::Parts { was, .. } => was,
            WrittenAs::Program { .. } => {
                was = self.numbering.deployed(self.model.deployed);
                &was
            }
        };
        self.forgets_nothing(was, number, before, stored)
    }

    /// An object that was made, or that a command which succeeded has reached: dependencies and the setting are the
    /// program's.
    fn as_written(
        &mut self,
        now: Option<&NumberedGraph>,
        number: Number,
        stored: &Stored,
    ) -> Option<Finding> {
        let graph = now.unwrap_or(&self.written);
        if let Some(detail) = self.chains.difference(graph, number, stored) {
            return Some(self.dependencies_differ(stored, detail));
        }
        let (is, in_force, asks) =
            (stored.create_before_destroy, self.in_force[number as usize], graph.asks(number));
        let may_lack_it = in_force && !asks && self.trial.setting == StoredSetting::LostByChange;
        if is == in_force || may_lack_it {
            return None;
        }
        // Targets, and a command that reads nothing, may leave it as it was. With targets an engine may also look at
        // what it does not reach.
        let has_targets = self.reached.is_some();
        let may_stay = (has_targets || !self.trial.options.refresh)
            && self.before.object(&stored.content.id).is_some_and(|it| it.create_before_destroy == is);
        let is_passed_on = || is == self.written.create_before_destroy()[number as usize];
        (!(may_stay || has_targets && is_passed_on())).then(|| self.setting_differs(stored))
    }

    /// An object that was not made: the state keeps the dependencies that it had and still has, and adds no more than
    /// the program's.
    fn forgets_nothing(
        &mut self,
        was: &NumberedGraph,
        number: Number,
        before: &Stored,
        stored: &Stored,
    ) -> Option<Finding> {
        let is_written = self.written.has(number);
        if before.dependencies != stored.dependencies {
            let (old, new) = (self.chains.of(was, number), self.chains.of(&self.written, number));
            let of = |stored: &Stored| -> BTreeSet<Option<Number>> {
                stored.dependencies.iter().map(|address| self.chains.number(address)).collect()
            };
            let (had, has) = (of(before), of(stored));
            // What the step leaves alone refers to the same as before, and what it failed to update may have the
            // program's: engines store those. Anything else refers to the old.
            let key = self.numbering.key(number);
            let mut plan = self.model.plan.operations.iter();
            let may_have_new = is_written
                && stored.deposed.is_none()
                && (plan.all(|operation| operation.key != *key)
                    || self.failed(number, OperationKind::Update));
            let is_due = |it: &&Option<Number>| {
                it.is_some_and(|it| old.contains(&it) && (!may_have_new || new.contains(&it)))
            };
            let may_be = |it: &Option<Number>| {
                had.contains(it) || it.is_some_and(|it| is_written && new.contains(&it))
            };
            if had.iter().filter(is_due).any(|it| !has.contains(it)) || !has.iter().all(may_be) {
                let sorted = |stored: &Stored| -> Vec<String> {
                    let sorted: BTreeSet<&str> = stored.dependencies.iter().collect();
                    sorted.into_iter().map(str::to_owned).collect()
                };
                let detail = Detail::Dependencies { observed: sorted(stored), expected: sorted(before) };
                return Some(self.dependencies_differ(stored, detail));
            }
        }
        let (is, in_force) = (stored.create_before_destroy, self.in_force[number as usize]);
        // What a target brings along to be read may have no more than its own.
        let own = self.reached.is_some() && is == self.written.asks(number);
        let is_right = is == before.create_before_destroy || (is_written && (is == in_force || own));
        let may_lack_it = in_force && self.trial.setting == StoredSetting::LostByChange;
        let may_lack_it = may_lack_it || self.loses_setting(number, stored);
        (!is_right && !may_lack_it).then(|| self.setting_differs(stored))
    }

    /// An object that the command does not reach: its state is what it was.
    fn is_unchanged(&self, number: Number, before: &Stored, stored: &Stored) -> Option<Finding> {
        let loses_setting = self.loses_setting(number, stored);
        let part = if before.content != stored.content {
            "attributes"
        } else if before.dependencies != stored.dependencies {
            "dependencies"
        } else if before.create_before_destroy != stored.create_before_destroy && !loses_setting {
            SETTING
        } else if before.kept != stored.kept {
            "private"
        } else if before.identity != stored.identity {
            "identity"
        } else if before.tainted != stored.tainted || before.deposed != stored.deposed {
            "status"
        } else if before.address != stored.address {
            "address"
        } else {
            return None;
        };
        let change = StateChange::At { path: format!("{}.{part}", stored.address) };
        let finding = of_stored(self.trial, FindingKind::MemoryChanged, stored);
        Some(finding.with(Detail::StateChange { change }))
    }

    /// Whether an operation on the node was begun and had no effect, or did a part of its work.
    fn failed(&self, number: Number, kind: OperationKind) -> bool {
        let key = self.numbering.key(number);
        let mut operations = self.trial.evidence.operations.iter();
        operations.any(|observed| {
            let is_whole = matches!(observed.end, Some((_, true))) && observed.fault.is_none();
            observed.operation.key == *key && observed.operation.kind == kind && !is_whole
        })
    }

    /// Whether an object may have lost its setting: all engines drop it if a delete fails.
    fn loses_setting(&self, number: Number, stored: &Stored) -> bool {
        !stored.create_before_destroy && self.failed(number, OperationKind::Delete)
    }

    fn dependencies_differ(&self, stored: &Stored, detail: Detail) -> Finding {
        let finding = self.trial.finding(FindingKind::DependenciesDiffer);
        finding.about([Subject::address(&stored.address)]).with(detail)
    }

    fn setting_differs(&self, stored: &Stored) -> Finding {
        let subjects = [Subject::address(&stored.address), Subject::attribute(SETTING)];
        let detail = Detail::Setting { is_set: stored.create_before_destroy };
        self.trial.finding(FindingKind::SettingDiffers).about(subjects).with(detail)
    }
}

/// What resources depend on, through the whole chain, as engines store it.
struct Chains {
    /// The numbers of the nodes, by address.
    numbers: FxHashMap<String, Number>,
    walk: Walk,
}

impl Chains {
    /// The number of the node at an address.
    fn number(&self, address: &str) -> Option<Number> {
        self.numbers.get(address).copied()
    }

    /// What a node depends on.
    fn of(&mut self, graph: &NumberedGraph, number: Number) -> FxHashSet<Number> {
        self.walk.from(graph, number, |_| false).iter().copied().collect()
    }

    /// How the addresses that an object depends on differ from a graph's.
    fn difference(&mut self, graph: &NumberedGraph, number: Number, stored: &Stored) -> Option<Detail> {
        let expected = self.walk.from(graph, number, |_| false).len();
        let number_of = |address: &str| self.numbers.get(address).copied();
        let mut addresses = stored.dependencies.iter();
        if addresses.all(|address| number_of(address).is_some_and(|number| self.walk.cross_out(number)))
            && stored.dependencies.iter().count() == expected
        {
            return None;
        }
        let reached = self.of(graph, number);
        let addresses = self.numbers.iter().filter(|(_, number)| reached.contains(*number));
        let expected: BTreeSet<&str> = addresses.map(|(address, _)| address.as_str()).collect();
        let is: BTreeSet<&str> = stored.dependencies.iter().collect();
        (is != expected).then(|| Detail::Dependencies {
            observed: is.into_iter().map(str::to_owned).collect(),
            expected: expected.into_iter().map(str::to_owned).collect(),
        })
    }
}

/// Whether operations left the current object of a node as the program says.
fn is_made(effects: &[Effect], key: &NodeKey) -> bool {
    effects.iter().any(|effect| {
        effect.operation.key == *key
            && match effect.operation.kind {
                OperationKind::Create => true,
                OperationKind::Update => !effect.partial,
                OperationKind::Delete => false,
            }
    })
}

/// The objects of the state before, by id.
struct Before<'a> {
    state: Option<&'a State>,
    by_id: Option<FxHashMap<&'a str, &'a Stored>>,
}

impl<'a> Before<'a> {
    fn of(state: Option<&'a State>) -> Self {
        Self { state, by_id: None }
    }

    fn object(&mut self, id: &str) -> Option<&'a Stored> {
        let objects = &self.state?.objects;
        let by_id = || objects.iter().map(|stored| (&*stored.content.id, stored)).collect();
        self.by_id.get_or_insert_with(by_id).get(id).copied()
    }
}
