// SPDX-License-Identifier: MIT OR Apache-2.0
//! The vectorizer in RTL does in each clock what the pure machine does, and copies the bytes that it
//! has to and no others, however memory behaves.

mod bench;
mod dut;
mod link;
mod mutants;
mod random;
mod rate;
mod registers;
mod scene;
mod shadow;

#[test]
fn elements_in_order() {
    seeds::each!(12, random::in_order);
}

#[test]
fn wrong_elements_and_lines_that_fail() {
    seeds::each!(24, random::with_errors);
}

#[test]
fn short_elements() {
    seeds::each!(8, random::short);
}

#[test]
fn elements_of_two_pieces_when_ids_run_out() {
    seeds::each!(3, random::two_pieces);
}

#[test]
fn waits_of_nearly_the_longest_times() {
    seeds::each!(4, random::long_waits);
}

#[test]
fn resets_in_the_middle() {
    seeds::each!(12, random::after_resets);
}

#[test]
fn one_seed_twice() {
    seeds::each!(2, random::twice);
}
