// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event kernel by itself, with the hold model: the queue keeps its length, and each step
//! takes the next event and schedules it again at a random later time.
//!
//! How fast a wheel is depends on the delays, so there are several distributions of them; a binary
//! heap with the same events is the floor.

mod heap;

use std::hint::black_box;

use timing::{Kernel, Priority, Time};

use super::{Goal, Measurement, Size, pin, stopwatch};
use heap::HeapKernel;

/// Of a round: so few that the heap, too, has rounds that other work does not interrupt.
const EVENTS: u64 = 20_000;

/// About as many as a run of one host and one device has pending, as a small cluster, and as a large
/// one; and how much faster than the heap the kernel is to be.
const PENDING: [(u64, Goal); 3] = [
    (100, Goal::AtLeast(5e6)),
    (4_000, Goal::RatioAtLeast(2.5)),
    (100_000, Goal::RatioAtLeast(4.0)),
];

/// Steps before the first round, for each pending event: an event seldom takes more until it has
/// drawn one of the rare far delays.
const WARM_UP: u64 = 16;

const US: u64 = 1_000_000;

/// The delays, in picoseconds: a name, and one from the present instant and a random number.
type Delays = (&'static str, fn(u64, u64) -> u64);

const DELAYS: [Delays; 6] = [
    ("up to 1 us", |_, random| random % US),
    ("four fixed", |_, random| [45_000, 190_000, 600_000, 1_295_000][random as usize % 4]),
    // From 1 ns to 1 ms, each power of two as often as the others.
    ("mixed", |_, random| ((1 << 29) + (random >> 8) % (1 << 29)) >> (random % 20)),
    ("1 of 16 a far timer", |_, random| match random % 16 {
        0 => 100 * US + (random >> 8) % (900 * US),
        _ => (random >> 8) % US,
    }),
    // All of 4 us at four instants.
    ("bursts", |now, random| US * (1 + random % 4) - now % US),
    ("up to 1 ms", |_, random| random % (1_000 * US)),
];

/// As the events of a large world: a kind, a place, and the number of what stands elsewhere.
#[derive(Clone, Copy)]
struct Event {
    _kind: Kind,
    _part: u8,
    _node: u16,
    _handle: u32,
}

#[derive(Clone, Copy)]
enum Kind {
    Arrival,
    PollEnded,
}

const _: () = assert!(size_of::<Event>() == 8);

/// The two queues.
trait Queue {
    fn schedule(&mut self, time: Time, priority: Priority, event: Event);
    fn next(&mut self) -> (Time, Event);
}

impl Queue for Kernel<Event> {
    fn schedule(&mut self, time: Time, priority: Priority, event: Event) {
        self.schedule_at(time, priority, event);
    }

    fn next(&mut self) -> (Time, Event) {
        self.pop().expect("the queue keeps its length")
    }
}

impl Queue for HeapKernel<Event> {
    fn schedule(&mut self, time: Time, priority: Priority, event: Event) {
        self.schedule_at(time, priority, event);
    }

    fn next(&mut self) -> (Time, Event) {
        self.pop().expect("the queue keeps its length")
    }
}

/// With few and with many events pending, over the heap.
pub fn measure(size: Size) -> Result<Vec<Measurement>, String> {
    let each = PENDING.iter().flat_map(|pending| DELAYS.iter().map(move |it| (pending, it)));
    Ok(each.map(|(pending, delays)| measured(size, *pending, *delays)).collect())
}

fn measured(size: Size, (pending, goal): (u64, Goal), (name, delay): Delays) -> Measurement {
    let events = size.of(EVENTS);
    let (value, floor) = pin::on_one_processor(|| {
        let mut wheel = Held::new(size, Kernel::new(), pending, delay);
        let mut heap = Held::new(size, HeapKernel::new(), pending, delay);
        let value = || stopwatch::each(events, || wheel.steps(events));
        stopwatch::best_of_both(size, value, || stopwatch::each(events, || heap.steps(events)))
    });
    let bench = format!("event kernel, {pending} pending, {name}");
    Measurement::new(bench, "events/s", 1e9 / value).over(1e9 / floor).goal(goal)
}

/// A queue that keeps its length.
struct Held<Q> {
    queue: Q,
    random: u64,
    delay: fn(u64, u64) -> u64,
}

impl<Q: Queue> Held<Q> {
    fn new(size: Size, queue: Q, pending: u64, delay: fn(u64, u64) -> u64) -> Self {
        let mut held = Held { queue, random: 0x9E37_79B9_7F4A_7C15, delay };
        for handle in 0..size.of(pending) as u32 {
            let kind = if handle % 2 == 0 { Kind::Arrival } else { Kind::PollEnded };
            let event = Event { _kind: kind, _part: 0, _node: 0, _handle: handle };
            held.again(Time::ZERO, event);
        }
        held.steps(size.of(WARM_UP * pending));
        held
    }

    fn again(&mut self, now: Time, event: Event) {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        const PRIORITIES: [Priority; 4] =
            [Priority::Deliver, Priority::ClockEdge, Priority::Issue, Priority::Observe];
        let priority = PRIORITIES[(self.random >> 62) as usize];
        let delay = (self.delay)(now.as_ps(), self.random);
        self.queue.schedule(now + Time::from_ps(delay), priority, event);
    }

    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            let (now, event) = self.queue.next();
            self.again(now, black_box(event));
        }
    }
}
