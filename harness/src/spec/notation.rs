//! How tests write programs and operations.

use std::sync::Arc;

use super::semantics::terraform::TERRAFORM;
use super::{
    Configuration, Deployed, EdgeKind, Effect, Expectation, LeftOut, Node, OperationKind, Options,
    ResourceOperation, Step,
};

/// A program, a resource a word: `b<a` refers to a, `b<^a` by a reference that forces a replacement, `b<+a` has a
/// `depends_on`, `b<*a` is triggered by a, `b<*=a` by its label; several dependencies are joined by commas. `b!` asks
/// for create_before_destroy, `b~` ignores changes of its label, `b=l` has the label l, `b@p` the pin p; in this order.
pub fn program(text: &str) -> Configuration {
    let mut program = Configuration::default();
    for word in text.split_whitespace() {
        let (name, dependencies) = word.split_once('<').unwrap_or((word, ""));
        let dependencies =
            dependencies.split(',').filter(|dependency| !dependency.is_empty()).map(|dependency| {
                let kind = match (&dependency[..1], dependency.starts_with("*=")) {
                    ("^", _) => EdgeKind::PinnedRefs,
                    ("+", _) => EdgeKind::DependsOn,
                    ("*", true) => EdgeKind::TriggeredByLabel,
                    ("*", false) => EdgeKind::TriggeredBy,
                    _ => EdgeKind::Refs,
                };
                (dependency.trim_start_matches(['^', '+', '*', '=']).into(), kind)
            });
        let (name, pin) = name.split_once('@').map_or((name, None), |(name, pin)| (name, Some(pin)));
        let (name, label) = name.split_once('=').map_or((name, None), |(name, label)| (name, Some(label)));
        let key = name.trim_end_matches(['!', '~']);
        let node = Node {
            dependencies: Arc::new(dependencies.collect()),
            create_before_destroy: name.contains('!'),
            ignore_changes: name.contains('~'),
            label: label.map(Into::into),
            pin: pin.map(Into::into),
            ..Node::default()
        };
        program.meaning.nodes.insert(key.into(), node);
    }
    program
}

/// An operation: `+a` creates, `~a` updates, `-a` deletes, `-a'0` deletes the oldest of the objects that await it.
pub fn operation(text: &str) -> ResourceOperation {
    let (sign, key) = text.split_at(1);
    if let Some((key, old)) = key.split_once('\'') {
        return ResourceOperation::delete_old(&key.into(), old.parse().expect("the number of an old object"));
    }
    let kind = match sign {
        "+" => OperationKind::Create,
        "~" => OperationKind::Update,
        "-" => OperationKind::Delete,
        _ => panic!("{text} is no operation"),
    };
    ResourceOperation::new(&key.into(), kind)
}

/// What an operation did; with a question mark behind it, a part of it.
pub fn effect(text: &str) -> Effect {
    Effect { partial: text.ends_with('?'), ..Effect::whole(&operation(text.trim_end_matches('?'))) }
}

/// What is expected of an engine of Terraform's family between two programs, the first of which is deployed.
pub fn between(before: &Configuration, after: &Configuration) -> Expectation {
    without(&LeftOut::none(), before, after)
}

/// The same by all rules but some.
pub fn without(left_out: &LeftOut, before: &Configuration, after: &Configuration) -> Expectation {
    let step = Step {
        deployed: &Deployed::by(before),
        configuration: after,
        options: &Options::default(),
        semantics: TERRAFORM,
    };
    step.expectation(left_out)
}
