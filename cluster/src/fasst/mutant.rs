// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ways to break the protocol on purpose, to show that the checks notice.

use crate::recovery;

/// A planted bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mutant {
    /// A transaction commits without validating what it read.
    NoValidation,
    /// The write set is locked only after the read set was validated.
    ValidateBeforeLocks,
    /// Validation compares versions and takes locked headers for free ones.
    ValidationIgnoresLocks,
    /// Primaries are updated and unlocked while backups have yet to answer.
    UnlockBeforeBackups,
    /// Primaries are updated before backups.
    PrimariesBeforeBackups,
    /// Backups are updated before the record is logged.
    LogAfterBackups,
    /// A transaction that needs two keys below one header takes its own lock for another's.
    OwnLockConflicts,
    /// An attempt that is aborted leaves its locks.
    ForgottenUnlock,
    /// A request that comes twice is served twice.
    NoDuplicateSuppression,
    /// A primary's update leaves the header's version as it was.
    VersionNotRaised,
    /// Messages of an old view are served.
    StaleEpochServed,
    /// A node goes on when its lease has run out.
    LeaseNotChecked,
    /// A read takes the row of a locked header.
    ReadOfLockedRow,
    /// A client is told of a commit while the log's answers have yet to come.
    EndedBeforeLog,
    /// A lost message is waited for without end.
    LossNotDetected,
    /// A transaction that reads skips validation though its keys have several headers.
    ReadOnlySkipsValidation,
    /// The versions of two rounds of reads below one header are not compared with each other.
    RoundsNotCompared,
    /// A bug of recovery, which other protocols can have, too.
    Recovery(recovery::Mutant),
    /// A coordinator drops its own record when the primaries have been asked, before they have answered.
    OwnRecordDroppedEarly,
}

impl Mutant {
    /// Those of the finer points of recovery, which only certain failures at certain times show.
    pub const OF_RECOVERY: [Self; 8] = [
        Self::Recovery(recovery::Mutant::ReceivedRecordsForgotten),
        Self::Recovery(recovery::Mutant::RecoveredTooEarly),
        Self::Recovery(recovery::Mutant::FillingMissesUpdates),
        Self::Recovery(recovery::Mutant::CopyOverwrites),
        Self::Recovery(recovery::Mutant::FilledTooEarly),
        Self::Recovery(recovery::Mutant::EvictedTooEarly),
        Self::OwnRecordDroppedEarly,
        Self::Recovery(recovery::Mutant::LogOutlivesProcess),
    ];

    /// The bug of recovery that it is, if it is one.
    pub fn of_recovery(self) -> Option<recovery::Mutant> {
        match self {
            Self::Recovery(mutant) => Some(mutant),
            _ => None,
        }
    }

    /// All others.
    pub const ALL: [Self; 20] = [
        Self::NoValidation,
        Self::ValidateBeforeLocks,
        Self::ValidationIgnoresLocks,
        Self::UnlockBeforeBackups,
        Self::PrimariesBeforeBackups,
        Self::LogAfterBackups,
        Self::OwnLockConflicts,
        Self::ForgottenUnlock,
        Self::NoDuplicateSuppression,
        Self::VersionNotRaised,
        Self::Recovery(recovery::Mutant::DeadCoordinatorsForgotten),
        Self::Recovery(recovery::Mutant::NothingCommitted),
        Self::Recovery(recovery::Mutant::LocksKept),
        Self::StaleEpochServed,
        Self::LeaseNotChecked,
        Self::ReadOfLockedRow,
        Self::EndedBeforeLog,
        Self::LossNotDetected,
        Self::ReadOnlySkipsValidation,
        Self::RoundsNotCompared,
    ];
}

/// The bug that is planted in a cluster of FaSST, if one is.
pub type Planted = crate::mutant::Planted<Mutant>;
