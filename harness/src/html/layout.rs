//! Where the nodes of a graph stand: in layers, dependencies above their dependents. All graphs of a variant are laid
//! out as one, so that a node stands in the same place in each of them.

use dagre::graph::{Graph, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel};
use serde::Serialize;

/// Larger graphs are not drawn: nobody could follow them, and laying them out takes seconds.
pub const MOST_NODES: usize = 150;

/// More edges than this are not drawn either.
const MOST_EDGES: usize = 400;

/// The height of a node.
const HEIGHT: f64 = 26.0;

/// The most characters of a name that a node shows.
const MOST_CHARACTERS: usize = 14;

/// A layout. Numbers are pixels, rounded.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Layout {
    width: f64,
    height: f64,
    /// Centre and width of each node.
    nodes: Vec<(f64, f64, f64)>,
    edges: Vec<Bend>,
}

/// An edge by its ends, with the points that it passes.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Bend(usize, usize, Vec<(f64, f64)>);

/// The layout of a graph, given by its names and by pairs of a dependency and its dependent; none if it is too large.
pub fn layout(names: &[String], edges: &[(usize, usize)]) -> Option<Layout> {
    if names.len() > MOST_NODES || edges.len() > MOST_EDGES {
        return None;
    }
    let mut graph: Graph<NodeLabel, EdgeLabel> =
        Graph::with_options(GraphOptions { directed: true, multigraph: false, compound: false });
    for (number, name) in names.iter().enumerate() {
        let label = NodeLabel { width: width(name), height: HEIGHT, ..NodeLabel::default() };
        graph.set_node(number.to_string(), Some(label));
    }
    for (from, to) in edges.iter().filter(|(from, to)| from != to) {
        graph.set_edge(from.to_string(), to.to_string(), Some(EdgeLabel::default()), None);
    }
    let options = LayoutOptions { nodesep: 16.0, ranksep: 34.0, edgesep: 12.0, ..LayoutOptions::default() };
    dagre::layout(&mut graph, Some(options));
    let round = |number: f64| (number * 10.0).round() / 10.0;
    let mut drawn = Layout::default();
    for number in 0..names.len() {
        let label = graph.node(&number.to_string())?;
        let (x, y) = (label.x.unwrap_or_default(), label.y.unwrap_or_default());
        drawn.width = drawn.width.max(round(x + label.width / 2.0));
        drawn.height = drawn.height.max(round(y + HEIGHT / 2.0));
        drawn.nodes.push((round(x), round(y), round(label.width)));
    }
    for &(from, to) in edges {
        let label = graph.edge(&from.to_string(), &to.to_string(), None);
        let points: Vec<(f64, f64)> = label
            .iter()
            .flat_map(|label| &label.points)
            .map(|point| (round(point.x), round(point.y)))
            .collect();
        drawn.width = points.iter().map(|point| point.0).fold(drawn.width, f64::max);
        drawn.edges.push(Bend(from, to, points));
    }
    Some(drawn)
}

/// How wide a node is that shows a name.
fn width(name: &str) -> f64 {
    name.chars().count().clamp(2, MOST_CHARACTERS) as f64 * 8.0 + 30.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("r{number}")).collect()
    }

    #[test]
    fn dependencies_stand_above_their_dependents_and_nodes_do_not_overlap() {
        let drawn = layout(&names(4), &[(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)]).unwrap();
        let y = |node: usize| drawn.nodes[node].1;
        assert!(y(0) < y(1) && y(1) == y(2) && y(2) < y(3), "{drawn:?}");
        let (left, right) = (drawn.nodes[1], drawn.nodes[2]);
        assert!((left.0 - right.0).abs() >= (left.2 + right.2) / 2.0, "{drawn:?}");
        assert!(drawn.edges.iter().all(|Bend(_, _, points)| points.len() >= 2), "{drawn:?}");
    }

    #[test]
    fn the_same_graph_is_laid_out_the_same_and_one_with_a_cycle_is_laid_out_too() {
        let edges: Vec<_> = (0..40).map(|number| (number % 20, (number * 7 + 3) % 20)).collect();
        assert_eq!(layout(&names(20), &edges), layout(&names(20), &edges));
        assert_eq!(layout(&names(2), &[(0, 1), (1, 0)]).unwrap().nodes.len(), 2);
    }

    #[test]
    fn a_graph_that_nobody_could_follow_is_not_laid_out() {
        assert_eq!(layout(&names(MOST_NODES + 1), &[]), None);
        assert_eq!(layout(&[], &[]), Some(Layout::default()));
    }
}
