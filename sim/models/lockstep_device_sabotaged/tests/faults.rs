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
    pub fn device(seed: u64) -> Model {
        with_fault(FAULT.get(), seed)
    }

    /// Another one that must do the same.
    pub fn twin(seed: u64) -> Option<Model> {
        TWIN.get().map(|fault| with_fault(fault, seed))
    }

    fn with_fault(fault: u8, seed: u64) -> Model {
        let mut model = Model::powered_up(seed);
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

use lockstep_device_sabotaged::{CLOCKS_NEVER_STOP, FAULTS, LACKS_A_RESET, Model};
use random::{Scenario, run};
use sabotage::found;

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
        match found(|| suite(4)) {
            None => missed.push(fault.name),
            Some(what) => println!("{number} {}: {what}", fault.name),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:#?}");
}

/// Models that `cargo test` builds check assertions, and say which one fails, where and when.
#[test]
fn an_assertion_finds_a_fault_by_its_name() {
    if !Model::CHECKED {
        println!("skipped: models of this profile check no assertions");
        return;
    }
    let fault = "a seventeenth move is begun";
    let place = FAULTS.iter().position(|listed| listed.name == fault).expect("it is listed");
    dut::set_fault(place as u8 + 1);
    let wrong = queues::sixteen_moves_are_open(5).unwrap_err();
    for part in [
        "cycle ",
        " of lockstep_device_sabotaged, powered up with seed 5: copy_engine.sv:",
        "lockstep_device_sabotaged.i_copy_engine.a_tag_starts_free",
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
    dut::set_fault(LACKS_A_RESET);
    let wrong = found(|| suite(4)).expect("a register without a reset");
    println!("{wrong}");
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
