// SPDX-License-Identifier: MIT OR Apache-2.0
//! FaSST (OSDI 2016): transactions by remote procedure calls over datagrams.

mod availability;
mod clusters;
mod fig10;
mod fig7;
mod fig8;
mod fig9;
mod macros;
mod micro;
mod scaling;

use crate::experiment::{Clock, Experiment};
use clusters::{CIB, CX3};

/// The part of it that is measured again.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "fasst-fig1",
        title: "RPCs beside READs, by the size of the answer",
        source: "FaSST (OSDI 2016), section 3.3.1, figure 1",
        clock: Clock::Virtual,
        platforms: &[CIB.platform, CX3.platform],
        paper: &micro::FIG1,
        run: micro::fig1,
    },
    Experiment {
        name: "fasst-fig2",
        title: "RPCs and READs as the cluster grows",
        source: "FaSST (OSDI 2016), section 3.3.2, figure 2",
        clock: Clock::Virtual,
        platforms: &[CIB.platform, CX3.platform],
        paper: &micro::FIG2,
        run: micro::fig2,
    },
    Experiment {
        name: "fasst-fig3",
        title: "READs of threads that share queue pairs",
        source: "FaSST (OSDI 2016), section 3.3.2, figure 3",
        clock: Clock::Virtual,
        platforms: &[CIB.platform],
        paper: &micro::FIG3,
        run: micro::fig3,
    },
    Experiment {
        name: "fasst-fig4",
        title: "RPCs of one core, optimization by optimization",
        source: "FaSST (OSDI 2016), section 4.5, figure 4",
        clock: Clock::Virtual,
        platforms: &[CIB.platform, CX3.platform],
        paper: &micro::FIG4,
        run: micro::fig4,
    },
    Experiment {
        name: "fasst-dct",
        title: "READs over the dynamically connected transport",
        source: "FaSST (OSDI 2016), section 7.1",
        clock: Clock::Virtual,
        platforms: &[CIB.platform],
        paper: &micro::DCT,
        run: micro::dct,
    },
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
