// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast the lock unit is simulated through the whole path, from requests over all bus models
//! to memory, beside a bare loop that toggles the clock of the same model.

use std::collections::VecDeque;

use driver::lock_unit::stream::{Code, TAGS, Tag, UnitOperation, UnitRequest};
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use sim::bus::axi4::{AccessKind, MemoryAccess, MemoryAnswer, MemoryData};
use sim::lock_unit::{UnitConfig, UnitUnderTest};
use sim::models::TupleLockUnit;

use super::{Goal, Measurement, Size, pin, stopwatch};

const CYCLES: u64 = 10_000;
const BUCKETS: u64 = 1 << 16;
/// 800 ns at 250 MHz: the platform's far atomic.
const LATENCY: u64 = 200;

/// The whole path at full load and at a light one.
pub fn measure(size: Size) -> Result<Vec<Measurement>, String> {
    let cycles = size.of(CYCLES);
    let measured = [("full load", TAGS), ("16 requesters", 16)]
        .map(|(name, requesters)| pin::on_one_processor(|| with(size, cycles, name, requesters)));
    measured.into_iter().collect()
}

fn with(size: Size, cycles: u64, name: &str, requesters: usize) -> Result<Measurement, String> {
    let mut path = Path::new(requesters)?;
    let (value, floor) =
        stopwatch::best_of_both(size, || stopwatch::each(cycles, || path.run(cycles)), {
            let mut bare = TupleLockUnit::new();
            bare.reset(4);
            move || stopwatch::each(cycles, || bare.toggle_only(cycles))
        });
    let bench = format!("cosimulation, {name}");
    Ok(Measurement::new(bench, "cycles/s", 1e9 / value)
        .over(1e9 / floor)
        .goal(Goal::RatioAtLeast(0.6)))
}

/// Processing elements that lock and release, the unit, its buses, and a flat memory that answers
/// after a fixed time.
struct Path {
    unit: UnitUnderTest<TupleLockUnit>,
    memory: Vec<u64>,
    under_way: VecDeque<MemoryAccess>,
    asked: u64,
    held: Vec<UnitRequest>,
}

impl Path {
    fn new(requesters: usize) -> Result<Self, String> {
        let mut unit = UnitUnderTest::new(TupleLockUnit::new(), &UnitConfig::smooth());
        let mut registers = driver::LockUnit::new(&mut unit);
        let set = registers.configure(0, BUCKETS.trailing_zeros());
        set.and_then(|()| registers.enable()).map_err(|error| error.to_string())?;
        let held: Vec<UnitRequest> =
            (0..requesters as u64).map(|n| acquire(n as usize, n)).collect();
        held.iter().for_each(|&request| unit.request(request));
        let memory = vec![0; BUCKETS as usize * 8];
        Ok(Self { unit, memory, under_way: VecDeque::new(), asked: requesters as u64, held })
    }

    fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            if let Err(error) = self.unit.clock() {
                panic!("the lock unit: {error}");
            }
            while let Some(access) = self.unit.take_access() {
                self.under_way.push_back(access);
            }
            let now = self.unit.cycle();
            let is_due = |access: &MemoryAccess| access.accepted_at_cycle + LATENCY <= now;
            while self.under_way.front().is_some_and(is_due) {
                let access = self.under_way.pop_front().expect("just seen");
                self.perform(&access);
            }
            while let Some(response) = self.unit.take_response() {
                self.answered(response.tag.index(), response.code);
            }
        }
    }

    #[inline]
    fn perform(&mut self, access: &MemoryAccess) {
        let first = (access.address / 8) as usize;
        let data = match access.kind {
            AccessKind::CompareSwap { expected, new } => {
                let word = &mut self.memory[first];
                let old = *word;
                if old == expected {
                    *word = new;
                }
                MemoryData::OldWord(old)
            }
            AccessKind::ReadLine { .. } => {
                let line = &self.memory[first..first + 8];
                MemoryData::Line(line.try_into().expect("eight words"))
            }
            AccessKind::Store { value, .. } => {
                self.memory[first] = value;
                MemoryData::Stored
            }
            AccessKind::ReadBurst(_) | AccessKind::WriteBurst(_) => {
                unreachable!("the unit's port takes no bursts")
            }
        };
        self.unit.answer(&MemoryAnswer { id: access.id, outcome: Ok(data) });
    }

    #[inline]
    fn answered(&mut self, tag: usize, code: Code) {
        let request = match (code, self.held[tag].operation) {
            (Code::Granted, UnitOperation::Acquire(key, _)) => {
                UnitRequest { operation: UnitOperation::Release(key), ..self.held[tag] }
            }
            (Code::Released, _) => {
                self.asked += 1;
                self.held[tag] = acquire(tag, self.asked);
                self.held[tag]
            }
            (other, request) => panic!("uncontended {request:?} was answered {other:?}"),
        };
        self.unit.request(request);
    }
}

fn acquire(tag: usize, vid: u64) -> UnitRequest {
    UnitRequest {
        tag: Tag::new(tag as u8).expect("a tag"),
        transaction: Timestamp::new(1 + vid).expect("not 0"),
        operation: UnitOperation::Acquire(TupleKey::new(vid, 0), Rule::Queue),
    }
}
