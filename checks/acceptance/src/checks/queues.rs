// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rings wrap many times, are filled to the last entry, and are halted and restarted.

use rand::RngExt;

use crate::context::{CheckError, Context, Mapped, expect, expect_eq};
use crate::map;
use crate::options::Extent;
use crate::queue::{Completion, HOST_TO_HOST, Queue, Status, Submission};

/// Each slot of the memory is 16 bytes: the first half is copied to the second.
const SLOT: u64 = 16;

/// Copies one after the other, so many open at once as are drawn, through rings of several sizes.
pub(super) fn laps(context: &mut Context<'_>) -> Result<String, CheckError> {
    let mut total = 0;
    let laps: &[(u32, u32)] = match context.options.extent {
        Extent::Quick => &[(1, 20), (2, 10), (5, 5), (12, 2)],
        // The free-running counts of 16 bits run round as well.
        Extent::Full => &[(1, 200), (2, 100), (5, 100), (12, 17)],
    };
    for &(log2, laps) in laps {
        let mut queue = match Queue::open(context, map::COPY_QUEUE, log2) {
            // Not everywhere is there contiguous memory for the largest rings.
            Err(CheckError::Skip(_)) => continue,
            queue => queue?,
        };
        let entries = u32::from(queue.entries());
        let memory = context.memory(4096)?;
        let mut work = Work::new(&memory);
        while work.submitted < laps * entries || work.completed < work.submitted {
            let room = u32::from(queue.entries() - queue.open_submissions());
            let left = laps * entries - work.submitted;
            let batch = context.random.random_range(0..=room.min(left));
            for _ in 0..batch {
                queue.push(work.next());
            }
            if batch > 0 {
                queue.ring(context)?;
            }
            let open = queue.open_submissions();
            let consume = if left == 0 { open } else { context.random.random_range(0..=open) };
            for _ in 0..consume {
                let completion = queue.wait(context)?;
                work.completed(completion, log2)?;
            }
        }
        work.check_memory(&memory)?;
        let (head, tail) = (map::SUBMISSION_HEAD, map::COMPLETION_TAIL);
        for (name, register) in [("SUBMISSION_HEAD", head), ("COMPLETION_TAIL", tail)] {
            let found = queue.read(context, register)?;
            let expected = work.submitted & 0xFFFF;
            expect(|| format!("{name} after {} submissions", work.submitted), found, expected)?;
        }
        queue.stop(context)?;
        total += work.submitted;
    }
    Ok(format!("{total} copies through rings of {} sizes", laps.len()))
}

/// Copies of 8 bytes within a small memory, each with an identifier of its own among the open ones.
struct Work {
    address: u64,
    slots: u32,
    submitted: u32,
    completed: u32,
    open: Vec<bool>,
}

impl Work {
    fn new(memory: &Mapped) -> Self {
        let slots = (memory.bytes() as u64 / SLOT) as u32;
        for slot in 0..slots as usize {
            let data = [(slot as u64 + 1).to_le_bytes(), [0; 8]].concat();
            memory.memory.write(slot * SLOT as usize, &data);
        }
        let open = vec![false; 1 << 16];
        Self { address: memory.address, slots, submitted: 0, completed: 0, open }
    }

    fn next(&mut self) -> Submission {
        let source = self.address + SLOT * u64::from(self.submitted % self.slots);
        // Steps that are prime to 2^16 reach all identifiers before any comes again.
        let identifier = (self.submitted as u16).wrapping_mul(40_503);
        self.open[usize::from(identifier)] = true;
        self.submitted += 1;
        Submission { identifier, ..Submission::copy(HOST_TO_HOST, source, source + 8, 8) }
    }

    fn completed(&mut self, completion: Completion, log2: u32) -> Result<(), CheckError> {
        let Completion { identifier, status, bytes, .. } = completion;
        let open = &mut self.open[usize::from(identifier)];
        let what = || format!("a completion of identifier {identifier:#x}, ring of 2^{log2}");
        if !std::mem::take(open) {
            return Err(CheckError::wrong(format!("{}: nothing with it is open", what())));
        }
        expect_eq(|| format!("status of {}", what()), status, Status::Done)?;
        expect(|| format!("bytes of {}", what()), bytes, 8)?;
        self.completed += 1;
        Ok(())
    }

    fn check_memory(&self, memory: &Mapped) -> Result<(), CheckError> {
        for slot in 0..self.slots.min(self.submitted) as usize {
            let found = memory.copy_out(slot * SLOT as usize + 8, 8);
            let expected = (slot as u64 + 1).to_le_bytes();
            expect_eq(|| format!("the copy in slot {slot}"), found, expected.to_vec())?;
        }
        Ok(())
    }
}

