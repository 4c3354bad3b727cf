// SPDX-License-Identifier: MIT OR Apache-2.0
//! Xenic with the RTL of the look-ups at one node, beside the timed model at all of them.

use std::fmt;

use cluster_sim::run::{
    DataPathReport, Ground, InLoop, ProtocolName, Report, Settings, Workload, XenicSettings,
    measure_in_loop, measure_on,
};
use cluster_sim::world::DataPath;
use nic_runs::RtlNode;
use workloads::scenario::SmallBankAccess;

use super::systems::{NODES, REPLICAS, XENIC, median, rate};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Findings, Origin, Row};
use crate::samples::{Measured, Points, Run, Samples};

/// Accounts of a server: the host's table is stored. As many of them are hot as with the paper's 2.4 million.
const ACCOUNTS: u64 = 200_000;
const HOT_PERCENT: f64 = 48.0;
/// Below this part of its length a run is on a small cluster.
const SMALL: f64 = 0.1;
/// How far throughput may be from that of the timed model.
const WITHIN: f64 = 0.05;

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    /// Threads, and workers of a thread.
    at: (u8, u8),
    /// Whether the index has cached all rows at the start.
    is_warm: bool,
    /// Whether the first node's data path is the RTL.
    is_rtl: bool,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at: (threads, workers), is_warm, is_rtl } = self;
        let index = if *is_warm { "warm" } else { "cold" };
        let path = if *is_rtl { "RTL" } else { "timed model" };
        write!(f, "{threads} threads with {workers}, {index} index, {path}")
    }
}

const LOADS: [(u8, u8); 3] = [(1, 1), (4, 4), (8, 16)];

fn points(loads: &[(u8, u8)]) -> Vec<Point> {
    let of_load = |at: &(u8, u8)| {
        [(true, false), (true, true), (false, false), (false, true)]
            .map(|(is_warm, is_rtl)| Point { at: *at, is_warm, is_rtl })
    };
    loads.iter().flat_map(of_load).collect()
}

type Sample = Points<Point, Measured<Report>>;

/// Runs all points.
///
/// # Errors
/// When a check fails, or the RTL answers otherwise than the machines.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    setting.shifts = &[];
    // A length that is only to see that all works has one load, as a model of RTL takes a while to begin.
    let loads = if setting.scale < SMALL { &LOADS[..1] } else { &LOADS[..] };
    let samples = Samples::take_points(setting, &points(loads), report)?;
    Ok(Findings {
        parameters: vec![
            ("servers", format!("{NODES}, {REPLICAS} copies of each row, on {XENIC}")),
            ("workload", workload(false).title()),
            (
                "RTL",
                "nic_lookup with eight objects an entry, at 250 MHz, for the data path of the first server's NIC"
                    .into(),
            ),
            (
                "checks",
                "each answer of the RTL beside that of the machines, in their order; every read at its \
                 serialization point; replicas, locks and logs at rest"
                    .into(),
            ),
        ],
        rows: rows(&samples, loads),
        claims: claims(&samples, loads),
        notes: vec![
            "A core of the NIC waits in its burst until the RTL has answered all that it has asked for, and a read \
             of a row ends when the RTL has looked it up. In the timed model, each operation on the index takes the \
             core the time of the platform's entry, which is longer the more cores are busy, and each read that of \
             the modelled DMA queues."
                .into(),
        ],
        ..Findings::default()
    })
}

fn workload(is_small: bool) -> Workload {
    let accounts_per_node = if is_small { 2_000 } else { ACCOUNTS };
    let (hot_percent, access) = (HOT_PERCENT, SmallBankAccess::Hot90);
    Workload::SmallBankXenic { accounts_per_node, hot_percent, access }
}

fn report(run: &Run<'_>, point: &Point) -> Result<Measured<Report>, ExperimentError> {
    let small = run.is_small();
    let (threads, workers) = if small { (1, point.at.1.min(2)) } else { point.at };
    let (warm_up_us, duration_us) = match (small, point.at) {
        (true, _) => (10.0, 20.0),
        (false, (1, 1)) => (50.0, 600.0),
        (false, _) => (50.0, 200.0),
    };
    let settings = Settings {
        name: "SmallBank".into(),
        protocol: ProtocolName::Xenic,
        platform: XENIC.into(),
        nodes: if small { 3 } else { NODES },
        threads,
        workers,
        replicas: REPLICAS,
        warm_up_us,
        duration_us,
        seed: run.seed,
        workload: workload(small),
        xenic: Some(XenicSettings {
            nic_cores: if small { 2 } else { 24 },
            log_workers: if small { 1 } else { 8 },
            warm_index: point.is_warm,
            ..XenicSettings::default()
        }),
        ..Settings::default()
    };
    run.on_smart_cluster(XENIC, |timing| {
        if !point.is_rtl {
            return Ok(measure_on(&settings, timing)?);
        }
        let mut make =
            |ground: Ground<'_>| Ok(Box::new(RtlNode::new(0, ground, None)?) as Box<dyn DataPath>);
        Ok(measure_in_loop(&settings, timing, InLoop { node: 0, make: &mut make })?)
    })
}

/// What the RTL of a run did.
fn path(report: &Report) -> &DataPathReport {
    report.data_path.as_ref().expect("the run had an RTL")
}

fn hit_share(report: &Report) -> f64 {
    let of = path(report);
    100.0 * of.hits.count as f64 / (of.hits.count + of.misses.count).max(1) as f64
}

fn stalled(report: &Report) -> f64 {
    100.0 * path(report).stalls as f64 / path(report).clocks.max(1) as f64
}

fn rows(samples: &Samples<Sample>, loads: &[(u8, u8)]) -> Vec<Row> {
    let row = |point: Point, what: &str, unit, of: fn(&Report) -> f64| {
        samples.row(format!("{point}: {what}"), (unit, "transactions"), |run| {
            run.at(&point).value(|report| (of(report), report.committed))
        })
    };
    let of_point = |point: Point| {
        let mut rows = vec![row(point, "server", "M/s", rate), row(point, "median", "us", median)];
        if point.is_rtl {
            rows.extend([
                row(point, "hits", "%", hit_share),
                row(point, "answer of a hit", "ns", |report| path(report).hits.mean_ns),
                row(point, "clocks with a stalled port", "%", stalled),
            ]);
            // With a warm index there may be none.
            if !point.is_warm {
                let mean = |report: &Report| path(report).misses.mean_ns;
                rows.push(row(point, "answer of a miss", "ns", mean));
            }
        }
        rows
    };
    points(loads).into_iter().flat_map(of_point).collect()
}

fn claims(samples: &Samples<Sample>, loads: &[(u8, u8)]) -> Vec<Claim> {
    let ratio = |run: &Sample, at, is_warm| {
        let of = |is_rtl| rate(run.at(&Point { at, is_warm, is_rtl }));
        of(true) / of(false)
    };
    let all = loads.iter().flat_map(|at| [(*at, true), (*at, false)]);
    let found: Vec<String> = all
        .clone()
        .map(|(at, is_warm)| {
            let index = if is_warm { "warm" } else { "cold" };
            let of = samples.spread(|run| ratio(run, at, is_warm));
            format!("{of:.3} with {} threads of {} and a {index} index", at.0, at.1)
        })
        .collect();
    let is_near =
        |run: &Sample| all.clone().all(|(at, warm)| (ratio(run, at, warm) - 1.0).abs() < WITHIN);
    vec![samples.claim(
        Origin::Goal,
        "With the RTL at one server of six, the cluster's throughput is within 5 % of the timed model's.",
        is_near,
        format!("Of the timed model's: {}.", found.join(", ")),
    )]
}
