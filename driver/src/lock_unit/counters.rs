//! The counters of the unit, by name.

use super::registers::COUNTER_COUNT;

/// Events since reset. Source: `docs/lock-unit.md`, "Counters".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests accepted.
    pub requests: u64,
    /// Grants of all kinds.
    pub granted: u64,
    /// Grants to a transaction that held the bucket already.
    pub granted_again: u64,
    /// Acquires that were queued.
    pub queued: u64,
    /// Acquires that were refused.
    pub refused: u64,
    /// Releases that ended well.
    pub released: u64,
    /// Releases that handed the lock to a waiter.
    pub handed_over: u64,
    /// Acquires that ended as cancelled.
    pub cancelled: u64,
    /// Errors of the requester: not held, tag busy, not waiting, bad request.
    pub requester_errors: u64,
    /// Accesses answered with an error response.
    pub bus_errors: u64,
    /// Compare-and-swaps issued.
    pub compare_and_swaps: u64,
    /// Stores issued.
    pub stores: u64,
    /// Line reads issued.
    pub line_reads: u64,
    /// Polls served from the copy, without an access.
    pub polls_from_copy: u64,
    /// Polls that read the line.
    pub polls_that_read: u64,
    /// Copies voided by an invalidation.
    pub copies_voided: u64,
}

impl From<[u64; COUNTER_COUNT]> for Counters {
    /// Names the counters in the order of the register map.
    fn from(values: [u64; COUNTER_COUNT]) -> Self {
        let [
            requests,
            granted,
            granted_again,
            queued,
            refused,
            released,
            handed_over,
            cancelled,
            requester_errors,
            bus_errors,
            compare_and_swaps,
            stores,
            line_reads,
            polls_from_copy,
            polls_that_read,
            copies_voided,
        ] = values;
        Counters {
            requests,
            granted,
            granted_again,
            queued,
            refused,
            released,
            handed_over,
            cancelled,
            requester_errors,
            bus_errors,
            compare_and_swaps,
            stores,
            line_reads,
            polls_from_copy,
            polls_that_read,
            copies_voided,
        }
    }
}
