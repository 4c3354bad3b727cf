// SPDX-License-Identifier: MIT OR Apache-2.0
//! A word that says where a bucket goes on.

use crate::mutant::{Mutant, planted};

/// Where a bucket of slots lies, and how many it has.
///
/// ```text
/// 63    38  37            32  31   0
///  stamp     0, or order + 1   place
/// ```
///
/// The stamp grows with each change (modulo 2²⁶), so that a word that looks as it did was not changed in
/// between. It takes the word twice the 32 bits that place and size alone would need, but without it a bucket
/// that goes and comes back in the same place would confirm an absence that never was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Link(pub u64);

impl Link {
    /// The largest order.
    pub const MOST_ORDER: u32 = 30;
    const STAMP_SHIFT: u32 = 38;
    const ORDER_SHIFT: u32 = 32;
    const ORDER: u64 = 0x3F;

    /// The bucket's place, counted in the slots or buckets of the overflow area, and the order: it has 2 to
    /// the power of `order` slots. `None` when there is no bucket.
    pub const fn bucket(self) -> Option<(u32, u32)> {
        match self.0 >> Self::ORDER_SHIFT & Self::ORDER {
            0 => None,
            order if order > Self::MOST_ORDER as u64 + 1 => None,
            order => Some((self.0 as u32, order as u32 - 1)),
        }
    }

    /// Whether no writer made the word: it stands in a line that could not be read at one instant.
    pub const fn is_unreadable(self) -> bool {
        self.0 >> Self::ORDER_SHIFT & Self::ORDER > Self::MOST_ORDER as u64 + 1
    }

    /// The word that follows this one.
    ///
    /// # Panics
    /// When the order is over [`Link::MOST_ORDER`].
    #[must_use]
    pub fn changed_to(self, bucket: Option<(u32, u32)>) -> Self {
        let stamp =
            if planted(Mutant::LinksWithoutStamp) { 0 } else { (self.0 >> Self::STAMP_SHIFT) + 1 };
        let rest = bucket.map_or(0, |(place, order)| {
            assert!(order <= Self::MOST_ORDER, "order {order}");
            (order as u64 + 1) << Self::ORDER_SHIFT | place as u64
        });
        Link(stamp << Self::STAMP_SHIFT | rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_comes_back_is_another_word() {
        let first = Link::default().changed_to(Some((7, 3)));
        assert_eq!(first.bucket(), Some((7, 3)));
        let none = first.changed_to(None);
        assert_eq!((none.bucket(), none.is_unreadable()), (None, false));
        let again = none.changed_to(Some((7, 3)));
        assert_eq!(again.bucket(), first.bucket());
        assert_ne!(again, first);
    }

    #[test]
    fn the_stamp_wraps_and_leaves_the_rest() {
        let most = Link(u64::MAX << Link::STAMP_SHIFT);
        assert_eq!(most.changed_to(Some((u32::MAX, Link::MOST_ORDER))).0 >> Link::STAMP_SHIFT, 0);
        assert!(Link(u64::MAX).is_unreadable() && Link(u64::MAX).bucket().is_none());
    }
}
