//! What can be taken away from the programs of a candidate, one kind of thing after the other.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::{Candidate, Written};
use super::stage_edit::options_of;
use crate::algebra::graph::{EdgeNames, NamedGraph};
use crate::algebra::signature::Signature as AlgebraSignature;
use crate::case::spelling::Spelled;
use crate::case::stage::{Defect, ProgramRef, Stage};
use crate::spec::{Action, NodeKey};

/// An edge: a dependency and its dependent.
pub type EdgeName = (String, String);

/// Something that is written of a program in one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// A resource.
    Node(String),
    /// An edge, with its kind.
    Edge(EdgeName),
    /// A value of an attribute that is not the default.
    Value(String, String),
}

impl Candidate {
    /// Changes each program.
    fn each_program(&self, mut change: impl FnMut(&mut Written)) -> Self {
        let mut changed = self.clone();
        changed.batches.iter_mut().chain(&mut changed.other).for_each(|written| {
            change(written);
            *written = std::mem::take(written).tidied();
        });
        changed
    }

    /// Without some of its stages, by their places.
    pub fn without_stages(&self, places: &[usize]) -> Self {
        let mut changed = self.clone();
        let mut place = 0..;
        changed.stages.retain(|_| !places.contains(&place.next().expect("there is always a next number")));
        changed
    }

    /// Without resources, their edges, and all that stages say of them.
    pub fn without_resources(&self, names: &[String]) -> Self {
        let gone = |name: &String| names.contains(name);
        let mut changed = self.each_program(|Written { graph, .. }| {
            graph.nodes.retain(|name| !gone(name));
            graph.edges.retain(|(from, to)| !gone(from) && !gone(to));
            graph.attributes.retain(|name, _| !gone(name));
            graph.kinds.0.retain(|(from, to), _| !gone(from) && !gone(to));
        });
        changed.stages.retain_mut(|stage| forget(stage, names));
        changed
    }

    /// Without a resource that stands between others, which then depend on each other.
    pub fn without_link(&self, name: &str) -> Self {
        let linked = self.each_program(|Written { graph, .. }| {
            let before: Vec<String> =
                graph.edges.iter().filter(|(_, to)| to == name).map(|(from, _)| from.clone()).collect();
            let after: Vec<String> =
                graph.edges.iter().filter(|(from, _)| from == name).map(|(_, to)| to.clone()).collect();
            for to in &after {
                let kind = graph.kinds.0.get(&(name.to_owned(), to.clone())).cloned();
                for from in &before {
                    let edge = (from.clone(), to.clone());
                    if graph.edges.insert(edge.clone())
                        && let Some(kind) = &kind
                    {
                        graph.kinds.0.insert(edge, kind.clone());
                    }
                }
            }
        });
        linked.without_resources(&[name.to_owned()])
    }

    /// All edges that occur.
    pub fn edges(&self) -> Vec<EdgeName> {
        let graphs = self.batches.iter().chain(&self.other).map(|written| &written.graph);
        let edges: BTreeSet<&EdgeName> = graphs.flat_map(|graph| &graph.edges).collect();
        edges.into_iter().cloned().collect()
    }

    /// Without edges.
    pub fn without_edges(&self, edges: &[EdgeName]) -> Self {
        self.each_program(|Written { graph, .. }| {
            graph.edges.retain(|edge| !edges.contains(edge));
            graph.kinds.0.retain(|edge, _| !edges.contains(edge));
        })
    }

    /// All attributes that a resource has another value of than the default.
    pub fn values(&self) -> Vec<(String, String)> {
        let graphs = self.batches.iter().chain(&self.other).map(|written| &written.graph);
        let of_node = |(node, values): (&String, &BTreeMap<String, String>)| {
            values.keys().map(|name| (node.clone(), name.clone())).collect::<Vec<_>>()
        };
        let values: BTreeSet<(String, String)> =
            graphs.flat_map(|graph| graph.attributes.iter().flat_map(of_node)).collect();
        values.into_iter().collect()
    }

