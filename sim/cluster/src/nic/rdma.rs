// SPDX-License-Identifier: MIT OR Apache-2.0
//! A card with datagrams and one-sided verbs, as arithmetic with the times at which its parts are free.
//!
//! One engine processes all packets, those that are sent and those that come: what a card manages
//! when it does both at once is less than the sum of what it manages of each. Latencies that all
//! packets have alike (PCIe, the stages of the card) occupy nothing; see [`Passage::latency`].

use timing::Time;

use super::queue_pairs::QueuePairCache;

/// What each operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// The engine: one doorbell, for any number of datagrams.
    pub doorbell: Time,
    /// The engine: a datagram to be sent.
    pub send: Time,
    /// The engine: a datagram that came, with the buffer for it and its completion.
    pub receive: Time,
    /// The engine: a READ, with its doorbell.
    pub read: VerbCosts,
    /// The engine: a WRITE, with its doorbell.
    pub write: VerbCosts,
    /// The engine: an atomic, with its doorbell.
    pub atomic: VerbCosts,
    /// The engine: to make and end the connection of a dynamically connected transport, at each side.
    pub connect: Time,
    /// The engine: each 64 bytes of payload beyond the first, each time a payload passes.
    pub line: Time,
    /// The unit for atomics, which does one after the other.
    pub atomic_unit: Time,
    /// Until an atomic is answered, beyond what a READ takes. It occupies nothing.
    pub atomic_latency: Time,
    /// Queue pairs whose state the card holds, and in sets of how many.
    pub queue_pairs: (usize, usize),
    /// The engine: to fetch the state of another.
    pub queue_pair_miss: Time,
    /// Descriptors of receive queues that the card holds. They are used in a circle, so that none is
    /// there any more when its turn comes once there are more.
    pub descriptors: u64,
    /// The engine: to fetch a descriptor that it does not hold.
    pub descriptor_miss: Time,
    /// From the host's store of a doorbell until the card has it, and from the card's store until the
    /// host sees it.
    pub pcie: Time,
    /// From a packet's first byte to its last stage, for each packet and side.
    pub stages: Time,
}

/// What a one-sided verb takes of the engine at each place that it passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerbCosts {
    /// At the initiator, when it is asked for.
    pub request: Time,
    /// At the target.
    pub respond: Time,
    /// At the initiator, when the answer is there.
    pub complete: Time,
}

/// The one-sided verbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Bytes come from the other node.
    Read,
    /// Bytes go to the other node.
    Write,
    /// A compare-and-swap or a fetch-and-add at the other node.
    Atomic,
}

/// How something passed a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When the engine is done with it. What comes behind it, such as a port, is occupied from then on.
    pub done: Time,
    /// What its way takes beside, before the engine or behind it. It is to be added where the way ends,
    /// and occupies nothing: so calls can be made in the order of time, although some things have a
    /// longer way to the engine than others.
    pub latency: Time,
}

impl Passage {
    /// When it is past the card, if nothing more is in its way.
    pub fn end(self) -> Time {
        self.done + self.latency
    }
}

/// How often a card did what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Doorbells for datagrams.
    pub doorbells: u64,
    /// Datagrams that were sent.
    pub sends: u64,
    /// Datagrams that came.
    pub receives: u64,
    /// Verbs that were asked for.
    pub requests: u64,
    /// Verbs that were answered.
    pub responses: u64,
    /// Descriptors of receive queues that were fetched once more.
    pub descriptor_misses: u64,
}

/// A card.
///
/// Calls come in the order of time, as in a world that calls when a burst ends and when a packet
/// arrives.
#[derive(Clone, Debug)]
pub struct RdmaNic {
    costs: Costs,
    /// When the engine is free again, and how long it was busy in all.
    engine: Time,
    busy: Time,
    /// When the unit for atomics is free again.
    atomics: Time,
    queue_pairs: QueuePairCache,
    /// Descriptors in all receive queues.
    posted: u64,
    counts: Counts,
}

