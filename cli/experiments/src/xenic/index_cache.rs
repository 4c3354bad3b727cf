// SPDX-License-Identifier: MIT OR Apache-2.0
//! Xenic's throughput by the size of the index in its NICs' memory, from far too small to an entry for each segment.

use cluster_sim::run::Report;

use super::systems::{
    Load, Own, Point, RETWIS, SMALL_BANK, Sample, System, binding, median, parameters, rate, report,
};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Colour, Curve, Findings, Origin, Plot, Point as Place, Row, Stroke};
use crate::samples::Samples;

/// Entries, up to more than there are segments.
const ENTRIES: [u32; 8] = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 19, 1 << 20, 1 << 21];
const LOADS: [Load; 2] = [RETWIS, SMALL_BANK];
/// Threads and workers: those of the peaks of figure 8.
const AT: (u8, u8) = (8, 64);

type Taken = Samples<Sample>;

/// Runs both workloads with each size.
///
/// # Errors
/// When a check fails.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    setting.shifts = &[];
    let is_few = setting.scale < 0.1 || setting.only_headlines;
    // Of a small cluster the whole index, or next to nothing of it.
    let entries: Vec<u32> =
        if is_few { vec![ENTRIES[0], ENTRIES[ENTRIES.len() - 1]] } else { ENTRIES.to_vec() };
    let series = LOADS.map(|load| {
        let point = |entries: &u32| {
            let usual = Point::new(System::Xenic, load, AT);
            Point { own: Own { index_entries: Some(*entries), ..usual.own }, ..usual }
        };
        (load, entries.iter().map(point).collect::<Vec<_>>())
    });
    let all: Vec<Point> = series.iter().flat_map(|(_, points)| points.clone()).collect();
    let samples = Samples::take_points(setting, &all, report)?;
    let mut of = parameters(RETWIS);
    of.retain(|(name, _)| !["workload", "index", "cards"].contains(name));
    of.push(("workloads", LOADS.map(|load| load.workload.title()).join("; ")));
    of.push((
        "load",
        format!("{} threads with {} workers, as at the peaks of figure 8", AT.0, AT.1),
    ));
    of.push((
        "index",
        "an entry holds the objects of one segment of four homes, up to eight".into(),
    ));
    Ok(Findings {
        parameters: of,
        rows: series
            .iter()
            .flat_map(|(load, points)| headlines(&samples, *load, points))
            .chain(series.iter().flat_map(|(_, points)| points).flat_map(|at| rows(&samples, at)))
            .collect(),
        claims: series.iter().flat_map(|(load, points)| claims(&samples, *load, points)).collect(),
        notes: vec![
            binding_note(&samples, &series),
            "The paper gives neither size nor policy. Here an entry is forgotten that was not used since the hand came by, \
             and that is not locked, pinned or being read for. Runs are too short to bring an index into the state of a \
             long run, so its entries at the start are those that the same policy has left after three times as many \
             keys were asked for as there are segments, at most by five million transactions drawn. A row is looked up once more where VALIDATE asks for it. Segments of SmallBank: 1.3 million a \
             server; of Retwis 0.28 million."
                .into(),
        ],
        plots: vec![
            curves(&samples, &series, "transactions a second of a server, M", rate),
            curves(&samples, &series, "reads of host memory a transaction", reads),
        ],
        ..Findings::default()
    })
}

fn entries(at: &Point) -> u32 {
    at.own.index_entries.unwrap_or(0)
}

/// The part of the rows that were cached, in per cent.
fn cached(report: &Report) -> f64 {
    report.index.map_or(0.0, |of| 100.0 * of.cached)
}

/// Reads of host memory for a transaction.
fn reads(report: &Report) -> f64 {
    report.index.map_or(0.0, |of| of.reads)
}

fn label(at: &Point, what: &str) -> String {
    format!("{}, {} entries: {what}", at.load.name, entries(at))
}

