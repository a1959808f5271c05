//! How tests write programs and operations.

use super::{Deployment, EdgeKind, ExpectedOperation, Kind, ResourceDescription};

/// A program, a resource a word: `b<a` refers to a, `b<^a` by a reference that forces a replacement, `b<+a` has a
/// `depends_on`; several dependencies are joined by commas; `b!` asks for create_before_destroy.
pub fn program(text: &str) -> Deployment {
    let mut deployment = Deployment::default();
    for word in text.split_whitespace() {
        let (name, dependencies) = word.split_once('<').unwrap_or((word, ""));
        let mut description = ResourceDescription {
            create_before_destroy: name.ends_with('!'),
            ..ResourceDescription::default()
        };
        for dependency in dependencies.split(',').filter(|dependency| !dependency.is_empty()) {
            let kind = match &dependency[..1] {
                "^" => EdgeKind::PinnedRefs,
                "+" => EdgeKind::DependsOn,
                _ => EdgeKind::Refs,
            };
            description.dependencies.insert(dependency.trim_start_matches(['^', '+']).to_owned(), kind);
        }
        deployment.resources.insert(name.trim_end_matches('!').to_owned(), description);
    }
    deployment
}

/// An operation: `+a` creates, `~a` updates, `-a` deletes.
pub fn operation(text: &str) -> ExpectedOperation {
    let (sign, key) = text.split_at(1);
    let kind = match sign {
        "+" => Kind::Create,
        "~" => Kind::Update,
        "-" => Kind::Delete,
        _ => panic!("{text} is no operation"),
    };
    ExpectedOperation { key: key.to_owned(), kind }
}
