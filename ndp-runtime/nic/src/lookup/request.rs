// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is asked of the look-ups, and what they answer.

use crate::index::{self, Hint, Operation};

/// A request of the network or of the NIC's software; fields that an operation has no use for mean nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Request<const WORDS: usize> {
    /// The key.
    pub key: u64,
    /// The caller's name for the request. It comes back with the answer.
    pub token: u16,
    /// What to do.
    pub operation: Operation,
    /// Who locks, validates, updates, or unlocks.
    pub owner: u16,
    /// Of a fill: the epoch of the answer that asked for the read.
    pub epoch: u16,
    /// Of a fill, of an update, or to be validated.
    pub version: u32,
    /// Of a fill or an update.
    pub value: [u64; WORDS],
    /// Of a fill or a set-hint.
    pub hint: Hint,
}

impl<const WORDS: usize> Request<WORDS> {
    /// A request about a key, all other fields 0.
    pub fn new(operation: Operation, key: u64, token: u16) -> Self {
        let hint = Hint::default();
        let value = [0; WORDS];
        Request { key, token, operation, owner: 0, epoch: 0, version: 0, value, hint }
    }
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// As the index says; [`index::Status::Done`] also of an object that was found in host memory, and
    /// [`index::Status::Miss`] only of a validation.
    Index(index::Status),
    /// The key was not in the table at some instant since the request.
    Absent,
    /// Each reading of all places met with a write.
    GaveUp,
    /// A read of host memory has failed.
    NotRead,
}

impl Status {
    /// The object is there, or what was to be done is.
    pub const DONE: Status = Status::Index(index::Status::Done);

    /// Its number on the bus.
    pub const fn number(self) -> u8 {
        match self {
            Status::Index(status) => status as u8,
            Status::Absent => 13,
            Status::GaveUp => 14,
            Status::NotRead => 15,
        }
    }

    /// The status with this number, if one has it.
    pub fn from_number(number: u8) -> Option<Self> {
        match number {
            13 => Some(Status::Absent),
            14 => Some(Status::GaveUp),
            15 => Some(Status::NotRead),
            _ => index::Status::from_number(number).map(Status::Index),
        }
    }
}

/// An object in an answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Content<const WORDS: usize> {
    /// Its version.
    pub version: u32,
    /// The first words of its value. If the value lies out of line, the first one is its address in the heap.
    pub value: [u64; WORDS],
    /// Bytes of the value in its slot, at most 511; of a cached one, those of all cached values.
    pub length: u16,
    /// Whether it comes from the index, and not from host memory.
    pub is_cached: bool,
    /// Whether the value lies out of line.
    pub is_out_of_line: bool,
}

/// The answer to a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Answer<const WORDS: usize> {
    /// That of the request.
    pub token: u16,
    /// How it ended.
    pub status: Status,
    /// The object, as it was found.
    pub content: Option<Content<WORDS>>,
    /// Whether a lock-and-read has taken the lock, or found it as its owner's: it has to be given back, also
    /// when there is no such object.
    pub has_lock: bool,
    /// Round trips to host memory, at most 255: what is more counts as 255.
    pub trips: u8,
    /// Who had the lock before the operation; 0 if nobody.
    pub owner: u16,
    /// The epoch of the index's answer.
    pub epoch: u16,
}

impl<const WORDS: usize> Answer<WORDS> {
    /// The answer to a request that the index refuses before it looks at its entry, such as one whose operation
    /// has no meaning.
    pub const fn refused(token: u16, status: index::Status) -> Self {
        let status = Status::Index(status);
        Answer { token, status, content: None, has_lock: false, trips: 0, owner: 0, epoch: 0 }
    }
}
