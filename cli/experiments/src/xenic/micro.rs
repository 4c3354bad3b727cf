// SPDX-License-Identifier: MIT OR Apache-2.0
//! Section 3 of the paper: what its SmartNIC does alone, on the model of it.

use cluster_sim::micro::xenic::{Figure, Row as Value};
use cluster_sim::nic::smart_timing::SmartTiming;

use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Colour, Curve, Findings, Origin, Paper, Plot, Point, Row, Stroke};
use crate::samples::{Measured, Run, Samples};

/// The cluster with RDMA cards that the paper compares with.
pub const RDMA: &str = "connectx5";
/// The platform.
pub const SMART_NIC: &str = "liquidio3";

/// A figure under each seed. Nothing is drawn, so that all are alike.
pub type Taken = Samples<Measured<Figure>>;

/// A value of the text, which a benchmark of the hardware is to meet within 5 %.
pub const fn near(value: f64, place: &'static str) -> Paper {
    Paper::number(value, place).within(0.05)
}

/// Measures `figure` on the platform, once for each seed.
///
/// # Errors
/// When a platform cannot do it.
pub fn take(
    setting: &mut Setting<'_>,
    figure: impl Fn(&Run<'_>, &SmartTiming) -> Result<Figure, ExperimentError> + Sync,
) -> Result<Taken, ExperimentError> {
    Samples::take(setting, |run| run.on_smart_nic(SMART_NIC, |timing| figure(run, timing)))
}

/// What was taken as findings, with those of `paper` beside the rows that have their value.
pub fn findings(samples: &Taken, paper: &[Paper], parameters: &[(&'static str, &str)]) -> Findings {
    let first = first(samples);
    let inputs: Vec<&str> =
        first.rows.iter().filter(|row| row.input).map(|row| row.label.as_str()).collect();
    let inputs = match inputs.is_empty() {
        true => None,
        false => Some(format!(
            "Entries of the platform were taken from the paper's values of these rows, so that their ratios are no \
             findings: {}.",
            inputs.join("; ")
        )),
    };
    let bounds: Vec<String> = first.rows.iter().filter_map(bound).collect();
    let bounds = (!bounds.is_empty())
        .then(|| format!("The busiest resource of each throughput: {}.", bounds.join("; ")));
    let parameters = parameters.iter().map(|(name, value)| (*name, (*value).to_owned()));
    Findings {
        parameters: parameters.collect(),
        rows: (0..first.rows.len()).map(|place| row(samples, paper, place)).collect(),
        claims: (0..first.claims.len()).map(|place| claim(samples, place)).collect(),
        notes: inputs.into_iter().chain(bounds).collect(),
        ..Findings::default()
    }
}

/// The figure as it is under the first seed.
fn first(samples: &Taken) -> Figure {
    samples.first(|run| (**run).clone())
}

fn bound(row: &Value) -> Option<String> {
    row.bound.map(|bound| format!("{}: {bound}", row.label))
}

fn row(samples: &Taken, paper: &[Paper], place: usize) -> Row {
    let value = first(samples).rows.swap_remove(place);
    let row = samples.row(value.label, (value.unit, "requests"), |run| {
        run.value(|figure| {
            let row = &figure.rows[place];
            (row.measured, row.operations)
        })
    });
    let is_it = |paper: &&Paper| value.paper == Some([paper.low, paper.high]);
    let row = row.beside(paper.iter().find(is_it).copied());
    match value.place {
        Some((curve, bytes)) => row.at(curve, "bytes", bytes),
        None => row,
    }
}

fn claim(samples: &Taken, place: usize) -> Claim {
    let claim = first(samples).claims.swap_remove(place);
    samples.claim(Origin::Paper, claim.says, |run| run.claims[place].holds, claim.because)
}

/// The curves of a figure whose names `shown` accepts.
pub fn plot(samples: &Taken, up: &'static str, shown: impl Fn(&str) -> bool) -> Plot {
    let strokes = [Stroke::Solid, Stroke::DASHED, Stroke::LONG, Stroke::SHORT, Stroke::DOTTED];
    let mut names: Vec<String> = Vec::new();
    for row in first(samples).rows {
        if let Some((curve, _)) = row.place
            && shown(&curve)
            && !names.contains(&curve)
        {
            names.push(curve);
        }
    }
    let curve = |(number, name): (usize, String)| {
        let rows = first(samples).rows.into_iter().enumerate();
        let on_it = rows.filter_map(|(place, row)| {
            let (curve, bytes) = row.place?;
            (curve == name).then_some((place, bytes))
        });
        let point = |(place, bytes): (usize, f64)| {
            Point::measured(bytes, samples.spread(|run| run.rows[place].measured))
        };
        let points = on_it.map(point).collect();
        Curve { name, colour: Colour::Device, stroke: strokes[number % strokes.len()], points }
    };
    Plot::Lines { across: "bytes", up, curves: names.into_iter().enumerate().map(curve).collect() }
}
