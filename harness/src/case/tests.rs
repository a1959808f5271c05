//! Tests of cases.

use std::fs;

use super::*;
use crate::model::EdgeKind;

fn choice(seed: u64) -> EdgeChoice {
    EdgeChoice { seed, pinned: 0.25, depends_on: 0.25, create_before_destroy: 0.2 }
}

fn case(variants: &[&str]) -> Case {
    Case {
        version: CASE_VERSION,
        seed: 3,
        engine: None,
        left_out: Default::default(),
        equiform: None,
        provider: None,
        source: NamedGraph::default(),
        edges: EdgeChoice { seed: 3, pinned: 0.0, depends_on: 0.0, create_before_destroy: 0.0 },
        variants: variants.iter().map(|&text| text.to_owned()).collect(),
    }
}

#[test]
fn a_variant_is_deployed_prefix_by_prefix_up_to_the_whole() {
    let variant = "(rem a (cut (con a b (add a (add b empty)))))";
    let batches = case(&[variant]).batches(0).unwrap();
    let keys: Vec<Vec<&str>> =
        batches.iter().map(|batch| batch.deployment.resources.keys().map(String::as_str).collect()).collect();
    assert_eq!(keys, [vec!["a", "b"], vec!["b"]]);
    let dependencies = &batches[0].deployment.resources["b"].dependencies;
    assert_eq!(dependencies.get("a"), Some(&EdgeKind::Refs));
    assert_eq!(batches[0].order, ["b", "a"], "the text has the order in which the variant adds");
}

#[test]
fn a_program_without_steps_is_one_batch_without_resources() {
    let batches = case(&["empty"]).batches(0).unwrap();
    assert_eq!(batches, [Batch { deployment: Deployment::default(), order: Vec::new() }]);
}

#[test]
fn text_order_follows_removal_and_renewed_adding() {
    let batches = case(&["(add a (rem a (add b (add a empty))))"]).batches(0).unwrap();
    assert_eq!(batches[0].order, ["b", "a"]);
}

#[test]
fn an_edge_is_written_the_same_way_in_every_variant_and_batch() {
    let mut case = case(&[
        "(con b c (con a b (cut (con a c (add c (add b (add a empty)))))))",
        "(con a c (con b c (con a b (add a (add b (add c empty))))))",
    ]);
    case.edges = choice(11);
    let (one, other) = (case.batches(0).unwrap(), case.batches(1).unwrap());
    assert_eq!(one.last().unwrap().deployment, other.last().unwrap().deployment);
    let early = &one[0].deployment.resources["c"].dependencies["a"];
    assert_eq!(early, &one[1].deployment.resources["c"].dependencies["a"]);
}

#[test]
fn choices_depend_on_seed_and_names_and_have_their_shares() {
    let names: Vec<String> = (0..2000).map(|number| format!("r{number}")).collect();
    let kinds = |seed| -> Vec<EdgeKind> { names.iter().map(|name| choice(seed).kind(name, "x")).collect() };
    assert_eq!(kinds(1), kinds(1));
    assert_ne!(kinds(1), kinds(2));
    for kind in [EdgeKind::PinnedRefs, EdgeKind::DependsOn] {
        let count = kinds(1).iter().filter(|drawn| **drawn == kind).count();
        assert!((400..600).contains(&count), "{kind:?}: {count} of 2000 at a share of a quarter");
    }
    let asking = names.iter().filter(|name| choice(1).creates_before_destroy(name)).count();
    assert!((320..480).contains(&asking), "{asking} of 2000 at a share of a fifth");
}

/// Pinned, so that stored cases keep their meaning from one release to the next.
#[test]
fn choices_stay_the_same_from_release_to_release() {
    let kinds: Vec<EdgeKind> = (0..6).map(|number| choice(7).kind(&format!("r{number}"), "x0")).collect();
    use EdgeKind::{DependsOn, PinnedRefs, Refs};
    assert_eq!(kinds, [Refs, Refs, DependsOn, Refs, Refs, PinnedRefs]);
}

#[test]
fn a_case_comes_back_from_its_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.json");
    let case = case(&["(add a empty)"]);
    fs::write(&path, serde_json::to_string(&case).unwrap()).unwrap();
    assert_eq!(Case::read(&path).unwrap(), case);
}

#[test]
fn a_case_of_a_newer_version_gives_a_sentence_whatever_else_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.json");
    fs::write(&path, r#"{"version": 99, "novelty": []}"#).unwrap();
    let error = Case::read(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("has case version 99, and this program reads version 1: use a newer equiform"),
        "{error}"
    );
}

#[test]
fn a_variant_that_does_not_parse_is_named_by_its_number() {
    let error = case(&["(add a empty)", "(gone a empty)"]).batches(1).unwrap_err().to_string();
    assert!(error.starts_with("variant 1: ") && error.contains("`gone` is not an operation"), "{error}");
}
