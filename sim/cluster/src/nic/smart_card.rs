// SPDX-License-Identifier: MIT OR Apache-2.0
//! A SmartNIC as the card of a world.

use std::sync::Arc;

use cluster::engine::{Operation, Part, Work};
use timing::Time;

use super::dma::Direction;
use super::gather::Frames;
use super::pcie::Towards;
use super::smart::{Batching, Handled, SmartNic};
use super::smart_timing::{CoreTiming, SmartTiming};
use super::{Card, Framing, Incoming, Load, Outgoing, Passage, Resource, Verb};
use crate::fabric::FabricTiming;
use crate::world::{CpuCosts, Hardware};

/// A SmartNIC whose cores run machines: it has no verbs, and one that is asked for never ends.
#[derive(Clone, Debug)]
pub struct SmartCard {
    nic: SmartNic,
    batching: Batching,
}

/// What a core spends on each kind of work, alone on its chip, in the order of [`Work::ALL`].
pub type WorkTimes = [Time; Work::COUNT];

/// No work takes anything but what the medium takes: for benchmarks of the hardware alone.
pub const NO_WORK: WorkTimes = [Time::ZERO; Work::COUNT];

/// What never comes.
const NEVER: Time = Time::from_us(1_000_000_000);

impl SmartCard {
    /// An idle one.
    pub fn new(timing: &SmartTiming, batching: Batching) -> Self {
        Self { nic: SmartNic::new(timing), batching }
    }

    /// The way of a frame between the wire and a part. What a host sends or gets by itself crosses the slot,
    /// but takes no time of a core: protocols send it to their own machine on a core.
    fn pass(&mut self, now: Time, part: Part, towards: Towards, bytes: u32) -> Passage {
        let crossed = match part {
            Part::HostThread(_) => {
                self.nic.cross(now, towards, bytes as usize, self.batching.rounds)
            }
            Part::NicCore(_) | Part::Memory | Part::Switch => now,
        };
        Passage { done: now, latency: crossed - now + self.nic.latency() }
    }

    fn never(now: Time) -> Passage {
        Passage { done: now, latency: NEVER }
    }
}

impl Card for SmartCard {
    fn send(&mut self, now: Time, message: &Outgoing) -> Passage {
        self.pass(now, message.from, Towards::Nic, message.bytes)
    }

    fn receive(&mut self, now: Time, message: &Incoming) -> Passage {
        self.pass(now, message.to, Towards::Host, message.bytes)
    }

    fn issue(&mut self, now: Time, _: &Verb) -> Passage {
        Self::never(now)
    }

    fn serve(&mut self, now: Time, _: &Verb) -> Passage {
        Self::never(now)
    }

    fn complete(&mut self, now: Time, _: &Verb) -> Passage {
        Self::never(now)
    }

    fn host_operation(&mut self, now: Time, operation: &Verb) -> Option<Passage> {
        let Part::NicCore(core) = operation.from else { return None };
        let direction = match operation.operation {
            Operation::Read { .. } => Direction::Read,
            Operation::Write { .. } => Direction::Write,
            // The engine has no atomics.
            Operation::CompareSwap { .. } | Operation::FetchAdd { .. } => return None,
        };
        let SmartNic { dma, pcie, .. } = &mut self.nic;
        let (bytes, vectors) = (operation.bytes.into(), self.batching.vectors);
        let done = dma.submit(now, core.into(), direction, bytes, vectors, pcie);
        Some(Passage { done, latency: Time::ZERO })
    }

    fn cross(&mut self, now: Time, to: Part, bytes: u32) -> Passage {
        let towards = match to {
            Part::HostThread(_) => Towards::Host,
            _ => Towards::Nic,
        };
        let done = self.nic.cross(now, towards, bytes as usize, self.batching.rounds);
        Passage { done, latency: Time::ZERO }
    }

    fn frames(&self, _: Part) -> Frames {
        let (room, least) = self.nic.room();
        Frames::BySoftware { room, least, together: self.batching.messages }
    }

