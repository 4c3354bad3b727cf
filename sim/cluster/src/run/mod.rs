// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run by its settings: what a scenario file or flags say, checked before anything is run, and the
//! report of what came out.

pub(crate) mod by_hand;
mod data_path;
mod draft;
mod error;
mod execute;
mod memory;
mod platform;
mod report;
mod settings;
mod sweep;
mod tally;
mod workload;
mod xenic;

pub use by_hand::{ByHand, Places};
pub use data_path::{DataPathReport, Ground, InLoop, MakeDataPath, Waits};
pub use draft::{Draft, Flags};
pub use error::RunError;
pub use execute::{
    Extras, Outcome, Progress, Slice, Watch, measure_in_loop, measure_on, run, slices_on,
};
pub use memory::{MOST_MEMORY, Memory};
pub use platform::{Cards, Platform};
pub use report::{
    AbortReport, ChecksReport, CountReport, KindReport, Latency, Report, ResourceReport,
    TrafficReport,
};
pub use settings::{Settings, SettingsError};
pub use sweep::sweep;
pub use workload::Workload;
pub(crate) use xenic::TPCC_ON_HOST;
pub use xenic::{Switch, XenicSettings};

pub use crate::protocols::{ProtocolName, posted};

#[cfg(test)]
mod tests;
