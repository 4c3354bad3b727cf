// SPDX-License-Identifier: MIT OR Apache-2.0
//! Updates near the data, for which the ccSLT paper (EDBT 2022) argues without measuring them.

mod update_speedup;

use crate::experiment::{Clock, Experiment};

/// The measured part of it.
pub const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: "ndp-update-speedup",
    title: "A long update near the data and by the host, beside short host updates",
    source: "ccSLT paper (EDBT 2022), sections 1 to 3, argued but not measured there",
    clock: Clock::Virtual,
    platforms: &[update_speedup::PLATFORM],
    paper: &[],
    run: update_speedup::measure,
}];
