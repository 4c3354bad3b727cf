// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cost of a job.

use std::time::Duration;

use super::transaction::CommitReport;
use crate::job::Statistics;

/// Bytes of a line: what a coherent access to a single word of the other side's memory moves.
pub const LINE_BYTES: u64 = 64;

/// Bytes of a submission of the job queue, and of a completion.
pub const SUBMISSION_BYTES: u64 = 64;
/// Bytes of a completion.
pub const COMPLETION_BYTES: u64 = 16;

/// Bytes that passed the link between host and device, each way. Headers of the link's own are not
/// counted, nor are doorbells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkBytes {
    /// To the device: submissions, descriptors, top-ups and programs.
    pub descriptors: u64,
    /// To the device: shared states.
    pub shared_state: u64,
    /// To the device: page reservations.
    pub reservations: u64,
    /// To the device: words of the host's VID map, a line each.
    pub vid_map: u64,
    /// Both ways: the device's accesses to the lock table: for each request the line of its bucket
    /// there and back, for each poll the line there.
    pub locks: u64,
    /// Of these, to the host: each line back.
    pub locks_to_host: u64,
    /// To the host: result sets and completions.
    pub results: u64,
    /// To the host: pages that it pulled.
    pub pages_pulled: u64,
    /// To the device: pages that the host wrote.
    pub pages_written: u64,
}

impl LinkBytes {
    /// All of them.
    pub fn total(&self) -> u64 {
        let Self { descriptors, shared_state, reservations, vid_map, locks, results, .. } = *self;
        let handed = descriptors + shared_state + reservations;
        handed + vid_map + locks + results + self.pages_pulled + self.pages_written
    }

    /// Those that went from the device to the host.
    pub fn to_host(&self) -> u64 {
        self.locks_to_host + self.results + self.pages_pulled
    }

    /// Those that went from the host to the device.
    pub fn to_device(&self) -> u64 {
        self.total() - self.to_host()
    }

    /// Adds what the device's accesses to host memory took, by what it has counted.
    pub(super) fn count_accesses(&mut self, done: &Statistics) {
        let granted = done.written + done.left;
        self.vid_map += granted * LINE_BYTES;
        self.locks += (2 * done.lock_requests + done.lock_polls) * LINE_BYTES;
        self.locks_to_host += done.lock_requests * LINE_BYTES;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.descriptors += other.descriptors;
        self.shared_state += other.shared_state;
        self.reservations += other.reservations;
        self.vid_map += other.vid_map;
        self.locks += other.locks;
        self.locks_to_host += other.locks_to_host;
        self.results += other.results;
        self.pages_pulled += other.pages_pulled;
        self.pages_written += other.pages_written;
    }
}

/// The times of the phases of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Collecting the shared state (and the flush before it, if there was one),
    /// page reservations.
    pub prepare: Duration,
    /// From the job's beginning on the device until it is done, draining included.
    pub device: Duration,
    /// Of these: taking results over.
    pub adopt: Duration,
    /// Rows left to the host.
    pub left: Duration,
    /// The device's part of the commit: stamping and writing pages, and their sync.
    pub finalize: Duration,
    /// The rest of the commit: log, publication, release of locks.
    pub commit: Duration,
}

impl Phases {
    /// From the beginning to the end.
    pub fn total(&self) -> Duration {
        self.prepare + self.device + self.left + self.finalize + self.commit
    }
}

/// The effect of an update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateReport {
    /// Rows that have a new version, on the device or by the host.
    pub rows: u64,
    /// Of these, rows that were left to the host because others changed them meanwhile.
    pub by_host: u64,
    /// Rows that were left to the host, and do not qualify any more.
    pub passed_over: u64,
    /// The device's counters.
    pub device: Statistics,
    /// The times of the phases.
    pub phases: Phases,
    /// The bytes over the link.
    pub link: LinkBytes,
    /// Chunks of the result set.
    pub chunks: u64,
    /// How often the transaction was ended by others and run again.
    pub aborts: u64,
}

impl UpdateReport {
    /// Adds the cost of the commit.
    pub fn add_commit(&mut self, commit: &CommitReport) {
        self.phases.finalize += commit.phases.finalize;
        self.phases.commit += commit.phases.commit;
        self.link.add(&commit.link);
    }
}

/// The result of a select or an aggregation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// Rows, or groups, that were given.
    pub rows: u64,
    /// The device's counters.
    pub device: Statistics,
    /// The times of the phases.
    pub phases: Phases,
    /// The bytes over the link.
    pub link: LinkBytes,
    /// Chunks of the result set.
    pub chunks: u64,
}
