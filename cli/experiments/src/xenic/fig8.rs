// SPDX-License-Identifier: MIT OR Apache-2.0
//! Throughput against median latency of five systems, for three workloads.

use super::systems::{
    Load, NEW_ORDER, Point, RETWIS, SMALL_BANK, Sample, System, binding_note, greatest, median,
    parameters, peak, points, rate, report, rows,
};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{
    Claim, Colour, Curve, Findings, Origin, Paper, Plot, Point as Place, Row, Stroke,
};
use crate::samples::Samples;

/// What the text says of a figure.
struct Figure {
    load: Load,
    /// Greatest throughput of Xenic, in M/s of a server, where the text has it.
    peak: Option<Paper>,
    /// The same of FaSST.
    fasst: Option<Paper>,
    /// Xenic's of DrTM+H's, of NC's and of DrTM+R's.
    ratios: [(System, Option<Paper>); 3],
    /// Xenic's median at low load, of DrTM+H's.
    latency: Paper,
}

const NO_8A: &str = "Section 5.2: \"Xenic achieves an average peak throughput of 1.19M txns/s per server, a 2.42x improvement over DrTM+H\".";
const NC_8A: &str = "Section 5.2: \"Xenic's throughput is 3.81x greater than DrTM+H with coordinator-side caching disabled\".";
const FASST_8A: &str = "Section 5.2: \"limits FaSST's throughput to 232k txns/s\".";
const R_8A: &str = "Section 5.3: \"Xenic's 2.7x improvement for the modified new order workload\".";
const LOW_8A: &str =
    "Section 5.2: \"At low load, Xenic's median latency is 59% below that of DrTM+H\".";
const RETWIS_8C: &str = "Section 5.4: \"Xenic shows a 2.07x peak throughput increase relative to DrTM+H and 42% lower median latency at low load\".";
const BANK_8D: &str = "Section 5.5: \"a peak throughput of 12.0M txns/s per server with Xenic, 2.21x the maximum throughput of DrTM+H\".";
const LOW_8D: &str = "Section 5.5: \"Xenic shows 21.5% lower minimum median latency than DrTM+H\".";

const FIG8A: Figure = Figure {
    load: NEW_ORDER,
    peak: Some(Paper::number(1.19, NO_8A)),
    fasst: Some(Paper::number(0.232, FASST_8A)),
    ratios: [
        (System::DrtmH, Some(Paper::number(2.42, NO_8A))),
        (System::DrtmHNc, Some(Paper::number(3.81, NC_8A))),
        (System::DrtmR, Some(Paper::number(2.7, R_8A))),
    ],
    latency: Paper::number(0.41, LOW_8A),
};
const FIG8C: Figure = Figure {
    load: RETWIS,
    peak: None,
    fasst: None,
    ratios: [
        (System::DrtmH, Some(Paper::number(2.07, RETWIS_8C))),
        (System::DrtmHNc, None),
        (System::DrtmR, None),
    ],
    latency: Paper::number(0.58, RETWIS_8C),
};
const FIG8D: Figure = Figure {
    load: SMALL_BANK,
    peak: Some(Paper::number(12.0, BANK_8D)),
    fasst: None,
    ratios: [
        (System::DrtmH, Some(Paper::number(2.21, BANK_8D))),
        (System::DrtmHNc, None),
        (System::DrtmR, None),
    ],
    latency: Paper::number(0.785, LOW_8D),
};

/// All that the text says of figure 8a.
pub const PAPER_8A: [Paper; 6] = [
    Paper::number(1.19, NO_8A),
    Paper::number(0.232, FASST_8A),
    Paper::number(2.42, NO_8A),
    Paper::number(3.81, NC_8A),
    Paper::number(2.7, R_8A),
    Paper::number(0.41, LOW_8A),
];
/// The same of figure 8c.
pub const PAPER_8C: [Paper; 2] = [Paper::number(2.07, RETWIS_8C), Paper::number(0.58, RETWIS_8C)];
/// The same of figure 8d.
pub const PAPER_8D: [Paper; 3] =
    [Paper::number(12.0, BANK_8D), Paper::number(2.21, BANK_8D), Paper::number(0.785, LOW_8D)];

