// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the figures of section 5 have in common: Xenic and its rivals on six servers, each on its own cards and at
//! rising load.

use std::fmt;

use cluster_sim::run::{
    KindReport, ProtocolName, Report, Settings, Switch, Workload, XenicSettings, measure_on,
};
use timing::Time;
use timing::platform::Count;
use workloads::scenario::SmallBankAccess;

use crate::experiment::ExperimentError;
use crate::findings::Row;
use crate::samples::{Measured, Points, Run, Samples};

/// The platforms.
pub const XENIC: &str = "liquidio3";
pub const RDMA: &str = "xenic-cx5";

/// Servers, and copies of each row (section 5.1).
pub const NODES: u16 = 6;
pub const REPLICAS: u16 = 3;
/// Cores of each NIC.
pub const NIC_CORES: u8 = 24;

/// A system of section 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    Xenic,
    DrtmH,
    DrtmHNc,
    DrtmR,
    Fasst,
}

impl System {
    /// All there are.
    pub const ALL: [Self; 5] = [Self::Xenic, Self::DrtmH, Self::DrtmHNc, Self::DrtmR, Self::Fasst];

    /// As the paper calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xenic => "Xenic",
            Self::DrtmH => "DrTM+H",
            Self::DrtmHNc => "DrTM+H NC",
            Self::DrtmR => "DrTM+R",
            Self::Fasst => "FaSST",
        }
    }

    const fn protocol(self) -> ProtocolName {
        match self {
            Self::Xenic => ProtocolName::Xenic,
            Self::DrtmH => ProtocolName::DrtmH,
            Self::DrtmHNc => ProtocolName::DrtmHNc,
            Self::DrtmR => ProtocolName::DrtmR,
            Self::Fasst => ProtocolName::Fasst,
        }
    }

    /// Its platform.
    pub const fn platform(self) -> &'static str {
        match self {
            Self::Xenic => XENIC,
            _ => RDMA,
        }
    }
}

/// A workload of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    pub name: &'static str,
    pub workload: Workload,
    /// Threads and workers of a thread, as the load rises; the first is the low load.
    pub xenic: &'static [(u8, u8)],
    pub rivals: &'static [(u8, u8)],
    /// The places of the peaks among these, of Xenic and of DrTM+H.
    pub peaks: [usize; 2],
    /// Log workers of Xenic, enough that they do not bind.
    pub log_workers: u8,
    /// The most transactions under way a server that are over in some tens of microseconds.
    pub few: u16,
    /// Links of a server that are used.
    pub links: u32,
}

/// Links of Xenic's NIC (section 5).
const LINKS: u32 = 2;

/// New-orders of TPC-C with items all over the cluster (5.2).
pub const NEW_ORDER: Load = Load {
    name: "TPC-C new-order",
    workload: Workload::TpccNewOrder { warehouses_per_node: 72 },
    xenic: &[(1, 1), (4, 1), (8, 1), (8, 2), (8, 4), (8, 8)],
    rivals: &[(1, 1), (8, 1), (16, 1), (32, 1), (32, 2), (32, 4)],
    peaks: [4, 5],
    log_workers: 16,
    few: 8,
    links: LINKS,
};
/// All of TPC-C (5.3).
pub const TPCC: Load = Load {
    name: "TPC-C",
    workload: Workload::Tpcc { warehouses_per_node: 72 },
    xenic: &[(1, 1), (4, 1), (8, 2), (18, 2), (18, 4), (18, 8)],
    rivals: &[(1, 1), (8, 1), (16, 1), (32, 1), (32, 2)],
    peaks: [4, 4],
    // All that 18 threads leave.
    log_workers: 14,
    few: 8,
    links: LINKS,
};
/// The same on one link, with 384 warehouses in all (5.3).
pub const TPCC_50G: Load = Load {
    name: "TPC-C on one link",
    workload: Workload::Tpcc { warehouses_per_node: 64 },
    links: 1,
    ..TPCC
};
/// Retwis (5.4).
pub const RETWIS: Load = Load {
    name: "Retwis",
    workload: Workload::Retwis { keys_per_node: 1_000_000, exponent: 0.5 },
    xenic: &[(1, 1), (4, 4), (8, 8), (8, 16), (8, 32), (8, 64)],
    rivals: &[(1, 1), (8, 2), (16, 2), (32, 2), (32, 4), (32, 8)],
    peaks: [5, 5],
    log_workers: 8,
    few: 64,
    links: LINKS,
};
/// SmallBank (5.5).
pub const SMALL_BANK: Load = Load {
    name: "SmallBank",
    workload: Workload::SmallBankXenic {
        accounts_per_node: 2_400_000,
        hot_percent: 4.0,
        access: SmallBankAccess::Hot90,
    },
    xenic: &[(1, 1), (4, 4), (8, 8), (8, 16), (8, 32), (8, 64)],
    rivals: &[(1, 1), (8, 2), (16, 2), (32, 2), (32, 4), (32, 8)],
    peaks: [5, 5],
    log_workers: 8,
    few: 64,
    links: LINKS,
};

