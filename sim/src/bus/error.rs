// SPDX-License-Identifier: MIT OR Apache-2.0
//! The faults that a bus-functional model reports about the bus or the block.

use std::fmt;

use verilated::AssertionError;

/// A broken protocol rule, a wait that went past its bound, or an assertion in the RTL behind the
/// bus that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BusModelError {
    /// A rule of the bus, or of the block's own description, was broken.
    #[error(transparent)]
    Protocol(Box<ProtocolError>),
    /// Something took longer than its bound.
    #[error(transparent)]
    Timeout(Box<TimeoutError>),
    /// The block itself says that something went wrong.
    #[error(transparent)]
    Assertion(Box<AssertionError>),
}

/// One field of one channel that is not as the protocol demands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtocolError {
    /// Port and channel, e.g. "m_axi AW".
    pub channel: String,
    /// The pin, e.g. "awsize".
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// The access it belongs to, when the channel carries an id.
    pub identifier: Option<String>,
    /// The cycle in which it was seen.
    pub cycle: u64,
    /// The expected value.
    pub expected: String,
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {} is {}", self.channel, self.field, self.value)?;
        if let Some(identifier) = &self.identifier {
            write!(formatter, " for {identifier}")?;
        }
        write!(formatter, " in cycle {}, expected {}", self.cycle, self.expected)
    }
}

impl std::error::Error for ProtocolError {}

/// A bounded wait that ended without what it waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeoutError {
    /// Port and channel, e.g. "m_axi R".
    pub channel: String,
    /// What waits and for what, e.g. "id 0x083 (phase 1 Look, tag 3) unanswered".
    pub waiting: String,
    /// The bound in cycles.
    pub cycles: u64,
    /// The cycle in which the wait began.
    pub since: u64,
    /// The side that has to act.
    pub holder: &'static str,
    /// The other accesses that are outstanding on the port.
    pub outstanding: Vec<String>,
}

impl fmt::Display for TimeoutError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}: {} for {} cycles since cycle {}; held by {}",
            self.channel, self.waiting, self.cycles, self.since, self.holder
        )?;
        /// More than this would bury the line.
        const SHOWN: usize = 8;
        for (index, identifier) in self.outstanding.iter().take(SHOWN).enumerate() {
            let lead = if index == 0 { "; also outstanding: " } else { ", " };
            write!(formatter, "{lead}{identifier}")?;
        }
        match self.outstanding.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(formatter, " and {more} more"),
        }
    }
}

impl std::error::Error for TimeoutError {}

impl From<ProtocolError> for BusModelError {
    fn from(violation: ProtocolError) -> Self {
        BusModelError::Protocol(Box::new(violation))
    }
}

impl From<AssertionError> for BusModelError {
    fn from(failure: AssertionError) -> Self {
        BusModelError::Assertion(Box::new(failure))
    }
}

impl From<TimeoutError> for BusModelError {
    fn from(timeout: TimeoutError) -> Self {
        BusModelError::Timeout(Box::new(timeout))
    }
}
