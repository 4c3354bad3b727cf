// SPDX-License-Identifier: MIT OR Apache-2.0
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// The same function as the fuzz target's, for random bytes.
#[test]
fn random_maps_and_copies_do_what_the_model_does() {
    let (seeds, mut total) = (seeds::of!(100), Reached::default());
    for seed in &seeds {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let data: Vec<u8> = (0..2000).map(|_| generator.random()).collect();
        let reached = memory(&data);
        total.mapped += reached.mapped;
        total.unmapped += reached.unmapped;
        total.words += reached.words;
        total.copied += reached.copied;
        total.refused += reached.refused;
    }
    let Reached { mapped, unmapped, words, copied, refused } = total;
    println!(
        "{mapped} maps, {unmapped} unmapped, {words} words, {copied} bytes, {refused} refused"
    );
    let all = mapped > 0 && unmapped > 0 && words > 0 && copied > 0 && refused > 0;
    assert!(all || !seeds.is_whole(), "{total:?}");
}
