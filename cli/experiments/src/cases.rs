// SPDX-License-Identifier: MIT OR Apache-2.0
//! Micro-figures of RDMA clusters: benchmarks of the hardware alone, each point beside the number of the
//! paper's text, if there is one, and the entry of the platform that was taken from that number.

use std::fmt;

use cluster_sim::micro::Spans;
use cluster_sim::micro::figures::{Bench, Case, Outcome, Stated};
use cluster_sim::micro::shapes::shapes;
use timing::Time;

use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Colour, Curve, Findings, Origin, Paper, Plot, Point, Row, Stroke};
use crate::samples::{Measured, Points, Run, Samples, Value};

/// A number of the text, which a benchmark of the hardware is to meet within 5 %.
pub const fn near(value: f64, place: &'static str) -> Paper {
    Paper::number(value, place).within(NEAR)
}

const NEAR: f64 = 0.05;
/// Long enough for a throughput within a per cent. With a warm-up of 100 us queues still fill, which is 2 to 4 % more.
const SPANS: Spans = Spans { warm_up: Time::from_us(300), measure: Time::from_us(100) };
/// Enough to see that all works, with one thread.
const SMALL: Spans = Spans { warm_up: Time::from_us(10), measure: Time::from_us(20) };

/// A point, by its name alone.
#[derive(Clone, Debug)]
struct At(Case);

impl PartialEq for At {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { platform, series, across, .. } = &self.0;
        write!(f, "{platform}, {series}, {across}")
    }
}

type Sample = Points<At, Measured<Outcome>>;

/// What a figure shows.
pub struct Shown {
    /// The quantity that its points differ in.
    pub across: &'static str,
    /// The quantity that is measured.
    pub up: &'static str,
}

/// Measures the points of a figure.
///
/// # Errors
/// When the platform does not do for it.
pub fn measure(
    setting: &mut Setting<'_>,
    cases: Vec<Case>,
    shown: &Shown,
) -> Result<Findings, ExperimentError> {
    setting.shifts = &[];
    let only_stated = setting.only_headlines;
    let is_small = setting.scale < 0.1;
    let mut series: Vec<String> = Vec::new();
    let mut is_first = |case: &Case| {
        let name = format!("{}, {}", case.platform, case.series);
        let is_first = !series.contains(&name);
        series.push(name);
        is_first
    };
    let is_wanted = |case: &Case| match (only_stated, is_small) {
        (true, _) => case.paper.is_some(),
        (_, true) => is_first(case) || case.paper.is_some(),
        _ => true,
    };
    let points: Vec<At> = cases.into_iter().filter(is_wanted).map(At).collect();
    let samples = Samples::take_points(setting, &points, run)?;
    Ok(Findings {
        parameters: vec![
            ("unit", points[0].0.value.unit().into()),
            ("across", shown.across.into()),
        ],
        rows: points.iter().map(|at| row(&samples, at, shown)).collect(),
        claims: claims(&samples, &points),
        notes: notes(&samples, &points),
        plots: plot(&samples, &points, shown).into_iter().collect(),
        ..Findings::default()
    })
}

/// How long a benchmark of a run is measured.
pub fn spans(run: &Run<'_>) -> Spans {
    if run.is_small() { SMALL } else { SPANS }
}

fn run(run: &Run<'_>, At(case): &At) -> Result<Measured<Outcome>, ExperimentError> {
    let mut case = case.clone();
    let spans = spans(run);
    if run.is_small() {
        match &mut case.bench {
            Bench::Rpc(bench) => bench.threads = 1,
            Bench::Verbs(bench) | Bench::Dynamic(bench) => bench.threads = 1,
        }
    }
    run.on_cluster(case.platform, |hardware| {
        let outcome = case.run(hardware, spans, run.seed);
        outcome.map_err(|error| ExperimentError::Case(error.to_string()))
    })
}

fn row(samples: &Samples<Sample>, at: &At, shown: &Shown) -> Row {
    let value = |run: &Sample| -> Value {
        run.at(at).value(|outcome| (outcome.value, outcome.operations.max(1)))
    };
    let series = format!("{}, {}", at.0.platform, at.0.series);
    samples
        .row(at.to_string(), (at.0.value.unit(), "operations"), value)
        .beside(at.0.paper.map(|Stated { number, place, .. }| near(number, place)))
        .at(series, shown.across, at.0.across)
}

