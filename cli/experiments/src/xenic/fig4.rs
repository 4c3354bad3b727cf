// SPDX-License-Identifier: MIT OR Apache-2.0
//! The DMA engine alone, by size.

use cluster_sim::micro::xenic::fig4;

use super::micro::{findings, near, plot, take};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Findings, Paper};

/// What the text has of the figure: all of it is entered into the platform.
pub const PAPER: [Paper; 4] = [
    near(8.7, "Section 3.5: \"up to the hardware maximum of 8.7Mops/s\""),
    near(190.0, "Section 3.5: \"the request submission time, up to 190ns\""),
    near(1295.0, "Section 3.5: \"completion latency, typically up to 1295ns for reads\""),
    near(570.0, "Section 3.5: \"and 570ns for writes\""),
];

/// Reads and writes the host's memory with each size.
///
/// # Errors
/// When the platform cannot do it.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let samples = take(setting, |_, timing| Ok(fig4(timing)?))?;
    let parameters = [("queues", "8, each of one core"), ("outstanding", "120 operations a queue")];
    let mut findings = findings(&samples, &PAPER, &parameters);
    findings.plots = vec![plot(&samples, "operations a second of a queue, M", |_| true)];
    Ok(findings)
}
