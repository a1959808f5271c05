//! Unmodified engines.

use std::fs;
use std::time::Duration;

use equiform::campaign::tally::Tally;
use equiform::campaign::{Campaign, Settings, Silent, Watcher};
use equiform::deploy::Runner;
use equiform::deploy::stop::Stop;
use equiform::engines::driver::ProviderMode;
use equiform::judge::known::KnownFindings;
use equiform::judge::oracles::{ORACLES, Oracle};
use equiform::judge::variant as judge;
use equiform::judge::verdict::VariantVerdict;

use super::support::{engine, id, provider, runner};

/// Asks the runner to stop as soon as a variant of the second case is judged.
struct Impatient<'a>(&'a Runner);

impl Watcher for Impatient<'_> {
    fn judged(&self, case: usize, _: &VariantVerdict) {
        if case == 1 {
            self.0.stop.soon();
        }
    }
}

fn small() -> Settings {
    Settings {
        seed: 5,
        sources: 2,
        variants: 2,
        batches: 3,
        resources: 3..=5,
        edges: 2..=5,
        ..Settings::default()
    }
}

fn a_small_campaign_finds_nothing(spec: &str) {
    let (folder, server) = (tempfile::tempdir().unwrap(), provider(ProviderMode::Reattach));
    let runner = runner(&engine(spec), &server, Duration::from_secs(120));
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let known = KnownFindings::none();
    let engine = id(spec).into();
    let campaign = Campaign::new(&runner, &engine, &oracles, &known);
    let verdicts = campaign.run(&small(), folder.path()).cases().unwrap();
    let tally = Tally::of(&verdicts);
    assert_eq!((tally.passed, tally.failed, tally.inconclusive), (4, 0, 0), "{verdicts:#?}");
    let cases = judge::case_folders(folder.path()).unwrap();
    let again: Vec<_> =
        cases.iter().zip(0..).map(|(case, number)| judge::case(number, case, &oracles).unwrap()).collect();
    assert_eq!(again, verdicts, "judging again from the evidence gives the same verdicts");
}

#[test]
fn a_small_campaign_on_terraform_finds_nothing_and_is_judged_the_same_again() {
    a_small_campaign_finds_nothing("terraform@1.15.5");
}

#[test]
fn a_small_campaign_on_opentofu_finds_nothing_and_is_judged_the_same_again() {
    a_small_campaign_finds_nothing("tofu@1.12.6");
}

#[test]
fn a_campaign_that_is_stopped_keeps_what_was_judged_and_resumes_from_there() {
    let (folder, server) = (tempfile::tempdir().unwrap(), provider(ProviderMode::Reattach));
    let runner = runner(&engine("terraform@1.15.5"), &server, Duration::from_secs(120));
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let impatient = Impatient(&runner);
    let known = KnownFindings::none();
    let engine = id("terraform@1.15.5").into();
    let campaign = Campaign { watcher: &impatient, ..Campaign::new(&runner, &engine, &oracles, &known) };
    let first = campaign.run(&small(), folder.path());
    assert_eq!((first.judged(), first.earlier), (3, 0));
    assert!(!folder.path().join("case-0001/variant-0001").exists(), "it was not begun");
    let record = folder.path().join("case-0001/variant-0000/verdict.json");
    let written = fs::metadata(&record).unwrap().modified().unwrap();
    let runner = Runner { stop: Stop::default(), ..runner.clone() };
    let campaign = Campaign { runner: &runner, watcher: &Silent, ..campaign };
    let second = campaign.run(&small(), folder.path());
    assert_eq!((second.judged(), second.earlier), (4, 3));
    assert_eq!(
        fs::metadata(&record).unwrap().modified().unwrap(),
        written,
        "what was done is not done again"
    );
}
