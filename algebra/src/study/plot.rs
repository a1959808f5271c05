//! Line charts as SVG.

use plotters::prelude::*;

/// A named line.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What the legend calls it.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// A chart of several lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: &'static str,
    /// The vertical axis.
    pub y: &'static str,
    /// The lines.
    pub series: Vec<Series>,
}

impl Chart {
    /// The chart as a document, or nothing if it has no points.
    pub fn svg(&self) -> Option<String> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let most = |of: fn(&(f64, f64)) -> f64| points().map(of).reduce(f64::max);
        let (right, top) = (most(|point| point.0)?, most(|point| point.1)?);
        let mut text = String::new();
        self.draw(&mut text, right.max(1e-9), top.max(0.01)).expect("drawing into a text does not fail");
        Some(text)
    }

    fn draw(&self, text: &mut String, right: f64, top: f64) -> Result<(), Box<dyn std::error::Error + '_>> {
        let area = SVGBackend::with_string(text, (760, 460)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(&self.title, ("sans-serif", 18))
            .margin(14)
            .x_label_area_size(42)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..right * 1.02, 0.0..top * 1.08)?;
        chart.configure_mesh().x_desc(self.x).y_desc(self.y).light_line_style(WHITE).draw()?;
        for (at, series) in self.series.iter().enumerate() {
            let color = Palette99::pick(at).to_rgba();
            let line = LineSeries::new(series.points.iter().copied(), color.stroke_width(2)).point_size(3);
            chart
                .draw_series(line)?
                .label(&series.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        area.present()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_names_its_lines_and_axes() {
        let series = vec![Series { name: "implicit".to_owned(), points: vec![(1.0, 2.0), (2.0, 3.0)] }];
        let chart = Chart { title: "t".to_owned(), x: "tests", y: "graphs", series };
        let text = chart.svg().unwrap();
        for word in ["implicit", "tests", "graphs", "polyline"] {
            assert!(text.contains(word), "{word}");
        }
        assert_eq!(Chart { series: vec![], ..chart }.svg(), None);
    }
}