/// What a run of Xenic has beside its load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Own {
    /// The platform.
    pub platform: &'static str,
    /// Cores of each NIC.
    pub nic_cores: u8,
    /// Log workers of each host.
    pub log_workers: u8,
    /// Entries of each index; the usual ones if none are said.
    pub index_entries: Option<u32>,
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub system: System,
    pub load: Load,
    /// Threads of a server, and workers of a thread.
    pub at: (u8, u8),
    /// Xenic's optimisations that are off.
    pub without: &'static [Switch],
    /// What only Xenic has.
    pub own: Own,
}

impl Point {
    /// With all optimisations, and all threads of hosts and NICs.
    pub const fn new(system: System, load: Load, at: (u8, u8)) -> Self {
        let own = Own {
            platform: XENIC,
            nic_cores: NIC_CORES,
            log_workers: load.log_workers,
            index_entries: None,
        };
        Self { system, load, at, without: &[], own }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { system, load, at: (threads, workers), without, .. } = self;
        write!(f, "{}, {}, {threads} threads with {workers}", load.name, system.name())?;
        match without.is_empty() {
            true => Ok(()),
            false => {
                let names: Vec<&str> = without.iter().map(|switch| switch.name()).collect();
                write!(f, ", without {}", names.join(", "))
            }
        }
    }
}

/// All points of a system and a workload.
pub fn points(system: System, load: Load, without: &'static [Switch]) -> Vec<Point> {
    let at = if system == System::Xenic { load.xenic } else { load.rivals };
    at.iter().map(|at| Point { without, ..Point::new(system, load, *at) }).collect()
}

/// Reports of all points of a run.
pub type Sample = Points<Point, Measured<Report>>;

/// Before what is measured, and that: several times the latency, as all workers begin together and a wave of them would be
/// measured otherwise, and at low load some 300 transactions. With few log workers nobody waits for them until the cells of
/// the logs are full, which takes longer.
///
/// Where headlines are measured again and again with an assumption moved, as little as does for that.
fn lengths(point: &Point, is_shortened: bool) -> [Time; 2] {
    let [warm_up, duration] = match u16::from(point.at.0) * u16::from(point.at.1) {
        _ if point.own.log_workers < point.load.log_workers => [2000, 400],
        1 => [50, 600],
        under_way if under_way <= point.load.few => [150, 200],
        under_way if under_way > 8 * point.load.few => [800, 600],
        _ if is_shortened => [300, 200],
        _ => [400, 400],
    };
    [Time::from_us(warm_up), Time::from_us(duration)]
}

/// How much of a point is run.
#[derive(Clone, Copy, PartialEq)]
enum Length {
    /// Only so much, on so few machines, that it is seen to work.
    Small,
    /// All machines.
    Whole { is_shortened: bool },
}

