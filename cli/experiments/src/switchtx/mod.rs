// SPDX-License-Identifier: MIT OR Apache-2.0
//! SwitchTx, so far its network alone.

use cluster_sim::micro::figures;

use crate::cases::{Shown, measure, near};
use crate::experiment::{Clock, Experiment, ExperimentError, Setting};
use crate::findings::{Findings, Paper};

const ROUND_TRIP: [Paper; 1] =
    [near(4.0, "section 5.2: the latency of a network round trip (4us)")];

/// The part of it that is measured again.
pub const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: "switchtx-roundtrip",
    title: "A round trip of SwitchTx's network",
    source: "SwitchTx, section 5.2",
    clock: Clock::Virtual,
    platforms: &["connectx5"],
    paper: &ROUND_TRIP,
    run: round_trip,
}];

fn round_trip(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let up = "median latency, us";
    measure(setting, figures::switchtx_round_trip(), &Shown { across: "bytes", up })
}
