//! What a stage deploys, in a few lines.

use super::is_command;
use crate::case::stage::Defect;
use crate::judge::finding::shortened;
use crate::spec::{Action, Configuration, EdgeKind, Node};

/// A command without the options that all of them have.
pub fn command(command: &str, action: &Action, usual_options: &[&str]) -> String {
    let words: Vec<&str> = command.split(' ').filter(|word| !usual_options.contains(word)).collect();
    let command = words.join(" ");
    if is_command(action) { command } else { format!("{command}, behind the engine's back") }
}

/// How a program differs from the one before: a line for each resource that comes, goes or is written differently.
pub fn difference(before: &Configuration, after: &Configuration, defect: Option<&Defect>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (key, node) in &after.meaning.nodes {
        match before.node(key) {
            None => lines.push(format!("+ {}", with(key, describe(node)))),
            Some(was) if was != node => lines.push(format!("~ {}", with(key, changed(was, node)))),
            Some(_) => {}
        }
    }
    let gone = before.meaning.nodes.keys().filter(|key| after.node(key).is_none());
    lines.extend(gone.map(|key| format!("- {key}")));
    lines.extend(defect.map(|defect| format!("! {}", about(defect))));
    lines
}

fn with(key: &str, parts: Vec<String>) -> String {
    if parts.is_empty() { key.to_owned() } else { format!("{key}: {}", parts.join(", ")) }
}

fn quoted(value: &Option<std::sync::Arc<str>>) -> String {
    value.as_ref().map_or("none".to_owned(), |value| shortened(format!("{value:?}")))
}

/// The settings that are there or not.
fn settings(block: &Node) -> [(&'static str, bool); 3] {
    [
        ("create_before_destroy", block.create_before_destroy),
        ("ignore_changes of label", block.ignore_changes),
        ("prevent_destroy", block.prevent_destroy),
    ]
}

fn edges(block: &Node, kind: EdgeKind) -> Vec<&str> {
    block.by(kind).map(|key| &**key).collect()
}

fn describe(block: &Node) -> Vec<String> {
    let mut parts = Vec::new();
    for (name, value) in [("label", &block.label), ("pin", &block.pin)] {
        parts.extend(value.as_ref().map(|value| format!("{name} {}", shortened(format!("{value:?}")))));
    }
    for kind in EdgeKind::ALL {
        let names = edges(block, kind);
        if !names.is_empty() {
            parts.push(format!("{} {}", kind.name(), names.join(" ")));
        }
    }
    parts.extend(settings(block).into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name.to_owned()));
    parts
}

fn changed(was: &Node, is: &Node) -> Vec<String> {
    let mut parts = Vec::new();
    for (name, before, after) in [("label", &was.label, &is.label), ("pin", &was.pin, &is.pin)] {
        if before != after {
            parts.push(format!("{name} {} → {}", quoted(before), quoted(after)));
        }
    }
    for kind in EdgeKind::ALL {
        let (before, after) = (edges(was, kind), edges(is, kind));
        let comes: Vec<&str> = after.iter().filter(|name| !before.contains(name)).copied().collect();
        let goes: Vec<&str> = before.iter().filter(|name| !after.contains(name)).copied().collect();
        if !comes.is_empty() {
            parts.push(format!("{} {} comes", kind.name(), comes.join(" ")));
        }
        if !goes.is_empty() {
            parts.push(format!("{} {} goes", kind.name(), goes.join(" ")));
        }
    }
    for ((name, before), (_, after)) in settings(was).into_iter().zip(settings(is)) {
        if before != after {
            parts.push(format!("{name} {}", if after { "comes" } else { "goes" }));
        }
    }
    parts
}

/// What is wrong with a program, in words.
fn about(defect: &Defect) -> String {
    let what = match defect {
        Defect::Cycle { dependent, .. } => {
            return format!("{} depends on {dependent}: a cycle", defect.resource());
        }
        Defect::Dangling { .. } => "depends on something that is not written",
        Defect::SelfReference { .. } => "depends on itself",
        Defect::UnknownArgument { .. } => "has an argument that nobody knows",
        Defect::MissingArgument { .. } => "lacks an argument",
        Defect::WrongType { .. } => "has an argument of another type",
        Defect::Twice { .. } => "is written twice",
        Defect::EmptyKey { .. } => "has an empty key",
        Defect::PreventDestroy { .. } => "has prevent_destroy and is to go",
    };
    format!("{} {what}", defect.resource())
}
