// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ways to break the engine on purpose, so that its tests can be seen to notice.
//!
//! Only the feature `mutants` compiles them in; without it every question is answered by `false` at
//! compile time.

/// A way to break the engine.
#[allow(missing_docs)] // the names say it
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    LockSkipped,
    CheckSkipped,
    ConflictLeftToHost,
    TimeoutIgnored,
    CancelledBeforeIdle,
    TagFreedWithPollOpen,
    PredecessorLost,
    NumberKept,
    CreatedNotStamped,
    NewestNotStamped,
    SyncSkipped,
    EntryLostAtChunkEnd,
    EntryRepeatedInNextChunk,
}

impl Mutant {
    /// All of them.
    pub const ALL: [Mutant; 13] = [
        Mutant::LockSkipped,
        Mutant::CheckSkipped,
        Mutant::ConflictLeftToHost,
        Mutant::TimeoutIgnored,
        Mutant::CancelledBeforeIdle,
        Mutant::TagFreedWithPollOpen,
        Mutant::PredecessorLost,
        Mutant::NumberKept,
        Mutant::CreatedNotStamped,
        Mutant::NewestNotStamped,
        Mutant::SyncSkipped,
        Mutant::EntryLostAtChunkEnd,
        Mutant::EntryRepeatedInNextChunk,
    ];
}

/// The one mutant that an engine has, if any.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Planted {
    #[cfg(feature = "mutants")]
    mutant: Option<Mutant>,
}

impl Planted {
    #[cfg(feature = "mutants")]
    pub(super) fn of(mutant: Option<Mutant>) -> Self {
        Self { mutant }
    }

    #[cfg(feature = "mutants")]
    pub(super) fn has(self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    #[cfg(not(feature = "mutants"))]
    #[inline(always)]
    pub(super) fn has(self, _: Mutant) -> bool {
        false
    }
}
