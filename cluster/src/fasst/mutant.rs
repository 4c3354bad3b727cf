// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ways to break the protocol on purpose, to show that the checks notice.

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
    /// Recovery throws the records of dead coordinators away.
    RecoveryForgetsDeadCoordinators,
    /// Recovery commits nothing: it takes every transaction in flight for aborted.
    RecoveryCommitsNothing,
    /// Locks of the old view stay after recovery.
    LockKeptAfterRecovery,
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
    /// A node that got records for the next view forgets them when yet another view is proposed.
    ReceivedRecordsForgotten,
    /// A node says that it is ready for the next view before it has the records of all others.
    RecoveredTooEarly,
    /// The updates of transactions do not go to replicas that are being filled.
    FillingMissesUpdates,
    /// A copied row replaces a newer one that an update has written meanwhile.
    CopyOverwrites,
    /// A replica counts as filled when the first rows have come.
    FilledTooEarly,
    /// The manager begins the next view when a lease may still run by the clock of its node.
    EvictedTooEarly,
    /// A coordinator drops its own record when the primaries have been asked, before they have answered.
    OwnRecordDroppedEarly,
    /// A process that begins anew takes the log of the one before for its own.
    LogOutlivesProcess,
}

impl Mutant {
    /// Those of the finer points of recovery, which only certain failures at certain times show.
    pub const OF_RECOVERY: [Self; 8] = [
        Self::ReceivedRecordsForgotten,
        Self::RecoveredTooEarly,
        Self::FillingMissesUpdates,
        Self::CopyOverwrites,
        Self::FilledTooEarly,
        Self::EvictedTooEarly,
        Self::OwnRecordDroppedEarly,
        Self::LogOutlivesProcess,
    ];

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
        Self::RecoveryForgetsDeadCoordinators,
        Self::RecoveryCommitsNothing,
        Self::LockKeptAfterRecovery,
        Self::StaleEpochServed,
        Self::LeaseNotChecked,
        Self::ReadOfLockedRow,
        Self::EndedBeforeLog,
        Self::LossNotDetected,
        Self::ReadOnlySkipsValidation,
        Self::RoundsNotCompared,
    ];
}

/// The bug that is planted in a cluster, if one is. Without the feature `mutants` there is never one,
/// and asking costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Planted(#[cfg(feature = "mutants")] Option<Mutant>);

impl Planted {
    /// This bug.
    #[cfg(feature = "mutants")]
    pub const fn new(mutant: Mutant) -> Self {
        Self(Some(mutant))
    }

    /// Whether the bug is this one.
    #[cfg(feature = "mutants")]
    #[inline]
    pub fn is(self, mutant: Mutant) -> bool {
        self.0 == Some(mutant)
    }

    /// Whether the bug is this one.
    #[cfg(not(feature = "mutants"))]
    #[inline(always)]
    pub const fn is(self, _: Mutant) -> bool {
        false
    }
}
