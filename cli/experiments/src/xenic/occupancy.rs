// SPDX-License-Identifier: MIT OR Apache-2.0
//! What look-ups read of Xenic's table from half full to 90 %.

use std::fmt::{self, Display};

use super::tables::{Costs, Design, LIMITS, SEGMENT, costs};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Colour, Curve, Findings, Origin, Plot, Point, Row, Stroke};
use crate::samples::{Points, Samples, Value, scaled_count};

const KEYS: u64 = 250_000;
/// In per cent.
const OCCUPANCIES: [u32; 5] = [50, 60, 70, 80, 90];

#[derive(Clone, Copy, Debug, PartialEq)]
struct Measuring {
    limit: Option<u32>,
    percent: u32,
}

impl Measuring {
    fn design(self) -> Design {
        Design::RobinHood { limit: self.limit, segment: SEGMENT }
    }
}

impl Display for Measuring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} %", self.design(), self.percent)
    }
}

fn points() -> impl Iterator<Item = Measuring> {
    LIMITS.into_iter().flat_map(|limit| OCCUPANCIES.map(|percent| Measuring { limit, percent }))
}

type Sample = Points<Measuring, Costs>;

/// Fills tables to each occupancy and looks all keys up.
///
/// # Errors
/// None.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    // No platform has a part in it.
    setting.shifts = &[];
    let keys = scaled_count(KEYS, setting.scale);
    let all: Vec<Measuring> = points().collect();
    let samples = Samples::take_points(setting, &all, |run, point| {
        Ok(costs(point.design(), keys, f64::from(point.percent) / 100.0, run.seed))
    })?;
    Ok(Findings {
        parameters: vec![
            ("keys", format!("{keys} uniform")),
            ("segments", format!("{SEGMENT} homes")),
            ("hints", "up to date; d + 1 + k slots are read first, k = 1".into()),
        ],
        rows: rows(&samples, "objects", Costs::objects)
            .chain(rows(&samples, "round trips", Costs::round_trips))
            .collect(),
        claims: claims(&samples),
        notes: vec![
            "Objects of a first read are at least two: the home, and the slot that k adds for insertions that the \
             index has not heard of."
                .into(),
        ],
        plots: vec![
            plot(&samples, "objects read in a look-up", Costs::objects),
            plot(&samples, "round trips of a look-up", Costs::round_trips),
        ],
        ..Findings::default()
    })
}

fn rows(
    samples: &Samples<Sample>,
    what: &str,
    of: fn(&Costs) -> Value,
) -> impl Iterator<Item = Row> {
    points().map(move |point| {
        samples.row(format!("{point}: {what}"), ("", "look-ups"), |run| of(run.at(&point))).at(
            format!("{what}, {}", point.design()),
            "occupancy, %",
            point.percent.into(),
        )
    })
}

fn plot(samples: &Samples<Sample>, up: &'static str, of: fn(&Costs) -> Value) -> Plot {
    let strokes = [Stroke::Solid, Stroke::DASHED, Stroke::LONG, Stroke::SHORT];
    let curve = |(limit, stroke)| {
        let points = OCCUPANCIES.map(|percent| {
            let point = Measuring { limit, percent };
            Point::measured(percent.into(), samples.spread(|run| of(run.at(&point)).number()))
        });
        let name = Design::RobinHood { limit, segment: SEGMENT }.to_string();
        Curve { name, colour: Colour::Device, stroke, points: points.into() }
    };
    Plot::Lines {
        across: "occupancy, %",
        up,
        curves: LIMITS.into_iter().zip(strokes).map(curve).collect(),
    }
}

fn claims(samples: &Samples<Sample>) -> Vec<Claim> {
    let objects = |limit, percent| {
        samples.spread(|run| run.at(&Measuring { limit, percent }).objects().number())
    };
    vec![samples.claim(
        Origin::Paper,
        "\"Decreasing probing distance sufficiently, say by expanding the host-side hash memory, reduces PCIe \
         overhead\" (section 4.3.3).",
        |run| {
            LIMITS.into_iter().all(|limit| {
                OCCUPANCIES.is_sorted_by(|&one, &next| {
                    let objects = |percent| run.at(&Measuring { limit, percent }).objects().number();
                    objects(one) < objects(next)
                })
            })
        },
        format!(
            "With D_m = 16, {:.2} objects at 50 % and {:.2} at 90 %.",
            objects(Some(16), 50),
            objects(Some(16), 90)
        ),
    )]
}
