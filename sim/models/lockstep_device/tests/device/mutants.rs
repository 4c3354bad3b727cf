// SPDX-License-Identifier: MIT OR Apache-2.0
//! The test suite of the device finds every mutant, and stopping clocks changes no answer.

use lockstep_device_model::mutants::{CLOCKS_NEVER_STOP, LACKS_A_RESET, MUTANTS};
use suites::subject::{finds_case, found, set_mutant};

use crate::dut::{self, Model};
use crate::random::{Scenario, run};
use crate::{jobs, lookups, queues};

/// Runs the suite until something fails; says what.
fn suite(seeds: u64) -> Result<(), String> {
    for seed in 0..seeds {
        for (name, test) in queues::ALL.into_iter().chain(jobs::ALL).chain(lookups::ALL) {
            test(seed).map_err(|wrong| format!("{name}, seed {seed}: {wrong}"))?;
        }
        let named = |name: &'static str| move |wrong| format!("{name}, seed {seed}: {wrong}");
        run(&Scenario::drawn(seed)).map_err(named("drawn work"))?;
        run(&Scenario::failing(seed)).map_err(named("failed accesses"))?;
    }
    Ok(())
}

#[test]
fn without_a_mutant_the_suite_passes() {
    set_mutant(0);
    suite(1).unwrap();
}

/// A case is a mutant, since all take long: LOCKSTEP_CASES=1000 has each of them once.
#[test]
fn mutants_are_found() {
    seeds::each!(12, |seed| finds_case(&MUTANTS, seed, || suite(4)));
}

/// Models that `cargo test` builds check assertions, and say which one fails, where and when.
#[test]
fn an_assertion_finds_a_mutant_by_its_name() {
    if !Model::CHECKED {
        println!("skipped: models of this profile check no assertions");
        return;
    }
    let name = "a seventeenth move is begun";
    let place = MUTANTS.iter().position(|listed| listed.name == name).expect("it is listed");
    set_mutant(place as u8 + 1);
    let wrong = queues::sixteen_moves_are_open(5).unwrap_err();
    for part in [
        "cycle ",
        " of lockstep_device_mutants, powered up with seed 5: copy_engine.sv:",
        "lockstep_device_mutants.i_copy_engine.a_tag_starts_free",
    ] {
        assert!(wrong.contains(part), "no `{part}` in: {wrong}");
    }
    // The same again, to the cycle.
    assert_eq!(queues::sixteen_moves_are_open(5).unwrap_err(), wrong);
}

/// A register without a reset shows since registers begin at random.
#[test]
fn a_missing_reset_is_found() {
    if !Model::CHECKED {
        println!("skipped: registers of models of this profile begin with 0");
        return;
    }
    set_mutant(LACKS_A_RESET);
    let wrong = found(|| suite(4)).expect("a register without a reset");
    println!("{wrong}");
}

/// Two devices get the same inputs in every cycle, and one has clocks that never stop.
#[test]
fn stopped_clocks_change_no_output() {
    set_mutant(0);
    dut::set_twin(CLOCKS_NEVER_STOP);
    seeds::each!(6, |seed| {
        run(&Scenario { pauses: 120, ..Scenario::drawn(seed) })?;
        queues::notices_come_to_whom_they_belong(seed)
    });
}
