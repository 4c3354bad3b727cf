//! Ways to break the store on purpose, so that its tests can be seen to notice.
//!
//! Only the feature `faults` compiles them in; without it every question is answered by `false` at
//! compile time.

#[cfg(feature = "faults")]
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

/// A way to break the store.
#[allow(missing_docs)] // the names say it
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fault {
    LockSkipped = 1,
    LockReleasedBeforeInstall,
    SnapshotTakenLate,
    WriteConflictIgnored,
    ReadsNotValidated,
    RangesNotValidated,
    NoReadAfterWait,
    PublishedBeforeInstall,
    NewerVersionVisible,
    RolledBackWritesKept,
    LogOmitsAChange,
    AcknowledgedBeforeDurable,
    VoidRecordReplayed,
    ReplayIgnoresOrder,
    CheckpointLosesPageMapEntry,
    CheckpointBeforeLog,
    PageReusedBeforeCheckpoint,
    VacuumIgnoresSnapshots,
    VacuumWithoutLock,
    SharedStateLosesVidEntry,
    SharedStateLosesPage,
    TombstoneIgnored,
    OldIndexEntryKept,
    NearDataLogBeforeFinalize,
    NearDataHeadsNotPublished,
    NearDataLocksReleasedEarly,
    NearDataLocksLeft,
    NearDataReservationsKept,
    NearDataChunksNotMarked,
    NearDataNotFlushed,
    NearDataPageMapForgotten,
    NearDataPlacesNotClaimed,
    NearDataVacuumed,
    ChangesNotTold,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 34] = [
        Fault::LockSkipped,
        Fault::LockReleasedBeforeInstall,
        Fault::SnapshotTakenLate,
        Fault::WriteConflictIgnored,
        Fault::ReadsNotValidated,
        Fault::RangesNotValidated,
        Fault::NoReadAfterWait,
        Fault::PublishedBeforeInstall,
        Fault::NewerVersionVisible,
        Fault::RolledBackWritesKept,
        Fault::LogOmitsAChange,
        Fault::AcknowledgedBeforeDurable,
        Fault::VoidRecordReplayed,
        Fault::ReplayIgnoresOrder,
        Fault::CheckpointLosesPageMapEntry,
        Fault::CheckpointBeforeLog,
        Fault::PageReusedBeforeCheckpoint,
        Fault::VacuumIgnoresSnapshots,
        Fault::VacuumWithoutLock,
        Fault::SharedStateLosesVidEntry,
        Fault::SharedStateLosesPage,
        Fault::TombstoneIgnored,
        Fault::OldIndexEntryKept,
        Fault::NearDataLogBeforeFinalize,
        Fault::NearDataHeadsNotPublished,
        Fault::NearDataLocksReleasedEarly,
        Fault::NearDataLocksLeft,
        Fault::NearDataReservationsKept,
        Fault::NearDataChunksNotMarked,
        Fault::NearDataNotFlushed,
        Fault::NearDataPageMapForgotten,
        Fault::NearDataPlacesNotClaimed,
        Fault::NearDataVacuumed,
        Fault::ChangesNotTold,
    ];
}

/// The one fault that a store has, if any.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    #[cfg(feature = "faults")]
    planted: AtomicU8,
    #[cfg(feature = "faults")]
    gate: Gate,
}

/// Where a test can hold commits up.
#[cfg(feature = "faults")]
#[derive(Debug, Default)]
struct Gate {
    closed: AtomicBool,
    waiting: AtomicUsize,
}

impl Faults {
    #[cfg(feature = "faults")]
    pub(crate) fn plant(&self, fault: Option<Fault>) {
        self.planted.store(fault.map_or(0, |fault| fault as u8), Ordering::SeqCst);
    }

    #[cfg(feature = "faults")]
    #[inline]
    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.planted.load(Ordering::Relaxed) == fault as u8
    }

    #[cfg(not(feature = "faults"))]
    #[inline(always)]
    pub(crate) fn has(&self, _: Fault) -> bool {
        false
    }

    #[cfg(feature = "faults")]
    pub(crate) fn hold(&self, held: bool) {
        self.gate.closed.store(held, Ordering::SeqCst);
    }

    #[cfg(feature = "faults")]
    pub(crate) fn held_up(&self) -> usize {
        self.gate.waiting.load(Ordering::SeqCst)
    }

    /// Returns at once unless a test stops threads here.
    #[cfg(feature = "faults")]
    pub(crate) fn pass_gate(&self) {
        self.gate.waiting.fetch_add(1, Ordering::SeqCst);
        while self.gate.closed.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        self.gate.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    #[cfg(not(feature = "faults"))]
    #[inline(always)]
    pub(crate) fn pass_gate(&self) {}
}
