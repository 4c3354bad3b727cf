// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two different blocks in one world, each on a clock of its own that sleeps while nothing happens:
//! held, cycle by cycle, against the same world whose clocks never sleep.

use std::collections::VecDeque;

use arithmetic_unit::Model as ArithmeticUnit;
use driver::lock_unit::stream::{Tag, UnitOperation, UnitRequest};
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use lockstep_sim::bus::axi4::{AccessKind, MemoryAccess, MemoryAnswer, MemoryData};
use lockstep_sim::bus::error::BusModelError;
use lockstep_sim::clocked::{Block, Clocked};
use lockstep_sim::lock_unit::{UnitConfig, UnitUnderTest};
use lockstep_sim::models::{LockUnitOutputs, TupleLockUnit};
use timing::{Kernel, Priority, Time};

/// Periods that meet only now and then.
const UNIT_PERIOD: Time = Time::from_ns(4);
const ARITHMETIC_PERIOD: Time = Time::from_ps(3_300);
const ARITHMETIC_PHASE: Time = Time::from_ps(700);
/// Quiet cycles after which both clocks sleep.
const SLEEPS_AFTER: u32 = 64;
const END: Time = Time::from_us(24);
const TABLE: u64 = 0x10_0000;
/// From an access of the lock unit to its answer.
const MEMORY: Time = Time::from_ns(100);

/// The arithmetic unit, one operation at a time.
struct Arithmetic {
    model: ArithmeticUnit,
    asked: VecDeque<(u8, u64, u64)>,
    under_way: bool,
    results: Vec<u64>,
}

impl Block for Arithmetic {
    type Error = BusModelError;

    fn clock(&mut self) -> Result<bool, BusModelError> {
        let done = self.model.outputs().done_o;
        if done {
            self.under_way = false;
            self.results.push(self.model.outputs().result_o);
        }
        let next = if done || self.under_way { None } else { self.asked.pop_front() };
        let inputs = self.model.inputs_mut();
        inputs.valid_i = next.is_some();
        if let Some((operation, a, b)) = next {
            (inputs.operation_i, inputs.a_i, inputs.b_i) = (operation, a, b);
            self.under_way = true;
        }
        self.model.try_clock()?;
        Ok(done || next.is_some())
    }

    fn has_work(&self) -> bool {
        self.under_way || !self.asked.is_empty()
    }
}

/// The next event in the world.
#[derive(Clone, Copy)]
enum Event {
    UnitEdge,
    ArithmeticEdge,
    Answered(MemoryAnswer),
    /// A copy that the lock unit keeps of the line at this address is void.
    Void(u64),
    Lock(UnitRequest),
    Compute(u8, u64, u64, Priority),
}

/// The observations of the world.
#[derive(Default)]
struct Seen {
    /// Responses, accesses and results, with their instants.
    visible: Vec<(Time, String)>,
    /// The pins after each edge.
    unit: Vec<(Time, LockUnitOutputs)>,
    arithmetic: Vec<(Time, arithmetic_unit::Outputs)>,
}

struct World {
    kernel: Kernel<Event>,
    unit: Clocked<UnitUnderTest<TupleLockUnit>>,
    arithmetic: Clocked<Arithmetic>,
    table: [[u64; 8]; 2],
    /// Copies of each line that the lock unit keeps.
    kept: [u32; 2],
    seen: Seen,
}

