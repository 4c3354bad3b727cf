// SPDX-License-Identifier: MIT OR Apache-2.0
//! A SmartNIC whose cores are a second endpoint of the network, beside one that all traffic passes.

use cluster_sim::micro::smart_bench::{Source, copy_time, round_trip};
use cluster_sim::micro::smart_machine::Request;
use cluster_sim::nic::smart_timing::SmartTiming;
use cluster_sim::run::Report;
use timing::Time;

use super::systems::{
    Load, Own, Point, RDMA, RETWIS, SMALL_BANK, System, XENIC, binding, median, rate, report,
};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Findings, Origin, Paper, Plot, Row};
use crate::samples::{Measured, Run, Samples};

/// The platform of section 3.1: its paths with all else as on [`XENIC`].
pub const OFF_PATH: &str = "off-path";

const TO_SOC: &str = "Section 3.1: \"we measure 4.5us to SoC memory from a remote server\".";
const TO_HOST: &str = "Section 3.1: \"and 5.1us to host memory from the local SoC\".";
/// What an RDMA WRITE to the host of the same card takes from a remote server, in microseconds (section 3.1).
const DIRECT: f64 = 3.5;

/// What the text has of the BlueField.
pub const PAPER: [Paper; 2] =
    [Paper::number(4.5, TO_SOC).within(0.05), Paper::number(5.1, TO_HOST).within(0.05)];

const LOADS: [Load; 2] = [SMALL_BANK, RETWIS];
/// Bytes of a request, as in figure 2.
const BYTES: u16 = 256;

/// Round trips from a core of a NIC with nothing else under way, in microseconds.
#[derive(Clone, Copy, Debug)]
struct Paths {
    /// To the memory of another NIC.
    nic: f64,
    /// To the memory of the own host.
    own_host: f64,
    /// To the memory of another host, by the cores of its NIC.
    host: f64,
    /// The same, and back with what was read.
    host_read: f64,
}

impl Paths {
    fn of(timing: &SmartTiming) -> Result<Self, ExperimentError> {
        let trip = |request| round_trip(timing, Source::Nic, request, BYTES);
        let micro = |time: Time| time.as_ns_f64() / 1e3;
        Ok(Self {
            nic: micro(trip(Request::NicWrite)?),
            own_host: micro(copy_time(timing, false, BYTES.into(), 1)?),
            host: micro(trip(Request::HostWrite)?),
            host_read: micro(trip(Request::HostRead)?),
        })
    }
}

/// What is measured at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    /// Paths of a platform.
    Paths(&'static str),
    /// Transactions.
    Load(Point),
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Paths(platform) => write!(f, "paths of {platform}"),
            Self::Load(point) => write!(f, "{point}, {}", point.own.platform),
        }
    }
}

/// What came out at one.
enum Seen {
    Paths(Measured<Paths>),
    Load(Box<Measured<Report>>),
}

fn see(run: &Run<'_>, at: &At) -> Result<Seen, ExperimentError> {
    Ok(match at {
        At::Paths(platform) => Seen::Paths(run.on_smart_cluster(platform, Paths::of)?),
        At::Load(point) => Seen::Load(Box::new(report(run, point)?)),
    })
}

type Sample = crate::samples::Points<At, Seen>;
type Taken = Samples<Sample>;

fn paths<'s>(run: &'s Sample, platform: &'static str) -> &'s Measured<Paths> {
    match run.at(&At::Paths(platform)) {
        Seen::Paths(paths) => paths,
        Seen::Load(_) => unreachable!("paths were measured there"),
    }
}

fn of_load<'s>(run: &'s Sample, point: &Point) -> &'s Measured<Report> {
    match run.at(&At::Load(*point)) {
        Seen::Load(report) => report,
        Seen::Paths(_) => unreachable!("transactions were measured there"),
    }
}

/// The three that are compared: their names, and the points of a load, from the lowest to the highest.
fn rivals(load: Load) -> [(&'static str, [Point; 2]); 3] {
    let on = |platform| {
        [load.xenic[0], load.xenic[load.xenic.len() - 1]].map(|at| {
            let usual = Point::new(System::Xenic, load, at);
            Point { own: Own { platform, ..usual.own }, ..usual }
        })
    };
    let host = [load.rivals[0], load.rivals[load.rivals.len() - 1]]
        .map(|at| Point::new(System::DrtmH, load, at));
    [("off path", on(OFF_PATH)), ("on path", on(XENIC)), ("DrTM+H, no SmartNIC", host)]
}

/// Measures paths, and transactions on both.
///
/// # Errors
/// When a check fails.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    setting.shifts = &[];
    let loads = LOADS.iter().flat_map(|load| rivals(*load)).flat_map(|(_, points)| points);
    let all: Vec<At> =
        [OFF_PATH, XENIC].into_iter().map(At::Paths).chain(loads.map(At::Load)).collect();
    let samples = Samples::take_points(setting, &all, see)?;
    let mut rows = path_rows(&samples);
    let mut plots = Vec::new();
    for load in LOADS {
        let of: Vec<Row> = load_rows(&samples, load);
        plots.extend(of.chunks(3).map(|rows| Plot::Bars {
            along: if rows[0].unit == "us" { "median at low load" } else { "throughput" },
            rows: rows.to_vec(),
        }));
        rows.extend(of);
    }
    Ok(Findings {
        parameters: vec![
            ("paths", format!("{BYTES} bytes, one request, from a core of a NIC")),
            ("servers", "6, 3 copies of each row".into()),
            ("workloads", LOADS.map(|load| load.workload.title()).join("; ")),
            ("cards", format!("{OFF_PATH}, {XENIC}, and {RDMA} for DrTM+H")),
            ("checks", "every read at its serialization point; replicas, locks and logs at rest".into()),
        ],
        rows,
        claims: claims(&samples),
        notes: vec![
            binding_note(&samples),
            "The first two rows are inputs: entries of the platform were taken from them, so that their ratios are no \
             findings. Cores, ports and slot off the path are assumed to be the LiquidIO's, so that only the paths differ: cores \
             reach their host by RDMA and not by DMA, without vectors, and their host reaches them by messages. A message \
             between two such cores is assumed to take no longer than the RDMA WRITE that the paper measured, which \
             favours it. Of the Stingray PS225 the paper has 7.6 us to host memory from a remote server, and 8.5 from \
             its own cores; it is not modelled."
                .into(),
        ],
        plots,
        ..Findings::default()
    })
}