    /// With the default of these attributes.
    pub fn without_values(&self, values: &[(String, String)]) -> Self {
        self.each_program(|Written { graph, .. }| {
            for (node, attribute) in values {
                unset(graph, node, attribute);
            }
        })
    }

    /// All edges that are of another kind than the default somewhere.
    pub fn kinds(&self) -> Vec<EdgeName> {
        let graphs = self.batches.iter().chain(&self.other).map(|written| &written.graph);
        let kinds: BTreeSet<&EdgeName> = graphs.flat_map(|graph| graph.kinds.0.keys()).collect();
        kinds.into_iter().cloned().collect()
    }

    /// With edges of the default kind.
    pub fn with_plain_kinds(&self, edges: &[EdgeName]) -> Self {
        self.each_program(|Written { graph, .. }| graph.kinds.0.retain(|edge, _| !edges.contains(edge)))
    }

    /// What differs from a batch to the one before, each with the batch's place.
    pub fn changes(&self) -> Vec<(usize, Detail)> {
        let mut changes = Vec::new();
        for (place, pair) in (1..).zip(self.batches.windows(2)) {
            let (before, after) = (&pair[0].graph, &pair[1].graph);
            let all: BTreeSet<Detail> = details(before).chain(details(after)).collect();
            let differs = |detail: &Detail| content(before, detail) != content(after, detail);
            changes.extend(all.into_iter().filter(differs).map(|detail| (place, detail)));
        }
        changes
    }

    /// With these as they were in the batch before.
    pub fn without_changes(&self, changes: &[(usize, Detail)]) -> Self {
        let mut changed = self.clone();
        for (place, detail) in changes {
            let before = changed.batches[place - 1].clone();
            let after = &mut changed.batches[*place];
            // Something that follows on a resource alone can only be there with it.
            copy(&before, after, detail);
            *after = std::mem::take(after).tidied();
        }
        changed
    }

    /// All that is written, place by place.
    pub fn details(&self) -> Vec<(usize, Detail)> {
        let places = self.batches.iter().enumerate();
        places.flat_map(|(place, written)| details(&written.graph).map(move |it| (place, it))).collect()
    }

    /// Without these, each in its place alone.
    pub fn without_details(&self, gone: &[(usize, Detail)]) -> Self {
        let mut changed = self.clone();
        for (place, detail) in gone {
            let written = &mut changed.batches[*place];
            copy(&Written::default(), written, detail);
            *written = std::mem::take(written).tidied();
        }
        changed
    }

    /// With another value of an attribute for a resource from a batch on, so that this is what changes it there. None
    /// if it is not there before and after.
    pub fn with_another_value(&self, node: &str, attribute: &str, place: usize) -> Option<Self> {
        let signature = AlgebraSignature::attributed();
        let values = signature.attributes()[signature.attribute(attribute)?.at()].values();
        let has = |written: &Written| written.graph.nodes.contains(node);
        let before = self.batches.get(place.checked_sub(1)?).filter(|it| has(it))?;
        self.batches.get(place).filter(|it| has(it))?;
        let value = |written: &Written| written.graph.attributes.get(node)?.get(attribute).cloned();
        let was = value(before).unwrap_or_else(|| values[0].clone());
        let other = values[1..].iter().find(|value| **value != was)?;
        let mut changed = self.clone();
        for written in changed.batches[place..].iter_mut().filter(|it| has(it)) {
            let of_node = written.graph.attributes.entry(node.to_owned()).or_default();
            of_node.insert(attribute.to_owned(), other.clone());
        }
        Some(changed)
    }

    /// Without outputs.
    pub fn without_outputs(&self) -> Self {
        let mut changed = self.clone();
        changed.template.outputs = false;
        changed
    }

    /// Everything that is not written as it is.
    pub fn spelled(&self) -> Vec<Spelled> {
        self.template.spelling.all()
    }

    /// With these written as they are.
    pub fn with_plain_spelling(&self, plain: &[Spelled]) -> Self {
        let mut changed = self.clone();
        changed.template.spelling = self.template.spelling.only(|spelled| !plain.contains(spelled));
        changed
    }

