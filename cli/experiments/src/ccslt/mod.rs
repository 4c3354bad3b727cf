// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ccSLT paper (EDBT 2022): a lock table that host and smart storage share over CCIX.

mod fig4;
mod fig5;
mod fig6;
mod lock_load;
mod placement;

use crate::experiment::{Clock, Experiment};

/// The part of it that is measured again.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "ccslt-fig4",
        title: "Lock latency of host and device under load of the other side",
        source: "ccSLT paper (EDBT 2022), section 4, experiment 1, figure 4",
        clock: Clock::Virtual,
        platforms: &[fig4::PLATFORM],
        paper: &[fig4::HOST_ALONE, fig4::HOST_CONTENDED, fig4::DEVICE],
        run: fig4::measure,
    },
    Experiment {
        name: "ccslt-fig5",
        title: "64 B and 8 KiB from the device, over CCIX and over PCIe",
        source: "ccSLT paper (EDBT 2022), section 4, experiment 2, figure 5",
        clock: Clock::Virtual,
        platforms: &[fig5::CCIX, fig5::PCIE],
        paper: &[fig5::LOCAL, fig5::MISS],
        run: fig5::measure,
    },
    Experiment {
        name: "ccslt-fig6",
        title: "Placing a tuple lock: the shared lock table beside PostgreSQL",
        source: "ccSLT paper (EDBT 2022), section 4, experiment 3, figure 6",
        clock: Clock::Wall,
        platforms: &[],
        paper: &[fig6::CCSLT, fig6::POSTGRES],
        run: fig6::measure,
    },
    Experiment {
        name: "ccslt-placement",
        title: "Home agent on the host against home agent on the device",
        source: "ccSLT paper (EDBT 2022), section 4, argued after experiment 1",
        clock: Clock::Virtual,
        platforms: &[placement::PLATFORM],
        paper: &[],
        run: placement::measure,
    },
];