fn claims(samples: &Samples<Sample>, points: &[At]) -> Vec<Claim> {
    let stated = |predicted: bool| -> Vec<(At, f64)> {
        let of = |at: &At| {
            let paper = at.0.paper.filter(|paper| paper.fixes.is_none() == predicted)?;
            Some((at.clone(), paper.number))
        };
        points.iter().filter_map(of).collect()
    };
    let claim = |says: &str, of: Vec<(At, f64)>| {
        let off = |(at, number): &(At, f64)| {
            let value = samples.spread(|run| run.at(at).value).median;
            format!("{at}: {value:.2} of {number}")
        };
        let each: Vec<String> = of.iter().map(off).collect();
        let because = format!("{}.", each.join("; "));
        samples.claim(
            Origin::Goal,
            says,
            move |run| {
                of.iter().all(|(at, number)| (run.at(at).value / number - 1.0).abs() <= NEAR)
            },
            because,
        )
    };
    let mut claims = Vec::new();
    let (fixed, predicted) = (stated(false), stated(true));
    if !fixed.is_empty() {
        let says = "What entries were taken from comes out within 5 %, which shows that the model can \
                    have them, and no more.";
        claims.push(claim(says, fixed));
    }
    if !predicted.is_empty() {
        let says = "Other numbers of the text come out within 5 %: predictions.";
        claims.push(claim(says, predicted));
    }
    let values = |run: &Sample| -> Vec<(Case, f64)> {
        points.iter().map(|at| (at.0.clone(), run.at(at).value)).collect()
    };
    let first = samples.first(|run| shapes(&values(run)));
    for (place, shape) in first.into_iter().enumerate() {
        let holds = |run: &Sample| shapes(&values(run))[place].holds;
        claims.push(samples.claim(Origin::Paper, shape.says, holds, shape.because));
    }
    claims
}

fn notes(samples: &Samples<Sample>, points: &[At]) -> Vec<String> {
    let fixes = |at: &At| at.0.paper.and_then(|paper| Some(format!("{at} ({})", paper.fixes?)));
    let fixed: Vec<String> = points.iter().filter_map(fixes).collect();
    let busiest = |at: &At| {
        at.0.paper?;
        let (name, share) = samples.first(|run| run.at(at).measured.busiest);
        let packets = samples.first(|run| run.at(at).measured.packets);
        Some(format!("{at}: {name}, {:.0} %, {packets:.2} packets", 100.0 * share))
    };
    let busiest: Vec<String> = points.iter().filter_map(busiest).collect();
    let mut notes = Vec::new();
    if !fixed.is_empty() {
        notes.push(format!(
            "Inputs, not findings: entries of the platforms were taken from these rows: {}.",
            fixed.join("; ")
        ));
    }
    notes.push(format!(
        "The busiest resource, and packets of an operation: {}.",
        busiest.join("; ")
    ));
    notes
}

/// Lines where several points stand along something.
fn plot(samples: &Samples<Sample>, points: &[At], shown: &Shown) -> Option<Plot> {
    let name = |at: &At| format!("{}, {}", at.0.platform, at.0.series);
    let mut names: Vec<String> = points.iter().map(name).collect();
    names.dedup();
    let strokes = [Stroke::Solid, Stroke::DASHED, Stroke::LONG, Stroke::SHORT];
    let curve = |(number, series): (usize, String)| {
        let of_series = points.iter().filter(|at| name(at) == series);
        let place = |at: &At| Point::measured(at.0.across, samples.spread(|run| run.at(at).value));
        let points = of_series.map(place).collect();
        let colour = if number % 2 == 0 { Colour::Device } else { Colour::Host };
        Curve { name: series, colour, stroke: strokes[number / 2 % strokes.len()], points }
    };
    let curves: Vec<Curve> = names.into_iter().enumerate().map(curve).collect();
    Some(Plot::Lines { across: shown.across, up: shown.up, curves })
}
