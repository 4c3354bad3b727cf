// SPDX-License-Identifier: MIT OR Apache-2.0
//! The index in RTL does and answers what the machine does, whatever is asked and however memory behaves.

mod bench;
mod dut;
mod mutants;
mod random;
mod rate;
mod watch;

use dut::{MUTANTS, NARROW, SHIPPED, WIDE};

#[test]
fn one_object_in_an_entry() {
    seeds::each!(60, |seed| random::right(NARROW, 0, seed).map(drop));
}

#[test]
fn entries_of_two_lines() {
    seeds::each!(60, |seed| random::right(MUTANTS, 0, seed).map(drop));
}

#[test]
fn entries_of_four_lines() {
    seeds::each!(60, |seed| random::right(WIDE, 0, seed).map(drop));
}

#[test]
fn as_shipped() {
    seeds::each!(10, |seed| random::right(SHIPPED, 0, seed).map(drop));
}

#[test]
fn a_memory_that_fails() {
    for subject in [NARROW, MUTANTS, WIDE] {
        println!("{}", subject.name);
        seeds::each!(40, |seed| random::failing(subject, 0, seed).map(drop));
    }
}

#[test]
fn resets_in_the_middle_of_traffic() {
    for subject in [NARROW, MUTANTS, WIDE] {
        println!("{}", subject.name);
        seeds::each!(40, |seed| random::resets(subject, 0, seed).map(drop));
    }
}

#[test]
fn one_seed_gives_the_same_twice() {
    for subject in [NARROW, MUTANTS, WIDE] {
        let twice = [(); 2].map(|()| random::failing(subject, 0, 1).unwrap());
        assert_eq!(twice[0], twice[1]);
    }
}
