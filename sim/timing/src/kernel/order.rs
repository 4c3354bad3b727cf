// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sorting the events of a bucket by their keys, equal ones in the order they stand in.

use super::wheel::KEY_BITS;

/// The indices of some keys in descending order of the keys. They differ, but for negative ones, which stand
/// for none: what comes behind the others means nothing.
///
/// Each key's rank is counted, which needs no branch that hangs on a key: a branch that goes either way
/// costs more than all these comparisons, of which the processor does several at once.
#[inline]
pub(super) fn descending<const N: usize>(keys: &[i32; N]) -> [u8; N] {
    let mut ranks = [0; N];
    for other in keys {
        for (rank, key) in ranks.iter_mut().zip(keys) {
            *rank += u32::from(other > key);
        }
    }
    let mut indices = [0; N];
    for (index, rank) in ranks.into_iter().enumerate() {
        indices[rank as usize % N] = index as u8;
    }
    indices
}

const DIGIT_BITS: u32 = KEY_BITS / 2;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Sorts numbers whose upper half is a key of [`KEY_BITS`] bits in descending order of the keys. Equal ones
/// keep their order. `spare` is room to work in.
pub(super) fn sort(numbers: &mut Vec<u64>, spare: &mut Vec<u64>) {
    // A burst at one instant, of one priority.
    if numbers.is_sorted_by(|first, second| first >> 32 >= second >> 32) {
        return;
    }
    let digit = |number: u64, shift: u32| (number >> shift) as usize % DIGITS;
    const SHIFTS: [u32; 2] = [32, 32 + DIGIT_BITS];
    let mut counts = [[0u32; DIGITS]; 2];
    for &number in numbers.iter() {
        for (counts, shift) in counts.iter_mut().zip(SHIFTS) {
            counts[digit(number, shift)] += 1;
        }
    }
    for (counts, shift) in counts.iter_mut().zip(SHIFTS) {
        let all_alike = counts[digit(numbers[0], shift)] as usize == numbers.len();
        if all_alike {
            continue;
        }
        let mut start = 0;
        for count in counts.iter_mut().rev() {
            (*count, start) = (start, start + *count);
        }
        spare.clear();
        spare.resize(numbers.len(), 0);
        for &number in numbers.iter() {
            let place = &mut counts[digit(number, shift)];
            spare[*place as usize] = number;
            *place += 1;
        }
        std::mem::swap(numbers, spare);
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::strategy::Strategy;

    use super::*;

    seeds::proptest! {
        #![cases(200)]

        #[test]
        fn numbers_are_sorted_by_key_and_place(keys in proptest::collection::vec(0u64..1 << KEY_BITS, 0..300)) {
            let mut numbers: Vec<u64> = keys.iter().zip(0..).map(|(key, place)| key << 32 | place).collect();
            let mut expected = numbers.clone();
            expected.sort_by_key(|number| Reverse(number >> 32));
            sort(&mut numbers, &mut Vec::new());
            proptest::prop_assert_eq!(numbers, expected);
        }

        #[test]
        fn few_are_sorted_by_their_ranks(
            drawn in proptest::sample::subsequence((0i32..100).collect::<Vec<_>>(), 0..=16).prop_shuffle()
        ) {
            let mut keys = [-1; 16];
            keys[..drawn.len()].copy_from_slice(&drawn);
            let mut expected: Vec<u8> = (0..drawn.len() as u8).collect();
            expected.sort_by_key(|index| Reverse(keys[usize::from(*index)]));
            proptest::prop_assert_eq!(&descending(&keys)[..drawn.len()], &expected[..]);
        }
    }
}
