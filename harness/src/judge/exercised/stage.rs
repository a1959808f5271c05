//! Counting what one stage exercised.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::{Count, Exercised, MAY_OVERLAP, OPERATIONS_COMPARED, OVERLAPPED};
use crate::case::stage::JudgedAs;
use crate::evidence::ObservedOperation;
use crate::judge::finding::OracleId;
use crate::judge::oracles::{Oracle, Trial};
use crate::spec::{Action, Expectation, OperationKind, ReplacementOrder, ResourceOperation, Rule, Via};

/// Stages with more operations than this have too many pairs for each to be looked at; what no rule orders is
/// not counted in them.
const MOST_OPERATIONS: usize = 1000;

/// When all operations of a kind on a key were under way.
struct Span {
    begin: u64,
    /// The largest number if one of them never ended.
    end: u64,
    /// The last end of any operation before the begin.
    waited_for: u64,
    /// Whether there was one operation, and it took effect.
    once: bool,
}

/// What two operations did.
enum Pair {
    InOrder { adjacent: bool },
    Overlapped,
    Reversed,
}

impl Span {
    fn with(&self, second: &Self) -> Pair {
        if self.end < second.begin {
            Pair::InOrder { adjacent: second.waited_for == self.end }
        } else if second.end < self.begin {
            Pair::Reversed
        } else {
            Pair::Overlapped
        }
    }
}

impl Count {
    fn pair(&mut self, pair: &Pair) {
        self.exercised += 1;
        match pair {
            Pair::InOrder { adjacent } => {
                self.kept += 1;
                self.adjacent += u64::from(*adjacent);
            }
            Pair::Overlapped => self.overlapped += 1,
            Pair::Reversed => self.reversed += 1,
        }
    }

    /// Either order will do.
    fn any_order(&mut self, pair: &Pair) {
        self.exercised += 1;
        match pair {
            Pair::Overlapped => self.overlapped += 1,
            Pair::InOrder { .. } | Pair::Reversed => self.kept += 1,
        }
    }

    fn one(&mut self, kept: bool) {
        self.exercised += 1;
        self.kept += u64::from(kept);
    }
}

type Spans<'a> = FxHashMap<&'a ResourceOperation, Span>;

impl Exercised {
    /// Counts what a stage exercised, and what the oracles that are asked compare in it.
    pub fn count(&mut self, trial: &Trial<'_>, oracles: &[&Oracle]) {
        let spans = spans(&trial.evidence.operations);
        if let Some(expectation) = trial.model.as_ref().map(|model| model.expectation) {
            self.count_order(expectation, &spans);
            self.count_replacements(expectation, &spans);
            self.count_operations(expectation, &spans);
            // With one at a time nothing overlaps.
            let may_overlap = trial.stage.action.parallelism() != Some(1);
            self.count_unordered(expectation, &spans, may_overlap);
        }
        self.count_checks(trial, oracles);
    }

    fn count_order(&mut self, expectation: &Expectation, spans: &Spans<'_>) {
        // The pairs are sorted by their first operation, which is looked up once.
        let mut last: Option<(&ResourceOperation, Option<&Span>)> = None;
        for (first, second, reason) in expectation.pairs() {
            let earlier = match last {
                Some((operation, span)) if std::ptr::eq(operation, first) => span,
                _ => spans.get(first),
            };
            last = Some((first, earlier));
            let (Some(earlier), Some(later)) = (earlier, spans.get(second)) else { continue };
            let pair = earlier.with(later);
            self.rules.entry(reason.rule).or_default().pair(&pair);
            if reason.spread {
                self.rules.entry(Rule::SettingSpreads).or_default().pair(&pair);
            }
            match reason.via {
                Via::Edge(kind) => self.edges.entry(kind).or_default().pair(&pair),
                Via::Others => self.rules.entry(Rule::WholeChain).or_default().pair(&pair),
                Via::Itself => {}
            }
        }
    }

