//! The test suite of runs finds every fault that was put in on purpose.

mod dut {
    use std::cell::Cell;

    pub use visibility_pe_sabotaged::Core;
    use visibility_pe_sabotaged::Model;

    thread_local! {
        static FAULT: Cell<u8> = const { Cell::new(0) };
    }

    /// Elements of this thread have the fault from now on.
    pub fn set_fault(fault: u8) {
        FAULT.set(fault);
    }

    /// An element at power-up.
    pub fn model(seed: u64) -> Model {
        let mut model = Model::powered_up(seed);
        visibility_pe_sabotaged::set_fault(&mut model, FAULT.get());
        model
    }
}

#[path = "../../visibility_pe/tests/runs/suite.rs"]
mod suite;

use sabotage::found;
use visibility_pe_sabotaged::FAULTS;

/// The first test that fails, and what it says.
fn first_to_fail() -> Option<String> {
    suite::ALL.into_iter().find_map(|(name, test)| {
        let what = found(|| {
            test();
            Ok(())
        });
        what.map(|what| format!("{name}: {what}"))
    })
}

#[test]
fn without_a_fault_the_suite_passes() {
    assert_eq!(first_to_fail(), None);
}

#[test]
fn every_fault_is_found() {
    let mut missed = Vec::new();
    for (number, fault) in (1..).zip(&FAULTS) {
        dut::set_fault(number);
        match first_to_fail() {
            Some(what) => println!("{number} {}: {what:.150}", fault.name),
            None => missed.push(fault.name),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:#?}");
}
