// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lock unit of the jobs: its RTL, clocked by the engine's thread on the table in host memory.

use std::collections::VecDeque;

use driver::lock_unit::stream::{Code, Tag, UnitOperation, UnitRequest, UnitResponse};
use locks::machine::Rule;
use ndp_runtime::engine::{LockAnswer, LockOperation, LockRequest, LockResponse};
use ndp_runtime::job::LockTable;
use sim::bus::BusError;
use sim::bus::axi4::{MemoryAccess, MemoryData};
use sim::lock_unit::{UnitMemory, UnitOnMemory};
use sim::models::TupleLockUnit;

use super::card::Host;
use crate::board::perform;

/// Clock cycles between two looks of the engine.
const CYCLES_AT_ONCE: u64 = 16;

/// Requests that may wait for the unit.
const BACKLOG: usize = 16;

/// The unit, if a table has been placed, and what is open at it.
pub(super) struct BoardLocks<'a> {
    memory: HostLines<'a>,
    unit: Option<UnitOnMemory<TupleLockUnit>>,
    /// Requests without their last response.
    open: usize,
    /// Answers to what was asked without a unit.
    refused: VecDeque<LockResponse>,
}

impl<'a> BoardLocks<'a> {
    pub fn new(host: Host<'a>) -> Self {
        Self { memory: HostLines(host), unit: None, open: 0, refused: VecDeque::new() }
    }

    /// Another table: another unit, as after a reset.
    pub fn place(&mut self, table: LockTable) {
        let mut unit = UnitOnMemory::new(TupleLockUnit::new());
        let LockTable { address, log2_buckets } = table;
        let started = driver::LockUnit::new(unit.unit_mut()).start(address, log2_buckets);
        self.open = 0;
        // The unit refuses a table that cannot be; then there is none.
        self.unit = started.is_ok().then_some(unit);
    }

    /// Hands a request over; false while too many wait.
    pub fn request(&mut self, request: LockRequest) -> bool {
        let LockRequest { tag, timestamp: transaction, operation } = request;
        let (Some(unit), Some(unit_tag)) = (&mut self.unit, Tag::new(tag)) else {
            let answer = LockAnswer::BusError;
            self.refused.push_back(LockResponse { tag, answer, notice: false });
            return true;
        };
        if unit.backlog() >= BACKLOG {
            return false;
        }
        // No tag is above 127.
        let target = |tag: u8| Tag::new(tag % 128).expect("below 128");
        let operation = match operation {
            LockOperation::Acquire(key) => UnitOperation::Acquire(key, Rule::Queue),
            LockOperation::Poll(tag) => UnitOperation::Poll(target(tag)),
            LockOperation::Cancel(tag) => UnitOperation::Cancel(target(tag)),
        };
        unit.request(UnitRequest { tag: unit_tag, transaction, operation });
        self.open += 1;
        true
    }

    /// Lets the unit work for a moment, if anything is open at it.
    pub fn response(&mut self) -> Option<LockResponse> {
        if let Some(refused) = self.refused.pop_front() {
            return Some(refused);
        }
        if self.open == 0 {
            return None;
        }
        match self.unit.as_mut()?.work(CYCLES_AT_ONCE, &mut self.memory) {
            Ok(response) => {
                let response = response?;
                self.open -= usize::from(response.is_last());
                Some(decode(&response))
            }
            Err(fault) => {
                // As on the board: a device that violates a bus rule is gone until a reset.
                self.memory.0.function.fail(self.memory.0.generation, fault.to_string());
                self.unit = None;
                None
            }
        }
    }
}

fn decode(response: &UnitResponse) -> LockResponse {
    let answer = match response.code {
        Code::Granted => LockAnswer::Granted { again: response.again },
        Code::Queued => LockAnswer::Queued,
        Code::RefusedFull | Code::RefusedContended => LockAnswer::Refused,
        Code::Cancelled => LockAnswer::Cancelled,
        Code::NotWaiting => LockAnswer::NotWaiting,
        Code::BusError => LockAnswer::BusError,
        code => LockAnswer::Other(code as u8),
    };
    LockResponse { tag: response.tag.index() as u8, answer, notice: response.notice }
}

/// The host's memory, line by line.
struct HostLines<'a>(Host<'a>);

impl UnitMemory for HostLines<'_> {
    fn perform(&mut self, access: &MemoryAccess) -> Result<MemoryData, BusError> {
        let mut outcome = Err(BusError::DecodeError);
        // A generation that is over is as if no memory were mapped.
        let _ = self.0.with(|host| {
            outcome = perform(host, access);
            Ok(())
        });
        outcome
    }

    fn head(&self, address: u64) -> Option<u64> {
        self.0.with(|host| host.space.load(address)).ok()
    }
}
