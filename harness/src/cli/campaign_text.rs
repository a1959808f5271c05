//! How campaigns speak while they run, on standard error: a bar where there is a terminal, else a line now and then,
//! and failures as they come.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::campaign::Watcher;
use crate::campaign::tally::Tally;
use crate::judge::verdict::{VariantResult, VariantVerdict};

/// How often progress is reported without a terminal.
const INTERVAL: Duration = Duration::from_secs(15);

/// A bar where there is a terminal, a line now and then where there is none, and a line for each finding everywhere.
pub struct ProgressDisplay {
    bar: ProgressBar,
    tally: Arc<Mutex<Tally>>,
    ticker: Option<Ticker>,
}

impl ProgressDisplay {
    /// For this many variants.
    pub fn new(variants: u64) -> Self {
        let bar = ProgressBar::new(variants);
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} variants, {per_sec}, {eta} left{msg}");
        bar.set_style(style.expect("the template is valid"));
        let tally: Arc<Mutex<Tally>> = Arc::default();
        let ticker = (!io::stderr().is_terminal()).then(|| {
            let tally = Arc::clone(&tally);
            let tell = move || note(&progress(&tally.lock().expect("no holder panics"), variants));
            Ticker::start(INTERVAL, tell)
        });
        Self { bar, tally, ticker }
    }

    fn show(&self, case: usize, variant: &VariantVerdict) {
        for line in lines(&format!("case {case}"), variant) {
            self.bar.suspend(|| note(&line));
        }
        let mut tally = self.tally.lock().expect("no holder panics");
        tally.count(variant);
        self.bar.set_message(so_far(&tally));
        self.bar.inc(1);
    }
}

/// A line on standard error, where somebody may read it or not.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// How far it is, in a line.
fn progress(tally: &Tally, variants: u64) -> String {
    let Tally { passed, failed, known, inconclusive, .. } = tally;
    let judged = passed + failed + known + inconclusive;
    let mut line = format!("{judged} of {variants} variants, {known} known, {failed} failed");
    if *inconclusive > 0 {
        line += &format!(", {inconclusive} inconclusive");
    }
    line
}

/// Does something at regular intervals, for as long as this lives.
struct Ticker {
    alive: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    fn start(interval: Duration, act: impl Fn() + Send + 'static) -> Self {
        let (alive, end) = mpsc::channel();
        let thread = thread::spawn(move || {
            while end.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                act();
            }
        });
        Self { alive: Some(alive), thread: Some(thread) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.alive = None;
        // A tick that panicked has told so.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// What was found, in a few words.
fn so_far(tally: &Tally) -> String {
    let parts = [(tally.failed, "failed"), (tally.known, "known"), (tally.inconclusive, "inconclusive")];
    parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!(", {count} {what}")).collect()
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.ticker = None;
        self.bar.finish_and_clear();
    }
}

impl Watcher for ProgressDisplay {
    fn judged(&self, case: usize, variant: &VariantVerdict) {
        self.show(case, variant);
    }

    /// The rate is that of this run.
    fn stored(&self, case: usize, variant: &VariantVerdict) {
        self.show(case, variant);
        self.bar.reset_eta();
    }
}

/// What there is to say of a variant that did not pass: a line for each new finding, and one for all known ones.
pub fn lines(case: &str, variant: &VariantVerdict) -> Vec<String> {
    let place = format!("{case} variant {}", variant.variant);
    let mut lines: Vec<String> = Vec::new();
    for finding in &variant.warm_only {
        let signature = finding.signature();
        lines.push(format!("{place} {}: warm only: {signature}: {finding}", finding.stage));
    }
    if let VariantResult::Inconclusive { reason } = &variant.result {
        lines.push(format!("{place}: inconclusive: {reason}"));
        return lines;
    }
    for finding in variant.result.findings() {
        let line = match &finding.known {
            Some(name) => format!("{place} {}: known: {name}", finding.stage),
            None => {
                format!("{place} {}: {}: {finding}", finding.stage, finding.signature())
            }
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if matches!(variant.result, VariantResult::Fail { .. }) {
        lines.extend(variant.again.map(|again| match again {
            true => format!("{place}: again: a second deployment shows it too"),
            false => format!("{place}: not again: a second deployment does not show it"),
        }));
    }
    lines.extend(variant.damaged.as_ref().map(|why| format!("{place}: {why}")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::finding::FindingKind as Kind;
    use crate::judge::finding::{Finding, FindingKind, Subject};
    use crate::spec::OperationKind;

    fn finding(kind: FindingKind, known: Option<&str>) -> Finding {
        let operation = OperationKind::Create;
        let subject = Subject::Operation { key: "a".to_owned(), operation, role: None, object: None };
        let finding = Finding::new(kind, "batch-2").about([subject]);
        Finding { known: known.map(str::to_owned), ..finding }
    }

    #[test]
    fn a_known_bug_is_one_line_and_each_new_finding_another() {
        let known = Some("old-bug");
        let findings =
            [(Kind::OperationMissing, known), (Kind::OperationExtra, None), (Kind::OperationMissing, known)];
        let findings = findings.map(|(kind, known)| finding(kind, known)).to_vec();
        let variant = VariantVerdict::new(3, VariantResult::of(findings));
        let expected = [
            "case 1 variant 3 batch-2: known: old-bug",
            "case 1 variant 3 batch-2: steps: operation-extra: create a",
        ];
        assert_eq!(lines("case 1", &variant), expected);
        let tried = VariantVerdict { again: Some(false), ..variant };
        assert_eq!(
            lines("case 1", &tried)[2..],
            ["case 1 variant 3: not again: a second deployment does not show it"]
        );
    }

    #[test]
    fn without_a_terminal_a_line_says_how_far_it_is() {
        let mut tally = Tally { passed: 118, known: 2, ..Tally::default() };
        assert_eq!(progress(&tally, 500), "120 of 500 variants, 2 known, 0 failed");
        tally.inconclusive = 1;
        assert_eq!(progress(&tally, 500), "121 of 500 variants, 2 known, 0 failed, 1 inconclusive");
    }

    #[test]
    fn a_ticker_ticks_until_it_is_dropped() {
        let (ticked, ticks) = mpsc::channel();
        let ticker = Ticker::start(Duration::from_millis(1), move || ticked.send(()).unwrap());
        ticks.recv().unwrap();
        ticks.recv().unwrap();
        drop(ticker);
        // The thread and its end of the channel are gone, so what is left to read has an end.
        ticks.iter().for_each(drop);
    }

    #[test]
    fn the_bar_says_what_was_found_so_far() {
        let mut tally = Tally::default();
        assert_eq!(so_far(&tally), "");
        let verdict =
            |known| VariantVerdict::new(0, VariantResult::of(vec![finding(Kind::OperationExtra, known)]));
        tally.count(&verdict(None));
        tally.count(&verdict(Some("old-bug")));
        assert_eq!(so_far(&tally), ", 1 failed, 1 known");
    }
}
