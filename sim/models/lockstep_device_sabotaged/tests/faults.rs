//! The test suite of the device finds every fault that was put in on purpose, and stopping
//! clocks changes no answer.

mod dut {
    use std::cell::Cell;

    pub use lockstep_device_sabotaged::{Inputs, Model, Outputs};

    thread_local! {
        static FAULT: Cell<u8> = const { Cell::new(0) };
        static TWIN: Cell<Option<u8>> = const { Cell::new(None) };
    }

    /// Devices of this thread have the fault from now on.
    pub fn set_fault(fault: u8) {
        FAULT.set(fault);
    }

    /// Devices of this thread have a twin with this fault from now on.
    pub fn set_twin(fault: u8) {
        TWIN.set(Some(fault));
    }

    /// A device at power-up.
    pub fn device() -> Model {
        with_fault(FAULT.get())
    }

    /// Another one that must do the same.
    pub fn twin() -> Option<Model> {
        TWIN.get().map(with_fault)
    }

    fn with_fault(fault: u8) -> Model {
        let mut model = Model::new();
        model.inputs_mut().fault_i = fault;
        model
    }

    /// Gives a twin what the device gets, but for the fault.
    pub fn copy_inputs(inputs: &Inputs, twin: &mut Model) {
        let fault_i = twin.inputs().fault_i;
        *twin.inputs_mut() = Inputs { fault_i, ..inputs.clone() };
    }
}

#[path = "../../lockstep_device/tests/device/bench.rs"]
mod bench;
#[path = "../../lockstep_device/tests/device/jobs.rs"]
mod jobs;
#[path = "../../lockstep_device/tests/device/locks.rs"]
mod locks;
#[path = "../../lockstep_device/tests/device/mover.rs"]
mod mover;
#[path = "../../lockstep_device/tests/device/oracle.rs"]
mod oracle;
#[path = "../../lockstep_device/tests/device/queues.rs"]
mod queues;
#[path = "../../lockstep_device/tests/device/random.rs"]
mod random;
#[path = "../../lockstep_device/tests/device/registers.rs"]
mod registers;
#[path = "../../lockstep_device/tests/device/seeds.rs"]
mod seeds;
#[path = "../../lockstep_device/tests/device/user.rs"]
mod user;
#[path = "../../lockstep_device/tests/device/worker.rs"]
mod worker;

use std::panic::catch_unwind;

use lockstep_device_sabotaged::{CLOCKS_NEVER_STOP, FAULTS};
use random::{Scenario, run};

/// Runs the suite until something fails; says what.
fn suite(seeds: u64) -> Result<(), String> {
    for seed in 0..seeds {
        for (name, test) in queues::ALL.into_iter().chain(jobs::ALL) {
            test(seed).map_err(|wrong| format!("{name}, seed {seed}: {wrong}"))?;
        }
        let named = |name: &'static str| move |wrong| format!("{name}, seed {seed}: {wrong}");
        run(&Scenario::drawn(seed)).map_err(named("drawn work"))?;
        run(&Scenario::failing(seed)).map_err(named("failed accesses"))?;
    }
    Ok(())
}

#[test]
fn without_a_fault_the_suite_passes() {
    suite(1).unwrap();
}

#[test]
fn every_fault_is_found() {
    let mut missed = Vec::new();
    for (number, fault) in (1..).zip(&FAULTS) {
        dut::set_fault(number);
        match catch_unwind(|| suite(4)) {
            Ok(Ok(())) => missed.push(fault.name),
            Ok(Err(found)) => println!("{number} {}: {found}", fault.name),
            Err(_) => println!("{number} {}: a panic, see above", fault.name),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:#?}");
}

/// Two devices get the same inputs in every cycle, and one has clocks that never stop.
#[test]
fn stopped_clocks_change_no_output() {
    dut::set_twin(CLOCKS_NEVER_STOP);
    seeds::each("stopped_clocks_change_no_output", 6, |seed| {
        run(&Scenario { pauses: 120, ..Scenario::drawn(seed) })?;
        queues::notices_come_to_whom_they_belong(seed)
    });
}
