//! What a deployment leaves on disk, and reading it back. The oracles see nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use equiform_proto::ledger::{Entry, Operation, Phase, Reader, Record, World};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::graph::NamedGraph;
use crate::model::{ExpectedOperation, Kind};
use crate::observe::graph_of;

/// The records of all stages.
pub const STAGES: &str = "stages.json";
/// The ledger of all stages.
pub const LEDGER: &str = "ledger.jsonl";
/// What the engine printed.
pub const OUTPUT: &str = "output.jsonl";
/// What the engine printed on stderr.
pub const ERRORS: &str = "stderr.txt";
/// The engine's state after the stage.
pub const STATE: &str = "state.json";

/// A step of a deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// A batch, counted from 1.
    Batch(usize),
    /// The last batch once more.
    Idle,
    /// Another variant's program, planned on the state that this one reached.
    Cross,
    /// The end of everything.
    Destroy,
}

impl Stage {
    /// All stages of a variant with so many batches, in order.
    pub fn all(batches: usize) -> impl Iterator<Item = Self> {
        (1..=batches).map(Self::Batch).chain([Self::Idle, Self::Cross, Self::Destroy])
    }

    /// Its name: that of its folder, and the label of its entries in the ledger.
    pub fn name(self) -> String {
        match self {
            Self::Batch(number) => format!("batch-{number}"),
            Self::Idle => "idle".to_owned(),
            Self::Cross => "cross".to_owned(),
            Self::Destroy => "destroy".to_owned(),
        }
    }
}

/// How a stage's command went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageRecord {
    /// The stage's name.
    pub stage: String,
    /// The engine's command.
    pub command: String,
    /// Its exit code; none if it was killed.
    pub exit: Option<i32>,
    /// Whether its time ran out.
    pub timed_out: bool,
    /// Whether it left the state locked.
    pub lock_left: bool,
    /// How long it took.
    pub milliseconds: u64,
}

/// An operation, from the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// What was done, to which key.
    pub operation: ExpectedOperation,
    /// The object.
    pub id: String,
    /// The `seq` of its begin.
    pub begin: u64,
    /// The `seq` of its end, and whether it took effect. None if it never ended.
    pub end: Option<(u64, bool)>,
}

/// An object as the engine's state has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The resource's name in the program.
    pub name: String,
    /// Whether it is an old object that waits for its deletion.
    pub deposed: bool,
    /// Its attributes.
    pub attributes: serde_json::Map<String, Json>,
    /// The addresses it depends on.
    pub dependencies: BTreeSet<String>,
}

/// What an engine says in the end of a plan or of its execution.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Summary {
    /// `plan`, `apply` or `destroy`.
    pub operation: String,
    /// How many objects it creates or has created.
    pub add: usize,
    /// How many it changes or has changed.
    pub change: usize,
    /// How many it deletes or has deleted.
    pub remove: usize,
}

/// All that is known of a stage.
#[derive(Debug, Clone)]
pub struct StageEvidence {
    /// Which one.
    pub stage: Stage,
    /// How the command went.
    pub record: StageRecord,
    /// What was done in the world.
    pub operations: Vec<Observed>,
    /// The world afterwards.
    pub world: World,
    /// Its graph.
    pub graph: NamedGraph,
    /// References in the world that lead nowhere.
    pub dangling: usize,
    /// What the engine planned: name and action.
    pub planned: BTreeSet<(String, String)>,
    /// The summaries that it printed, in order.
    pub summaries: Vec<Summary>,
    /// The errors that the engine reported.
    pub errors: Vec<String>,
    /// Everything that it printed, for words that must not be there.
    pub text: String,
    /// The engine's state afterwards; none if it wrote none.
    pub state: Option<Vec<Stored>>,
}

/// Evidence that cannot be read: a case for "inconclusive", never for a pass.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {why}")]
pub struct Unreadable {
    path: String,
    why: String,
}

fn unreadable(path: &Path) -> impl Fn(String) -> Unreadable + '_ {
    move |why| Unreadable { path: path.display().to_string(), why }
}

