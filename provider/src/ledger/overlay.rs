//! What the ledger says beyond its index, in memory: the objects that were touched since.

use std::collections::HashMap;
use std::sync::Arc;

use equiform_proto::ledger::Entry;

use super::append::Place;
use super::count::{Counted, CountedHash};

/// The objects that entries have touched, by id.
#[derive(Default)]
pub struct Overlay {
    touched: HashMap<String, Touched>,
    /// The ids of touched objects, by type and key.
    by_key: HashMap<(String, String), Vec<String>>,
    /// What was counted, each time with the place of its entry: an index that covers the entry has counted it.
    counted: HashMap<CountedHash, Vec<u64>>,
}

/// A touched object.
pub struct Touched {
    /// Its last commit and where that stands, or `None` if it is gone.
    pub last: Option<(Arc<Entry>, Place)>,
}

impl Overlay {
    /// Folds the next entry in.
    pub fn take_in(&mut self, entry: Entry, place: Place) {
        if let Some(counted) = Counted::by(&entry) {
            self.counted.entry(counted.hash()).or_default().push(place.offset);
        }
        if !entry.changes_world() {
            return;
        }
        let Some(id) = entry.id.clone() else { return };
        if let (Some(type_name), Some(key)) = (&entry.type_name, &entry.key)
            && !self.touched.contains_key(&id)
        {
            let ids = self.by_key.entry((type_name.clone(), key.clone())).or_default();
            ids.push(id.clone());
        }
        let last = entry.after.is_some().then(|| (Arc::new(entry), place));
        self.touched.insert(id, Touched { last });
    }

    /// What is known of an id: nothing, or its last commit, or that it is gone.
    pub fn by_id(&self, id: &str) -> Option<Option<&Arc<Entry>>> {
        self.touched.get(id).map(|touched| touched.last.as_ref().map(|(entry, _)| entry))
    }

    /// The touched objects of a type that have this key and are there.
    pub fn by_key(&self, type_name: &str, key: &str) -> Vec<Arc<Entry>> {
        let ids = self.by_key.get(&(type_name.to_owned(), key.to_owned()));
        let ids = ids.map_or(&[][..], Vec::as_slice);
        ids.iter().filter_map(|id| self.by_id(id)?.cloned()).collect()
    }

    /// Forgets objects whose last commit stands before this place: an index leads to them. That an object is
    /// gone is not forgotten; it takes little room.
    pub fn forget_before(&mut self, covered: u64) {
        self.touched
            .retain(|_, touched| touched.last.as_ref().is_none_or(|(_, place)| place.offset >= covered));
        for ids in self.by_key.values_mut() {
            ids.retain(|id| self.touched.contains_key(id));
        }
        self.by_key.retain(|_, ids| !ids.is_empty());
        for offsets in self.counted.values_mut() {
            offsets.retain(|offset| *offset >= covered);
        }
        self.counted.retain(|_, offsets| !offsets.is_empty());
    }

    /// How often something was counted since the index.
    pub fn count(&self, counted: CountedHash) -> u64 {
        self.counted.get(&counted).map_or(0, |offsets| offsets.len() as u64)
    }

    /// All that was counted since the index, and how often.
    pub fn counts(&self) -> impl Iterator<Item = (CountedHash, u64)> {
        self.counted.iter().map(|(counted, offsets)| (*counted, offsets.len() as u64))
    }

    /// All touched objects, by id.
    pub fn touched(&self) -> impl Iterator<Item = (&str, &Touched)> {
        self.touched.iter().map(|(id, touched)| (id.as_str(), touched))
    }
}
