// SPDX-License-Identifier: MIT OR Apache-2.0
//! TATP on eleven machines of CIB with 1 to 19 workers a thread: throughput against latency.

use cluster_sim::run::{Report, Workload};
use timing::Time;

use super::clusters::CIB;
use super::macros::{Point, binding_note, in_all, messages, parameters, report, row};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{
    Claim, Colour, Curve, Findings, Origin, Paper, Plot, Point as Place, Row, Stroke,
};
use crate::samples::Samples;

type Taken = Samples<super::macros::Sample>;

/// TATP as in all figures.
pub const TATP: (&str, Workload) = ("TATP", Workload::Tatp { subscribers_per_node: 1_000_000 });

const NODES: u16 = 11;
const WORKERS: [u8; 9] = [1, 2, 3, 5, 7, 10, 13, 16, 19];

const ONE: &str = "Section 6.4: \"With one worker coroutine per thread, the total transaction throughput is 19.7 Mtps with 2.8 µs median latency and 21.8 µs 99th percentile latency.\"";
const NINETEEN: &str = "Section 6.4: \"With 19 worker coroutines per thread, cluster throughput increases to 95.7 Mtps, and median and 99th percentile latency increase to 12.6 µs and 87.2 µs\".";

const fn near(value: f64, place: &'static str) -> Paper {
    Paper::number(value, place).within(0.15)
}

/// All that the text gives: throughput, median and 99th percentile at both ends.
pub const PAPER: [Paper; 6] = [
    near(19.7, ONE),
    near(2.8, ONE),
    Paper::number(21.8, ONE),
    near(95.7, NINETEEN),
    near(12.6, NINETEEN),
    Paper::number(87.2, NINETEEN),
];

fn point(workers: u8) -> Point {
    // About 30,000 transactions each.
    let duration = Time::from_us(250 + 1000 / u64::from(workers));
    Point { cluster: CIB, nodes: NODES, workers, workload: TATP, duration }
}

fn median(report: &Report) -> f64 {
    report.latency.p50_ns / 1e3
}

/// Transactions a second that committed or rolled back, of all machines, in millions.
pub fn ended(report: &Report) -> f64 {
    report.ended_per_second() / 1e6
}

fn tail(report: &Report) -> f64 {
    report.latency.p99_ns / 1e3
}

/// Runs TATP with each number of workers.
///
/// # Errors
/// When a check fails.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    setting.shifts = &[];
    let workers: Vec<u8> = if setting.only_headlines { vec![1, 19] } else { WORKERS.to_vec() };
    let all: Vec<Point> = workers.iter().map(|workers| point(*workers)).collect();
    let samples = Samples::take_points(setting, &all, report)?;
    let ends = [point(1), point(19)];
    let rolled_back = 100.0 * samples.spread(|run| run.at(&ends[1]).rolled_back_share()).median;
    let [one_ended, all_ended] = ends.map(|end| samples.spread(|run| ended(run.at(&end))).median);
    let mut of = parameters(&[CIB]);
    of.push(("machines", NODES.to_string()));
    of.push(("subscribers", "1 M a machine".into()));
    Ok(Findings {
        parameters: of,
        rows: all
            .iter()
            .flat_map(|at| rows(&samples, *at))
            .chain(ends.map(|at| row(&samples, at, ("with those that rolled back", "M/s"), ended)))
            .chain(ends.into_iter().flat_map(|point| messages(&samples, point)))
            .collect(),
        claims: claims(&samples),
        notes: vec![
            binding_note(&samples, &ends),
            format!(
                "Rates count committed transactions, as FaSST's public code does. Of those that ended with 19 \
                 workers, {rolled_back:.0} % rolled back instead, as TATP has them: the row was not there, or \
                 already was. With them, all machines make {all_ended:.1} M/s with 19 workers and {one_ended:.1} \
                 with one."
            ),
            "Latency is that of committed transactions, as in the paper, from the end of the burst in which \
             one began to that in which it ended, attempts that were aborted included."
                .into(),
        ],
        plots: vec![curve(&samples, &all)],
        ..Findings::default()
    })
}

fn rows(samples: &Taken, at: Point) -> [Row; 3] {
    let paper = |place: usize| match at.workers {
        1 => Some(PAPER[place]),
        19 => Some(PAPER[3 + place]),
        _ => None,
    };
    let of = |place: usize, what: &str, unit, number: fn(&Report) -> f64| {
        let row = row(samples, at, (what, unit), number).beside(paper(place));
        row.at(what.to_owned(), "workers a thread", at.workers.into())
    };
    [
        of(0, "all machines", "M/s", in_all),
        of(1, "median", "us", median),
        of(2, "99th percentile", "us", tail),
    ]
}

fn claims(samples: &Taken) -> Vec<Claim> {
    let [one, nineteen] = [point(1), point(19)];
    let rtt = samples.spread(|run| median(run.at(&one)));
    let gain = samples.spread(|run| in_all(run.at(&nineteen)) / in_all(run.at(&one)));
    vec![
        samples.claim(
            Origin::Paper,
            "\"FaSST's median latency at low load is close to the network's RTT\" (section 6.4), which \
             is about 2 us: below 4 us.",
            |run| median(run.at(&one)) < 4.0,
            format!("{rtt:.2} us."),
        ),
        samples.claim(
            Origin::Paper,
            "More workers raise the throughput and the latency (section 6.4).",
            |run| {
                in_all(run.at(&nineteen)) > 2.0 * in_all(run.at(&one))
                    && median(run.at(&nineteen)) > median(run.at(&one))
                    && tail(run.at(&nineteen)) > tail(run.at(&one))
            },
            format!("With 19 workers the throughput is {gain:.2} times that with one; the paper's 4.86."),
        ),
    ]
}

fn curve(samples: &Taken, all: &[Point]) -> Plot {
    let line = |name: &str, stroke, of: fn(&Report) -> f64| {
        let place = |at: &Point| {
            let across = samples.spread(|run| in_all(run.at(at))).median;
            Place::measured(across, samples.spread(|run| of(run.at(at))))
        };
        let points = all.iter().map(place).collect();
        Curve { name: name.into(), colour: Colour::Device, stroke, points }
    };
    let paper = |name: &str, stroke, place: usize| {
        let at = [0, 3].map(|end: usize| Place::paper(PAPER[end].low, PAPER[end + place]));
        Curve { name: name.into(), colour: Colour::Paper, stroke, points: at.into() }
    };
    Plot::Lines {
        across: "transactions a second of all machines, M",
        up: "latency, µs",
        curves: vec![
            line("median", Stroke::Solid, median),
            line("99th percentile", Stroke::DASHED, tail),
            paper("paper: median, ends", Stroke::Marks, 1),
            paper("paper: 99th percentile, ends", Stroke::DOTTED, 2),
        ],
    }
}
