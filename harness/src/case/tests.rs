//! Tests of cases.

use std::fs;

use super::*;
use crate::spec::{EdgeKind, Node};

fn case(variants: &[&str]) -> Case {
    let stages = |number: usize| Stage::usual(1, (number + 1) % variants.len());
    let ill_formed = |(number, text): (usize, &&str)| Variant {
        program: (*text).to_owned(),
        workflow: workflow::plain_name(),
        stages: stages(number),
    };
    let programs = variants.iter().map(|text| (*text).to_owned()).collect();
    let empty = || Case::new(3, NamedGraph::default(), Vec::new()).unwrap();
    Case::new(3, NamedGraph::default(), programs).unwrap_or_else(|_| Case {
        variants: variants.iter().enumerate().map(ill_formed).collect(),
        ..empty()
    })
}

#[test]
fn a_variant_is_deployed_prefix_by_prefix_up_to_the_whole() {
    let variant = "(rem a (cut (con a b (add a (add b empty)))))";
    let batches = case(&[variant]).batches(0).unwrap();
    let keys: Vec<Vec<&str>> =
        batches.iter().map(|batch| batch.program.meaning.nodes.keys().map(|key| &**key).collect()).collect();
    assert_eq!(keys, [vec!["a", "b"], vec!["b"]]);
    let [a, b] = ["a", "b"].map(NodeKey::from);
    assert_eq!(batches[0].program.meaning.nodes[&b].dependencies.get(&a), Some(&EdgeKind::Refs));
    assert_eq!(batches[0].order, [b, a], "the text has the order in which the variant adds");
}

#[test]
fn a_program_without_steps_is_one_batch_without_resources() {
    let batches = case(&["empty"]).batches(0).unwrap();
    assert_eq!(*batches[0], Batch::default());
    assert_eq!(batches.len(), 1);
}

#[test]
fn text_order_follows_removal_and_renewed_adding() {
    let batches = case(&["(add a (rem a (add b (add a empty))))"]).batches(0).unwrap();
    assert_eq!(batches[0].order, ["b", "a"].map(NodeKey::from));
}

#[test]
fn an_edge_is_written_the_same_way_in_every_variant_and_batch() {
    let case = case(&[
        "(con b c (con a b (cut (con a c pinned_refs (add c (add b (add a empty)))))))",
        "(con a c pinned_refs (con b c (con a b (add a (add b (add c empty))))))",
    ]);
    let (one, other) = (case.batches(0).unwrap(), case.batches(1).unwrap());
    assert_eq!(one.last().unwrap().program, other.last().unwrap().program);
    let [a, c] = ["a", "c"].map(NodeKey::from);
    for batch in one {
        assert_eq!(batch.program.meaning.nodes[&c].dependencies[&a], EdgeKind::PinnedRefs);
    }
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
fn a_case_of_another_version_gives_a_sentence_whatever_else_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.json");
    for version in [CASE_VERSION - 1, 99] {
        fs::write(&path, format!(r#"{{"version": {version}, "novelty": []}}"#)).unwrap();
        let error = Case::read(&path).unwrap_err().to_string();
        let expected = format!(
            "has case version {version}, and this program reads version {CASE_VERSION}: use the equiform that wrote it"
        );
        assert!(error.ends_with(&expected), "{error}");
    }
}

#[test]
fn a_variant_that_does_not_parse_is_named_by_its_number() {
    let error = case(&["(add a empty)", "(gone a empty)"]).batches(1).unwrap_err().to_string();
    assert!(error.starts_with("variant 1: ") && error.contains("`gone` is not an operation"), "{error}");
}

#[test]
fn every_attribute_value_and_kind_of_the_algebra_has_its_place_in_a_block() {
    let signature = Signature::attributed();
    for (attribute, value) in signature.values().filter(|(_, value)| !value.is_default()) {
        let (name, value) = (signature.attribute_name(attribute), signature.value_name(attribute, value));
        let case = case(&[&format!("(set a {name} {value} (add a empty))")]);
        let batches = case.batches(0).unwrap();
        let block = batches[0].program.node("a").unwrap();
        assert_ne!(*block, Node::default(), "{name} {value}");
    }
    for kind in signature.kinds() {
        let case = case(&[&format!("(con a b {kind} (add a (add b empty)))")]);
        let batches = case.batches(0).unwrap();
        let block = batches[0].program.node("b").unwrap();
        assert_eq!(block.dependencies.values().map(|it| it.name()).collect::<Vec<_>>(), [kind]);
    }
}
