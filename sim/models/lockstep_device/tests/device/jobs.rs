// SPDX-License-Identifier: MIT OR Apache-2.0
//! The job queue in the situations that matter.

use driver::map::device::JOB_QUEUE;
use driver::map::queue;
use sim::bus::axi4::Delay;
use sim::bus::stall::StallPattern;

use crate::bench::Config;
use crate::oracle::Completion;
use crate::user::User;
use crate::worker::{JOBS, Jobs};

const JOB: usize = 2;
/// The vector of the job queue.
const VECTOR: usize = 4;

fn job(identifier: u16) -> [u64; 8] {
    let word = |n: u64| ((u64::from(identifier) + 1) * 0x0101_0101_0101_0101) ^ (n << 60);
    let word0 = u64::from(identifier) | (1 + u64::from(identifier) % 5) << 16 | 1 << 24;
    [word0, word(1), word(2), word(3), word(4), word(5), word(6), word(7)]
}

fn submit(user: &mut User, first: u16, count: u16) -> Result<(), String> {
    for identifier in first..first + count {
        require(user.submit(JOB, job(identifier))?, "the submission ring is full")?;
    }
    user.ring(JOB)
}

fn await_jobs(user: &mut User, count: usize) -> Result<Vec<Completion>, String> {
    let mut completions = Vec::new();
    for _ in 0..20_000 {
        if completions.len() == count {
            return Ok(completions);
        }
        user.clocks(1)?;
        completions.extend(user.consume(JOB)?);
    }
    Err(format!("{} of {count} completions came", completions.len()))
}

fn require(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:x?}, not {expected:x?}")) }
}

fn slow(seed: u64) -> Config {
    Config {
        seed,
        stalls: StallPattern::Random { probability: 0.3 },
        memory_latency: Delay { minimum: 0, maximum: 40 },
        jobs: Jobs { latency: Delay { minimum: 0, maximum: 300 }, ..Jobs::smooth() },
        ..Config::smooth()
    }
}

fn read(user: &mut User, offset: u32) -> Result<u32, String> {
    user.read(JOB_QUEUE + offset)
}

/// No more than 16 jobs are open, which may take as long as they like: the device sleeps over
/// them, and wakes for their answers.
pub fn sixteen_jobs_are_open(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [1, 1, 5])?;
    user.bench.worker.jobs.held = true;
    user.enable(JOB)?;
    submit(&mut user, 0, 30)?;
    user.clocks(2000)?;
    same("jobs open", user.bench.worker.open(), JOBS)?;
    // Eight more are buffered, and no more asked for.
    same("submissions read", user.queues[JOB].oracle.asked, JOBS + 8)?;
    require(user.bench.model.outputs().idle_o, "open jobs keep the device busy")?;
    same("RETURN", read(&mut user, queue::RETURN.offset())?, 24)?;
    user.clocks(2000)?;
    user.bench.worker.jobs.held = false;
    let mut identifiers: Vec<u64> =
        await_jobs(&mut user, 30)?.iter().map(|one| one.word0 & 0xFFFF).collect();
    identifiers.sort_unstable();
    same("identifiers", identifiers, (0..30).collect())?;
    user.settle()?;
    same("RETURN", read(&mut user, queue::RETURN.offset())?, 0)?;
    same("interrupts", user.interrupts, [0, 0, 0, 0, 30, 0])
}

/// An answer that comes while the device sleeps is taken at once.
pub fn an_answer_wakes_the_device(seed: u64) -> Result<(), String> {
    let config = Config { seed, stop_clock: true, ..Config::smooth() };
    let mut user = User::new(&config, [1, 1, 2])?;
    user.bench.worker.jobs.held = true;
    user.enable(JOB)?;
    for round in 0..4 {
        submit(&mut user, round, 1)?;
        user.clocks(1000)?;
        let stopped = user.bench.stopped;
        user.clocks(100)?;
        same("clocks that were not given", user.bench.stopped, stopped + 100)?;
        user.bench.worker.jobs.held = false;
        same("word 0", await_jobs(&mut user, 1)?[0].word0 & 0xFFFF, round.into())?;
        user.bench.worker.jobs.held = true;
    }
    Ok(())
}

