// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host and a device around one lock table, executing a scenario: in virtual time, or by the
//! wall clock with real threads. What the locks protect are rows of a real store.
//!
//! - [`run`] executes a scenario and gives a [`Report`]; [`run_on_device`] does so with a device
//!   behind a driver.
//! - [`LockMemory`] is what a lock table stands in that a device shares.
//! - [`near_data`] runs a long near-data update beside short ones, in virtual time.
//! - A `Workflow` is what one agent does, as a pure machine: it is told what came of its last
//!   command and names the next. Both ways to run drive the same workflows.

mod device;
mod lock_memory;
pub mod near_data;
mod plan;
mod report;
mod rows;
mod run;
mod virtual_time;
mod wall_clock;
mod workflow;
mod world;

pub use lock_memory::LockMemory;
pub use report::{
    Aborts, CoherenceReport, Latency, LatencyRecorder, QueueReport, Report, RowsReport, SideReport,
    UnitReport,
};
pub use run::{Interrupt, Options, Progress, RunError, run, run_on_device};
