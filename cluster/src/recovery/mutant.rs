// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ways to break recovery on purpose, whatever the protocol.

/// A planted bug of recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mutant {
    /// Recovery throws the records of dead coordinators away.
    DeadCoordinatorsForgotten,
    /// Recovery commits nothing: it takes every transaction in flight for aborted.
    NothingCommitted,
    /// Locks of the old view stay after recovery.
    LocksKept,
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
    /// A process that begins anew takes the log of the one before for its own.
    LogOutlivesProcess,
    /// Of several records of one transaction, only the one that came first is kept.
    RecordsNotMerged,
    /// A decision that comes with a record counts before the exchange has ended.
    DecisionsCountAtOnce,
}

impl Mutant {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::DeadCoordinatorsForgotten,
        Self::NothingCommitted,
        Self::LocksKept,
        Self::ReceivedRecordsForgotten,
        Self::RecoveredTooEarly,
        Self::FillingMissesUpdates,
        Self::CopyOverwrites,
        Self::FilledTooEarly,
        Self::EvictedTooEarly,
        Self::LogOutlivesProcess,
        Self::RecordsNotMerged,
        Self::DecisionsCountAtOnce,
    ];
}

/// The bug that is planted in recovery, if one is.
pub type Planted = crate::mutant::Planted<Mutant>;
