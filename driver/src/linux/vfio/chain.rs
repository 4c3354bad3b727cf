// SPDX-License-Identifier: MIT OR Apache-2.0
//! The capabilities that the kernel chains behind a structure.

use std::mem::{offset_of, size_of};

use vfio_bindings::bindings::vfio;

/// Where a capability has the offset of the next one.
const NEXT: usize = offset_of!(vfio::vfio_info_cap_header, next);
/// Where a capability of pairs has their number, and where the first is.
const COUNT: usize = offset_of!(vfio::vfio_region_info_cap_sparse_mmap, nr_areas);
const PAIRS: usize = offset_of!(vfio::vfio_region_info_cap_sparse_mmap, areas);
const PAIR_BYTES: usize = size_of::<vfio::vfio_region_sparse_mmap_area>();

// The other capability of pairs is laid out alike.
const _: () = {
    assert!(COUNT == offset_of!(vfio::vfio_iommu_type1_info_cap_iova_range, nr_iovas));
    assert!(PAIRS == offset_of!(vfio::vfio_iommu_type1_info_cap_iova_range, iova_ranges));
    assert!(PAIR_BYTES == size_of::<vfio::vfio_iova_range>());
};

/// Words as the kernel wrote them, seen as 32-bit words.
struct Halves<'a>(&'a [u64]);

impl Halves<'_> {
    /// The 32 bits at byte `offset`, if they are there; in the order of this machine, as the kernel's.
    fn word(&self, offset: usize) -> Option<u32> {
        let word = self.0.get(offset / 8)?.to_ne_bytes();
        let at = offset % 8;
        Some(u32::from_ne_bytes(word.get(at..at + 4)?.try_into().ok()?))
    }

    fn long(&self, offset: usize) -> Option<u64> {
        offset.is_multiple_of(8).then(|| self.0.get(offset / 8).copied()).flatten()
    }
}

/// Where the capability with an identifier is, from the byte on at which the first one is.
fn find(halves: &Halves<'_>, first: u32, identifier: u32) -> Option<usize> {
    // More than there are kinds; a chain that runs in a circle ends.
    const LINKS_MAX: usize = 32;
    let mut at = first as usize;
    for _ in 0..LINKS_MAX {
        if at == 0 || !at.is_multiple_of(4) {
            return None;
        }
        // struct vfio_info_cap_header: id and version in one word, then the offset of the next.
        let header = halves.word(at)?;
        if header & 0xFFFF == identifier {
            return Some(at);
        }
        at = halves.word(at + NEXT)? as usize;
    }
    None
}

/// The pairs of 64 bits in a capability that is a header, their number, a reserved word, and they:
/// the areas of a sparse region (offset and size), or the ranges of an IOMMU (first and last byte).
/// None when there is no such capability, or it does not fit.
pub fn pairs(words: &[u64], first: u32, identifier: u32) -> Option<Vec<(u64, u64)>> {
    let halves = Halves(words);
    let at = find(&halves, first, identifier)?;
    let count = halves.word(at + COUNT)? as usize;
    if count > words.len() {
        return None;
    }
    (0..count)
        .map(|pair| {
            let at = at + PAIRS + PAIR_BYTES * pair;
            Some((halves.long(at)?, halves.long(at + 8)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn word(low: u32, high: u32) -> u64 {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&low.to_ne_bytes());
        bytes[4..].copy_from_slice(&high.to_ne_bytes());
        u64::from_ne_bytes(bytes)
    }

    #[test]
    fn the_right_capability_is_found_behind_another() {
        let words = [
            word(64, 0),
            // At 8: capability 7, the next at 16; there: capability 1 with two pairs.
            word(0x1_0007, 16),
            word(0x1_0001, 0),
            word(2, 0),
            10,
            20,
            30,
            40,
        ];
        assert_eq!(pairs(&words, 8, 1), Some(vec![(10, 20), (30, 40)]));
        assert_eq!(pairs(&words, 8, 2), None);
        assert_eq!(pairs(&words, 0, 1), None);
        assert_eq!(pairs(&words[..7], 8, 1), None);
    }

    #[test]
    fn a_circle_ends() {
        assert_eq!(pairs(&[0, word(5, 8)], 8, 1), None);
    }

    proptest! {
        #[test]
        fn nothing_that_a_kernel_says_makes_it_panic(
            words in prop::collection::vec(prop_oneof![any::<u64>(), 0..64u64], 0..16),
            first in 0..200u32,
        ) {
            let _ = pairs(&words, first, 1);
        }
    }
}
