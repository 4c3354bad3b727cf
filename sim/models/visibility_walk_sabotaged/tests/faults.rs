//! The test suite of the walk finds every fault that was put in on purpose.

#[allow(dead_code, reason = "the walk itself is measured, too")]
#[path = "../../visibility_walk/tests/walk/bench.rs"]
mod bench;
#[path = "../../visibility_walk/tests/walk/damage.rs"]
mod damage;
#[path = "../../visibility_walk/tests/walk/job.rs"]
mod job;
#[path = "../../visibility_walk/tests/walk/memory.rs"]
mod memory;
#[path = "../../visibility_walk/tests/walk/oracle.rs"]
mod oracle;
#[allow(dead_code, reason = "no fault here is in stopping")]
#[path = "../../visibility_walk/tests/walk/random.rs"]
mod random;
#[allow(dead_code, reason = "the walk itself is measured, too")]
#[path = "../../visibility_walk/tests/walk/scene.rs"]
mod scene;

mod dut {
    use std::cell::Cell;

    pub use visibility_walk_sabotaged::{Inputs, Model, Outputs};

    thread_local! {
        static FAULT: Cell<u8> = const { Cell::new(0) };
    }

    /// Walks of this thread have the fault from now on.
    pub fn set_fault(fault: u8) {
        FAULT.set(fault);
    }

    /// A walk at power-up.
    pub fn model(seed: u64) -> Model {
        let mut model = Model::powered_up(seed);
        model.inputs_mut().fault_i = FAULT.get();
        model
    }
}

use sabotage::found;
use visibility_walk_sabotaged::FAULTS;

/// Seeds of each test, at most.
const SEEDS: u64 = 100;
/// Those that have found something before go first.
const FIRST: [u64; 12] = [0, 1, 10, 17, 9, 26, 31, 21, 39, 74, 4, 2];

/// What the suite says of the walk, if anything.
fn noticed() -> Option<String> {
    FIRST.into_iter().chain(0..SEEDS).find_map(|seed| {
        [random::damaged, random::in_order, random::failing_later]
            .iter()
            .find_map(|test| found(|| test(seed)).map(|what| format!("seed {seed}: {what}")))
    })
}

#[test]
fn every_fault_is_found() {
    let missed: Vec<&str> = (1..)
        .zip(&FAULTS)
        .filter_map(|(number, fault)| {
            dut::set_fault(number);
            match noticed() {
                Some(what) => {
                    println!("{}: {what:.150}", fault.name);
                    None
                }
                None => Some(fault.name),
            }
        })
        .collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}

#[test]
fn without_a_fault_nothing_is_found() {
    dut::set_fault(0);
    for seed in 0..3 {
        random::damaged(seed).unwrap();
        random::in_order(seed).unwrap();
    }
}
