//! A failing case of eleven resources and four batches is reduced to the smallest that a fault shows itself in.

mod minima;

use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use equiform::algebra::graph::NamedGraph;
use equiform::algebra::program::parse;
use equiform::campaign::Settings;
use equiform::campaign::bundle::Bundler;
use equiform::campaign::place::StoredVariant;
use equiform::campaign::reduce::budget::Budget;
use equiform::campaign::reduce::symptom::Symptom;
use equiform::campaign::reduce::{Ended, ReduceError, Reduced, Reducer, Size, Watcher};
use equiform::case::stage::Stage;
use equiform::case::{Case, Variant};
use equiform::deploy::Runner;
use equiform::deploy::access::Provider;
use equiform::deploy::stop::Stop;
use equiform::engines::driver::ProviderMode;
use equiform::judge::explain::Explanation;
use equiform::judge::known::KnownFindings;
use equiform::judge::oracles::{ORACLES, Oracle};
use equiform::judge::variant as judge;

use super::faults::list::{Fault, plain, special};
use super::faults::scenario::{Scenario, any, applies_batch_one_by_one};
use super::faults::{runner_for, wrapper};
use super::support::{engine, id, located, provider, runner};

/// How many resources and batches a case has before it is reduced.
const RESOURCES: usize = 11;
const BATCHES: usize = 4;

/// How many attempts a reduction may take on average.
const ATTEMPTS: usize = 150;

/// One in this many faults is reduced where all would take too long.
const ONE_OF: usize = 60;

/// Whether all faults and bugs are reduced, which takes long.
fn all() -> bool {
    env::var_os("EQUIFORM_REDUCE_ALL").is_some()
}

/// The same case with more resources, of which the first depends on `a`, and more batches, in which these change.
fn grown(case: &Case) -> Case {
    let mut case = case.clone();
    // Nothing can be added to one that does not begin with `a`, and it is large already.
    if case.variants.iter().any(|variant| !variant.program.contains("(add a empty)")) {
        return case;
    }
    for Variant { program, stages, .. } in &mut case.variants {
        let parsed = parse(program).unwrap();
        let (names, batches) = (parsed.names.count() as usize, parsed.cuts.len() + 1);
        let added: Vec<String> = (names..RESOURCES).map(|number| format!("p{number}")).collect();
        let mut inner = added.iter().fold("empty".to_owned(), |inner, name| format!("(add {name} {inner})"));
        for (place, pair) in added.windows(2).enumerate() {
            let kind = ["", " pinned_refs", " depends_on"][place % 3];
            inner = format!("(con {} {}{kind} {inner})", pair[0], pair[1]);
        }
        let first = added.first().map(String::as_str);
        let first = first.map(|name| format!("(con a {name} (add a {inner}))")).unwrap_or(inner);
        let mut term = program.replacen("(add a empty)", &first, 1);
        for (batch, name) in (batches..BATCHES).zip(added.iter().rev().cycle()) {
            let value = ["a", "b", "c"][batch % 3];
            term = format!("(set {name} label {value} (cut {term}))");
        }
        *program = term;
        *stages = Stage::usual(BATCHES.max(batches), 1);
    }
    let parsed = parse(&case.variants[0].program).unwrap();
    case.source = NamedGraph::new(&parsed.eval().unwrap(), &parsed.names);
    case
}

struct Silent;

impl Watcher for Silent {
    fn attempted(&self, _: usize) {}
    fn reduced(&self, _: &str, _: Size) {}
}

/// Reduces what an engine does with a variant.
fn reduced(
    case: &Case,
    variant: usize,
    engine: &Path,
    server: &Provider,
    timeout: Duration,
) -> Result<Reduced, ReduceError> {
    watched(case, variant, &runner(engine, server, timeout), &Silent)
}

/// The same, with a watcher.
fn watched(
    case: &Case,
    variant: usize,
    runner: &Runner,
    watcher: &dyn Watcher,
) -> Result<Reduced, ReduceError> {
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let scratch = env::temp_dir();
    let recorded = runner.engine.engine().recorded();
    let reducer = Reducer {
        runner,
        engine: &recorded,
        oracles: &oracles,
        known: &KnownFindings::shipped(),
        jobs: 2,
        budget: &[Budget::Time(Duration::from_secs(600))],
        interesting: None,
        scratch: &scratch,
        began: Instant::now(),
        earlier: 0,
        watcher,
    };
    reducer.reduce(case, variant, None, "a test")
}

/// A reduction, and whether a script shows the failure from an empty folder.
type WithBundle = (Reduced, Result<(), String>);

