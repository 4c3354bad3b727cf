//! Ways to break the store on purpose, so that its tests can be seen to notice.
//!
//! Only the feature `faults` compiles them in; without it every question is answered by `false` at
//! compile time.

#[cfg(feature = "faults")]
use std::sync::atomic::{AtomicU8, Ordering};

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
    NearDataLogBeforeSeal,
    NearDataHeadsNotPublished,
    NearDataLocksReleasedEarly,
    NearDataLocksLeft,
    NearDataGrantsKept,
    NearDataPiecesNotMarked,
    NearDataNotFlushed,
    NearDataPageMapForgotten,
    NearDataPlacesNotClaimed,
    NearDataVacuumed,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 33] = [
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
        Fault::NearDataLogBeforeSeal,
        Fault::NearDataHeadsNotPublished,
        Fault::NearDataLocksReleasedEarly,
        Fault::NearDataLocksLeft,
        Fault::NearDataGrantsKept,
        Fault::NearDataPiecesNotMarked,
        Fault::NearDataNotFlushed,
        Fault::NearDataPageMapForgotten,
        Fault::NearDataPlacesNotClaimed,
        Fault::NearDataVacuumed,
    ];
}

/// The one fault that a store has, if any.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    #[cfg(feature = "faults")]
    planted: AtomicU8,
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
}
