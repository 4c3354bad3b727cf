// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figure 4 of the ccSLT paper: what a lock request costs host and device as the load of the
//! other side goes from nothing to as much as it can.

use std::fmt::{self, Display};

use timing::Time;
use timing::platform::Side;

use super::lock_load::{self, Demand, LoadSeen, LockLoad, Seen};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Colour, Curve, Findings, Origin, Paper, Plot, Point, Row, Stroke};
use crate::samples::{Measured, Points, Run, Samples, Spread};

pub const HOST_ALONE: Paper = Paper::range(
    80.0,
    100.0,
    "section 4, experiment 1: \"tuple versions can be locked on the host with low \
            latencies of 80-100ns\"",
);
pub const HOST_CONTENDED: Paper = Paper::number(
    400.0,
    "section 4, experiment 1: \"the host still provides robust performance with latencies \
            around 400ns\"",
);
pub const DEVICE: Paper = Paper::number(
    800.0,
    "section 4, experiment 1: \"the device is able to maintain constant locklatencies of \
            800ns\"",
);

pub const PLATFORM: &str = "n1sdp-u280-ccix";
const LOADS: [u32; 6] = [0, 20, 40, 60, 80, 100];
const CORES: u32 = 4;
const PROCESSING_ELEMENTS: u32 = 16;
/// Of a table of 4 MiB.
const BUCKETS: u64 = 1 << 16;
/// Few enough for both sides to meet. The paper says nothing of how many tuples took part; among
/// the numbers of [`SWEEP`] this one's curve ends nearest to the paper's 400 ns.
const FEW: u64 = 64;
/// How much hangs on that choice: both sides at full load on so many tuples.
const SWEEP: [u64; 5] = [16, 64, 256, 1024, 4096];

/// Measurements without a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Measuring {
    /// A point of a curve: this side at full load, the other one at that of [`LOADS`].
    Curve { side: Side, case: usize, load: usize },
    /// Both sides at full load on so many tuples.
    Sweep { tuples: u64 },
}

/// Everything that was measured under one seed.
type Sample = Points<Measuring, Measured<LoadSeen>>;

const FEW_TUPLES: usize = 0;
const WHOLE_TABLE: usize = 1;
/// Of [`Sample::cases`], in the labels of the rows.
const CASES: [&str; 2] = ["few tuples", "whole table"];
/// Of a curve: the other side idle, and at full load.
const IDLE: usize = 0;
const FULL: usize = LOADS.len() - 1;
const ACROSS: &str = "load of the other side, %";

impl Sample {
    fn load(&self, side: Side, case: usize, load: usize) -> &Measured<LoadSeen> {
        self.at(&Measuring::Curve { side, case, load })
    }

    fn seen(&self, side: Side, case: usize, load: usize) -> &Seen {
        self.load(side, case, load).side(side)
    }

    fn mean(&self, side: Side, case: usize, load: usize) -> f64 {
        self.seen(side, case, load).acquire.mean_ns
    }
}

/// Measures both cases.
///
/// # Errors
/// When the simulation fails.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let samples = Samples::take_points(setting, &Measuring::all(), measured)?;
    Ok(Findings {
        parameters: vec![
            ("home agent", "host".into()),
            ("lock table", "4 MiB, 65,536 buckets".into()),
            ("host", format!("{CORES} cores, one request at a time each")),
            ("device", format!("{PROCESSING_ELEMENTS} processing elements before one lock unit")),
            ("few tuples", format!("both sides draw from the same {FEW}; chosen, see the sweep")),
            ("whole table", format!("both sides draw from the same {BUCKETS}")),
            ("load", "part of the time in which the other side's requesters are at work".into()),
        ],
        rows: rows(&samples),
        claims: host_claims(&samples).into_iter().chain(device_claims(&samples)).collect(),
        notes: notes(&samples),
        plots: vec![plot(&samples)],
        ..Findings::default()
    })
}

impl Measuring {
    fn all() -> Vec<Self> {
        let loads = |case| (0..LOADS.len()).map(move |load| (case, load));
        let points = (0..CASES.len()).flat_map(loads);
        let curves = points.flat_map(|(case, load)| {
            [Side::Host, Side::Device].map(|side| Self::Curve { side, case, load })
        });
        curves.chain(SWEEP.map(|tuples| Self::Sweep { tuples })).collect()
    }
}

impl Display for Measuring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Curve { case, load, .. } => {
                write!(f, "{}, load {} %", CASES[*case], LOADS[*load])
            }
            Self::Sweep { tuples } => write!(f, "both sides on {tuples} tuples"),
        }
    }
}

