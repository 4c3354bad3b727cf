//! The cache-coherent shared lock table (ccSLT paper, section 3): its protocol as a pure machine,
//! and the machine driven by real atomics on shared memory.
//!
//! - [`Head`], [`Slot`], [`Ring`]: the encoding of a bucket.
//! - [`machine`]: the protocol. `docs/lock-protocol.md` states it as a table.
//! - [`TupleKey`]: from a tuple version to its bucket.

pub mod machine;

mod head;
mod key;
mod timestamp;

pub use head::{Head, Ring, Slot};
pub use key::TupleKey;
pub use timestamp::Timestamp;
