//! Diversity, redundancy and size of what the three generators make, by resources, escape probability and time-out.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::charts::charts;
use super::trace::Tally;
use crate::egraph::{Extraction, Frozen, Limits, UnsoundRule};
use crate::generate::{Generator, stream, variants};
use crate::implicit::{Escape, Pace};
use crate::program::Derivation;
use crate::rewrite::Budget;
use crate::rules::Rules;
use crate::signature::Signature;
use crate::source::{Source, most_edges};
use crate::weights::Weights;

/// The three ways to make variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Generators {
    /// Walks on the implicit e-graph.
    Implicit,
    /// Walks on an e-graph saturated until the time-out.
    Egraph,
    /// Rewriting for the same time: each test has its share of the time-out.
    Rewrite,
}

impl Generators {
    pub(super) fn name(self) -> &'static str {
        match self {
            Generators::Implicit => "implicit",
            Generators::Egraph => "e-graph",
            Generators::Rewrite => "rewriting",
        }
    }
}

/// The settings to compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// The resources of the sources.
    pub resources: Vec<u32>,
    /// The escape probabilities, in percent.
    pub epsilons: Vec<u32>,
    /// The time-outs, in milliseconds.
    pub timeouts: Vec<u64>,
    /// How many sources for each setting.
    pub sources: u32,
    /// How many tests for each source.
    pub tests: usize,
    /// The most classes an e-graph may have, so that memory lasts.
    pub max_classes: usize,
    /// The seed of all random choices.
    pub seed: u64,
}

impl Grid {
    /// The settings of the published study.
    pub fn full() -> Self {
        Self {
            resources: vec![5, 10, 20, 30, 40, 60, 80, 100, 120],
            epsilons: vec![1, 10, 25, 40, 50],
            timeouts: vec![30_000, 120_000, 420_000, 900_000, 1_800_000],
            sources: 50,
            tests: 100,
            max_classes: 2_000_000,
            seed: 0,
        }
    }

    /// Settings for minutes.
    pub fn quick() -> Self {
        Self {
            resources: vec![5, 10, 20, 40],
            epsilons: vec![1, 10, 25, 40, 50],
            timeouts: vec![500, 2_000],
            sources: 5,
            tests: 100,
            max_classes: 200_000,
            seed: 0,
        }
    }

    fn groups(&self) -> Vec<Group> {
        let mut groups = Vec::new();
        for &resources in &self.resources {
            groups.push(Group { generator: Generators::Implicit, resources, timeout: 0 });
            for &timeout in &self.timeouts {
                groups.push(Group { generator: Generators::Egraph, resources, timeout });
                groups.push(Group { generator: Generators::Rewrite, resources, timeout });
            }
        }
        groups
    }
}

/// What is measured in one go. An e-graph serves all escape probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    generator: Generators,
    resources: u32,
    timeout: u64,
}

/// A line of results: means over the sources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) generator: Generators,
    pub(super) resources: u32,
    pub(super) epsilon_percent: u32,
    pub(super) timeout_ms: u64,
    pub(super) sources: u32,
    pub(super) tests: usize,
    pub(super) seed: u64,
    pub(super) diversity: f64,
    pub(super) redundancy: f64,
    pub(super) size: f64,
    pub(super) microseconds_per_test: f64,
    pub(super) classes: f64,
}

/// A point of the curves: means over the sources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) generator: Generators,
    pub(super) resources: u32,
    pub(super) epsilon_percent: u32,
    pub(super) timeout_ms: u64,
    pub(super) test: usize,
    pub(super) diversity: f64,
    pub(super) new_graphs: f64,
}

/// Why a study stopped.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A file could not be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        error: io::Error,
    },
    /// The folder holds results of other settings.
    #[error("{} holds results with other sources, tests or seed; give another folder, or remove it", path.display())]
    OtherSettings {
        /// The file.
        path: PathBuf,
    },
    /// The e-graph could not be built.
    #[error(transparent)]
    Unsound(#[from] UnsoundRule),
}

/// The results in a folder: two CSV files and the charts drawn from them.
#[derive(Debug)]
pub struct Results {
    folder: PathBuf,
    rows: Vec<Row>,
    points: Vec<Point>,
}

/// Runs what of the grid is not in the folder yet. Each finished part is written at once, so an interrupted study goes
/// on where it stopped. `progress` is told how many parts are done, and of how many.
pub fn run(
    folder: &Path,
    grid: &Grid,
    mut progress: impl FnMut(usize, usize),
) -> Result<Results, StudyError> {
    let mut results = Results::open(folder, grid)?;
    let groups = grid.groups();
    let rules = Rules::algebra();
    for (done, &group) in groups.iter().enumerate() {
        progress(done, groups.len());
        if !results.has(grid, group) {
            let (rows, points) = measure(grid, group, &rules)?;
            results.replace(group, rows, points);
            results.write()?;
        }
    }
    progress(groups.len(), groups.len());
    results.draw(grid)?;
    Ok(results)
}

