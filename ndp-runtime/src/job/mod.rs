// SPDX-License-Identifier: MIT OR Apache-2.0
//! What host and device exchange: submissions, descriptors, reservations and result sets, as bytes.
//!
//! There is one definition of each layout, for encoding and decoding on both sides.
//! Everything is little-endian and at a fixed offset (`docs/near-data-jobs.md` has the tables, and
//! a test compares them with this code). Neither side trusts the other's bytes: decoding checks
//! every field, names the byte that is wrong, and never panics.
//!
//! - [`Submission`], [`JobCompletion`], [`Status`]: what passes through the job queue.
//! - [`Descriptor`]: what a job is to do; [`TopUp`]: room for its next chunk of results.
//! - [`reservation`]: pages that a job may fill.
//! - [`ResultChunk`], [`Entry`], [`Statistics`]: the results of a job.

#[macro_use]
mod layout;

mod assignment;
mod descriptor;
mod error;
pub mod reservation;
mod result_set;
mod submission;

pub use assignment::AssignmentHead;
pub use descriptor::{
    Aggregating, Descriptor, DescriptorHeader, Kind, LockTable, Span, Task, Update,
};
pub use error::JobError;
pub use reservation::{MAX_RESERVATIONS, TopUp, TopUpBlock};
pub use result_set::{
    ChunkHeader, ChunkWriter, Embodiment, Entry, FaultEntry, GroupEntry, ResultChunk, RowEntry,
    RowHead, Statistics, UpdateEntry, UpdateKind,
};
pub use submission::{JobCompletion, Opcode, Status, Submission};
