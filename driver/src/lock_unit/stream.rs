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

    /// The tag of a request, whatever else is in its beat.
    pub const fn of_request(beat: [u64; 3]) -> Self {
        Self::of_id(beat[0] as u16)
    }

    /// Its number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where the fields of a request are, for tests that put into them what no [`UnitRequest`] has.
pub mod field {
    /// Word 0: the tag.
    pub const TAG: u64 = 0x7F;
    /// Word 0: the operation.
    pub const OPERATION: u64 = 0xF << 8;
    /// Word 0: the rule of an acquire.
    pub const RULE: u64 = 3 << 12;
    /// Word 0: the transaction.
    pub const TIMESTAMP: u64 = !0 << 16;
    /// Word 2: the version of an acquire or release; word 1 is its VID.
    pub const VERSION: u64 = 0xFFFF_FFFF;
    /// Word 2: the tag that a cancel or poll is at.
    pub const TARGET: u64 = 0x7F << 32;

    /// The value of a field in a word.
    pub const fn get(word: u64, field: u64) -> u64 {
        (word & field) >> field.trailing_zeros()
    }

    /// The word with this value in a field; bits that the field has no room for are dropped.
    pub const fn set(word: u64, field: u64, value: u64) -> u64 {
        word & !field | value << field.trailing_zeros() & field
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

const ACQUIRE: u64 = 0;
const RELEASE: u64 = 1;
const CANCEL: u64 = 2;
const POLL: u64 = 3;

/// The rules of an acquire, by [`rule_code`].
const RULES: [Rule; 3] = [Rule::Queue, Rule::NoWait, Rule::WaitDie];

/// The code of a rule in a request.
const fn rule_code(rule: Rule) -> u64 {
    match rule {
        Rule::Queue => 0,
        Rule::NoWait => 1,
        Rule::WaitDie => 2,
    }
}

const _: () = {
    let mut code = 0;
    while code < RULES.len() {
        assert!(rule_code(RULES[code]) == code as u64, "each rule stands in the place of its code");
        code += 1;
    }
};

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
        let (operation, rule, key, target) = match self.operation {
            UnitOperation::Acquire(key, rule) => (ACQUIRE, rule_code(rule), key, 0),
            UnitOperation::Release(key) => (RELEASE, 0, key, 0),
            UnitOperation::Cancel(target) => (CANCEL, 0, TupleKey::new(0, 0), target.0),
            UnitOperation::Poll(target) => (POLL, 0, TupleKey::new(0, 0), target.0),
        };
        let mut low = self.transaction.word() | u64::from(self.tag.0);
        low = field::set(low, field::OPERATION, operation);
        low = field::set(low, field::RULE, rule);
        [low, key.vid, field::set(key.version.into(), field::TARGET, target.into())]
    }

    /// The meaning of a beat; `None` when the unit answers it with [`Code::BadRequest`], under
    /// [`Tag::of_request`]. Bits that the unit ignores are ignored.
    pub fn decode(beat: [u64; 3]) -> Option<Self> {
        let [low, vid, high] = beat;
        let key = TupleKey::new(vid, field::get(high, field::VERSION) as u32);
        let target = Tag(field::get(high, field::TARGET) as u8);
        let operation = match field::get(low, field::OPERATION) {
            ACQUIRE => {
                let rule = RULES.get(field::get(low, field::RULE) as usize)?;
                UnitOperation::Acquire(key, *rule)
            }
            RELEASE => UnitOperation::Release(key),
            CANCEL => UnitOperation::Cancel(target),
            POLL => UnitOperation::Poll(target),
            _ => return None,
        };
        Some(Self { tag: Tag::of_request(beat), transaction: Timestamp::of_word(low)?, operation })
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
pub struct ResponseError {
    beat: u64,
    code: u8,
}

impl UnitResponse {
    /// A response whose code says everything: not `again`, no `notice`, and at position 0.
    pub const fn plain(tag: Tag, code: Code, transaction: Option<Timestamp>) -> Self {
        Self { tag, code, again: false, position: 0, notice: false, transaction }
    }

    /// The meaning of a beat.
    ///
    /// # Errors
    /// When its code means nothing.
    pub fn decode(beat: u64) -> Result<Self, ResponseError> {
        let code = (beat >> 8 & 0xF) as u8;
        Ok(Self {
            tag: Tag::of_id(beat as u16),
            code: *Code::ALL.get(code as usize).ok_or(ResponseError { beat, code })?,
            again: beat >> 7 & 1 == 1,
            position: (beat >> 12 & 7) as u8,
            notice: beat >> 15 & 1 == 1,
            transaction: Timestamp::of_word(beat),
        })
    }

    /// The beat's 64 bits.
    pub fn encode(self) -> u64 {
        let Self { tag, code, again, position, notice, transaction } = self;
        u64::from(tag.0)
            | u64::from(again) << 7
            | (code as u64) << 8
            | u64::from(position & 7) << 12
            | u64::from(notice) << 15
            | transaction.map_or(0, Timestamp::word)
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
mod tests;
