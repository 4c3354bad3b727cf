// SPDX-License-Identifier: MIT OR Apache-2.0
//! DrTM (SOSP 2015), so far its network alone.

use cluster_sim::micro::figures;

use crate::cases::{Shown, measure, near};
use crate::experiment::{Clock, Experiment, ExperimentError, Setting};
use crate::findings::{Findings, Paper};

const FIG10A: [Paper; 1] = [near(26.3, "section 5.4, figure 10(a): 26.3 Mops")];
const ATOMICS: [Paper; 1] = [near(14.5, "section 6.3: 14.5 us vs. 0.08 us")];

/// The part of it that is measured again.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "drtm-fig10a",
        title: "READs of DrTM's cluster by the size of what they read",
        source: "DrTM (SOSP 2015), section 5.4, figure 10(a)",
        clock: Clock::Virtual,
        platforms: &["drtm-cx3"],
        paper: &FIG10A,
        run: fig10a,
    },
    Experiment {
        name: "drtm-atomics",
        title: "An atomic of the NIC beside one of the processor",
        source: "DrTM (SOSP 2015), section 6.3",
        clock: Clock::Virtual,
        platforms: &["drtm-cx3"],
        paper: &ATOMICS,
        run: atomics,
    },
];

fn fig10a(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let up = "READs a second, M";
    measure(setting, figures::drtm_fig10a(), &Shown { across: "bytes", up })
}

fn atomics(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let up = "median latency, us";
    measure(setting, figures::drtm_atomics(), &Shown { across: "bytes", up })
}
