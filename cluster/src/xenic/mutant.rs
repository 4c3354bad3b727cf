// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ways to break the protocol on purpose, to show that the checks notice. Most are what the paper's text says
//! if it is taken literally; see the table of holes in `docs/xenic.md`.

use crate::recovery;

/// A planted bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mutant {
    /// A transaction commits without validating what it read.
    NoValidation,
    /// Transactions that have only read on the host look at its tables alone (4.2.4).
    LocalReadsOnHost,
    /// The NIC locks what a host has written, and does not compare what it has read (4.2.4).
    LocalWritesUnvalidated,
    /// The coordinator of a shipped transaction does not lock its keys that are only read (4.2.3).
    ShippedReadsUnlocked,
    /// The coordinator of a shipped transaction keeps its locks when the other node has aborted it.
    RemoteAbortKeepsLocks,
    /// A record takes a cell of the log before the host has applied the one that is there.
    CellReusedEarly,
    /// A lost message is waited for without end.
    LossNotDetected,
    /// Records go to the backups, also where the coordinator is one of them.
    CoordinatorIsHolder,
    /// Log workers apply records of several shards as they find them (4.2, step 7).
    LogAppliedUndecided,
    /// A primary unlocks its objects before they have their new values.
    UnlockedBeforePinned,
    /// A transaction that has only read is not validated.
    ReadOnlySkipsValidation,
    /// A transaction that needs a key twice takes its own lock for another's.
    OwnLockConflicts,
    /// A request that comes twice is served twice.
    NoDuplicateSuppression,
    /// The host is told of a commit while the holders have yet to answer.
    EndedBeforeLog,
    /// A pin is taken away before the host has applied the update.
    UnpinnedEarly,
    /// A node goes on when its lease has run out.
    LeaseNotChecked,
    /// Recovery takes a transaction of several shards for committed if there is a record of one of them.
    PartialRecordsCommit,
    /// Recovery aborts a transaction whose records do not cover all shards, though its slot has gone on.
    CountsNotCompared,
    /// A bug of recovery, which other protocols can have, too.
    Recovery(recovery::Mutant),
}

impl Mutant {
    /// All of its own.
    pub const ALL: [Self; 18] = [
        Self::NoValidation,
        Self::LocalReadsOnHost,
        Self::LocalWritesUnvalidated,
        Self::ShippedReadsUnlocked,
        Self::RemoteAbortKeepsLocks,
        Self::CellReusedEarly,
        Self::LossNotDetected,
        Self::CoordinatorIsHolder,
        Self::LogAppliedUndecided,
        Self::UnlockedBeforePinned,
        Self::ReadOnlySkipsValidation,
        Self::OwnLockConflicts,
        Self::NoDuplicateSuppression,
        Self::EndedBeforeLog,
        Self::UnpinnedEarly,
        Self::LeaseNotChecked,
        Self::PartialRecordsCommit,
        Self::CountsNotCompared,
    ];

    /// The bug of recovery that it is, if it is one.
    pub fn of_recovery(self) -> Option<recovery::Mutant> {
        match self {
            Self::Recovery(mutant) => Some(mutant),
            _ => None,
        }
    }
}

/// The bug that is planted in a cluster of Xenic, if one is.
pub type Planted = crate::mutant::Planted<Mutant>;
