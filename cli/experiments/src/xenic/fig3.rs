// SPDX-License-Identifier: MIT OR Apache-2.0
//! Remote writes and reads of one host, by size.

use cluster_sim::micro::xenic::fig3;

use super::micro::{findings, near, plot, take};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Findings, Paper};

/// What the text has of the figure.
pub const PAPER: [Paper; 3] = [
    Paper::range(
        9.0,
        10.4,
        "Section 3.4: \"With batching disabled, throughput is consistent across the range of buffer sizes, \
         9.0-10.4Mops/s for both NIC and host memory targets\"",
    )
    .within(0.05),
    near(22.2, "Section 3.4: \"a throughput increase of up to 22.2x for NIC memory writes\""),
    near(7.0, "Section 3.4: \"and 7.0x for host memory writes\""),
];

/// Writes and reads with each size.
///
/// # Errors
/// When the platform cannot do it.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let samples = take(setting, |timing| fig3(timing, None))?;
    let parameters = [
        ("servers", "one asks, one answers"),
        ("threads", "24 of the asking host, 24 cores of each NIC"),
        ("requests", "16 bytes beside their data, with the length that the frame has for each"),
    ];
    let mut findings = findings(&samples, &PAPER, &parameters);
    let up = "requests a second, M";
    findings.plots = vec![
        plot(&samples, up, |curve| curve.starts_with("writes")),
        plot(&samples, up, |curve| curve.starts_with("reads")),
    ];
    Ok(findings)
}
