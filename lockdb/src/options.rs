// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of a store and of a transaction.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::error::{Error, Result};
use super::log::Durability;
use super::memory::{ArrayMemory, Home};
use locks::{Policy, SharedMemory, Waiting};

/// How far a transaction is kept apart from others (`docs/store-isolation.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// Each operation sees what is committed when it begins; an update that had to wait re-reads.
    ReadCommitted,
    /// The transaction sees what was committed when it began; of two that change one row at the
    /// same time, the second is refused.
    #[default]
    Snapshot,
    /// As if transactions ran one after the other, in the order of their commits.
    Serializable,
}

/// When a store that was opened reads all its pages, to make its indexes again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexBuild {
    /// At once: by the store's own thread, beside operations that need none, or before the opening
    /// returns.
    #[default]
    AtOpen,
    /// When they are first needed: by the operation that needs them, or by the store's own thread
    /// before a vacuum. For users of near-data jobs, which need none.
    WhenNeeded,
}

/// How a store is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// Buckets of the lock table, a power of two. 64 bytes each.
    pub lock_buckets: usize,
    /// The file that the lock table stands in, for devices and other processes to map; `None`: memory
    /// of this process. Entries of dead transactions are removed when the store is opened, so a
    /// second store is kept out. Made if it is missing; a file that is no lock table of
    /// `lock_buckets` is refused.
    pub lock_file: Option<PathBuf>,
    /// External memory for the lock table, used from its first byte on, such as that
    /// which a device was given; instead of `lock_file`. It is refused if it is too short or not
    /// zeroes. One store has it at a time: two would give one name to two transactions.
    pub lock_memory: Option<Arc<dyn SharedMemory>>,
    /// The memory for page frames and maps.
    pub memory: Home,
    /// External memory for VID maps, each as `vid-map-N` of table N and 8 bytes for each of
    /// `tuples`: what a device looks at while transactions run.
    pub array_memory: Option<Arc<dyn ArrayMemory>>,
    /// Logical pages, of 8 KiB each, at least 3: one is never used, and one is left to vacuum. Only
    /// address space until they are used.
    pub pages: u64,
    /// Tuples that one table can have. They take only address space until they are used, 8 bytes
    /// each.
    pub tuples: u32,
    /// Maximum number of concurrent sessions.
    pub sessions: usize,
    /// The longest wait for one of them.
    pub session_timeout: Duration,
    /// How a transaction waits for a row's lock, and how deadlock is broken.
    pub waiting: Waiting,
    /// How often a closure's transaction is run again after conflicts.
    pub attempts: u32,
    /// The longest wait for commits of other sessions that are under way.
    pub commit_timeout: Duration,
    /// The longest wait for a page while all are in use, before a transaction that follows one that
    /// needed pages. A snapshot that is known to keep them in use for longer is not waited for.
    pub room_timeout: Duration,
    /// A SERIALIZABLE transaction that has looked at more rows and index entries than this looks at
    /// them again before its commit gets its place in the order, where it keeps later commits waiting,
    /// and there only at what was committed meanwhile. That costs itself a few microseconds more.
    pub validated_in_place: usize,
    /// The log's in-memory ring, bytes, a power of two.
    pub log_ring: usize,
    /// A log file is followed by a new one from this size on, bytes.
    pub log_segment: u64,
    /// A checkpoint is due when this many bytes of log have been written since the last one.
    pub checkpoint_log: u64,
    /// A shared state for devices has at most this many bytes; a checkpoint is made before it has
    /// more.
    pub shared_state_limit: usize,
    /// When the indexes of a store with files are rebuilt.
    pub indexes: IndexBuild,
    /// Whether a thread of the store's own performs checkpoints and vacuum when they are due.
    /// Without it, sessions vacuum in passing, and the caller requests checkpoints.
    pub maintenance: bool,
    /// Whether vacuum is done when it is due. Without it versions stay where they are, and vacuum is the
    /// caller's to ask for.
    pub vacuum: bool,
    /// Whether the store is read-only: nothing is written, not even to begin a store that is not
    /// there, so that this works on a full disk and on a file system that cannot be written. What stands
    /// in the folder is shown, and nobody vouches for its newest commits as opening to write would.
    /// Others may read it meanwhile in the same way.
    pub read_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            lock_buckets: 1 << 16,
            lock_file: None,
            lock_memory: None,
            memory: Home::Private,
            array_memory: None,
            pages: 1 << 22,
            tuples: 1 << 26,
            sessions: 256,
            session_timeout: Duration::from_secs(10),
            waiting: Waiting {
                policy: Policy::WaitsFor { every: Duration::from_millis(1) },
                ..Waiting::default()
            },
            attempts: 1000,
            commit_timeout: Duration::from_secs(60),
            room_timeout: Duration::from_millis(100),
            validated_in_place: 64,
            log_ring: 32 << 20,
            log_segment: 64 << 20,
            checkpoint_log: 256 << 20,
            shared_state_limit: 4 << 20,
            indexes: IndexBuild::AtOpen,
            maintenance: true,
            vacuum: true,
            read_only: false,
        }
    }
}

impl Options {
    /// Small enough to make hundreds of stores a second: for tests.
    pub fn small() -> Self {
        Self {
            lock_buckets: 1 << 8,
            pages: 1 << 14,
            tuples: 1 << 18,
            sessions: 32,
            log_ring: 1 << 20,
            maintenance: false,
            ..Self::default()
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        let refuse =
            |option, found: String, expected| Err(Error::Option { option, found, expected });
        if !self.lock_buckets.is_power_of_two() || self.lock_buckets > 1 << 32 {
            let expected = "a power of two from 1 to 2^32";
            return refuse("lock_buckets", self.lock_buckets.to_string(), expected);
        }
        if let (Some(file), Some(_)) = (&self.lock_file, &self.lock_memory) {
            let expected = "either a file or memory for the lock table";
            return refuse("lock_file", format!("{} beside lock_memory", file.display()), expected);
        }
        if !(3..=1 << 40).contains(&self.pages) {
            return refuse("pages", self.pages.to_string(), "3 to 2^40");
        }
        if self.tuples == 0 {
            return refuse("tuples", "0".into(), "1 or more");
        }
        if !(1..=1 << 16).contains(&self.sessions) {
            return refuse("sessions", self.sessions.to_string(), "1 to 65,536");
        }
        if self.attempts == 0 {
            return refuse("attempts", "0".into(), "1 or more");
        }
        if !self.log_ring.is_power_of_two() || !(1 << 16..=1 << 32).contains(&self.log_ring) {
            let expected = "a power of two from 2^16 to 2^32";
            return refuse("log_ring", self.log_ring.to_string(), expected);
        }
        if !(1 << 16..=1 << 30).contains(&self.shared_state_limit) {
            let expected = "2^16 to 2^30";
            return refuse("shared_state_limit", self.shared_state_limit.to_string(), expected);
        }
        Ok(())
    }
}

/// How one transaction is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionOptions {
    /// How far it is kept apart from others.
    pub isolation: Isolation,
    /// When its commit returns.
    pub durability: Durability,
}

impl Default for TransactionOptions {
    /// SNAPSHOT, and the commit returns when it is durable.
    fn default() -> Self {
        Self { isolation: Isolation::default(), durability: Durability::Group }
    }
}

impl From<Isolation> for TransactionOptions {
    fn from(isolation: Isolation) -> Self {
        Self { isolation, ..Self::default() }
    }
}
