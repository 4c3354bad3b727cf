// SPDX-License-Identifier: MIT OR Apache-2.0
//! Xenic (SOSP 2021): transactions on SmartNICs. So far its tables, what a look-up reads of them, and look-ups in
//! hardware.

mod hint_staleness;
mod nic_lookup;
mod occupancy;
mod table2;
mod tables;

use crate::experiment::{Clock, Experiment};

/// The part of it that is measured again.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "xenic-table2",
        title: "What remote look-ups read of Xenic's, FaRM's and DrTM+H's tables",
        source: "Xenic (SOSP 2021), section 4.1.4, table 2",
        clock: Clock::Virtual,
        platforms: &[],
        paper: &table2::PAPER,
        run: table2::measure,
    },
    Experiment {
        name: "xenic-hint-staleness",
        title: "How many insertions outdate a hint of the NIC's index",
        source: "Xenic (SOSP 2021), section 4.1.3",
        clock: Clock::Virtual,
        platforms: &[],
        paper: &[hint_staleness::ANY, hint_staleness::BY_MORE],
        run: hint_staleness::measure,
    },
    Experiment {
        name: "xenic-occupancy",
        title: "What remote look-ups read of Xenic's table as it fills",
        source: "Xenic (SOSP 2021), section 4.3.3",
        clock: Clock::Virtual,
        platforms: &[],
        paper: &[],
        run: occupancy::measure,
    },
    Experiment {
        name: "nic-lookup",
        title: "Look-ups a second of the NIC's RTL, by the share that its index answers",
        source: "Xenic (SOSP 2021), sections 3.5 and 4.1.3, in hardware",
        clock: Clock::Virtual,
        platforms: &[nic_lookup::LINK],
        paper: &[],
        run: nic_lookup::measure,
    },
];
