// SPDX-License-Identifier: MIT OR Apache-2.0
//! Look-ups a second through the RTL, from no hits of the index to hits alone, beside what the link allows.

use std::fmt::{self, Display};

use nic_runs::{Contents, HostSettings, Job, Profile, Report, Settings, Speed, Watch};
use system::Interrupt;

use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Colour, Curve, Findings, Goal, Origin, Plot, Point, Row, Stroke};
use crate::samples::{Measured, Points, Run, Samples, Value, scaled_count};

/// The platform.
pub const LINK: &str = "liquidio3";

const KEYS: u64 = 100_000;
const LOOK_UPS: u64 = 20_000;
/// Before these, so that the index has left its reset and the pipes are full.
const WARM_UP: u64 = 2000;
/// Of the look-ups, in per cent.
const HITS: [u32; 6] = [0, 25, 50, 75, 90, 100];
/// That change the table in one more point.
const THREADS: u32 = 4;
/// In per cent of what is possible.
const GOAL: Goal = Goal {
    at_least: 90.0,
    because: "nothing but the link, or the requests under way, should hold look-ups up",
};

#[derive(Clone, Copy, Debug, PartialEq)]
struct Measuring {
    /// Hits, in per cent.
    hits: u32,
    /// That change the table.
    threads: u32,
}

impl Display for Measuring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.threads {
            0 => write!(f, "{} % hits", self.hits),
            threads => write!(f, "{} % hits, {threads} threads change the table", self.hits),
        }
    }
}

const NO_HITS: Measuring = Measuring { hits: 0, threads: 0 };
const CHANGED: Measuring = Measuring { hits: 0, threads: THREADS };

fn points() -> impl Iterator<Item = Measuring> {
    HITS.into_iter().map(|hits| Measuring { hits, threads: 0 }).chain([CHANGED])
}

type Sample = Points<Measuring, Measured<Report>>;

/// Looks keys up with each share of hits.
///
/// # Errors
/// When an answer is wrong, or the RTL does otherwise than the machine.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let [keys, look_ups] = [KEYS, LOOK_UPS].map(|count| scaled_count(count, setting.scale));
    let all: Vec<Measuring> = points().collect();
    let samples = Samples::take_points(setting, &all, look_up)?;
    let of = Settings::default();
    Ok(Findings {
        parameters: vec![
            (
                "table",
                format!(
                    "{keys} keys of 8 bytes with values of 8, at {} of the slots, D_m = {}, {} homes a segment",
                    of.table.occupancy,
                    of.table.limit + 1,
                    of.table.segment
                ),
            ),
            (
                "look-ups",
                format!(
                    "{look_ups} of keys that are there, {} under way at once",
                    of.card.in_flight
                ),
            ),
            (
                "card",
                format!(
                    "RTL at {} MHz, index in memory of {} clocks, vectors sent after {} idle clocks or {}",
                    1_000_000 / of.card.clock_ps,
                    of.card.nic_memory_clocks,
                    of.card.idle_clocks,
                    of.card.flush_clocks
                ),
            ),
        ],
        rows: rows(&samples),
        claims: claims(&samples),
        notes: notes(),
        plots: vec![plot(&samples)],
        ..Findings::default()
    })
}

fn look_up(run: &Run<'_>, point: &Measuring) -> Result<Measured<Report>, ExperimentError> {
    let Measuring { hits, threads } = *point;
    let host = HostSettings { threads, ..HostSettings::default() };
    let settings = Settings { seed: run.seed, host, ..Settings::default() };
    let contents = Contents::generated(run.scaled_count(KEYS) as u32, run.seed);
    let counts = [WARM_UP, LOOK_UPS].map(|count| run.scaled_count(count) as usize);
    let profile = Profile::Hits { percent: hits.into() };
    run.measured(LINK, |platform| {
        let platform = platform.clone();
        let job = Job::of_profile(contents, &profile, counts.into(), 0.0, settings, platform)?;
        let interrupt = Interrupt::default();
        let mut progress = |done: f64, _| run.progress(done, point);
        Ok(job.virtual_time(&mut Watch { interrupt: &interrupt, progress: &mut progress })?)
    })
}

fn speed(report: &Report) -> &Speed {
    report.speed.as_ref().expect("the run was in virtual time")
}

fn rate(report: &Report) -> f64 {
    speed(report).look_ups_per_second / 1e6
}

fn limit(report: &Report) -> f64 {
    speed(report).limits.least() / 1e6
}

/// Of what is possible, in per cent.
fn reached(report: &Report) -> f64 {
    100.0 * rate(report) / limit(report)
}

