// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sections 3, 4.5 and 7.1: what the clusters do without transactions.

use cluster_sim::micro::figures;

use crate::cases::{Shown, measure, near};
use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Findings, Paper};

/// Figure 1.
pub const FIG1: [Paper; 12] = [
    near(34.9, "section 3.3.1: 34.9-40.9 Mrps on CIB"),
    near(40.9, "section 3.3.1: 34.9-40.9 Mrps on CIB"),
    near(51.2, "section 3.3.1: READs deliver up to 51.2 Mrps on CIB"),
    near(23.1, "section 3.3.1: 384-byte READs achieve 23.1 Mrps"),
    near(34.9, "section 3.3.1: FaSST RPCs achieve 34.9-40.9 Mrps"),
    near(40.9, "section 3.3.1: FaSST RPCs achieve 34.9-40.9 Mrps"),
    near(11.6, "section 3.3.1: up to 11.6-12.3 Mrps on CX3"),
    near(12.3, "section 3.3.1: up to 11.6-12.3 Mrps on CX3"),
    near(11.2, "section 3.3.1: READs deliver up to 11.2 Mrps on CX3"),
    near(6.5, "section 3.3.1: up to 6.5 Mrps/machine on CX3"),
    near(11.4, "section 3.3.1: 11.4-11.8 Mrps/machine"),
    near(11.8, "section 3.3.1: 11.4-11.8 Mrps/machine"),
];
/// Figure 2.
pub const FIG2: [Paper; 1] =
    [near(2.69, "section 3.3.2: drops to 24% of its peak with as few as 22 emulated nodes")];
/// Figure 3.
pub const FIG3: [Paper; 2] =
    [near(10.9, "section 3.3.2: up to 10.9 Mrps"), near(2.0, "section 3.3.2: 5.4x lower (2 Mrps)")];
/// Figure 4.
pub const FIG4: [Paper; 4] = [
    near(2.6, "section 4.5: our baseline achieves 2.6 Mrps"),
    near(3.4, "section 4.5: with one request per batch is 3.4 Mrps"),
    near(4.0, "section 4.5: with a batch size of 3, 4 Mrps"),
    near(4.3, "section 4.5: with 11 requests per batch, 4.3 Mrps"),
];
/// The dynamically connected transport.
pub const DCT: [Paper; 2] = [
    near(51.2, "section 3.3.1: READs deliver up to 51.2 Mrps on CIB"),
    near(22.9, "section 7.1: READs over DCT achieve at most 22.9 Mrps"),
];

const OF_MACHINE: &str = "requests a second of a machine, M";

/// RPCs beside READs.
///
/// # Errors
/// When the platform does not do for it.
pub fn fig1(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    measure(
        setting,
        figures::fasst_fig1(),
        &Shown { across: "bytes of the answer", up: OF_MACHINE },
    )
}

/// Both as the cluster grows.
///
/// # Errors
/// When the platform does not do for it.
pub fn fig2(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    measure(setting, figures::fasst_fig2(), &Shown { across: "emulated nodes", up: OF_MACHINE })
}

/// Threads that share queue pairs.
///
/// # Errors
/// When the platform does not do for it.
pub fn fig3(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    let up = "requests a second of a thread, M";
    measure(setting, figures::fasst_fig3(), &Shown { across: "threads that share", up })
}

/// RPCs of one core, optimization by optimization.
///
/// # Errors
/// When the platform does not do for it.
pub fn fig4(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    measure(
        setting,
        figures::fasst_fig4(),
        &Shown { across: "requests of a batch", up: OF_MACHINE },
    )
}

/// READs over the dynamically connected transport.
///
/// # Errors
/// When the platform does not do for it.
pub fn dct(setting: &mut Setting<'_>) -> Result<Findings, ExperimentError> {
    measure(setting, figures::fasst_dct(), &Shown { across: "bytes", up: OF_MACHINE })
}
