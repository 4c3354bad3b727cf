// SPDX-License-Identifier: MIT OR Apache-2.0
//! A mismatch between a block and its oracle.

use std::fmt;

/// The violated rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    /// The rules of the buses at the unit's pins.
    Bus,
    /// Each access is the one that the machine wants next.
    Access,
    /// Each response is the machine's outcome, and none comes that is not due.
    Response,
    /// A poll is answered from a copy only while the copy is valid.
    Copy,
    /// Every due event comes within a bound.
    Progress,
    /// Registers and counters tell what happened.
    Registers,
    /// The invariants of a bucket, and what memory answers.
    Bucket,
    /// An agent that was granted the lock holds it until its release; the queue is first in, first
    /// out.
    Lock,
    /// When all is over every line is zero.
    Idle,
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Property::Bus => "rules of the bus",
            Property::Access => "next access",
            Property::Response => "response",
            Property::Copy => "validity of copies",
            Property::Progress => "progress",
            Property::Registers => "registers and counters",
            Property::Bucket => "invariants of the bucket",
            Property::Lock => "exclusion and order",
            Property::Idle => "idle lines",
        })
    }
}

/// A mismatch between a block and its oracle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cycle {cycle}, {property}:\n  expected {expected}\n  found    {found}")]
pub struct MismatchError {
    /// The clock cycle since the reset.
    pub cycle: u64,
    /// The violated rule.
    pub property: Property,
    /// The value that the oracle expected.
    pub expected: String,
    /// The behaviour of the block.
    pub found: String,
}

impl MismatchError {
    /// A mismatch in `cycle`.
    pub fn new(
        cycle: u64,
        property: Property,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self { cycle, property, expected: expected.into(), found: found.into() }
    }
}
