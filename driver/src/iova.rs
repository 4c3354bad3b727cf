// SPDX-License-Identifier: MIT OR Apache-2.0
//! The allocator of device addresses (I/O virtual addresses) for host memory.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Device addresses by ranges that may be used, and what of them is in use.
///
/// Invariants: what is in use lies within one usable range each, does not overlap, and is followed by
/// at least [`GAP`] unused bytes or the end of its range. An address that was given back is the last
/// to be given again, so that a device that still uses it is found out.
#[derive(Debug, Clone)]
pub struct Addresses {
    /// Usable ranges: first to last byte.
    usable: Vec<RangeInclusive<u64>>,
    /// First byte to number of bytes.
    used: BTreeMap<u64, u64>,
    /// Where to look first.
    next: u64,
}

/// Bytes between two allocations that no access may hit.
pub const GAP: u64 = 4096;

impl Addresses {
    /// Nothing in use yet; ranges that are empty or overlap an earlier one are left out.
    pub fn new(ranges: impl IntoIterator<Item = RangeInclusive<u64>>) -> Self {
        let mut usable: Vec<_> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        usable.sort_by_key(|range| *range.start());
        let mut end = None;
        usable.retain(|range| {
            let fits = end.is_none_or(|end| *range.start() > end);
            end = if fits { Some(*range.end()) } else { end };
            fits
        });
        let next = usable.first().map_or(0, |range| *range.start());
        Addresses { usable, used: BTreeMap::new(), next }
    }

    /// Takes `bytes` bytes from an address that is a multiple of `alignment`, a power of two. None
    /// when there is no room.
    pub fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<u64> {
        debug_assert!(bytes > 0 && alignment.is_power_of_two());
        let address = self
            .search(self.next, bytes, alignment)
            .or_else(|| self.search(0, bytes, alignment))?;
        self.used.insert(address, bytes);
        self.next = address.saturating_add(bytes);
        Some(address)
    }

    /// Gives back what [`Addresses::allocate`] gave; its size in bytes, or None when it is not in use.
    pub fn free(&mut self, address: u64) -> Option<u64> {
        self.used.remove(&address)
    }

    /// The first free place from `from` on.
    fn search(&self, from: u64, bytes: u64, alignment: u64) -> Option<u64> {
        self.usable.iter().filter(|range| *range.end() >= from).find_map(|range| {
            let mut at = from.max(*range.start()).checked_next_multiple_of(alignment)?;
            // Something may begin before `at` and reach into it.
            let before = self.used.range(..at).next_back();
            for (start, size) in before.into_iter().chain(self.used.range(at..)) {
                if at.checked_add(bytes)?.checked_add(GAP)? <= *start {
                    break;
                }
                let end = (start + size).checked_add(GAP)?;
                if end > at {
                    at = end.checked_next_multiple_of(alignment)?;
                }
            }
            (at.checked_add(bytes - 1)? <= *range.end()).then_some(at)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone, Copy)]
    enum Step {
        Allocate { bytes: u64, alignment: u64 },
        Free(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => (1..40u64, 0..10u32).prop_map(|(pages, shift)| Step::Allocate {
                bytes: pages * 1000,
                alignment: 4096 << shift,
            }),
            2 => any::<usize>().prop_map(Step::Free),
        ];
        prop::collection::vec(step, 1..200)
    }

    proptest! {
        #[test]
        fn nothing_overlaps_and_all_of_it_is_usable(steps in steps()) {
            let ranges = [0x1000..=0x7_FFFF, 0x10_0000..=0x10_0FFF, 0x20_0000..=0x3F_FFFF];
            let mut addresses = Addresses::new(ranges.clone());
            let mut model: Vec<(u64, u64)> = Vec::new();
            for step in steps {
                match step {
                    Step::Allocate { bytes, alignment } => {
                        let Some(at) = addresses.allocate(bytes, alignment) else { continue };
                        prop_assert!(at.is_multiple_of(alignment));
                        let last = at + bytes - 1;
                        prop_assert!(ranges.iter().any(|r| r.contains(&at) && r.contains(&last)));
                        for (start, size) in &model {
                            prop_assert!(at + bytes + GAP <= *start || start + size + GAP <= at);
                        }
                        model.push((at, bytes));
                    }
                    Step::Free(index) if !model.is_empty() => {
                        let (at, bytes) = model.swap_remove(index % model.len());
                        prop_assert_eq!(addresses.free(at), Some(bytes));
                        prop_assert_eq!(addresses.free(at), None);
                    }
                    Step::Free(_) => {}
                }
            }
        }
    }

    #[test]
    fn all_of_a_range_is_used_before_it_is_said_to_be_full() {
        let mut addresses = Addresses::new([0x1000..=0x8FFF]);
        let found: Vec<_> = (0..5).map(|_| addresses.allocate(0x1000, 0x1000)).collect();
        assert_eq!(found, [Some(0x1000), Some(0x3000), Some(0x5000), Some(0x7000), None]);
        addresses.free(0x3000).unwrap();
        assert_eq!(addresses.allocate(0x1000, 0x1000), Some(0x3000));
    }

    #[test]
    fn what_was_freed_is_not_given_again_at_once() {
        let mut addresses = Addresses::new([0x1000..=0xFFFF]);
        let first = addresses.allocate(0x1000, 0x1000).unwrap();
        addresses.free(first).unwrap();
        assert_ne!(addresses.allocate(0x1000, 0x1000), Some(first));
    }

    #[test]
    fn the_end_of_the_address_space_is_no_trap() {
        let mut addresses = Addresses::new([u64::MAX - 0xFFF..=u64::MAX]);
        assert_eq!(addresses.allocate(0x1000, 0x1000), Some(u64::MAX - 0xFFF));
        assert_eq!(addresses.allocate(1, 1), None);
        assert_eq!(Addresses::new([]).allocate(1, 1), None);
    }
}