fn measured(run: &Run<'_>, point: &Measuring) -> Result<Measured<LoadSeen>, ExperimentError> {
    match *point {
        Measuring::Curve { side, case, load: other } => {
            let (tuples, length) = match case {
                FEW_TUPLES => (FEW, Time::from_us(2_000)),
                // All of a large table has to be visited often, for caches to be as they stay.
                _ => (BUCKETS, Time::from_us(8_000)),
            };
            let other = f64::from(LOADS[other]) / 100.0;
            let duties = if side == Side::Host { (1.0, other) } else { (other, 1.0) };
            load(run, tuples, length, duties)
        }
        Measuring::Sweep { tuples } => load(run, tuples, Time::from_us(2_000), (1.0, 1.0)),
    }
}

/// Both sides on `tuples` tuples, each for its part of the time (`duties`: host, device).
fn load(
    run: &Run<'_>,
    tuples: u64,
    length: Time,
    duties: (f64, f64),
) -> Result<Measured<LoadSeen>, ExperimentError> {
    run.measured(PLATFORM, |platform| {
        Ok(lock_load::run(&LockLoad {
            platform: platform.clone(),
            home: Side::Host,
            buckets: BUCKETS,
            tuples,
            host: Demand { requesters: CORES, duty: duties.0 },
            device: Demand { requesters: PROCESSING_ELEMENTS, duty: duties.1 },
            length: run.scaled(length),
            seed: run.seed,
        })?)
    })
}

/// The paper's value for a point of a curve.
fn paper(side: Side, load: usize) -> Option<Paper> {
    match (side, load) {
        (Side::Host, IDLE) => Some(HOST_ALONE),
        (Side::Host, FULL) => Some(HOST_CONTENDED),
        (Side::Host, _) => None,
        (Side::Device, _) => Some(DEVICE),
    }
}

fn rows(samples: &Samples<Sample>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (case, name) in CASES.into_iter().enumerate() {
        for (side, of) in [("host", Side::Host), ("device", Side::Device)] {
            for (load, percent) in LOADS.into_iter().enumerate() {
                let series = format!("{side}, {name}");
                let label = format!("{series}, other side at {percent} %");
                let row = samples.row(label, ("ns", "locks"), |sample| {
                    sample.load(of, case, load).value(|seen| seen.side(of).mean_of_acquire())
                });
                let row = row.at(series, ACROSS, f64::from(percent));
                rows.push(row.beside(paper(of, load)));
            }
        }
    }
    for tuples in SWEEP {
        let label = |side: &str| format!("{side}, both at 100 % on {tuples} tuples");
        for (side, of) in [("host", Side::Host), ("device", Side::Device)] {
            let row = samples.row(label(side), ("ns", "locks"), |sample| {
                sample
                    .at(&Measuring::Sweep { tuples })
                    .value(|seen| seen.side(of).mean_of_acquire())
            });
            let series = format!("{side}, both sides at 100 %");
            rows.push(row.at(series, "tuples", tuples as f64));
        }
    }
    rows
}

/// The mean times of a point over all seeds.
fn mean(samples: &Samples<Sample>, side: Side, case: usize, load: usize) -> Spread {
    samples.spread(|sample| sample.mean(side, case, load))
}

fn host_claims(samples: &Samples<Sample>) -> [Claim; 3] {
    let ns = |case, load| mean(samples, Side::Host, case, load);
    let of = |sample: &Sample, case, load| sample.mean(Side::Host, case, load);
    let full = |sample: &Sample| sample.seen(Side::Host, FEW_TUPLES, FULL).clone();
    [
        samples.claim(
            Origin::Paper,
            "\"Under low contention, tuple versions can be locked on the host with low latencies \
             of 80-100ns\" (section 4).",
            |sample| {
                let alone = [FEW_TUPLES, WHOLE_TABLE].map(|case| of(sample, case, IDLE));
                alone.into_iter().all(|ns| HOST_ALONE.agrees_with(ns))
            },
            format!(
                "{} ns for few tuples, whose lines move between the four cores, and {} ns for the \
                 whole table, of which each core's cache has a part.",
                ns(FEW_TUPLES, IDLE),
                ns(WHOLE_TABLE, IDLE)
            ),
        ),
        samples.claim(
            Origin::Paper,
            "\"Under high contention … the host still provides robust performance with latencies \
             around 400ns\" (section 4), for few tuples.",
            |sample| HOST_CONTENDED.agrees_with(of(sample, FEW_TUPLES, FULL)),
            format!(
                "{} ns on average for {FEW} tuples; for more or fewer it does not, see the sweep. \
                 It is a mixture: {} % of the requests wait for a lock that the device holds, for \
                 microseconds, since the device gives a lock back no faster than it takes it; the \
                 others take {} ns.",
                ns(FEW_TUPLES, FULL),
                samples.spread(|sample| 100.0 * full(sample).waited),
                samples.spread(|sample| full(sample).at_once.mean_ns)
            ),
        ),
        samples.claim(
            Origin::Paper,
            "The same for the whole table.",
            |sample| HOST_CONTENDED.agrees_with(of(sample, WHOLE_TABLE, FULL)),
            format!(
                "{} ns: among {BUCKETS} tuples the two sides hardly ever meet, and far atomics \
                 leave no copy on the device that the host would have to call back.",
                ns(WHOLE_TABLE, FULL)
            ),
        ),
    ]
}

