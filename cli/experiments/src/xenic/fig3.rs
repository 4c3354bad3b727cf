// SPDX-License-Identifier: MIT OR Apache-2.0
//! Remote writes and reads of one host, by size.

use cluster_sim::micro::xenic::{RdmaWrites, fig3};

use super::micro::{RDMA, findings, near, plot, take};
use crate::cases;
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Findings, Paper};

/// What the text has of the figure.
pub const PAPER: [Paper; 4] = [
    Paper::range(
        9.0,
        10.4,
        "Section 3.4: \"With batching disabled, throughput is consistent across the range of buffer sizes, \
         9.0-10.4Mops/s for both NIC and host memory targets\"",
    )
    .within(0.05),
    Paper::range(
        13.5,
        15.0,
        "Section 3.4: \"For CX5 RDMA, we observe 13.5-15.0Mops/s across the range of buffer sizes\"",
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
    let samples = take(setting, |run, timing| {
        let rdma =
            run.on_cluster(RDMA, |hardware| Ok(RdmaWrites::of(hardware, cases::spans(run))?))?;
        Ok(fig3(timing, Some(*rdma))?)
    })?;
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
        plot(&samples, up, |curve| curve.starts_with("WRITEs")),
    ];
    Ok(findings)
}
