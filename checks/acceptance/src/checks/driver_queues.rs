// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver's own queues, as programs use them: work that a reset has ended is reported as such,
//! and a queue can be restarted.

use driver::lock_unit::stream::Code;
use driver::{CopyCommand, Device, Direction, QueueError, Status};
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};

use crate::context::{CheckError, Context, expect_eq};
use crate::host_table::HostTable;
use crate::requests;

const BYTES: usize = 4096;
const ROUNDS: u8 = 20;

pub(super) fn check(context: &mut Context<'_>) -> Result<String, CheckError> {
    let device = context.device.clone();
    copies(context, &device).map_err(told)?;
    locks(context, &device)?;
    Ok("copies there and back, work ended by a reset, lock requests".into())
}

fn told(error: QueueError) -> CheckError {
    CheckError::wrong(format!("the driver's queue: {error}"))
}

fn copies(context: &Context<'_>, device: &Device) -> Result<(), QueueError> {
    let bound = context.options.timeout;
    let (from, to) = (device.allocate(BYTES)?, device.allocate(BYTES)?);
    let mut queue = device.copy_queue(8)?;
    let card = device.capabilities().card_bytes / 2;
    let into = CopyCommand {
        direction: Direction::HostToCard,
        source: from.bus_address(),
        destination: card,
        bytes: BYTES as u32,
        interrupt: true,
    };
    let back = CopyCommand {
        direction: Direction::CardToHost,
        source: card,
        destination: to.bus_address(),
        ..into
    };
    let differs = |round: u8| QueueError::Violation {
        queue: "copy",
        detail: format!("round {round}: other bytes came back than were copied"),
    };
    for round in 1..=ROUNDS {
        from.write(0, &[round; BYTES]);
        queue.copy(into, bound)?.succeeded()?;
        queue.copy(back, bound)?.succeeded()?;
        let mut found = vec![0; BYTES];
        to.read(0, &mut found);
        if found.iter().any(|&byte| byte != round) {
            return Err(differs(round));
        }
    }
    let bad = CopyCommand { source: u64::MAX, direction: Direction::CardToHost, ..back };
    let status = queue.copy(bad, bound)?.status;
    if status == Status::Done {
        return Err(QueueError::Failed { queue: "copy", status, bytes: 0 });
    }
    queue.submit(into)?;
    device.reset()?;
    // The copy may have ended before the reset, and its completion is there all the same.
    let mut ended = 0;
    let stopped = loop {
        match queue.wait(bound) {
            Ok(_) if ended == 0 => ended += 1,
            other => break other,
        }
    };
    match stopped {
        Err(QueueError::Stopped { .. }) => queue.restart()?,
        Err(other) => return Err(other),
        Ok(done) => {
            let detail = format!("{done:?} after a reset");
            return Err(QueueError::Violation { queue: "copy", detail });
        }
    }
    queue.copy(back, bound)?.succeeded().map(drop)
}

fn locks(context: &Context<'_>, device: &Device) -> Result<(), CheckError> {
    let bound = context.options.timeout;
    let table = HostTable::start(context, 2)?;
    let mut queue = device.lock_queue(8).map_err(told)?;
    let (transaction, key) = (Timestamp::MAX, TupleKey::initial(1));
    for tag in 0..ROUNDS {
        let requests = [
            (requests::acquire(tag, transaction, key, Rule::NoWait), Code::Granted),
            (requests::release(tag, transaction, key), Code::Released),
        ];
        for (request, code) in requests {
            queue.request(request).map_err(told)?;
            let response = queue.wait(bound).map_err(told)?;
            expect_eq(|| format!("the answer to {request:?}"), response.code, code)?;
            expect_eq(|| "its tag".into(), response.tag, requests::tag(tag))?;
        }
    }
    table.expect_empty()
}
