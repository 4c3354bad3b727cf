// SPDX-License-Identifier: MIT OR Apache-2.0
//! The register map as offsets in BAR0 and in its blocks; made from the driver's map.

use driver::map::{device, queue, shell};

pub(crate) const SHELL: u64 = device::SHELL as u64;
pub(crate) const LOCK_UNIT: u64 = device::LOCK_UNIT as u64;
pub(crate) const COPY_QUEUE: u64 = device::COPY_QUEUE as u64;
pub(crate) const LOCK_QUEUE: u64 = device::LOCK_QUEUE as u64;
pub(crate) const JOB_QUEUE: u64 = device::JOB_QUEUE as u64;
pub(crate) const LOOK_UP_UNIT: u64 = device::LOOK_UP_UNIT as u64;
pub(crate) const LOOK_UP_QUEUE: u64 = device::LOOK_UP_QUEUE as u64;
pub(crate) const BLOCK_BYTES: u64 = 0x1000;

/// In every block.
pub(crate) const IDENTITY: u64 = device::IDENTITY.offset() as u64;
pub(crate) const VERSION: u64 = device::VERSION.offset() as u64;
pub(crate) const CAPABILITIES: u64 = queue::CAPABILITIES.offset() as u64;

/// Of the shell.
pub(crate) const SCRATCH_8: u64 = shell::SCRATCH_8.offset() as u64;
pub(crate) const SCRATCH_16: u64 = shell::SCRATCH_16.offset() as u64;
pub(crate) const SCRATCH_32: u64 = shell::SCRATCH_32.offset() as u64;
pub(crate) const SCRATCH_64: u64 = shell::SCRATCH_64.offset() as u64;
pub(crate) const INTERRUPT_FORCE: u64 = shell::INTERRUPT_FORCE.offset() as u64;
pub(crate) const INTERRUPT_COUNT: u64 = shell::INTERRUPT_COUNT[0].offset() as u64;

/// Of blocks that do work.
pub(crate) const CONTROL: u64 = queue::CONTROL.offset() as u64;
pub(crate) const GIE: u64 = queue::GIE.offset() as u64;
pub(crate) const IER: u64 = queue::IER.offset() as u64;
pub(crate) const ISR: u64 = queue::ISR.offset() as u64;

/// Of queues.
pub(crate) const SUBMISSION_BASE: u64 = queue::SUBMISSION_BASE.offset() as u64;
pub(crate) const COMPLETION_BASE: u64 = queue::COMPLETION_BASE.offset() as u64;
pub(crate) const LOG2_ENTRIES: u64 = queue::LOG2_ENTRIES.offset() as u64;
pub(crate) const SUBMISSION_TAIL: u64 = queue::SUBMISSION_TAIL.offset() as u64;
pub(crate) const COMPLETION_HEAD: u64 = queue::COMPLETION_HEAD.offset() as u64;
pub(crate) const SUBMISSION_HEAD: u64 = queue::SUBMISSION_HEAD.offset() as u64;
pub(crate) const COMPLETION_TAIL: u64 = queue::COMPLETION_TAIL.offset() as u64;
pub(crate) const ERROR: u64 = queue::ERROR.offset() as u64;
pub(crate) const SUBMISSIONS: u64 = queue::SUBMISSIONS.offset() as u64;
pub(crate) const COMPLETIONS: u64 = queue::COMPLETIONS.offset() as u64;
pub(crate) const BYTES_MOVED: u64 = queue::BYTES_MOVED.offset() as u64;
pub(crate) const FAILURES: u64 = queue::FAILURES.offset() as u64;

/// The interrupt vectors, and their sources.
pub(crate) const VECTORS: u32 = shell::INTERRUPT_COUNT.len() as u32;
pub(crate) const VECTOR_COPY: u32 = 1;
pub(crate) const VECTOR_BUS_ERROR: u32 = 3;
pub(crate) const VECTOR_JOB: u32 = 4;
pub(crate) const VECTOR_LOOK_UP: u32 = 5;
