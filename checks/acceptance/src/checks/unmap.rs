// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that is taken away while copies are on their way to it: each copy ends, and once the
//! memory was taken away no byte of it changes.

use driver::MemoryNeeds;

use crate::context::{CheckError, Context, expect_eq};
use crate::map;
use crate::queue::{CARD_TO_HOST, HOST_TO_CARD, HOST_TO_HOST, Queue, Status, Submission};

const BYTES: usize = 2 << 20;
const COPIES: u16 = 64;
const ROUNDS: u32 = 6;

pub(super) fn check(context: &mut Context<'_>) -> Result<String, CheckError> {
    if context.backend.information().memory == MemoryNeeds::Contiguous {
        return Err(CheckError::Skip("no IOMMU: nothing keeps a device from memory".into()));
    }
    let (mut done, mut ended) = (0, 0);
    for round in 0..ROUNDS {
        let opcode = [HOST_TO_HOST, CARD_TO_HOST][round as usize % 2];
        let (before, after) = away_from_destination(context, opcode, round / 2)?;
        (done, ended) = (done + before, ended + after);
    }
    away_from_source(context)?;
    Ok(format!("{ROUNDS} times: {done} copies had ended, {ended} were ended by it"))
}

fn away_from_destination(
    context: &mut Context<'_>,
    opcode: u8,
    wait_for: u32,
) -> Result<(u32, u32), CheckError> {
    let mut queue = Queue::open(context, map::COPY_QUEUE, 6)?;
    let source = context.memory(BYTES)?;
    let mut destination = context.memory(BYTES)?;
    source.fill(0x77);
    let from = if opcode == HOST_TO_HOST { source.address } else { 0 };
    if opcode == CARD_TO_HOST {
        let fill = Submission::copy(HOST_TO_CARD, source.address, 0, BYTES as u32);
        queue.perform(context, fill)?;
    }
    for identifier in 0..COPIES {
        let copy = Submission::copy(opcode, from, destination.address, BYTES as u32);
        queue.push(Submission { identifier, ..copy });
    }
    queue.ring(context)?;
    let mut done = 0;
    for _ in 0..wait_for {
        let completion = queue.wait(context)?;
        expect_eq(|| "status of a copy".into(), completion.status, Status::Done)?;
        done += 1;
    }
    destination.unmap()?;
    destination.fill(0);
    let mut ended = 0;
    for _ in wait_for..u32::from(COPIES) {
        match queue.wait(context)?.status {
            Status::Done => done += 1,
            Status::BadDestination => ended += 1,
            other => {
                let wrong = format!("a copy to memory that was taken away ended as {other:?}");
                return Err(CheckError::wrong(wrong));
            }
        }
    }
    let after = queue.perform(context, Submission::copy(opcode, from, destination.address, 64))?;
    let what = || "status of a copy to memory that was taken away before".into();
    expect_eq(what, after.status, Status::BadDestination)?;
    context.be_silent();
    if destination.copy_out(0, BYTES).iter().any(|&byte| byte != 0) {
        return Err(CheckError::wrong("memory has changed after it was taken away"));
    }
    Ok((done, ended))
}

fn away_from_source(context: &mut Context<'_>) -> Result<(), CheckError> {
    let mut queue = Queue::open(context, map::COPY_QUEUE, 6)?;
    let mut source = context.memory(BYTES)?;
    for identifier in 0..COPIES {
        let copy = Submission::copy(HOST_TO_CARD, source.address, 0, BYTES as u32);
        queue.push(Submission { identifier, ..copy });
    }
    queue.ring(context)?;
    source.unmap()?;
    for _ in 0..COPIES {
        let status = queue.wait(context)?.status;
        if !matches!(status, Status::Done | Status::BadSource) {
            let wrong = format!("a copy from memory that was taken away ended as {status:?}");
            return Err(CheckError::wrong(wrong));
        }
    }
    let after = queue.perform(context, Submission::copy(HOST_TO_CARD, source.address, 0, 64))?;
    let what = || "status of a copy from memory that was taken away before".into();
    expect_eq(what, after.status, Status::BadSource)
}