impl Results {
    fn open(folder: &Path, grid: &Grid) -> Result<Self, StudyError> {
        let told = |error| StudyError::File { path: folder.to_owned(), error };
        fs::create_dir_all(folder).map_err(told)?;
        let mut results = Self { folder: folder.to_owned(), rows: Vec::new(), points: Vec::new() };
        results.rows = results.read("diversity.csv")?;
        results.points = results.read("curves.csv")?;
        let same = |row: &Row| (row.sources, row.tests, row.seed) == (grid.sources, grid.tests, grid.seed);
        if !results.rows.iter().all(same) {
            return Err(StudyError::OtherSettings { path: folder.join("diversity.csv") });
        }
        Ok(results)
    }

    fn read<T: for<'a> Deserialize<'a>>(&self, name: &str) -> Result<Vec<T>, StudyError> {
        let path = self.folder.join(name);
        if !path.exists() {
            return Ok(Vec::new());
        }
        let read = csv::Reader::from_path(&path).and_then(|mut reader| reader.deserialize().collect());
        read.map_err(|error| StudyError::File { path, error: error.into() })
    }

    fn has(&self, grid: &Grid, group: Group) -> bool {
        let epsilons = epsilons(grid, group.generator);
        epsilons
            .iter()
            .all(|&epsilon| self.rows.iter().any(|row| group.owns(row) && row.epsilon_percent == epsilon))
    }

    fn replace(&mut self, group: Group, rows: Vec<Row>, points: Vec<Point>) {
        self.rows.retain(|row| !group.owns(row));
        let of_group = |point: &Point| (point.generator, point.resources, point.timeout_ms) == group.key();
        self.points.retain(|point| !of_group(point));
        self.rows.extend(rows);
        self.points.extend(points);
    }

    fn write(&self) -> Result<(), StudyError> {
        self.write_file("curves.csv", &table(&self.points))?;
        self.write_file("diversity.csv", &table(&self.rows))
    }

    fn write_file(&self, name: &str, text: &str) -> Result<(), StudyError> {
        let path = self.folder.join(name);
        let write = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(text.as_bytes())?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(|error| StudyError::File { path: path.clone(), error })
    }

    /// Draws the charts of the grid.
    fn draw(&self, grid: &Grid) -> Result<(), StudyError> {
        for (name, chart) in charts(&self.rows, &self.points, grid) {
            if let Some(text) = chart.svg() {
                self.write_file(name, &text)?;
            }
        }
        Ok(())
    }

    /// The results at the longest time-out as a table for people.
    pub fn summary(&self) -> String {
        let mut text = format!(
            "{:<10} {:>9} {:>5} {:>10} {:>10} {:>10} {:>6} {:>12}\n",
            "generator", "resources", "ε %", "time-out s", "diversity", "redundancy", "size", "µs a test"
        );
        for row in &self.rows {
            text += &format!(
                "{:<10} {:>9} {:>5} {:>10.1} {:>10.1} {:>10.2} {:>6.2} {:>12.1}\n",
                row.generator.name(),
                row.resources,
                row.epsilon_percent,
                row.timeout_ms as f64 / 1000.0,
                row.diversity,
                row.redundancy,
                row.size,
                row.microseconds_per_test
            );
        }
        text
    }
}

impl Group {
    fn key(self) -> (Generators, u32, u64) {
        (self.generator, self.resources, self.timeout)
    }

    fn owns(self, row: &Row) -> bool {
        (row.generator, row.resources, row.timeout_ms) == self.key()
    }
}

fn table<T: Serialize>(rows: &[T]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| writer.serialize(row)).expect("rows are plain data");
    let bytes = writer.into_inner().expect("a buffer in memory takes all");
    String::from_utf8(bytes).expect("numbers and names are UTF-8")
}

/// Rewriting knows no escape probability.
fn epsilons(grid: &Grid, generator: Generators) -> &[u32] {
    if generator == Generators::Rewrite { &[0] } else { &grid.epsilons }
}

/// Real programs have 8.9 edges for 10.9 nodes.
fn edges_for(resources: u32) -> u64 {
    ((f64::from(resources) * 8.9 / 10.9).round() as u64).min(most_edges(resources))
}