/// Reduces what an engine with a fault does with a case, and makes a bundle of it.
fn reduced_fault(fault: &Fault, real: &Path, server: &Provider) -> Result<WithBundle, ReduceError> {
    let folder = tempfile::tempdir().unwrap();
    let wrapper = wrapper(folder.path(), real, fault);
    let reduced = watched(&case_of(fault), 0, &runner_for(&[fault], &wrapper, server), &Silent)?;
    // What was hard to find would be no use if nobody else could see it.
    let (small, out) = (folder.path().join("small"), folder.path().join("bundle"));
    reduced.keep(&small).unwrap();
    let known = KnownFindings::shipped();
    let place = StoredVariant::find(&small, None, &known).unwrap();
    let explanation = Explanation::of(&place.case, 0, &place.folder, &known, &place.engine).unwrap();
    // Of several operations that are not as expected, either names the others.
    let kept = reduced.reduction.symptom.signature;
    assert_eq!(explanation.cause.signature(), kept, "{}", fault.name);
    let engine = located(&wrapper);
    let bundler = Bundler {
        engine: &engine,
        others: &[],
        title: None,
        context: None,
        stop: Stop::default(),
        watch: &|_| (),
    };
    let shown = bundler.make(&place, &explanation, &out).map(|_| ()).map_err(|error| error.to_string());
    Ok((reduced, shown))
}

/// A case in which a fault shows itself, of many resources and batches.
fn case_of(fault: &Fault) -> Case {
    // All at once is more than one only in the first batch.
    let one_by_one: Scenario = |it| applies_batch_one_by_one(it, 1);
    fault.shown_by_grown(grown, if fault.name.contains("-parallelism") { one_by_one } else { any })
}

#[test]
fn faults_are_reduced_to_their_minimum() {
    let only = env::var("EQUIFORM_REDUCE").unwrap_or_default();
    let (real, server) = (engine("terraform@1.15.5"), provider(ProviderMode::Reattach));
    // A bundle's script installs the provider, and the proxy is only between an engine and an attached one. Nor does a
    // script hold a lock.
    let faults = plain().into_iter().chain(special());
    let faults = faults.filter(|fault| !fault.is_proxied() && !fault.needs_lock());
    let chosen = |place: usize| all() || !only.is_empty() || place.is_multiple_of(ONE_OF);
    let chosen: Vec<&Fault> =
        faults.enumerate().filter(|(place, _)| chosen(*place)).map(|(_, fault)| fault).collect();
    let is_meant = |fault: &&Fault| only.split('|').any(|part| fault.name.contains(part));
    let chosen: Vec<&Fault> = chosen.into_iter().filter(is_meant).collect();
    let (mut wrong, mut attempts) = (Vec::new(), Vec::new());
    for fault in chosen {
        let began = Instant::now();
        let result = reduced_fault(fault, &real, &server);
        let line = match result {
            Ok((reduced, shown)) => {
                let reduction = &reduced.reduction;
                let Size { resources, batches, commands, edges } = reduction.after;
                attempts.push(reduction.attempts);
                let minimum = minima::of(fault.name);
                let is_larger = minimum.is_none_or(|minimum| {
                    resources > minimum.0 || batches > minimum.1 || commands > minimum.2
                });
                if is_larger || reduction.ended != Ended::Minimal {
                    wrong.push(format!("{}: {:?} instead of {minimum:?}", fault.name, reduction.after));
                }
                if let Err(error) = shown {
                    println!("{}: {error}", fault.name);
                    wrong.push(format!("{}: {error}", fault.name));
                }
                format!(
                    "{:?}: {resources} resources, {edges} edges, {batches} batches, {commands} commands; {} attempts \
                     in {:.0} s; {}; {}",
                    fault.name,
                    reduction.attempts,
                    began.elapsed().as_secs_f64(),
                    reduction.symptom.text(),
                    reduced.case().variants[0].program,
                )
            }
            Err(error) => {
                wrong.push(format!("{}: {error}", fault.name));
                format!("{:?}: {error}", fault.name)
            }
        };
        println!("{line}");
    }
    let mean = attempts.iter().sum::<usize>() / attempts.len().max(1);
    println!("{} faults, {mean} attempts in the mean", attempts.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(mean <= ATTEMPTS, "{mean} attempts in the mean");
}

/// A fault by its name.
fn fault(name: &str) -> &'static Fault {
    plain().into_iter().find(|fault| fault.name == name).unwrap()
}

/// Stops as soon as something was taken away.
struct Stopping(Stop);

impl Watcher for Stopping {
    fn attempted(&self, _: usize) {}
    fn reduced(&self, _: &str, _: Size) {
        self.0.soon();
    }
}

