// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ways to break the look-ups on purpose, to show that the tests notice.

/// A planted bug.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mutant {
    /// One reading without the key is enough for its absence.
    NoConfirmation,
    /// Of the words of the directory of two readings, only place and order are compared.
    StampsNotCompared,
    /// The sums of stamps of two readings are not compared.
    SumsNotCompared,
    /// A reading with a torn slot counts as whole.
    TornIsWhole,
    /// A reading counts as whole whichever bucket it has read.
    AnyBucketIsWhole,
    /// A word that names a bucket outside the area counts as one that names none.
    OutsideIsNone,
    /// Only the slots that the index named are read of the row, in each reading.
    RestSkipped,
    /// A further reading reads the bucket that the index named.
    OldBucketReadAgain,
    /// The second part of a row or a bucket that does not fit one read is not read.
    OneReadIsEnough,
    /// An absence is confirmed by any reading before, also when one that was not whole came in between.
    OldReadingConfirms,
}

#[cfg(test)]
pub(super) use planted::{planted, with};

#[cfg(not(test))]
#[inline(always)]
pub(super) const fn planted(_: Mutant) -> bool {
    false
}

#[cfg(test)]
mod planted {
    use super::Mutant;
    use std::cell::Cell;

    thread_local!(static PLANTED: Cell<Option<Mutant>> = const { Cell::new(None) });

    /// Runs a closure with a bug in all look-ups of this thread.
    pub fn with<R>(mutant: Mutant, run: impl FnOnce() -> R) -> R {
        PLANTED.set(Some(mutant));
        let result = run();
        PLANTED.set(None);
        result
    }

    pub fn planted(mutant: Mutant) -> bool {
        PLANTED.get() == Some(mutant)
    }
}
