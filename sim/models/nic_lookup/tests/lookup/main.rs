// SPDX-License-Identifier: MIT OR Apache-2.0
//! The look-ups in RTL do and answer what the machines do, whatever is asked, however memory behaves, and
//! whatever the host does to its table meanwhile.

mod bench;
mod directed;
mod dut;
mod host;
mod mutants;
mod random;
mod registers;
mod shadow;

use dut::{MUTANTS, NARROW, SHIPPED, Subject, WIDE};
use nic::lookup::{COUNTERS, Counters};

/// Runs so many cases, of which each counter has met something.
fn right(
    subject: Subject,
    default: u64,
    test: fn(Subject, u8, u64) -> Result<random::Outcome, String>,
) {
    let mut sums = [0; COUNTERS];
    seeds::each!(default, |seed| {
        let outcome = test(subject, 0, seed)?;
        for (sum, (_, count)) in sums.iter_mut().zip(outcome.counters.by_name()) {
            *sum += count;
        }
        Ok::<_, String>(())
    });
    let names = Counters::default().by_name().map(|(name, _)| name);
    println!("{}: {:?}", subject.name, names.iter().zip(sums).collect::<Vec<_>>());
}

#[test]
fn slots_of_16_bytes_and_reads_of_one_line() {
    right(NARROW, 30, random::right);
}

#[test]
fn slots_of_32_bytes_and_reads_of_two_lines() {
    right(MUTANTS, 30, random::right);
}

#[test]
fn slots_of_two_lines() {
    right(WIDE, 30, random::right);
}

#[test]
fn as_shipped() {
    right(SHIPPED, 10, random::right);
}

#[test]
fn memories_that_fail() {
    for subject in [NARROW, MUTANTS, WIDE] {
        right(subject, 30, random::failing);
    }
}

#[test]
fn words_that_no_writer_has_written() {
    for subject in [NARROW, MUTANTS, WIDE] {
        right(subject, 30, random::spoiled);
    }
}

#[test]
fn what_random_runs_seldom_meet() {
    for subject in [NARROW, MUTANTS, WIDE] {
        seeds::each!(10, |seed| directed::all(subject, 0, seed));
    }
}

#[test]
fn one_seed_gives_the_same_twice() {
    for subject in [NARROW, WIDE] {
        let twice = [(); 2].map(|()| random::failing(subject, 0, 1).unwrap());
        assert_eq!(twice[0], twice[1]);
    }
}
