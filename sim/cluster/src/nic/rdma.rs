// SPDX-License-Identifier: MIT OR Apache-2.0
//! A card with datagrams and one-sided verbs, as arithmetic with the times at which its parts are free.
//!
//! One engine processes all packets, those that are sent and those that come: what a card manages
//! when it does both at once is less than the sum of what it manages of each. Latencies that all
//! packets have alike (PCIe, the stages of the card) occupy nothing; see [`Passage::latency`].

use cluster::engine::{NodeId, Operation, Part};
use timing::Time;

use super::queue_pairs::QueuePairCache;
use super::{Card, Engine, Incoming, Outgoing, Passage, Resource, Verb};

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

impl Costs {
    /// The same with a dynamically connected transport, which makes a connection for a READ and gives it
    /// back.
    #[must_use]
    pub fn dynamically_connected(mut self) -> Self {
        self.read.request += self.connect;
        self.read.respond += self.connect;
        self
    }
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

/// How the connections of a node are shared out, which one-sided verbs need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connections {
    /// Queue pairs between a set of threads and one other node: 1, or more to stand for the nodes of a
    /// larger cluster (FaSST, section 3.3.2). Which of them a verb takes hangs on its address.
    pub each: u32,
    /// Threads that share a set of queue pairs.
    pub threads_a_set: u8,
}

impl Connections {
    /// Each thread has a queue pair of its own to each node.
    pub const OWN: Self = Self { each: 1, threads_a_set: 1 };

    /// The queue pair that a verb of `thread` takes at either end; `peer` is the node at the other end.
    fn of(self, thread: u8, peer: NodeId, address: u64) -> u32 {
        let set = u32::from(thread / self.threads_a_set.max(1));
        let each = self.each.max(1);
        // Lines of 64 bytes, as those that lie side by side are the usual ones.
        let one = (address / 64 % u64::from(each)) as u32;
        (set * each + one) << 16 | u32::from(peer.0)
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
    /// Verbs that were issued.
    pub issued: u64,
    /// Verbs that were served.
    pub served: u64,
    /// Descriptors of receive queues that were fetched once more.
    pub descriptor_misses: u64,
}

/// A card.
#[derive(Clone, Debug)]
pub struct RdmaNic {
    costs: Costs,
    connections: Connections,
    engine: Engine,
    /// The unit for atomics.
    atomics: Engine,
    queue_pairs: QueuePairCache,
    /// Descriptors in all receive queues.
    posted: u64,
    counts: Counts,
}

impl RdmaNic {
    /// A card that is at rest, with `posted` descriptors in all its receive queues together.
    pub fn new(costs: Costs, connections: Connections, posted: u64) -> Self {
        let (entries, ways) = costs.queue_pairs;
        RdmaNic {
            costs,
            connections,
            engine: Engine::default(),
            atomics: Engine::default(),
            queue_pairs: QueuePairCache::new(entries, ways),
            posted,
            counts: Counts::default(),
        }
    }

    /// How often it did what.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The cache of queue pairs.
    pub fn queue_pairs(&self) -> &QueuePairCache {
        &self.queue_pairs
    }

    /// How long the engine was busy.
    pub fn busy(&self) -> Time {
        self.engine.busy()
    }

    fn costs_of(&self, verb: &Verb) -> VerbCosts {
        match verb.operation {
            Operation::Read { .. } => self.costs.read,
            Operation::Write { .. } => self.costs.write,
            Operation::CompareSwap { .. } | Operation::FetchAdd { .. } => self.costs.atomic,
        }
    }

    fn lines(&self, payload: u32) -> Time {
        self.costs.line * u64::from(payload).div_ceil(64).saturating_sub(1)
    }

    /// What the state of the verb's queue pair takes here, where `peer` is at the other end.
    fn fetch(&mut self, verb: &Verb, peer: NodeId) -> Time {
        let thread = match verb.from {
            Part::HostThread(thread) | Part::NicCore(thread) => thread,
            Part::Memory | Part::Switch => 0,
        };
        let address = match verb.operation {
            Operation::Read { at, .. } | Operation::Write { at } => at,
            Operation::CompareSwap { at, .. } | Operation::FetchAdd { at, .. } => at,
        };
        match self.queue_pairs.touch(self.connections.of(thread, peer, address)) {
            true => Time::ZERO,
            false => self.costs.queue_pair_miss,
        }
    }

    /// From the engine to the host or back.
    fn to_host(&self) -> Time {
        self.costs.pcie + self.costs.stages
    }
}

impl Card for RdmaNic {
    fn send(&mut self, now: Time, message: &Outgoing) -> Passage {
        self.counts.sends += 1;
        let mut length = self.costs.send + self.lines(message.bytes);
        if message.position == 0 {
            self.counts.doorbells += 1;
            length += self.costs.doorbell;
        }
        Passage { done: self.engine.take(now, length), latency: self.to_host() }
    }

    fn receive(&mut self, now: Time, message: &Incoming) -> Passage {
        self.counts.receives += 1;
        let mut length = self.costs.receive + self.lines(message.bytes);
        if self.posted > self.costs.descriptors {
            self.counts.descriptor_misses += 1;
            length += self.costs.descriptor_miss;
        }
        Passage { done: self.engine.take(now, length), latency: self.to_host() }
    }

    /// Connected transport has a doorbell for each verb, which is part of its costs.
    fn issue(&mut self, now: Time, verb: &Verb) -> Passage {
        self.counts.issued += 1;
        let mut length = self.costs_of(verb).request + self.fetch(verb, verb.target);
        if matches!(verb.operation, Operation::Write { .. }) {
            length += self.lines(verb.bytes);
        }
        Passage { done: self.engine.take(now, length), latency: self.to_host() }
    }

