// SPDX-License-Identifier: MIT OR Apache-2.0
//! Round trips with nothing else under way.

use cluster_sim::micro::xenic::{RdmaTimes, fig2};

use super::micro::{RDMA, findings, take};
use crate::cases;
use crate::experiment::{ExperimentError, Setting};
use crate::findings::Findings;

/// Makes each round trip some hundred times.
///
/// # Errors
/// When the platform cannot do it.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let samples = take(setting, |run, timing| {
        let rdma =
            run.on_cluster(RDMA, |hardware| Ok(RdmaTimes::of(hardware, cases::spans(run))?))?;
        Ok(fig2(timing, Some(*rdma))?)
    })?;
    let parameters = [("data", "256 bytes"), ("outstanding", "one request")];
    let mut findings = findings(&samples, &[], &parameters);
    findings.notes.push(
        "The paper has its latencies in a picture, and their order in the text. They rest on assumptions about the \
         switch, the ports and the queues of the host, each with an interval."
            .into(),
    );
    Ok(findings)
}
