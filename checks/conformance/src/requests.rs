// SPDX-License-Identifier: MIT OR Apache-2.0
//! Translates the requests of a device's agent to beats of the request stream.

use std::collections::VecDeque;

use driver::lock_unit::stream::{TAGS, Tag, UnitOperation, UnitRequest, field};
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use rand::{Rng, RngExt};

use crate::agent::Action;
use crate::case::{Case, Stray};
use crate::oracle::Asked;

/// In whose name nobody waits: the bench itself.
const NOBODY: Timestamp = Timestamp::MAX;

/// Bits of the first and the last word that belong to no field.
const RESERVED: (u64, u64) = (
    !(field::TAG | field::OPERATION | field::RULE | field::TIMESTAMP),
    !(field::VERSION | field::TARGET),
);

/// A beat and what it means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beat {
    pub data: [u64; 3],
    pub asked: Asked,
}

/// The tags that are not in use.
#[derive(Clone, Debug)]
pub(crate) struct TagPool {
    /// Those in use or not, in their order.
    all: Vec<Tag>,
    free: VecDeque<Tag>,
}

impl TagPool {
    /// So many tags, far apart.
    pub fn new(count: u8, seed: u64) -> Self {
        let tag = |n: u64| Tag::new(((n * 37 + seed) % TAGS as u64) as u8).expect("below 128");
        let all: Vec<_> = (0..u64::from(count)).map(tag).collect();
        Self { free: all.iter().copied().collect(), all }
    }

    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// The tag that was given back last, so that what is left of its request would be found.
    pub fn take(&mut self) -> Tag {
        self.free.pop_front().expect("an agent acts only when a tag is free")
    }

    pub fn give_back(&mut self, tag: Tag) {
        assert!(!self.free.contains(&tag), "tag {} is given back twice", tag.index());
        self.free.push_front(tag);
    }

    pub fn nth(&self, nth: u8) -> Tag {
        self.all[usize::from(nth) % self.all.len()]
    }
}

/// The operation of an action; `tag_of` finds the tag of a wait.
pub(crate) fn operation(
    action: Action,
    case: &Case,
    tags: &TagPool,
    tag_of: impl Fn(u64) -> Tag,
) -> UnitOperation {
    match action {
        Action::Acquire { key, rule, .. } => UnitOperation::Acquire(key, rule),
        Action::Release { key, .. } => UnitOperation::Release(key),
        Action::Cancel { wait, .. } => UnitOperation::Cancel(tag_of(wait)),
        Action::Poll { wait, .. } => UnitOperation::Poll(tag_of(wait)),
        Action::Miss { nth, polls: true } => UnitOperation::Poll(tags.nth(nth)),
        Action::Miss { nth, .. } => UnitOperation::Cancel(tags.nth(nth)),
        Action::Stray(Stray::UnknownRule | Stray::UnknownOperation | Stray::NoTimestamp) => {
            UnitOperation::Acquire(case.key(0), Rule::Queue)
        }
        Action::Stray(_) => UnitOperation::Release(case.key(0)),
        Action::Repair { .. } => unreachable!("the host repairs"),
    }
}

/// A beat with random bits wherever the unit does not look.
pub(crate) fn beat(
    serial: u64,
    request: UnitRequest,
    stray: Option<Stray>,
    random: &mut impl Rng,
) -> Beat {
    let mut data = request.encode();
    for (word, reserved) in data.iter_mut().zip(ignored(request.operation)) {
        *word |= random.random::<u64>() & reserved;
    }
    let mut asked = Asked::from((serial, request));
    match stray {
        Some(Stray::UnknownOperation | Stray::OpenTagUnknownOperation) => {
            data[0] = field::set(data[0], field::OPERATION, random.random_range(4..16u64));
            asked.operation = None;
        }
        Some(Stray::UnknownRule) => {
            data[0] |= field::RULE;
            asked.operation = None;
        }
        Some(Stray::NoTimestamp) => {
            data[0] &= !field::TIMESTAMP;
            asked.transaction = None;
        }
        Some(Stray::OpenTag | Stray::ForeignCancel) | None => {}
    }
    Beat { data, asked }
}

/// The bits that the unit ignores for this operation.
fn ignored(operation: UnitOperation) -> [u64; 3] {
    let (low, high) = RESERVED;
    match operation {
        UnitOperation::Acquire(..) => [low, 0, high | field::TARGET],
        UnitOperation::Release(_) => [low | field::RULE, 0, high | field::TARGET],
        UnitOperation::Cancel(_) | UnitOperation::Poll(_) => {
            [low | field::RULE, !0, high | field::VERSION]
        }
    }
}

/// A release by a non-holder, which changes nothing whenever it is started.
pub(crate) fn harmless(tag: Tag, key: TupleKey) -> UnitRequest {
    UnitRequest { tag, transaction: NOBODY, operation: UnitOperation::Release(key) }
}

/// A cancel in the name of no transaction.
pub(crate) fn foreign_cancel(tag: Tag, target: Tag) -> UnitRequest {
    UnitRequest { tag, transaction: NOBODY, operation: UnitOperation::Cancel(target) }
}
