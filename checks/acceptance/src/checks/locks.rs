// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests through the lock queue, on a table that the host shares: every kind of request and of
//! answer, and what the table holds then.

use driver::lock_unit::stream::{Code, UnitRequest, UnitResponse};
use driver::map::lock_unit;
use locks::machine::{Outcome, Request as Ask, Rule};
use locks::{Timestamp, TupleKey};

use super::interrupts::enable_all;
use crate::context::{CheckError, Context, expect, expect_eq};
use crate::host_table::HostTable;
use crate::map;
use crate::queue::{Queue, Status, Submission};
use crate::requests::{self, cancel, poll, tag, unknown};

const LOG2_BUCKETS: u32 = 6;
const KEY: TupleKey = TupleKey::new(3, 1);
/// Waiters that a bucket has room for.
const SLOTS: u8 = 7;

pub(super) fn check(context: &mut Context<'_>) -> Result<String, CheckError> {
    let mut scene = Scene {
        table: HostTable::start(context, LOG2_BUCKETS)?,
        queue: Queue::open(context, map::LOCK_QUEUE, 4)?,
        sent: 0,
    };
    scene.device_alone(context)?;
    scene.host_holds(context)?;
    scene.device_holds(context)?;
    scene.refusals(context)?;
    scene.full_queue(context)?;
    scene.cancel_and_poll(context)?;
    scene.bad_requests(context)?;
    scene.table.expect_empty()?;
    let counted = context.read(map::LOCK_UNIT + u64::from(lock_unit::REQUESTS.offset()))?;
    expect(|| "requests counted by the lock unit".into(), counted, scene.sent)?;
    scene.bus_error(context)?;
    Ok(format!("{} requests: grants, queues, refusals, cancels, polls, errors", scene.sent))
}

struct Scene {
    table: HostTable,
    queue: Queue,
    sent: u32,
}

fn t(number: u64) -> Timestamp {
    Timestamp::new(number).expect("small and not 0")
}

fn acquire(tag: u8, transaction: u64) -> UnitRequest {
    requests::acquire(tag, t(transaction), KEY, Rule::Queue)
}

fn release(tag: u8, transaction: u64) -> UnitRequest {
    requests::release(tag, t(transaction), KEY)
}

impl Scene {
    fn response(&mut self, context: &Context<'_>) -> Result<UnitResponse, CheckError> {
        let completion = self.queue.wait(context)?;
        expect_eq(|| "status of a lock request".into(), completion.status, Status::Done)?;
        let response = requests::response(&completion)?;
        let what = || format!("identifier of the completion of {response:?}");
        expect(what, usize::from(completion.identifier), response.tag.index())?;
        Ok(response)
    }

    /// Sends a request that is answered with `code`.
    fn ask(
        &mut self,
        context: &Context<'_>,
        request: UnitRequest,
        code: Code,
    ) -> Result<UnitResponse, CheckError> {
        self.submit(context, Submission::request(request), code)
    }

    fn submit(
        &mut self,
        context: &Context<'_>,
        submission: Submission,
        code: Code,
    ) -> Result<UnitResponse, CheckError> {
        self.queue.push(submission);
        self.queue.ring(context)?;
        self.sent += 1;
        let response = self.response(context)?;
        let what = || match UnitRequest::decode(submission.beat) {
            Some(request) => format!("the answer to {request:?}"),
            None => "the answer to an unknown operation".into(),
        };
        expect_eq(what, response.code, code)?;
        Ok(response)
    }

    fn expect_holder(&self, holder: Option<Timestamp>) -> Result<(), CheckError> {
        let table = self.table.table();
        let head = table.buckets()[table.bucket_of(KEY)].head();
        expect_eq(|| "holder of the lock in memory".into(), head.holder(), holder)
    }

    fn device_alone(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        let granted = self.ask(context, acquire(1, 10), Code::Granted)?;
        expect_eq(|| "granted again".into(), granted.again, false)?;
        self.expect_holder(Some(t(10)))?;
        let granted = self.ask(context, acquire(2, 10), Code::Granted)?;
        expect_eq(|| "granted again, as it holds the lock".into(), granted.again, true)?;
        let released = self.ask(context, release(3, 10), Code::Released)?;
        expect_eq(|| "who is next".into(), released.transaction, None)?;
        self.expect_holder(None)?;
        self.ask(context, release(3, 10), Code::NotHeld).map(drop)
    }

    /// The host's release hands the lock to a waiter of the device, which learns of it from memory.
    fn host_holds(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        self.table.acquire(t(20), KEY)?;
        for (tag, waiter, position) in [(4, 21, 1), (5, 22, 2)] {
            let queued = self.ask(context, acquire(tag, waiter), Code::Queued)?;
            expect(|| format!("position of T{waiter}"), queued.position, position)?;
        }
        let next = self.table.release(t(20), KEY)?;
        expect_eq(|| "who has the lock after the host".into(), next, Some(t(21)))?;
        self.expect_notice(context, 4, Code::Granted)?;
        let released = self.ask(context, release(6, 21), Code::Released)?;
        let next = released.transaction;
        expect_eq(|| "who has the lock after T21".into(), next, Some(t(22)))?;
        self.expect_notice(context, 5, Code::Granted)?;
        self.ask(context, release(6, 22), Code::Released)?;
        self.expect_holder(None)
    }