    fn count_replacements(&mut self, expectation: &Expectation, spans: &Spans<'_>) {
        for (key, order) in &expectation.replacements {
            let of = |kind| spans.get(&ResourceOperation::new(key, kind));
            let (delete, create) = (of(OperationKind::Delete), of(OperationKind::Create));
            let once = |span: Option<&Span>| span.is_some_and(|span| span.once);
            self.rules.entry(Rule::Replaced).or_default().one(once(delete) && once(create));
            let (Some(delete), Some(create)) = (delete, create) else { continue };
            let count = self.replacements.entry(*order).or_default();
            match order {
                ReplacementOrder::DeleteFirst => count.pair(&delete.with(create)),
                ReplacementOrder::CreateFirst => count.pair(&create.with(delete)),
                ReplacementOrder::Either => count.any_order(&delete.with(create)),
            }
        }
    }

    /// The operations that are due, but those of replacements; and what is left alone.
    fn count_operations(&mut self, expectation: &Expectation, spans: &Spans<'_>) {
        let (mut created, mut updated, mut removed) = (Count::default(), Count::default(), Count::default());
        for operation in &expectation.operations {
            let count = match operation.kind {
                OperationKind::Update => &mut updated,
                _ if expectation.replacements.contains_key(&operation.key) => continue,
                OperationKind::Create => &mut created,
                OperationKind::Delete => &mut removed,
            };
            count.one(spans.get(operation).is_some_and(|span| span.once));
        }
        let extra = spans.keys().filter(|operation| !expectation.operations.contains(**operation));
        let touched: BTreeSet<&str> = extra.map(|operation| &*operation.key).collect();
        let exercised = expectation.left_alone as u64;
        let kept = exercised.saturating_sub(touched.len() as u64);
        let left_alone = Count { exercised, kept, ..Count::default() };
        let rules = [Rule::Created, Rule::Updated, Rule::Removed, Rule::LeftAlone];
        for (rule, count) in rules.into_iter().zip([created, updated, removed, left_alone]) {
            if count.exercised > 0 {
                self.rules.entry(rule).or_default().add(&count);
            }
        }
    }

    fn count_unordered(&mut self, expectation: &Expectation, spans: &Spans<'_>, may_overlap: bool) {
        if expectation.operations.len() > MOST_OPERATIONS {
            return self.checked("stages too large to count unordered pairs", 1);
        }
        let nodes = expectation.order.raw_nodes().iter().enumerate();
        let seen: Vec<(usize, &Span)> =
            nodes.filter_map(|(place, node)| Some((place, spans.get(&node.weight)?))).collect();
        if seen.len() < 2 {
            return;
        }
        let closure = expectation.closure();
        let mut count = Count::default();
        for (index, (place, span)) in seen.iter().enumerate() {
            for (other_place, other) in &seen[index + 1..] {
                if !closure.orders(*place, *other_place) {
                    count.any_order(&span.with(other));
                }
            }
        }
        if count.exercised > 0 {
            self.rules.entry(Rule::Unordered).or_default().add(&count);
            if may_overlap {
                self.checked(MAY_OVERLAP, 1);
                self.checked(OVERLAPPED, u64::from(count.overlapped > 0));
            }
        }
    }