fn rows(samples: &Taken, at: &Point) -> Vec<Row> {
    let of = |what: &str, unit, number: fn(&Report) -> f64| {
        let row = samples.row(label(at, what), (unit, "transactions"), |run| {
            run.at(at).value(|report| (number(report), report.committed))
        });
        row.at(format!("{}, {what}", at.load.name), "entries of the index", entries(at).into())
    };
    vec![
        of("server", "M/s", rate),
        of("median", "us", median),
        of("rows that are cached", "%", cached),
        of("reads of host memory a transaction", "reads", reads),
        of("attempts that abort", "%", |report| 100.0 * report.abort_share()),
    ]
}

/// With how few entries nine tenths of the throughput are left.
fn enough(run: &Sample, points: &[Point]) -> u32 {
    let most = points.iter().map(|at| rate(run.at(at))).fold(0.0, f64::max);
    let keep = points.iter().filter(|at| rate(run.at(at)) >= 0.9 * most).map(entries);
    keep.min().unwrap_or(0)
}

fn headlines(samples: &Taken, load: Load, points: &[Point]) -> Vec<Row> {
    let (few, all) = (&points[0], &points[points.len() - 1]);
    let name = load.name;
    let best = samples.row(format!("{name}, all rows cached"), ("M/s", "transactions"), |run| {
        run.at(all).value(|report| (rate(report), report.committed))
    });
    let least = samples.row(
        format!("{name}, {} entries, of all rows cached", entries(few)),
        ("times", "transactions"),
        |run| run.at(few).value(|report| (rate(report) / rate(run.at(all)), report.committed)),
    );
    let enough = samples.row(
        format!("{name}, fewest entries shown with nine tenths of it"),
        ("entries", "transactions"),
        |run| run.at(all).value(|report| (enough(run, points).into(), report.committed)),
    );
    vec![best, least, enough]
}

fn claims(samples: &Taken, load: Load, points: &[Point]) -> [Claim; 2] {
    let (few, all) = (&points[0], &points[points.len() - 1]);
    let spread = |at: &Point, of: fn(&Report) -> f64| samples.spread(|run| of(run.at(at)));
    [
        samples.claim(
            Origin::Own,
            format!("{}: an entry for each segment leaves no read of host memory.", load.name),
            |run| reads(run.at(all)) < 0.05,
            format!(
                "{:.2} reads a transaction and {:.1} % of rows cached.",
                spread(all, reads),
                spread(all, cached)
            ),
        ),
        samples.claim(
            Origin::Own,
            format!("{}: an index that is far too small costs throughput.", load.name),
            |run| rate(run.at(few)) < 0.9 * rate(run.at(all)),
            format!(
                "{} entries: {:.2} M/s, {:.1} % of rows cached, {:.2} reads a transaction, {:.0} % of attempts aborted; \
                 with all rows {:.2} M/s.",
                entries(few),
                spread(few, rate),
                spread(few, cached),
                spread(few, reads),
                spread(few, |report| 100.0 * report.abort_share()),
                spread(all, rate)
            ),
        ),
    ]
}

fn binding_note(samples: &Taken, series: &[(Load, Vec<Point>)]) -> String {
    let each = |at: &Point| {
        samples.first(|run| format!("{} entries, {}", entries(at), binding(run.at(at))))
    };
    let of = |(load, points): &(Load, Vec<Point>)| {
        format!("{}: {}", load.name, points.iter().map(each).collect::<Vec<_>>().join("; "))
    };
    format!("What binds: {}.", series.iter().map(of).collect::<Vec<_>>().join(". "))
}

fn curves(
    samples: &Taken,
    series: &[(Load, Vec<Point>)],
    up: &'static str,
    of: fn(&Report) -> f64,
) -> Plot {
    let strokes = [Stroke::Solid, Stroke::DASHED];
    let curve = |((load, points), stroke): (&(Load, Vec<Point>), Stroke)| {
        let place = |at: &Point| {
            Place::measured(f64::from(entries(at)).log2(), samples.spread(|run| of(run.at(at))))
        };
        let points = points.iter().map(place).collect();
        Curve { name: load.name.into(), colour: Colour::Device, stroke, points }
    };
    let curves = series.iter().zip(strokes).map(curve).collect();
    Plot::Lines { across: "entries of the index, as a power of 2", up, curves }
}
