//! The class that a walk stands in: a graph whose every change takes constant time.

use super::indexed_set::{IndexedSet, Numbered};
use crate::graph::{Edge, Graph, Resource};
use crate::signature::{AttributeId, Kind, ValueId};

/// An attribute of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The resource.
    pub resource: Resource,
    /// The attribute.
    pub attribute: AttributeId,
    number: u32,
}

impl Numbered for Slot {
    fn number(self) -> usize {
        self.number as usize
    }
}

/// A graph, and what a walk needs to know of it. Whether two resources are connected is kept elsewhere: that would be
/// too big to copy for each walk.
#[derive(Debug)]
pub struct State {
    /// The resources that are there.
    pub present: IndexedSet<Resource>,
    /// Those of them that a single `add` can have made: without edges, and with no value but defaults.
    pub loose: IndexedSet<Resource>,
    /// The absent resources that the source has.
    pub absent_at_home: IndexedSet<Resource>,
    /// The absent resources that it does not have.
    pub absent_abroad: IndexedSet<Resource>,
    /// For each resource, the number of its edges and of its values that are not the default.
    ties: Vec<u32>,
    /// The edges and their kinds.
    pub edges: Vec<(Edge, Kind)>,
    /// The value of each slot.
    values: Vec<ValueId>,
    /// The slots whose value is not the default.
    pub set: IndexedSet<Slot>,
    attributes: u32,
}

impl State {
    /// The empty graph, with room for so many resources with so many attributes, and for so many edges.
    pub fn with_room_for(resources: u32, attributes: usize, edges: usize) -> Self {
        let set = || IndexedSet::with_room_for(resources as usize);
        let slots = resources as usize * attributes;
        Self {
            present: set(),
            loose: set(),
            absent_at_home: set(),
            absent_abroad: set(),
            ties: vec![0; resources as usize],
            edges: Vec::with_capacity(edges),
            values: vec![ValueId::DEFAULT; slots],
            set: IndexedSet::with_room_for(slots),
            attributes: u32::try_from(attributes).expect("a few attributes"),
        }
    }

    /// The state in which a source is, with the same room.
    pub fn of(source: &Graph, resources: u32, attributes: usize, edges: usize) -> Self {
        let mut state = Self::with_room_for(resources, attributes, edges);
        for (edge, kind) in source.kinds() {
            state.edges.push((edge, kind));
            state.ties[edge.dependency.at()] += 1;
            state.ties[edge.dependent.at()] += 1;
        }
        for (resource, attribute, value) in source.values() {
            let slot = state.slot(resource, attribute);
            state.values[slot.number()] = value;
            state.set.insert(slot);
            state.ties[resource.at()] += 1;
        }
        for node in source.nodes() {
            state.present.insert(node);
            if state.ties[node.at()] == 0 {
                state.loose.insert(node);
            }
        }
        let absent = (0..resources).map(Resource::new).filter(|&resource| !source.contains(resource));
        absent.for_each(|resource| state.absent_abroad.insert(resource));
        state
    }

    /// Becomes a copy of a state with the same room.
    pub fn copy_from(&mut self, other: &Self) {
        self.present.copy_from(&other.present);
        self.loose.copy_from(&other.loose);
        self.absent_at_home.copy_from(&other.absent_at_home);
        self.absent_abroad.copy_from(&other.absent_abroad);
        self.ties.copy_from_slice(&other.ties);
        self.edges.clear();
        self.edges.extend_from_slice(&other.edges);
        self.values.copy_from_slice(&other.values);
        self.set.copy_from(&other.set);
    }

    /// The number of steps from `empty`.
    pub fn distance(&self) -> usize {
        self.present.len() + self.edges.len() + self.set.len()
    }

    /// An attribute of a resource.
    pub fn slot(&self, resource: Resource, attribute: AttributeId) -> Slot {
        let number = resource.index() * self.attributes + u32::from(attribute.index());
        Slot { resource, attribute, number }
    }

    /// The value of a slot.
    pub fn value(&self, slot: Slot) -> ValueId {
        self.values[slot.number()]
    }

    /// Changes the value of a slot.
    pub fn assign(&mut self, slot: Slot, value: ValueId) {
        let before = std::mem::replace(&mut self.values[slot.number()], value);
        match (before.is_default(), value.is_default()) {
            (true, false) => {
                self.set.insert(slot);
                self.tie(slot.resource);
            }
            (false, true) => {
                self.set.remove(slot);
                self.untie(slot.resource);
            }
            _ => {}
        }
    }

    /// Puts an edge in that is not there.
    pub fn connect(&mut self, edge: Edge, kind: Kind) {
        self.edges.push((edge, kind));
        self.tie(edge.dependency);
        self.tie(edge.dependent);
    }

    /// Takes out the edge at a place in the list.
    pub fn disconnect(&mut self, at: usize) -> (Edge, Kind) {
        let (edge, kind) = self.edges.swap_remove(at);
        self.untie(edge.dependency);
        self.untie(edge.dependent);
        (edge, kind)
    }

    fn tie(&mut self, resource: Resource) {
        if self.ties[resource.at()] == 0 {
            self.loose.remove(resource);
        }
        self.ties[resource.at()] += 1;
    }

    fn untie(&mut self, resource: Resource) {
        self.ties[resource.at()] -= 1;
        if self.ties[resource.at()] == 0 {
            self.loose.insert(resource);
        }
    }
}
