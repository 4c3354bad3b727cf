// SPDX-License-Identifier: MIT OR Apache-2.0
//! The outcome of a run.

use timing::Time;

/// A part of a long update, from its beginning to its commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Waiting until the short updates that are under way have let go of the table.
    Gate,
    /// Collecting the shared state; beginning.
    Begin,
    /// The job, its program and the shared state go over the link, and are checked.
    Invoke,
    /// Elements walk through the table; rows are updated meanwhile.
    Walk,
    /// Rows that were not yet updated when the walk ended.
    Tail,
    /// The host fetches pages, evaluates, locks and changes rows.
    Scan,
    /// The host wakes, and checks the result set: who holds each lock, and whether each row's newest
    /// version is still the one before.
    Adopt,
    /// Rows that were left to the host.
    Left,
    /// The commit looks once more whether each row's newest version is the one before.
    Recheck,
    /// The device stamps the new pages and makes them durable.
    Finalize,
    /// The log record becomes durable.
    Log,
    /// VID map and counters are published.
    Install,
    /// Locks are given back.
    Release,
}

impl Phase {
    /// All, in the order in which they come.
    pub const ALL: [Phase; 13] = [
        Phase::Gate,
        Phase::Begin,
        Phase::Invoke,
        Phase::Walk,
        Phase::Tail,
        Phase::Scan,
        Phase::Adopt,
        Phase::Left,
        Phase::Recheck,
        Phase::Finalize,
        Phase::Log,
        Phase::Install,
        Phase::Release,
    ];

    /// As a figure calls it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Gate => "table lock",
            Phase::Begin => "begin, collect",
            Phase::Invoke => "invoke",
            Phase::Walk => "walk and update",
            Phase::Tail => "last updates",
            Phase::Scan => "fetch, evaluate, update",
            Phase::Adopt => "result set",
            Phase::Left => "rows left to the host",
            Phase::Recheck => "heads, once more",
            Phase::Finalize => "seal",
            Phase::Log => "log",
            Phase::Install => "install",
            Phase::Release => "release",
        }
    }
}

/// The long update.
#[derive(Clone, Debug, PartialEq)]
pub struct LongReport {
    /// From its beginning until its last lock was given back.
    pub took: Time,
    /// The times of the phases, in order; together it is `took`.
    pub phases: Vec<(Phase, Time)>,
    /// Until the host's new pages have gone back over the link, beyond `took`.
    pub flush: Time,
    /// Rows that its snapshot sees.
    pub visible: u64,
    /// Rows changed.
    pub changed: u64,
    /// Of them, those changed since the snapshot: the host has changed them.
    pub left: u64,
    /// Rows whose lock was not free.
    pub lock_waits: u64,
    /// How long they have waited for it, altogether.
    pub lock_wait: Time,
    /// Bytes over the link in both directions because of it, with the headers of packets; those of
    /// the flush included.
    pub link_bytes: u64,
    /// Bytes of the shared state that went with the invocation.
    pub delta_bytes: u64,
    /// Bytes of device memory read and written by the job.
    pub memory_bytes: u64,
    /// Pages that the elements checked.
    pub page_checks: u64,
    /// Time of its threads on their cores, altogether.
    pub core_time: Time,
    /// How long its threads have waited for pages, altogether.
    pub page_wait: Time,
}

/// The short updates, while the long one was under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShortReport {
    /// Committed.
    pub committed: u64,
    /// Refused at a lock that an older transaction held; they continued with another row.
    pub turned_away: u64,
    /// Committed in a second of virtual time.
    pub per_second: f64,
}

/// A run that came to its end and was checked: every row is what the committed updates have made of
/// it, no lock is left, and the shared VID map is the store's.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The long update, if there was one.
    pub long: Option<LongReport>,
    /// The short ones.
    pub short: ShortReport,
}
