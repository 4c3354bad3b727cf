// SPDX-License-Identifier: MIT OR Apache-2.0
//! FaSST's micro-figures: RPCs by datagrams beside READs over connections.

use cluster_sim::micro::figures::{self, Case};

use crate::experiment::{Clock, Experiment, ExperimentError, Setting};
use crate::findings::{Claim, Findings, Origin, Paper};
use crate::rdma::{Point, Taken, find, near, notes, plot, rows, spread, take};

use super::clusters::{CIB, CX3};

const FIG1: [Paper; 10] = [
    near(34.9, "Section 3.3.1: \"34.9-40.9 Mrps on CIB\", with batches of 1"),
    near(40.9, "Section 3.3.1: \"34.9-40.9 Mrps on CIB\", with batches of 11"),
    near(11.6, "Section 3.3.1: \"11.6-12.3 Mrps on CX3\", with batches of 1"),
    near(12.3, "Section 3.3.1: \"11.6-12.3 Mrps on CX3\", with batches of 11"),
    near(51.2, "Section 3.3.1: READs deliver \"51.2 Mrps on CIB\""),
    near(11.2, "Section 3.3.1: \"READs deliver up to 11.2 Mrps on CX3\""),
    near(23.1, "Section 3.3.1: \"On CIB, 384-byte READs achieve 23.1 Mrps\""),
    near(6.5, "Section 3.3.1: READs of 384 bytes \"can achieve up to 6.5 Mrps/machine on CX3\""),
    near(11.4, "Section 3.3.1: 8 bytes and 40 \"can achieve 11.4-11.8 Mrps/machine\" on CX3"),
    near(11.8, "Section 3.3.1: 8 bytes and 40 \"can achieve 11.4-11.8 Mrps/machine\" on CX3"),
];

const FIG2: [Paper; 1] = [near(
    2.69,
    "Section 3.3.2: \"READ throughput drops to 24% of its peak with as few as 22 emulated nodes\", of 11.2",
)];

const FIG3: [Paper; 2] = [
    near(10.9, "Section 3.3.2: \"throughput is high-up to 10.9 Mrps\""),
    near(2.0, "Section 3.3.2: \"sharing between 3 threads, however, is 5.4x lower (2 Mrps)\""),
];

const FIG4: [Paper; 4] = [
    near(2.6, "Section 4.5: \"our baseline achieves 2.6 Mrps\""),
    near(3.4, "Section 4.5: \"with one request per batch is 3.4 Mrps\""),
    near(4.0, "Section 4.5: \"With a request batch size of 3 [...] FaSST RPCs achieve 4 Mrps\""),
    near(4.3, "Section 4.5: \"With 11 requests per batch, FaSST RPCs achieve 4.3 Mrps\""),
];

const DCT: [Paper; 2] = [
    near(51.2, "Section 3.3.1: READs deliver \"51.2 Mrps on CIB\""),
    near(22.9, "Section 7.1: \"We achieve only up to 22.9 Mrps per machine-55.3% lower\""),
];

/// The part of it that is measured again.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "fasst-fig1",
        title: "RPCs by datagrams beside READs, by the size of the answer",
        source: "FaSST (OSDI 2016), section 3.3.1, figure 1",
        clock: Clock::Virtual,
        platforms: &[CIB.platform, CX3.platform],
        paper: &FIG1,
        run: fig1,
    },
    Experiment {
        name: "fasst-fig2",
        title: "READs as a cluster grows, and its queue pairs with it",
        source: "FaSST (OSDI 2016), section 3.3.2, figure 2",
        clock: Clock::Virtual,
        platforms: &[CIB.platform, CX3.platform],
        paper: &FIG2,
        run: fig2,
    },
    Experiment {
        name: "fasst-fig3",
        title: "READs of threads that share queue pairs",
        source: "FaSST (OSDI 2016), section 3.3.2, figure 3",
        clock: Clock::Virtual,
        platforms: &[CIB.platform],
        paper: &FIG3,
        run: fig3,
    },
    Experiment {
        name: "fasst-fig4",
        title: "RPCs of one core, optimization by optimization",
        source: "FaSST (OSDI 2016), section 4.5, figure 4",
        clock: Clock::Virtual,
        platforms: &[CIB.platform, CX3.platform],
        paper: &FIG4,
        run: fig4,
    },
    Experiment {
        name: "fasst-dct",
        title: "READs over dynamically connected transport",
        source: "FaSST (OSDI 2016), section 7.1",
        clock: Clock::Virtual,
        platforms: &[CIB.platform],
        paper: &DCT,
        run: dct,
    },
];

