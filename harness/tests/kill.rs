//! Engines and providers killed at any moment leave a ledger that verifies and has lost nothing that was answered for.
//!
//! Each run applies a program of forty nodes with a real engine and kills the engine or its providers at a
//! random moment. Moments are places in the ledger, so that most of them lie amid operations; that is
//! demanded too, since a kill before or after them shows little. `EQUIFORM_KILL_RUNS` sets how many runs
//! there are, `EQUIFORM_KILL_SEED` where the random numbers start.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use equiform::engines::{Engine, Engines};
use equiform_proto::ledger::{Operation, Phase, Reader, Record, World};
use serde_json::Value as Json;
use tempfile::TempDir;

const NODES: usize = 40;
/// No command takes this long; one that does hangs.
const TIMEOUT: Duration = Duration::from_secs(60);

fn number_from_env(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// SplitMix64: enough to spread the moments, and the same everywhere for a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// A folder in which an engine finds the provider, a program and a ledger.
struct Place {
    folder: TempDir,
    engine: PathBuf,
}

impl Place {
    fn new(engine: &Engine) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let provider = Path::new(env!("CARGO_BIN_EXE_equiform")).with_file_name("terraform-provider-mock");
        assert!(provider.exists(), "build the provider first: cargo build -p terraform-provider-mock");
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(provider, bin.join("terraform-provider-mock")).unwrap();
        // With an override there is nothing to install, and so no `init`.
        let config = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"equiform.test/equiform/mock\" = {bin:?}\n  }}\n}}\n"
        );
        fs::write(folder.path().join("engine.rc"), config).unwrap();
        fs::write(folder.path().join("main.tf"), program()).unwrap();
        Self { folder, engine: engine.path.clone() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.engine);
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("TF_CLI_CONFIG_FILE", self.folder.path().join("engine.rc"))
            .env("CHECKPOINT_DISABLE", "1")
            .env("TMPDIR", self.folder.path())
            .env_remove("EQUIFORM_LEDGER")
            // So that operations are open when the kill comes.
            .env("EQUIFORM_HOLD", "quiet")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Whoever is left over in the end can be found by the group.
            .process_group(0);
        command
    }

    fn ledger(&self) -> PathBuf {
        self.folder.path().join("equiform.ledger.jsonl")
    }

    /// The ids of all objects in the engine's state file. A state that was being written is no evidence.
    fn ids_in_state(&self) -> BTreeSet<String> {
        let state = fs::read(self.folder.path().join("terraform.tfstate")).unwrap_or_default();
        let state: Json = serde_json::from_slice(&state).unwrap_or_default();
        let resources = state["resources"].as_array().into_iter().flatten();
        resources
            .flat_map(|resource| resource["instances"].as_array().into_iter().flatten())
            .filter_map(|instance| Some(instance["attributes"]["id"].as_str()?.to_owned()))
            .collect()
    }

    /// Checks the ledger, and returns the ids that were ever created, the world, and how many operations are
    /// open.
    fn verified(&self, context: &str) -> (BTreeSet<String>, World, usize) {
        let (mut created, mut world) = (BTreeSet::new(), World::default());
        let Ok(file) = File::open(self.ledger()) else { return (created, world, 0) };
        let mut reader = Reader::new(BufReader::new(file));
        for line in &mut reader {
            let line = line.unwrap_or_else(|error| panic!("{context}: {error}"));
            if let Record::Entry(entry) = line.record {
                if entry.op == Operation::Create && entry.phase == Phase::Commit {
                    created.extend(entry.id.clone());
                }
                world.apply(*entry).unwrap_or_else(|conflict| panic!("{context}: {conflict}"));
            }
        }
        (created, world, reader.open_operations().len())
    }
}

/// Chains of four, side by side.
fn program() -> String {
    let mut text = "terraform {\n  required_providers {\n    \
                    mock = { source = \"equiform.test/equiform/mock\" }\n  }\n}\n"
        .to_owned();
    for node in 0..NODES {
        let refs = match node % 4 {
            0 => String::new(),
            _ => format!("  refs = [mock_node.n{}.id]\n", node - 1),
        };
        write!(text, "resource \"mock_node\" \"n{node}\" {{\n  key = \"n{node}\"\n{refs}}}\n").unwrap();
    }
    text
}

/// The ids whose creation the engine reported on its output.
fn ids_reported(output: &str) -> BTreeSet<String> {
    let complete = output.lines().filter(|line| line.contains("Creation complete"));
    complete.filter_map(|line| Some(line.split_once("[id=")?.1.split_once(']')?.0.to_owned())).collect()
}

/// The processes that a process has started.
fn children_of(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>())
        .collect()
}

fn kill(pid: u32) {
    // SAFETY: `kill` touches no memory of ours. A process that is gone already is as good as killed.
    unsafe { libc::kill(i32::try_from(pid).unwrap(), libc::SIGKILL) };
}

