//! Operations take time. Between its begin and its end an operation is held, so that whatever an engine
//! allows to overlap does overlap, and the ledger shows it. [`threads`] tells whether the engine may still send
//! something, [`timer`] waits for less than a millisecond.

mod threads;
mod timer;

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::time::Duration;

use equiform_proto::holds::Hold;
use equiform_proto::ledger::{Operation, Phase};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use threads::Threads;

use crate::ledger::{Body, Ledger};
use crate::resource::apply::Caller;

/// How long the wire has to be quiet, unless told otherwise, where the system does not tell what the engine is doing:
/// longer than an engine that is not waiting for an answer takes to send its next request, and short against the
/// time that an engine's command takes. On a busy machine engines take longer between two requests, and so does the
/// wire to be quiet.
const QUIET: RangeInclusive<Duration> = Duration::from_millis(3)..=Duration::from_millis(25);

/// How long the wire must be quiet before the provider checks whether the engine sleeps: by then it has our last
/// answer.
const BEFORE_A_LOOK: Duration = Duration::from_micros(600);

/// The engine sleeps if it does so in two looks that lie so far apart. What it sent in between has come in by then.
const BETWEEN_LOOKS: Duration = Duration::from_micros(300);

/// An engine that never sleeps is not waited for longer than this.
const AWAKE: Duration = Duration::from_millis(100);

/// The wire is quiet after so many times the usual time between two requests.
const USUAL_GAPS: u32 = 3;

/// What lies further apart belongs to different bursts of requests.
const BURST: Duration = Duration::from_millis(100);

/// Of the operations that are held, one in so many goes on at a time.
const AT_ONCE: usize = 4;

/// An operation that is to be held.
#[derive(Debug, Clone, Copy)]
pub struct Held<R> {
    /// What its turn follows from, with the seed.
    pub rank: R,
    /// The `seq` of its begin.
    pub begin: u64,
}

/// Holds an operation that has begun, as its caller says. What is decided about it is written into the ledger.
pub async fn hold(ledger: &Ledger, caller: &Caller, held: Held<impl Hash>) {
    let (wire, record) = (ledger.wire(), Some((ledger, caller)));
    wire.hold(caller.hold, held, caller.engine_pid, &caller.stopped, record).await;
}

/// The requests that come in for one ledger, and the operations that are held meanwhile.
#[derive(Default)]
pub struct Wire {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// When the last request came in, or the last operation went on.
    last: Option<Instant>,
    /// The usual time between two requests of a burst.
    usual_gap: Duration,
    /// When the engine was seen asleep, and nothing has come in since.
    asleep: Option<Instant>,
    /// When to check again what the engine does.
    next_look: Option<Instant>,
    threads: Threads,
    tickets: u64,
    /// Those that are held, in the order in which they will go on, with the `seq` of their begins.
    held: BTreeMap<Ticket, u64>,
    /// Those that may go on and have not noticed yet.
    released: HashSet<Ticket>,
    /// Whether it has been decided who goes on, and the decision is being written down.
    is_decided: bool,
}

/// A held operation: its place in the order by seed, and a number of its own.
type Ticket = (u64, u64);

impl Wire {
    /// A request has come in.
    pub fn touch(&self) {
        let mut state = self.state.lock().expect("no holder panics");
        let now = Instant::now();
        if let Some(gap) = state.last.map(|last| now - last).filter(|gap| *gap < BURST) {
            // Each new one counts for a quarter, so a few of them suffice to learn the pace.
            state.usual_gap = (3 * state.usual_gap + gap) / 4;
        }
        state.last = Some(now);
        (state.asleep, state.next_look) = (None, None);
    }

