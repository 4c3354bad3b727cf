// SPDX-License-Identifier: MIT OR Apache-2.0
//! What look-ups count (`docs/nic-lookup.md`, *Counters*): the registers of the hardware, by the same names.

use crate::index;

use super::request::Status;

/// Counts since the beginning.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Counters {
    /// Requests that the index has answered, with whatever status.
    pub requests: u64,
    /// *Look-ups* and *lock-and-reads* among them.
    pub look_ups: u64,
    /// Those that the index answered with *done*.
    pub hits: u64,
    /// Those that it answered with *miss*, so that host memory was read.
    pub misses: u64,
    /// Misses that ended as *done*.
    pub found: u64,
    /// Those of them whose object was in an overflow bucket.
    pub found_in_buckets: u64,
    /// Misses that ended as *absent*.
    pub absent: u64,
    /// Misses that ended as *gave up*.
    pub gave_up: u64,
    /// Misses that ended as *not read*.
    pub not_read: u64,
    /// Misses that went on beyond the slots that the index named.
    pub short_hints: u64,
    /// Trips.
    pub trips: u64,
    /// Reads that trips asked for.
    pub reads: u64,
    /// Slots that they asked for.
    pub slots_read: u64,
    /// Bytes that they asked for: those of the slots, and 8 with each word of the directory.
    pub bytes_read: u64,
    /// Readings that were begun after the first of a look-up.
    pub repeated_readings: u64,
    /// Readings that came to their end and were not whole.
    pub disturbed_readings: u64,
    /// Fills that look-ups sent to the index, and it answered.
    pub fills: u64,
    /// Those of them that were *stale*.
    pub fills_stale: u64,
    /// Those of them that were *full*.
    pub fills_full: u64,
    /// Set-hints that look-ups sent to the index, and it answered.
    pub hints_set: u64,
    /// Answers of the index, to requests or look-ups, that were *bus errors*.
    pub index_errors: u64,
}

/// How many counters there are.
pub const COUNTERS: usize = 21;

impl Counters {
    /// The counters by the names of their registers, in the order of the registers.
    pub const fn by_name(&self) -> [(&'static str, u64); COUNTERS] {
        [
            ("REQUESTS", self.requests),
            ("LOOK_UPS", self.look_ups),
            ("HITS", self.hits),
            ("MISSES", self.misses),
            ("FOUND", self.found),
            ("FOUND_IN_BUCKETS", self.found_in_buckets),
            ("ABSENT", self.absent),
            ("GAVE_UP", self.gave_up),
            ("NOT_READ", self.not_read),
            ("SHORT_HINTS", self.short_hints),
            ("TRIPS", self.trips),
            ("READS", self.reads),
            ("SLOTS_READ", self.slots_read),
            ("BYTES_READ", self.bytes_read),
            ("REPEATED_READINGS", self.repeated_readings),
            ("DISTURBED_READINGS", self.disturbed_readings),
            ("FILLS", self.fills),
            ("FILLS_STALE", self.fills_stale),
            ("FILLS_FULL", self.fills_full),
            ("HINTS_SET", self.hints_set),
            ("INDEX_ERRORS", self.index_errors),
        ]
    }

    /// The index has answered a request.
    pub(super) fn indexed(&mut self, is_look_up: bool, status: index::Status) {
        self.requests += 1;
        self.look_ups += u64::from(is_look_up);
        self.hits += u64::from(is_look_up && status == index::Status::Done);
        self.misses += u64::from(is_look_up && status == index::Status::Miss);
        self.index_errors += u64::from(status == index::Status::BusError);
    }

    /// A miss has ended.
    pub(super) fn ended(&mut self, status: Status, in_bucket: bool) {
        match status {
            Status::Absent => self.absent += 1,
            Status::GaveUp => self.gave_up += 1,
            Status::NotRead => self.not_read += 1,
            Status::Index(_) => self.found += 1,
        }
        self.found_in_buckets += u64::from(in_bucket);
    }

    /// The index has answered what a look-up told it.
    pub(super) fn told(&mut self, is_fill: bool, status: index::Status) {
        self.fills += u64::from(is_fill);
        self.hints_set += u64::from(!is_fill);
        self.fills_stale += u64::from(is_fill && status == index::Status::Stale);
        self.fills_full += u64::from(is_fill && status == index::Status::Full);
        self.index_errors += u64::from(status == index::Status::BusError);
    }
}
