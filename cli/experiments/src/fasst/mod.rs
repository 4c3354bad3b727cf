// SPDX-License-Identifier: MIT OR Apache-2.0
//! FaSST (OSDI 2016): transactions by remote procedure calls over datagrams.

mod availability;
mod clusters;
mod fig10;
mod fig7;
mod fig8;
mod fig9;
mod macros;
pub mod micro;
mod scaling;

use crate::experiment::{Clock, Experiment};
use clusters::{CIB, CX3};

/// The part of it that is measured again.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "fasst-fig7",
        title: "FaSST's object store: transactions a second of a machine",
        source: "FaSST (OSDI 2016), section 6.1, figure 7",
        clock: Clock::Virtual,
        platforms: &[CX3.platform, CIB.platform],
        paper: &fig7::PAPER,
        run: fig7::measure,
    },
    Experiment {
        name: "fasst-fig8",
        title: "FaSST's TATP as machines are added",
        source: "FaSST (OSDI 2016), section 6.2, figure 8",
        clock: Clock::Virtual,
        platforms: &[CX3.platform, CIB.platform],
        paper: &[],
        run: fig8::measure,
    },
    Experiment {
        name: "fasst-fig9",
        title: "FaSST's SmallBank as machines are added, by both rules for hot accounts",
        source: "FaSST (OSDI 2016), section 6.3, figure 9",
        clock: Clock::Virtual,
        platforms: &[CX3.platform, CIB.platform],
        paper: &[],
        run: fig9::measure,
    },
    Experiment {
        name: "fasst-fig10",
        title: "Latency of FaSST's TATP as the load rises",
        source: "FaSST (OSDI 2016), section 6.4, figure 10",
        clock: Clock::Virtual,
        platforms: &[CIB.platform],
        paper: &fig10::PAPER,
        run: fig10::measure,
    },
    Experiment {
        name: "fasst-availability",
        title: "A machine of a FaSST cluster is killed: what is lost, and for how long",
        source: "FaSST (OSDI 2016), section 5.1, with the recovery that it assumes",
        clock: Clock::Virtual,
        platforms: &[CIB.platform],
        paper: &[],
        run: availability::measure,
    },
];
