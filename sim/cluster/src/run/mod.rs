// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run by its settings: what a scenario file or flags say, checked before anything is run, and the
//! report of what came out.

mod by_hand;
mod draft;
mod report;
mod settings;

pub use by_hand::{ByHand, Places};
pub use draft::{Draft, Flags};
pub use report::{
    AbortReport, ChecksReport, CountReport, KindReport, Latency, Report, ResourceReport,
    TrafficReport,
};
pub use settings::{ProtocolName, Settings, SettingsError, Workload};

#[cfg(test)]
mod tests;
