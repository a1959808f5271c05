//! Attributes and kinds that stay the same throughout a case, for campaigns with `--algebra bare`.
//!
//! Their walks draw resources and edges only. The kind of each edge, and whether a resource has create_before_destroy,
//! follow from the seed of the case and the names, wherever the edge or the resource appears.

use sha2::{Digest, Sha256};

use crate::algebra::generate::Variant;
use crate::algebra::graph::{Graph, Names};
use crate::algebra::program::{Derivation, Step};
use crate::algebra::signature::{AttributeId, Kind, Signature, ValueId};

/// The share of edges that are pinned references.
const PINNED: f64 = 0.25;

/// The share of edges that are a `depends_on`.
const DEPENDS_ON: f64 = 0.25;

/// What decides the attributes and kinds of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedAttributes {
    /// The seed of the case.
    pub seed: u64,
    /// The share of resources with create_before_destroy.
    pub create_before_destroy: f64,
}

impl FixedAttributes {
    /// The same graph with attributes and kinds.
    pub fn of_graph(&self, graph: &Graph, names: &Names) -> Graph {
        let canonical = Variant { derivation: Derivation::canonical(graph), cuts: Vec::new() };
        let dressed = self.of_variant(&canonical, names).derivation.eval();
        dressed.expect("a value is set where its resource was just added")
    }

    /// The same variant, in which each resource gets its values when it is added, and each edge has its kind. It is cut
    /// in the same places.
    pub fn of_variant(&self, variant: &Variant, names: &Names) -> Variant {
        let (mut steps, mut cuts) = (Vec::new(), Vec::new());
        for (done, step) in (1..).zip(variant.derivation.steps()) {
            match *step {
                Step::Con(edge, kind) if kind.is_default() => {
                    steps.push(Step::Con(
                        edge,
                        self.kind(names.of(edge.dependency), names.of(edge.dependent)),
                    ));
                }
                Step::Add(resource) => {
                    steps.push(Step::Add(resource));
                    steps.extend(
                        self.settings(names.of(resource)).map(|(id, value)| Step::Set(resource, id, value)),
                    );
                }
                Step::Con(..) | Step::Rem(_) | Step::Disc(_) | Step::Set(..) => steps.push(*step),
            }
            if variant.cuts.contains(&done) {
                cuts.push(steps.len());
            }
        }
        Variant { derivation: Derivation::new(steps), cuts }
    }

    fn kind(&self, dependency: &str, dependent: &str) -> Kind {
        let place = self.place("edge", &[dependency, dependent]);
        let name = if place < PINNED {
            "pinned_refs"
        } else if place < PINNED + DEPENDS_ON {
            "depends_on"
        } else {
            "refs"
        };
        Signature::attributed().kind(name).expect("it is one of the kinds")
    }

    fn settings(&self, resource: &str) -> Option<(AttributeId, ValueId)> {
        (self.place("resource", &[resource]) < self.create_before_destroy).then(|| {
            let signature = Signature::attributed();
            let id = signature.attribute("create_before_destroy").expect("it is one of the attributes");
            (id, signature.attributes()[id.at()].value("true").expect("it is one of its values"))
        })
    }

    /// A number in 0..1 that depends on the seed and the names alone.
    fn place(&self, kind: &str, names: &[&str]) -> f64 {
        let mut hasher = Sha256::new().chain_update(self.seed.to_be_bytes()).chain_update(kind);
        for name in names {
            hasher.update([0]);
            hasher.update(name);
        }
        let digest = hasher.finalize();
        let first = u32::from_be_bytes(*digest.first_chunk().expect("a SHA-256 has 32 bytes"));
        f64::from(first) / (f64::from(u32::MAX) + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::program::{parse, print};

    fn fixed(seed: u64) -> FixedAttributes {
        FixedAttributes { seed, create_before_destroy: 0.2 }
    }

    fn kind_name(seed: u64, dependency: &str, dependent: &str) -> &'static str {
        Signature::attributed().kind_name(fixed(seed).kind(dependency, dependent))
    }

    #[test]
    fn attributes_depend_on_seed_and_names_and_have_their_shares() {
        let names: Vec<String> = (0..2000).map(|number| format!("r{number}")).collect();
        let kinds = |seed| -> Vec<&str> { names.iter().map(|name| kind_name(seed, name, "x")).collect() };
        assert_eq!(kinds(1), kinds(1));
        assert_ne!(kinds(1), kinds(2));
        for kind in ["pinned_refs", "depends_on"] {
            let count = kinds(1).iter().filter(|drawn| **drawn == kind).count();
            assert!((400..600).contains(&count), "{kind:?}: {count} of 2000 at a share of a quarter");
        }
        let asking = names.iter().filter(|name| fixed(1).settings(name).is_some()).count();
        assert!((320..480).contains(&asking), "{asking} of 2000 at a share of a fifth");
    }

    /// Pinned, so that a seed gives the same case from one release to the next.
    #[test]
    fn attributes_stay_the_same_from_release_to_release() {
        let kinds: Vec<&str> = (0..6).map(|number| kind_name(7, &format!("r{number}"), "x0")).collect();
        assert_eq!(kinds, ["refs", "refs", "depends_on", "refs", "refs", "pinned_refs"]);
    }

    #[test]
    fn a_variant_gets_its_attributes_where_things_come_and_is_cut_where_it_was() {
        let parsed =
            parse("(con r5 x0 (add x0 (cut (disc r5 x0 (con r5 x0 (add x0 (cut (add r5 empty))))))))")
                .unwrap();
        let variant = Variant { derivation: parsed.derivation, cuts: parsed.cuts };
        let all = FixedAttributes { seed: 7, create_before_destroy: 1.0 };
        let dressed = all.of_variant(&variant, &parsed.names);
        let added =
            |name: &str, inner: &str| format!("(set {name} create_before_destroy true (add {name} {inner}))");
        let connected = |inner: &str| format!("(con r5 x0 pinned_refs {inner})");
        let second =
            format!("(disc r5 x0 {})", connected(&added("x0", &format!("(cut {})", added("r5", "empty")))));
        let expected = connected(&added("x0", &format!("(cut {second})")));
        assert_eq!(print(&dressed.derivation, &dressed.cuts, &parsed.names), expected);
        let graph = variant.derivation.eval().unwrap();
        assert_eq!(dressed.derivation.eval(), Ok(all.of_graph(&graph, &parsed.names)));
    }
}
