//! Tests of cases.

use std::fs;

use super::choices::EdgeKinds;
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
    let empty = || Case::new(3, NamedGraph::default(), Choices::default(), Vec::new()).unwrap();
    Case::new(3, NamedGraph::default(), Choices::default(), programs).unwrap_or_else(|_| Case {
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
    let mut case = case(&[
        "(con b c (con a b (cut (con a c (add c (add b (add a empty)))))))",
        "(con a c (con b c (con a b (add a (add b (add c empty))))))",
    ]);
    let edge = |dependency: &str| ((dependency.to_owned(), "c".to_owned()), EdgeKind::PinnedRefs);
    case.choices.edges = EdgeKinds([edge("a")].into());
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
fn a_case_of_a_newer_version_gives_a_sentence_whatever_else_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.json");
    fs::write(&path, r#"{"version": 99, "novelty": []}"#).unwrap();
    let error = Case::read(&path).unwrap_err().to_string();
    let reads = format!("this program reads versions up to {CASE_VERSION}: use a newer equiform");
    assert!(error.ends_with(&format!("has case version 99, and {reads}")), "{error}");
}

#[test]
fn a_variant_that_does_not_parse_is_named_by_its_number() {
    let error = case(&["(add a empty)", "(gone a empty)"]).batches(1).unwrap_err().to_string();
    assert!(error.starts_with("variant 1: ") && error.contains("`gone` is not an operation"), "{error}");
}

/// A case as version 1 stored it: what stands in it must go on to mean what it meant.
#[test]
fn a_case_of_version_1_has_its_choices_written_out_and_the_usual_stages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.json");
    let text = r#"{"version": 1, "seed": 7, "source": {"nodes": ["r5", "x0"], "edges": [["r5", "x0"]]},
        "edges": {"seed": 7, "pinned": 0.25, "depends_on": 0.25, "create_before_destroy": 1.0},
        "variants": ["(con r5 x0 (cut (add x0 (add r5 empty))))", "(con r5 x0 (add r5 (add x0 empty)))"]}"#;
    fs::write(&path, text).unwrap();
    let case = Case::read(&path).unwrap();
    assert_eq!(case.version, CASE_VERSION);
    assert_eq!(case.choices.edges.of("r5", "x0"), EdgeKind::PinnedRefs);
    assert!(case.choices.create_before_destroy.iter().eq(["r5", "x0"]));
    let stages = case.stages(0).unwrap();
    assert!(
        stages
            .iter()
            .map(|staged| &*staged.stage.name)
            .eq(["batch-1", "batch-2", "idle", "cross", "destroy"])
    );
    assert_eq!(stages[3].batch.order, ["x0", "r5"].map(NodeKey::from), "the other variant's text");
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