/// A full completion ring holds completions back and loses none.
pub(super) fn full_rings(context: &mut Context<'_>) -> Result<String, CheckError> {
    let mut queue = Queue::open(context, map::COPY_QUEUE, 3)?;
    let memory = context.memory(4096)?;
    let mut work = Work::new(&memory);
    let entries = queue.entries();
    for _ in 0..entries {
        queue.push(work.next());
    }
    queue.ring(context)?;
    let entries_32 = u32::from(entries);
    context.wait_for(
        || "COMPLETION_TAIL to reach the end of the ring".into(),
        || Ok((queue.read(context, map::COMPLETION_TAIL)? == entries_32).then_some(())),
    )?;
    let full = queue.completion_bytes();
    for _ in 0..entries {
        // Ring entries whose submissions were fetched may be written again.
        queue.push(work.next());
    }
    queue.ring(context)?;
    context.be_silent();
    let what = || "COMPLETION_TAIL while the ring is full".into();
    expect(what, queue.read(context, map::COMPLETION_TAIL)?, entries_32)?;
    if queue.completion_bytes() != full {
        return Err(CheckError::wrong("completions were written into a full ring"));
    }
    for _ in 0..2 * entries {
        let completion = queue.wait(context)?;
        work.completed(completion, 3)?;
    }
    context.be_silent();
    match queue.take() {
        Some(more) => Err(CheckError::wrong(format!("one completion too many: {more:?}"))),
        None => Ok(format!("{} copies on rings of {entries} entries", 2 * entries)),
    }
}

/// What ERROR says.
const READING_FAILED: u32 = 1;
const WRITING_FAILED: u32 = 2;
const DOORBELL_OUT_OF_RANGE: u32 = 3;

/// A queue halts when its rings cannot be used, says why, and works again after it was enabled.
pub(super) fn halted(context: &mut Context<'_>) -> Result<String, CheckError> {
    let mut queue = Queue::open(context, map::COPY_QUEUE, 3)?;
    let memory = context.memory(4096)?;
    let nowhere = super::bad_commands::unmapped(context)?;
    let copy = Submission::copy(HOST_TO_HOST, memory.address, memory.address + 64, 64);

    refuses_settings_while_enabled(context, &queue)?;
    let beyond = queue.submitted() + queue.entries() + 1;
    queue.doorbell(context, beyond)?;
    expect_halt(context, &mut queue, DOORBELL_OUT_OF_RANGE, copy)?;
    // One more completion consumed than was written.
    queue.write(context, map::COMPLETION_HEAD, 2)?;
    expect_halt(context, &mut queue, DOORBELL_OUT_OF_RANGE, copy)?;
    queue.enable_at(context, Some(nowhere), None)?;
    queue.push(copy);
    queue.ring(context)?;
    expect_halt(context, &mut queue, READING_FAILED, copy)?;
    queue.enable_at(context, None, Some(nowhere))?;
    queue.push(copy);
    queue.ring(context)?;
    expect_halt(context, &mut queue, WRITING_FAILED, copy)?;
    Ok("doorbell out of range, rings that cannot be read or written; each time usable after".into())
}

/// The rings cannot be moved under a queue that works.
fn refuses_settings_while_enabled(context: &Context<'_>, queue: &Queue) -> Result<(), CheckError> {
    for register in [map::SUBMISSION_BASE, map::COMPLETION_BASE, map::LOG2_ENTRIES] {
        let before = queue.read(context, register)?;
        queue.write(context, register, before ^ 0x40)?;
        let what = || format!("register {register:#x} of an enabled queue after a write");
        expect(what, queue.read(context, register)?, before)?;
    }
    Ok(())
}

fn expect_halt(
    context: &Context<'_>,
    queue: &mut Queue,
    error: u32,
    copy: Submission,
) -> Result<(), CheckError> {
    let found = context.wait_for(
        || format!("ERROR {error} of the queue"),
        || Ok(Some(queue.read(context, map::ERROR)?).filter(|&error| error != 0)),
    )?;
    expect(|| "ERROR of the queue".into(), found, error)?;
    expect(|| format!("CONTROL after ERROR {error}"), queue.control(context)?, 0)?;
    queue.enable_again(context)?;
    expect(|| "ERROR after enabling".into(), queue.read(context, map::ERROR)?, 0)?;
    let completion = queue.perform(context, copy)?;
    let what = || format!("status of a copy after ERROR {error}");
    expect_eq(what, completion.status, Status::Done)
}
