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
        let shift = reach.max(LEAST).next_power_of_two().trailing_zeros();
        let count = (positions as u64).div_ceil(1 << shift).max(1);
        Stripes { locks: (0..count).map(|_| Mutex::new(Counts::default())).collect(), shift }
    }

    /// Takes the locks of the positions from `first` to `last`, in the order of the positions, so that no two
    /// threads wait for each other.
    pub(crate) fn lock(&self, first: u32, last: u32) -> Locked<'_> {
        let most = self.locks.len() - 1;
        let [first, last] = [first, last].map(|at| ((at >> self.shift) as usize).min(most));
        debug_assert!(last - first <= 1, "an operation lies in two stripes at most");
        Locked {
            counts: lock(&self.locks[first]),
            _next: (last > first).then(|| lock(&self.locks[last])),
        }
    }

    /// Says that the first lock of an operation will be taken soon.
    pub(crate) fn prefetch(&self, first: u32) {
        let index = ((first >> self.shift) as usize).min(self.locks.len() - 1);
        prefetch(&self.locks[index]);
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