fn path_rows(samples: &Taken) -> Vec<Row> {
    type Number = fn(&Paths) -> f64;
    let of = |platform, what: &str, number: Number| {
        let name = if platform == OFF_PATH { "off path" } else { "on path" };
        samples.row(format!("{what}, {name}"), ("us", "requests"), |run| {
            paths(run, platform).value(|paths| (number(paths), 1))
        })
    };
    let kinds: [(&str, Number); 4] = [
        ("write to the memory of another NIC", |of| of.nic),
        ("write to the memory of the own host", |of| of.own_host),
        ("write to the memory of another host, by its NIC", |of| of.host),
        ("read of the memory of another host, by its NIC", |of| of.host_read),
    ];
    let mut rows = Vec::new();
    for (place, (what, number)) in kinds.into_iter().enumerate() {
        rows.push(of(OFF_PATH, what, number).beside(PAPER.get(place).copied()));
        rows.push(of(XENIC, what, number));
    }
    rows
}

/// Medians at low load, then rates at the highest.
fn load_rows(samples: &Taken, load: Load) -> Vec<Row> {
    let row = |name: &str, point: &Point, (what, unit), number: fn(&Report) -> f64| {
        samples.row(format!("{}, {name}: {what}", load.name), (unit, "transactions"), |run| {
            of_load(run, point).value(|report| (number(report), report.committed))
        })
    };
    let medians =
        rivals(load).map(|(name, [low, _])| row(name, &low, ("median at low load", "us"), median));
    let rates = rivals(load).map(|(name, [_, high])| row(name, &high, ("throughput", "M/s"), rate));
    medians.into_iter().chain(rates).collect()
}

fn claims(samples: &Taken) -> Vec<Claim> {
    let number =
        |platform, of: fn(&Paths) -> f64| samples.spread(|run| of(paths(run, platform))).median;
    let mut all = vec![
        samples.claim(
            Origin::Paper,
            format!(
                "\"operations accessing host DRAM cannot be offloaded to the SoC without a prohibitive latency cost\" (section \
                 3.1): by the cores of the NIC, a write takes more than twice the {DIRECT} us of an RDMA WRITE that passes \
                 them by."
            ),
            |run| paths(run, OFF_PATH).host > 2.0 * DIRECT,
            format!(
                "{:.2} us off the path, {:.2} on it.",
                number(OFF_PATH, |of| of.host),
                number(XENIC, |of| of.host)
            ),
        ),
        samples.claim(
            Origin::Own,
            "What crosses to the host costs more of the difference than what stays between NICs.",
            |run| {
                let [off, on] = [OFF_PATH, XENIC].map(|platform| paths(run, platform));
                (off.host - on.host) > 2.0 * (off.nic - on.nic)
            },
            format!(
                "{:.2} us more between NICs, {:.2} more to a host's memory.",
                number(OFF_PATH, |of| of.nic) - number(XENIC, |of| of.nic),
                number(OFF_PATH, |of| of.host) - number(XENIC, |of| of.host)
            ),
        ),
    ];
    for load in LOADS {
        let [off, on, host] = rivals(load).map(|(_, points)| points);
        let ratio = |run: &Sample, one: &Point, other: &Point, of: fn(&Report) -> f64| {
            of(of_load(run, one)) / of(of_load(run, other))
        };
        let median_of = |other: Point| samples.spread(|run| ratio(run, &off[0], &other, median));
        all.push(samples.claim(
            Origin::Paper,
            format!(
                "{}: off the path, Xenic's median at low load is above that of a system without SmartNICs (section 4.3.4: \
                 \"precluding Xenic's latency reduction goal\").",
                load.name
            ),
            |run| ratio(run, &off[0], &host[0], median) > 1.0,
            format!(
                "{:.2} times DrTM+H's, {:.2} times that on the path.",
                median_of(host[0]),
                median_of(on[0])
            ),
        ));
        let less = samples.spread(|run| ratio(run, &off[1], &on[1], rate));
        all.push(samples.claim(
            Origin::Own,
            format!("{}: off the path, the throughput is lower.", load.name),
            |run| ratio(run, &off[1], &on[1], rate) < 1.0,
            format!("{less:.2} times that on the path."),
        ));
    }
    all
}

fn binding_note(samples: &Taken) -> String {
    let of = |load: Load| {
        let each = rivals(load).map(|(name, [_, high])| {
            samples.first(|run| format!("{name}: {}", binding(of_load(run, &high))))
        });
        format!("{}, {}", load.name, each.join("; "))
    };
    format!("What binds at the highest load: {}.", LOADS.map(of).join(". "))
}
