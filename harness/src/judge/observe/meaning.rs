//! What a world means: its objects with their attributes, ids read as keys. Two worlds that mean the same
//! differ in nothing but the ids that were minted and how often objects were changed on the way.

use equiform_proto::ledger::{Digest, World};
use serde_json::Value as Json;

/// The digest of what a world means. Labels of some keys play no part in it.
pub fn meaning_of(world: &World, without_label: impl Fn(&str) -> bool) -> Digest {
    let mut objects: Vec<String> = world
        .unordered()
        .map(|object| {
            let mut attributes = object.attributes.unpack();
            attributes.remove("id");
            attributes.remove("revision");
            if object.key.as_deref().is_some_and(&without_label) {
                attributes.remove("label");
            }
            let attributes: Vec<_> =
                attributes.into_iter().map(|(name, value)| (name, with_keys(value, world))).collect();
            serde_json::to_string(&(&object.key, &object.type_name, attributes)).expect("attributes are JSON")
        })
        .collect();
    objects.sort_unstable();
    Digest::of_json(objects.join("\n").as_bytes())
}

/// A value with keys in the place of ids. Lists of them are sorted: ids stand in the order of their own letters.
fn with_keys(value: Json, world: &World) -> Json {
    match value {
        Json::String(text) => match world.get(&text) {
            Some(object) => Json::from(vec![object.key.clone()]),
            None => Json::String(text),
        },
        Json::Array(elements) => {
            let mut elements: Vec<Json> =
                elements.into_iter().map(|element| with_keys(element, world)).collect();
            elements.sort_by_cached_key(Json::to_string);
            Json::Array(elements)
        }
        other => other,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use equiform_proto::ledger::{Entry, LineHash, Operation, Phase, Reference};
    use serde_json::json;

    use super::*;

    /// A world of objects, each with its key, its id, the ids that it refers to, and its revision.
    pub fn world(objects: &[(&str, &str, &[&str], u64)]) -> World {
        let mut world = World::default();
        for (seq, (key, id, refs, revision)) in (1..).zip(objects) {
            let mut entry = Entry::new(seq, Operation::Create, Phase::Commit, 1, LineHash([0; 32]));
            entry.type_name = Some("mock_node".to_owned());
            entry.key = (!key.is_empty()).then(|| (*key).to_owned());
            entry.id = Some((*id).to_owned());
            let after = json!({"id": id, "key": key, "refs": refs, "revision": revision});
            entry.after = Some(after.as_object().unwrap().clone());
            entry.refs =
                refs.iter().map(|id| Reference { path: "refs".to_owned(), id: (*id).to_owned() }).collect();
            world.apply(entry).unwrap();
        }
        world
    }

    #[test]
    fn ids_and_revisions_do_not_matter_and_references_do() {
        let one = world(&[
            ("a", "node-1", &[], 1),
            ("b", "node-2", &[], 1),
            ("c", "node-3", &["node-1", "node-2"], 1),
        ]);
        let same = world(&[
            ("c", "node-6", &["node-7", "node-8"], 4),
            ("a", "node-8", &[], 1),
            ("b", "node-7", &[], 2),
        ]);
        let other =
            world(&[("a", "node-1", &[], 1), ("b", "node-2", &[], 1), ("c", "node-3", &["node-1"], 1)]);
        let meaning_of = |world| meaning_of(world, |_| false);
        assert_eq!(meaning_of(&one), meaning_of(&same));
        assert_ne!(meaning_of(&one), meaning_of(&other));
    }
}
