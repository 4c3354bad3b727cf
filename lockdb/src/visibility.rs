// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which version of a tuple a snapshot sees: a walk along the new-to-old chain, as a pure machine.
//!
//! Source: ccSLT paper, section 2.3, "one-point invalidation to determine the currently visible
//! version of a tuple to a transaction".

use super::layout::RecordId;

/// What a walk needs to know of the version that it stands at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Commit timestamp of the version's creator.
    pub created: u64,
    /// The version before it.
    pub predecessor: RecordId,
    /// Whether it says that the tuple is deleted.
    pub tombstone: bool,
}

/// The consequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// This is the version that the snapshot sees.
    Visible,
    /// The snapshot sees no row: none yet, or none any more.
    Absent,
    /// Too new: look at this one.
    Look(RecordId),
}

/// The first step: from the entry of the VID map.
#[inline]
pub fn enter(head: RecordId) -> Step {
    if head.is_none() { Step::Absent } else { Step::Look(head) }
}

/// The next step, at a version.
#[inline]
pub fn step(snapshot: u64, version: Seen) -> Step {
    if version.created > snapshot {
        enter(version.predecessor)
    } else if version.tombstone {
        Step::Absent
    } else {
        Step::Visible
    }
}
