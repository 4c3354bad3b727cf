// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sorting the events of a bucket by their keys, equal ones in the order they stand in.

use super::pool::CHUNK;
use super::wheel::KEY_BITS;

/// The places of a chunk's first `len` events in the order of their keys, the last first.
///
/// Each event's rank is counted, which needs no branch that hangs on a key: a branch that goes
/// either way costs more than the comparisons of 16 keys.
#[inline]
pub(super) fn descending(keys: &[u32; CHUNK], len: usize) -> [u8; CHUNK] {
    let len = len.min(CHUNK);
    let mut ranks = [0u8; CHUNK];
    for later in 1..len {
        let mut rank = 0;
        for earlier in 0..later {
            let first = u8::from(keys[earlier] <= keys[later]);
            rank += first;
            ranks[earlier] += 1 - first;
        }
        ranks[later] = rank;
    }
    let mut places = [0u8; CHUNK];
    for (place, rank) in ranks[..len].iter().enumerate() {
        places[(len - 1 - usize::from(*rank)) % CHUNK] = place as u8;
    }
    places
}

/// Fewer are sorted faster by comparisons.
const COUNTED_FROM: usize = 64;
const DIGIT_BITS: u32 = KEY_BITS / 2;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Sorts numbers whose upper half is a key of [`KEY_BITS`] bits, and whose lower halves ascend.
/// `spare` is room to work in.
pub(super) fn sort(numbers: &mut Vec<u64>, spare: &mut Vec<u64>) {
    if numbers.len() < COUNTED_FROM {
        // The lower halves make it stable.
        return numbers.sort_unstable();
    }
    let digit = |number: u64, shift: u32| (number >> shift) as usize % DIGITS;
    const SHIFTS: [u32; 2] = [32, 32 + DIGIT_BITS];
    let mut counts = [[0u32; DIGITS]; 2];
    let (mut sorted, mut before) = (true, 0);
    for &number in numbers.iter() {
        sorted &= before <= number;
        before = number;
        for (counts, shift) in counts.iter_mut().zip(SHIFTS) {
            counts[digit(number, shift)] += 1;
        }
    }
    // A burst at one instant.
    if sorted {
        return;
    }
    for (counts, shift) in counts.iter_mut().zip(SHIFTS) {
        let mut start = 0;
        for count in counts.iter_mut() {
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
    use super::*;

    seeds::proptest! {
        #![cases(200)]

        #[test]
        fn numbers_are_sorted_by_key_and_place(keys in proptest::collection::vec(0u64..1 << KEY_BITS, 0..300)) {
            let mut numbers: Vec<u64> = keys.iter().zip(0..).map(|(key, place)| key << 32 | place).collect();
            let mut expected = numbers.clone();
            expected.sort_by_key(|number| number >> 32);
            sort(&mut numbers, &mut Vec::new());
            proptest::prop_assert_eq!(numbers, expected);
        }

        #[test]
        fn a_chunk_is_sorted_from_its_last_on(keys in proptest::collection::vec(0u32..20, 1..=CHUNK)) {
            let mut expected: Vec<u8> = (0..keys.len() as u8).collect();
            expected.sort_by_key(|place| keys[usize::from(*place)]);
            expected.reverse();
            let mut all = [u32::MAX; CHUNK];
            all[..keys.len()].copy_from_slice(&keys);
            proptest::prop_assert_eq!(&descending(&all, keys.len())[..keys.len()], &expected[..]);
        }
    }
}
