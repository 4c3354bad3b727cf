//! A reset in the middle of work: the work is over, nothing of it comes after, and the device can
//! be used again.

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
const COPIES: u16 = 32;
const ROUNDS: u32 = 5;

pub(super) fn check(context: &mut Context<'_>) -> Result<String, Stop> {
    let mut unfinished = 0;
    for round in 0..ROUNDS {
        unfinished += one_round(context, round)?;
    }
    Ok(format!("{ROUNDS} resets, with {unfinished} of {} copies open", ROUNDS * u32::from(COPIES)))
}

/// Gives the device copies and a request that waits for a lock, resets it, and says how many copies
/// had not ended.
fn one_round(context: &mut Context<'_>, round: u32) -> Result<u32, Stop> {
    let mut copies = Queue::open(context, map::COPY_QUEUE, 5)?;
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

    for identifier in 0..COPIES {
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
    Ok(u32::from(COPIES) - done)
}

fn timestamp(number: u64) -> Timestamp {
    Timestamp::new(number).expect("small and not 0")
}
