//! A set with constant-time change, membership and random choice.

use rand::{Rng, RngExt};

use crate::graph::Resource;

/// Something with a number, of which there are a known many.
pub trait Numbered: Copy {
    /// Its number.
    fn number(self) -> usize;
}

impl Numbered for Resource {
    fn number(self) -> usize {
        self.at()
    }
}

/// Members in a list, and for each number its place in the list. Nothing is allocated after its making.
#[derive(Debug)]
pub struct IndexedSet<T> {
    members: Vec<T>,
    places: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl<T: Numbered> IndexedSet<T> {
    /// A set that may hold what has a number below `count`.
    pub fn with_room_for(count: usize) -> Self {
        Self { members: Vec::with_capacity(count), places: vec![ABSENT; count] }
    }

    /// Becomes a copy of a set with the same room, and lists its members in the same order.
    pub fn copy_from(&mut self, other: &Self) {
        self.members.clear();
        self.members.extend_from_slice(&other.members);
        self.places.copy_from_slice(&other.places);
    }

    /// Puts in what is not there.
    pub fn insert(&mut self, member: T) {
        debug_assert!(!self.contains(member), "inserted once only");
        self.places[member.number()] = u32::try_from(self.members.len()).expect("fewer than 2^32 members");
        self.members.push(member);
    }

    /// Takes out what is there.
    pub fn remove(&mut self, member: T) {
        let place = std::mem::replace(&mut self.places[member.number()], ABSENT);
        self.members.swap_remove(place as usize);
        if let Some(moved) = self.members.get(place as usize) {
            self.places[moved.number()] = place;
        }
    }

    /// Whether it is there.
    pub fn contains(&self, member: T) -> bool {
        self.places[member.number()] != ABSENT
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
    pub fn at(&self, place: usize) -> T {
        self.members[place]
    }

    /// Any member of a set that is not empty.
    pub fn choose(&self, rng: &mut impl Rng) -> T {
        self.members[rng.random_range(0..self.members.len())]
    }
}