impl World {
    /// The scripted world, with clocks that sleep after so many quiet cycles.
    fn run(sleeps_after: u32) -> Seen {
        let mut unit = UnitUnderTest::new(TupleLockUnit::new(), &UnitConfig::smooth());
        driver::LockUnit::new(&mut unit).start(TABLE, 1).unwrap();
        let mut model = ArithmeticUnit::new();
        model.reset(2);
        let (asked, results) = (VecDeque::new(), Vec::new());
        let arithmetic = Arithmetic { model, asked, under_way: false, results };
        let mut world = World {
            kernel: Kernel::new(),
            unit: Clocked::new(unit, UNIT_PERIOD, Time::ZERO, sleeps_after),
            arithmetic: Clocked::new(arithmetic, ARITHMETIC_PERIOD, ARITHMETIC_PHASE, sleeps_after),
            table: [[0; 8]; 2],
            kept: [0; 2],
            seen: Seen::default(),
        };
        world.script();
        if sleeps_after == u32::MAX {
            world.wake_unit();
            let edge = world.arithmetic.wake(Time::ZERO);
            world.schedule_arithmetic(edge);
        }
        while world.kernel.next_time().is_some_and(|next| next <= END) {
            let (now, event) = world.kernel.pop().unwrap();
            world.handle(now, event);
        }
        assert_eq!(world.table, [[0; 8]; 2], "everybody has released");
        world.seen
    }

    /// Locks of two transactions on both buckets, and arithmetic between; in bursts and alone, at
    /// instants that are edges, before and after the edge, and at others.
    fn script(&mut self) {
        let key = |bucket: u64| {
            let mut keys = (0..).map(|vid| TupleKey::new(vid, 0));
            keys.find(|key| key.mix() & 1 == bucket).unwrap()
        };
        let mut lock = |time, tag: u8, transaction, operation| {
            let transaction = Timestamp::new(transaction).unwrap();
            let request = UnitRequest { tag: Tag::new(tag).unwrap(), transaction, operation };
            self.kernel.schedule_at(time, Priority::Issue, Event::Lock(request));
        };
        for round in 0..4 {
            let start = Time::from_ps(1_000 + 4_000_500 * round);
            let at = |ns| start + Time::from_ns(ns);
            let tag = 8 * round as u8;
            lock(at(0), tag, 1, UnitOperation::Acquire(key(0), Rule::Queue));
            lock(at(1), tag + 1, 2, UnitOperation::Acquire(key(0), Rule::Queue));
            lock(at(1), tag + 2, 2, UnitOperation::Acquire(key(1), Rule::NoWait));
            lock(at(900), tag + 3, 1, UnitOperation::Release(key(0)));
            // By now the clock sleeps.
            lock(at(2_600), tag + 4, 2, UnitOperation::Release(key(0)));
            lock(at(2_903), tag + 5, 2, UnitOperation::Release(key(1)));
        }
        for number in 0..40u64 {
            // At an edge of its clock, and a picosecond later.
            let time = Time::from_ps(ARITHMETIC_PHASE.as_ps() + number / 2 * 660_000 + number % 2);
            let (a, b) = ((number as f64).to_bits(), 0.5f64.to_bits());
            let priority = if number % 4 < 2 { Priority::Issue } else { Priority::Deliver };
            let event = Event::Compute(1 + (number % 3) as u8, a, b, priority);
            self.kernel.schedule_at(time, priority, event);
        }
    }

    fn handle(&mut self, now: Time, event: Event) {
        match event {
            Event::UnitEdge => {
                let next = self.unit.edge(now).expect("no fault");
                self.schedule_unit(next);
                let unit = self.unit.block_mut();
                self.seen.unit.push((now, unit.model_mut().outputs().clone()));
                while let Some(response) = unit.take_response() {
                    self.seen.visible.push((now, response.to_string()));
                }
                while let Some(access) = self.unit.block_mut().take_access() {
                    let MemoryAccess { id, address, kind, .. } = access;
                    self.seen.visible.push((now, format!("{id:03X} {address:X} {kind:?}")));
                    self.perform(access);
                }
            }
            Event::ArithmeticEdge => {
                let next = self.arithmetic.edge(now).expect("no fault");
                self.schedule_arithmetic(next);
                let unit = self.arithmetic.block_mut();
                self.seen.arithmetic.push((now, unit.model.outputs().clone()));
                for result in unit.results.drain(..) {
                    self.seen.visible.push((now, format!("result {result:016X}")));
                }
            }
            Event::Answered(answer) => {
                self.unit.block_mut().answer(&answer);
                self.wake_unit();
            }
            Event::Void(address) => {
                self.unit.block_mut().invalidate(address);
                self.wake_unit();
            }
            Event::Lock(request) => {
                self.unit.block_mut().request(request);
                let edge = self.unit.wake_after(now);
                self.schedule_unit(edge);
            }
            Event::Compute(operation, a, b, priority) => {
                self.arithmetic.block_mut().asked.push_back((operation, a, b));
                let edge = match priority {
                    Priority::Deliver => self.arithmetic.wake(now),
                    _ => self.arithmetic.wake_after(now),
                };
                self.schedule_arithmetic(edge);
            }
        }
    }