    /// With shorter ways to write something: without one of two, four or eight parts.
    pub fn with_shorter_spelling(&self, spelled: &Spelled) -> Vec<Self> {
        let written: Vec<char> =
            self.template.spelling.written(spelled).unwrap_or_default().chars().collect();
        let parts = [2, 4, 8].into_iter().filter(|parts| *parts <= written.len());
        let shorter = parts.flat_map(|parts| {
            let written = &written;
            (0..parts).map(move |part| {
                let (from, to) = (written.len() * part / parts, written.len() * (part + 1) / parts);
                written[..from].iter().chain(&written[to..]).collect::<String>()
            })
        });
        let with = |text: String| {
            let mut changed = self.clone();
            changed.template.spelling.write(spelled, text);
            changed
        };
        shorter.map(with).filter(|it| it.template.spelling.check(std::iter::empty()).is_ok()).collect()
    }

    /// With another order of the text: as people write it, in reading order.
    pub fn in_reading_order(&self) -> Self {
        self.each_program(|written| written.order = written.graph.nodes.iter().cloned().collect())
    }

    /// With other names for its resources.
    pub fn renamed(&self, names: &BTreeMap<String, String>) -> Self {
        let name = |old: &String| names.get(old).unwrap_or(old).clone();
        let pair = |(from, to): &EdgeName| (name(from), name(to));
        let mut changed = self.each_program(|written| {
            let NamedGraph { nodes, edges, attributes, kinds } = &written.graph;
            written.graph = NamedGraph {
                nodes: nodes.iter().map(name).collect(),
                edges: edges.iter().map(pair).collect(),
                attributes: attributes.iter().map(|(node, values)| (name(node), values.clone())).collect(),
                kinds: EdgeNames(kinds.0.iter().map(|(edge, kind)| (pair(edge), kind.clone())).collect()),
            };
            written.order.iter_mut().for_each(|node| *node = name(node));
        });
        changed.template.spelling = changed.template.spelling.renamed(name);
        let key = |old: &NodeKey| names.get(&**old).map_or_else(|| old.clone(), |new| new.as_str().into());
        for stage in &mut changed.stages {
            if let Some(options) = options_of(&mut stage.action) {
                options.target = options.target.iter().map(key).collect();
                options.replace = options.replace.iter().map(key).collect();
            }
            match &mut stage.action {
                Action::Mark(resource) | Action::Unmark(resource) => *resource = key(resource),
                Action::Drift { key, .. } => *key = name(key),
                _ => {}
            }
            stage.faults.rename(|old| names.get(old).map_or(old, String::as_str).to_owned());
            if let ProgramRef::Broken { defect, .. } = &mut stage.program {
                for resource in resources_of(defect) {
                    *resource = key(resource);
                }
            }
        }
        changed
    }
}

/// Takes resources out of what a stage says; whether it still says anything.
fn forget(stage: &mut Stage, names: &[String]) -> bool {
    let is_gone = |key: &NodeKey| names.iter().any(|name| **name == **key);
    if let Some(options) = options_of(&mut stage.action) {
        let had_targets = !options.target.is_empty();
        options.target.retain(|key| !is_gone(key));
        options.replace.retain(|key| !is_gone(key));
        // Without its targets it would reach further than before, and not less far.
        if had_targets && options.target.is_empty() {
            return false;
        }
    }
    match &stage.action {
        Action::Mark(resource) | Action::Unmark(resource) if is_gone(resource) => return false,
        Action::Drift { key, .. } if names.contains(key) => return false,
        _ => {}
    }
    let had_faults = !stage.faults.is_empty();
    stage.faults.retain(|fault| !fault.call.key.as_ref().is_some_and(|key| names.contains(key)));
    if had_faults && stage.faults.is_empty() {
        return false;
    }
    match &mut stage.program {
        ProgramRef::Broken { defect, .. } => {
            resources_of(defect).into_iter().all(|resource| !is_gone(resource))
        }
        _ => true,
    }
}

