// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lanes against the machine of `ndp_runtime`.

mod bench;
mod dut;
mod mutants;
mod suite;

use std::cell::Cell;

#[test]
fn packets_are_those_of_the_machine() {
    let all = Cell::new([0; 4]);
    let seeds = seeds::of!(24);
    seeds.each(|seed| {
        let kinds = suite::packets(seed)?;
        all.set(std::array::from_fn(|kind| all.get()[kind] + kinds[kind]));
        Ok::<_, String>(())
    });
    let least = if seeds.is_whole() { 100 } else { 0 };
    assert!(all.get().iter().all(|kind| *kind >= least), "{:?} rows of each kind", all.get());
}

#[test]
fn any_words_end_each_row() {
    seeds::each!(6, suite::any_words);
}

#[test]
fn every_column_is_read() {
    suite::every_column().unwrap();
}

#[test]
fn nulls_of_an_earlier_program_are_gone() {
    suite::fewer_outputs().unwrap();
}

#[test]
fn operations_meet_their_corners() {
    suite::corners().unwrap();
}

#[test]
fn comparisons_find_the_first_byte_that_differs() {
    suite::comparisons().unwrap();
}

#[test]
fn a_program_without_an_end_ends() {
    suite::no_end().unwrap();
}

#[test]
fn the_stream_of_rows_binds_not_the_lanes() {
    suite::rates().unwrap();
}
