// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ways to break the protocol on purpose, to show that the checks notice.

/// A planted bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mutant {
    /// A transaction commits without validating what it read.
    NoValidation,
    /// Validation compares versions and takes locked rows for free ones.
    ValidationIgnoresLocks,
    /// A row counts as locked although another transaction holds its lock.
    LockNotTaken,
    /// A row is locked whatever its version is by now.
    VersionNotCompared,
    /// A WRITE unlocks a row before the one that brings its value.
    UnlockBeforeValue,
    /// A transaction commits while its records are still under way.
    LogNotAwaited,
    /// An attempt that is aborted leaves its locks.
    ForgottenUnlock,
    /// A worker rests although backups have yet to apply its records.
    NoFlush,
}

impl Mutant {
    /// All.
    pub const ALL: [Self; 8] = [
        Self::NoValidation,
        Self::ValidationIgnoresLocks,
        Self::LockNotTaken,
        Self::VersionNotCompared,
        Self::UnlockBeforeValue,
        Self::LogNotAwaited,
        Self::ForgottenUnlock,
        Self::NoFlush,
    ];
}

/// The bug that is planted in a cluster, if one is.
pub type Planted = crate::mutant::Planted<Mutant>;
