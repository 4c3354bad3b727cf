// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of a job.

use std::fmt;
use std::time::Duration;

use super::cancel::Cancel;
use crate::job::Statistics;

/// How one job is run.
#[derive(Clone)]
pub struct JobOptions<'p> {
    /// Processing elements that the table is divided among, 1 to 64.
    pub elements: u16,
    /// Update: rows that the device has under way at a time, 1 to 64.
    pub rows: u16,
    /// Bytes of the result buffer. A result set that is larger comes in chunks.
    pub result_bytes: usize,
    /// Update: pages that are reserved for the device at a time, 1 to 4,096.
    pub reservations: usize,
    /// Time limit for the device, not counting rows left to the host and the commit.
    pub time_out: Duration,
    /// Stops the job from outside.
    pub cancel: Cancel,
    /// Called repeatedly while the host waits for the device.
    pub progress: Option<&'p dyn Fn(&Progress)>,
}

impl Default for JobOptions<'_> {
    fn default() -> Self {
        Self {
            elements: 4,
            rows: 64,
            result_bytes: 1 << 18,
            reservations: 64,
            time_out: Duration::from_secs(600),
            cancel: Cancel::default(),
            progress: None,
        }
    }
}

impl fmt::Debug for JobOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobOptions")
            .field("elements", &self.elements)
            .field("rows", &self.rows)
            .field("result_bytes", &self.result_bytes)
            .field("reservations", &self.reservations)
            .field("time_out", &self.time_out)
            .field("cancel", &self.cancel)
            .finish_non_exhaustive()
    }
}

/// How far a job is, by the last chunk of its result set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Chunks that have come.
    pub chunks: u64,
    /// The device's counters at that time.
    pub device: Statistics,
    /// VIDs of the table.
    pub vids: u32,
}
