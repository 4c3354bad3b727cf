// SPDX-License-Identifier: MIT OR Apache-2.0
//! TATP as machines are added, on both clusters.

use timing::Time;

use super::clusters::{CIB, CX3};
use super::fig10::{TATP, ended};
use super::macros::{Point, binding_note, messages, of_machine, parameters, report, row};
use super::scaling::{curves, rows_along};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Findings, Origin};
use crate::samples::Samples;

const WORKERS: u8 = 19;
const CX3_NODES: [u16; 4] = [3, 10, 25, 50];
const CIB_NODES: [u16; 4] = [3, 5, 8, 11];

fn points() -> Vec<Point> {
    let of = |cluster, nodes: u16| {
        // About as many transactions on any number of machines.
        let duration = Time::from_us(100 + 1500 / u64::from(nodes));
        Point { cluster, nodes, workers: WORKERS, workload: TATP, duration }
    };
    let cx3 = CX3_NODES.map(|nodes| of(CX3, nodes));
    let cib = CIB_NODES.map(|nodes| of(CIB, nodes));
    cx3.into_iter().chain(cib).collect()
}

/// Runs TATP on each number of machines.
///
/// # Errors
/// When a check fails.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    setting.shifts = &[];
    let all = points();
    let samples = Samples::take_points(setting, &all, report)?;
    let [cx3, cib] = [&all[..4], &all[4..]];
    let mut of = parameters(&[CX3, CIB]);
    of.push(("workers", format!("{WORKERS} a thread")));
    of.push(("subscribers", "1 M a machine".into()));
    let ends = [cx3[3], cib[3]];
    let flat = |points: &[Point]| {
        let points = points.to_vec();
        move |run: &super::macros::Sample| {
            let rates = points[1..].iter().map(|point| of_machine(run.at(point)));
            let (least, most) = rates
                .fold((f64::MAX, 0.0_f64), |(low, high), rate| (low.min(rate), high.max(rate)));
            least >= 0.85 * most
        }
    };
    let rate = |point: &Point| samples.spread(|run| of_machine(run.at(point)));
    let claims = vec![
        samples.claim(
            Origin::Own,
            "From ten machines of CX3 on, a machine has the same throughput within 15 %: datagrams \
             need no connections that a cache would have to hold.",
            flat(cx3),
            format!("{:.2} M/s of a machine with 10, {:.2} with 50.", rate(&cx3[1]), rate(&cx3[3])),
        ),
        samples.claim(
            Origin::Own,
            "On CIB, too, from five machines on.",
            flat(cib),
            format!("{:.2} M/s of a machine with 5, {:.2} with 11.", rate(&cib[1]), rate(&cib[3])),
        ),
    ];
    Ok(Findings {
        parameters: of,
        rows: rows_along(&samples, &[("CX3", cx3), ("CIB", cib)])
            .into_iter()
            .chain(ends.map(|at| row(&samples, at, ("all machines, with those that rolled back", "M/s"), ended)))
            .chain(ends.into_iter().flat_map(|point| messages(&samples, point)))
            .chain(ends.map(|point| row(&samples, point, ("p50", "us"), |of| of.latency.p50_ns / 1e3)))
            .collect(),
        claims,
        notes: vec![
            binding_note(&samples, &ends),
            "Rates count committed transactions, and those of a machine, if nothing else is said.".into(),
            "The text gives no number of this figure, only that FaSST is 87 % above FaRM on 50 machines \
             of CX3. FaRM is not built here, and its value is not in the text: not measured. By figure 10, \
             11 machines of CIB make 95.7 M/s, 8.7 a machine."
                .into(),
        ],
        plots: vec![curves(&samples, &[("CX3", cx3), ("CIB", cib)])],
        ..Findings::default()
    })
}
