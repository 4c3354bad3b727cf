//! The test suite of the lanes finds every fault that was put in on purpose.

mod dut {
    use std::cell::Cell;

    pub use program_lanes_sabotaged::Model;

    thread_local! {
        static FAULT: Cell<u8> = const { Cell::new(0) };
    }

    /// Lanes of this thread have the fault from now on.
    pub fn set_fault(fault: u8) {
        FAULT.set(fault);
    }

    /// Lanes at power-up.
    pub fn lanes(seed: u64) -> Model {
        let mut model = Model::powered_up(seed);
        model.inputs_mut().fault_i = FAULT.get();
        model
    }
}

#[path = "../../program_lanes/tests/lanes/bench.rs"]
mod bench;
#[path = "../../program_lanes/tests/lanes/programs.rs"]
mod programs;
#[path = "../../program_lanes/tests/lanes/suite.rs"]
mod suite;

use program_lanes_sabotaged::FAULTS;
use sabotage::found;

/// Runs the suite until something fails, what is quick first; says what.
fn run(seeds: u64) -> Result<(), String> {
    let drawn = |seed| {
        suite::packets(seed).map_err(|wrong| format!("packets, seed {seed}: {wrong}"))?;
        suite::any_words(seed).map_err(|wrong| format!("any words, seed {seed}: {wrong}"))
    };
    drawn(0)?;
    suite::comparisons().map_err(|wrong| format!("comparisons: {wrong}"))?;
    suite::no_end().map_err(|wrong| format!("no end: {wrong}"))?;
    suite::rates().map_err(|wrong| format!("rates: {wrong}"))?;
    suite::corners().map_err(|wrong| format!("corners: {wrong}"))?;
    (1..seeds).try_for_each(drawn)
}

#[test]
fn without_a_fault_the_suite_passes() {
    run(1).unwrap();
}

#[test]
fn every_fault_is_found() {
    let mut missed = Vec::new();
    for (number, fault) in (1..).zip(&FAULTS) {
        dut::set_fault(number);
        match found(|| run(24)) {
            None => missed.push(fault.name),
            Some(what) => {
                println!("{number} {}: {}", fault.name, what.lines().next().unwrap_or(""))
            }
        }
    }
    assert!(missed.is_empty(), "not found: {missed:#?}");
}
