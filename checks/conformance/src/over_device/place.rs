// SPDX-License-Identifier: MIT OR Apache-2.0
//! A drawn table moved to memory that the device can reach.

use crate::case::{Case, LockTableShape};

/// The case with its first line at `address`, where memory of `lines` lines is.
///
/// The table stays as large as it was drawn as long as its bucket 0 has an address; only the lines
/// that keys lie in have memory. Otherwise it is made smaller: keys then lie in the buckets of their
/// hashes' lower bits.
pub(super) fn placed(mut case: Case, address: u64, lines: usize) -> Case {
    let LockTableShape { log2_buckets, first_bucket, lines: used, .. } = case.table;
    let at = |log2: u8| {
        let first_bucket = first_bucket & ((1 << log2) - 1);
        let fits = first_bucket + used as u64 <= 1 << log2;
        let base = address.checked_sub(64 * first_bucket).filter(|_| fits)?;
        let last = (64u64 << log2) - 1;
        base.checked_add(last)?;
        Some(LockTableShape { base, log2_buckets: log2, first_bucket, lines: used })
    };
    let whole = || {
        let log2_buckets = log2_buckets.min(lines.ilog2() as u8);
        LockTableShape { base: address, log2_buckets, first_bucket: 0, lines: 1 << log2_buckets }
    };
    case.table = (0..=log2_buckets).rev().find_map(at).unwrap_or_else(whole);
    // Memory makes no errors here.
    (case.buses.errors_per_mille, case.buses.failing_access) = (0, 0);
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw;

    #[test]
    fn placed_cases_are_possible_and_have_their_keys_in_memory() {
        for seed in 0..400 {
            for address in [0x1000, 0x1_0000_0000, 0x7000_0000_0000] {
                let case = placed(draw::case(seed), address, 64);
                assert_eq!(case.check(), Ok(()), "seed {seed} at {address:#x}");
                assert_eq!(case.table.address(0), address, "seed {seed} at {address:#x}");
                assert!(case.table.lines <= 64);
            }
        }
    }
}