fn measure(grid: &Grid, group: Group, rules: &Rules) -> Result<(Vec<Row>, Vec<Point>), UnsoundRule> {
    let mut rows: BTreeMap<u32, Row> = BTreeMap::new();
    let mut points: BTreeMap<(u32, usize), Point> = BTreeMap::new();
    let share = 1.0 / f64::from(grid.sources);
    for number in 0..grid.sources {
        let mut rng = stream(grid.seed, Some(u64::from(group.resources) << 32 | u64::from(number)));
        let edges = edges_for(group.resources);
        let source = Source::random(group.resources..=group.resources, edges..=edges, &mut rng);
        let source = source.with_foreign(group.resources.div_ceil(5), &mut rng);
        let canonical = Derivation::canonical(&source.graph);
        let bound = 4 * canonical.len() + 16;
        let egraph = match group.generator {
            Generators::Egraph => Some(saturate_for(grid, group, &source, &canonical, rules)?),
            Generators::Implicit | Generators::Rewrite => None,
        };
        for &percent in epsilons(grid, group.generator) {
            let escape =
                Escape::new(f64::from(percent) / 100.0).expect("percentages are checked on the way in");
            let generator = match (group.generator, &egraph) {
                (Generators::Egraph, Some((_, extraction, class))) => {
                    Generator::EGraph { extraction, class: *class, escape, bound }
                }
                (Generators::Rewrite, _) => {
                    let time = Duration::from_millis(group.timeout)
                        / u32::try_from(grid.tests).unwrap_or(u32::MAX).max(1);
                    let (signature, budget) = (Signature::bare(), Budget::Time(time));
                    Generator::Rewrite { rules, signature, budget, bound }
                }
                _ => {
                    let pace = Pace::Escape { escape, bound };
                    Generator::Implicit { pace, leave: 0.5, weights: Weights::bare() }
                }
            };
            let start = Instant::now();
            let programs: Vec<Derivation> =
                variants(&source, generator, grid.seed).take(grid.tests).collect();
            let seconds = start.elapsed().as_secs_f64();
            let mut tally = Tally::default();
            programs.iter().for_each(|program| tally.count(program));
            let figures = tally.diversity(canonical.len());
            let row = rows.entry(percent).or_insert_with(|| Row {
                generator: group.generator,
                resources: group.resources,
                epsilon_percent: percent,
                timeout_ms: group.timeout,
                sources: grid.sources,
                tests: grid.tests,
                seed: grid.seed,
                diversity: 0.0,
                redundancy: 0.0,
                size: 0.0,
                microseconds_per_test: 0.0,
                classes: 0.0,
            });
            row.diversity += share * figures.graphs;
            row.redundancy += share * figures.redundancy;
            row.size += share * figures.size;
            row.microseconds_per_test += share * seconds * 1e6 / grid.tests.max(1) as f64;
            row.classes += egraph.as_ref().map_or(0.0, |(frozen, _, _)| share * frozen.stats.classes as f64);
            let mut distinct = 0;
            for (test, &new) in tally.new_by_test().iter().enumerate() {
                distinct += new;
                let point = points.entry((percent, test)).or_insert_with(|| Point {
                    generator: group.generator,
                    resources: group.resources,
                    epsilon_percent: percent,
                    timeout_ms: group.timeout,
                    test: test + 1,
                    diversity: 0.0,
                    new_graphs: 0.0,
                });
                point.diversity += share * distinct as f64;
                point.new_graphs += share * new as f64;
            }
        }
    }
    Ok((rows.into_values().collect(), points.into_values().collect()))
}

fn saturate_for(
    grid: &Grid,
    group: Group,
    source: &Source,
    canonical: &Derivation,
    rules: &Rules,
) -> Result<(Frozen, Extraction, crate::egraph::ClassId), UnsoundRule> {
    let time = Some(Duration::from_millis(group.timeout));
    let limits = Limits { time, classes: Some(grid.max_classes), nodes: None };
    let resources = source.names.count();
    let seeds = std::slice::from_ref(canonical);
    let frozen = Frozen::build(resources, Signature::bare(), seeds, rules, limits, |_| {})?;
    let class =
        frozen.lookup(&frozen.operations(), canonical.steps()).expect("it was seeded with the program");
    let extraction = Extraction::new(&frozen);
    Ok((frozen, extraction, class))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny() -> Grid {
        Grid {
            resources: vec![3],
            epsilons: vec![10, 50],
            timeouts: vec![20],
            sources: 2,
            tests: 5,
            ..Grid::quick()
        }
    }

    #[test]
    fn a_study_writes_tables_and_charts() {
        let folder = tempfile::tempdir().unwrap();
        let results = run(folder.path(), &tiny(), |_, _| {}).unwrap();
        assert_eq!((results.rows.len(), results.points.len()), (5, 25));
        for name in ["diversity.csv", "curves.csv", "diversity-over-tests.svg", "size-by-epsilon.svg"] {
            assert!(folder.path().join(name).exists(), "{name}");
        }
    }

    #[test]
    fn a_study_resumes_where_it_stopped() {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), &tiny(), |_, _| {}).unwrap();
        let before = fs::read_to_string(folder.path().join("diversity.csv")).unwrap();
        // Times differ from run to run: the same text shows that nothing was measured again.
        run(folder.path(), &tiny(), |_, _| {}).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("diversity.csv")).unwrap(), before);
        let wider = Grid { epsilons: vec![10, 25, 50], ..tiny() };
        let results = run(folder.path(), &wider, |_, _| {}).unwrap();
        assert_eq!(results.rows.len(), 7);
    }

    #[test]
    fn results_of_other_settings_are_not_mixed_in() {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), &tiny(), |_, _| {}).unwrap();
        let error = run(folder.path(), &Grid { tests: 6, ..tiny() }, |_, _| {}).unwrap_err();
        assert!(error.to_string().contains("other sources, tests or seed"), "{error}");
    }
}
