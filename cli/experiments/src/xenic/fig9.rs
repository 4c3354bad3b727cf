// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each optimisation of Xenic gives: throughput of Retwis, and median latency of SmallBank at low load.

use cluster_sim::run::Switch;

use super::systems::{
    Load, Point, RETWIS, SMALL_BANK, Sample, System, binding_note, median, parameters, peak,
    points, rate, report,
};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Findings, Origin, Paper, Plot, Row};
use crate::samples::Samples;

/// A bar of the figure: its name, the switches that are off, and what the paper has of the baseline.
type Step = (&'static str, &'static [Switch], Option<Paper>);

const A: &str = "Section 5.7: \"this increases throughput by 1.47x. Adding aggregated Ethernet transmissions facilitates higher bandwidth utilization, for an overall 1.98x increase. [...] a cumulative 2.30x peak throughput increase\".";
const B: &str = "Section 5.7: \"improves latency by 20% [...] 32% below the baseline [...] a 42% latency reduction over the baseline\".";
const A_RIVAL: &str = "Section 5.7: \"the Xenic baseline shows 10% lower throughput than DrTM+H\".";
const B_RIVAL: &str =
    "Section 5.7: \"Relative to DrTM+H, the Xenic baseline latency is 1.37x higher\".";

/// Multi-hop belongs to figure 9b, so it is off here.
const STEPS_A: [Step; 4] = [
    ("baseline", &[Switch::Combined, Switch::Aggregation, Switch::Vectors, Switch::MultiHop], None),
    (
        "+ remote operations",
        &[Switch::Aggregation, Switch::Vectors, Switch::MultiHop],
        Some(Paper::number(1.47, A)),
    ),
    ("+ Ethernet aggregation", &[Switch::Vectors, Switch::MultiHop], Some(Paper::number(1.98, A))),
    ("+ async DMA", &[Switch::MultiHop], Some(Paper::number(2.30, A))),
];
const STEPS_B: [Step; 4] = [
    ("baseline", &[Switch::Combined, Switch::Ships, Switch::MultiHop], None),
    ("+ remote operations", &[Switch::Ships, Switch::MultiHop], Some(Paper::number(0.80, B))),
    ("+ NIC execution", &[Switch::MultiHop], Some(Paper::number(0.68, B))),
    ("+ multi-hop", &[], Some(Paper::number(0.58, B))),
];

/// All that the text says of figure 9a.
pub const PAPER_A: [Paper; 4] = [
    Paper::number(0.90, A_RIVAL),
    Paper::number(1.47, A),
    Paper::number(1.98, A),
    Paper::number(2.30, A),
];
/// The same of figure 9b.
pub const PAPER_B: [Paper; 4] = [
    Paper::number(1.37, B_RIVAL),
    Paper::number(0.80, B),
    Paper::number(0.68, B),
    Paper::number(0.58, B),
];

/// Retwis' greatest throughput.
///
/// # Errors
/// When a check fails.
pub fn throughput(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let of = |run: &Sample, points: &[Point]| rate(peak(run, points));
    measure(setting, (RETWIS, &STEPS_A, PAPER_A[0]), ("greatest throughput", "M/s"), of, true)
}

/// SmallBank's median at low load.
///
/// # Errors
/// When a check fails.
pub fn latency(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let of = |run: &Sample, points: &[Point]| median(run.at(&points[0]));
    measure(setting, (SMALL_BANK, &STEPS_B, PAPER_B[0]), ("median at low load", "us"), of, false)
}

fn measure(
    setting: &mut Setting<'_>,
    (load, steps, rival): (Load, &[Step; 4], Paper),
    (what, unit): (&'static str, &'static str),
    of: fn(&Sample, &[Point]) -> f64,
    is_peak: bool,
) -> Result<Findings, ExperimentError> {
    setting.shifts = &[];
    // A peak is sought at the higher loads, a median taken at the lowest.
    let only_headlines = setting.only_headlines;
    let chosen = |system, without| {
        let all = points(system, load, without);
        match is_peak {
            // The greatest throughput of all of them is at the last.
            true if only_headlines => vec![all[all.len() - 1]],
            true => all[all.len() - 3..].to_vec(),
            false => all[..1].to_vec(),
        }
    };
    let bars: Vec<Vec<Point>> =
        steps.iter().map(|(_, without, _)| chosen(System::Xenic, *without)).collect();
    let drtm_h = chosen(System::DrtmH, &[]);
    let all: Vec<Point> = bars.iter().flatten().chain(&drtm_h).copied().collect();
    let samples = Samples::take_points(setting, &all, report)?;
    let number = |label: String, unit, points: &[Point], number: &dyn Fn(&Sample) -> f64| {
        samples.row(label, (unit, "transactions"), |run| {
            let value = number(run);
            peak(run, points).value(|report| (value, report.committed))
        })
    };
    let absolute = |name: &str, points: &[Point]| {
        number(format!("{name}: {what}"), unit, points, &|run| of(run, points))
    };
    let mut rows: Vec<Row> =
        steps.iter().zip(&bars).map(|((name, ..), points)| absolute(name, points)).collect();
    rows.push(absolute("DrTM+H", &drtm_h));
    let plots = vec![Plot::Bars { along: what, rows: rows.clone() }];
    rows.push(
        number("baseline, of DrTM+H".into(), "times", &bars[0], &|run| {
            of(run, &bars[0]) / of(run, &drtm_h)
        })
        .beside(Some(rival)),
    );
    for ((name, _, paper), points) in steps.iter().zip(&bars).skip(1) {
        let row = number(format!("{name}, of the baseline"), "times", points, &|run| {
            of(run, points) / of(run, &bars[0])
        });
        rows.push(row.beside(*paper));
    }
    let claims = claims(&samples, steps, &bars, of, is_peak);
    let mut named: Vec<(&str, Vec<Point>)> =
        steps.iter().map(|(name, ..)| *name).zip(bars.iter().cloned()).collect();
    named.push(("DrTM+H", drtm_h));
    Ok(Findings {
        parameters: parameters(load),
        rows,
        claims,
        notes: vec![binding_note(&samples, &named)],
        plots,
        ..Findings::default()
    })
}

/// Each step is better than the one before.
fn claims(
    samples: &Samples<Sample>,
    steps: &[Step; 4],
    bars: &[Vec<Point>],
    of: fn(&Sample, &[Point]) -> f64,
    is_peak: bool,
) -> Vec<Claim> {
    let gain = move |run: &Sample, before: &[Point], after: &[Point]| {
        let ratio = of(run, after) / of(run, before);
        if is_peak { ratio } else { 1.0 / ratio }
    };
    let each = |at: usize| {
        let (before, after) = (&bars[at - 1], &bars[at]);
        let gained = samples.spread(|run| gain(run, before, after));
        samples.claim(
            Origin::Paper,
            format!("{} improves on {}.", steps[at].0, steps[at - 1].0),
            |run| gain(run, before, after) > 1.0,
            format!("{gained:.2} times as good."),
        )
    };
    (1..steps.len()).map(each).collect()
}
