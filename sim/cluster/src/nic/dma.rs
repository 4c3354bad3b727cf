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
    vector: usize,
    submission: Time,
    read: Time,
    write: Time,
    elements: u64,
    vectors: u64,
}

impl DmaEngine {
    /// An idle one.
    pub fn new(timing: &SmartTiming) -> Self {
        let dma = &timing.network.dma;
        Self {
            queues: vec![Time::ZERO; dma.queues.get().0 as usize],
            element: dma.rate.get().time_for(1),
            vector: dma.vector.get().0 as usize,
            submission: timing.dma.setup.get(),
            read: dma.read.get(),
            write: dma.write.get(),
            elements: 0,
            vectors: 0,
        }
    }

    /// Most elements of a vector.
    pub fn vector(&self) -> usize {
        self.vector
    }

    /// What a core spends to submit a vector, of however many elements.
    pub fn submission(&self) -> Time {
        self.submission
    }

    /// How many queues there are; a core uses the one of its number, counted around.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// Elements and vectors that were submitted since the start.
    pub fn submitted(&self) -> (u64, u64) {
        (self.elements, self.vectors)
    }

    /// How long the queues have been busy with elements since the start, in sum.
    pub fn busy(&self) -> Time {
        self.element * self.elements
    }

    /// A core has submitted a vector of elements with these numbers of bytes; returns when its completion
    /// byte is written.
    pub fn submit(
        &mut self,
        now: Time,
        core: usize,
        direction: Direction,
        bytes: impl IntoIterator<Item = u64>,
        pcie: &mut Pcie,
    ) -> Time {
        let mut transit: Option<Transit> = None;
        let mut count = 0;
        for bytes in bytes {
            count += 1;
            let next = match direction {
                Direction::Read => pcie.read(now, bytes),
                Direction::Write => pcie.write(now, Towards::Host, bytes),
            };
            let begins = transit.map_or(next.begins, |first| first.begins);
            transit = Some(Transit { begins, ends: next.ends });
        }
        let Transit { begins: link, ends } = transit.unwrap_or(Transit { begins: now, ends: now });
        let place = core % self.queues.len();
        let queue = &mut self.queues[place];
        let begins = now.max(*queue);
        *queue = begins + self.element * count;
        self.elements += count;
        self.vectors += 1;
        let latency = match direction {
            Direction::Read => self.read,
            Direction::Write => self.write,
        };
        // The latency was measured with its own transfer, unless that takes longer.
        (begins.max(link) + latency).max(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine() -> (DmaEngine, Pcie) {
        let timing = SmartTiming::usual().expect("valid");
        (DmaEngine::new(&timing), Pcie::new(&timing))
    }

    #[test]
    fn a_full_vector_takes_no_longer_than_one_element() {
        let (mut engine, mut pcie) = engine();
        let one = engine.submit(Time::ZERO, 0, Direction::Write, [64], &mut pcie);
        let full = engine.submit(Time::ZERO, 1, Direction::Read, [16; 15], &mut pcie);
        assert_eq!(one, Time::from_ns(570));
        // The first vector's packet is still on its way to the host.
        assert!(full >= Time::from_ns(1295) && full < Time::from_ns(1315), "{full}");
        assert_eq!(engine.submitted(), (16, 2));
    }

    #[test]
    fn a_queue_keeps_its_rate_and_queues_do_not_wait_for_each_other() {
        let (mut engine, mut pcie) = engine();
        let mut last = Time::ZERO;
        for _ in 0..100 {
            last = engine.submit(Time::ZERO, 3, Direction::Write, [16; 15], &mut pcie);
        }
        // 99 vectors before the last, at 8.7 M elements a second.
        let expected = Time::from_ns(570).as_ns_f64() + 99.0 * 15.0 / 8.7e6 * 1e9;
        assert!((last.as_ns_f64() - expected).abs() < 2.0, "{last}, expected {expected} ns");
        // Core 11 has the same queue, as there are eight; core 4 has one that stands idle.
        let behind = engine.submit(Time::from_us(100), 11, Direction::Write, [16], &mut pcie);
        assert!(behind > last && behind - last < Time::from_ns(1_725), "{behind}");
        let other = engine.submit(Time::from_us(101), 4, Direction::Write, [16], &mut pcie);
        assert_eq!(other, Time::from_us(101) + Time::from_ns(570));
    }

    #[test]
    fn large_elements_wait_for_the_slot() {
        let (mut engine, mut pcie) = engine();
        for core in 0..8 {
            engine.submit(Time::ZERO, core, Direction::Write, [4096; 15], &mut pcie);
        }
        let behind = engine.submit(Time::ZERO, 8, Direction::Write, [4096; 15], &mut pcie);
        // Its own elements take longer than the latency that was measured with small ones.
        let sent = 9.0 * 15.0 * (4096.0 + 16.0 * 24.0);
        let expected = sent * 1e9 / pcie.bytes_per_second() as f64;
        assert!((behind.as_ns_f64() - expected).abs() < 2.0, "{behind}, expected {expected} ns");
    }
}
