// SPDX-License-Identifier: MIT OR Apache-2.0
//! A reset in the middle of work ends the work, no effect of it follows, and the device can be used
//! again.

use driver::Interrupt;
use driver::lock_unit::stream::Code;
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};

use super::interrupts::enable_all;
use super::registers::at_reset;
use crate::context::{CheckError, Context, Mapped, expect, expect_eq};
use crate::host_table::HostTable;
use crate::map;
use crate::queue::{HOST_TO_HOST, Queue, Status, Submission};
use crate::requests;

const BYTES: usize = 1 << 20;
const ROUNDS: u32 = 5;

pub(super) fn check(context: &mut Context<'_>) -> Result<String, CheckError> {
    let (mut unfinished, mut all) = (0, 0);
    for round in 0..ROUNDS {
        let (left, given) = one_round(context, round)?;
        (unfinished, all) = (unfinished + left, all + given);
    }
    if unfinished == 0 {
        // The device was done before each reset came to it.
        return Err(CheckError::Skip(format!(
            "none of {all} copies was open at one of {ROUNDS} resets"
        )));
    }
    Ok(format!("{ROUNDS} resets, with {unfinished} of {all} copies open"))
}

/// Gives the device copies and a request that waits for a lock, resets it, and says how many copies
/// had not ended, of how many.
fn one_round(context: &mut Context<'_>, round: u32) -> Result<(u32, u32), CheckError> {
    let mut work = Work::begin(context)?;
    // Later in each round: before anything was fetched, within copies, after some of them.
    for _ in 0..round {
        work.copies.wait(context)?;
    }
    context.backend.reset()?;
    let given = u32::from(work.copies.entries());
    let done = round + work.nothing_comes_after(context)?;
    work.can_be_done_again(context)?;
    context.backend.reset()?;
    Ok((given - done, given))
}

/// The device's work.
struct Work {
    copies: Queue,
    memory: Mapped,
    /// Where the second half of the memory begins, to which all copies go.
    half: usize,
    vectors: Vec<Box<dyn Interrupt>>,
    table: HostTable,
    locks: Queue,
}

const KEY: TupleKey = TupleKey::initial(0);
const TAG: u8 = 5;

impl Work {
    fn begin(context: &Context<'_>) -> Result<Self, CheckError> {
        // Work for hundreds of milliseconds, if its rings can be allocated.
        let mut copies = match Queue::open(context, map::COPY_QUEUE, 12) {
            Err(CheckError::Skip(_)) => Queue::open(context, map::COPY_QUEUE, 5)?,
            queue => queue?,
        };
        let memory = context.memory(2 * BYTES)?;
        memory.fill(0x77);
        let half = memory.bytes() / 2;
        let vectors = enable_all(context)?;
        copies.set_interrupts(context, true)?;
        let table = HostTable::start(context, 4)?;
        table.acquire(timestamp(1), KEY)?;
        let mut locks = Queue::open(context, map::LOCK_QUEUE, 3)?;
        let request = requests::acquire(TAG, timestamp(2), KEY, Rule::Queue);
        let queued = locks.perform(context, Submission::request(request))?;
        let queued = requests::response(&queued)?.code;
        expect_eq(|| "a request for a held lock".into(), queued, Code::Queued)?;
        for identifier in 0..copies.entries() {
            let destination = memory.address + half as u64;
            let copy = Submission::copy(HOST_TO_HOST, memory.address, destination, half as u32);
            copies.push(Submission { identifier, interrupt: true, ..copy });
        }
        copies.ring(context)?;
        Ok(Self { copies, memory, half, vectors, table, locks })
    }

    /// All is as after power-up, and stays so; says how many completions had come before.
    fn nothing_comes_after(&mut self, context: &Context<'_>) -> Result<u32, CheckError> {
        at_reset(context)?;
        for vector in &self.vectors {
            // What was raised before the reset may still be there.
            vector.take()?;
        }
        let done = std::iter::from_fn(|| self.copies.take()).count() as u32;
        let ring = self.copies.completion_bytes();
        self.memory.memory.write(self.half, &vec![0; self.half]);
        // Wakes a waiter that the device should have forgotten.
        self.table.release(timestamp(1), KEY)?;
        context.be_silent();
        if self.copies.completion_bytes() != ring {
            return Err(CheckError::wrong("a completion was written after the reset"));
        }
        if self.memory.copy_out(self.half, self.half).iter().any(|&byte| byte != 0) {
            return Err(CheckError::wrong("a copy wrote to its destination after the reset"));
        }
        for vector in &self.vectors {
            let what = || format!("interrupts on vector {} after the reset", vector.vector());
            expect(what, vector.take()?, 0)?;
        }
        at_reset(context)?;
        Ok(done)
    }

    fn can_be_done_again(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        self.copies.enable_again(context)?;
        let (source, destination) = (self.memory.address, self.memory.address + self.half as u64);
        let copy = Submission::copy(HOST_TO_HOST, source, destination, 64);
        let completion = self.copies.perform(context, copy)?;
        expect_eq(|| "status of a copy after a reset".into(), completion.status, Status::Done)?;
        // The unit that was reset has left its waiter in the table, as a dead one.
        self.table.clear();
        self.table.start_again(context)?;
        self.locks.enable_again(context)?;
        let request = requests::acquire(TAG, timestamp(2), KEY, Rule::Queue);
        let granted = self.locks.perform(context, Submission::request(request))?;
        let granted = requests::response(&granted)?.code;
        expect_eq(|| "a lock after a reset".into(), granted, Code::Granted)
    }
}

fn timestamp(number: u64) -> Timestamp {
    Timestamp::new(number).expect("small and not 0")
}
