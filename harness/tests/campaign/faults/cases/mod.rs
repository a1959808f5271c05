//! What is deployed by faults.

pub mod changes;
pub mod texts;

use equiform::algebra::graph::NamedGraph;
use equiform::algebra::program::parse;
use equiform::case::Case;

/// A case that ends in what the first of its variants means.
fn case(variants: [&str; 2]) -> Case {
    let parsed = parse(variants[0]).unwrap();
    let source = NamedGraph::new(&parsed.eval().unwrap(), &parsed.names);
    Case::new(0, source, variants.map(str::to_owned).to_vec()).unwrap()
}

const CHAIN: [&str; 2] = [
    "(con b c (add c (cut (con a b (add b (add a empty))))))",
    "(con a b (con b c (cut (add c (add b (add a empty))))))",
];

/// Three resources in a chain, in two batches.
pub fn chain() -> Case {
    case(CHAIN)
}

/// The same, with an output for each of them.
pub fn with_outputs() -> Case {
    Case { outputs: true, ..chain() }
}

/// The same, with edges of order alone.
pub fn by_order() -> Case {
    case([
        "(con b c depends_on (add c (cut (con a b depends_on (add b (add a empty))))))",
        "(con a b depends_on (con b c depends_on (cut (add c (add b (add a empty))))))",
    ])
}

/// The chain with a fourth resource that comes and goes, in three batches.
pub fn removal() -> Case {
    let variant = "(con b c (add c (cut (rem d (cut (add d (con a b (add b (add a empty)))))))))";
    case([variant, CHAIN[1]])
}

/// Ten resources in a chain of order alone, in one batch: together they do not keep the order by chance.
pub fn long_by_order() -> Case {
    let nodes = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let added = nodes.iter().fold("empty".to_owned(), |inner, node| format!("(add {node} {inner})"));
    let connected = |inner, pair: &[&str]| format!("(con {} {} depends_on {inner})", pair[0], pair[1]);
    let whole = nodes.windows(2).fold(added, connected);
    case([&whole, &whole])
}

/// Two resources that are updated in the same batch, in an order that leaves no value: both get a reference to a third.
pub fn updates() -> Case {
    let variant = "(con x b (con x a (cut (add x (con a b depends_on (add b (add a empty)))))))";
    case([variant, variant])
}

/// A chain of order alone that goes in the second batch, beside a resource that stays.
pub fn removed_by_order() -> Case {
    let chain = "(con b c depends_on (con a b depends_on (add c (add b (add a empty)))))";
    let variant = format!("(rem a (rem b (rem c (cut (add s {chain})))))");
    case([&variant, &variant])
}

/// Four resources that have nothing to do with each other, in one batch.
pub fn apart() -> Case {
    let variant = "(add d (add c (add b (add a empty))))";
    case([variant, variant])
}
