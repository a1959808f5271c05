//! Options that commands which generate cases share: which cases.

use std::time::Duration;

use clap::{Args, ValueEnum};
use equiform_algebra::cli::graph_file::{EXPECTED, no_room, parse_graph};
use equiform_algebra::cli::size::SizeArgs;

use super::CannotRun;
use super::amount::{Amount, at_least_one, not_none};
use super::leave_out_args::LeaveOutArgs;
use super::no_effect::refuse;
use super::size;
use crate::algebra::graph::NamedGraph;
use crate::algebra::source::most_edges;
use crate::campaign::Settings;
use crate::campaign::settings::{Algebra, Sources, Values, check_source};
use crate::case::workflow::Shares;
use crate::spec::LeftOut;

/// Which cases are generated.
#[derive(Debug, Args)]
pub struct CasesArgs {
    /// The seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many sources
    #[arg(long, default_value_t = 20, value_parser = at_least_one::<usize>)]
    sources: usize,
    /// How many variants of each source
    #[arg(long, default_value_t = 10, value_parser = at_least_one::<u64>)]
    variants: u64,
    /// The number of batches that each variant is cut into
    #[arg(long, default_value_t = 4, value_parser = at_least_one::<usize>)]
    batches: usize,
    /// The shape of sources: random with the given numbers of resources and edges, or like real programs
    #[arg(long, value_enum, default_value_t = Shape::Random)]
    shape: Shape,
    /// Use this graph for all sources instead of drawing them: a file of graph JSON, or the JSON itself
    #[arg(long, value_name = "GRAPH", value_parser = graph)]
    source: Option<NamedGraph>,
    /// How many resources a source has: a number or a range
    #[arg(long, value_name = "N", default_value = "3..12", value_parser = not_none)]
    resources: Amount,
    /// How many edges a source has: a number or a range
    #[arg(long, value_name = "M", default_value = "1..16")]
    edges: Amount,
    /// The share of resources with create_before_destroy
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = share)]
    create_before_destroy: f64,
    /// What programs can say about resources and edges
    #[arg(long, value_enum, default_value_t = Algebra::Attributed)]
    algebra: Algebra,
    /// What names and values are written as [default: realistic, and plain with --algebra bare]
    #[arg(long, value_enum)]
    values: Option<Values>,
    /// Every N-th case is large, with 40 resources; 0 for none [default: 20, and 0 with --resources, --edges, --source,
    /// --shape real or --algebra bare]
    #[arg(long, value_name = "N")]
    large_every: Option<u64>,
    /// How the engine is driven: names of workflows with their shares, such as `plain=2,targets`, or
    /// `plain=60%,drift=40%`; `equiform workflows` lists them
    #[arg(long, value_name = "LIST", default_value_t = Shares::all())]
    workflows: Shares,
    #[command(flatten)]
    size: SizeArgs,
    #[command(flatten)]
    leave_out: LeaveOutArgs,
}

/// The shape of random sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shape {
    Random,
    Real,
}

impl CasesArgs {
    /// Refuses cases that are too large to run without confirmation, on this many engines with this many jobs each.
    /// They take at most the time limit.
    pub fn affordable(
        &self,
        settings: &Settings,
        engines: usize,
        jobs: usize,
        time: Option<Duration>,
    ) -> Result<(), CannotRun> {
        let estimate = size::estimate(settings, engines, jobs);
        self.size.check(&time.map_or(estimate, |time| estimate.within(time)))
    }

    /// Refuses options that have no effect in combination with others, and more edges than the resources allow. `given`
    /// says which options were given.
    pub fn refuse_idle(&self, given: &dyn Fn(&str) -> bool) -> Result<(), CannotRun> {
        let drawn = ["resources", "edges", "large-every"];
        let is_bare = self.algebra == Algebra::Bare;
        refuse(is_bare && given("values"), "--values", "with --algebra bare, which has no values")?;
        for option in drawn.into_iter().chain(["shape"]).filter(|_| self.source.is_some()) {
            refuse(given(option), &format!("--{option}"), "with --source, which is the graph")?;
        }
        for option in drawn.into_iter().filter(|_| self.shape == Shape::Real) {
            refuse(given(option), &format!("--{option}"), "with --shape real, which draws them")?;
        }
        if let Some(graph) = self.source.as_ref().filter(|_| self.algebra == Algebra::Bare)
            && !graph.is_bare()
        {
            return Err(
                "the graph of --source has attributes or kinds, which --algebra bare does not have: \
                        leave one of them out"
                    .into(),
            );
        }
        let (most, least) = (self.resources.most, self.edges.least);
        if given("edges") && u64::from(least) > most_edges(most) {
            return Err(no_room(most, least).into());
        }
        Ok(())
    }

    /// The same as settings.
    pub fn settings(&self) -> Settings {
        let settings = Settings {
            seed: self.seed,
            sources: self.sources,
            variants: self.variants,
            batches: self.batches,
            from: match (&self.source, self.shape) {
                (Some(graph), _) => Sources::Given(graph.clone()),
                (None, Shape::Random) => Sources::Random,
                (None, Shape::Real) => Sources::Real,
            },
            resources: self.resources.range(),
            edges: self.edges.range(),
            create_before_destroy: self.create_before_destroy,
            algebra: self.algebra,
            values: match self.algebra {
                Algebra::Bare => Values::Plain,
                Algebra::Attributed => self.values.unwrap_or(Values::Realistic),
            },
            large_every: 0,
            cold_every: 0,
            workflows: self.workflows.clone(),
            left_out: self.leave_out.or(&LeftOut::none()),
        };
        Settings { large_every: self.large_every.unwrap_or(settings.usual_large_every()), ..settings }
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("`{text}` is not a share; give a number from 0 to 1"))
}

/// A graph in a file, or the JSON itself; no file name begins like JSON.
fn graph(text: &str) -> Result<NamedGraph, String> {
    let read;
    let json = if text.starts_with('{') {
        text
    } else {
        read = std::fs::read_to_string(text)
            .map_err(|error| format!("it cannot be read: {error}. {EXPECTED}"))?;
        &read
    };
    let graph = parse_graph(json)?;
    check_source(&graph).map_err(|error| error.to_string())?;
    Ok(graph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_comes_from_a_file_or_as_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.json");
        let json = r#"{"nodes":["a","b"],"edges":[["a","b"]]}"#;
        std::fs::write(&path, json).unwrap();
        assert_eq!(graph(path.to_str().unwrap()), graph(json));
        assert_eq!(graph(json).unwrap().edges.len(), 1);
    }

    #[test]
    fn what_is_no_graph_gives_a_sentence() {
        assert!(graph("/no/such/file").unwrap_err().starts_with("it cannot be read: "));
        assert!(graph(r#"{"nodes":1}"#).unwrap_err().starts_with("it is not a graph: "));
        assert_eq!(graph(r#"{"nodes":[],"edges":[]}"#).unwrap_err(), "the source has no nodes");
        let circle = r#"{"nodes":["a","b"],"edges":[["a","b"],["b","a"]]}"#;
        assert!(graph(circle).unwrap_err().contains("cycle"), "{}", graph(circle).unwrap_err());
    }
}
