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

type Test = fn(Subject, u8, u64) -> Result<random::Outcome, String>;

/// Runs so many cases, which together have met all that is counted, but for what is named.
fn right(subject: Subject, default: u64, test: Test, never: &[&str]) {
    let (seeds, mut sums) = (seeds::of!(default), [0; COUNTERS]);
    seeds.each(|seed| {
        let outcome = test(subject, 0, seed)?;
        for (sum, (_, count)) in sums.iter_mut().zip(outcome.counters.by_name()) {
            *sum += count;
        }
        Ok::<_, String>(())
    });
    for ((name, _), sum) in Counters::default().by_name().into_iter().zip(sums) {
        let is_right = (sum == 0) == never.contains(&name);
        assert!(is_right || !seeds.is_whole(), "{}: {name} is {sum}", subject.name);
    }
}

/// What needs a memory that fails.
const FAILURES: [&str; 2] = ["NOT_READ", "INDEX_ERRORS"];

#[test]
fn slots_of_16_bytes_and_reads_of_one_line() {
    right(NARROW, 12, random::right, &FAILURES);
}

#[test]
fn slots_of_32_bytes_and_reads_of_two_lines() {
    right(MUTANTS, 12, random::right, &FAILURES);
}

#[test]
fn slots_of_two_lines() {
    right(WIDE, 12, random::right, &FAILURES);
}

#[test]
fn as_shipped() {
    right(SHIPPED, 12, random::right, &FAILURES);
}

#[test]
fn memories_that_fail() {
    for subject in [NARROW, MUTANTS, WIDE] {
        right(subject, 20, random::failing, &[]);
    }
}

#[test]
fn words_that_no_writer_has_written() {
    for subject in [NARROW, MUTANTS, WIDE] {
        right(subject, 24, random::spoiled, &FAILURES);
    }
}

#[test]
fn resets_in_the_middle_of_traffic() {
    for subject in [NARROW, MUTANTS, WIDE, SHIPPED] {
        let (seeds, mut lost) = (seeds::of!(8), 0);
        seeds.each(|seed| {
            lost += random::resets(subject, 0, seed)?.lost;
            Ok::<_, String>(())
        });
        assert!(lost > 0 || !seeds.is_whole(), "{}: no reset met a request", subject.name);
    }
}

#[test]
fn switched_off_and_on_in_the_middle_of_traffic() {
    for subject in [NARROW, MUTANTS, WIDE, SHIPPED] {
        seeds::each!(6, |seed| random::switches(subject, 0, seed).map(drop));
    }
}

#[test]
fn what_random_runs_seldom_meet() {
    for subject in [NARROW, MUTANTS, WIDE, SHIPPED] {
        seeds::each!(3, |seed| directed::all(subject, 0, seed));
    }
}

#[test]
fn one_seed_gives_the_same_twice() {
    for subject in [NARROW, WIDE] {
        let twice = [(); 2].map(|()| random::failing(subject, 0, 1).unwrap());
        assert_eq!(twice[0], twice[1]);
    }
}
