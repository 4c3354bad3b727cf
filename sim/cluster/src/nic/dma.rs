// SPDX-License-Identifier: MIT OR Apache-2.0
//! The DMA engine of a SmartNIC: queues that take vectors of reads or writes of the host's memory.

use timing::Time;

use super::pcie::{Pcie, Towards, Transit};
use super::smart_timing::SmartTiming;

/// What the elements of a vector do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// They read the host's memory.
    Read,
    /// They write it.
    Write,
}

/// All queues of a NIC.
///
/// A vector completes a constant time after its queue begins with it, however many elements it has; the
/// queue begins with the next one when it has had the time of its elements by its rate. Xenic measured
/// both (section 3.5): no longer a latency for full vectors, and a greatest rate.
#[derive(Clone, Debug)]
pub struct DmaEngine {
    queues: Vec<Time>,
    element: Time,
    vector: u32,
    submission: Time,
    read: Time,
    write: Time,
    /// The last vectors of reads and of writes of each core.
    last: Vec<[Vector; 2]>,
    elements: u64,
    vectors: u64,
}

/// A vector that was submitted.
#[derive(Clone, Copy, Debug, Default)]
struct Vector {
    submitted: Time,
    completes: Time,
    elements: u32,
}

impl DmaEngine {
    /// An idle one.
    pub fn new(timing: &SmartTiming) -> Self {
        let dma = &timing.network.dma;
        Self {
            queues: vec![Time::ZERO; dma.queues.get().0 as usize],
            element: dma.rate.get().time_for(1),
            vector: dma.vector.get().0,
            submission: timing.dma.setup.get(),
            read: dma.read.get(),
            write: dma.write.get(),
            last: Vec::new(),
            elements: 0,
            vectors: 0,
        }
    }

    /// Most elements of a vector, if there are `vectors`.
    pub fn most(&self, vectors: bool) -> u32 {
        if vectors { self.vector } else { 1 }
    }

    /// What a core spends to submit a vector, of however many elements.
    pub fn submission(&self) -> Time {
        self.submission
    }

    /// How many queues there are.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// Elements and vectors that were submitted since the start.
    pub fn submitted(&self) -> (u64, u64) {
        (self.elements, self.vectors)
    }

    /// How long the queues have been busy with elements until `now`, in sum.
    pub fn busy(&self, now: Time) -> Time {
        let ahead = self.queues.iter().map(|free| free.saturating_sub(now));
        (self.element * self.elements).saturating_sub(ahead.fold(Time::ZERO, |sum, it| sum + it))
    }

    /// A core submits an element of so many bytes; returns when its completion byte is written. What a core
    /// submits at one time is one vector, as far as it has room and there are `vectors`. A core uses the
    /// queue of its number, counted around.
    pub fn submit(
        &mut self,
        now: Time,
        core: usize,
        direction: Direction,
        bytes: u64,
        vectors: bool,
        pcie: &mut Pcie,
    ) -> Time {
        let Transit { begins: link, ends } = match direction {
            Direction::Read => pcie.read(now, bytes),
            Direction::Write => pcie.write(now, Towards::Host, bytes),
        };
        let most = self.most(vectors);
        if core >= self.last.len() {
            self.last.resize(core + 1, [Vector::default(); 2]);
        }
        let place = core % self.queues.len();
        let (queue, last) = (&mut self.queues[place], &mut self.last[core][direction as usize]);
        if last.submitted != now || last.elements == 0 || last.elements >= most {
            let latency = match direction {
                Direction::Read => self.read,
                Direction::Write => self.write,
            };
            // The elements that follow do not delay it: they are in the latency that was measured.
            let completes = (*queue).max(link).max(now) + latency;
            *last = Vector { submitted: now, completes, elements: 0 };
            self.vectors += 1;
        }
        *queue = (*queue).max(now) + self.element;
        last.elements += 1;
        self.elements += 1;
        // Unless their transfer takes longer than all of it.
        last.completes.max(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine() -> (DmaEngine, Pcie) {
        let timing = SmartTiming::usual().expect("valid");
        (DmaEngine::new(&timing), Pcie::new(&timing))
    }

    /// The end of the last of so many elements that a core submits at one time.
    fn submit(
        (engine, pcie): &mut (DmaEngine, Pcie),
        now: Time,
        core: usize,
        direction: Direction,
        (elements, bytes): (u32, u64),
    ) -> Time {
        let one = |_| engine.submit(now, core, direction, bytes, true, pcie);
        (0..elements).map(one).last().expect("there is one")
    }

    use Direction::{Read, Write};

    #[test]
    fn a_full_vector_takes_no_longer_than_one_element() {
        let mut engine = engine();
        let one = submit(&mut engine, Time::ZERO, 0, Write, (1, 64));
        let full = submit(&mut engine, Time::ZERO, 1, Read, (15, 16));
        assert_eq!(one, Time::from_ns(570));
        // The first vector's packet is still on its way to the host.
        assert!(full >= Time::from_ns(1295) && full < Time::from_ns(1315), "{full}");
        assert_eq!(engine.0.submitted(), (16, 2));
        // Of 16 elements, one is in a vector of its own.
        let more = submit(&mut engine, Time::from_us(10), 1, Read, (16, 16));
        assert!(more > Time::from_us(10) + Time::from_ns(1295 + 1700), "{more}");
        assert_eq!(engine.0.submitted(), (32, 4));
    }

    #[test]
    fn a_queue_keeps_its_rate_and_queues_do_not_wait_for_each_other() {
        let mut engine = engine();
        let last = submit(&mut engine, Time::ZERO, 3, Write, (1500, 16));
        // 99 vectors before the last, at 8.7 M elements a second.
        let expected = 570.0 + 99.0 * 15.0 / 8.7e6 * 1e9;
        assert!((last.as_ns_f64() - expected).abs() < 2.0, "{last}, expected {expected} ns");
        // Core 11 has the same queue, as there are eight; core 4 has one that stands idle.
        let behind = submit(&mut engine, Time::from_us(100), 11, Write, (1, 16));
        assert!(behind > last && behind - last < Time::from_ns(1_725), "{behind}");
        let other = submit(&mut engine, Time::from_us(101), 4, Write, (1, 16));
        assert_eq!(other, Time::from_us(101) + Time::from_ns(570));
        // By then, core 3's queue is not through, and core 4's had one element.
        let busy = engine.0.busy(Time::from_us(102)) - Time::from_us(102);
        assert!(busy > Time::from_ns(114) && busy < Time::from_ns(116), "{busy}");
    }

    #[test]
    fn large_elements_wait_for_the_slot() {
        let mut engine = engine();
        for core in 0..8 {
            submit(&mut engine, Time::ZERO, core, Write, (15, 4096));
        }
        let behind = submit(&mut engine, Time::ZERO, 8, Write, (15, 4096));
        // Its own elements take longer than the latency that was measured with small ones.
        let sent = 9.0 * 15.0 * (4096.0 + 16.0 * 24.0);
        let expected = sent * 1e9 / engine.1.bytes_per_second() as f64;
        assert!((behind.as_ns_f64() - expected).abs() < 2.0, "{behind}, expected {expected} ns");
    }

    #[test]
    fn without_vectors_each_element_has_one() {
        let (mut engine, mut pcie) = engine();
        let ends: Vec<Time> =
            (0..3).map(|_| engine.submit(Time::ZERO, 0, Write, 16, false, &mut pcie)).collect();
        assert_eq!(engine.submitted(), (3, 3));
        assert!(ends[2] - ends[0] >= Time::from_ns(229), "two elements at 8.7 M/s: {ends:?}");
    }
}