    fn burst(&self, core: Part, work: Time, load: &Load) -> Time {
        let &Load { received, sent, taken, given, reads, writes, busy } = load;
        let most = self.nic.dma.most(self.batching.vectors);
        let vectors = reads.div_ceil(most) + writes.div_ceil(most);
        let handled = Handled { received, sent, taken, given, vectors };
        let processor = self.nic.processor(core);
        processor.burst(handled, work, self.nic.dma.submission(), busy)
    }

    fn delay(&self) -> Time {
        self.nic.latency()
    }

    fn resources(&self, now: Time, to: &mut Vec<Resource>) {
        let of = |(name, busy, count)| Resource { name, busy, count };
        to.extend(self.nic.busy(now).into_iter().map(of));
    }
}

impl SmartTiming {
    /// The machines of nodes with this NIC. `host` and `cores` are what the work of a protocol takes on a
    /// core of each, alone on its chip; what messages, frames and copies take is the platform's.
    pub fn hardware(&self, batching: Batching, host: WorkTimes, cores: WorkTimes) -> Hardware {
        let network = &self.network;
        let ethernet = &network.ethernet;
        let latency = network.switch.latency.get();
        let datagram = ethernet.datagram.get().0;
        let framing = Framing {
            link: ethernet.framing.get().0 + datagram,
            base: 0,
            datagram: 0,
            remote: 0,
            atomic: 0,
            answer: 0,
            held: 0,
            mtu: ethernet.mtu.get().0 - datagram,
        };
        let ports = ethernet.ports.get().0;
        let star = FabricTiming::star(ethernet.rate.get(), latency, framing);
        let timing = self.clone();
        Hardware {
            host: costs(&network.host, host),
            nic_cores: Some(costs(&network.core, cores)),
            fabric: FabricTiming { ports, ..star },
            local: network.core.line.get(),
            card: Arc::new(move |_| Box::new(SmartCard::new(&timing, batching))),
        }
    }
}

/// How many slow each other down is the card's to say.
fn costs(timing: &CoreTiming, mut work: WorkTimes) -> CpuCosts {
    for (which, time) in [
        (Work::Receive, timing.message.get()),
        (Work::Send, timing.message.get()),
        (Work::CopyLine, timing.line.get()),
    ] {
        work[which as usize] = time;
    }
    CpuCosts { poll: Time::ZERO, work, loaded: 1000 }
}

#[cfg(test)]
mod tests {
    use cluster::engine::{Class, NodeId};

    use super::*;

    #[test]
    fn what_a_host_sends_by_itself_crosses_the_slot() {
        let timing = SmartTiming::usual().expect("valid");
        let mut card = SmartCard::new(&timing, Batching::ALL);
        let mut send = |from| {
            let (to, class) = (NodeId(1), Class::Foreground);
            let message = Outgoing { from, to, bytes: 80, position: 0, batch: 1, class };
            card.send(Time::ZERO, &message).latency
        };
        assert_eq!(send(Part::NicCore(0)), Time::from_ns(300));
        // Doorbell and fetch, beside the time of the queue.
        assert!(send(Part::HostThread(0)) > Time::from_ns(300 + 300 + 1295 + 100));
    }

    #[test]
    fn what_the_engine_cannot_do_is_refused() {
        let timing = SmartTiming::usual().expect("valid");
        let mut card = SmartCard::new(&timing, Batching::ALL);
        let verb = |from, operation| {
            let (initiator, target) = (NodeId(0), NodeId(0));
            Verb { from, initiator, target, operation, bytes: 8, position: 0, batch: 1 }
        };
        let (core, read) = (Part::NicCore(3), Operation::Read { at: 0, length: 8 });
        let add = Operation::FetchAdd { at: 0, by: 1 };
        assert!(card.host_operation(Time::ZERO, &verb(core, read)).is_some());
        assert!(card.host_operation(Time::ZERO, &verb(core, add)).is_none(), "an atomic");
        let host = Part::HostThread(0);
        assert!(card.host_operation(Time::ZERO, &verb(host, read)).is_none(), "a host thread");
    }
}
