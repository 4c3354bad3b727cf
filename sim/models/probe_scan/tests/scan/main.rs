// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scanner in RTL answers what the pure machine of `nic` answers, whatever the lines are and however the
//! streams hold back.

mod bench;
mod dut;
mod mutants;
mod random;
mod rate;

use dut::{SLOTS_16, SLOTS_32, SLOTS_32_LONG_VALUES, SLOTS_64, SLOTS_128, SLOTS_320, Subject};

/// Random scans, for each seed.
fn suite(subject: Subject, seeds: seeds::Seeds) {
    seeds.each(|seed| random::run(subject, seed, 0).map(drop));
}

#[test]
fn slots_of_16_bytes() {
    suite(SLOTS_16, seeds::of!(100));
}

#[test]
fn slots_of_32_bytes() {
    suite(SLOTS_32, seeds::of!(400));
}

#[test]
fn slots_of_32_bytes_and_long_values() {
    suite(SLOTS_32_LONG_VALUES, seeds::of!(40));
}

#[test]
fn slots_of_64_bytes() {
    suite(SLOTS_64, seeds::of!(60));
}

#[test]
fn slots_of_128_bytes() {
    suite(SLOTS_128, seeds::of!(400));
}

#[test]
fn slots_of_320_bytes() {
    suite(SLOTS_320, seeds::of!(60));
}

#[test]
fn resets_in_the_middle() {
    seeds::each!(60, |seed| {
        for subject in [SLOTS_16, SLOTS_32, SLOTS_320] {
            random::after_resets(subject, seed, 0).unwrap();
        }
    });
}

#[test]
fn one_seed_gives_the_same_bytes_twice() {
    seeds::each!(3, |seed| {
        for subject in [SLOTS_32, SLOTS_128] {
            let [first, second] = [(); 2].map(|()| random::run(subject, seed, 0).unwrap());
            assert!(!first.is_empty() && first == second);
        }
    });
}

/// What the suite draws meets all that a scan can come to.
#[test]
fn each_status_is_met() {
    use rand::SeedableRng;
    let seeds = seeds::of!(20);
    for subject in [SLOTS_16, SLOTS_32, SLOTS_64, SLOTS_128, SLOTS_320] {
        let mut met = [0; 6];
        for seed in &seeds {
            let random = &mut rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            let (_, answers) = random::work(random, subject.shape(), 100);
            answers.iter().for_each(|answer| met[answer.status as usize] += 1);
        }
        println!("found, more, overflow, absent, torn, error: {met:?}");
        assert!(!seeds.is_whole() || met.iter().all(|&times| times > 20), "statuses met: {met:?}");
    }
}
