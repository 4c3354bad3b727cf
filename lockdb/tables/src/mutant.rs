// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ways to break the tables on purpose, to show that the tests notice.

/// A planted bug.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutant {
    /// An insertion moves objects beginning at the home, not at the free end.
    MovesFromHome,
    /// A backward shift begins at its far end.
    ShiftsFromFarEnd,
    /// A look-up takes one reading without the key for its absence.
    NoConfirmation,
    /// A slot gets its even stamp before its other words.
    EvenStampFirst,
    /// A slot that is emptied begins to count its stamps anew.
    StampResetOnEmpty,
    /// The directory names the larger bucket before the objects are in it.
    DirectoryBeforeCopy,
    /// The old bucket is emptied before the directory names the new one.
    EmptyBeforeDirectory,
    /// A deleted object gives way to one of the overflow bucket that has left the bucket before.
    OverflowLeavesFirst,
    /// The parts of a slot are not compared with each other.
    PartsNotCompared,
    /// Links carry no stamp.
    LinksWithoutStamp,
    /// A value out of line is taken without a look at its lines' tickets.
    TicketsNotCompared,
    /// The header of a bucket and the slot are taken from one reading.
    HeaderNotConfirmed,
}

#[cfg(feature = "mutants")]
mod planted {
    use super::Mutant;
    use std::cell::Cell;

    thread_local!(static PLANTED: Cell<Option<Mutant>> = const { Cell::new(None) });

    /// Plants a bug in all tables and plans of this thread, or takes it out again.
    pub fn plant(mutant: Option<Mutant>) {
        PLANTED.set(mutant);
    }

    pub(crate) fn planted(mutant: Mutant) -> bool {
        PLANTED.get() == Some(mutant)
    }
}

#[cfg(feature = "mutants")]
pub use planted::plant;
#[cfg(feature = "mutants")]
pub(crate) use planted::planted;

#[cfg(not(feature = "mutants"))]
#[inline(always)]
pub(crate) const fn planted(_: Mutant) -> bool {
    false
}
