// SPDX-License-Identifier: MIT OR Apache-2.0
//! Near-data updates in virtual time: one long update of a part of a table, beside short updates by
//! the host's cores, on the simulated machine (ccSLT paper, sections 1 to 3).
//!
//! - [`run`] makes a run of one [`Setup`] and gives an [`Outcome`].
//! - The rows are those of a real store. Elements walk through the bytes of its native storage and
//!   its shared state by the store's own machine, evaluate by that of `ndp_runtime`, and update by the
//!   engine's machine of a row; locks are asked for at the lock unit's RTL, and by the host's cores
//!   with the lock machine, all over one coherent memory.
//! - All costs are in the platform file. The same rules apply to host and device: a program costs
//!   what it executes, and a commit counts when it is durable.

mod commit;
mod cores;
mod device;
mod device_memory;
mod element;
mod host_path;
mod image;
mod log;
mod machine;
mod near;
mod report;
mod run;
mod short;
mod table;
#[cfg(test)]
mod tests;
mod timer;

pub use report::{LongReport, Outcome, Phase, ShortReport};
pub use run::{NearDataError, run};

use timing::Time;
use timing::platform::Platform;

/// How the long update is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Near the data, with a lock for each row.
    NearData,
    /// By the host, which fetches every page over the link.
    HostPath {
        /// Its threads, each with a part of the table.
        threads: u32,
    },
    /// Near the data, with a lock of the whole table ahead of it: short updates wait.
    TableLock,
}

/// The work beside short updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Nothing, for so long.
    Nothing(Time),
    /// A long update.
    Update(Strategy),
}

/// Which rows short updates draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keys {
    /// Each alike.
    Uniform,
    /// The row of rank k with the weight k^-exponent, ranks scattered over the table.
    Zipf {
        /// 0.99 is YCSB's.
        exponent: f64,
    },
}

/// A run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Latencies and rates; with `[near_data]` and `[host_store]`.
    pub platform: Platform,
    /// Rows of the table.
    pub rows: u64,
    /// Fields of 100 bytes that each row has beside four numbers.
    pub fields: u16,
    /// The long update takes the rows of one region of so many.
    pub regions: u64,
    /// Host cores that do short updates, from core 0 on. The long update's first thread is on the
    /// last core.
    pub workers: u32,
    /// The values that they draw.
    pub keys: Keys,
    /// They leave the long update's rows alone.
    pub other_rows: bool,
    /// Short updates before the long one begins: what the shared state consists of.
    pub warm_up: u64,
    /// The work beside the short updates after the warm-up.
    pub beside: Beside,
    /// The elements have checked the table's pages in an earlier job.
    pub verified: bool,
    /// A commit counts when it is on storage: the host's log on its device, the pages that a job has
    /// written on the device's storage. Otherwise both stay in memory.
    pub durable: bool,
    /// Of all draws.
    pub seed: u64,
}