/// The resources that a defect names.
fn resources_of(defect: &mut Defect) -> Vec<&mut NodeKey> {
    match defect {
        Defect::Cycle { resource, dependent } => vec![resource, dependent],
        Defect::Dangling { resource }
        | Defect::SelfReference { resource }
        | Defect::UnknownArgument { resource }
        | Defect::MissingArgument { resource }
        | Defect::WrongType { resource }
        | Defect::Twice { resource }
        | Defect::EmptyKey { resource }
        | Defect::PreventDestroy { resource } => vec![resource],
    }
}

fn details(graph: &NamedGraph) -> impl Iterator<Item = Detail> + '_ {
    let nodes = graph.nodes.iter().cloned().map(Detail::Node);
    let edges = graph.edges.iter().cloned().map(Detail::Edge);
    let of_node = |(node, values): (&String, &BTreeMap<String, String>)| {
        values.keys().map(|name| Detail::Value(node.clone(), name.clone())).collect::<Vec<_>>()
    };
    nodes.chain(edges).chain(graph.attributes.iter().flat_map(of_node))
}

/// What stands in a graph for a detail: none if it is not there.
fn content<'a>(graph: &'a NamedGraph, detail: &Detail) -> Option<&'a str> {
    match detail {
        Detail::Node(name) => graph.nodes.contains(name).then_some(""),
        Detail::Edge(edge) => {
            graph.edges.contains(edge).then(|| graph.kinds.0.get(edge).map_or("", String::as_str))
        }
        Detail::Value(node, attribute) => graph.attributes.get(node)?.get(attribute).map(String::as_str),
    }
}

fn unset(graph: &mut NamedGraph, node: &str, attribute: &str) {
    if let Some(values) = graph.attributes.get_mut(node) {
        values.remove(attribute);
        if values.is_empty() {
            graph.attributes.remove(node);
        }
    }
}

/// Makes a detail what it is in another program. An edge and a value are there with their resources only.
fn copy(from: &Written, to: &mut Written, detail: &Detail) {
    let there = content(&from.graph, detail).map(str::to_owned);
    let graph = &mut to.graph;
    match (detail, there) {
        (Detail::Node(name), None) => {
            graph.nodes.remove(name);
            graph.edges.retain(|(one, other)| one != name && other != name);
            graph.kinds.0.retain(|(one, other), _| one != name && other != name);
            graph.attributes.remove(name);
        }
        (Detail::Node(name), Some(_)) => {
            graph.nodes.insert(name.clone());
            if let Some(values) = from.graph.attributes.get(name) {
                graph.attributes.insert(name.clone(), values.clone());
            }
            for edge in from.graph.edges.iter().filter(|(one, other)| one == name || other == name) {
                copy_edge(&from.graph, graph, edge);
            }
            // Where it stood before, among those that are there still.
            if !to.order.contains(name) {
                let later: BTreeSet<&String> = from.order.iter().skip_while(|it| *it != name).collect();
                let place = to.order.iter().position(|it| later.contains(it)).unwrap_or(to.order.len());
                to.order.insert(place, name.clone());
            }
        }
        (Detail::Edge(edge), None) => {
            graph.edges.remove(edge);
            graph.kinds.0.remove(edge);
        }
        (Detail::Edge(edge), Some(_)) => copy_edge(&from.graph, graph, edge),
        (Detail::Value(node, attribute), None) => unset(graph, node, attribute),
        (Detail::Value(node, attribute), Some(value)) => {
            if graph.nodes.contains(node) {
                graph.attributes.entry(node.clone()).or_default().insert(attribute.clone(), value);
            }
        }
    }
}

fn copy_edge(from: &NamedGraph, to: &mut NamedGraph, edge: &EdgeName) {
    if !to.nodes.contains(&edge.0) || !to.nodes.contains(&edge.1) {
        return;
    }
    to.edges.insert(edge.clone());
    match from.kinds.0.get(edge) {
        Some(kind) => to.kinds.0.insert(edge.clone(), kind.clone()),
        None => to.kinds.0.remove(edge),
    };
}
