//! Evidence as a sound engine would leave it, of any size: written by hand, without an engine.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use equiform::case::stage::{JudgedAs, Stage};
use equiform::case::{CASE_FILE, Case};
use equiform::engines::{EngineId, EngineName, Version};
use equiform::evidence::{ERRORS, LEDGER, OUTPUT, STAGES, STATE, StageRecord};
use equiform_proto::ledger::{Attributes, Digest, Entry, LineHash, Operation, Phase, Reference};
use serde_json::json;

/// How many resources depend on one.
const BRANCHES: usize = 8;

/// Entries in the ledger for each resource: it is created and deleted, every second one is updated; it is
/// planned four times and read four times.
pub const ENTRIES_PER_RESOURCE: usize = 13;

/// A tree of resources, in two batches: all of them, then a further reference to the root from every second one.
pub struct Tree {
    /// How many.
    pub resources: usize,
}

/// An operation on a resource, and whether it has its further reference afterwards.
type Change = (Operation, usize, bool);

impl Tree {
    fn parent(child: usize) -> Option<usize> {
        child.checked_sub(1).map(|index| index / BRANCHES)
    }

    fn is_updated(resource: usize) -> bool {
        resource % 2 == 1 && Self::parent(resource) != Some(0)
    }

    fn refs(resource: usize, further: bool) -> Vec<usize> {
        let root = (further && Self::is_updated(resource)).then_some(0);
        root.into_iter().chain(Self::parent(resource)).collect()
    }

    fn ancestors(resource: usize) -> Vec<usize> {
        std::iter::successors(Self::parent(resource), |&above| Self::parent(above)).collect()
    }

    /// The case, with one variant.
    pub fn case(&self) -> Case {
        let all = 0..self.resources;
        let created = all.clone().flat_map(|resource| {
            let parent = Self::parent(resource).map(|parent| format!("(con r{parent} r{resource} "));
            std::iter::once(format!("(add r{resource} ")).chain(parent)
        });
        let updated = all.clone().filter(|&resource| Self::is_updated(resource));
        let steps: Vec<String> = created
            .chain(["(cut ".to_owned()])
            .chain(updated.map(|resource| format!("(con r0 r{resource} ")))
            .collect();
        let variant: String = steps.iter().rev().map(String::as_str).chain(["empty"]).collect();
        let edges: Vec<_> = all
            .clone()
            .flat_map(|resource| Self::refs(resource, true).into_iter().map(move |above| (above, resource)))
            .map(|(above, below)| (format!("r{above}"), format!("r{below}")))
            .collect();
        let nodes: Vec<String> = all.map(|resource| format!("r{resource}")).collect();
        let source = serde_json::from_value(json!({ "nodes": nodes, "edges": edges })).unwrap();
        // Its states have no identities, so this is a version that writes none.
        let engine = EngineId::new(EngineName::Terraform, engine_version());
        Case::new(0, source, vec![variant + &")".repeat(steps.len())]).unwrap().on(engine)
    }

    fn steps(&self, stage: &Stage) -> Vec<Change> {
        let all = 0..self.resources;
        match stage.judged_as {
            JudgedAs::Batch => all.map(|resource| (Operation::Create, resource, false)).collect(),
            JudgedAs::Source => all
                .filter(|&resource| Self::is_updated(resource))
                .map(|resource| (Operation::Update, resource, true))
                .collect(),
            JudgedAs::Destroy => all.rev().map(|resource| (Operation::Delete, resource, true)).collect(),
            _ => Vec::new(),
        }
    }

    /// Writes the case and the evidence of its variant. Gives the ledger's size in bytes.
    pub fn write(&self, folder: &Path) -> u64 {
        let place = folder.join("variant-0000");
        fs::create_dir_all(&place).unwrap();
        fs::write(folder.join(CASE_FILE), serde_json::to_string(&self.case()).unwrap()).unwrap();
        let mut ledger = Writer::begin(&place.join(LEDGER));
        let mut records = Vec::new();
        for stage in &Stage::usual(2, 0) {
            let kept = place.join(&stage.name);
            fs::create_dir(&kept).unwrap();
            let steps = self.steps(stage);
            self.write_requests(&mut ledger, stage);
            steps.iter().for_each(|step| ledger.operation(&stage.name, step));
            fs::write(kept.join(ERRORS), "").unwrap();
            let reads = if stage.judged_as == JudgedAs::Batch { 0 } else { self.resources };
            write_output(&kept.join(OUTPUT), stage, reads, &steps);
            self.write_state(&kept.join(STATE), stage);
            records
                .push(StageRecord { ledger_bytes: ledger.bytes, ..StageRecord::new(&stage.name, "apply") });
        }
        ledger.file.flush().unwrap();
        fs::write(place.join(STAGES), serde_json::to_string(&records).unwrap()).unwrap();
        ledger.bytes
    }

