// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many insertions move an object farther than the NIC's index knows.

use std::fmt::{self, Display};

use tables::RemoteTable;

use super::tables::{Displacements, LIMITS, robin_hood, uniform_keys};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Colour, Curve, Findings, Origin, Paper, Plot, Point, Row, Stroke};
use crate::samples::{Points, Run, Samples, Value, scaled_count};

pub const ANY: Paper = Paper::number(6.0, "section 4.1.3: \"6% of insertions at 90% occupancy\"");
pub const BY_MORE: Paper = Paper::number(
    0.2,
    "section 4.1.3: \"d_i is rarely increased by more than one (e.g., only 0.2% of insertions at 90% \
     occupancy)\"",
);

const KEYS: u64 = 1_000_000;
const OCCUPANCY: f64 = 0.9;
/// Homes in a segment.
const SEGMENTS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Part of the keys that is inserted while hints are watched, half of it beyond [`OCCUPANCY`].
const WATCHED: f64 = 0.02;

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
            ("watched", format!("the insertions from {} of the keys on", 1.0 - WATCHED / 2.0)),
        ],
        rows: rows(&samples),
        claims: claims(&samples),
        notes: vec![
            "The paper does not say how long a segment is. With one that makes 6 % of the insertions raise some \
             hint, hardly any raises one by more than a slot; with one that makes 0.2 % raise a hint by more, many \
             more than 6 % raise one. So the two figures do not come out together, with any D_m."
                .into(),
            "A hint is raised when an object lies farther from its home than any of its segment did before: \
             the new object, or one that it displaced."
                .into(),
        ],
        plots: vec![plot(&samples, "any", Stale::any), plot(&samples, "by more than one", Stale::by_more)],
        ..Findings::default()
    })
}

fn stale(run: &Run<'_>, Table { limit, segment }: Table) -> Stale {
    let keys = run.scaled_count(KEYS);
    let slots = (keys as f64 / OCCUPANCY).round() as u32;
    let table = robin_hood(limit, segment, slots, keys);
    let before = (keys as f64 * (1.0 - WATCHED / 2.0)) as u64;
    let watched = ((keys as f64 * WATCHED) as u64).max(1);
    let mut random = uniform_keys(run.seed);
    // A key that is drawn twice is left out, which is rare among 64 bits.
    for key in random.by_ref().take(before as usize) {
        let _twice = table.insert(key, &[]);
    }
    let mut known = Displacements::of(&table);
    let (mut any, mut by_more) = (0_u64, 0_u64);
    for key in random.take(watched as usize) {
        let _twice = table.insert(key, &[]);
        let home = table.geometry().home(key);
        let by = known.grow(&table, home, limit.unwrap_or(REACH_WITHOUT_LIMIT));
        any += u64::from(by > 0);
        by_more += u64::from(by > 1);
    }
    let percent = |count| 100.0 * count as f64 / watched as f64;
    Stale { any: percent(any), by_more: percent(by_more), insertions: watched }
}

/// Slots behind the home in which an insertion without a limit may have changed something: free slots are nearer
/// at 90 %.
const REACH_WITHOUT_LIMIT: u32 = 4096;

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