impl RdmaNic {
    /// A card that is at rest, with `posted` descriptors in all its receive queues together.
    pub fn new(costs: Costs, posted: u64) -> Self {
        let (entries, ways) = costs.queue_pairs;
        RdmaNic {
            costs,
            engine: Time::ZERO,
            busy: Time::ZERO,
            atomics: Time::ZERO,
            queue_pairs: QueuePairCache::new(entries, ways),
            posted,
            counts: Counts::default(),
        }
    }

    /// The host rings the doorbell for datagrams, which it then sends at the same time.
    pub fn ring_doorbell(&mut self, now: Time) {
        self.counts.doorbells += 1;
        self.occupy(now, self.costs.doorbell);
    }

    /// A datagram with so many bytes goes to the port.
    pub fn send(&mut self, now: Time, payload: u64) -> Passage {
        self.counts.sends += 1;
        let done = self.occupy(now, self.costs.send + self.lines(payload));
        Passage { done, latency: self.costs.pcie + self.costs.stages }
    }

    /// A datagram with so many bytes has come, and goes to the host's memory.
    pub fn receive(&mut self, now: Time, payload: u64) -> Passage {
        self.counts.receives += 1;
        let mut length = self.costs.receive + self.lines(payload);
        if self.posted > self.costs.descriptors {
            self.counts.descriptor_misses += 1;
            length += self.costs.descriptor_miss;
        }
        let done = self.occupy(now, length);
        Passage { done, latency: self.costs.pcie + self.costs.stages }
    }

    /// The host asks for a verb on a queue pair of this card; the request, which carries so many bytes,
    /// goes to the port.
    pub fn request(&mut self, now: Time, verb: Verb, queue_pair: u32, payload: u64) -> Passage {
        self.counts.requests += 1;
        let length = self.costs_of(verb).request + self.lines(payload) + self.fetch(queue_pair);
        let done = self.occupy(now, length);
        Passage { done, latency: self.costs.pcie + self.costs.stages }
    }

    /// A verb has come on a queue pair of this card, and touches so many bytes of the host's memory; the
    /// answer goes to the port. [`Passage::end`] less nothing is also when the memory is read or written:
    /// a driver may read or write it at `done`.
    pub fn respond(&mut self, now: Time, verb: Verb, queue_pair: u32, bytes: u64) -> Passage {
        self.counts.responses += 1;
        let length = self.costs_of(verb).respond + self.lines(bytes) + self.fetch(queue_pair);
        let done = self.occupy(now, length);
        let stages = self.costs.stages;
        match verb {
            // To the host's memory and back.
            Verb::Read => Passage { done, latency: self.costs.pcie * 2 + stages },
            // A WRITE is acknowledged before its bytes are in the memory.
            Verb::Write => Passage { done, latency: stages },
            Verb::Atomic => {
                self.atomics = self.atomics.max(done) + self.costs.atomic_unit;
                let latency = self.costs.pcie * 2 + stages + self.costs.atomic_latency;
                Passage { done: self.atomics, latency }
            }
        }
    }

    /// The answer of a verb has come, with so many bytes; it goes to the host's memory.
    pub fn complete(&mut self, now: Time, verb: Verb, queue_pair: u32, payload: u64) -> Passage {
        let length = self.costs_of(verb).complete + self.lines(payload) + self.fetch(queue_pair);
        let done = self.occupy(now, length);
        Passage { done, latency: self.costs.pcie + self.costs.stages }
    }

    /// A connection of the dynamically connected transport is made and given back, at either side.
    pub fn connect(&mut self, now: Time) -> Passage {
        let done = self.occupy(now, self.costs.connect);
        Passage { done, latency: self.costs.stages }
    }

    /// How long the engine was busy in all.
    pub fn busy(&self) -> Time {
        self.busy
    }

    /// When the engine is free, if nothing more comes.
    pub fn free_at(&self) -> Time {
        self.engine
    }

    /// How often it did what.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The cache of queue pairs.
    pub fn queue_pairs(&self) -> &QueuePairCache {
        &self.queue_pairs
    }

