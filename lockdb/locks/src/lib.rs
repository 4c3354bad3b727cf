// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cache-coherent shared lock table (ccSLT paper, section 3): its protocol as a pure machine,
//! and the machine driven by real atomics on shared memory.
//!
//! - [`Head`], [`Slot`], [`Ring`]: the encoding of a bucket.
//! - [`machine`]: the protocol. `docs/lock-protocol.md` states it as a table.
//! - [`TupleKey`]: from a tuple version to its bucket.
//! - [`LockTable`]: the host embodiment; [`Worker`] and [`Locker`] are how threads use it.
//!
//! ```
//! use locks::{LockTable, Timestamp, TupleKey, Waiting};
//!
//! let table = LockTable::new(1 << 10)?;
//! let mut worker = table.worker();
//! let mut transaction = worker.begin(Timestamp::new(1).unwrap());
//! transaction.lock(TupleKey::new(42, 0), &Waiting::default())?;
//! transaction.end()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod machine;
pub mod nesting;

mod bucket;
mod deadlock;
mod head;
mod held;
mod key;
mod locker;
mod memory;
mod parking;
mod primitive;
mod statistics;
mod table;
mod timestamp;
mod wait;

pub use bucket::Bucket;
pub use deadlock::{Suspicion, WaitsFor};
pub use head::{Head, Ring, Slot};
pub use held::HeldLocks;
pub use key::TupleKey;
pub use locker::{Locker, Worker};
pub use memory::{Backing, SharedMemory, TableMemory};
pub use statistics::Statistics;
pub use table::{LockTable, LockTableError, Repaired};
pub use timestamp::Timestamp;
pub use wait::{LockError, Policy, Waiting};
