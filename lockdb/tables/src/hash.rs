// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a key to its home slot.

/// Knuth's multiplier: 2⁶⁴ divided by the golden ratio. Source: The Art of Computer Programming,
/// volume 3, section 6.4.
pub const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// The 32 bits of a key that choose its home. The hardware computes the same bits: one fold, and bits 32
/// to 63 of one product.
#[inline]
pub const fn hash(key: u64) -> u32 {
    ((key ^ (key >> 32)).wrapping_mul(MULTIPLIER) >> 32) as u32
}

/// The home of `key` among `slots` positions: the hash as a fraction of 2³² times `slots`.
///
/// Any number of slots will do, so that an occupancy is met exactly.
/// Source: Lemire, "Fast random integer generation in an interval", 2019, section 3.
#[inline]
pub const fn home(key: u64, slots: u32) -> u32 {
    ((hash(key) as u64 * slots as u64) >> 32) as u32
}

/// A bijection of 64 bits that scatters neighbours: the last step of SplitMix64. Its numbers are those of
/// `seed + n * MULTIPLIER`, modulo 2⁶⁴, for n from 1 on.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure 16.
#[inline]
pub const fn scatter(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_lie_among_the_slots_and_fill_them_evenly() {
        let slots = 1000;
        let mut counts = vec![0_u32; slots as usize];
        for key in 0..100_000 {
            counts[home(key, slots) as usize] += 1;
        }
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!((90..=110).contains(least) && (90..=110).contains(most), "{least} to {most}");
    }

    #[test]
    fn known_hashes() {
        assert_eq!(hash(0), 0);
        assert_eq!(hash(1), 0x9E37_79B9);
        assert_eq!(home(1, 1 << 31), 0x9E37_79B9 >> 1);
        assert_eq!(home(u64::MAX, 0), 0);
    }

    /// Of the generator with the seed 1234567, by its reference implementation in C (Vigna, splitmix64.c).
    #[test]
    fn known_numbers_of_splitmix64() {
        let numbers =
            [1, 2, 3].map(|n| scatter(MULTIPLIER.wrapping_mul(n).wrapping_add(1_234_567)));
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
