// SPDX-License-Identifier: MIT OR Apache-2.0
//! Atomics of the card and of a core.

use cluster_sim::micro::figures;

use super::PLATFORM;
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Findings, Origin, Paper, Row};
use crate::rdma::{Taken, find, near, notes, rows, take};
use crate::samples::Samples;

const PLACE: &str = "Section 6.3: \"two orders of magnitude slower than the local counterpart (14.5 us vs. 0.08 us)\"";

/// What the text has.
pub const PAPER: [Paper; 2] = [near(14.5, PLACE), near(0.08, PLACE)];

/// Swaps a word of another machine, and reads one; the local one is an entry of the platform.
///
/// # Errors
/// When the platform does not do.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let local = local(setting)?;
    let (points, samples) = take(setting, &figures::drtm_atomics())?;
    let mut all = rows(&samples, &points, &PAPER, ("bytes", "operations"));
    all.push(local.clone());
    let claims = find(&points, PLATFORM, "CAS", 8.0).map(|point| claim(&samples, point, &local));
    Ok(Findings {
        parameters: vec![("machines", "two, one operation at a time".into())],
        rows: all,
        claims: claims.into_iter().collect(),
        notes: notes(&samples, &points),
        ..Findings::default()
    })
}

/// What the platform says of a core's own: an input, shown as such.
fn local(setting: &mut Setting<'_>) -> Result<Row, ExperimentError> {
    setting.shifts = &[];
    let samples = Samples::take(setting, |run| {
        run.on_cluster(PLATFORM, |hardware| {
            let of = hardware.cpu.compare_swap.as_ref();
            Ok(of.map_or(0.0, |entry| entry.get().as_ns_f64() / 1e3))
        })
    })?;
    let row = samples.row("drtm-cx3: local CAS", ("us", "operations"), |run| {
        run.value(|microseconds| (*microseconds, 1))
    });
    let mut row = row.beside(Some(PAPER[1]));
    row.fitted.insert("cpu.compare_swap".to_owned());
    Ok(row)
}

fn claim(samples: &Taken, point: &crate::rdma::Point, local: &Row) -> Claim {
    let own = local.measured.median;
    samples.claim(
        Origin::Paper,
        "\"the current performance of RDMA CAS is two orders of magnitude slower than the local counterpart\" \
         (section 6.3).",
        |run| run.at(point).value >= 100.0 * own,
        format!("{:.1} us beside {own:.2} us.", samples.spread(|run| run.at(point).value).median),
    )
}