    /// Every object is read, and every resource of the program planned.
    fn write_requests(&self, ledger: &mut Writer, stage: &Stage) {
        let (run, is_first) = (&stage.name, stage.judged_as == JudgedAs::Batch);
        // What the object was before the stage, and what it is to be.
        let before = !matches!(stage.judged_as, JudgedAs::Batch | JudgedAs::Source);
        for resource in (0..self.resources).filter(|_| !is_first) {
            ledger.request(run, Operation::Read, resource, |entry| {
                entry.prior = Some(Digest::of(&attributes(resource, before)));
            });
        }
        for resource in (0..self.resources).filter(|_| stage.judged_as != JudgedAs::Destroy) {
            ledger.request(run, Operation::Plan, resource, |entry| {
                entry.prior = (!is_first).then(|| Digest::of(&attributes(resource, before)));
                entry.config = Some(Digest::of(&attributes(resource, !is_first)));
                entry.planned = entry.config;
            });
        }
    }

    fn write_state(&self, path: &Path, stage: &Stage) {
        let mut file = BufWriter::new(File::create(path).unwrap());
        let serial = match stage.judged_as {
            JudgedAs::Batch => 1,
            JudgedAs::Destroy => 3,
            _ => 2,
        };
        let written_by = engine_version();
        write!(file, "{{\"version\":4,\"terraform_version\":\"{written_by}\",\"serial\":{serial},").unwrap();
        write!(file, "\"lineage\":\"synthetic\",\"resources\":[").unwrap();
        let there = if stage.judged_as == JudgedAs::Destroy { 0 } else { self.resources };
        for resource in 0..there {
            let dependencies =
                Self::ancestors(resource).into_iter().map(|above| format!("mock_node.r{above}"));
            let private = format!("{{\"equiform\":1,\"id\":\"{}\",\"identity\":true}}", id(resource));
            let instance = json!({
                "schema_version": 1,
                "sensitive_attributes": [],
                "private": STANDARD.encode(private),
                "attributes": attributes(resource, stage.judged_as != JudgedAs::Batch),
                "dependencies": dependencies.collect::<Vec<_>>(),
            });
            let entry = json!({
                "mode": "managed", "type": "mock_node", "name": format!("r{resource}"),
                "provider": "provider[\"equiform.test/equiform/mock\"]", "instances": [instance],
            });
            let comma = if resource == 0 { "" } else { "," };
            write!(file, "{comma}\n{entry}").unwrap();
        }
        file.write_all(b"]}\n").unwrap();
        file.flush().unwrap();
    }
}

/// The version of the engine that it is taken for.
fn engine_version() -> Version {
    Version::new(1, 11, 4)
}

