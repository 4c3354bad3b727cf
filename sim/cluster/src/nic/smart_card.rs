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

    fn never(now: Time) -> Passage {
        Passage { done: now, latency: NEVER }
    }
}

impl Card for SmartCard {
    fn send(&mut self, now: Time, _: &Outgoing) -> Passage {
        Passage { done: now, latency: self.nic.latency() }
    }

    fn receive(&mut self, now: Time, _: &Incoming) -> Passage {
        Passage { done: now, latency: self.nic.latency() }
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

    fn host_operation(
        &mut self,
        now: Time,
        from: Part,
        operation: &Operation,
        bytes: u32,
    ) -> Option<Passage> {
        let Part::NicCore(core) = from else { return None };
        let direction = match operation {
            Operation::Read { .. } => Direction::Read,
            Operation::Write { .. } => Direction::Write,
            // The engine has no atomics.
            Operation::CompareSwap { .. } | Operation::FetchAdd { .. } => return None,
        };
        let SmartNic { dma, pcie, .. } = &mut self.nic;
        let vectors = self.batching.vectors;
        let done = dma.submit(now, core.into(), direction, bytes.into(), vectors, pcie);
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
