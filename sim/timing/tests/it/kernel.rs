// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event kernel against a binary heap of (time, priority, insertion).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use timing::{Kernel, Priority, Time};

const PRIORITIES: [Priority; 4] =
    [Priority::Deliver, Priority::ClockEdge, Priority::Issue, Priority::Observe];

/// The kernel and the heap, which get and give the same.
#[derive(Default)]
struct Both {
    kernel: Kernel<usize>,
    heap: BinaryHeap<Reverse<(Time, Priority, usize)>>,
    number: usize,
    now: Time,
}

impl Both {
    fn starting_at(start: Time) -> Result<Self, TestCaseError> {
        let mut both = Both::default();
        both.schedule(start, Priority::Deliver);
        both.pop()?;
        Ok(both)
    }

    fn schedule(&mut self, delay: Time, priority: Priority) {
        let time = self.now.saturating_add(delay);
        self.kernel.schedule_at(time, priority, self.number);
        self.heap.push(Reverse((time, priority, self.number)));
        self.number += 1;
    }

    fn next_time(&self) -> Result<(), TestCaseError> {
        let expected = self.heap.peek().map(|Reverse((time, ..))| *time);
        prop_assert_eq!(self.kernel.next_time(), expected);
        Ok(())
    }

    fn pop(&mut self) -> Result<bool, TestCaseError> {
        let expected = self.heap.pop().map(|Reverse((time, _, number))| (time, number));
        prop_assert_eq!(self.kernel.pop(), expected);
        self.now = expected.map_or(self.now, |(time, _)| time);
        prop_assert_eq!(self.kernel.now(), self.now);
        prop_assert_eq!(self.kernel.len(), self.heap.len());
        prop_assert_eq!(self.kernel.is_empty(), self.heap.is_empty());
        Ok(expected.is_some())
    }

    fn drain(&mut self) -> Result<(), TestCaseError> {
        while self.pop()? {}
        Ok(())
    }
}

/// Delays of all lengths: each power of two, and what lies around it, as often as any other.
fn any_delay() -> impl Strategy<Value = Time> {
    (0u32..64, any::<u64>()).prop_map(|(bits, random)| Time::from_ps(random >> bits))
}

/// Delays of one length or a few: bursts, and periods that coincide with the edges of buckets.
fn few_delays() -> impl Strategy<Value = Time> {
    prop::sample::select(vec![0, 0, 1, 1023, 1024, 1025, 1 << 20, 1 << 22, (1 << 30) - 1, 1 << 40])
        .prop_map(Time::from_ps)
}

/// Delays up to two to the power of so many picoseconds.
fn delays_below(bits: u32) -> impl Strategy<Value = Time> {
    any::<u64>().prop_map(move |random| Time::from_ps(random % (1 << bits)))
}

/// One kind of delays for a whole case.
fn delays() -> impl Strategy<Value = BoxedStrategy<Time>> {
    prop_oneof![
        Just(any_delay().boxed()),
        Just(few_delays().boxed()),
        (0u32..50).prop_map(|bits| delays_below(bits).boxed()),
        // Most short, and some far ones.
        (0u32..30, 20u32..45).prop_map(|(short, far)| {
            prop_oneof![9 => delays_below(short), 1 => delays_below(far)].boxed()
        }),
    ]
}

/// A start of the clock: zero, near an edge of a wide bucket, anywhere, near the end of time.
fn starts() -> impl Strategy<Value = Time> {
    prop_oneof![
        Just(Time::ZERO),
        (10u32..63, 0u64..2048).prop_map(|(bits, more)| Time::from_ps((1 << bits) - 1024 + more)),
        any::<u64>().prop_map(Time::from_ps),
        (0u32..64, any::<u64>())
            .prop_map(|(bits, random)| Time::from_ps(u64::MAX - (random >> bits))),
    ]
}

/// What a case does: schedule some events, look at the next time, take some events.
#[derive(Clone, Debug)]
enum Step {
    Schedule(Vec<(Time, usize)>),
    Look,
    Pop(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    delays().prop_flat_map(|delay| {
        let few = prop::collection::vec((delay.clone(), 0usize..4), 0..8);
        let many = prop::collection::vec((delay, 0usize..4), 0..150);
        let step = prop_oneof![
            8 => few.prop_map(Step::Schedule),
            1 => many.prop_map(Step::Schedule),
            2 => Just(Step::Look),
            8 => (0usize..8).prop_map(Step::Pop),
            1 => (0usize..200).prop_map(Step::Pop),
        ];
        prop::collection::vec(step, 0..80)
    })
}

seeds::proptest! {
    #![cases(400)]

    #[test]
    fn any_schedule_comes_in_the_order_of_a_heap((start, steps) in (starts(), steps())) {
        let mut both = Both::starting_at(start)?;
        for step in steps {
            match step {
                Step::Schedule(events) => for (delay, priority) in events {
                    both.schedule(delay, PRIORITIES[priority]);
                },
                Step::Look => both.next_time()?,
                Step::Pop(count) => for _ in 0..count {
                    both.pop()?;
                },
            }
        }
        both.drain()?;
    }

    /// As a simulation does it: each event that is taken schedules others.
    #[test]
    fn events_that_schedule_events_come_in_the_order_of_a_heap(
        (start, held, delays) in (starts(), 1usize..600, delays().prop_flat_map(|delay| {
            prop::collection::vec((delay, 0usize..4, 0usize..3), 1..2000)
        }))
    ) {
        let mut both = Both::starting_at(start)?;
        let next = &mut delays.into_iter();
        for (delay, priority, _) in next.take(held) {
            both.schedule(delay, PRIORITIES[priority]);
        }
        // None, one or two for each that is taken.
        while let Some((delay, priority, more)) = next.next() {
            both.pop()?;
            both.schedule(delay, PRIORITIES[priority]);
            if more == 2 && let Some((delay, priority, _)) = next.next() {
                both.schedule(delay, PRIORITIES[priority]);
            }
            if more == 0 {
                both.next_time()?;
                both.pop()?;
            }
        }
        both.drain()?;
    }
}

/// A wide bucket that has few events becomes busy, again and again, with pauses between.
#[test]
fn a_quiet_time_that_becomes_busy_keeps_the_order() {
    for pause in [1 << 15, 1 << 21, 1 << 28, 1 << 31, 1 << 41] {
        let mut both = Both::default();
        for round in 1..20 {
            both.schedule(Time::from_ps(round * pause), Priority::Issue);
        }
        let mut random = 7_u64;
        for _ in 0..19 {
            both.pop().unwrap();
            for event in 0..300 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(event);
                let delay = (random >> 33) % (pause / 8);
                both.schedule(Time::from_ps(delay), PRIORITIES[event as usize % 4]);
                both.next_time().unwrap();
                if event % 3 == 0 {
                    both.pop().unwrap();
                }
            }
        }
        both.drain().unwrap();
    }
}

/// Events that nobody takes go with the kernel.
#[test]
fn pending_events_are_dropped_once() {
    let event = std::rc::Rc::new(());
    let mut kernel = Kernel::new();
    for bits in 0..60 {
        for priority in PRIORITIES {
            kernel.schedule_at(Time::from_ps(1 << bits), priority, event.clone());
        }
    }
    for _ in 0..100 {
        kernel.pop();
    }
    assert_eq!(std::rc::Rc::strong_count(&event), 1 + 140);
    drop(kernel);
    assert_eq!(std::rc::Rc::strong_count(&event), 1);
}