fn settings(point: &Point, seed: u64, length: Length) -> Settings {
    let small = length == Length::Small;
    let [warm_up, duration] = match length {
        Length::Small => [Time::from_us(20), Time::from_us(40)],
        Length::Whole { is_shortened } => lengths(point, is_shortened),
    };
    let (threads, workers) = if small { (1, point.at.1.min(2)) } else { point.at };
    let system = point.system;
    let own = point.own;
    let usual = XenicSettings::default();
    let xenic = XenicSettings {
        nic_cores: if small { 2 } else { own.nic_cores },
        log_workers: if small { 1 } else { own.log_workers },
        index_entries: own.index_entries.unwrap_or(usual.index_entries),
        without: point.without.to_vec(),
        ..XenicSettings::for_workload(point.load.workload)
    };
    Settings {
        name: point.load.name.into(),
        protocol: system.protocol(),
        platform: if system == System::Xenic { own.platform } else { system.platform() }.into(),
        nodes: if small { 4 } else { NODES },
        threads,
        workers,
        replicas: REPLICAS,
        warm_up_us: warm_up.as_ns_f64() / 1e3,
        duration_us: duration.as_ns_f64() / 1e3,
        seed,
        workload: if small { small_form(point.load.workload) } else { point.load.workload },
        xenic: (system == System::Xenic).then_some(xenic),
        ..Settings::default()
    }
}

/// Runs a point.
///
/// # Errors
/// When the platform does not do, or a check fails.
pub fn report(run: &Run<'_>, point: &Point) -> Result<Measured<Report>, ExperimentError> {
    let settings = match run.is_small() {
        true => settings(point, run.seed, Length::Small),
        false => {
            settings(point, run.seed, Length::Whole { is_shortened: run.scaled_count(100) < 100 })
        }
    };
    match point.system {
        System::Xenic => run.on_smart_cluster(point.own.platform, |timing| {
            let mut timing = timing.clone();
            let ports = &mut timing.network.ethernet.ports;
            if point.load.links < LINKS {
                ports.set(Count(point.load.links));
            }
            Ok(measure_on(&settings, &timing)?)
        }),
        _ => run.on_cluster(RDMA, |hardware| Ok(measure_on(&settings, hardware)?)),
    }
}

/// With fewer rows.
fn small_form(workload: Workload) -> Workload {
    match workload {
        Workload::TpccNewOrder { .. } => Workload::TpccNewOrder { warehouses_per_node: 4 },
        Workload::Tpcc { .. } => Workload::Tpcc { warehouses_per_node: 4 },
        Workload::Retwis { exponent, .. } => Workload::Retwis { keys_per_node: 10_000, exponent },
        Workload::SmallBankXenic { hot_percent, access, .. } => {
            Workload::SmallBankXenic { accounts_per_node: 10_000, hot_percent, access }
        }
        other => other,
    }
}

/// Transactions a second of a server, in millions. Of TPC-C, its new-orders, by which the standard measures.
pub fn rate(report: &Report) -> f64 {
    let counted = counted(report).map_or(report.committed, |orders| orders.committed);
    report.per_second_and_node / 1e6 * (counted as f64 / report.committed.max(1) as f64)
}

/// The median latency of these, in microseconds.
pub fn median(report: &Report) -> f64 {
    counted(report).map_or(report.latency, |orders| orders.latency).p50_ns / 1e3
}

/// The kind that counts, if not all do.
fn counted(report: &Report) -> Option<&KindReport> {
    report.kinds.first().filter(|_| is_tpcc(report.settings.workload))
}

fn is_tpcc(workload: Workload) -> bool {
    matches!(workload, Workload::Tpcc { .. })
}

/// The row of the greatest throughput of these points.
pub fn greatest(samples: &Samples<Sample>, name: &str, points: &[Point]) -> Row {
    let counts = if is_tpcc(points[0].load.workload) { "new-orders" } else { "transactions" };
    samples.row(format!("{name}, greatest"), ("M/s", counts), |run| {
        peak(run, points).value(|report| {
            let committed = counted(report).map_or(report.committed, |of| of.committed);
            (rate(report), committed)
        })
    })
}