fn device_claims(samples: &Samples<Sample>) -> [Claim; 2] {
    let ns = |case, load| mean(samples, Side::Device, case, load);
    let is_constant = |sample: &Sample, case| {
        let [idle, full] = [IDLE, FULL].map(|load| sample.mean(Side::Device, case, load));
        (full / idle - 1.0).abs() <= 0.1 && DEVICE.agrees_with(full)
    };
    [
        samples.claim(
            Origin::Paper,
            "The device's latency is \"unaffected by the increased contention\" (section 4), for \
             the whole table.",
            |sample| is_constant(sample, WHOLE_TABLE),
            format!(
                "{} ns alone, {} ns with the host at full load: two crossings of the link and a \
                 few cycles of the lock unit, whatever the host does.",
                ns(WHOLE_TABLE, IDLE),
                ns(WHOLE_TABLE, FULL)
            ),
        ),
        samples.claim(
            Origin::Paper,
            "The same for few tuples.",
            |sample| is_constant(sample, FEW_TUPLES),
            format!(
                "{} ns alone, {} ns with the host at full load, on average; half of the requests \
                 take no more than {} ns at full load. The average is above it because processing \
                 elements meet each other, and a request that has to queue crosses the link at \
                 least four times.",
                ns(FEW_TUPLES, IDLE),
                ns(FEW_TUPLES, FULL),
                samples.spread(|of| of.seen(Side::Device, FEW_TUPLES, FULL).acquire.p50_ns)
            ),
        ),
    ]
}

fn notes(samples: &Samples<Sample>) -> Vec<String> {
    let full = |side, case, of: fn(&Seen) -> f64| {
        samples.spread(|sample| of(sample.seen(side, case, FULL)))
    };
    let tail = |case: usize| {
        let ends = |side| {
            let median = full(side, case, |seen| seen.acquire.p50_ns);
            format!("{median} and {} ns", full(side, case, |seen| seen.acquire.p99_ns))
        };
        format!(
            "{}: {} on the host, {} on the device",
            CASES[case],
            ends(Side::Host),
            ends(Side::Device)
        )
    };
    vec![
        "Measured is the mean time from asking for a lock to having it, waiting included. The \
         lock is given back at once."
            .into(),
        format!(
            "The paper's text gives the ends of the curves; it does not say how many tuples, cores \
             and processing elements took part, nor what a per cent of load is. {FEW} tuples were \
             chosen because that curve ends nearest to the paper's. So it shows that waiting for \
             each other's locks can make the host's rise, not that it did."
        ),
        "The paper's lock is one that shifts a queue; ours hands over in one compare-and-swap. \
         So the middle of the curves need not be the paper's."
            .into(),
        format!(
            "Median and 99th percentile with both sides at full load, for {}; for {}.",
            tail(FEW_TUPLES),
            tail(WHOLE_TABLE)
        ),
        format!(
            "Giving the lock back takes {} ns on the host and {} ns on the device, for few tuples \
             with both sides at full load.",
            full(Side::Host, FEW_TUPLES, |seen| seen.release.mean_ns),
            full(Side::Device, FEW_TUPLES, |seen| seen.release.mean_ns)
        ),
    ]
}

fn plot(samples: &Samples<Sample>) -> Plot {
    let curve = |(side, name, colour): (Side, &str, Colour), case: usize| Curve {
        name: format!("{name}, {}", CASES[case]),
        colour,
        stroke: if case == WHOLE_TABLE { Stroke::DASHED } else { Stroke::Solid },
        points: LOADS
            .iter()
            .enumerate()
            .map(|(load, &percent)| {
                Point::measured(f64::from(percent), mean(samples, side, case, load))
            })
            .collect(),
    };
    let host = (Side::Host, "host", Colour::Host);
    let device = (Side::Device, "device", Colour::Device);
    let paper = |name: &str, stroke, ends: [Paper; 2]| {
        let [first, last] = ends;
        let points = vec![Point::paper(0.0, first), Point::paper(100.0, last)];
        Curve { name: name.into(), colour: Colour::Paper, stroke, points }
    };
    Plot::Lines {
        across: ACROSS,
        up: "mean time from asking for a lock to having it, ns",
        curves: vec![
            curve(host, FEW_TUPLES),
            curve(device, FEW_TUPLES),
            curve(host, WHOLE_TABLE),
            curve(device, WHOLE_TABLE),
            // The text has nothing between the ends.
            paper("paper: host, ends only", Stroke::Marks, [HOST_ALONE, HOST_CONTENDED]),
            paper("paper: device", Stroke::DOTTED, [DEVICE, DEVICE]),
        ],
    }
}
