//! Shapes like those of real programs.
//!
//! The parameters were fitted to published statistics of 43,593 real programs; the test below holds the figures.

use rand::{Rng, RngExt};

use crate::graph::{Edge, Graph, Resource};
use crate::signature::Kind;

/// Nodes are log-normal: the median is 5 and the 95th percentile 40, which makes the mean 11.
const MEDIAN_NODES: f64 = 5.0;
const SPREAD_OF_NODES: f64 = 1.264;
const MOST_NODES: f64 = 801.0;
/// Some programs with several resources connect none of them.
const ALL_ISOLATED: f64 = 0.04;
/// In the others the share of isolated nodes lies anywhere below this.
const MOST_ISOLATED: f64 = 0.36;
/// The longest path is 1 at least, and one more with this probability, again and again.
const DEEPER: f64 = 0.64;
/// Beside the edge that connects it, a node has another with this probability, again and again.
const ANOTHER_EDGE: f64 = 0.48;

/// Draws a graph.
pub fn draw(rng: &mut impl Rng) -> Graph {
    let nodes = (MEDIAN_NODES * (SPREAD_OF_NODES * normal(rng)).exp()).clamp(1.0, MOST_NODES).round() as u32;
    let mut graph = Graph::default();
    (0..nodes).map(Resource::new).for_each(|node| graph.add(node));
    if nodes < 2 || rng.random_bool(ALL_ISOLATED) {
        return graph;
    }
    let isolated_share = rng.random_range(0.0..MOST_ISOLATED);
    let isolated: Vec<bool> = (0..nodes).map(|_| rng.random_bool(isolated_share)).collect();
    let connected: Vec<Resource> =
        (0..nodes).filter(|&node| !isolated[node as usize]).map(Resource::new).collect();
    if connected.len() >= 2 {
        connect(&mut graph, &connected, rng);
    }
    graph
}

/// Gives every node but those of the last level a dependent on a later level. A dependent that has many dependencies
/// already gets more: real programs have few resources that depend on many, and hardly any that many depend on.
fn connect(graph: &mut Graph, nodes: &[Resource], rng: &mut impl Rng) {
    let mut levels = 2;
    while levels < nodes.len() && rng.random_bool(DEEPER) {
        levels += 1;
    }
    // The order of the nodes is the order of their levels; each level is smaller than the one before.
    let mut first_of_level = vec![0];
    for level in 1..levels {
        let start = first_of_level[level - 1] + 1;
        let rest = nodes.len() - start - (levels - 1 - level);
        let share = rng.random_range(0.4..0.9);
        first_of_level.push(start + ((rest - 1) as f64 * share) as usize);
    }
    let mut attractors: Vec<usize> = Vec::new();
    for level in 0..levels - 1 {
        let (start, end) = (first_of_level[level], first_of_level[level + 1]);
        let next_end = first_of_level.get(level + 2).copied().unwrap_or(nodes.len());
        attractors.retain(|&at| at >= end);
        attractors.extend(end..next_end);
        for at in start..end {
            loop {
                let to = attractors[rng.random_range(0..attractors.len())];
                attractors.push(to);
                let edge = Edge::new(nodes[at], nodes[to]);
                graph.connect(edge, Kind::DEFAULT).expect("both ends are there, in order");
                if !rng.random_bool(ANOTHER_EDGE) {
                    break;
                }
            }
        }
    }
}

/// A draw from the normal distribution, by the method of Box and Muller.
fn normal(rng: &mut impl Rng) -> f64 {
    let (radius, angle): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    struct Sample {
        nodes: Vec<f64>,
        edges: Vec<f64>,
        in_degree: Vec<f64>,
        out_degree: Vec<f64>,
        depth: Vec<f64>,
        isolated: Vec<f64>,
    }

    fn sample() -> Sample {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut all = Sample {
            nodes: vec![],
            edges: vec![],
            in_degree: vec![],
            out_degree: vec![],
            depth: vec![],
            isolated: vec![],
        };
        for _ in 0..6000 {
            let graph = draw(&mut rng);
            let count = graph.nodes().len();
            let (mut into, mut out, mut depth) = (vec![0.0; count], vec![0.0; count], vec![0.0f64; count]);
            let mut edges: Vec<Edge> = graph.edges().collect();
            edges.sort_by_key(|edge| edge.dependent);
            for edge in edges {
                into[edge.dependent.at()] += 1.0;
                out[edge.dependency.at()] += 1.0;
                depth[edge.dependent.at()] =
                    depth[edge.dependent.at()].max(depth[edge.dependency.at()] + 1.0);
            }
            let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
            let isolated = into.iter().zip(&out).filter(|(into, out)| **into + **out == 0.0).count();
            all.nodes.push(count as f64);
            all.edges.push(graph.edges().len() as f64);
            all.in_degree.push(most(&into));
            all.out_degree.push(most(&out));
            all.depth.push(most(&depth));
            all.isolated.push(100.0 * isolated as f64 / count as f64);
        }
        all
    }

    fn mean_median_p95(mut values: Vec<f64>) -> [f64; 3] {
        values.sort_by(f64::total_cmp);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        [mean, values[values.len() / 2], values[values.len() * 95 / 100]]
    }

    #[track_caller]
    fn assert_near(what: &str, values: Vec<f64>, published: [f64; 3], tolerance: [f64; 3]) {
        let drawn = mean_median_p95(values);
        let near = (0..3).all(|at| (drawn[at] - published[at]).abs() <= tolerance[at]);
        assert!(near, "{what}: mean, median and 95th percentile are {drawn:?}, published {published:?}");
    }

    #[test]
    fn shapes_follow_the_published_distribution_of_real_programs() {
        let all = sample();
        assert_near("nodes", all.nodes, [10.9, 5.0, 40.0], [1.0, 1.0, 5.0]);
        assert_near("edges", all.edges, [8.9, 2.0, 40.0], [2.0, 2.0, 8.0]);
        assert_near("in-degree", all.in_degree, [2.8, 1.0, 11.0], [0.8, 1.0, 3.0]);
        assert_near("out-degree", all.out_degree, [1.6, 1.0, 5.0], [0.5, 1.0, 2.0]);
        assert_near("longest path", all.depth, [1.5, 1.0, 5.0], [0.3, 0.0, 1.0]);
        assert_near("isolated %", all.isolated, [40.0, 25.0, 100.0], [5.0, 8.0, 0.0]);
    }
}