/// The point with the greatest throughput of these.
pub fn peak<'s>(sample: &'s Sample, points: &[Point]) -> &'s Measured<Report> {
    let all = points.iter().map(|point| sample.at(point));
    let best = all.max_by(|one, other| rate(one).total_cmp(&rate(other)));
    best.expect("a system has points")
}

/// Rows of throughput and median latency at each point.
pub fn rows(samples: &Samples<Sample>, points: &[Point]) -> Vec<Row> {
    let of = |point: &Point, (what, unit): (&str, &'static str), number: fn(&Report) -> f64| {
        let load = u32::from(point.at.0) * u32::from(point.at.1);
        let row = samples.row(format!("{point}: {what}"), (unit, "transactions"), |run| {
            run.at(point).value(|report| (number(report), report.committed))
        });
        row.at(
            format!("{} {what}", point.system.name()),
            "transactions under way a server",
            load.into(),
        )
    };
    let each =
        |point: &Point| [of(point, ("server", "M/s"), rate), of(point, ("median", "us"), median)];
    points.iter().flat_map(each).collect()
}

/// What binds in a run, and its use.
pub fn binding(report: &Report) -> String {
    report
        .binding()
        .map_or("nothing".into(), |of| format!("{} ({:.0} %)", of.name, 100.0 * of.busiest))
}

/// What binds at the peaks, with messages and bytes beside those counted by hand.
pub fn binding_note(samples: &Samples<Sample>, of: &[(&str, Vec<Point>)]) -> String {
    let each = |(name, points): &(&str, Vec<Point>)| {
        samples.first(|run| {
            let report = peak(run, points);
            let binding = binding(report);
            let verbs: f64 = report.traffic.iter().map(|of| of.verbs).sum();
            format!(
                "{name}: {binding}; {:.2} messages, {:.2} by hand, and {verbs:.2} verbs, {:.2} % of attempts aborted, \
                 {:.1} % rolled back",
                report.messages(),
                report.messages_by_hand(),
                100.0 * report.abort_share(),
                100.0 * report.rolled_back_share()
            )
        })
    };
    let all: Vec<String> = of.iter().map(each).collect();
    format!(
        "What binds at the greatest throughput, and what a transaction sends: {}.",
        all.join("; ")
    )
}

/// The parameters of all figures.
pub fn parameters(load: Load) -> Vec<(&'static str, String)> {
    vec![
        ("servers", format!("{NODES}, {REPLICAS} copies of each row")),
        ("workload", load.workload.title()),
        ("cards", format!("Xenic on {XENIC}, the others on {RDMA}")),
        (
            "index",
            "all rows of a server are in its NIC's index at the start, as its memory has room for an entry of each segment: \
             the paper does not say how much is used"
                .into(),
        ),
        (
            "threads",
            "those of RDMA hosts poll and slow each other down by how many there are; those of Xenic's hosts and NICs by how \
             many are busy, as its NIC's rate was published with all of them polling"
                .into(),
        ),
        ("log workers", format!("{} of each host of Xenic", load.log_workers)),
        ("bursts", "64 frames and completions on Xenic, 16 messages on the others".into()),
        ("checks", "every read at its serialization point; replicas, locks and logs at rest".into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The small forms of experiments do not run these.
    #[test]
    fn all_points_of_whole_figures_can_be_run() {
        for load in [NEW_ORDER, TPCC, TPCC_50G, RETWIS, SMALL_BANK] {
            let is_refused = |system| load.workload == TPCC.workload && system == System::Fasst;
            for system in System::ALL.into_iter().filter(|system| !is_refused(*system)) {
                for point in points(system, load, &[]) {
                    let settings = settings(&point, 1, Length::Whole { is_shortened: false });
                    // Their memory is not checked, as in the figures themselves.
                    let short = Settings { warm_up_us: 0.0, duration_us: 1.0, ..settings };
                    let checked = short.hardware().map(drop);
                    checked.unwrap_or_else(|error| panic!("{point}: {error}"));
                }
            }
        }
    }
}
