//! What is deployed by faults.

pub mod changes;

use equiform::algebra::program::parse;
use equiform::case::Case;
use equiform::case::choices::{Choices, Chooser};
use equiform::spec::EdgeKind;

/// All of them.
pub const CASES: &[fn() -> Case] =
    &[chain, with_outputs, by_order, removal, long_by_order, updates, removed_by_order, apart];

fn case(nodes: &[&str], depends_on: bool, variants: [&str; 2]) -> Case {
    let edges: Vec<_> = nodes.windows(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect();
    let source = serde_json::json!({ "nodes": nodes, "edges": edges });
    let share = if depends_on { 1.0 } else { 0.0 };
    let chooser = Chooser { seed: 0, pinned: 0.0, depends_on: share, create_before_destroy: 0.0 };
    let parsed = variants.map(|text| parse(text).unwrap());
    let (source, programs) = (serde_json::from_value(source).unwrap(), variants.map(str::to_owned).to_vec());
    Case::new(0, source, chooser.choose(&parsed), programs).unwrap()
}

const CHAIN: [&str; 2] = [
    "(con b c (add c (cut (con a b (add b (add a empty))))))",
    "(con a b (con b c (cut (add c (add b (add a empty))))))",
];

/// Three resources in a chain, in two batches.
pub fn chain() -> Case {
    case(&["a", "b", "c"], false, CHAIN)
}

/// The same, with an output for each of them.
pub fn with_outputs() -> Case {
    Case { outputs: true, ..chain() }
}

/// The same, with edges of order alone.
pub fn by_order() -> Case {
    case(&["a", "b", "c"], true, CHAIN)
}

/// The chain with a fourth resource that comes and goes, in three batches.
pub fn removal() -> Case {
    let variant = "(con b c (add c (cut (rem d (cut (add d (con a b (add b (add a empty)))))))))";
    case(&["a", "b", "c"], false, [variant, CHAIN[1]])
}

/// Ten resources in a chain of order alone, in one batch: together they do not keep the order by chance.
pub fn long_by_order() -> Case {
    let nodes = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let added = nodes.iter().fold("empty".to_owned(), |inner, node| format!("(add {node} {inner})"));
    let whole = nodes.windows(2).fold(added, |inner, pair| format!("(con {} {} {inner})", pair[0], pair[1]));
    case(&nodes, true, [&whole, &whole])
}

/// Two resources that are updated in the same batch, in an order that leaves no value: both get a reference to a third.
pub fn updates() -> Case {
    let variant = "(con x b (con x a (cut (add x (con a b (add b (add a empty)))))))";
    let source =
        serde_json::json!({ "nodes": ["a", "b", "x"], "edges": [["a", "b"], ["x", "a"], ["x", "b"]] });
    let edges = vec![("a".to_owned(), "b".to_owned(), EdgeKind::DependsOn)];
    Case {
        source: serde_json::from_value(source).unwrap(),
        choices: Choices { edges: edges.into(), ..Choices::default() },
        ..case(&[], false, [variant, variant])
    }
}

/// A chain of order alone that goes in the second batch, beside a resource that stays.
pub fn removed_by_order() -> Case {
    let variant = "(rem a (rem b (rem c (cut (add s (con b c (con a b (add c (add b (add a empty))))))))))";
    case(&["s"], true, [variant, variant])
}

/// Four resources that have nothing to do with each other, in one batch.
pub fn apart() -> Case {
    let variant = "(add d (add c (add b (add a empty))))";
    let source = serde_json::json!({ "nodes": ["a", "b", "c", "d"], "edges": [] });
    Case { source: serde_json::from_value(source).unwrap(), ..case(&[], false, [variant, variant]) }
}
