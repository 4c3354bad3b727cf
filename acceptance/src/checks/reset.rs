//! A reset in the middle of work: the work is over, nothing of it comes after, and the device can
//! be used again.

use driver::MemoryNeeds;
use lockdb::machine::Rule;
use lockdb::{Timestamp, TupleKey};

use super::interrupts::enable_all;
use super::registers::at_reset;
use crate::context::{Context, Stop, expect, expect_eq};
use crate::host_table::HostTable;
use crate::map;
use crate::queue::{HOST_TO_HOST, Queue, Status, Submission};
use crate::requests::{Code, Request};

const BYTES: usize = 1 << 20;
const ROUNDS: u32 = 5;

pub(super) fn check(context: &mut Context<'_>) -> Result<String, Stop> {
    let (mut unfinished, mut all) = (0, 0);
    for round in 0..ROUNDS {
        let (left, given) = one_round(context, round)?;
        (unfinished, all) = (unfinished + left, all + given);
    }
    Ok(format!("{ROUNDS} resets, with {unfinished} of {all} copies open"))
}

/// Gives the device copies and a request that waits for a lock, resets it, and says how many copies
/// had not ended, of how many.
fn one_round(context: &mut Context<'_>, round: u32) -> Result<(u32, u32), Stop> {
    // Work for many milliseconds, where its rings can be had.
    let large = context.backend.information().memory == MemoryNeeds::Pages;
    let mut copies = Queue::open(context, map::COPY_QUEUE, if large { 8 } else { 5 })?;
    let given = copies.entries();
    let memory = context.memory(2 * BYTES)?;
    let half = memory.bytes() / 2;
    let vectors = enable_all(context)?;
    copies.set_interrupts(context, true)?;
    let table = HostTable::start(context, 4)?;
    let mut locks = Queue::open(context, map::LOCK_QUEUE, 3)?;
    let (holder, waiter, key) = (timestamp(1), timestamp(2), TupleKey::initial(0));
    table.acquire(holder, key)?;
    locks.push(Submission::request(Request::acquire(5, waiter, key, Rule::Queue).beat()));
    locks.ring(context)?;
    let queued = locks.wait(context)?;
    expect_eq(|| "a request for a held lock".into(), Code::of(queued.response), Code::Queued)?;

    for identifier in 0..given {
        let end = memory.address + half as u64;
        let copy = Submission::copy(HOST_TO_HOST, memory.address, end, half as u32);
        copies.push(Submission { identifier, interrupt: true, ..copy });
    }
    copies.ring(context)?;
    // Later in each round: before anything was fetched, within copies, after some of them.
    for _ in 0..round {
        copies.wait(context)?;
    }
    context.backend.reset()?;
    at_reset(context)?;
    for vector in &vectors {
        // What was raised before the reset may still be there.
        vector.take()?;
    }
    let done = std::iter::from_fn(|| copies.take()).count() as u32 + round;
    let ring = copies.completion_bytes();
    memory.memory.write(half, &vec![0; half]);
    table.release(holder, key)?;
    context.be_silent();
    if copies.completion_bytes() != ring {
        return Err(Stop::wrong("a completion was written after the reset"));
    }
    if memory.copy_out(half, half).iter().any(|&byte| byte != 0) {
        return Err(Stop::wrong("a copy wrote to its destination after the reset"));
    }
    for vector in &vectors {
        let what = || format!("interrupts on vector {} after the reset", vector.vector());
        expect(what, vector.take()?, 0)?;
    }
    at_reset(context)?;

    copies.enable_again(context)?;
    let (source, destination) = (memory.address, memory.address + half as u64);
    let copy = Submission::copy(HOST_TO_HOST, source, destination, 64);
    let completion = copies.perform(context, copy)?;
    expect_eq(|| "status of a copy after a reset".into(), completion.status, Status::Done)?;
    // The unit that was reset has left its waiter in the table, as a dead one.
    table.clear();
    table.start_again(context)?;
    locks.enable_again(context)?;
    let request = Request::acquire(5, waiter, key, Rule::Queue);
    let granted = locks.perform(context, Submission::request(request.beat()))?;
    expect_eq(|| "a lock after a reset".into(), Code::of(granted.response), Code::Granted)?;
    context.backend.reset()?;
    Ok((u32::from(given) - done, given.into()))
}

fn timestamp(number: u64) -> Timestamp {
    Timestamp::new(number).expect("small and not 0")
}
