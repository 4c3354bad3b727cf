// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ways to break the store on purpose, so that its tests can be seen to notice.
//!
//! Only the feature `mutants` compiles them in; without it every question is answered by `false` at
//! compile time.

#[cfg(feature = "mutants")]
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

/// A way to break the store.
#[allow(missing_docs)] // the names say it
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mutant {
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

impl Mutant {
    /// All of them.
    pub const ALL: [Mutant; 34] = [
        Mutant::LockSkipped,
        Mutant::LockReleasedBeforeInstall,
        Mutant::SnapshotTakenLate,
        Mutant::WriteConflictIgnored,
        Mutant::ReadsNotValidated,
        Mutant::RangesNotValidated,
        Mutant::NoReadAfterWait,
        Mutant::PublishedBeforeInstall,
        Mutant::NewerVersionVisible,
        Mutant::RolledBackWritesKept,
        Mutant::LogOmitsAChange,
        Mutant::AcknowledgedBeforeDurable,
        Mutant::VoidRecordReplayed,
        Mutant::ReplayIgnoresOrder,
        Mutant::CheckpointLosesPageMapEntry,
        Mutant::CheckpointBeforeLog,
        Mutant::PageReusedBeforeCheckpoint,
        Mutant::VacuumIgnoresSnapshots,
        Mutant::VacuumWithoutLock,
        Mutant::SharedStateLosesVidEntry,
        Mutant::SharedStateLosesPage,
        Mutant::TombstoneIgnored,
        Mutant::OldIndexEntryKept,
        Mutant::NearDataLogBeforeFinalize,
        Mutant::NearDataHeadsNotPublished,
        Mutant::NearDataLocksReleasedEarly,
        Mutant::NearDataLocksLeft,
        Mutant::NearDataReservationsKept,
        Mutant::NearDataChunksNotMarked,
        Mutant::NearDataNotFlushed,
        Mutant::NearDataPageMapForgotten,
        Mutant::NearDataPlacesNotClaimed,
        Mutant::NearDataVacuumed,
        Mutant::ChangesNotTold,
    ];
}

/// The one mutant that a store has, if any.
#[derive(Debug, Default)]
pub(crate) struct Mutants {
    #[cfg(feature = "mutants")]
    planted: AtomicU8,
    #[cfg(feature = "mutants")]
    gate: Gate,
}

/// Where a test can hold commits up.
#[cfg(feature = "mutants")]
#[derive(Debug, Default)]
struct Gate {
    closed: AtomicBool,
    waiting: AtomicUsize,
}

impl Mutants {
    #[cfg(feature = "mutants")]
    pub(crate) fn plant(&self, mutant: Option<Mutant>) {
        self.planted.store(mutant.map_or(0, |mutant| mutant as u8), Ordering::SeqCst);
    }

    #[cfg(feature = "mutants")]
    #[inline]
    pub(crate) fn has(&self, mutant: Mutant) -> bool {
        self.planted.load(Ordering::Relaxed) == mutant as u8
    }

    #[cfg(not(feature = "mutants"))]
    #[inline(always)]
    pub(crate) fn has(&self, _: Mutant) -> bool {
        false
    }

    #[cfg(feature = "mutants")]
    pub(crate) fn hold(&self, held: bool) {
        self.gate.closed.store(held, Ordering::SeqCst);
    }

    #[cfg(feature = "mutants")]
    pub(crate) fn held_up(&self) -> usize {
        self.gate.waiting.load(Ordering::SeqCst)
    }

    /// Returns at once unless a test stops threads here.
    #[cfg(feature = "mutants")]
    pub(crate) fn pass_gate(&self) {
        self.gate.waiting.fetch_add(1, Ordering::SeqCst);
        while self.gate.closed.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        self.gate.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    #[cfg(not(feature = "mutants"))]
    #[inline(always)]
    pub(crate) fn pass_gate(&self) {}
}
