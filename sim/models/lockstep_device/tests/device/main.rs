// SPDX-License-Identifier: MIT OR Apache-2.0
//! The whole device against an oracle, under random stalls.

mod bench;
mod crossing;
mod dut;
mod jobs;
mod locks;
mod lookups;
mod mover;
mod mutants;
mod oracle;
mod queues;
mod random;
mod registers;
mod user;
mod worker;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use random::{Scenario, run};

macro_rules! tests {
    ($($module:ident::$name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            seeds::each!(3, $module::$name);
        })*
    };
}

tests! {
    registers::registers_of_all_blocks,
    crossing::a_read_comes_while_a_write_is_under_way,
    crossing::a_write_comes_while_a_read_is_under_way,
    queues::a_full_completion_ring_loses_nothing,
    queues::sixteen_moves_are_open,
    queues::interrupts_follow_their_completions,
    queues::interrupts_that_are_off_do_not_come,
    queues::bad_doorbells_halt,
    queues::failed_accesses_halt,
    queues::idle_means_idle,
    queues::old_moves_do_not_complete_anew,
    queues::notices_come_to_whom_they_belong,
    queues::what_comes_wakes_the_lock_unit,
    queues::requests_wait_for_the_unit,
    queues::bus_errors_of_the_unit_interrupt,
    queues::forced_interrupts_are_not_lost,
    queues::many_interrupts_are_counted,
    jobs::sixteen_jobs_are_open,
    jobs::an_answer_wakes_the_device,
    jobs::a_full_ring_holds_jobs_back,
    jobs::old_jobs_do_not_complete_anew,
    jobs::answers_of_nobody_are_dropped,
    jobs::jobs_interrupt_if_they_want_to,
    lookups::keys_are_found,
    lookups::answers_are_told,
    lookups::look_ups_wait_for_the_unit,
    lookups::waiting_reads_are_sent,
    lookups::a_full_ring_holds_look_ups_back,
    lookups::old_look_ups_do_not_complete_anew,
}

#[test]
fn counts_wrap() {
    seeds::each!(1, queues::counts_wrap);
}

#[test]
fn small_rings_go_round_many_times() {
    seeds::each!(6, |seed| {
        run(&Scenario { log2_entries: [1, 1, 1], copies: 200, ..Scenario::small(seed) })
    });
}

/// Scenarios of all kinds; what fails is shrunk to little work in calm surroundings.
fn scenarios() -> impl Strategy<Value = Scenario> {
    let work = (0..150usize, 0..60u64, 0..100usize, 0..100usize, 0..128u8, 0..64u8, 0..4u32);
    let log2_entries = [1..=6u32, 1..=6u32, 1..=6u32];
    let latencies = (0..80u32, 0..400u32, 0..2000u32);
    let surroundings = (0..=12u8, 0..=14u8, latencies, any::<bool>());
    (work, log2_entries, surroundings, any::<u64>()).prop_map(|drawn| {
        let (work, log2_entries, surroundings, seed) = drawn;
        let (copies, transactions, jobs, look_ups, refusals, pauses, restarts) = work;
        let (stalls, interrupt_stalls, latencies, stop_clock) = surroundings;
        let (latency, move_latency, job_latency) = latencies;
        Scenario {
            seed,
            copies,
            transactions,
            jobs,
            look_ups,
            log2_entries,
            refusals,
            pauses,
            restarts,
            stalls,
            interrupt_stalls,
            latency,
            move_latency,
            job_latency,
            errors: 0,
            stop_clock,
        }
    })
}

#[test]
fn drawn_work_is_done_as_the_oracle_says() {
    seeds::each!(1, |seed| {
        let rng_seed = RngSeed::Fixed(seed);
        let config = Config { cases: 24, failure_persistence: None, rng_seed, ..Config::default() };
        let run = |scenario| run(&scenario).map_err(TestCaseError::fail);
        TestRunner::new(config).run(&scenarios(), run).map_err(|wrong| wrong.to_string())
    });
}

#[test]
fn work_goes_on_after_failed_accesses() {
    seeds::each!(8, |seed| run(&Scenario::failing(seed)));
}

#[test]
fn reads_take_as_many_clocks_as_said() {
    crossing::reads_take_as_many_clocks_as_said();
}
