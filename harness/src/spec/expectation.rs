//! What is expected of a step: the operations, and the order they must keep.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::toposort;
use petgraph::algo::tred::{dag_to_toposorted_adjacency_list, dag_transitive_reduction_closure};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{EdgeRef, IntoEdgeReferences};
use serde::{Deserialize, Serialize};

use super::changes::{Change, Changes, NumberedOperation};
use super::meaning::{EdgeKind, NodeKey};
use super::operation::ResourceOperation;
use super::rule::Rule;
use super::semantics::Ordering;

/// In steps with more operations than this no pair is marked as implied: reducing an order takes its whole closure,
/// which grows with the square of the operations.
const MOST_REDUCED: usize = 2000;

/// By what an order reaches from one resource to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Via {
    /// An edge between them.
    Edge(EdgeKind),
    /// Edges through resources between them that the step leaves alone.
    Others,
    /// They are one and the same: it is replaced.
    Itself,
}

/// Why two operations are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    /// The rule that says so.
    pub rule: Rule,
    /// How the two resources are connected.
    pub via: Via,
    /// Whether it is so because create_before_destroy has spread to a resource that does not ask for it
    /// itself.
    pub spread: bool,
    /// Whether the pair follows from others, by way of operations between the two.
    pub implied: bool,
}

/// Which operation of a replacement comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplacementOrder {
    /// The delete, as by default.
    DeleteFirst,
    /// The create: create_before_destroy is in force.
    CreateFirst,
    /// Either will do: create_before_destroy comes or goes in this very step.
    Either,
}

impl ReplacementOrder {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::DeleteFirst, Self::CreateFirst, Self::Either];

    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::DeleteFirst => "delete first",
            Self::CreateFirst => "create first",
            Self::Either => "either order",
        }
    }
}

/// Operations, with an edge from one to another that must not begin before the first has ended.
pub type Order = DiGraph<ResourceOperation, Reason>;

/// What a correct engine does: these operations and no others, in this order.
#[derive(Debug, Clone, Default)]
pub struct Expectation {
    /// The operations.
    pub operations: BTreeSet<ResourceOperation>,
    /// Their order: all pairs that a rule gives. Those that are not implied by others are its reduction.
    pub order: Order,
    /// The resources that are replaced, and which operation comes first.
    pub replacements: BTreeMap<NodeKey, ReplacementOrder>,
    /// How many resources are deployed, written, and left alone.
    pub left_alone: usize,
    /// How many changes there are, by what they are and why.
    pub causes: BTreeMap<String, u64>,
    /// Operations that are begun and fail, because the provider was told so. They are among the operations.
    pub failing: BTreeSet<ResourceOperation>,
    /// Operations that may be done or not: the engine may have had a reason to wait for what failed.
    pub optional: BTreeSet<ResourceOperation>,
}

impl Expectation {
    /// That nothing is done, and this many resources are left alone.
    pub fn nothing(left_alone: usize) -> Self {
        Self { left_alone, ..Self::default() }
    }

    /// What is done in a step, in an order.
    pub(super) fn new(changes: &Changes, ordering: Ordering) -> Self {
        let named = |operation| changes.named(operation);
        let left_alone =
            changes.before.numbers().filter(|number| changes.of_number(*number) == Change::Kept).count();
        let replacements = ordering.replacements.iter();
        Self {
            operations: changes.operations().map(named).collect(),
            order: order(changes.operations(), ordering.pairs, named),
            replacements: replacements
                .map(|(number, order)| (changes.numbering.key(*number).clone(), *order))
                .collect(),
            left_alone,
            causes: changes.causes(),
            optional: changes.optional().map(named).collect(),
            ..Self::default()
        }
    }

    /// The pairs of the order, each with the reason.
    pub fn pairs(&self) -> impl Iterator<Item = (&ResourceOperation, &ResourceOperation, &Reason)> {
        let edges = self.order.raw_edges().iter();
        edges.map(|edge| (&self.order[edge.source()], &self.order[edge.target()], &edge.weight))
    }
}

impl Expectation {
    /// Which operations must come before which, directly or by way of others. It takes memory for every pair.
    pub fn closure(&self) -> Closure {
        let count = self.order.node_count();
        let mut before = vec![false; count * count];
        if let Ok(sorted) = toposort(&self.order, None) {
            let (list, _) = dag_to_toposorted_adjacency_list::<_, u32>(&self.order, &sorted);
            let (_, closure) = dag_transitive_reduction_closure(&list);
            let place = |position: u32| sorted[position as usize].index();
            for edge in closure.edge_references() {
                before[place(edge.source()) * count + place(edge.target())] = true;
            }
        }
        Closure { count, before }
    }
}

/// The closure of an order.
pub struct Closure {
    count: usize,
    before: Vec<bool>,
}

impl Closure {
    /// Whether one of two operations, by their places in the order's graph, must come before the other.
    pub fn orders(&self, one: usize, other: usize) -> bool {
        self.before[one * self.count + other] || self.before[other * self.count + one]
    }
}

fn order(
    operations: impl Iterator<Item = NumberedOperation>,
    mut pairs: Vec<(NumberedOperation, NumberedOperation, Reason)>,
    named: impl Fn(NumberedOperation) -> ResourceOperation,
) -> Order {
    // Of several rules for a pair the first one counts: the sort is stable.
    pairs.sort_by_key(|(first, second, _)| (*first, *second));
    pairs.dedup_by_key(|(first, second, _)| (*first, *second));
    let operations: Vec<NumberedOperation> = operations.collect();
    let mut order = Order::with_capacity(operations.len(), pairs.len());
    for operation in &operations {
        order.add_node(named(*operation));
    }
    let node = |operation: &NumberedOperation| {
        let place = operations.binary_search(operation).expect("rules speak of operations that are due");
        NodeIndex::new(place)
    };
    for (first, second, reason) in &pairs {
        order.add_edge(node(first), node(second), *reason);
    }
    if operations.len() <= MOST_REDUCED {
        mark_implied(&mut order);
    }
    order
}

/// Marks what follows from the rest.
fn mark_implied(order: &mut Order) {
    // An order with a cycle has no reduction. A property test holds the rules to having none.
    let Ok(sorted) = toposort(&*order, None) else { return };
    let (list, places) = dag_to_toposorted_adjacency_list::<_, u32>(&*order, &sorted);
    let (reduced, _) = dag_transitive_reduction_closure(&list);
    for edge in order.edge_indices() {
        let (first, second) = order.edge_endpoints(edge).expect("the edge is there");
        order[edge].implied = !reduced.contains_edge(places[first.index()], places[second.index()]);
    }
}
