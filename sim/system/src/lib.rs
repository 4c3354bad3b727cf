// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host and a device with one lock table execute a scenario, in virtual time or in wall-clock
//! time with real threads. The locks protect rows of a real store.
//!
//! - [`run`] executes a scenario and gives a [`Report`]; [`run_on_device`] does so with a device
//!   behind a driver.
//! - [`LockMemory`] is the memory of a lock table that is shared with a device.
//! - [`near_data`] runs a long near-data update beside short ones, in virtual time.
//! - A `Workflow` is the behaviour of one agent, as a pure machine: it receives the result of its
//!   last command and returns the next. Both modes drive the same workflows.

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