fn rows(samples: &Samples<Sample>) -> Vec<Row> {
    let row = |point: Measuring, what: &str, unit, of: fn(&Report) -> f64| {
        let value = |run: &Sample| -> Value {
            run.at(&point).value(|report| (of(report), report.look_ups))
        };
        samples.row(format!("{point}: {what}"), (unit, "look-ups"), value)
    };
    let of_point = |point: Measuring| {
        let at = |row: Row, what: &str| match point.threads {
            0 => row.at(what, "hits, %", point.hits.into()),
            _ => row,
        };
        let reached = row(point, "of the limit", "%", reached);
        [
            at(row(point, "look-ups a second", "M/s", rate), "look-ups a second"),
            at(row(point, "limit", "M/s", limit), "limit"),
            at(if point == NO_HITS { reached.with_goal(GOAL) } else { reached }, "of the limit"),
        ]
    };
    let details = [NO_HITS, CHANGED].into_iter().flat_map(move |point| {
        [
            row(point, "median latency", "ns", |report| speed(report).latency.p50_ns),
            row(point, "99 % latency", "ns", |report| speed(report).latency.p99_ns),
            row(point, "round trips", "", |report| report.trips),
            row(point, "misses without a slot beyond the hint", "%", |report| {
                100.0 * report.hint_quality
            }),
            row(point, "DMA elements a vector", "", |report| {
                report.dma.expect("of the RTL").elements_per_vector
            }),
            row(point, "bytes to the card", "B", |report| {
                report.dma.expect("of the RTL").bytes_to_card
            }),
        ]
    });
    points().flat_map(of_point).chain(details).collect()
}

fn plot(samples: &Samples<Sample>) -> Plot {
    let curve = |name: &str, colour, stroke, of: fn(&Report) -> f64| {
        let points = HITS.map(|hits| {
            let point = Measuring { hits, threads: 0 };
            Point::measured(hits.into(), samples.spread(|run| of(run.at(&point))))
        });
        Curve { name: name.into(), colour, stroke, points: points.into() }
    };
    Plot::Lines {
        across: "hits of the index, %",
        up: "look-ups a second, M",
        curves: vec![
            curve("RTL", Colour::Device, Stroke::Solid, rate),
            curve("limit", Colour::Goal, Stroke::DASHED, limit),
        ],
    }
}

fn claims(samples: &Samples<Sample>) -> Vec<Claim> {
    let all = |of: fn(&Report) -> f64, point| samples.spread(|run| of(run.at(&point)));
    vec![
        samples.claim(
            Origin::Goal,
            "Without hits, look-ups reach 90 % of the link's limit, or of the requests under way by a round trip, \
             whichever is less.",
            |run| reached(run.at(&NO_HITS)) >= GOAL.at_least,
            format!(
                "{:.1} M/s of {:.1} M/s, {:.1} %.",
                all(rate, NO_HITS),
                all(limit, NO_HITS),
                all(reached, NO_HITS)
            ),
        ),
        samples.claim(
            Origin::Own,
            "With hits, too, nothing but these limits and one operation of the index a clock holds look-ups up: 90 % \
             of the least is reached at each share.",
            |run| {
                let point = |hits| Measuring { hits, threads: 0 };
                HITS.into_iter().all(|hits| reached(run.at(&point(hits))) >= GOAL.at_least)
            },
            format!(
                "At 90 % hits {:.1} %: there each miss costs the index more than its look-up and its fill.",
                all(reached, Measuring { hits: 90, threads: 0 })
            ),
        ),
    ]
}

fn notes() -> Vec<String> {
    vec![
        "The limit is the least of three: one operation of the index a clock, a look-up and after a miss a fill; 128 look-ups under way by the round trip of one line, \
         for the misses; and the busier way of the link by the bytes that the misses need. These are the reads of a \
         remote reader whose hints are up to date (`tables::Search`) in whole lines of 64 bytes, and 26 bytes for \
         each packet of at most 256 bytes of payload. What stale hints, retries and evictions add is not in it."
            .into(),
        "Hits are made so: at most 4,096 hot keys, one a segment, are looked up once before the measured part, and \
         then drawn alike; each other look-up is of a key in a segment without a hot one that was never looked up. \
         So the index answers the drawn share, and nothing else."
            .into(),
        "The index knows displacements and overflow buckets from the beginning, as after a load of the table. Its \
         entries lie in the card's memory; 16,384 of them are cached on chip, by far not all."
            .into(),
        "All answers are judged, and the counters of the RTL are those of the pure machine on the same look-ups; a \
         run in which they were not would have failed. Requests arrive without an Ethernet in between."
            .into(),
        format!(
            "In the last point {THREADS} threads of the host delete and insert keys, 1 % of all, store by store, and \
             evict each. Their limit counts the reads of the table at rest."
        ),
    ]
}
