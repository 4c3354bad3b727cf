// SPDX-License-Identifier: MIT OR Apache-2.0
//! SwitchTx (VLDB 2022): coordination of transactions in switches; its network so far.

use cluster_sim::micro::figures;

use crate::experiment::{Clock, Experiment, ExperimentError, Setting};
use crate::findings::{Findings, Paper};
use crate::rdma::{near, notes, rows, take};

const ROUND_TRIP: [Paper; 1] =
    [near(4.0, "Section 5.2: \"the latency of a network round trip (4us)\"")];

/// The part of it that is measured again.
pub const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: "switchtx-roundtrip",
    title: "A round trip in the network of SwitchTx",
    source: "SwitchTx (VLDB 2022), section 5.2",
    clock: Clock::Virtual,
    platforms: &["connectx5"],
    paper: &ROUND_TRIP,
    run: round_trip,
}];

/// Sends an RPC at a time.
fn round_trip(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let (points, samples) = take(setting, &figures::switchtx_round_trip())?;
    Ok(Findings {
        parameters: vec![(
            "machines",
            "eight at three leaves, one thread each with one RPC of 32 bytes under way".into(),
        )],
        rows: rows(&samples, &points, &ROUND_TRIP, ("bytes", "RPCs")),
        notes: notes(&samples, &points),
        ..Findings::default()
    })
}
