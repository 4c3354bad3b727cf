// SPDX-License-Identifier: MIT OR Apache-2.0
//! The header of the messages of RPCs.
//!
//! | message | bytes |
//! |---|---|
//! | header of requests | 16: view 4, kind 1, worker 1, count 1, spare 1, sequence 4, attempt 4 |
//! | header of responses | 12: the same without the attempt |

use crate::wire::{Reader, WireError};

/// The bytes of a header of requests.
pub const REQUEST_HEADER: usize = 16;
/// The bytes of a header of responses.
pub const RESPONSE_HEADER: usize = 12;
/// What a message is. All messages begin with the number of a view and this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Requests of a worker.
    Requests,
    /// The answers to them.
    Responses,
    /// Something else, which membership or recovery reads.
    Other(u8),
}

impl Kind {
    /// The kind of a message; `None` if it is too short for one.
    pub fn of(message: &[u8]) -> Option<Self> {
        Some(match *message.get(4)? {
            0 => Self::Requests,
            1 => Self::Responses,
            other => Self::Other(other),
        })
    }

    const fn number(self) -> u8 {
        match self {
            Self::Requests => 0,
            Self::Responses => 1,
            Self::Other(other) => other,
        }
    }
}

/// The header of requests or of responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The sender's view.
    pub epoch: u32,
    /// Requests or responses.
    pub kind: Kind,
    /// The worker that asks.
    pub worker: u8,
    /// How many requests or answers follow.
    pub count: u8,
    /// Which message of the worker it is, or answers.
    pub sequence: u32,
    /// Which attempt of the worker asks: with its node, thread and number, the name of the transaction.
    /// Responses do not carry it.
    pub attempt: u32,
}

impl Header {
    /// Appends it.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut bytes = [0; REQUEST_HEADER];
        bytes[..4].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[4] = self.kind.number();
        bytes[5] = self.worker;
        bytes[6] = self.count;
        bytes[8..12].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[12..].copy_from_slice(&self.attempt.to_le_bytes());
        // Lengths that the compiler knows are copied without a call.
        match self.kind {
            Kind::Requests => out.extend_from_slice(&bytes),
            _ => out.extend_from_slice(&bytes[..RESPONSE_HEADER]),
        }
    }

    /// Reads it.
    ///
    /// # Errors
    /// When the bytes are no header of requests or responses.
    #[inline]
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let epoch = reader.u32("a view's number")?;
        let number = reader.u8("a kind of message")?;
        let kind = match number {
            0 => Kind::Requests,
            1 => Kind::Responses,
            _ => return Err(reader.unknown("requests (0) or responses (1)", number)),
        };
        let worker = reader.u8("a worker")?;
        let count = reader.u8("a count of requests")?;
        let spare = reader.u8("a spare byte")?;
        if spare != 0 {
            return Err(reader.unknown("a spare byte of 0", spare));
        }
        let sequence = reader.u32("a sequence number")?;
        let attempt = match kind {
            Kind::Requests => reader.u32("an attempt's number")?,
            _ => 0,
        };
        Ok(Self { epoch, kind, worker, count, sequence, attempt })
    }

    /// Sets the count of a header that was encoded at byte `at`.
    #[inline]
    pub fn set_count(out: &mut [u8], at: usize, count: u8) {
        out[at + 6] = count;
    }
}
