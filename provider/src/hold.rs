//! Operations take time. Between its begin and its end an operation is held, so that whatever an engine
//! allows to overlap does overlap, and the ledger shows it. [`threads`] tells whether the engine may still send
//! something, [`timer`] waits for less than a millisecond.

mod threads;
mod timer;

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use threads::Threads;

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

/// How operations are held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hold {
    /// Not at all.
    #[default]
    Off,
    /// For a fixed time.
    For(Duration),
    /// Until the engine sends nothing more. Then one of them goes on, chosen by seed, and the others are held until it
    /// is quiet again.
    UntilQuiet {
        /// It sends nothing more if no request has come in for so long; none if it sleeps.
        quiet: Option<Duration>,
        /// Decides which one goes on.
        seed: u64,
    },
}

/// A text that does not say how operations are held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no way to hold operations. There are: off, a time such as 5ms, quiet, quiet:5ms, quiet:SEED, \
     quiet:5ms:SEED"
)]
pub struct NoHold(String);

impl FromStr for Hold {
    type Err = NoHold;

    fn from_str(text: &str) -> Result<Self, NoHold> {
        let refused = || NoHold(text.to_owned());
        let mut parts = text.split(':');
        let hold = match parts.next() {
            Some("off") => Self::Off,
            Some("quiet") => {
                let mut parts = parts.by_ref().peekable();
                let quiet = parts.next_if(|part| part.ends_with('s'));
                let quiet = quiet.map(|quiet| duration(quiet).ok_or_else(refused)).transpose()?;
                let seed = parts.next().map_or(Ok(0), str::parse).map_err(|_| refused())?;
                if parts.next().is_some() {
                    return Err(refused());
                }
                Self::UntilQuiet { quiet, seed }
            }
            Some(time) => Self::For(duration(time).ok_or_else(refused)?),
            None => return Err(refused()),
        };
        if parts.next().is_some() { Err(refused()) } else { Ok(hold) }
    }
}

/// A time of at most an hour, in `ms` or `s`.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (text.strip_suffix('s')?, 1000),
    };
    let number: u64 = number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())??;
    let time = Duration::from_millis(number.checked_mul(unit)?);
    (time <= Duration::from_secs(3600)).then_some(time)
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
    /// Those that are held, in the order in which they will go on.
    held: BTreeSet<Ticket>,
    /// Those that may go on and have not noticed yet.
    released: HashSet<Ticket>,
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

    /// Waits as long as operations are held. `name` tells the operation from others that are held at the same
    /// time; a stop ends the wait. `engine` is the process that asked for it.
    pub async fn hold(&self, hold: Hold, name: impl Hash, engine: Option<u32>, stopped: &CancellationToken) {
        let wait = async {
            match hold {
                Hold::Off => {}
                Hold::For(time) => tokio::time::sleep(time).await,
                Hold::UntilQuiet { quiet, seed } => self.until_quiet(quiet, (seed, name), engine).await,
            }
        };
        tokio::select! {
            () = wait => {}
            () = stopped.cancelled() => {}
        }
    }

    async fn until_quiet(&self, quiet: Option<Duration>, rank: impl Hash, engine: Option<u32>) {
        let held = HeldOperation::new(self, rank);
        loop {
            // Registered before the look: what is released between the two must not be missed.
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            let Some(look_again) = self.look(held.ticket, quiet, engine) else { return };
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

    /// When to look again; none if the operation goes on now.
    fn look(&self, ticket: Ticket, quiet: Option<Duration>, engine: Option<u32>) -> Option<Instant> {
        let mut state = self.state.lock().expect("no holder panics");
        if state.released.contains(&ticket) {
            return None;
        }
        let now = Instant::now();
        let due = match quiet {
            Some(quiet) => state.last.map(|last| last + quiet),
            None => state.sends_nothing_more(engine, now),
        };
        if let Some(due) = due.filter(|due| *due > now) {
            return Some(due);
        }
        for _ in 0..state.held.len().div_ceil(AT_ONCE) {
            let released = state.held.pop_first();
            state.released.extend(released);
        }
        state.last = Some(now);
        (state.asleep, state.next_look) = (None, None);
        self.changed.notify_waiters();
        // Those that are still held are woken too, and look for themselves.
        (!state.released.contains(&ticket)).then_some(now + BEFORE_A_LOOK)
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
    fn new(wire: &'a Wire, rank: impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        rank.hash(&mut hasher);
        let mut state = wire.state.lock().expect("no holder panics");
        state.tickets += 1;
        let ticket = (hasher.finish(), state.tickets);
        state.held.insert(ticket);
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

    use super::*;

    #[test]
    fn ways_to_hold_are_read_and_others_refused() {
        let ms = Duration::from_millis;
        assert_eq!("off".parse(), Ok(Hold::Off));
        assert_eq!("2s".parse(), Ok(Hold::For(ms(2000))));
        assert_eq!("quiet".parse(), Ok(Hold::UntilQuiet { quiet: None, seed: 0 }));
        assert_eq!("quiet:9".parse(), Ok(Hold::UntilQuiet { quiet: None, seed: 9 }));
        assert_eq!("quiet:7ms:9".parse(), Ok(Hold::UntilQuiet { quiet: Some(ms(7)), seed: 9 }));
        for text in
            ["", "on", "5", "ms", "-1ms", "+1ms", "2h", "quiet:", "quiet:1ms:x", "quiet:1ms:1:1", "9999999s"]
        {
            assert_eq!(text.parse::<Hold>(), Err(NoHold(text.to_owned())));
        }
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
                    let hold = Hold::UntilQuiet { quiet: Some(Duration::from_millis(10)), seed };
                    wire.hold(hold, name, None, &CancellationToken::new()).await;
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
                let hold = Hold::UntilQuiet { quiet: None, seed: 0 };
                wire.hold(hold, "a", None, &CancellationToken::new()).await;
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
                let hold = Hold::UntilQuiet { quiet: None, seed: 0 };
                wire.hold(hold, "a", Some(engine.id()), &CancellationToken::new()).await;
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
    fn a_stop_ends_the_wait() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let (wire, stopped) = (Wire::default(), CancellationToken::new());
            stopped.cancel();
            let begin = Instant::now();
            wire.hold(Hold::For(Duration::from_secs(60)), "a", None, &stopped).await;
            assert_eq!(begin.elapsed(), Duration::ZERO);
        });
    }
}
