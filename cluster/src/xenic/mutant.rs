// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ways to break the protocol on purpose, to show that the checks notice. Most are what the paper's text says
//! if it is taken literally; see the table of holes in `docs/xenic.md`.

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
    /// A pin is taken away with the record of another transaction.
    UnpinnedEarly,
}

impl Mutant {
    /// All of them.
    pub const ALL: [Self; 15] = [
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
