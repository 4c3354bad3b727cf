// SPDX-License-Identifier: MIT OR Apache-2.0
//! READs of five clients from one server.

use cluster_sim::micro::figures;

use super::PLATFORM;
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Findings, Paper};
use crate::rdma::{near, notes, plot, rows, take};

const ACROSS: &str = "bytes";

/// What the text has.
pub const PAPER: [Paper; 1] =
    [near(26.3, "Section 5.4: \"one-sided RDMA READ in Figure 10(a) (26.3 Mops)\"")];

/// Reads with each size.
///
/// # Errors
/// When the platform does not do.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let (points, samples) = take(setting, &figures::drtm_fig10a())?;
    Ok(Findings {
        parameters: vec![
            ("machines", "one is read from, five read with eight threads each".into()),
            ("under way", "16 READs of each thread".into()),
        ],
        rows: rows(&samples, &points, &PAPER, (ACROSS, "READs")),
        notes: notes(&samples, &points),
        plots: vec![plot(&samples, &points, PLATFORM, ACROSS, "READs a second, M")],
        ..Findings::default()
    })
}