    /// Makes an access of the lock unit; its answer comes later, and after it the end of the copies
    /// that the access has made void.
    fn perform(&mut self, access: MemoryAccess) {
        let index = ((access.address - TABLE) / 64) as usize;
        let (before, line) = (self.table[index], &mut self.table[index]);
        let word = &mut line[(access.address / 8 % 8) as usize];
        let data = match access.kind {
            AccessKind::ReadLine { keep_copy } => {
                self.kept[index] += u32::from(keep_copy);
                MemoryData::Line(before)
            }
            AccessKind::CompareSwap { expected, new } => {
                let old = *word;
                if old == expected {
                    *word = new;
                }
                MemoryData::OldWord(old)
            }
            AccessKind::Store { value, .. } => {
                *word = value;
                MemoryData::Stored
            }
            AccessKind::ReadBurst(_) | AccessKind::WriteBurst(_) => {
                unreachable!("the unit's port takes no bursts")
            }
        };
        let answer = Event::Answered(MemoryAnswer { id: access.id, outcome: Ok(data) });
        self.kernel.schedule_after(MEMORY, Priority::Deliver, answer);
        if self.table[index] != before {
            for _ in 0..std::mem::take(&mut self.kept[index]) {
                let void = Event::Void(TABLE + 64 * index as u64);
                self.kernel.schedule_after(MEMORY, Priority::Deliver, void);
            }
        }
    }

    fn wake_unit(&mut self) {
        let edge = self.unit.wake(self.kernel.now());
        self.schedule_unit(edge);
    }

    fn schedule_unit(&mut self, edge: Option<Time>) {
        if let Some(edge) = edge {
            self.kernel.schedule_at(edge, Priority::ClockEdge, Event::UnitEdge);
        }
    }

    fn schedule_arithmetic(&mut self, edge: Option<Time>) {
        if let Some(edge) = edge {
            self.kernel.schedule_at(edge, Priority::ClockEdge, Event::ArithmeticEdge);
        }
    }
}

/// Every edge of the sleeping clock is one of the other's, with the same pins after it; and while it
/// slept the pins did not change.
fn same_pins<P: Clone + PartialEq + std::fmt::Debug>(slept: &[(Time, P)], always: &[(Time, P)]) {
    let mut edges = slept.iter().peekable();
    let mut last: Option<&P> = None;
    for (time, pins) in always {
        if let Some((_, own)) = edges.next_if(|(edge, _)| edge == time) {
            last = Some(own);
        }
        if let Some(own) = last {
            assert_eq!(own, pins, "at {time}");
        }
    }
    assert_eq!(edges.next(), None, "an edge that is none");
}

#[test]
fn blocks_of_different_clocks_do_the_same_asleep_and_always_clocked() {
    let (slept, always) = (World::run(SLEEPS_AFTER), World::run(u32::MAX));
    assert!(slept.visible.iter().filter(|(_, what)| what.contains("Granted")).count() == 12);
    assert_eq!(slept.visible.iter().filter(|(_, what)| what.starts_with("result")).count(), 40);
    assert_eq!(slept.visible, always.visible);
    same_pins(&slept.unit, &always.unit);
    same_pins(&slept.arithmetic, &always.arithmetic);
    // Otherwise nothing was tested.
    assert_eq!(always.unit.len() as u64, 1 + END.as_ps() / UNIT_PERIOD.as_ps());
    assert!(slept.unit.len() < always.unit.len() / 2, "{} edges", slept.unit.len());
    assert!(slept.arithmetic.len() < always.arithmetic.len(), "{}", slept.arithmetic.len());
}
