// SPDX-License-Identifier: MIT OR Apache-2.0
//! Throughput of a machine along the number of machines.

use super::macros::{Point, Sample, of_machine, row};
use crate::findings::{Colour, Curve, Plot, Point as Place, Row, Stroke};
use crate::samples::Samples;

/// A row for each point of each series.
pub fn rows_along(samples: &Samples<Sample>, series: &[(&str, &[Point])]) -> Vec<Row> {
    let of = |(name, points): &(&str, &[Point])| {
        let name = (*name).to_owned();
        let rows = points.iter().map(|point| {
            row(samples, *point, ("", "M/s"), of_machine).at(
                name.clone(),
                "machines",
                point.nodes.into(),
            )
        });
        rows.collect::<Vec<_>>()
    };
    series.iter().flat_map(of).collect()
}

/// The same as a picture.
pub fn curves(samples: &Samples<Sample>, series: &[(&str, &[Point])]) -> Plot {
    let looks = [
        (Colour::Host, Stroke::Solid),
        (Colour::Device, Stroke::Solid),
        (Colour::Host, Stroke::DASHED),
        (Colour::Device, Stroke::DASHED),
    ];
    let curve = |((name, points), (colour, stroke)): (&(&str, &[Point]), _)| {
        let place = |point: &Point| {
            let spread = samples.spread(|run| of_machine(run.at(point)));
            Place::measured(point.nodes.into(), spread)
        };
        let points = points.iter().map(place).collect();
        Curve { name: (*name).to_owned(), colour, stroke, points }
    };
    Plot::Lines {
        across: "machines",
        up: "transactions a second of a machine, M",
        curves: series.iter().zip(looks).map(curve).collect(),
    }
}
