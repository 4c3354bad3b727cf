// SPDX-License-Identifier: MIT OR Apache-2.0
//! The beats of the lock unit's request and response streams (`docs/lock-unit.md`).

use std::fmt;

use locks::machine::Rule;
use locks::{Timestamp, TupleKey};

/// How many tags there are: requests that can be open at once.
pub const TAGS: usize = 128;

/// Names a request until its last response: 0 to 127.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tag(u8);

impl Tag {
    /// The tag of this number; `None` above 127.
    pub const fn new(number: u8) -> Option<Self> {
        if (number as usize) < TAGS { Some(Self(number)) } else { None }
    }

    /// The tag in the low bits of an AXI id.
    pub const fn of_id(id: u16) -> Self {
        Self(id as u8 & 0x7F)
    }

    /// Its number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a processing element asks the unit for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnitOperation {
    /// Take the lock of a tuple version.
    Acquire(TupleKey, Rule),
    /// Give it back.
    Release(TupleKey),
    /// Take the waiting acquire with this tag out of its queue.
    Cancel(Tag),
    /// Ask how the waiting acquire with this tag stands.
    Poll(Tag),
}

/// One beat of `s_axis_req`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitRequest {
    /// Names the request.
    pub tag: Tag,
    /// The transaction that asks.
    pub transaction: Timestamp,
    /// What it asks for.
    pub operation: UnitOperation,
}

impl UnitRequest {
    /// The beat's 192 bits, word 0 with bits 63 to 0.
    pub fn encode(self) -> [u64; 3] {
        let (op, rule, key, target) = match self.operation {
            UnitOperation::Acquire(key, rule) => (0, rule_bits(rule), key, 0),
            UnitOperation::Release(key) => (1, 0, key, 0),
            UnitOperation::Cancel(target) => (2, 0, TupleKey::new(0, 0), target.0),
            UnitOperation::Poll(target) => (3, 0, TupleKey::new(0, 0), target.0),
        };
        let low = self.tag.0 as u64 | op << 8 | rule << 12 | self.transaction.word();
        [low, key.vid, key.version as u64 | (target as u64) << 32]
    }
}

fn rule_bits(rule: Rule) -> u64 {
    match rule {
        Rule::Queue => 0,
        Rule::NoWait => 1,
        Rule::WaitDie => 2,
    }
}

/// The code of a response.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Code {
    /// The transaction holds the lock.
    Granted = 0,
    /// It waits.
    Queued = 1,
    /// The queue was full.
    RefusedFull = 2,
    /// The rule is not to wait.
    RefusedBusy = 3,
    /// Wait-die.
    RefusedDie = 4,
    /// Too many rounds.
    RefusedContended = 5,
    /// The lock is free or handed over.
    Released = 6,
    /// It has left the queue.
    Cancelled = 7,
    /// Release of a lock not held.
    NotHeld = 8,
    /// An access failed on the bus.
    BusError = 9,
    /// A request with this tag is still open.
    TagBusy = 10,
    /// Cancel or poll of a request that does not wait.
    NotWaiting = 11,
    /// Unknown operation or rule, or timestamp 0.
    BadRequest = 12,
}

impl Code {
    const ALL: [Code; 13] = [
        Code::Granted,
        Code::Queued,
        Code::RefusedFull,
        Code::RefusedBusy,
        Code::RefusedDie,
        Code::RefusedContended,
        Code::Released,
        Code::Cancelled,
        Code::NotHeld,
        Code::BusError,
        Code::TagBusy,
        Code::NotWaiting,
        Code::BadRequest,
    ];
}

/// One beat of `m_axis_rsp`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitResponse {
    /// The request that is answered.
    pub tag: Tag,
    /// What came of it.
    pub code: Code,
    /// Granted: the transaction held the bucket already.
    pub again: bool,
    /// Queued: 1 is granted next. Otherwise 0.
    pub position: u8,
    /// The second response of an acquire that was queued first.
    pub notice: bool,
    /// Released: who was handed the lock. Otherwise the request's own transaction.
    pub transaction: Option<Timestamp>,
}

/// A response beat with bits that mean nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("response {beat:#018x}: code {code}, expected one of 0 to 12")]
pub struct BadResponse {
    beat: u64,
    code: u8,
}

impl UnitResponse {
    /// The meaning of a beat.
    ///
    /// # Errors
    /// When its code means nothing.
    pub fn decode(beat: u64) -> Result<Self, BadResponse> {
        let code = (beat >> 8 & 0xF) as u8;
        Ok(Self {
            tag: Tag::of_id(beat as u16),
            code: *Code::ALL.get(code as usize).ok_or(BadResponse { beat, code })?,
            again: beat >> 7 & 1 == 1,
            position: (beat >> 12 & 7) as u8,
            notice: beat >> 15 & 1 == 1,
            transaction: Timestamp::of_word(beat),
        })
    }

    /// Whether the request is over; an acquire that was queued stays open.
    pub fn is_last(&self) -> bool {
        self.code != Code::Queued
    }
}

impl fmt::Display for UnitResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tag {} {:?}", self.tag.0, self.code)?;
        if self.again {
            write!(f, " again")?;
        }
        if self.position > 0 {
            write!(f, " at {}", self.position)?;
        }
        if self.notice {
            write!(f, " (notice)")?;
        }
        match self.transaction {
            Some(transaction) => write!(f, " T{transaction}"),
            None => write!(f, " nobody"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_its_fields_where_the_document_says() {
        let request = UnitRequest {
            tag: Tag::new(5).unwrap(),
            transaction: Timestamp::new(0xABCD).unwrap(),
            operation: UnitOperation::Acquire(TupleKey::new(0x1234, 7), Rule::WaitDie),
        };
        assert_eq!(request.encode(), [0xABCD_2005, 0x1234, 7]);
        let target = Tag::new(9).unwrap();
        let cancel = UnitRequest { operation: UnitOperation::Cancel(target), ..request };
        assert_eq!(cancel.encode(), [0xABCD_0205, 0, 9 << 32]);
    }

    #[test]
    fn a_response_is_read_back() {
        let response = UnitResponse::decode(0x7_9185 | 1 << 12).unwrap();
        assert_eq!(response.tag, Tag::new(5).unwrap());
        assert!(response.again && response.notice);
        assert_eq!((response.code, response.position), (Code::Queued, 1));
        assert_eq!(response.transaction, Timestamp::new(7));
        assert!(UnitResponse::decode(0xF00).is_err());
    }
}
