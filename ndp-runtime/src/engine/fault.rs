//! Ways to break the engine on purpose, so that its tests can be seen to notice.
//!
//! Only the feature `faults` compiles them in; without it every question is answered by `false` at
//! compile time.

/// A way to break the engine.
#[allow(missing_docs)] // the names say it
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
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

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 13] = [
        Fault::LockSkipped,
        Fault::CheckSkipped,
        Fault::ConflictLeftToHost,
        Fault::TimeoutIgnored,
        Fault::CancelledBeforeIdle,
        Fault::TagFreedWithPollOpen,
        Fault::PredecessorLost,
        Fault::NumberKept,
        Fault::CreatedNotStamped,
        Fault::NewestNotStamped,
        Fault::SyncSkipped,
        Fault::EntryLostAtChunkEnd,
        Fault::EntryRepeatedInNextChunk,
    ];
}

/// The one fault that an engine has, if any.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Planted {
    #[cfg(feature = "faults")]
    fault: Option<Fault>,
}

impl Planted {
    #[cfg(feature = "faults")]
    pub(super) fn of(fault: Option<Fault>) -> Self {
        Self { fault }
    }

    #[cfg(feature = "faults")]
    pub(super) fn has(self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    #[cfg(not(feature = "faults"))]
    #[inline(always)]
    pub(super) fn has(self, _: Fault) -> bool {
        false
    }
}
