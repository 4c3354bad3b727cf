//! The cache-coherent shared lock table (ccSLT paper, section 3): its protocol as a pure machine,
//! and the machine driven by real atomics on shared memory.
//!
//! - [`Head`], [`Slot`], [`Ring`]: the encoding of a bucket.
//! - [`machine`]: the protocol. `docs/lock-protocol.md` states it as a table.
//! - [`TupleKey`]: from a tuple version to its bucket.
//! - [`Table`]: the host embodiment; [`Worker`] and [`Transaction`] are how threads use it.
//!
//! ```
//! use lockdb::{Table, Timestamp, TupleKey, Waiting};
//!
//! let table = Table::new(1 << 10)?;
//! let mut worker = table.worker();
//! let mut transaction = worker.begin(Timestamp::new(1).unwrap());
//! transaction.lock(TupleKey::new(42, 0), &Waiting::default())?;
//! transaction.end()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod machine;
#[cfg(not(any(loom, miri)))]
pub mod store;

mod bucket;
mod deadlock;
mod head;
mod held;
mod key;
mod memory;
mod nesting;
mod parking;
mod primitive;
mod statistics;
mod table;
mod timestamp;
mod transaction;
mod wait;

pub use bucket::Bucket;
pub use deadlock::{Suspicion, WaitsFor};
pub use head::{Head, Ring, Slot};
pub use held::HeldLocks;
pub use key::TupleKey;
pub use memory::{Backing, SharedMemory, TableMemory};
pub use statistics::Statistics;
pub use table::{Repaired, Table, TableError};
pub use timestamp::Timestamp;
pub use transaction::{Transaction, Worker};
pub use wait::{LockError, Policy, Waiting};
