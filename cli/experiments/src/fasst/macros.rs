// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the figures of transactions have in common: a point is a run of a cluster, and each headline
//! names the resource that binds and the messages of a transaction, beside those counted by hand.

use std::fmt;

use cluster_sim::run::{Report, Settings, Workload, measure_on};
use timing::Time;

use super::clusters::Cluster;
use crate::experiment::ExperimentError;
use crate::findings::Row;
use crate::samples::{Measured, Points, Run, Samples, Value};

/// One run of a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The machines.
    pub cluster: Cluster,
    /// How many.
    pub nodes: u16,
    /// Workers of a thread.
    pub workers: u8,
    /// The transactions, by the name that rows have.
    pub workload: (&'static str, Workload),
    /// What is measured, at full length.
    pub duration: Time,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cluster, nodes, workers, workload: (name, _), .. } = self;
        write!(f, "{name} on {cluster}, {nodes} machines, {workers} workers")
    }
}

/// Reports of all points of a run.
pub type Sample = Points<Point, Measured<Report>>;

/// The warm-up before what is measured, as a part of that: several times a transaction's latency.
fn warm_up(duration: Time) -> Time {
    Time::from_ps(duration.as_ps() / 2)
}

/// Enough to see that all works, on machines of one thread with three workers.
const SMALL: [Time; 2] = [Time::from_us(20), Time::from_us(40)];

/// Runs a point.
///
/// # Errors
/// When the platform does not do, or a check fails.
pub fn report(run: &Run<'_>, point: &Point) -> Result<Measured<Report>, ExperimentError> {
    let [warm_up, duration] = match run.is_small() {
        true => SMALL,
        // Also where headlines are compared: in less than a latency, a wave of workers that began together is seen
        // or missed.
        false => [warm_up(point.duration), point.duration],
    };
    let threads = if run.is_small() { 1 } else { point.cluster.threads };
    let settings = Settings {
        name: point.workload.0.into(),
        platform: point.cluster.platform.into(),
        nodes: point.nodes,
        threads,
        workers: if run.is_small() { point.workers.min(3) } else { point.workers },
        replicas: 3,
        warm_up_us: warm_up.as_ns_f64() / 1e3,
        duration_us: duration.as_ns_f64() / 1e3,
        seed: run.seed,
        workload: point.workload.1,
        ..Settings::default()
    };
    run.on_cluster(point.cluster.platform, |hardware| Ok(measure_on(&settings, hardware)?))
}

/// A number of a report, with the transactions behind it.
pub fn value(measured: &Measured<Report>, of: fn(&Report) -> f64) -> Value {
    measured.value(|report| (of(report), report.committed))
}

/// A row of a number of each report at `point`.
pub fn row(
    samples: &Samples<Sample>,
    point: Point,
    (what, unit): (&str, &'static str),
    of: fn(&Report) -> f64,
) -> Row {
    let label = match what {
        "" => point.to_string(),
        what => format!("{point}: {what}"),
    };
    samples.row(label, (unit, "transactions"), |run| value(run.at(&point), of))
}

/// Transactions a second of a machine, in millions.
pub fn of_machine(report: &Report) -> f64 {
    report.per_second_and_node / 1e6
}

/// Transactions a second in all, in millions.
pub fn in_all(report: &Report) -> f64 {
    report.per_second / 1e6
}

/// The use of the resource that binds, in per cent.
pub fn use_of_binding(report: &Report) -> f64 {
    report.binding().map_or(0.0, |of| 100.0 * of.busiest)
}

/// Messages a transaction, and the same counted by hand.
pub fn messages(samples: &Samples<Sample>, point: Point) -> [Row; 2] {
    [
        row(samples, point, ("messages", ""), Report::messages),
        row(samples, point, ("messages counted by hand", ""), Report::messages_by_hand),
    ]
}

/// What binds at each point, and what a transaction sends, as sentences.
pub fn binding_note(samples: &Samples<Sample>, points: &[Point]) -> String {
    let of = |point: &Point| {
        let name = samples.first(|run| {
            run.at(point).binding().map_or("nothing".to_owned(), |of| of.name.clone())
        });
        let busy = samples.spread(|run| use_of_binding(run.at(point)));
        let [sent, by_hand] = [Report::messages, Report::messages_by_hand]
            .map(|of| samples.spread(|run| of(run.at(point))).median);
        let bytes = samples.spread(|run| run.at(point).bytes()).median;
        let aborts = 100.0 * samples.spread(|run| run.at(point).abort_share()).median;
        format!(
            "{point}: {name} ({busy:.0} %); {sent:.2} messages, {by_hand:.2} by hand, {bytes:.0} B, \
             {aborts:.2} % of attempts aborted"
        )
    };
    let each: Vec<String> = points.iter().map(of).collect();
    format!(
        "What binds (its use), and what a transaction sends that commits or rolls back: {}. The count by hand has no \
         aborts; own machines need no messages in either.",
        each.join("; ")
    )
}

/// The parameters of all of these figures.
pub fn parameters(clusters: &[Cluster]) -> Vec<(&'static str, String)> {
    let each: Vec<String> = clusters
        .iter()
        .map(|of| format!("{} ({}), {} threads a machine", of.name, of.platform, of.threads))
        .collect();
    vec![
        ("clusters", each.join("; ")),
        ("replicas", "3 of each row, and of each log record".into()),
        (
            "checks",
            "every read at its serialization point; replicas, locks and logs at rest".into(),
        ),
    ]
}