#[test]
fn a_reduction_that_is_stopped_keeps_the_smallest_so_far() {
    let (real, server) = (engine("terraform@1.15.5"), provider(ProviderMode::Reattach));
    let (folder, fault) = (tempfile::tempdir().unwrap(), fault("an apply is skipped"));
    let runner = runner(&wrapper(folder.path(), &real, fault), &server, Duration::from_secs(120));
    let watcher = Stopping(runner.stop.clone());
    let reduced = watched(&case_of(fault), 0, &runner, &watcher).unwrap();
    let reduction = &reduced.reduction;
    assert_eq!((reduction.ended, reduction.rate), (Ended::Stopped, None));
    assert!(reduction.after.commands < reduction.before.commands);
    let out = folder.path().join("out");
    reduced.keep(&out).unwrap();
    let verdict = judge::case(0, &out, &ORACLES.iter().collect::<Vec<_>>()).unwrap();
    assert!(
        Symptom::of_cause(verdict.variants[0].result.findings(), &id("terraform@1.15.5")).is_some(),
        "{verdict:?}"
    );
    assert!(!out.join("variant-0000/checkpoints").exists());
}

#[test]
fn a_failure_that_shows_every_other_time_is_reduced_and_told_with_its_rate() {
    let (real, server) = (engine("terraform@1.15.5"), provider(ProviderMode::Reattach));
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let script = format!(
        "#!/bin/sh\nif [ \"$EQUIFORM_RUN\" = batch-2 ]; then echo >>'{0}'\n\
         [ $(($(wc -l <'{0}') % 2)) = 1 ] && exit 0; fi\nexec '{1}' \"$@\"\n",
        count.display(),
        real.display()
    );
    let path = folder.path().join("engine");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let case = case_of(fault("an apply is skipped"));
    let reduced = reduced(&case, 0, &path, &server, Duration::from_secs(120)).unwrap();
    let reduction = &reduced.reduction;
    assert!(reduction.flaky_rate.is_some_and(|rate| (0.2..0.8).contains(&rate)), "{reduction:?}");
    assert!(reduction.after.resources <= 2 && reduction.after.commands <= 2, "{reduction:?}");
}

/// A known bug in a campaign, and what it was cut down to by hand: resources, edges, batches.
struct ByHand {
    known: &'static str,
    engine: &'static str,
    case: usize,
    variant: usize,
    size: (usize, usize, usize),
}

/// The seed of the campaign.
const SEED: u64 = 880_017;

const BY_HAND: &[ByHand] = &[
    ByHand {
        known: "cycle-dependent-removed",
        engine: "terraform@1.15.5",
        case: 26,
        variant: 8,
        size: (2, 1, 2),
    },
    ByHand {
        known: "cycle-dependency-removed",
        engine: "terraform@1.15.5",
        case: 15,
        variant: 8,
        size: (3, 2, 2),
    },
    ByHand { known: "cycle-edge-removed", engine: "terraform@1.15.5", case: 18, variant: 2, size: (2, 1, 2) },
    ByHand {
        known: "old-object-left-by-target",
        engine: "terraform@1.15.5",
        case: 4,
        variant: 5,
        size: (2, 1, 2),
    },
    ByHand {
        known: "planned-dependency-skipped",
        engine: "tofu@1.12.6",
        case: 21,
        variant: 7,
        size: (2, 1, 2),
    },
    ByHand { known: "setting-restored-late", engine: "tofu@1.12.6", case: 0, variant: 5, size: (2, 1, 2) },
];

#[test]
fn known_bugs_are_reduced_from_campaigns_to_what_they_were_cut_down_to_by_hand() {
    let server = provider(ProviderMode::Reattach);
    let settings = Settings { seed: SEED, ..Settings::default() };
    let some = BY_HAND.iter().step_by(if all() { 1 } else { 5 });
    for ByHand { known, engine: spec, case, variant, size } in some {
        let case = settings.case(*case);
        let reduced = reduced(&case, *variant, &engine(spec), &server, Duration::from_secs(120)).unwrap();
        let reduction = &reduced.reduction;
        println!("{known}: {:?}, {} attempts", reduction.after, reduction.attempts);
        assert_eq!(reduction.symptom.known.as_deref(), Some(*known));
        let Size { resources, edges, batches, .. } = reduction.after;
        assert!(
            resources <= size.0 && edges <= size.1 && batches <= size.2,
            "{known}: {:?} is larger than {size:?}: {}",
            reduction.after,
            reduced.case().variants[0].program
        );
    }
}
