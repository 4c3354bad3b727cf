// SPDX-License-Identifier: MIT OR Apache-2.0
//! All of TPC-C: throughput of new-orders against their median latency, on two links and on one.

use super::fig8::{curves, link};
use super::systems::{
    Load, NEW_ORDER, Point, Sample, System, TPCC, TPCC_50G, binding_note, greatest, median,
    parameters, peak, points, rate, report, rows,
};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Findings, Origin, Paper, Row};
use crate::samples::Samples;

const PEAK: &str = "Section 5.3: \"Xenic achieves peak throughput of 541k new orders per second per server, saturating the network\".";
const LOW: &str = "Section 5.3: \"this results in a median latency of 25us at low load, below that of the modified new order workload\".";
const ONE_LINK: &str = "Section 5.3: \"Xenic achieves a peak throughput of 322k new orders per second per server, 2.1x higher than DrTM+R\".";
const DRTM_R: &str = "Section 5.3: \"DrTM+R's evaluation reports 150k new orders per second per server\", of another platform with 56 Gb/s.";

/// All that the text says of figure 8b.
pub const PAPER: [Paper; 2] = [Paper::number(0.541, PEAK), Paper::number(25.0, LOW)];
/// The same of TPC-C on one link.
pub const PAPER_50G: [Paper; 2] = [Paper::number(0.322, ONE_LINK), Paper::number(2.1, ONE_LINK)];
/// What DrTM+R has published, in millions of new-orders a second of a server.
const PUBLISHED: f64 = 0.150;

/// The systems that can run it.
const SYSTEMS: [System; 4] = [System::Xenic, System::DrtmH, System::DrtmHNc, System::DrtmR];

type Taken = Samples<Sample>;
type OfSystem = (&'static str, Vec<Point>);

/// The points of a system; few of them where that is enough.
fn chosen(system: System, load: Load, is_small: bool) -> OfSystem {
    let all = points(system, load, &[]);
    let few = vec![all[0], all[all.len() - 1]];
    (system.name(), if is_small { few } else { all })
}

/// TPC-C on two links, beside the rivals.
///
/// # Errors
/// When a check fails.
pub fn whole(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    setting.shifts = &[];
    let is_small = setting.scale < 0.1;
    let systems = if setting.only_headlines { &SYSTEMS[..2] } else { &SYSTEMS[..] };
    let of: Vec<OfSystem> = systems.iter().map(|system| chosen(*system, TPCC, is_small)).collect();
    let (_, orders) = chosen(System::Xenic, NEW_ORDER, true);
    let own: Vec<Point> = of.iter().flat_map(|(_, points)| points.clone()).collect();
    let all: Vec<Point> = own.iter().chain(&orders).copied().collect();
    let samples = Samples::take_points(setting, &all, report)?;
    let notes = vec![
        binding_note(&samples, &of),
        "Throughput is that of new-orders, and latency theirs; transactions a second are 3.0 times as many, as each delivery is \
         ten. The paper measures Xenic alone. The rivals are machines of this project on the same engine. FaSST is not \
         measured: the record of a new-order of 11 to 15 lines is longer than its largest message."
            .into(),
    ];
    Ok(Findings {
        parameters: parameters(TPCC),
        rows: headlines(&samples, &of).into_iter().chain(rows(&samples, &own)).collect(),
        claims: claims(&samples, &of[0].1, &orders),
        notes,
        plots: vec![curves(&samples, &of)],
        ..Findings::default()
    })
}

fn headlines(samples: &Taken, of: &[OfSystem]) -> Vec<Row> {
    let mut all = Vec::new();
    for (name, points) in of {
        let is_xenic = *name == System::Xenic.name();
        all.push(greatest(samples, name, points).beside(is_xenic.then_some(PAPER[0])));
        let low = samples.row(format!("{name}, median at low load"), ("us", "new-orders"), |run| {
            run.at(&points[0]).value(|report| (median(report), report.kinds[0].committed))
        });
        all.push(low.beside(is_xenic.then_some(PAPER[1])));
    }
    all
}

fn claims(samples: &Taken, xenic: &[Point], orders: &[Point]) -> Vec<Claim> {
    let of_orders = |run: &Sample| median(run.at(&orders[0]));
    let half = |run: &Sample| rate(peak(run, xenic)) / rate(peak(run, orders));
    vec![
        samples.claim(
            Origin::Paper,
            "At the peak the network is saturated: the use of its links is 95 % at least.",
            |run| link(run, xenic) >= 0.95,
            format!("{:.0} %.", samples.spread(|run| 100.0 * link(run, xenic))),
        ),
        samples.claim(
            Origin::Paper,
            "At low load the median of a new-order is below that of the new-orders of figure 8a.",
            |run| median(run.at(&xenic[0])) < of_orders(run),
            format!("{:.1} us there.", samples.spread(of_orders)),
        ),
        samples.claim(
            Origin::Paper,
            "Throughput is about half of that of figure 8a: 0.4 to 0.6 times.",
            |run| (0.4..=0.6).contains(&half(run)),
            format!("{:.2} times.", samples.spread(half)),
        ),
        samples.claim(
            Origin::Own,
            "At the peak one resource is 95 % busy at least.",
            |run| peak(run, xenic).binding().is_some_and(|of| of.busiest >= 0.95),
            "The notes name it.".into(),
        ),
    ]
}

/// TPC-C on one link of 50 Gb/s.
///
/// # Errors
/// When a check fails.
pub fn on_one_link(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    setting.shifts = &[];
    let of = [chosen(System::Xenic, TPCC_50G, setting.scale < 0.1)];
    let points = of[0].1.clone();
    let samples = Samples::take_points(setting, &points, report)?;
    let best = greatest(&samples, of[0].0, &points);
    let ratio = samples.row(
        "Xenic, greatest, of what DrTM+R has published (0.150 M/s)",
        ("times", "new-orders"),
        |run| {
            peak(run, &points).value(|report| (rate(report) / PUBLISHED, report.kinds[0].committed))
        },
    );
    let headlines = [best.beside(Some(PAPER_50G[0])), ratio.beside(Some(PAPER_50G[1]))];
    let saturated = samples.claim(
        Origin::Paper,
        "At the peak the one link is saturated: its use is 95 % at least.",
        |run| link(run, &points) >= 0.95,
        format!("{:.0} %.", samples.spread(|run| 100.0 * link(run, &points))),
    );
    let notes = vec![
        binding_note(&samples, &of),
        format!("What DrTM+R has published is not measured here. {DRTM_R}"),
    ];
    Ok(Findings {
        parameters: parameters(TPCC_50G),
        rows: headlines.into_iter().chain(rows(&samples, &points)).collect(),
        claims: vec![saturated],
        notes,
        plots: vec![curves(&samples, &of)],
        ..Findings::default()
    })
}