    fn expect_notice(
        &mut self,
        context: &Context<'_>,
        of: u8,
        code: Code,
    ) -> Result<(), CheckError> {
        let response = self.response(context)?;
        let found = (response.tag, response.code, response.notice);
        expect_eq(|| "the notice of a waiting request".into(), found, (tag(of), code, true))
    }

    /// A release of the device hands the lock to a waiter of the host.
    fn device_holds(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        self.ask(context, acquire(7, 30), Code::Granted)?;
        let Outcome::Queued { place, position: 1 } =
            self.table.run(t(31), KEY, Ask::Acquire(Rule::Queue))?
        else {
            return Err(CheckError::wrong(
                "the host asked for a held lock and is not in its queue",
            ));
        };
        let released = self.ask(context, release(7, 30), Code::Released)?;
        let next = released.transaction;
        expect_eq(|| "who has the lock after the device".into(), next, Some(t(31)))?;
        self.expect_holder(Some(t(31)))?;
        let outcome = self.table.run(t(31), KEY, Ask::Poll(place))?;
        if !matches!(outcome, Outcome::Granted { .. }) {
            return Err(CheckError::wrong(format!("the host was handed a lock: {outcome:?}")));
        }
        self.table.release(t(31), KEY).map(drop)
    }

    fn refusals(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        self.table.acquire(t(40), KEY)?;
        let no_wait = requests::acquire(8, t(41), KEY, Rule::NoWait);
        self.ask(context, no_wait, Code::RefusedBusy)?;
        let younger = requests::acquire(8, t(41), KEY, Rule::WaitDie);
        self.ask(context, younger, Code::RefusedDie)?;
        let older = requests::acquire(8, t(39), KEY, Rule::WaitDie);
        self.ask(context, older, Code::Queued)?;
        self.table.release(t(40), KEY)?;
        self.expect_notice(context, 8, Code::Granted)?;
        self.ask(context, release(8, 39), Code::Released).map(drop)
    }

    fn full_queue(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        self.table.acquire(t(50), KEY)?;
        for slot in 1..=SLOTS {
            self.ask(context, acquire(slot, 50 + u64::from(slot)), Code::Queued)?;
        }
        self.ask(context, acquire(60, 60), Code::RefusedFull)?;
        self.table.release(t(50), KEY)?;
        for slot in 1..=SLOTS {
            self.expect_notice(context, slot, Code::Granted)?;
            self.ask(context, release(61, 50 + u64::from(slot)), Code::Released)?;
        }
        self.expect_holder(None)
    }

    fn cancel_and_poll(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        self.table.acquire(t(70), KEY)?;
        self.ask(context, acquire(1, 71), Code::Queued)?;
        self.ask(context, acquire(2, 72), Code::Queued)?;
        let polled = self.ask(context, poll(3, t(72), 2), Code::Queued)?;
        expect(|| "position by poll".into(), polled.position, 2)?;
        self.ask(context, cancel(3, t(71), 1), Code::Cancelled)?;
        let polled = self.ask(context, poll(3, t(72), 2), Code::Queued)?;
        expect(|| "position after the first has left".into(), polled.position, 1)?;
        self.ask(context, cancel(3, t(71), 1), Code::NotWaiting)?;
        self.ask(context, acquire(2, 73), Code::TagBusy)?;
        self.table.release(t(70), KEY)?;
        self.expect_notice(context, 2, Code::Granted)?;
        self.ask(context, release(2, 72), Code::Released).map(drop)
    }

    fn bad_requests(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        self.submit(context, Submission::beat(unknown(9, t(80))), Code::BadRequest)?;
        self.ask(context, poll(9, t(80), 77), Code::NotWaiting)?;
        self.ask(context, cancel(9, t(80), 77), Code::NotWaiting).map(drop)
    }

    /// Without its table the unit answers *error: bus*, says so on its own vector, and continues.
    fn bus_error(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        if context.backend.information().memory == driver::MemoryNeeds::Contiguous {
            return Ok(());
        }
        let vectors = enable_all(context)?;
        context.write(map::LOCK_UNIT + map::IER, 1)?;
        context.write(map::LOCK_UNIT + map::GIE, 1)?;
        self.table.unmap()?;
        self.ask(context, acquire(1, 90), Code::BusError)?;
        let vector = &vectors[map::VECTOR_BUS_ERROR as usize];
        let came = vector.wait(context.options.timeout)?;
        expect(|| "interrupts of the bus error".into(), came, 1)?;
        let status = context.read(map::LOCK_UNIT + map::ISR)?;
        expect(|| "ISR of the lock unit after a bus error".into(), status, 1)?;
        context.write(map::LOCK_UNIT + map::ISR, 1)?;
        let status = context.read(map::LOCK_UNIT + map::ISR)?;
        expect(|| "ISR after it was acknowledged".into(), status, 0)?;
        self.table = HostTable::start(context, LOG2_BUCKETS)?;
        self.ask(context, acquire(1, 91), Code::Granted)?;
        self.ask(context, release(1, 91), Code::Released).map(drop)
    }
}
