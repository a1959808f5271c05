//! How tests write programs and operations.

use std::sync::Arc;

use super::discipline::TERRAFORM;
use super::{
    Address, Block, Deployed, EdgeKind, Expectation, LeftOut, OperationKind, Options, Program,
    ResourceOperation, Step,
};

/// A program, a resource a word: `b<a` refers to a, `b<^a` by a reference that forces a replacement, `b<+a` has a
/// `depends_on`; several dependencies are joined by commas; `b!` asks for create_before_destroy.
pub fn program(text: &str) -> Program {
    let mut program = Program::default();
    for word in text.split_whitespace() {
        let (name, dependencies) = word.split_once('<').unwrap_or((word, ""));
        let dependencies =
            dependencies.split(',').filter(|dependency| !dependency.is_empty()).map(|dependency| {
                let kind = match &dependency[..1] {
                    "^" => EdgeKind::PinnedRefs,
                    "+" => EdgeKind::DependsOn,
                    _ => EdgeKind::Refs,
                };
                (Address::of_node(dependency.trim_start_matches(['^', '+'])), kind)
            });
        let key = name.trim_end_matches('!');
        let block = Block {
            key: key.into(),
            dependencies: Arc::new(dependencies.collect()),
            create_before_destroy: name.ends_with('!'),
        };
        program.blocks.insert(Address::of_node(key), block);
    }
    program
}

/// An operation: `+a` creates, `~a` updates, `-a` deletes.
pub fn operation(text: &str) -> ResourceOperation {
    let (sign, key) = text.split_at(1);
    let kind = match sign {
        "+" => OperationKind::Create,
        "~" => OperationKind::Update,
        "-" => OperationKind::Delete,
        _ => panic!("{text} is no operation"),
    };
    ResourceOperation { key: key.into(), kind }
}

/// What is expected of an engine of Terraform's family between two programs, the first of which is deployed.
pub fn between(before: &Program, after: &Program) -> Expectation {
    without(&LeftOut::none(), before, after)
}

/// The same by all rules but some.
pub fn without(left_out: &LeftOut, before: &Program, after: &Program) -> Expectation {
    let step = Step { deployed: &Deployed::by(before), program: after, options: &Options::default() };
    step.expectation(TERRAFORM, left_out)
}