    /// Waits as long as operations are held. A stop ends the wait. `engine` is the process that asked for the
    /// operation, `record` where decisions are written down.
    async fn hold(
        &self,
        hold: Hold,
        held: Held<impl Hash>,
        engine: Option<u32>,
        stopped: &CancellationToken,
        record: Option<(&Ledger, &Caller)>,
    ) {
        let wait = async {
            match hold {
                Hold::Off => {}
                Hold::For { .. } => tokio::time::sleep(hold.time().unwrap_or_default()).await,
                Hold::UntilQuiet { seed, .. } => {
                    let held = Held { rank: (seed, held.rank), begin: held.begin };
                    self.until_quiet(hold.time(), held, engine, record).await;
                }
            }
        };
        tokio::select! {
            () = wait => {}
            () = stopped.cancelled() => {}
        }
    }

    async fn until_quiet(
        &self,
        quiet: Option<Duration>,
        held: Held<impl Hash>,
        engine: Option<u32>,
        record: Option<(&Ledger, &Caller)>,
    ) {
        let held = HeldOperation::new(self, held);
        loop {
            // Registered before the look: what is released between the two must not be missed.
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            let look_again = match self.look(held.ticket, quiet, engine) {
                Look::GoOn => return,
                Look::Again(at) => at,
                Look::Decided(decision) => {
                    if let Some((ledger, caller)) = record {
                        let (held, released) = (decision.held.clone(), decision.released());
                        let body = Body { held, released, ..caller.schedule() };
                        // If it cannot be written, neither can the end of an operation, and that one says so.
                        let _ = ledger.note(Operation::Release, Phase::Commit, body).await;
                    }
                    drop(decision);
                    continue;
                }
            };
            // The runtime's own timers are exact to a millisecond, which is too long for a look at an engine.
            let exact = quiet.is_none() && engine.is_some();
            let wait = async {
                if !exact || timer::wait(look_again - Instant::now()).await.is_err() {
                    tokio::time::sleep_until(look_again).await;
                }
            };
            tokio::select! {
                () = changed => {}
                () = wait => {}
            }
            // What has come in meanwhile is counted first.
            tokio::task::yield_now().await;
        }
    }

    /// Whether an operation goes on now, or who does.
    fn look(&self, ticket: Ticket, quiet: Option<Duration>, engine: Option<u32>) -> Look<'_> {
        let mut state = self.state.lock().expect("no holder panics");
        if state.released.contains(&ticket) {
            return Look::GoOn;
        }
        let now = Instant::now();
        if state.is_decided {
            return Look::Again(now + BEFORE_A_LOOK);
        }
        let due = match quiet {
            Some(quiet) => state.last.map(|last| last + quiet),
            None => state.sends_nothing_more(engine, now),
        };
        if let Some(due) = due.filter(|due| *due > now) {
            return Look::Again(due);
        }
        state.is_decided = true;
        let go_on = state.held.keys().take(state.held.len().div_ceil(AT_ONCE)).copied().collect();
        Look::Decided(Decision { wire: self, held: state.held.values().copied().collect(), go_on })
    }
}

/// What a look at the wire shows.
enum Look<'a> {
    /// The operation goes on.
    GoOn,
    /// It is held; look again then.
    Again(Instant),
    /// The engine is quiet, and these go on.
    Decided(Decision<'a>),
}

/// A decision which operations go on. It takes effect when it is dropped, so that one whose writer is stopped does too.
struct Decision<'a> {
    wire: &'a Wire,
    /// The begins of all that are held, in the order of their turns.
    held: Vec<u64>,
    /// Those that go on, the first of them.
    go_on: Vec<Ticket>,
}

impl Decision<'_> {
    /// The begins of those that go on.
    fn released(&self) -> Vec<u64> {
        self.held[..self.go_on.len()].to_vec()
    }
}

impl Drop for Decision<'_> {
    fn drop(&mut self) {
        let mut state = self.wire.state.lock().expect("no holder panics");
        for ticket in &self.go_on {
            // One that was stopped meanwhile is held no more.
            if state.held.remove(ticket).is_some() {
                state.released.insert(*ticket);
            }
        }
        state.is_decided = false;
        state.last = Some(Instant::now());
        (state.asleep, state.next_look) = (None, None);
        // Those that are still held are woken too, and look for themselves.
        self.wire.changed.notify_waiters();
    }
}

