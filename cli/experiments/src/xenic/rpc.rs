// SPDX-License-Identifier: MIT OR Apache-2.0
//! Echoes a second of host threads and of NIC cores.

use cluster_sim::micro::xenic::rpc;

use super::micro::{findings, near, take};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Findings, Paper};

/// Both rates.
pub const PAPER: [Paper; 2] = [
    near(23.0, "Section 3.3: \"an average host RPC throughput of 23.0Mops/s\""),
    near(71.8, "Section 3.3: \"and an average NIC RPC throughput of 71.8Mops/s\""),
];

/// Lets five servers ask one.
///
/// # Errors
/// When the platform cannot do it.
pub fn measure(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let samples = take(setting, |_, timing| Ok(rpc(timing)?))?;
    let parameters = [
        ("servers", "5 ask, 1 answers"),
        ("packets", "80 bytes of UDP data each way, in bursts of 64"),
    ];
    Ok(findings(&samples, &PAPER, &parameters))
}
