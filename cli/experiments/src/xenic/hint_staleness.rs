// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many insertions move an object farther than the NIC's index knows.

use std::fmt::{self, Display};

use tables::experiments::staleness;

use super::tables::{LIMITS, filling, largest_displacement};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Colour, Curve, Findings, Origin, Paper, Plot, Point, Row, Stroke};
use crate::samples::{Points, Run, Samples, Value, scaled_count};

pub const ANY: Paper = Paper::number(6.0, "section 4.1.3: \"6% of insertions at 90% occupancy\"");
pub const BY_MORE: Paper = Paper::number(
    0.2,
    "section 4.1.3: \"d_i is rarely increased by more than one (e.g., only 0.2% of insertions at 90% \
     occupancy)\"",
);

const KEYS: u64 = 250_000;
const OCCUPANCY: f64 = 0.9;
/// Homes in a segment.
const SEGMENTS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Insertions that are watched, each after a deletion.
const WATCHED: u64 = 50_000;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Table {
    limit: Option<u32>,
    segment: u32,
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limit {
            Some(limit) => write!(f, "D_m = {limit}, segments of {}", self.segment),
            None => write!(f, "no limit, segments of {}", self.segment),
        }
    }
}

/// Insertions that made a hint stale, in per cent.
#[derive(Clone, Copy, Debug)]
struct Stale {
    any: f64,
    by_more: f64,
    insertions: u64,
}

impl Stale {
    fn any(&self) -> Value {
        Value::without_platform(self.any, self.insertions)
    }

    fn by_more(&self) -> Value {
        Value::without_platform(self.by_more, self.insertions)
    }
}

fn tables() -> impl Iterator<Item = Table> {
    LIMITS.into_iter().flat_map(|limit| SEGMENTS.map(|segment| Table { limit, segment }))
}

/// Watches insertions into tables with all limits and segments.
///
/// # Errors
/// None.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    // No platform has a part in it.
    setting.shifts = &[];
    let keys = scaled_count(KEYS, setting.scale);
    let points: Vec<Table> = tables().collect();
    let samples = Samples::take_points(setting, &points, |run, &table| Ok(stale(run, table)))?;
    Ok(Findings {
        parameters: vec![
            ("keys", format!("{keys} uniform, at {OCCUPANCY} of the slots")),
            ("watched", format!("{} insertions, each after a deletion", scaled_count(WATCHED, setting.scale))),
        ],
        rows: rows(&samples),
        claims: claims(&samples),
        notes: vec![
            "The paper does not say how long a segment is. With one that makes 6 % of the insertions raise some \
             hint, hardly any raises one by more than a slot; with one that makes 0.2 % raise a hint by more, many \
             more than 6 % raise one. So the two figures do not come out together, with any D_m."
                .into(),
            "A hint is raised when an object lies farther from its home than any of its segment did directly before: \
             the new object, or one that it displaced."
                .into(),
        ],
        plots: vec![plot(&samples, "any", Stale::any), plot(&samples, "by more than one", Stale::by_more)],
        ..Findings::default()
    })
}

fn stale(run: &Run<'_>, Table { limit, segment }: Table) -> Stale {
    let filling = filling(run.scaled_count(KEYS), OCCUPANCY, run.seed);
    let limit = largest_displacement(limit);
    let stale = staleness(limit, segment, filling, run.scaled_count(WATCHED));
    let stale = stale.expect("a table within its bounds");
    Stale {
        any: 100.0 * stale.raised,
        by_more: 100.0 * stale.raised_by_more,
        insertions: stale.insertions,
    }
}

type Sample = Points<Table, Stale>;

fn rows(samples: &Samples<Sample>) -> Vec<Row> {
    let row = |table: Table, what: &str, of: fn(&Stale) -> Value, paper| {
        // The paper's figures are for its own table, whose segments are not known: beside them stand those of
        // D_m = 8, with which they come out best.
        let paper = (table.limit == Some(8)).then_some(paper);
        samples
            .row(format!("{table}: {what}"), ("%", "insertions"), |run| of(run.at(&table)))
            .beside(paper)
            .at(
                format!("{what}, {}", name(table.limit)),
                "homes in a segment",
                table.segment.into(),
            )
    };
    tables()
        .flat_map(|table| {
            [
                row(table, "a hint raised", Stale::any, ANY),
                row(table, "by more than one", Stale::by_more, BY_MORE),
            ]
        })
        .collect()
}

fn name(limit: Option<u32>) -> String {
    limit.map_or("no limit".into(), |limit| format!("D_m = {limit}"))
}

fn plot(samples: &Samples<Sample>, what: &str, of: fn(&Stale) -> Value) -> Plot {
    let strokes = [Stroke::Solid, Stroke::DASHED, Stroke::LONG, Stroke::SHORT];
    let curve = |(limit, stroke)| {
        let points = SEGMENTS.map(|segment| {
            let table = Table { limit, segment };
            Point::measured(segment.into(), samples.spread(|run| of(run.at(&table)).number()))
        });
        Curve { name: name(limit), colour: Colour::Device, stroke, points: points.into() }
    };
    Plot::Lines {
        across: "homes in a segment",
        up: if what == "any" {
            "insertions that raise a hint, %"
        } else {
            "insertions that raise a hint by more than one, %"
        },
        curves: LIMITS.into_iter().zip(strokes).map(curve).collect(),
    }
}

fn claims(samples: &Samples<Sample>) -> Vec<Claim> {
    let is_near = |paper: Paper, value: Value| paper.agrees_with(value.number());
    vec![samples.claim(
        Origin::Paper,
        "\"6% of insertions at 90% occupancy\" invalidate a hint, and \"only 0.2%\" raise it by more than one \
         (section 4.1.3): some D_m and segment give both.",
        |run| {
            tables().any(|table| {
                let stale = run.at(&table);
                is_near(ANY, stale.any()) && is_near(BY_MORE, stale.by_more())
            })
        },
        String::new(),
    )]
}