/// Waits for the end, and fails if it does not come.
fn finish(mut child: Child, context: &str) -> Output {
    let read = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
            bytes
        })
    };
    let stdout = read(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let stderr = read(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let deadline = Instant::now() + TIMEOUT;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > deadline {
            kill(child.id());
            panic!("{context}: the engine hangs");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    Output { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

/// How a run went, for the summary.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum Outcome {
    /// The kill came before the first operation.
    Early,
    /// It came in the middle: something had been created, and something was still to be. No operation was
    /// open.
    Between,
    /// It came in the middle, and left an operation open.
    Within,
    /// All had been created already.
    Late,
}

fn kill_run(engine: &Engine, random: &mut Random, context: &str) -> Outcome {
    let place = Place::new(engine);
    let kills_engine = random.below(2) == 0;
    // Commands differ in how long they take to get to their operations: the moment is a place in the ledger
    // (a begin and a commit for each node, and a few beyond the end), and a while after that.
    let lines = usize::try_from(random.below(2 * NODES as u64 + 4)).unwrap();
    let pause = Duration::from_micros(random.below(4000));
    let apply = ["apply", "-auto-approve", "-no-color", "-input=false", "-parallelism=10"];
    let child = place.command(&apply).spawn().unwrap();
    let (pid, ledger) = (child.id(), place.ledger());
    let victim = if kills_engine { "engine" } else { "provider" };
    let context = format!("{context}: {victim} killed {pause:?} after line {lines}");
    let over = Arc::new(AtomicBool::new(false));
    let engine_is_over = over.clone();
    let killer = std::thread::spawn(move || {
        while lines_in(&ledger) < lines && !engine_is_over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_micros(100));
        }
        std::thread::sleep(pause);
        // A child that has ended keeps its number until it is waited for; one that was waited for is not touched.
        match (engine_is_over.load(Ordering::Relaxed), kills_engine) {
            (true, _) => {}
            (false, true) => kill(pid),
            (false, false) => children_of(pid).into_iter().for_each(kill),
        }
    });
    let output = finish(child, &context);
    over.store(true, Ordering::Relaxed);
    killer.join().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();

    // What the provider may still do after its engine's end is over when it has left: wait for that, by the
    // socket's folder.
    let deadline = Instant::now() + TIMEOUT;
    while kills_engine && providers_left(&place) {
        assert!(Instant::now() < deadline, "{context}: a provider outlives its engine");
        std::thread::sleep(Duration::from_millis(2));
    }
    let (created, world, open) = place.verified(&context);
    for id in ids_reported(&stdout) {
        assert!(
            created.contains(&id),
            "{context}: {id} was reported as created, and the ledger does not know it"
        );
    }
    for id in place.ids_in_state() {
        assert!(world.get(&id).is_some(), "{context}: {id} is in the state, and not in the world");
    }
    let outcome = match created.len() {
        0 => Outcome::Early,
        NODES => Outcome::Late,
        _ if open == 0 => Outcome::Between,
        _ => Outcome::Within,
    };

    // The next command goes on from there, or says why not: a killed engine may leave its lock or no state behind.
    let output = finish(place.command(&apply).spawn().unwrap(), &context);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let (_, world, _) = place.verified(&context);
    if output.status.success() {
        let state = place.ids_in_state();
        assert_eq!(state.len(), NODES, "{context}");
        assert!(state.iter().all(|id| world.get(id).is_some()), "{context}");
    } else {
        assert!(told.contains("Error:") && !told.contains("panic"), "{context}: {told}");
        assert!(told.contains("state"), "{context}: only the engine's own state may be in the way: {told}");
    }
    outcome
}

fn lines_in(path: &Path) -> usize {
    let text = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter(|line| line.contains(r#""op":"create""#)).count()
}

/// Whether a process still serves from this place.
fn providers_left(place: &Place) -> bool {
    let here = place.folder.path().canonicalize().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes.filter_map(|process| fs::read_link(process.path().join("cwd")).ok()).any(|cwd| cwd == here)
}

/// Without a kill all is as it should be: what follows shows something.
fn undisturbed(engine: &Engine) {
    let place = Place::new(engine);
    let child = place.command(&["apply", "-auto-approve", "-no-color", "-input=false"]).spawn().unwrap();
    let output = finish(child, "undisturbed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(ids_reported(&String::from_utf8_lossy(&output.stdout)), place.ids_in_state());
    assert_eq!(place.ids_in_state().len(), NODES);
}

fn kill_runs(spec: &str) {
    let engines = Engines::from_env().unwrap();
    let engine = engines.locate(&spec.parse().unwrap()).unwrap_or_else(|error| panic!("{error}"));
    let runs = number_from_env("EQUIFORM_KILL_RUNS", 20) / 2;
    let seed = number_from_env("EQUIFORM_KILL_SEED", 1);
    undisturbed(&engine);
    eprintln!("{spec}: {runs} runs from seed {seed}");
    let mut outcomes = Vec::new();
    for run in 0..runs {
        let mut random = Random(seed.wrapping_add(run));
        outcomes.push(kill_run(&engine, &mut random, &format!("{spec}, seed {}", seed + run)));
    }
    outcomes.sort();
    let count = |of| outcomes.iter().filter(|outcome| **outcome == of).count();
    let amid = count(Outcome::Between) + count(Outcome::Within);
    eprintln!(
        "{spec}: {} kills before the first operation, {amid} amid them ({} left some open), {} after the last",
        count(Outcome::Early),
        count(Outcome::Within),
        count(Outcome::Late)
    );
    assert!(4 * amid >= 3 * outcomes.len(), "only {amid} of {} kills came amid operations", outcomes.len());
}

#[test]
fn terraform_and_its_providers_can_be_killed_at_any_moment() {
    kill_runs("terraform@1.15.5");
}

#[test]
fn opentofu_and_its_providers_can_be_killed_at_any_moment() {
    kill_runs("tofu@1.12.6");
}
