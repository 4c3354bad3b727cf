// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lock unit as a program.

use std::collections::{BTreeMap, VecDeque};

use locks::machine::{Outcome, Place, Request, Rule};
use locks::{Timestamp, TupleKey};
use ndp_runtime::engine::{LockAnswer, LockOperation, LockRequest, LockResponse};

/// The lock unit as a program, on the table itself (`docs/lock-unit.md`).
#[derive(Default)]
pub struct LockUnit {
    responses: VecDeque<LockResponse>,
    /// By their tags.
    waiting: BTreeMap<u8, Waiting>,
}

#[derive(Clone, Copy)]
struct Waiting {
    timestamp: Timestamp,
    bucket: usize,
    place: Place,
}

impl LockUnit {
    /// Takes a request on `table`.
    pub fn request(&mut self, table: &locks::LockTable, request: LockRequest) {
        let LockRequest { tag, timestamp, operation } = request;
        match operation {
            LockOperation::Acquire(key) => self.acquire(table, tag, timestamp, key),
            LockOperation::Poll(target) => self.control(table, tag, target, Request::Poll),
            LockOperation::Cancel(target) => self.control(table, tag, target, Request::Cancel),
        }
    }

    /// The next response, in the order in which they came about.
    pub fn response(&mut self) -> Option<LockResponse> {
        self.responses.pop_front()
    }

    fn acquire(&mut self, table: &locks::LockTable, tag: u8, timestamp: Timestamp, key: TupleKey) {
        let bucket = table.bucket_of(key);
        let outcome = table.run(timestamp, bucket, Request::Acquire(Rule::Queue));
        if let Outcome::Queued { place, .. } = outcome {
            self.waiting.insert(tag, Waiting { timestamp, bucket, place });
        }
        self.respond(tag, answer(outcome), false);
    }

    fn control(
        &mut self,
        table: &locks::LockTable,
        tag: u8,
        target: u8,
        request: impl FnOnce(Place) -> Request,
    ) {
        let Some(&Waiting { timestamp, bucket, place }) = self.waiting.get(&target) else {
            return self.respond(tag, LockAnswer::NotWaiting, false);
        };
        let request = request(place);
        let outcome = table.run(timestamp, bucket, request);
        self.respond(tag, answer(outcome), false);
        if let Outcome::Queued { .. } = outcome {
            return;
        }
        self.waiting.remove(&target);
        if matches!(request, Request::Poll(_)) {
            self.respond(target, answer(outcome), true);
        }
    }

    fn respond(&mut self, tag: u8, answer: LockAnswer, notice: bool) {
        self.responses.push_back(LockResponse { tag, answer, notice });
    }
}

fn answer(outcome: Outcome) -> LockAnswer {
    match outcome {
        Outcome::Granted { again } => LockAnswer::Granted { again },
        Outcome::Queued { .. } => LockAnswer::Queued,
        Outcome::Refused(_) => LockAnswer::Refused,
        Outcome::Cancelled => LockAnswer::Cancelled,
        Outcome::BusError => LockAnswer::BusError,
        Outcome::Released { .. } | Outcome::NotHeld => {
            unreachable!("no release is asked for, but {outcome:?}")
        }
    }
}
