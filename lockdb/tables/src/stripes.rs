// SPDX-License-Identifier: MIT OR Apache-2.0
//! The locks of the host's writers.

use crate::primitive::{Mutex, MutexGuard, lock, prefetch};

/// How many objects there are whose homes lie in a stripe, and how many of them in overflow buckets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) objects: u32,
    pub(crate) overflowed: u32,
}

impl Counts {
    pub(crate) fn change(&mut self, objects: i32, overflowed: i32) {
        self.objects = self.objects.wrapping_add_signed(objects);
        self.overflowed = self.overflowed.wrapping_add_signed(overflowed);
    }
}

/// The least positions in a stripe, so that locks stay few.
const LEAST: u32 = 16;

/// One lock for each `1 << shift` positions.
#[derive(Debug)]
pub(crate) struct Stripes {
    locks: Box<[Mutex<Counts>]>,
    shift: u32,
}

/// The locks of an operation, which lies in one stripe or two.
pub(crate) struct Locked<'a> {
    pub(crate) counts: MutexGuard<'a, Counts>,
    _next: Option<MutexGuard<'a, Counts>>,
}

impl Stripes {
    /// Stripes for operations that each touch at most `reach` positions in a row.
    pub(crate) fn new(positions: u32, reach: u32) -> Self {
        let shift = u64::from(reach.max(LEAST)).next_power_of_two().trailing_zeros();
        let count = u64::from(positions).div_ceil(1 << shift).max(1);
        Stripes { locks: (0..count).map(|_| Mutex::new(Counts::default())).collect(), shift }
    }

    /// Takes the locks of `reach` positions from `first` on, in the order of the positions, so that no two
    /// threads wait for each other.
    pub(crate) fn lock(&self, first: u32, reach: u32) -> Locked<'_> {
        let last = u64::from(first) + u64::from(reach - 1);
        let [first, last] = [first.into(), last].map(|at| self.stripe(at));
        debug_assert!(last - first <= 1, "an operation lies in two stripes at most");
        Locked {
            counts: lock(&self.locks[first]),
            _next: (last > first).then(|| lock(&self.locks[last])),
        }
    }

    /// Says that the first lock of an operation will be taken soon.
    pub(crate) fn prefetch(&self, first: u32) {
        prefetch(&self.locks[self.stripe(first.into())]);
    }

    /// The stripe of a position. Those behind the last one belong to the last stripe.
    fn stripe(&self, position: u64) -> usize {
        ((position >> self.shift) as usize).min(self.locks.len() - 1)
    }

    /// The sum of all counts, each stripe at another instant.
    pub(crate) fn counts(&self) -> (u64, u64) {
        self.locks.iter().map(lock).fold((0, 0), |(objects, overflowed), stripe| {
            (objects + stripe.objects as u64, overflowed + stripe.overflowed as u64)
        })
    }

    /// Bytes of the locks.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.locks)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// As a Robin Hood table of 2³¹ slots has them, without a limit.
    #[test]
    fn operations_may_reach_over_the_largest_table() {
        let positions = (1 << 31) + (1 << 16);
        let stripes = Stripes::new(positions, positions);
        assert_eq!(stripes.locks.len(), 1);
        stripes.lock((1 << 31) - 1, positions).counts.change(1, 0);
        assert_eq!(stripes.counts(), (1, 0));
    }

    #[test]
    fn an_operation_takes_the_stripes_that_it_may_touch() {
        let stripes = Stripes::new(100, 16);
        for (first, reach, both) in
            [(0, 16, false), (1, 16, true), (15, 1, false), (15, 2, true), (99, 16, false)]
        {
            assert_eq!(stripes.lock(first, reach)._next.is_some(), both, "{reach} from {first} on");
        }
    }
}
