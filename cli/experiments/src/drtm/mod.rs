// SPDX-License-Identifier: MIT OR Apache-2.0
//! DrTM (SOSP 2015): transactions by one-sided verbs and hardware transactional memory; its network so
//! far.

mod atomics;
mod fig10a;

use crate::experiment::{Clock, Experiment};

const PLATFORM: &str = "drtm-cx3";

/// The part of it that is measured again.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "drtm-fig10a",
        title: "READs of one server by the size of what is read",
        source: "DrTM (SOSP 2015), section 5.4, figure 10(a)",
        clock: Clock::Virtual,
        platforms: &[PLATFORM],
        paper: &fig10a::PAPER,
        run: fig10a::measure,
    },
    Experiment {
        name: "drtm-atomics",
        title: "A compare-and-swap over the network beside a local one",
        source: "DrTM (SOSP 2015), section 6.3",
        clock: Clock::Virtual,
        platforms: &[PLATFORM],
        paper: &atomics::PAPER,
        run: atomics::measure,
    },
];
