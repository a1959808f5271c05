//! Faults in an engine, not around it: OpenTofu with one file exchanged, so that its graph breaks a rule of the model.
//!
//! Building and judging all of them takes a good while, so that is done by `make test-faulty-engines`. The
//! other tests here hold the list of faults and the page to each other.

mod campaign;
mod fault;
mod staging;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Instant;

use campaign::{SEED, SOURCES, Seen, VARIANTS};
use equiform::campaign::Settings;
use equiform::spec::semantics::terraform::TERRAFORM;
use equiform::spec::{Deployed, LeftOut, Options, Step};
use fault::{Fault, Faults};
use staging::Staging;

/// The page that shows what was found.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/oracles.md");

/// Names a part of the faults: only those with this text in their names are built.
const PART: &str = "EQUIFORM_FAULTS";

/// A fault's row on the page, up to the oracles.
fn row(fault: &Fault) -> String {
    let rules: Vec<String> = fault.rules.iter().map(u8::to_string).collect();
    format!("| {} | {} | ", fault.name, rules.join(", "))
}

/// The oracles that the page says to see a fault.
fn shown(page: &str, fault: &Fault) -> BTreeSet<String> {
    let cells = page.lines().find_map(|line| line.strip_prefix(&row(fault))).unwrap_or_default();
    let oracles = cells.trim_end_matches(" |").split(", ");
    oracles.map(|oracle| oracle.trim_matches('`').to_owned()).filter(|oracle| !oracle.is_empty()).collect()
}

#[test]
#[ignore = "builds OpenTofu once for each fault: make test-faulty-engines"]
fn every_fault_in_an_engine_is_found_within_50_variants() {
    let faults = Faults::read();
    let part = std::env::var(PART).ok();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("faulty-engines");
    let staging = Staging::open(&folder, &faults);
    let judge = |name: &str, fault: Option<&Fault>, as_it_is: &Seen| -> Result<Seen, String> {
        let started = Instant::now();
        let engine = staging.build(&faults, fault)?;
        let built = started.elapsed();
        let seen = campaign::run(&engine, &folder.join(name.replace(' ', "-")), &as_it_is.marks);
        println!(
            "{name}: {} of 50 variants, first {:?}, by {:?}; built in {built:.0?}, judged in {:.0?}",
            seen.variants,
            seen.first,
            seen.oracles,
            started.elapsed() - built
        );
        for line in seen.samples.iter().chain(&seen.inconclusive) {
            println!("    {line}");
        }
        Ok(seen)
    };
    let mut problems = Vec::new();
    let as_it_is = judge("no fault", None, &Seen::default()).expect("the engine as it is builds");
    if as_it_is.oracles.contains("order") || !as_it_is.inconclusive.is_empty() {
        problems.push(format!("without a fault: {:?} {:?}", as_it_is.samples, as_it_is.inconclusive));
    }
    let page = fs::read_to_string(PAGE).unwrap();
    let mut table = Vec::new();
    for fault in &faults.fault {
        if part.as_ref().is_some_and(|part| !fault.name.contains(part)) {
            continue;
        }
        match judge(&fault.name, Some(fault), &as_it_is) {
            Ok(seen) if seen.first.is_none() => problems.push(format!("{} is not found", fault.name)),
            Ok(seen) => {
                let oracles: Vec<String> = seen.oracles.iter().map(|oracle| format!("`{oracle}`")).collect();
                table.push(format!("{}{} |", row(fault), oracles.join(", ")));
                // What comes second may see more in one run than in another: a race has more than one end.
                let shown = shown(&page, fault);
                if shown.is_empty() || !shown.is_subset(&seen.oracles) {
                    problems.push(format!("{}: docs/oracles.md shows {shown:?}", fault.name));
                }
            }
            Err(error) => problems.push(format!("{}: {error}", fault.name)),
        }
    }
    println!("{}", table.join("\n"));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_rule_of_the_model_is_broken_by_a_fault_and_every_fault_has_a_name_of_its_own() {
    let faults = Faults::read().fault;
    let broken: BTreeSet<u8> = faults.iter().flat_map(|fault| fault.rules.iter().copied()).collect();
    assert_eq!(broken, (1..=8).collect());
    let names: BTreeSet<&str> = faults.iter().map(|fault| fault.name.as_str()).collect();
    assert_eq!(names.len(), faults.len());
}

#[test]
fn the_page_lists_the_faults_in_their_order_with_the_rules_they_break() {
    let page = fs::read_to_string(PAGE).unwrap();
    let mut rest = page.as_str();
    for fault in Faults::read().fault {
        let start = row(&fault);
        let place = rest.find(&start);
        let place = place.unwrap_or_else(|| panic!("docs/oracles.md has no row `{start}` in its place"));
        rest = &rest[place + start.len()..];
    }
}

#[test]
fn the_variants_ask_for_every_rule_that_a_fault_breaks() {
    let settings =
        Settings { seed: SEED, sources: SOURCES, variants: VARIANTS as u64, ..Settings::default() };
    let mut rules = BTreeSet::new();
    for case in (0..SOURCES).map(|number| settings.case(number)) {
        for batches in (0..VARIANTS).map(|variant| case.batches(variant).unwrap()) {
            for pair in batches.windows(2) {
                let (deployed, options) = (Deployed::by(&pair[0].program), Options::default());
                let step = Step {
                    deployed: &deployed,
                    configuration: &pair[1].program,
                    options: &options,
                    semantics: TERRAFORM,
                };
                let expected = step.expectation(&LeftOut::none());
                rules.extend(expected.pairs().map(|(_, _, reason)| reason.rule));
            }
        }
    }
    assert_eq!(rules.len(), 8, "{rules:#?}");
}