    fn costs_of(&self, verb: Verb) -> VerbCosts {
        match verb {
            Verb::Read => self.costs.read,
            Verb::Write => self.costs.write,
            Verb::Atomic => self.costs.atomic,
        }
    }

    fn lines(&self, payload: u64) -> Time {
        self.costs.line * payload.div_ceil(64).saturating_sub(1)
    }

    fn fetch(&mut self, queue_pair: u32) -> Time {
        match self.queue_pairs.touch(queue_pair) {
            true => Time::ZERO,
            false => self.costs.queue_pair_miss,
        }
    }

    /// The engine is busy for `length` as soon as it is free; returns when it is done.
    fn occupy(&mut self, now: Time, length: Time) -> Time {
        self.engine = self.engine.max(now) + length;
        self.busy += length;
        self.engine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verb(request: u64, respond: u64, complete: u64) -> VerbCosts {
        let [request, respond, complete] = [request, respond, complete].map(Time::from_ns);
        VerbCosts { request, respond, complete }
    }

    fn costs() -> Costs {
        Costs {
            doorbell: Time::from_ns(5),
            send: Time::from_ns(10),
            receive: Time::from_ns(20),
            read: verb(12, 30, 13),
            write: verb(8, 9, 7),
            atomic: verb(12, 30, 13),
            connect: Time::from_ns(50),
            line: Time::from_ns(3),
            atomic_unit: Time::from_ns(400),
            atomic_latency: Time::from_us(1),
            queue_pairs: (4, 4),
            queue_pair_miss: Time::from_ns(100),
            descriptors: 1000,
            descriptor_miss: Time::from_ns(70),
            pcie: Time::from_ns(200),
            stages: Time::from_ns(150),
        }
    }

    #[test]
    fn sending_and_receiving_share_the_engine() {
        let mut nic = RdmaNic::new(costs(), 1000);
        nic.ring_doorbell(Time::ZERO);
        assert_eq!(nic.send(Time::ZERO, 32).done, Time::from_ns(15));
        assert_eq!(nic.send(Time::ZERO, 65).done, Time::from_ns(28), "a second line");
        let came = nic.receive(Time::from_ns(1), 0);
        assert_eq!((came.done, came.end()), (Time::from_ns(48), Time::from_ns(398)));
        assert_eq!(nic.receive(Time::from_us(1), 0).done, Time::from_ns(1020), "idle before");
        assert_eq!(nic.busy(), Time::from_ns(68));
        assert_eq!(
            *nic.counts(),
            Counts { doorbells: 1, sends: 2, receives: 2, ..Default::default() }
        );
    }

    #[test]
    fn more_descriptors_than_the_card_holds_are_fetched_each_time() {
        let mut nic = RdmaNic::new(costs(), 1001);
        assert_eq!(nic.receive(Time::ZERO, 0).done, Time::from_ns(90));
        assert_eq!(nic.counts().descriptor_misses, 1);
    }

    #[test]
    fn verbs_use_queue_pairs_at_all_three_places() {
        let mut nic = RdmaNic::new(costs(), 0);
        assert_eq!(nic.request(Time::ZERO, Verb::Read, 7, 0).done, Time::from_ns(112));
        let respond = nic.respond(Time::from_us(1), Verb::Read, 7, 128);
        assert_eq!(respond.done, Time::from_ns(1033));
        assert_eq!(respond.latency, Time::from_ns(550), "to the memory and back");
        assert_eq!(nic.complete(Time::from_us(2), Verb::Read, 7, 128).done, Time::from_ns(2016));
        assert_eq!((nic.queue_pairs().uses(), nic.queue_pairs().misses()), (3, 1));
    }

    #[test]
    fn atomics_are_done_one_after_the_other() {
        let mut nic = RdmaNic::new(costs(), 0);
        let first = nic.respond(Time::ZERO, Verb::Atomic, 1, 8);
        let second = nic.respond(Time::ZERO, Verb::Atomic, 1, 8);
        assert_eq!(second.done, first.done + Time::from_ns(400));
        assert_eq!(nic.free_at(), Time::from_ns(160), "the engine does not wait for them");
    }
}
