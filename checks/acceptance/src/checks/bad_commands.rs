// SPDX-License-Identifier: MIT OR Apache-2.0
//! Commands that cannot be carried out end with the status that says why, and move nothing.

use driver::MemoryNeeds;

use crate::context::{CheckError, Context, Mapped, expect, expect_eq};
use crate::map;
use crate::queue::{
    CARD_TO_HOST, Completion, HOST_TO_CARD, HOST_TO_HOST, Queue, Status, Submission,
};

const GUARD_BYTE: u8 = 0x5A;
/// One more byte than a copy may have.
const TOO_LONG: u32 = (1 << 30) + 1;

struct Command {
    name: &'static str,
    submission: Submission,
    expected: Status,
}

pub(super) fn check(context: &mut Context<'_>) -> Result<String, CheckError> {
    let memory = context.memory(4096)?;
    memory.fill(GUARD_BYTE);
    let mut queue = Queue::open(context, map::COPY_QUEUE, 3)?;
    let mut locks = Queue::open(context, map::LOCK_QUEUE, 2)?;
    let gone = unmapped(context)?;
    let commands = commands(context, &memory, gone)?;
    let failures = queue.counter(context, map::FAILURES)?;
    for (index, Command { name, submission, expected }) in commands.iter().enumerate() {
        let submission = Submission { identifier: 0x100 + index as u16, ..*submission };
        let Completion { status, bytes, .. } = queue.perform(context, submission)?;
        expect_eq(|| format!("status of a copy with {name}"), status, *expected)?;
        expect(|| format!("bytes moved by a copy with {name}"), bytes, 0)?;
        if memory.copy_out(0, memory.bytes()).iter().any(|&byte| byte != GUARD_BYTE) {
            return Err(CheckError::wrong(format!("a copy with {name} has changed memory")));
        }
    }
    let counted = queue.counter(context, map::FAILURES)? - failures;
    expect(|| "failed submissions counted".into(), counted, commands.len() as u64)?;
    let (source, destination) = (memory.address, memory.address + 64);
    let good = Submission::copy(HOST_TO_HOST, source, destination, 64);
    let completion = queue.perform(context, good)?;
    expect_eq(|| "status of a good copy after bad ones".into(), completion.status, Status::Done)?;

    for opcode in [0, 2, 255] {
        let completion = locks.perform(context, Submission { opcode, ..Submission::default() })?;
        let what = || format!("status of opcode {opcode} on the lock queue");
        expect_eq(what, completion.status, Status::BadOpcode)?;
    }
    Ok(format!("{} bad copies, 3 bad opcodes on the lock queue", commands.len()))
}

/// An address at which the device reaches nothing, as long as nothing else is mapped.
pub(super) fn unmapped(context: &Context<'_>) -> Result<u64, CheckError> {
    if context.backend.information().memory == MemoryNeeds::Contiguous {
        // Nothing translates, so that all memory of the machine is reached: far beyond it.
        return Ok(1 << 51);
    }
    let mut memory = context.memory(4096)?;
    memory.unmap()?;
    Ok(memory.address)
}

/// Each is wrong in one way alone.
fn commands(context: &Context<'_>, memory: &Mapped, gone: u64) -> Result<Vec<Command>, CheckError> {
    let here = memory.address;
    let card = context.card_bytes()?;
    let copy = Submission::copy;
    let wrong = |name, submission, expected| Command { name, submission, expected };
    use Status::*;
    Ok(vec![
        wrong("opcode 0", copy(0, here, here + 64, 8), BadOpcode),
        wrong("opcode 4", copy(4, here, here + 64, 8), BadOpcode),
        wrong("opcode 255", copy(255, here, here + 64, 8), BadOpcode),
        wrong("no bytes", copy(HOST_TO_HOST, here, here + 64, 0), BadLength),
        wrong("2^30 + 1 bytes", copy(HOST_TO_HOST, here, here + 64, TOO_LONG), BadLength),
        wrong("2^32 - 1 bytes", copy(HOST_TO_CARD, here, 0, u32::MAX), BadLength),
        wrong("an unmapped source", copy(HOST_TO_CARD, gone, 0, 64), BadSource),
        wrong("an unmapped source", copy(HOST_TO_HOST, gone, here, 64), BadSource),
        wrong("a source at 2^64 - 1", copy(HOST_TO_CARD, u64::MAX, 0, 64), BadSource),
        wrong("an unmapped destination", copy(CARD_TO_HOST, 0, gone, 64), BadDestination),
        wrong("an unmapped destination", copy(HOST_TO_HOST, here, gone, 64), BadDestination),
        wrong("a destination at 2^64 - 1", copy(CARD_TO_HOST, 0, u64::MAX, 2), BadDestination),
        wrong("a source past the card", copy(CARD_TO_HOST, card, here, 1), OutsideCard),
        wrong("a source across the card's end", copy(CARD_TO_HOST, card - 1, here, 2), OutsideCard),
        wrong("a destination past the card", copy(HOST_TO_CARD, here, card, 1), OutsideCard),
        wrong("a destination across the end", copy(HOST_TO_CARD, here, card - 1, 2), OutsideCard),
        wrong("a card address that wraps", copy(HOST_TO_CARD, here, u64::MAX, 2), OutsideCard),
        wrong("a card source that wraps", copy(CARD_TO_HOST, u64::MAX, here, 2), OutsideCard),
        wrong("no such card address", copy(HOST_TO_CARD, here, 1 << 63, 64), OutsideCard),
    ])
}