impl State {
    /// When the engine may be taken to send nothing more; none if it is so now.
    fn sends_nothing_more(&mut self, engine: Option<u32>, now: Instant) -> Option<Instant> {
        let last = *self.last.get_or_insert(now);
        if let Some(due) = self.next_look.or(Some(last + BEFORE_A_LOOK)).filter(|due| *due > now) {
            return Some(due);
        }
        let Some(asleep) = engine.and_then(|engine| self.threads.sleep(engine)) else {
            let at_its_pace = (USUAL_GAPS * self.usual_gap).clamp(*QUIET.start(), *QUIET.end());
            return Some(last + at_its_pace);
        };
        if (asleep && self.asleep.is_some()) || last + AWAKE <= now {
            return None;
        }
        self.asleep = asleep.then_some(now);
        self.next_look = Some(now + BETWEEN_LOOKS);
        self.next_look
    }
}

/// An operation that is held, for as long as this lives.
struct HeldOperation<'a> {
    wire: &'a Wire,
    ticket: Ticket,
}

impl<'a> HeldOperation<'a> {
    fn new(wire: &'a Wire, held: Held<impl Hash>) -> Self {
        let mut hasher = DefaultHasher::new();
        held.rank.hash(&mut hasher);
        let mut state = wire.state.lock().expect("no holder panics");
        state.tickets += 1;
        let ticket = (hasher.finish(), state.tickets);
        state.held.insert(ticket, held.begin);
        Self { wire, ticket }
    }
}

