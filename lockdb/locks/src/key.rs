// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a tuple version to its bucket.

/// The key of a lock: one version of one tuple.
///
/// Source: ccSLT paper, section 3, "a hash function using a combination of VID and tuple version
/// number as key".
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct TupleKey {
    /// The tuple's VID, the same for all its versions.
    pub vid: u64,
    /// The version's number.
    pub version: u32,
}

impl TupleKey {
    /// A key from its two parts.
    #[inline]
    pub const fn new(vid: u64, version: u32) -> Self {
        Self { vid, version }
    }

    /// The first version of row `vid`.
    #[inline]
    pub const fn initial(vid: u64) -> Self {
        Self { vid, version: 0 }
    }

    /// The hash whose low bits choose the bucket; the hardware computes the same bits.
    ///
    /// Exclusive-or of shifts only: three gates deep, no carry. The map from VID is a unit
    /// triangular matrix, so 2ⁿ consecutive VIDs fall into 2ⁿ different buckets. The version is
    /// spread to two distant places so that neighbours' versions rarely meet.
    #[inline]
    pub const fn mix(self) -> u64 {
        let version = self.version as u64;
        self.vid ^ (self.vid >> 17) ^ (self.vid >> 31) ^ (version << 5) ^ (version << 13)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn consecutive_vids_never_collide_within_a_table() {
        let buckets = 1 << 12;
        for start in [0u64, 77, 1 << 20, u64::MAX - 5000] {
            let seen: HashSet<u64> =
                (0..buckets).map(|i| TupleKey::new(start + i, 3).mix() & (buckets - 1)).collect();
            assert_eq!(seen.len() as u64, buckets, "from VID {start}");
        }
    }

    #[test]
    fn versions_of_one_tuple_move_to_other_buckets() {
        let buckets = 1u64 << 16;
        let seen: HashSet<u64> =
            (0..32).map(|v| TupleKey::new(12345, v).mix() & (buckets - 1)).collect();
        assert_eq!(seen.len(), 32);
    }

    #[test]
    fn strided_vids_fill_at_least_half_of_what_they_could() {
        let buckets = 1u64 << 16;
        for stride in [2u64, 64, 4096, 1 << 17, 1 << 31] {
            let seen: HashSet<u64> =
                (0..4096).map(|i| TupleKey::new(i * stride, 0).mix() & (buckets - 1)).collect();
            assert!(seen.len() >= 2048, "stride {stride}: {} buckets", seen.len());
        }
    }

    /// The hardware's bits, as vectors to hold the Bluespec function against.
    #[test]
    fn known_answers() {
        assert_eq!(TupleKey::new(0, 0).mix(), 0);
        assert_eq!(TupleKey::new(1, 0).mix(), 1);
        assert_eq!(TupleKey::new(0, 1).mix(), 0x2020);
        assert_eq!(TupleKey::new(1 << 31, 0).mix(), (1 << 31) | (1 << 14) | 1);
    }
}
