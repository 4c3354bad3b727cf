//! Requests for the lock unit and its responses, as beats. Source: `docs/lock-unit.md`.

use locks::machine::Rule;
use locks::{Timestamp, TupleKey};

/// What the unit is asked for under a tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    tag: u8,
    transaction: u64,
    operation: u64,
    rule: u64,
    key: TupleKey,
    target: u8,
}

impl Request {
    fn new(tag: u8, transaction: Timestamp, operation: u64) -> Self {
        let key = TupleKey::initial(0);
        Self { tag, transaction: transaction.get(), operation, rule: 0, key, target: 0 }
    }

    pub fn acquire(tag: u8, transaction: Timestamp, key: TupleKey, rule: Rule) -> Self {
        let rule = match rule {
            Rule::Queue => 0,
            Rule::NoWait => 1,
            Rule::WaitDie => 2,
        };
        Self { rule, key, ..Self::new(tag, transaction, 0) }
    }

    pub fn release(tag: u8, transaction: Timestamp, key: TupleKey) -> Self {
        Self { key, ..Self::new(tag, transaction, 1) }
    }

    pub fn cancel(tag: u8, transaction: Timestamp, target: u8) -> Self {
        Self { target, ..Self::new(tag, transaction, 2) }
    }

    pub fn poll(tag: u8, transaction: Timestamp, target: u8) -> Self {
        Self { target, ..Self::new(tag, transaction, 3) }
    }

    /// An operation that does not exist.
    pub fn unknown(tag: u8, transaction: Timestamp) -> Self {
        Self::new(tag, transaction, 9)
    }

    pub fn beat(self) -> [u64; 3] {
        let Self { tag, transaction, operation, rule, key, target } = self;
        let low = u64::from(tag) | operation << 8 | rule << 12 | transaction << 16;
        [low, key.vid, u64::from(key.version) | u64::from(target) << 32]
    }
}

/// The code of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Granted,
    Queued,
    RefusedFull,
    RefusedBusy,
    RefusedDie,
    RefusedContended,
    Released,
    Cancelled,
    NotHeld,
    BusError,
    TagBusy,
    NotWaiting,
    BadRequest,
    /// None that the document has.
    Unknown(u8),
}

impl Code {
    /// The code in a response beat.
    pub fn of(beat: u64) -> Self {
        use Code::*;
        let bits = (beat >> 8 & 0xF) as u8;
        let known = [
            Granted,
            Queued,
            RefusedFull,
            RefusedBusy,
            RefusedDie,
            RefusedContended,
            Released,
            Cancelled,
            NotHeld,
            BusError,
            TagBusy,
            NotWaiting,
            BadRequest,
        ];
        known.get(usize::from(bits)).copied().unwrap_or(Unknown(bits))
    }
}

/// A response beat with its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub tag: u8,
    pub code: Code,
    pub again: bool,
    pub position: u8,
    pub notice: bool,
    /// Released: who was handed the lock, 0 for nobody; otherwise the request's own.
    pub transaction: u64,
}

impl Response {
    pub fn decode(beat: u64) -> Self {
        Self {
            tag: beat as u8 & 0x7F,
            code: Code::of(beat),
            again: beat >> 7 & 1 == 1,
            position: (beat >> 12 & 7) as u8,
            notice: beat >> 15 & 1 == 1,
            transaction: beat >> 16,
        }
    }
}
