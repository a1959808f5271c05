//! The plain way: for each batch a fresh `init`, an `apply` and the engine's own `graph`, one after the other; the last
//! graph is compared with the source. Nothing is observed on the way, and nothing is destroyed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use equiform::case::Case;
use equiform::deploy::process::{Command, Ended};
use equiform::engines::driver::{Access, Driver, Syntax};
use equiform::engines::workspace::ProgramFile;
use equiform::spec::encoding::plain_address;

/// An engine that is run the plain way.
pub struct Plain {
    /// The engine.
    pub engine: Arc<dyn Driver>,
    /// The mirror that it installs the provider from.
    pub mirror: Access,
}

/// What came of a case.
#[derive(Default)]
pub struct Outcome {
    /// How many batches were deployed.
    pub batches: usize,
    /// How many variants ended in another graph than the source, or in an error.
    pub found: usize,
}

impl Plain {
    /// Deploys and judges the variants of a case in a folder.
    pub fn run(&self, case: &Case, folder: &Path) -> Outcome {
        let mut outcome = Outcome::default();
        for variant in 0..case.variants.len() {
            let work = folder.join(format!("variant-{variant:04}"));
            fs::create_dir_all(&work).expect("the folder can be made");
            let mut last = String::new();
            for batch in case.batches(variant).expect("a generated case is well-formed") {
                let program = self.engine.files(&batch, Syntax::Hcl);
                match self.deploy(&program, &work) {
                    Some(graph) => last = graph,
                    None => break,
                }
                outcome.batches += 1;
            }
            let nodes: BTreeSet<String> = case.source.nodes.iter().map(|node| name(node)).collect();
            let edges = case.source.edges.iter();
            let edges = edges.map(|(dependency, dependent)| (name(dependent), name(dependency))).collect();
            outcome.found += usize::from(Dot::read(&last) != Dot::of(nodes, &edges));
        }
        outcome
    }

    /// Deploys a batch and gives the graph that the engine prints; none if it failed.
    fn deploy(&self, program: &[ProgramFile], work: &Path) -> Option<String> {
        // Neither need be there.
        let _ = fs::remove_dir_all(work.join(".terraform"));
        let _ = fs::remove_file(work.join(".terraform.lock.hcl"));
        for file in program {
            fs::write(file.path.within(work), &file.content).expect("the program can be written");
        }
        let commands: [&[&str]; 3] =
            [&["init", "-input=false"], &["apply", "-auto-approve", "-input=false"], &["graph"]];
        let printed = work.join("stdout");
        for arguments in commands {
            let mut command = Command::new(&self.engine.engine().path, work);
            command.environment.extend(self.engine.environment(&self.mirror, None));
            let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
            let ended = command.run(&arguments, &printed, &work.join("stderr"), Duration::from_secs(120));
            if ended.expect("the engine can be started").end != Ended::Exit(0) {
                return None;
            }
        }
        Some(fs::read_to_string(printed).expect("the engine prints text"))
    }
}

/// The name of the resource that stands for a node.
fn name(node: &str) -> String {
    plain_address(&node.into()).name.to_string()
}

/// A graph as `graph` tells it: resources, and what each leads to. Engines leave out an edge that others stand for, so
/// only what can be reached is comparable.
#[derive(Debug, PartialEq, Eq)]
struct Dot(BTreeMap<String, BTreeSet<String>>);

impl Dot {
    fn of(nodes: BTreeSet<String>, edges: &BTreeSet<(String, String)>) -> Self {
        let reach = |node: &String| {
            let (mut reached, mut open) = (BTreeSet::new(), vec![node]);
            while let Some(from) = open.pop() {
                for (_, to) in edges.iter().filter(|(start, _)| start == from) {
                    if reached.insert(to.clone()) {
                        open.push(to);
                    }
                }
            }
            reached
        };
        Self(nodes.iter().map(|node| (node.clone(), reach(node))).collect())
    }

    /// Reads what an engine printed: Terraform names resources alone, OpenTofu other parts of its graph too.
    fn read(text: &str) -> Self {
        let (mut nodes, mut edges) = (BTreeSet::new(), BTreeSet::new());
        for line in text.lines() {
            match line.split_once("->") {
                Some((from, to)) => edges.extend(resource(from).zip(resource(to))),
                None => nodes.extend(resource(line)),
            }
        }
        Self::of(nodes, &edges)
    }
}

/// The resource at the beginning of a part of a line.
fn resource(part: &str) -> Option<String> {
    let quoted = part.trim().strip_prefix('"')?;
    let quoted = quoted.strip_prefix("[root] ").unwrap_or(quoted);
    let name = quoted.strip_prefix("mock_node.")?;
    name.split(['"', ' ']).next().map(str::to_owned)
}
