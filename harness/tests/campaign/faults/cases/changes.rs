//! Programs that change something in place from one batch to the next: b depends on a.

use equiform::algebra::graph::NamedGraph;
use equiform::algebra::program::parse;
use equiform::case::Case;

/// A case of one program, and of the same once more.
fn case(batches: &[&str]) -> Case {
    let term = batches.iter().fold("empty".to_owned(), |inner, batch| {
        let inner = if inner == "empty" { inner } else { format!("(cut {inner})") };
        let steps: Vec<&str> = batch.split(", ").collect();
        steps.iter().fold(inner, |inner, step| format!("({step} {inner})"))
    });
    let parsed = parse(&term).unwrap();
    let source = NamedGraph::new(&parsed.eval().unwrap(), &parsed.names);
    Case::new(0, source, vec![term.clone(), term]).unwrap()
}

/// A resource comes, and nothing else changes.
pub fn nothing() -> Case {
    case(&["add a, add b, con a b, set b label a, set b pin a", "add c"])
}

pub fn label() -> Case {
    case(&["add a, add b, con a b, set b label a", "set b label b"])
}

pub fn pin() -> Case {
    case(&["add a, add b, con a b, set b pin a", "set b pin b"])
}

/// Another label, and from then on changes of it are ignored.
pub fn ignored() -> Case {
    case(&["add a, add b, con a b, set b label a", "set b ignore_changes true, set b label b"])
}

pub fn ignored_from_the_beginning() -> Case {
    case(&["add a, add b, con a b, set b label a, set b ignore_changes true", "add c"])
}

/// a is updated, by which b is replaced.
pub fn triggered() -> Case {
    case(&["add a, add b, con a b triggered_by, set a label a", "set a label b"])
}

/// The same, by the label of a.
pub fn triggered_by_label() -> Case {
    case(&["add a, add b, con a b triggered_by_label, set a label a", "set a label b"])
}

/// b is updated, but not its label: c is left alone.
pub fn not_triggered_by_label() -> Case {
    case(&["add a, add b, add c, con b c triggered_by_label, set b label a", "con a b"])
}

/// b is replaced, and asks for create_before_destroy in the same step.
pub fn setting_comes() -> Case {
    case(&["add a, add b, con a b, set b pin a", "set b create_before_destroy true, set b pin b"])
}

/// b is replaced, a step after create_before_destroy has gone: within that step, either order would do.
pub fn setting_goes() -> Case {
    let first = "add a, add b, con a b, set b pin a, set b create_before_destroy true";
    case(&[first, "set b create_before_destroy false", "set b pin b"])
}

/// b is replaced, and asked for create_before_destroy all the time.
pub fn setting_stays() -> Case {
    case(&["add a, add b, con a b, set b pin a, set b create_before_destroy true", "set b pin b"])
}

/// A reference becomes one for which b is replaced.
pub fn kind() -> Case {
    case(&["add a, add b, con a b", "con a b pinned_refs"])
}

pub fn pinned_from_the_beginning() -> Case {
    case(&["add a, add b, con a b pinned_refs", "add c"])
}

/// a depends on z and is replaced, the new object first, and b refers to it: if b is not updated, the old object of a
/// is left.
pub fn old_object() -> Case {
    let first = "add z, add a, add b, con z a, con a b, set a pin a, set a create_before_destroy true";
    case(&[first, "set a pin b"])
}

/// The same, and b is replaced for it, also the new object first.
pub fn old_object_pinned() -> Case {
    let edges = "add z, add a, add b, con z a, con a b pinned_refs";
    case(&[&format!("{edges}, set a pin a, set b create_before_destroy true"), "set a pin b"])
}