    fn count_checks(&mut self, trial: &Trial<'_>, oracles: &[&Oracle]) {
        let asked = |id: OracleId| oracles.iter().any(|oracle| oracle.id == id);
        let (evidence, judged_as) = (trial.evidence, trial.stage.judged_as);
        self.checked(if trial.stage.repeats.is_some() { "repetitions" } else { judged_as.meaning().name }, 1);
        // What is only planned is not exercised, and what fails not as a whole.
        let plan = trial.model.as_ref().map(|model| model.plan);
        if let Some(plan) = plan.filter(|_| trial.stage.action.changes_the_world() && evidence.succeeded) {
            plan.causes.iter().for_each(|(cause, times)| self.changed(cause, *times));
        }
        if evidence.directory.is_some() && asked(OracleId::Health) {
            self.checked("working directories looked at", 1);
        }
        if evidence.directory_before.is_some() && asked(OracleId::State) {
            self.checked("backups compared", 1);
        }
        if evidence.record.calls.is_some() && asked(OracleId::Requests) {
            self.checked("calls counted", 1);
        }
        if asked(OracleId::Queries) && evidence.answer.is_some() {
            self.checked("answers to queries compared", 1);
        }
        let breaches = trial.stage.faults.iter().filter(|fault| fault.action.breach().is_some()).count();
        if asked(OracleId::Health) && breaches > 0 && !evidence.succeeded {
            self.checked("breaches of the provider's contract", breaches as u64);
        }
        if asked(OracleId::Steps) {
            self.checked(OPERATIONS_COMPARED, evidence.operations.len() as u64);
        }
        if asked(OracleId::Plan) && evidence.succeeded && judged_as != JudgedAs::Cross {
            self.checked("plans compared", 1);
            self.checked("planned changes compared", evidence.output.planned().count() as u64);
            self.checked("engine's own counts compared", evidence.output.summaries().count() as u64);
        }
        let output = &evidence.output;
        if asked(OracleId::Progress) && output.is_compared && trial.speaks() {
            self.checked("messages about operations compared", output.reported().count() as u64);
            self.checked("messages about reads compared", output.reads().count() as u64);
            self.checked("messages in sequence", output.messages.len() as u64);
        }
        if asked(OracleId::Health) && trial.speaks() {
            self.checked("errors and warnings compared", output.diagnostics().count() as u64);
        }
        if let Some(state) =
            evidence.state.state().filter(|_| asked(OracleId::State) && trial.settled().is_some())
        {
            self.checked("states compared", 1);
            self.checked("objects in states compared", state.objects.len() as u64);
            let old = state.objects.iter().filter(|stored| stored.deposed.is_some()).count();
            if old > 0 {
                self.checked("old objects in states compared", old as u64);
            }
            let is_part = !evidence.succeeded || !trial.options.target.is_empty();
            if is_part && trial.stage.action.changes_the_world() {
                self.checked("objects compared with the state before", state.objects.len() as u64);
            }
        }
        let only_plans = matches!(trial.stage.action, Action::Plan(_));
        if asked(OracleId::State) && (only_plans || trial.is_quiet(JudgedAs::Idle)) {
            self.checked("state files that must not change", 1);
        }
        if asked(OracleId::Attributes) && trial.settled().is_some() {
            self.checked("objects compared with the program", trial.world.len() as u64);
        }
        if asked(OracleId::Requests) {
            trial.requests.checks.iter().for_each(|(check, count)| self.checked(check, *count as u64));
        }
        if asked(OracleId::Repeat) && trial.repeated.is_some() {
            self.checked("repetitions compared", 1);
        }
        if asked(OracleId::Graph) && judged_as == JudgedAs::Source {
            self.checked("final graphs compared", 1);
        }
    }
}

/// The spans of operations, which are given in the order of their begins.
fn spans(operations: &[ObservedOperation]) -> Spans<'_> {
    let ended = |observed: &ObservedOperation| observed.end.map_or(u64::MAX, |(seq, _)| seq);
    let mut ends: Vec<u64> = operations.iter().map(ended).collect();
    ends.sort_unstable();
    let mut before = 0;
    let mut spans: Spans<'_> = FxHashMap::with_capacity_and_hasher(operations.len(), Default::default());
    for observed in operations {
        while ends.get(before).is_some_and(|end| *end < observed.begin) {
            before += 1;
        }
        let waited_for = if before == 0 { 0 } else { ends[before - 1] };
        let end = ended(observed);
        let took_effect = matches!(observed.end, Some((_, true)));
        spans
            .entry(&observed.operation)
            .and_modify(|span| {
                span.end = span.end.max(end);
                span.once = false;
            })
            .or_insert(Span { begin: observed.begin, end, waited_for, once: took_effect });
    }
    spans
}
