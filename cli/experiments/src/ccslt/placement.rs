// SPDX-License-Identifier: MIT OR Apache-2.0
//! Home agent on the host against home agent on the device: what the ccSLT paper argues in
//! section 4 but does not measure.

use std::fmt::{self, Display};

use timing::Time;
use timing::platform::Side;

use super::lock_load::{self, Demand, LoadSeen, LockLoad};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Findings, Origin, Plot, Row};
use crate::samples::{Measured, Points, Run, Samples, Value};

pub const PLATFORM: &str = "n1sdp-u280-ccix";
const BUCKETS: u64 = 1 << 16;
const FEW: u64 = 64;
const CORES: u32 = 4;
const PROCESSING_ELEMENTS: u32 = 16;
const MANY_PROCESSING_ELEMENTS: u32 = 128;

/// The home agent on the host, and on the device.
type Sample = [Placement; 2];

const ON_HOST: usize = 0;
const ON_DEVICE: usize = 1;
/// Of a [`Sample`], in the labels of the rows.
const HOMES: [&str; 2] = ["home on host", "home on device"];

/// All runs with the home agent on one side.
struct Placement {
    /// The host alone, on the whole table.
    host: Measured<LoadSeen>,
    /// The device alone, on the whole table.
    device: Measured<LoadSeen>,
    /// Both at full load, on few tuples.
    both: Measured<LoadSeen>,
    /// The device alone, with as many requests as the lock unit can have open.
    many: Measured<LoadSeen>,
}

/// Measures both placements.
///
/// # Errors
/// When the simulation fails.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let points = [Side::Host, Side::Device].into_iter().flat_map(|home| {
        [Asking::Host, Asking::Device, Asking::Both, Asking::Many].map(|who| Point { home, who })
    });
    let samples = Samples::take_points(setting, &points.collect::<Vec<_>>(), measured)?;
    let samples =
        samples.map(|points| [Side::Host, Side::Device].map(|home| Placement::of(&points, home)));
    let latencies: Vec<Row> = rows(&samples, &LATENCIES);
    Ok(Findings {
        parameters: vec![
            ("lock table", "4 MiB, 65,536 buckets".into()),
            ("host", format!("{CORES} cores, one request at a time each")),
            ("device", format!("{PROCESSING_ELEMENTS} processing elements before one lock unit")),
            ("alone", "requests for any tuple of the table".into()),
            ("both", format!("both sides at full load on the same {FEW} tuples")),
        ],
        plots: vec![Plot::Bars {
            along: "mean time from asking for a lock to having it, ns",
            rows: latencies.clone(),
        }],
        rows: latencies.into_iter().chain(rows(&samples, &RATES)).collect(),
        claims: claims(&samples),
        notes: vec![
            "The paper has no measured values for this: the column is empty.".into(),
            "With the home agent on the device the table stands in the device's memory behind a \
             cache of 4 MiB on the chip (coherence.home_on_device of the platform file, whose \
             numbers are assumptions)."
                .into(),
            "The device performs its atomics at the home agent in both cases; the host's cores \
             perform theirs in their own caches."
                .into(),
        ],
        ..Findings::default()
    })
}

/// The requesters of one of the runs of a [`Placement`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asking {
    Host,
    Device,
    Both,
    Many,
}

/// Measurements without a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    home: Side,
    who: Asking,
}

impl Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HOMES[if self.home == Side::Host { ON_HOST } else { ON_DEVICE }])
    }
}

impl Placement {
    fn of(points: &Points<Point, Measured<LoadSeen>>, home: Side) -> Self {
        let at = |who| points.at(&Point { home, who }).clone();
        let [host, device] = [at(Asking::Host), at(Asking::Device)];
        Self { host, device, both: at(Asking::Both), many: at(Asking::Many) }
    }
}

fn measured(run: &Run<'_>, point: &Point) -> Result<Measured<LoadSeen>, ExperimentError> {
    let (cores, elements, tuples, microseconds) = match point.who {
        Asking::Host => (CORES, 0, BUCKETS, 8_000),
        Asking::Device => (0, PROCESSING_ELEMENTS, BUCKETS, 1_000),
        Asking::Both => (CORES, PROCESSING_ELEMENTS, FEW, 2_000),
        Asking::Many => (0, MANY_PROCESSING_ELEMENTS, BUCKETS, 1_000),
    };
    let demand = |requesters: u32| Demand { requesters, duty: f64::from(requesters.min(1)) };
    run.measured(PLATFORM, |platform| {
        Ok(lock_load::run(&LockLoad {
            platform: platform.clone(),
            home: point.home,
            buckets: BUCKETS,
            tuples,
            host: demand(cores),
            device: demand(elements),
            length: run.scaled(Time::from_us(microseconds)),
            seed: run.seed,
        })?)
    })
}

