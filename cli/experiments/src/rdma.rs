// SPDX-License-Identifier: MIT OR Apache-2.0
//! What micro-figures of RDMA clusters have in common: points that the benchmarks of `cluster_sim` give,
//! each with the number of the text where it has one.

use std::fmt;

use cluster_sim::micro::Spans;
use cluster_sim::micro::figures::{Case, Outcome};
use cluster_sim::run::RunError;
use timing::Time;

use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Colour, Curve, Paper, Plot, Point as Place, Row, Stroke};
use crate::samples::{Measured, Points, Samples, Spread};

/// A point of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Point(pub Case);

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { platform, series, across, .. } = &self.0;
        write!(f, "{platform}: {series}, {across}")
    }
}

/// What all points gave under each seed.
pub type Taken = Samples<Points<Point, Measured<Outcome>>>;

/// A number of the text, which a benchmark of the hardware is to meet within 5 %.
pub const fn near(value: f64, place: &'static str) -> Paper {
    Paper::number(value, place).within(0.05)
}

/// Measures all points, or those with a number of the text if only those are wanted.
///
/// # Errors
/// When a platform does not do.
pub fn take(
    setting: &mut Setting<'_>,
    cases: &[Case],
) -> Result<(Vec<Point>, Taken), ExperimentError> {
    // Claims are about sums of what is fitted and what is not; the fitted entries are each fixed by a row.
    setting.shifts = &[];
    let all = cases.iter().filter(|case| !setting.only_headlines || case.paper.is_some());
    let points: Vec<Point> = all.cloned().map(Point).collect();
    let samples = Samples::take_points(setting, &points, |run, Point(case)| {
        // A part of a run is long enough as it is.
        let least = |time: Time| run.scaled(time).max(Time::from_us(20));
        let Spans { warm_up, measure } = Spans::USUAL;
        let spans = Spans { warm_up: least(warm_up), measure: least(measure) };
        run.on_cluster(case.platform, |hardware| {
            let outcome = case.run(hardware, spans, run.seed);
            outcome.map_err(|error| RunError::Impossible(error.to_string()).into())
        })
    })?;
    Ok((points, samples))
}

/// A row for each point. One whose number an entry of the platform was taken from is marked with it.
pub fn rows(
    samples: &Taken,
    points: &[Point],
    paper: &[Paper],
    (across, operations): (&'static str, &'static str),
) -> Vec<Row> {
    let row = |point: &Point| {
        let Case { platform, series, across: x, value, paper: stated, .. } = &point.0;
        let label = format!("{platform}: {series}, {x} {across}");
        let mut row = samples.row(label, (value.unit(), operations), |run| {
            run.at(point).value(|outcome| (outcome.value, outcome.operations))
        });
        if let Some(stated) = stated {
            row = row.beside(paper.iter().find(|paper| paper.low == stated.number).copied());
            row.fitted.extend(stated.fixes.map(str::to_owned));
        }
        row.at(format!("{platform}: {series}"), across, *x)
    };
    points.iter().map(row).collect()
}

/// The value of a series at a place, under all seeds; `None` if it was not measured.
pub fn spread(
    samples: &Taken,
    points: &[Point],
    platform: &str,
    series: &str,
    across: f64,
) -> Option<Spread> {
    let point = find(points, platform, series, across)?;
    Some(samples.spread(|run| run.at(point).value))
}

/// The point of a series.
pub fn find<'p>(
    points: &'p [Point],
    platform: &str,
    series: &str,
    across: f64,
) -> Option<&'p Point> {
    points.iter().find(|Point(case)| {
        case.platform == platform && case.series == series && case.across == across
    })
}

/// The curves of a platform.
pub fn plot(
    samples: &Taken,
    points: &[Point],
    platform: &str,
    across: &'static str,
    up: &'static str,
) -> Plot {
    let strokes = [Stroke::Solid, Stroke::DASHED, Stroke::LONG, Stroke::SHORT, Stroke::DOTTED];
    let mut names: Vec<&str> = Vec::new();
    for Point(case) in points.iter().filter(|point| point.0.platform == platform) {
        if !names.contains(&case.series.as_str()) {
            names.push(&case.series);
        }
    }
    let curve = |(number, name): (usize, &str)| {
        let of_it =
            points.iter().filter(|Point(case)| case.platform == platform && case.series == name);
        let place = |point: &Point| {
            Place::measured(point.0.across, samples.spread(|run| run.at(point).value))
        };
        let one_sided = name.starts_with("READ");
        let colour = if one_sided { Colour::Device } else { Colour::Host };
        let stroke = strokes[number % strokes.len()];
        Curve { name: name.to_owned(), colour, stroke, points: of_it.map(place).collect() }
    };
    let curves = names.into_iter().enumerate().map(curve).collect();
    Plot::Lines { across, up, curves }
}

/// Which rows are no findings, and what binds.
pub fn notes(samples: &Taken, points: &[Point]) -> Vec<String> {
    let stated = |fixes: bool| {
        let of = points.iter().filter_map(|point| {
            let stated = point.0.paper?;
            (stated.fixes.is_some() == fixes).then(|| match stated.fixes {
                Some(entry) => format!("{point} ({entry})"),
                None => point.to_string(),
            })
        });
        of.collect::<Vec<_>>().join("; ")
    };
    let binds: Vec<String> = points
        .iter()
        .filter(|point| point.0.paper.is_some())
        .map(|point| {
            let (name, share) = samples.first(|run| run.at(point).measured.busiest);
            format!("{point}: {name} ({:.0} %)", share * 100.0)
        })
        .collect();
    let (inputs, predictions) = (stated(true), stated(false));
    let mut notes = vec![format!(
        "Entries of the platform were taken from the paper's numbers of these rows, so that their ratios are no \
         findings: {inputs}."
    )];
    if !predictions.is_empty() {
        notes.push(format!("Predictions: {predictions}."));
    }
    notes.push(format!("What binds, on the average of all nodes: {}.", binds.join("; ")));
    notes
}
