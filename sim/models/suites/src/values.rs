// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values that tests draw from.

use rand::{Rng, RngExt};

/// So many different values of `bits` bits, at most 64, each of which differs from another in one bit: a block that
/// loses a bit, or compares all bits but one, takes one for another.
///
/// # Panics
///
/// If there are not that many.
pub fn close_values(random: &mut impl Rng, count: usize, bits: u32) -> Vec<u64> {
    assert!(
        (1..=64).contains(&bits) && count as u128 <= 1 << bits,
        "{count} values of {bits} bits"
    );
    let mut values = vec![random.random::<u64>() >> (64 - bits)];
    while values.len() < count {
        let near = values[random.random_range(0..values.len())] ^ 1 << random.random_range(0..bits);
        if !values.contains(&near) {
            values.push(near);
        }
    }
    values
}

/// Where so many bytes may begin in 64 bits of address: any place that is a multiple of `multiple`, from which they do not
/// go round the end.
///
/// # Panics
///
/// If `multiple` is 0.
pub fn anywhere(random: &mut impl Rng, bytes: usize, multiple: u64) -> u64 {
    random.random_range(0..=(u64::MAX - bytes as u64) / multiple) * multiple
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::{anywhere, close_values};

    #[test]
    fn each_value_is_a_bit_away_from_another() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for (count, bits) in [(1, 1), (2, 1), (5, 16), (16, 4), (9, 64)] {
            let values = close_values(&mut random, count, bits);
            assert_eq!(values.len(), count);
            for value in &values {
                assert!(u128::from(*value) < 1 << bits);
                let is_close = values.iter().any(|other| (value ^ other).count_ones() == 1);
                assert!(is_close || count == 1, "{value} is alone among {values:?}");
            }
        }
    }
    #[test]
    fn a_place_is_a_multiple_with_room_behind_it() {
        let mut random = ChaCha8Rng::seed_from_u64(8);
        for (bytes, multiple) in [(1, 1), (64, 64), (1 << 20, 1 << 20), (usize::MAX - 64, 32)] {
            for _ in 0..100 {
                let place = anywhere(&mut random, bytes, multiple);
                assert_eq!(place % multiple, 0);
                assert!(place.checked_add(bytes as u64).is_some(), "{bytes} bytes at {place:#x}");
            }
        }
    }
}