/// A completion ring that software does not empty holds answers back and loses none.
pub fn a_full_ring_holds_jobs_back(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [1, 1, 2])?;
    user.enable(JOB)?;
    submit(&mut user, 0, 4)?;
    user.clocks(1000)?;
    submit(&mut user, 4, 4)?;
    user.clocks(1000)?;
    same("stored with a full ring", user.queues[JOB].oracle.stored.len(), 4)?;
    require(user.bench.model.outputs().idle_o, "a full ring keeps the device busy")?;
    await_jobs(&mut user, 8)?;
    user.settle()?;
    same("COMPLETION_TAIL", read(&mut user, queue::COMPLETION_TAIL.offset())?, 8)
}

/// Switched off with jobs open, and on again: they continue to their ends, and complete nowhere.
pub fn old_jobs_do_not_complete_anew(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [1, 1, 4])?;
    user.bench.worker.jobs.held = true;
    user.enable(JOB)?;
    submit(&mut user, 0, 12)?;
    user.clocks(1000)?;
    user.disable(JOB)?;
    same("RETURN", read(&mut user, queue::RETURN.offset())?, 12)?;
    user.enable(JOB)?;
    submit(&mut user, 100, 12)?;
    user.clocks(300)?;
    same("submissions read anew", user.queues[JOB].oracle.asked, 0)?;
    user.bench.worker.jobs.held = false;
    let completions = await_jobs(&mut user, 12)?;
    require(completions.iter().all(|one| one.word0 & 0xFFFF >= 100), "an old completion")?;
    user.settle()
}

/// An answer that nobody waits for changes nothing.
pub fn answers_of_nobody_are_dropped(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [1, 1, 3])?;
    user.enable(JOB)?;
    for round in 0..4 {
        user.bench.answer_nobody([0x100_0000 | round, 7]);
        user.clocks(300)?;
        same("completions", user.queues[JOB].oracle.stored.len(), round as usize)?;
        submit(&mut user, 10 + round as u16, 1)?;
        await_jobs(&mut user, 1)?;
    }
    user.settle()?;
    same("COMPLETIONS", user.read64(JOB_QUEUE + queue::COMPLETIONS.offset())?, 4)
}

/// Interrupts come by the vector of the queue, and only for those that want one.
pub fn jobs_interrupt_if_they_want_to(seed: u64) -> Result<(), String> {
    let mut user = User::new(&slow(seed), [1, 1, 4])?;
    user.enable(JOB)?;
    for identifier in 0..16u16 {
        let [word0, rest @ ..] = job(identifier);
        let [b, c, d, e, f, g, h] = rest;
        let word0 = word0 & !(1 << 24) | u64::from(identifier % 2) << 24;
        require(user.submit(JOB, [word0, b, c, d, e, f, g, h])?, "the ring is full")?;
    }
    user.ring(JOB)?;
    await_jobs(&mut user, 16)?;
    user.settle()?;
    same("interrupts", user.interrupts[VECTOR], 8)?;
    same("ISR", read(&mut user, queue::ISR.offset())?, 1)?;
    // Two tails before what was fetched: the error comes by the same vector.
    user.bench.write(JOB_QUEUE + queue::SUBMISSION_TAIL.offset(), 14)?;
    user.clocks(300)?;
    same("ERROR", read(&mut user, queue::ERROR.offset())?, 3)?;
    same("interrupts", user.interrupts, [0, 0, 0, 0, 9, 0])?;
    user.check_interrupt_counts()
}

/// All of this page, by name.
pub const ALL: [(&str, crate::queues::Test); 6] = [
    ("sixteen_jobs_are_open", sixteen_jobs_are_open),
    ("an_answer_wakes_the_device", an_answer_wakes_the_device),
    ("a_full_ring_holds_jobs_back", a_full_ring_holds_jobs_back),
    ("old_jobs_do_not_complete_anew", old_jobs_do_not_complete_anew),
    ("answers_of_nobody_are_dropped", answers_of_nobody_are_dropped),
    ("jobs_interrupt_if_they_want_to", jobs_interrupt_if_they_want_to),
];