impl Drop for HeldOperation<'_> {
    fn drop(&mut self) {
        let mut state = self.wire.state.lock().expect("no holder panics");
        state.held.remove(&self.ticket);
        state.released.remove(&self.ticket);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use equiform_proto::ledger::Entry;

    use super::*;

    fn named(rank: &'static str) -> Held<&'static str> {
        Held { rank, begin: 1 }
    }

    /// The order in which held operations go on, and when, in milliseconds; `requests` come in at other times.
    fn released(seed: u64, operations: &[&'static str], requests: &[u64]) -> Vec<(&'static str, u64)> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let (wire, order) = (Arc::new(Wire::default()), Arc::new(Mutex::new(Vec::new())));
            let begin = Instant::now();
            wire.touch();
            let mut tasks = tokio::task::JoinSet::new();
            for name in operations.iter().copied() {
                let (wire, order) = (wire.clone(), order.clone());
                tasks.spawn(async move {
                    let hold = Hold::UntilQuiet { after: Some(10), seed };
                    wire.hold(hold, named(name), None, &CancellationToken::new(), None).await;
                    let after = u64::try_from(begin.elapsed().as_millis()).unwrap();
                    order.lock().unwrap().push((name, after));
                });
            }
            for &at in requests {
                let wire = wire.clone();
                tasks.spawn(async move {
                    tokio::time::sleep_until(begin + Duration::from_millis(at)).await;
                    wire.touch();
                });
            }
            tasks.join_all().await;
            Arc::try_unwrap(order).unwrap().into_inner().unwrap()
        })
    }

    #[test]
    fn held_operations_go_on_one_by_one_when_the_wire_is_quiet() {
        let times: Vec<u64> = released(1, &["a", "b", "c"], &[]).into_iter().map(|(_, at)| at).collect();
        assert_eq!(times, [10, 20, 30]);
    }

    #[test]
    fn a_request_that_comes_in_keeps_them_held() {
        let times: Vec<u64> = released(1, &["a", "b"], &[5, 12, 30]).into_iter().map(|(_, at)| at).collect();
        assert_eq!(times, [22, 40]);
    }

    #[test]
    fn the_seed_decides_which_one_goes_on_first() {
        let first = |seed| released(seed, &["a", "b", "c"], &[])[0].0;
        let firsts: HashSet<&str> = (0..20).map(first).collect();
        assert_eq!(firsts.len(), 3);
        assert_eq!(first(7), first(7));
    }

    #[test]
    fn an_engine_that_is_slow_between_requests_is_waited_for_longer() {
        let after_gaps_of = |gap: u64| {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
            runtime.unwrap().block_on(async {
                let wire = Wire::default();
                for _ in 0..20 {
                    wire.touch();
                    tokio::time::sleep(Duration::from_millis(gap)).await;
                }
                wire.touch();
                let begin = Instant::now();
                wire.hold(Hold::QUIET, named("a"), None, &CancellationToken::new(), None).await;
                begin.elapsed().as_millis()
            })
        };
        let [quick, slow, slowest] = [0, 5, 90].map(after_gaps_of);
        assert_eq!((quick, slowest), (3, 25));
        assert!((14..=16).contains(&slow), "{slow}");
    }

    /// A process that ends with the test, however that ends.
    struct Child(std::process::Child);

    impl Drop for Child {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn an_engine_is_waited_for_until_it_sleeps() {
        let busy =
            Child(std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap());
        let asleep = Child(std::process::Command::new("sleep").arg("1000").spawn().unwrap());
        let after = |Child(engine): &Child| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let wire = Wire::default();
                wire.touch();
                let begin = Instant::now();
                let stopped = CancellationToken::new();
                wire.hold(Hold::QUIET, named("a"), Some(engine.id()), &stopped, None).await;
                begin.elapsed()
            })
        };
        assert!(after(&busy) >= AWAKE, "it may send something as long as it computes");
        let quick = (0..20).map(|_| after(&asleep)).min().unwrap();
        assert!((BEFORE_A_LOOK..AWAKE).contains(&quick), "{quick:?}");
        assert_eq!(Threads::default().sleep(u32::MAX), None);
    }

    #[test]
    fn many_go_on_several_at_a_time() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let last = released(1, &names, &[]).last().unwrap().1;
        assert!(last < 100, "{last}");
    }

    #[test]
    fn the_ledger_says_which_operations_were_held_and_which_of_them_went_on() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("ledger.jsonl");
            let ledger = Arc::new(Ledger::open(&path).await.unwrap());
            let hold_them = Hold::UntilQuiet { after: Some(10), seed: 3 };
            let caller = Caller { run: Some("r".to_owned()), hold: hold_them, ..Caller::default() };
            let mut tasks = tokio::task::JoinSet::new();
            ledger.wire().touch();
            for begin in 1..=6 {
                let (ledger, caller) = (ledger.clone(), caller.clone());
                tasks.spawn(async move { hold(&ledger, &caller, Held { rank: begin, begin }).await });
            }
            tasks.join_all().await;
            let text = std::fs::read_to_string(&path).unwrap();
            let decisions: Vec<Entry> =
                text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
            assert!(decisions.iter().all(|it| it.op == Operation::Release && it.run.as_deref() == Some("r")));
            let counts: Vec<_> = decisions.iter().map(|it| (it.held.len(), it.released.len())).collect();
            assert_eq!(counts, [(6, 2), (4, 1), (3, 1), (2, 1), (1, 1)]);
            let order: Vec<u64> = decisions.iter().flat_map(|it| it.released.clone()).collect();
            assert_eq!(order, decisions[0].held, "the first decision names all in the order of their turns");
            assert!(decisions.iter().all(|it| it.held.starts_with(&it.released)));
        });
    }

    #[test]
    fn a_stop_ends_the_wait() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let (wire, stopped) = (Wire::default(), CancellationToken::new());
            stopped.cancel();
            let begin = Instant::now();
            wire.hold(Hold::For { milliseconds: 60_000 }, named("a"), None, &stopped, None).await;
            assert_eq!(begin.elapsed(), Duration::ZERO);
        });
    }
}
