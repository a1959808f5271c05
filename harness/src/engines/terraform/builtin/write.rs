//! The text of a program with `terraform_data`.

use std::sync::Arc;

use hcl::expr::{Expression, Traversal, TraversalBuilder, Variable};
use hcl::format::{Format, Formatter};

use super::super::literal::quoted;
use super::{Builtins, Shape, TYPE};
use crate::case::Batch;
use crate::case::stage::Defect;
use crate::spec::{EdgeKind, Node, NodeKey};

/// A program, its resources in the order of the batch.
pub fn program(builtins: &Builtins, batch: &Batch) -> String {
    let is_twice = |key: &NodeKey| match &batch.defect {
        Some(Defect::Twice { resource }) => resource == key,
        _ => false,
    };
    let mut blocks = Vec::new();
    for key in &batch.order {
        let Some(node) = batch.program.node(key) else { continue };
        for _ in 0..1 + usize::from(is_twice(key)) {
            blocks.push(resource(builtins, key, node));
        }
    }
    if batch.program.encoding.outputs {
        blocks.extend(batch.order.iter().map(|key| {
            let output = hcl::Block::builder("output").add_label(&**key);
            output.add_attribute(("value", id(key))).build()
        }));
    }
    let body: hcl::Body = blocks.into_iter().collect();
    let mut formatter = Formatter::builder().compact_arrays(true).build_vec();
    body.format(&mut formatter).expect("memory can be written to");
    String::from_utf8(formatter.into_inner()).expect("HCL is text")
}

fn resource(builtins: &Builtins, key: &NodeKey, block: &Node) -> hcl::Block {
    let shapes = builtins.shapes(key);
    let mut resource = hcl::Block::builder("resource").add_label(TYPE).add_label(&**key);
    let arguments = [
        ("input", shapes.input, "label", &block.label, EdgeKind::Refs),
        ("triggers_replace", shapes.triggers_replace, "pin", &block.pin, EdgeKind::PinnedRefs),
    ];
    for (name, shape, text_name, text, kind) in arguments {
        if let Some(value) = value(shape, text_name, text, block.by(kind).collect()) {
            resource = resource.add_attribute((name, value));
        }
    }
    let depends_on: Vec<Expression> =
        block.by(EdgeKind::DependsOn).map(|address| reference(address).build().into()).collect();
    if !depends_on.is_empty() {
        resource = resource.add_attribute(("depends_on", depends_on));
    }
    let lifecycle = lifecycle(builtins, shapes.input, block);
    if lifecycle.body.iter().next().is_some() {
        resource = resource.add_block(lifecycle);
    }
    resource.build()
}

fn lifecycle(builtins: &Builtins, input: Shape, block: &Node) -> hcl::Block {
    let mut lifecycle = hcl::Block::builder("lifecycle");
    if block.create_before_destroy {
        lifecycle = lifecycle.add_attribute(("create_before_destroy", true));
    }
    if block.prevent_destroy {
        lifecycle = lifecycle.add_attribute(("prevent_destroy", true));
    }
    let ignored = match input {
        Shape::Text => Some(Expression::Variable(Variable::unchecked("input"))),
        Shape::Both => {
            let input = Traversal::builder(Variable::unchecked("input"));
            Some(input.attr(hcl::Identifier::unchecked("label")).build().into())
        }
        // There is no label that could change.
        Shape::Id | Shape::Ids => None,
    };
    if let Some(ignored) = ignored.filter(|_| block.ignore_changes) {
        lifecycle = lifecycle.add_attribute(("ignore_changes", vec![ignored]));
    }
    let whole = block.by(EdgeKind::TriggeredBy).map(|address| reference(address).build().into());
    let labels = block.by(EdgeKind::TriggeredByLabel).map(|address| {
        let input = reference(address).attr(hcl::Identifier::unchecked("input"));
        match builtins.shapes(address).input {
            Shape::Both => input.attr(hcl::Identifier::unchecked("label")).build().into(),
            _ => input.build().into(),
        }
    });
    let triggers: Vec<Expression> = whole.chain(labels).collect();
    if !triggers.is_empty() {
        lifecycle = lifecycle.add_attribute(("replace_triggered_by", triggers));
    }
    lifecycle.build()
}

/// The value of an argument; none if it is left out.
fn value(
    shape: Shape,
    text_name: &str,
    text: &Option<Arc<str>>,
    references: Vec<&NodeKey>,
) -> Option<Expression> {
    let text = text.as_deref().map(quoted);
    let ids: Vec<Expression> = references.into_iter().map(id).collect();
    match shape {
        Shape::Text => text,
        Shape::Id => ids.into_iter().next(),
        Shape::Ids => (!ids.is_empty()).then(|| ids.into()),
        Shape::Both => {
            let key = |name: &str| hcl::ObjectKey::from(hcl::Identifier::unchecked(name));
            let text = text.unwrap_or(Expression::Null);
            let object: hcl::Object<hcl::ObjectKey, Expression> =
                [(key(text_name), text), (key("ids"), Expression::from(ids))].into_iter().collect();
            Some(Expression::Object(object))
        }
    }
}

/// A reference to a resource, to go on with.
fn reference(key: &NodeKey) -> TraversalBuilder {
    Traversal::builder(Variable::unchecked(TYPE)).attr(hcl::Identifier::unchecked(&**key))
}

fn id(key: &NodeKey) -> Expression {
    reference(key).attr(hcl::Identifier::unchecked("id")).build().into()
}

#[cfg(test)]
mod tests {
    use equiform_proto::faults::{Fault, FaultAction, FaultOperation, Faults};

    use super::super::NotTranslatable;
    use super::*;
    use crate::case::StagedBatch;
    use crate::case::stage::{JudgedAs, ProgramRef, Stage};
    use crate::spec::{Action, Options, notation};

    fn batch(text: &str) -> Batch {
        let program = notation::program(text);
        let order = program.meaning.nodes.keys().cloned().collect();
        Batch { program, order, defect: None, is_blank: false }
    }

    fn stage() -> Stage {
        Stage::new("batch-1", Action::Apply(Options::USUAL), ProgramRef::Batch(1), JudgedAs::Batch)
    }

    fn written(programs: &[&str]) -> String {
        let stage = stage();
        let stages: Vec<StagedBatch<'_>> =
            programs.iter().map(|text| StagedBatch { stage: &stage, batch: Arc::new(batch(text)) }).collect();
        let builtins = Builtins::of(&stages).unwrap();
        let texts: Vec<String> = stages.iter().map(|staged| builtins.render(&staged.batch)).collect();
        texts.join("---\n")
    }

    #[test]
    fn all_kinds_of_edges_and_settings_are_written() {
        insta::assert_snapshot!(written(&[
            "net disk key~=l@p rules<+net host!<net,disk,^key,+rules user<*net,*=key one<net"
        ]));
    }

    #[test]
    fn an_argument_has_the_same_form_in_all_stages() {
        insta::assert_snapshot!(written(&["a b~<a c<*=b", "a b~=l@p<a c<*=b", "a b~@p<^a c<*=b"]));
    }

    #[test]
    fn what_needs_our_provider_is_told() {
        let fault = Fault::in_first_call(FaultOperation::Update, Some("a"), FaultAction::Error);
        let stage = Stage { faults: Faults::new(vec![fault]).unwrap(), ..stage() };
        let why = Builtins::of(&[StagedBatch { stage: &stage, batch: Arc::new(batch("a")) }]).unwrap_err();
        assert_eq!(why, NotTranslatable::Failure { stage: "batch-1".to_owned() });
    }
}