/// What the figures differ in.
struct Figure {
    cases: Vec<Case>,
    paper: &'static [Paper],
    /// Across and upwards.
    axes: (&'static str, &'static str),
    operations: &'static str,
    parameters: Vec<(&'static str, String)>,
    claims: fn(&Taken, &[Point]) -> Vec<Claim>,
}

impl Figure {
    fn measure(self, setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
        let (points, samples) = take(setting, &self.cases)?;
        let (across, up) = self.axes;
        let platforms = [CIB.platform, CX3.platform].into_iter();
        let there = |name: &&str| points.iter().any(|point| point.0.platform == *name);
        Ok(Findings {
            parameters: self.parameters,
            rows: rows(&samples, &points, self.paper, (across, self.operations)),
            claims: (self.claims)(&samples, &points),
            notes: notes(&samples, &points),
            plots: platforms
                .filter(there)
                .map(|name| plot(&samples, &points, name, across, up))
                .collect(),
            ..Findings::default()
        })
    }
}

const A_MACHINE: &str = "requests a second of a machine, M";

fn fig1(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let parameters = vec![
        ("machines", "each asks 11 others with RPCs, and 6 others with READs".into()),
        ("threads", "14 a machine of CIB, 8 of CX3, with 20 workers each".into()),
        ("requests", "32 bytes, each of a batch to another machine".into()),
    ];
    let axes = ("bytes", A_MACHINE);
    let cases = figures::fasst_fig1();
    let claims = fig1_claims;
    Figure { cases, paper: &FIG1, axes, operations: "requests", parameters, claims }
        .measure(setting)
}

const RPCS: [&str; 2] = ["RPC, batches of 1", "RPC, batches of 11"];

fn fig1_claims(samples: &Taken, points: &[Point]) -> Vec<Claim> {
    let reads: Vec<&Point> = points.iter().filter(|point| point.0.series == "READ").collect();
    // An RPC and the READ of the same size.
    let pairs: Vec<(&Point, &Point)> = reads
        .iter()
        .flat_map(|read| {
            let (platform, size) = (read.0.platform, read.0.across);
            RPCS.into_iter()
                .filter_map(move |series| Some((find(points, platform, series, size)?, *read)))
        })
        .collect();
    if pairs.is_empty() {
        return Vec::new();
    }
    let ratio = |(rpc, read): &(&Point, &Point)| {
        samples.spread(|run| run.at(rpc).value / run.at(read).value).median
    };
    let ratios: Vec<f64> = pairs.iter().map(ratio).collect();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    let because = format!("RPCs reach {:.0} to {:.0} % of READs.", 100.0 * least, 100.0 * most);
    vec![
        samples.claim(
            Origin::Paper,
            "\"In all cases (i.e., regardless of cluster used, response size, and request batch size), RPCs provide \
             higher throughput than using 2 READs\" (section 3.3.1).",
            |run| pairs.iter().all(|(rpc, read)| run.at(rpc).value > run.at(read).value / 2.0),
            because.clone(),
        ),
        samples.claim(
            Origin::Paper,
            "\"For larger responses, READs usually outperform our RPCs, but the difference is smaller than 4x\" \
             (section 3.3.1).",
            |run| {
                let large = || pairs.iter().filter(|(_, read)| read.0.across > 56.0);
                let ahead =
                    large().filter(|(rpc, read)| run.at(rpc).value < run.at(read).value).count();
                let close =
                    large().all(|(rpc, read)| run.at(rpc).value > run.at(read).value / 4.0);
                close && 2 * ahead > large().count()
            },
            because,
        ),
    ]
}

fn fig2(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let parameters = vec![
        (
            "machines",
            "each asks 11 others; more are emulated by as many times the queue pairs".into(),
        ),
        ("threads", "14 a machine of CIB, 8 of CX3, with 20 READs of 32 bytes under way".into()),
    ];
    let axes = ("machines", A_MACHINE);
    let cases = figures::fasst_fig2();
    let claims = fig2_claims;
    Figure { cases, paper: &FIG2, axes, operations: "requests", parameters, claims }
        .measure(setting)
}

fn fig2_claims(samples: &Taken, points: &[Point]) -> Vec<Claim> {
    let read = |platform: &str, nodes: f64| find(points, platform, "READ", nodes);
    let of = |platform: &str| {
        Some([
            find(points, platform, "READ, fewest nodes", 6.0)?,
            read(platform, 11.0)?,
            read(platform, 22.0)?,
            read(platform, 33.0)?,
            find(points, platform, "RPC, batches of 11", 11.0)?,
        ])
    };
    let (Some(cib), Some(cx3)) = (of(CIB.platform), of(CX3.platform)) else { return Vec::new() };
    let text = |all: [&Point; 5]| {
        let [six, eleven, more, most, rpc] =
            all.map(|point| samples.spread(|run| run.at(point).value).median);
        format!(
            "{six:.1}, {eleven:.1}, {more:.1}, {most:.1} M/s with 6, 11, 22, 33; RPCs {rpc:.1}."
        )
    };
    let (Some(cib_last), Some(cx3_last)) = (read(CIB.platform, 110.0), read(CX3.platform, 110.0))
    else {
        return Vec::new();
    };
    vec![
        samples.claim(
            Origin::Paper,
            "\"NIC cache misses occur with as few as 11 nodes\" (section 3.3.2).",
            |run| [cib, cx3].iter().all(|of| run.at(of[1]).value < run.at(of[0]).value),
            format!("CIB: {} CX3: {}", text(cib), text(cx3)),
        ),
        samples.claim(
            Origin::Paper,
            "\"On CIB, READs lose their throughput advantage over RPCs on clusters with 33 or more nodes\" (section \
             3.3.2).",
            |run| {
                let value = |place: usize| run.at(cib[place]).value;
                value(2) > value(4) && value(3) < value(4)
            },
            text(cib),
        ),
        samples.claim(
            Origin::Paper,
            "\"The decline with Connect-IB NICs is more gradual than with ConnectX-3 NICs\" (section 3.3.2).",
            |run| {
                let share = |of: [&Point; 5]| run.at(of[2]).value / run.at(of[0]).value;
                share(cib) > share(cx3)
            },
            format!("CIB: {} CX3: {}", text(cib), text(cx3)),
        ),
        samples.claim(
            Origin::Paper,
            "\"On medium-sized clusters, if READs do not share QPs, RPCs provide 1.38x and 10.1x higher throughput on \
             CIB and CX3\" (section 3.3); of which size is in the picture only, so some up to 110 machines.",
            |run| {
                let times = |rpc: &Point, read: &Point| run.at(rpc).value / run.at(read).value;
                times(cib[4], cib_last) >= 1.38 && times(cx3[4], cx3_last) >= 10.1
            },
            format!("CIB: {} CX3: {}", text(cib), text(cx3)),
        ),
    ]
}

fn fig3(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let parameters = vec![
        ("machines", "one asks five others".into()),
        ("queue pairs", "100, shared by all threads of the asking machine".into()),
    ];
    let axes = ("threads", "READs a second of a thread, M");
    let cases = figures::fasst_fig3();
    let claims = fig3_claims;
    Figure { cases, paper: &FIG3, axes, operations: "READs", parameters, claims }.measure(setting)
}

fn fig3_claims(samples: &Taken, points: &[Point]) -> Vec<Claim> {
    let of = |threads: f64| find(points, CIB.platform, "READ", threads);
    let (Some(alone), Some(two)) = (of(1.0), of(2.0)) else { return Vec::new() };
    let times = samples.spread(|run| run.at(alone).value / run.at(two).value).median;
    vec![samples.claim(
        Origin::Paper,
        "Sharing between two threads also costs a thread a large part of its throughput (section 3.3.2, figure 3); \
         here at least half of it.",
        |run| run.at(alone).value > 2.0 * run.at(two).value,
        format!("{times:.1} times less."),
    )]
}

fn fig4(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let parameters = vec![
        ("machines", "each asks 11 others".into()),
        ("threads", "one a machine, with 20 workers".into()),
        ("requests", "32 bytes each way, each of a batch to another machine".into()),
    ];
    let axes = ("requests a batch", A_MACHINE);
    let cases = figures::fasst_fig4();
    let claims = fig4_claims;
    Figure { cases, paper: &FIG4, axes, operations: "requests", parameters, claims }
        .measure(setting)
}

fn fig4_claims(samples: &Taken, points: &[Point]) -> Vec<Claim> {
    let steps = figures::FIG4_STEPS;
    let chains: Vec<Vec<&Point>> = [CIB.platform, CX3.platform]
        .into_iter()
        .flat_map(|platform| [3.0, 11.0].map(|batch| (platform, batch)))
        .filter_map(|(platform, batch)| {
            let place = |step: usize| if step == 0 { 1.0 } else { batch };
            (0..steps.len()).map(|step| find(points, platform, steps[step], place(step))).collect()
        })
        .collect();
    if chains.len() < 4 {
        return Vec::new();
    }
    let values = |chain: &[&Point]| -> String {
        let of =
            |point: &&Point| format!("{:.2}", samples.spread(|run| run.at(point).value).median);
        chain.iter().map(of).collect::<Vec<_>>().join(", ")
    };
    vec![samples.claim(
        Origin::Paper,
        "Each optimization adds to the throughput of a core (section 4.5, figure 4).",
        |run| {
            chains
                .iter()
                .all(|chain| chain.is_sorted_by(|one, next| run.at(one).value < run.at(next).value))
        },
        format!("CIB with batches of 3: {} M/s.", values(&chains[0])),
    )]
}

fn dct(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let parameters = vec![
        ("machines", "each asks 6 others".into()),
        ("packets", "three for a READ and not two, as a connection is made for it".into()),
    ];
    let axes = ("bytes", A_MACHINE);
    let cases = figures::fasst_dct();
    let claims = dct_claims;
    Figure { cases, paper: &DCT, axes, operations: "READs", parameters, claims }.measure(setting)
}

fn dct_claims(samples: &Taken, points: &[Point]) -> Vec<Claim> {
    let of = |series: &str| find(points, CIB.platform, series, 32.0);
    let (Some(plain), Some(dynamic)) = (of("connected"), of("dynamically connected")) else {
        return Vec::new();
    };
    let both = ["connected", "dynamically connected"]
        .map(|series| spread(samples, points, CIB.platform, series, 32.0));
    let [plain_rate, dynamic_rate] = both.map(|of| of.map_or(0.0, |of| of.median));
    vec![samples.claim(
        Origin::Own,
        "The half as many packets again do not explain the loss: it is greater than a third.",
        |run| run.at(dynamic).value < run.at(plain).value / 1.5,
        format!("{dynamic_rate:.1} instead of {plain_rate:.1} M/s."),
    )]
}