    fn serve(&mut self, now: Time, verb: &Verb) -> Passage {
        self.counts.served += 1;
        let mut length = self.costs_of(verb).respond + self.fetch(verb, verb.initiator);
        length += self.lines(verb.bytes);
        let done = self.engine.take(now, length);
        let to_memory_and_back = self.costs.pcie * 2 + self.costs.stages;
        match verb.operation {
            Operation::Read { .. } => Passage { done, latency: to_memory_and_back },
            // A WRITE is acknowledged before its bytes are in the memory.
            Operation::Write { .. } => Passage { done, latency: self.costs.stages },
            Operation::CompareSwap { .. } | Operation::FetchAdd { .. } => Passage {
                done: self.atomics.take(done, self.costs.atomic_unit),
                latency: to_memory_and_back + self.costs.atomic_latency,
            },
        }
    }

    fn complete(&mut self, now: Time, verb: &Verb) -> Passage {
        let mut length = self.costs_of(verb).complete + self.fetch(verb, verb.target);
        if matches!(verb.operation, Operation::Read { .. }) {
            length += self.lines(verb.bytes);
        }
        Passage { done: self.engine.take(now, length), latency: self.to_host() }
    }

    fn delay(&self) -> Time {
        self.to_host()
    }

    fn resources(&self, now: Time, to: &mut Vec<Resource>) {
        to.push(Resource { name: "engine", busy: self.engine.busy_until(now), count: 1 });
        to.push(Resource { name: "atomics", busy: self.atomics.busy_until(now), count: 1 });
    }
}

#[cfg(test)]
mod tests {
    use cluster::engine::Class;

    use super::*;

    const TO: NodeId = NodeId(1);
    const THREAD: Part = Part::HostThread(0);

    fn verb_costs(request: u64, respond: u64, complete: u64) -> VerbCosts {
        let [request, respond, complete] = [request, respond, complete].map(Time::from_ns);
        VerbCosts { request, respond, complete }
    }

    fn costs() -> Costs {
        Costs {
            doorbell: Time::from_ns(5),
            send: Time::from_ns(10),
            receive: Time::from_ns(20),
            read: verb_costs(12, 30, 13),
            write: verb_costs(8, 9, 7),
            atomic: verb_costs(12, 30, 13),
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

    fn card(posted: u64) -> RdmaNic {
        RdmaNic::new(costs(), Connections::OWN, posted)
    }

    fn outgoing(bytes: u32, position: u32) -> Outgoing {
        Outgoing { from: THREAD, to: TO, bytes, position, batch: 2, class: Class::Foreground }
    }

    fn incoming(bytes: u32) -> Incoming {
        Incoming { to: THREAD, from: TO, bytes, class: Class::Foreground }
    }

    fn verb(operation: Operation, bytes: u32) -> Verb {
        let (initiator, target) = (NodeId(0), TO);
        Verb { from: THREAD, initiator, target, operation, bytes, position: 0, batch: 1 }
    }

    #[test]
    fn sending_and_receiving_share_the_engine() {
        let mut card = card(1000);
        assert_eq!(card.send(Time::ZERO, &outgoing(32, 0)).done, Time::from_ns(15));
        assert_eq!(
            card.send(Time::ZERO, &outgoing(65, 1)).done,
            Time::from_ns(28),
            "a second line"
        );
        let came = card.receive(Time::from_ns(1), &incoming(0));
        assert_eq!((came.done, came.latency), (Time::from_ns(48), Time::from_ns(350)));
        assert_eq!(
            card.receive(Time::from_us(1), &incoming(0)).done,
            Time::from_ns(1020),
            "idle before"
        );
        assert_eq!(card.busy(), Time::from_ns(68));
        assert_eq!(
            *card.counts(),
            Counts { doorbells: 1, sends: 2, receives: 2, ..Default::default() }
        );
    }

    #[test]
    fn more_descriptors_than_the_card_holds_are_fetched_each_time() {
        let mut card = card(1001);
        assert_eq!(card.receive(Time::ZERO, &incoming(0)).done, Time::from_ns(90));
        assert_eq!(card.counts().descriptor_misses, 1);
    }

    #[test]
    fn verbs_use_queue_pairs_at_all_three_places() {
        let mut card = card(0);
        let read = verb(Operation::Read { at: 0, length: 128 }, 128);
        assert_eq!(card.issue(Time::ZERO, &read).done, Time::from_ns(112));
        let served =
            card.serve(Time::from_us(1), &Verb { initiator: TO, target: NodeId(0), ..read });
        assert_eq!(served.done, Time::from_ns(1033), "the connection is the same at both ends");
        assert_eq!(served.latency, Time::from_ns(550), "to the memory and back");
        assert_eq!(card.complete(Time::from_us(2), &read).done, Time::from_ns(2016));
        assert_eq!((card.queue_pairs().uses(), card.queue_pairs().misses()), (3, 1));
    }

    #[test]
    fn atomics_are_done_one_after_the_other() {
        let mut card = card(0);
        let atomic = verb(Operation::FetchAdd { at: 8, by: 1 }, 8);
        let first = card.serve(Time::ZERO, &atomic);
        let second = card.serve(Time::ZERO, &atomic);
        assert_eq!(second.done, first.done + Time::from_ns(400));
        assert_eq!(card.busy(), Time::from_ns(160), "the engine does not wait for them");
    }

    #[test]
    fn threads_of_a_set_share_connections() {
        let shared = Connections { each: 2, threads_a_set: 3 };
        assert_eq!(shared.of(0, TO, 0), shared.of(2, TO, 128));
        assert_ne!(shared.of(0, TO, 0), shared.of(3, TO, 0));
        assert_ne!(shared.of(0, TO, 0), shared.of(0, TO, 64));
    }
}
