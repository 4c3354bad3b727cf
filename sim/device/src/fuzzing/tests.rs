// SPDX-License-Identifier: MIT OR Apache-2.0
use std::cell::Cell;

use rand::RngExt;

use super::*;

/// The same function as the fuzz target's, for random bytes.
#[test]
fn random_maps_and_copies_do_what_the_model_does() {
    let name = "fuzzing::tests::random_maps_and_copies_do_what_the_model_does";
    let total = Cell::new(Reached::default());
    crate::test_seeds::for_each_seed(name, 100, |generator| {
        let data: Vec<u8> = (0..2000).map(|_| generator.random()).collect();
        let (reached, before) = (memory(&data), total.get());
        total.set(Reached {
            mapped: before.mapped + reached.mapped,
            unmapped: before.unmapped + reached.unmapped,
            words: before.words + reached.words,
            copied: before.copied + reached.copied,
            refused: before.refused + reached.refused,
        });
    });
    let Reached { mapped, unmapped, words, copied, refused } = total.get();
    println!(
        "{mapped} maps, {unmapped} unmapped, {words} words, {copied} bytes, {refused} refused"
    );
    let all = mapped > 0 && unmapped > 0 && words > 0 && copied > 0 && refused > 0;
    assert!(all || std::env::var_os("LOCKSTEP_SEED").is_some(), "{:?}", total.get());
}