/// What, its unit, and how it comes out of a placement.
type Quantity = (&'static str, &'static str, fn(&Placement) -> Value);

const LATENCIES: [Quantity; 4] = [
    ("host alone", "ns", |runs| runs.host.value(|seen| seen.host.mean_of_acquire())),
    ("device alone", "ns", |runs| runs.device.value(|seen| seen.device.mean_of_acquire())),
    ("host, both", "ns", |runs| runs.both.value(|seen| seen.host.mean_of_acquire())),
    ("device, both", "ns", |runs| runs.both.value(|seen| seen.device.mean_of_acquire())),
];

const RATES: [Quantity; 5] = [
    ("host alone, 4 cores", "M locks/s", |runs| runs.host.value(|seen| seen.host.rate())),
    ("device alone, 16 elements", "M locks/s", |runs| runs.device.value(|seen| seen.device.rate())),
    ("device alone, 128 elements", "M locks/s", |runs| runs.many.value(|seen| seen.device.rate())),
    ("host alone, on the link", "B/lock", |runs| runs.host.value(link_bytes)),
    ("device alone, on the link", "B/lock", |runs| runs.device.value(link_bytes)),
];

fn host_ns(seen: &LoadSeen) -> f64 {
    seen.host.acquire.mean_ns
}

fn device_ns(seen: &LoadSeen) -> f64 {
    seen.device.acquire.mean_ns
}

/// Million locks a second.
fn device_rate(seen: &LoadSeen) -> f64 {
    seen.device.locks_per_second / 1e6
}

/// Bytes on the link, in both directions, for each lock taken and given back.
fn link_bytes(seen: &LoadSeen) -> (f64, u64) {
    let bytes = seen.traffic.link_bytes_to_host + seen.traffic.link_bytes_to_device;
    (bytes as f64 / seen.locks as f64, seen.locks)
}

fn rows(samples: &Samples<Sample>, quantities: &[Quantity]) -> Vec<Row> {
    let row = |&(name, unit, of): &Quantity, home: usize| {
        samples.row(format!("{name}, {}", HOMES[home]), (unit, "locks"), |sample| of(&sample[home]))
    };
    quantities.iter().flat_map(|of| [row(of, ON_HOST), row(of, ON_DEVICE)]).collect()
}

fn claims(samples: &Samples<Sample>) -> Vec<Claim> {
    let host = |runs: &Placement| host_ns(&runs.host);
    let device = |runs: &Placement| device_ns(&runs.device);
    let rate = |runs: &Placement| device_rate(&runs.many);
    let both_host = |runs: &Placement| host_ns(&runs.both);
    let both_device = |runs: &Placement| device_ns(&runs.both);
    let of =
        |value: fn(&Placement) -> f64, home: usize| samples.spread(|sample| value(&sample[home]));
    vec![
        samples.claim(
            Origin::Paper,
            "\"If the host executes a latency sensitive OLTP-style workload, it should be the one \
             acting as CCIX-HA\" (section 4).",
            |[on_host, on_device]| host(on_host) < host(on_device),
            format!(
                "A host lock takes {} ns with the home agent on the host and {} ns with it on the \
                 device, where each miss of a core's cache crosses the link twice.",
                of(host, ON_HOST),
                of(host, ON_DEVICE)
            ),
        ),
        samples.claim(
            Origin::Paper,
            "\"if the workload is NDP-update intensive …, the CCIX-HA should be placed on the \
             smart storage device\" (section 4).",
            |[on_host, on_device]| {
                device(on_device) < device(on_host) && rate(on_device) > rate(on_host)
            },
            format!(
                "A device lock takes {} ns with the home agent on the host and {} ns with it on \
                 the device; the lock unit reaches {} and {} million locks/s.",
                of(device, ON_HOST),
                of(device, ON_DEVICE),
                of(rate, ON_HOST),
                of(rate, ON_DEVICE)
            ),
        ),
        samples.claim(
            Origin::Own,
            format!(
                "The paper's first advice, with both sides at full load on the same {FEW} tuples."
            ),
            |[on_host, on_device]| both_host(on_host) < both_host(on_device),
            format!("{} ns against {} ns.", of(both_host, ON_HOST), of(both_host, ON_DEVICE)),
        ),
        samples.claim(
            Origin::Own,
            format!(
                "The paper's second advice, with both sides at full load on the same {FEW} tuples."
            ),
            |[on_host, on_device]| both_device(on_device) < both_device(on_host),
            format!(
                "{} ns against {} ns: who waits behind whom decides it, not the access alone.",
                of(both_device, ON_DEVICE),
                of(both_device, ON_HOST)
            ),
        ),
    ]
}
