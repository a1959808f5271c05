//! The charts of the study of diversity: which figures are drawn against which.

use super::diversity::{Generators, Grid, Point, Row};
use super::plot::{Chart, Series};

/// The charts of a grid, each with the name of its file.
pub(super) fn charts(rows: &[Row], points: &[Point], grid: &Grid) -> Vec<(&'static str, Chart)> {
    let timeout = grid.timeouts.iter().copied().max().unwrap_or(0);
    let resources = grid.resources.iter().copied().max().unwrap_or(0);
    let epsilon =
        if grid.epsilons.contains(&25) { 25 } else { grid.epsilons.iter().copied().max().unwrap_or(0) };
    let seconds = timeout as f64 / 1000.0;
    let of = |generator: Generators| {
        rows.iter().filter(move |row| row.generator == generator && [0, timeout].contains(&row.timeout_ms))
    };
    let by_resources = |value: fn(&Row) -> f64| {
        series(|generator| {
            let wanted = of(generator)
                .filter(|row| row.epsilon_percent == epsilon || generator == Generators::Rewrite);
            wanted.map(|row| (f64::from(row.resources), value(row))).collect()
        })
    };
    let by_epsilon = |value: fn(&Row) -> f64| {
        series(|generator| match generator {
            // Rewriting knows no escapes: a level line.
            Generators::Rewrite => of(generator)
                .filter(|row| row.resources == resources)
                .flat_map(|row| grid.epsilons.iter().map(move |&epsilon| (f64::from(epsilon), value(row))))
                .collect(),
            _ => of(generator)
                .filter(|row| row.resources == resources)
                .map(|row| (f64::from(row.epsilon_percent), value(row)))
                .collect(),
        })
    };
    let over_tests = |value: fn(&Point) -> f64| {
        series(|generator| {
            let wanted = points.iter().filter(|point| {
                point.generator == generator
                    && point.resources == resources
                    && [0, timeout].contains(&point.timeout_ms)
                    && (point.epsilon_percent == epsilon || generator == Generators::Rewrite)
            });
            wanted.map(|point| (point.test as f64, value(point))).collect()
        })
    };
    let with_epsilon = format!("ε {epsilon} %, time-out {seconds} s");
    let with_resources = format!("{resources} resources, time-out {seconds} s");
    let with_both = format!("{resources} resources, ε {epsilon} %, time-out {seconds} s");
    let tests = grid.tests;
    let chart =
        |what: &str, with: &str, x, y, series| Chart { title: format!("{what} ({with})"), x, y, series };
    vec![
        (
            "diversity-by-resources.svg",
            chart(
                &format!("Diversity over {tests} tests"),
                &with_epsilon,
                "resources",
                "distinct graphs",
                by_resources(|row| row.diversity),
            ),
        ),
        (
            "diversity-by-epsilon.svg",
            chart(
                &format!("Diversity over {tests} tests"),
                &with_resources,
                "escape probability in %",
                "distinct graphs",
                by_epsilon(|row| row.diversity),
            ),
        ),
        (
            "redundancy-by-epsilon.svg",
            chart(
                "Redundancy",
                &with_resources,
                "escape probability in %",
                "share of tests",
                by_epsilon(|row| row.redundancy),
            ),
        ),
        (
            "size-by-epsilon.svg",
            chart(
                "Size",
                &with_resources,
                "escape probability in %",
                "length over canonical length",
                by_epsilon(|row| row.size),
            ),
        ),
        (
            "diversity-over-tests.svg",
            chart("Diversity", &with_both, "tests", "distinct graphs", over_tests(|point| point.diversity)),
        ),
        (
            "new-graphs-over-tests.svg",
            chart(
                "New graphs",
                &with_both,
                "tests",
                "new graphs in a test",
                over_tests(|point| point.new_graphs),
            ),
        ),
    ]
}

fn series(points: impl Fn(Generators) -> Vec<(f64, f64)>) -> Vec<Series> {
    let all = [Generators::Implicit, Generators::Egraph, Generators::Rewrite];
    let lines = all.map(|generator| {
        let mut points = points(generator);
        points.sort_by(|left, right| left.0.total_cmp(&right.0));
        Series { name: generator.name().to_owned(), points }
    });
    lines.into_iter().filter(|series| !series.points.is_empty()).collect()
}
