// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of the element: registers, beginnings, ends.

mod dut;
mod mutants;
mod suite;

macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            suite::$name();
        })*
    };
}

tests! {
    the_registers_are_those_of_the_map,
    a_run_over_tuples_without_rows_ends,
    what_is_no_job_is_refused_and_the_next_run_is_as_ever,
    a_run_is_started_once_and_stopped,
    the_end_of_a_run_interrupts_when_it_is_asked_to,
}
