// SPDX-License-Identifier: MIT OR Apache-2.0
//! The counters of workers.

/// Counts of one worker, or of all that have reported to their table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Locks granted, the repeated ones included.
    pub granted: u64,
    /// Of these, to a transaction that held the bucket already.
    pub granted_again: u64,
    /// Requests that had to queue first.
    pub queued: u64,
    /// Times that a waiter went to sleep after spinning.
    pub parked: u64,
    /// Times that a request found the queue full, or too contended to enter, and tried again.
    pub retried: u64,
    /// Locks given back.
    pub released: u64,
    /// Of these, handed to a waiter.
    pub handed_over: u64,
    /// Requests that did not wait because the rule was not to.
    pub busy: u64,
    /// Requests that wait-die refused.
    pub died: u64,
    /// Waits that ended by their time-out.
    pub timed_out: u64,
    /// Waits that ended because they closed a cycle.
    pub deadlocks: u64,
}

impl Statistics {
    /// Adds another's counts to these.
    pub fn add(&mut self, other: &Statistics) {
        self.granted += other.granted;
        self.granted_again += other.granted_again;
        self.queued += other.queued;
        self.parked += other.parked;
        self.retried += other.retried;
        self.released += other.released;
        self.handed_over += other.handed_over;
        self.busy += other.busy;
        self.died += other.died;
        self.timed_out += other.timed_out;
        self.deadlocks += other.deadlocks;
    }
}
