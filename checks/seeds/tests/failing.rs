// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a random test prints when a case fails, and which cases it runs: each time in a process of its
//! own, with an environment of its own.

use std::process::Command;

/// Says which of the tests below is to do something.
const WANTED: &str = "LOCKSTEP_SEEDS_TEST";

/// Runs a test of this file with these variables; whether it passed, and what it printed.
fn run(test: &str, seed: Option<&str>, cases: Option<&str>) -> (bool, String) {
    let this = std::env::current_exe().expect("a test is a program");
    let mut command = Command::new(this);
    command.args(["--exact", "--nocapture", test]).env(WANTED, test);
    for (name, value) in [("LOCKSTEP_SEED", seed), ("LOCKSTEP_CASES", cases)] {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.output().expect("the test runs");
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&printed).into_owned())
}

fn is_wanted(test: &str) -> bool {
    std::env::var(WANTED).is_ok_and(|wanted| wanted == test)
}

const PANICS: &str = "panics_with_seed_5";
const GIVES_AN_ERROR: &str = "gives_an_error_with_seed_5";
const PASSES: &str = "passes";

#[test]
fn panics_with_seed_5() {
    if is_wanted(PANICS) {
        for seed in seeds::of!(10) {
            assert!(seed != 5, "that is five");
        }
    }
}

#[test]
fn gives_an_error_with_seed_5() {
    if is_wanted(GIVES_AN_ERROR) {
        seeds::each!(10, |seed| if seed == 5 { Err("that is five") } else { Ok(()) });
    }
}

#[test]
fn passes() {
    if is_wanted(PASSES) {
        let seeds = seeds::of!(3);
        let ran: Vec<u64> = seeds.iter().collect();
        println!("ran {ran:?}, {}, whole: {}", seeds.count(), seeds.is_whole());
    }
}

#[test]
fn a_failing_case_names_the_command_that_repeats_it() {
    for (test, message) in [(PANICS, "that is five"), (GIVES_AN_ERROR, "seed 5: that is five")] {
        let command = format!(
            "LOCKSTEP_SEED=5 cargo test -p lockstep-seeds --test failing {test} -- --exact\n"
        );
        for (seed, cases) in [(None, None), (Some("5"), None), (Some("3"), Some("3"))] {
            let (passed, printed) = run(test, seed, cases);
            assert!(!passed && printed.contains(message), "{seed:?}, {cases:?}: {printed}");
            assert!(printed.contains(&command), "{seed:?}, {cases:?}: {printed}");
        }
        let (passed, printed) = run(test, Some("6"), Some("100"));
        assert!(passed && !printed.contains("repeat with"), "{printed}");
    }
}

#[test]
fn the_environment_chooses_the_cases() {
    for (seed, cases, ran) in [
        (None, None, "ran [0, 1, 2], 3, whole: true"),
        (None, Some("2"), "ran [0, 1], 2, whole: false"),
        (Some("17"), None, "ran [17], 1, whole: false"),
        (Some("17"), Some("4"), "ran [17, 18, 19, 20], 4, whole: true"),
        (Some("18446744073709551615"), None, "ran [18446744073709551615], 1, whole: false"),
    ] {
        let (passed, printed) = run(PASSES, seed, cases);
        assert!(passed && printed.contains(ran), "{seed:?}, {cases:?}: {printed}");
    }
    for (seed, cases, message) in [
        (None, Some("0"), "LOCKSTEP_CASES is \"0\", expected a number from 1 to 2^64 - 1"),
        (Some("x"), None, "LOCKSTEP_SEED is \"x\", expected a number from 0 to 2^64 - 1"),
    ] {
        let (passed, printed) = run(PASSES, seed, cases);
        assert!(!passed && printed.contains(message), "{seed:?}, {cases:?}: {printed}");
    }
}

#[cfg(feature = "proptest")]
mod properties {
    use super::{is_wanted, run};

    const WANTED: &str = "properties::a_property_of_small_numbers";

    seeds::proptest! {
        #![cases(50)]

        #[test]
        fn a_property_of_small_numbers(number in 0_u32..1000, more in 0_u32..2) {
            assert!(number + more < 900 || !is_wanted(WANTED));
        }
    }

    /// What is left of a case after shrinking, as `proptest` prints it.
    fn smallest(printed: &str) -> &str {
        let (_, smallest) = printed.split_once("minimal failing input: ").expect(printed);
        smallest.lines().next().expect("the rest of a line")
    }

    #[test]
    fn a_failing_case_of_a_property_is_repeated_by_its_seed() {
        let (passed, printed) = run(WANTED, None, None);
        assert!(!passed && smallest(&printed).starts_with("number = 899, more = 1"), "{printed}");
        let (_, command) = printed.split_once("repeat with: LOCKSTEP_SEED=").expect(&printed);
        let (seed, rest) = command.split_once(' ').expect(command);
        let expected = format!("cargo test -p lockstep-seeds --test failing {WANTED} -- --exact\n");
        assert!(rest.starts_with(&expected), "{rest}");
        let (passed, again) = run(WANTED, Some(seed), None);
        assert!(!passed && smallest(&again) == smallest(&printed), "{again}");
    }
}
