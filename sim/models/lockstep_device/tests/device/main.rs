//! The whole device against an oracle, under random stalls.

mod dut {
    pub use lockstep_device_model::{Inputs, Model, Outputs};

    /// A device at power-up.
    pub fn device() -> Model {
        Model::new()
    }

    /// Another one that must do the same.
    pub fn twin() -> Option<Model> {
        None
    }

    /// Gives a twin what the device gets.
    pub fn copy_inputs(inputs: &Inputs, twin: &mut Model) {
        twin.inputs_mut().clone_from(inputs);
    }
}

mod bench;
mod locks;
mod mover;
mod oracle;
mod queues;
mod random;
mod registers;
mod seeds;
mod user;

use random::{Scenario, run};

macro_rules! tests {
    ($($module:ident::$name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            seeds::each(stringify!($name), 3, $module::$name);
        })*
    };
}

tests! {
    registers::registers_of_all_blocks,
    queues::a_full_completion_ring_loses_nothing,
    queues::sixteen_moves_are_open,
    queues::interrupts_follow_their_completions,
    queues::interrupts_that_are_off_do_not_come,
    queues::bad_doorbells_halt,
    queues::failed_accesses_halt,
    queues::rest_means_rest,
    queues::old_moves_do_not_complete_anew,
    queues::notices_come_to_whom_they_belong,
    queues::what_comes_wakes_the_lock_unit,
    queues::requests_wait_for_the_unit,
    queues::bus_errors_of_the_unit_interrupt,
    queues::forced_interrupts_are_not_lost,
}

#[test]
fn counts_wrap() {
    seeds::each("counts_wrap", 1, queues::counts_wrap);
}

#[test]
fn small_rings_go_round_many_times() {
    seeds::each("small_rings_go_round_many_times", 6, |seed| {
        run(&Scenario { log2_entries: [1, 1], copies: 200, ..Scenario::small(seed) })
    });
}

#[test]
fn drawn_work_is_done_as_the_oracle_says() {
    seeds::each("drawn_work_is_done_as_the_oracle_says", 20, |seed| run(&Scenario::drawn(seed)));
}

#[test]
fn work_goes_on_after_failed_accesses() {
    seeds::each("work_goes_on_after_failed_accesses", 8, |seed| run(&Scenario::failing(seed)));
}
