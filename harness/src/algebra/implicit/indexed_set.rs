//! A set of resources with constant-time change, membership and random choice.

use rand::{Rng, RngExt};

use crate::algebra::graph::Resource;

/// Members in a list, and for each resource its place in the list. Nothing is allocated after its making.
#[derive(Debug)]
pub struct IndexedSet {
    members: Vec<Resource>,
    places: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl IndexedSet {
    /// A set that may hold the first `resources` resources.
    pub fn with_room_for(resources: u32) -> Self {
        Self { members: Vec::with_capacity(resources as usize), places: vec![ABSENT; resources as usize] }
    }

    /// Becomes a copy of a set with the same room, and lists its members in the same order.
    pub fn copy_from(&mut self, other: &Self) {
        self.members.clear();
        self.members.extend_from_slice(&other.members);
        self.places.copy_from_slice(&other.places);
    }

    /// Puts a resource in that is not there.
    pub fn insert(&mut self, resource: Resource) {
        debug_assert!(!self.contains(resource), "inserted once only");
        self.places[resource.at()] = u32::try_from(self.members.len()).expect("fewer than 2^32 members");
        self.members.push(resource);
    }

    /// Takes out a resource that is there.
    pub fn remove(&mut self, resource: Resource) {
        let place = std::mem::replace(&mut self.places[resource.at()], ABSENT);
        self.members.swap_remove(place as usize);
        if let Some(moved) = self.members.get(place as usize) {
            self.places[moved.at()] = place;
        }
    }

    /// Whether it is there.
    pub fn contains(&self, resource: Resource) -> bool {
        self.places[resource.at()] != ABSENT
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The member at a place in the list.
    pub fn at(&self, place: usize) -> Resource {
        self.members[place]
    }

    /// Any member of a set that is not empty.
    pub fn choose(&self, rng: &mut impl Rng) -> Resource {
        self.members[rng.random_range(0..self.members.len())]
    }
}