/// Reads what a variant's deployment left.
pub fn read(folder: &Path, batches: usize) -> Result<Vec<StageEvidence>, Unreadable> {
    let path = folder.join(STAGES);
    let failed = unreadable(&path);
    let bytes = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
    let records: Vec<StageRecord> =
        serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))?;
    let ledger = folder.join(LEDGER);
    let mut entries: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    if ledger.exists() {
        let failed = unreadable(&ledger);
        let file = File::open(&ledger).map_err(|error| failed(error.to_string()))?;
        for line in Reader::new(BufReader::with_capacity(1 << 20, file)) {
            if let Record::Entry(entry) = line.map_err(|error| failed(error.to_string()))?.record {
                entries.entry(entry.run.clone().unwrap_or_default()).or_default().push(*entry);
            }
        }
    }
    let mut world = World::default();
    let mut evidence = Vec::new();
    for (stage, record) in Stage::all(batches).zip(records) {
        let kept = folder.join(stage.name());
        let entries = entries.remove(&stage.name()).unwrap_or_default();
        let operations = operations(&entries);
        for entry in entries {
            world.apply(entry).map_err(|conflict| unreadable(&ledger)(conflict.to_string()))?;
        }
        let output = std::fs::read_to_string(kept.join(OUTPUT)).unwrap_or_default();
        let stderr = std::fs::read_to_string(kept.join(ERRORS)).unwrap_or_default();
        let (planned, summaries, errors) = events(&output);
        let state = kept.join(STATE);
        let state = match std::fs::read(&state) {
            Ok(bytes) => {
                let json: Json =
                    serde_json::from_slice(&bytes).map_err(|error| unreadable(&state)(error.to_string()))?;
                Some(stored(&json))
            }
            Err(_) => None,
        };
        let (graph, dangling) = graph_of(&world);
        evidence.push(StageEvidence {
            stage,
            record,
            operations,
            world: world.clone(),
            graph,
            dangling: dangling.len(),
            planned,
            summaries,
            errors,
            text: format!("{output}{stderr}"),
            state,
        });
    }
    Ok(evidence)
}

fn operations(entries: &[Entry]) -> Vec<Observed> {
    let mut open: BTreeMap<u64, Observed> = BTreeMap::new();
    for entry in entries {
        let kind = match entry.op {
            Operation::Create => Kind::Create,
            Operation::Update => Kind::Update,
            Operation::Delete => Kind::Delete,
            Operation::Read | Operation::Import | Operation::Drift | Operation::Mark => continue,
        };
        match (entry.phase, entry.begin) {
            (Phase::Begin, _) => {
                let key = entry.key.clone().unwrap_or_default();
                let operation = ExpectedOperation { key, kind };
                let id = entry.id.clone().unwrap_or_default();
                open.insert(entry.seq, Observed { operation, id, begin: entry.seq, end: None });
            }
            (phase, Some(begin)) => {
                if let Some(observed) = open.get_mut(&begin) {
                    observed.end = Some((entry.seq, phase == Phase::Commit));
                }
            }
            (_, None) => {}
        }
    }
    open.into_values().collect()
}

/// The planned changes, the summaries and the errors among an engine's messages.
fn events(output: &str) -> (BTreeSet<(String, String)>, Vec<Summary>, Vec<String>) {
    let (mut planned, mut summaries, mut errors) = (BTreeSet::new(), Vec::new(), Vec::new());
    for message in output.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok()) {
        if message["type"] == "planned_change" {
            let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
            let change = &message["change"];
            planned.insert((text(&change["resource"]["resource_name"]), text(&change["action"])));
        }
        if message["type"] == "change_summary"
            && let Ok(summary) = Summary::deserialize(&message["changes"])
        {
            summaries.push(summary);
        }
        if message["@level"] == "error" {
            errors.push(message["@message"].as_str().unwrap_or_default().to_owned());
        }
    }
    (planned, summaries, errors)
}

fn stored(state: &Json) -> Vec<Stored> {
    let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let mut objects = Vec::new();
    for resource in list(&state["resources"]) {
        for instance in list(&resource["instances"]) {
            let dependencies = list(&instance["dependencies"]);
            objects.push(Stored {
                name: resource["name"].as_str().unwrap_or_default().to_owned(),
                deposed: instance.get("deposed").is_some(),
                attributes: instance["attributes"].as_object().cloned().unwrap_or_default(),
                dependencies: dependencies.iter().filter_map(|d| d.as_str().map(str::to_owned)).collect(),
            });
        }
    }
    objects
}