/// Scattered, as minted ids are; multiplying by an odd number keeps them apart.
fn id(resource: usize) -> String {
    format!("node-{:020}", (resource as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn attributes(resource: usize, further: bool) -> Attributes {
    let refs: Vec<String> = Tree::refs(resource, further).into_iter().map(id).collect();
    // A program that refers to nothing says nothing.
    let refs = (!refs.is_empty()).then_some(refs);
    let revision = if further && Tree::is_updated(resource) { 2 } else { 1 };
    let json = json!({
        "id": id(resource), "key": format!("r{resource}"), "label": null, "pin": null, "pinned_refs": null,
        "refs": refs, "revision": revision,
    });
    json.as_object().cloned().unwrap()
}

/// A ledger that is being written.
struct Writer {
    file: BufWriter<File>,
    bytes: u64,
    seq: u64,
    prev: LineHash,
}

impl Writer {
    fn begin(path: &Path) -> Self {
        let header = r#"{"equiform_ledger":2,"id":"ledger-synthetic","created":"2026-01-01T00:00:00Z"}"#;
        let file = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
        let mut writer = Self { file, bytes: 0, seq: 0, prev: LineHash([0; 32]) };
        writer.line(header.as_bytes());
        writer
    }

    fn line(&mut self, line: &[u8]) {
        self.file.write_all(line).unwrap();
        self.file.write_all(b"\n").unwrap();
        self.bytes += line.len() as u64 + 1;
        self.prev = LineHash::of(line);
    }

    /// A request that changes nothing.
    fn request(&mut self, run: &str, operation: Operation, resource: usize, fill: impl FnOnce(&mut Entry)) {
        self.seq += 1;
        let mut entry = Entry::new(self.seq, operation, Phase::Commit, 1, self.prev);
        entry.run = Some(run.to_owned());
        entry.key = Some(format!("r{resource}"));
        entry.id = Some(id(resource));
        fill(&mut entry);
        self.line(&serde_json::to_vec(&entry).unwrap());
    }

    /// Begin and commit of an operation.
    fn operation(&mut self, run: &str, &(operation, resource, further): &Change) {
        let begin = self.seq + 1;
        for phase in [Phase::Begin, Phase::Commit] {
            self.seq += 1;
            let mut entry = Entry::new(self.seq, operation, phase, 1, self.prev);
            entry.run = Some(run.to_owned());
            entry.begin = (phase == Phase::Commit).then_some(begin);
            entry.type_name = Some("mock_node".to_owned());
            entry.key = Some(format!("r{resource}"));
            entry.id = Some(id(resource));
            if phase == Phase::Begin {
                // An update is of what was there in the first batch, a delete of what the second one made of it.
                let was_further = operation == Operation::Delete;
                let existed = operation != Operation::Create;
                entry.prior = existed.then(|| Digest::of(&attributes(resource, was_further)));
                entry.planned = (!was_further).then(|| Digest::of(&attributes(resource, further)));
                entry.config = entry.planned;
            }
            if operation != Operation::Delete {
                let reference = |above| Reference { path: "refs".to_owned(), id: id(above) };
                entry.refs = Tree::refs(resource, further).into_iter().map(reference).collect();
                entry.after = Some(attributes(resource, further));
            }
            self.line(&serde_json::to_vec(&entry).unwrap());
        }
    }
}

/// The messages of a stage.
struct Messages {
    file: BufWriter<File>,
}

impl Messages {
    fn say(&mut self, kind: &str, text: &str, fields: serde_json::Value) {
        let mut message = json!({
            "@level": "info", "@message": text, "@module": "terraform.ui",
            "@timestamp": "2026-01-01T00:00:00.000000Z", "type": kind,
        });
        let fields = fields.as_object().cloned().unwrap();
        message.as_object_mut().unwrap().extend(fields);
        writeln!(self.file, "{message}").unwrap();
    }

    /// About an operation on a resource, or a read of it.
    fn hook(&mut self, kind: &str, verb: &str, action: Option<&str>, resource: usize, has_id: bool) {
        let id = has_id.then(|| id(resource));
        let named = id.as_ref().map(|id| format!(" [id={id}]")).unwrap_or_default();
        let text = format!("mock_node.r{resource}: {verb}{named}");
        let mut hook = json!({ "resource": address(resource), "action": action });
        if let Some(id) = id {
            hook["id_key"] = "id".into();
            hook["id_value"] = id.into();
        }
        self.say(kind, &text, json!({ "hook": hook }));
    }
}

fn address(resource: usize) -> serde_json::Value {
    let address = format!("mock_node.r{resource}");
    json!({
        "addr": address, "module": "", "resource": address, "implied_provider": "mock",
        "resource_type": "mock_node", "resource_name": format!("r{resource}"), "resource_key": null,
    })
}

fn write_output(path: &Path, stage: &Stage, reads: usize, steps: &[Change]) {
    let mut messages = Messages { file: BufWriter::new(File::create(path).unwrap()) };
    messages.say("version", "Terraform 1.11.4", json!({ "terraform": "1.11.4", "ui": "1.2" }));
    for resource in 0..reads {
        messages.hook("refresh_start", "Refreshing state...", None, resource, true);
        messages.hook("refresh_complete", "Refresh complete", None, resource, true);
    }
    for (operation, resource, _) in steps {
        let text = format!("mock_node.r{resource}: Plan to {}", operation.name());
        let change = json!({ "resource": address(*resource), "action": operation.name() });
        messages.say("planned_change", &text, json!({ "change": change }));
    }
    let count = |wanted| steps.iter().filter(|(operation, ..)| *operation == wanted).count();
    let (add, change, remove) =
        (count(Operation::Create), count(Operation::Update), count(Operation::Delete));
    let changes = |operation: &str| {
        json!({ "changes": {
            "operation": operation, "add": add, "change": change, "import": 0, "remove": remove,
        } })
    };
    let numbers = format!("{add} to add, {change} to change, {remove} to destroy.");
    messages.say("change_summary", &format!("Plan: {numbers}"), changes("plan"));
    for (operation, resource, _) in steps {
        let (action, created, deleted) =
            (Some(operation.name()), *operation == Operation::Create, *operation == Operation::Delete);
        let [begins, ends] = match operation {
            Operation::Create => ["Creating...", "Creation complete after 0s"],
            Operation::Delete => ["Destroying...", "Destruction complete after 0s"],
            _ => ["Modifying...", "Modifications complete after 0s"],
        };
        messages.hook("apply_start", begins, action, *resource, !created);
        messages.hook("apply_complete", ends, action, *resource, !deleted);
    }
    if stage.judged_as != JudgedAs::Cross {
        messages.say("change_summary", &format!("Apply complete! Resources: {numbers}"), changes("apply"));
    }
    messages.file.flush().unwrap();
}