/// New-orders of TPC-C.
///
/// # Errors
/// When a check fails.
pub fn new_orders(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    measure(setting, &FIG8A)
}

/// Retwis.
///
/// # Errors
/// When a check fails.
pub fn retwis(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    measure(setting, &FIG8C)
}

/// SmallBank.
///
/// # Errors
/// When a check fails.
pub fn small_bank(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    measure(setting, &FIG8D)
}

type Taken = Samples<Sample>;
type OfSystem = (&'static str, Vec<Point>);

fn measure(setting: &mut Setting<'_>, figure: &Figure) -> Result<Findings, ExperimentError> {
    setting.shifts = &[];
    let systems: Vec<System> = match setting.only_headlines {
        true => vec![System::Xenic, System::DrtmH],
        false => System::ALL.to_vec(),
    };
    // Enough to see that all works.
    let is_small = setting.scale < 0.1;
    let only_headlines = setting.only_headlines;
    let chosen = |system: &System| {
        let all = points(*system, figure.load, &[]);
        let last = all.len() - 1;
        let points = match (is_small, only_headlines) {
            (true, _) => vec![all[0], all[last]],
            (false, true) => {
                vec![all[0], all[figure.load.peaks[usize::from(*system != System::Xenic)]]]
            }
            (false, false) => all,
        };
        (system.name(), points)
    };
    let of: Vec<OfSystem> = systems.iter().map(chosen).collect();
    let all: Vec<Point> = of.iter().flat_map(|(_, points)| points.clone()).collect();
    let samples = Samples::take_points(setting, &all, report)?;
    let mut notes = vec![binding_note(&samples, &of)];
    notes.push(
        "The rivals are machines of this project on the same engine, at their best number of threads and workers of \
         those shown. Where nothing is 95 % busy at a peak, attempts that abort are the limit. FaSST rolls back \
         new-orders whose record is longer than a message of 4 KB. Latency at low load is that of one transaction under way a server."
            .into(),
    );
    Ok(Findings {
        parameters: parameters(figure.load),
        rows: headlines(&samples, figure, &of).into_iter().chain(rows(&samples, &all)).collect(),
        claims: claims(&samples, figure, &of),
        notes,
        plots: vec![curves(&samples, &of)],
        ..Findings::default()
    })
}

fn of_system(of: &[OfSystem], system: System) -> Option<&[Point]> {
    of.iter().find(|(name, _)| *name == system.name()).map(|(_, points)| points.as_slice())
}

/// Xenic's greatest throughput, of another system's.
fn ratio(run: &Sample, xenic: &[Point], other: &[Point]) -> f64 {
    rate(peak(run, xenic)) / rate(peak(run, other))
}

/// Xenic's median at low load, of another system's.
fn latency(run: &Sample, xenic: &[Point], other: &[Point]) -> f64 {
    median(run.at(&xenic[0])) / median(run.at(&other[0]))
}

fn headlines(samples: &Taken, figure: &Figure, of: &[OfSystem]) -> Vec<Row> {
    let mut all = Vec::new();
    for (name, points) in of {
        let paper = match *name {
            "Xenic" => figure.peak,
            "FaSST" => figure.fasst,
            _ => None,
        };
        all.push(greatest(samples, name, points).beside(paper));
    }
    let Some(xenic) = of_system(of, System::Xenic) else { return all };
    for (system, paper) in figure.ratios {
        let Some(other) = of_system(of, system) else { continue };
        let label = format!("Xenic, of {}: greatest throughput", system.name());
        let row = samples.row(label, ("times", "transactions"), |run| {
            peak(run, xenic).value(|report| (ratio(run, xenic, other), report.committed))
        });
        all.push(row.beside(paper));
    }
    if let Some(other) = of_system(of, System::DrtmH) {
        let row =
            samples.row("Xenic, of DrTM+H: median at low load", ("times", "transactions"), |run| {
                run.at(&xenic[0]).value(|report| (latency(run, xenic, other), report.committed))
            });
        all.push(row.beside(Some(figure.latency)));
    }
    all
}

fn claims(samples: &Taken, figure: &Figure, of: &[OfSystem]) -> Vec<Claim> {
    let (Some(xenic), Some(drtm_h)) = (of_system(of, System::Xenic), of_system(of, System::DrtmH))
    else {
        return Vec::new();
    };
    let [more, less] = [
        samples.spread(|run| ratio(run, xenic, drtm_h)),
        samples.spread(|run| latency(run, xenic, drtm_h)),
    ];
    let mut all = vec![
        samples.claim(
            Origin::Paper,
            format!("Xenic's greatest throughput is above DrTM+H's ({}).", figure.load.name),
            |run| ratio(run, xenic, drtm_h) > 1.0,
            format!("{more:.2} times. The notes say what binds."),
        ),
        samples.claim(
            Origin::Paper,
            "At low load, Xenic's median latency is below DrTM+H's.",
            |run| latency(run, xenic, drtm_h) < 1.0,
            format!("{less:.2} times."),
        ),
        samples.claim(
            Origin::Paper,
            "At the peak the network is saturated, for Xenic as for DrTM+H: the use of its links is 95 % at least.",
            |run| [xenic, drtm_h].iter().all(|points| link(run, points) >= 0.95),
            format!(
                "{:.0} % with Xenic, {:.0} % with DrTM+H.",
                samples.spread(|run| 100.0 * link(run, xenic)),
                samples.spread(|run| 100.0 * link(run, drtm_h))
            ),
        ),
        samples.claim(
            Origin::Own,
            "At each peak one resource is 95 % busy at least.",
            |run| {
                of.iter().all(|(_, points)| {
                    peak(run, points).binding().is_some_and(|of| of.busiest >= 0.95)
                })
            },
            "The notes name it.".into(),
        ),
    ];
    if let Some(fasst) = of_system(of, System::Fasst) {
        let slower = samples.spread(|run| median(run.at(&fasst[0])) / median(run.at(&xenic[0])));
        all.push(samples.claim(
            Origin::Paper,
            "FaSST's least median latency is above Xenic's.",
            |run| median(run.at(&fasst[0])) > median(run.at(&xenic[0])),
            format!("{slower:.2} times."),
        ));
    }
    all
}

/// The use of the links at the peak.
pub fn link(run: &Sample, points: &[Point]) -> f64 {
    let of = peak(run, points).resources.iter().filter(|of| of.name.starts_with("link"));
    of.map(|of| of.busiest).fold(0.0, f64::max)
}

pub fn curves(samples: &Taken, of: &[OfSystem]) -> Plot {
    let line = |(name, points): &OfSystem| {
        let place = |at: &Point| {
            let across = samples.spread(|run| rate(run.at(at))).median;
            Place::measured(across, samples.spread(|run| median(run.at(at))))
        };
        let (colour, stroke) = match *name {
            "Xenic" => (Colour::Device, Stroke::Solid),
            "DrTM+H" => (Colour::Rival, Stroke::Solid),
            "DrTM+H NC" => (Colour::Rival, Stroke::DASHED),
            "DrTM+R" => (Colour::Rival, Stroke::DOTTED),
            _ => (Colour::Host, Stroke::Solid),
        };
        let points = points.iter().map(place).collect();
        Curve { name: (*name).into(), colour, stroke, points }
    };
    Plot::Lines {
        across: "transactions a second of a server, M",
        up: "median latency, µs",
        curves: of.iter().map(line).collect(),
    }
}
