// SPDX-License-Identifier: MIT OR Apache-2.0
//! An on-path SmartNIC: all traffic passes its cores, which frames, packets of PCIe and DMA cost time.
//!
//! `docs/smartnic-model.md` says what is modelled, and where each number comes from.

use cluster::engine::Part;
use timing::Time;
use timing::platform::Entry;

use super::Engine;
use super::dma::DmaEngine;
use super::pcie::{Pcie, Towards};
use super::smart_timing::{CoreTiming, SmartTiming};

/// What software on the NIC and on its host batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batching {
    /// Messages to one destination share frames, and packets between host and NIC.
    pub messages: bool,
    /// The queues between host and NIC take all packets that wait in one round.
    pub rounds: bool,
    /// DMA is submitted in vectors.
    pub vectors: bool,
}

impl Batching {
    /// Everything that can be (Xenic, section 4.3).
    pub const ALL: Self = Self { messages: true, rounds: true, vectors: true };
    /// Nothing.
    pub const NONE: Self = Self { messages: false, rounds: false, vectors: false };
}

/// The threads of one processor.
///
/// Together they get no more done than `threads x together` threads would if each ran as fast as one
/// alone. Up to so many busy threads do not slow each other down; more share that. So it is that Xenic's
/// RPCs gain nothing from threads beyond 16 (section 3.3), and that 32 hyperthreads of its host do what
/// 16 cores can (Table 1: 16.2 threads' worth).
#[derive(Clone, Debug)]
pub struct Processor {
    threads: u32,
    /// Millionths of a thread that they are worth together.
    worth: u64,
    receive: Time,
    send: Time,
    message: Time,
    /// Of a packet from and to the host, on the NIC; as a frame on the host.
    slot: [Time; 2],
}

/// What a burst of a thread had to handle beside what its machine counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handled {
    /// Frames that came from the network.
    pub received: u32,
    /// Frames for the network.
    pub sent: u32,
    /// Packets that came over the slot.
    pub taken: u32,
    /// Packets for the other side of the slot.
    pub given: u32,
    /// Vectors that were submitted to the DMA engine.
    pub vectors: u32,
}

impl Processor {
    fn new(timing: &CoreTiming, slot: Option<[Time; 2]>) -> Self {
        let threads = timing.threads.get().0;
        let (receive, send) = (timing.receive.get(), timing.send.get());
        Self {
            threads,
            worth: u64::from(threads) * timing.together.get().millionths(),
            receive,
            send,
            message: timing.message.get(),
            slot: slot.unwrap_or([receive, send]),
        }
    }

    /// How many threads it has.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// `time` of a thread alone, while `busy` threads work, itself included.
    pub fn slowed(&self, time: Time, busy: u32) -> Time {
        let busy = u64::from(busy.min(self.threads)) * 1_000_000;
        if busy <= self.worth {
            return time;
        }
        let exact = u128::from(time.as_ps()) * u128::from(busy);
        Time::from_ps((exact / u128::from(self.worth)) as u64)
    }

    /// How long a burst takes while `busy` threads work, itself included: frames, and its machine's `work`,
    /// in which each message has its time. The time of a frame has that of one message. To submit a vector
    /// takes `submission`, which is access to hardware and does not hang on other threads.
    pub fn burst(&self, handled: Handled, work: Time, submission: Time, busy: u32) -> Time {
        let Handled { received, sent, taken, given, vectors } = handled;
        let frame = |time: Time, count: u32| time.saturating_sub(self.message) * u64::from(count);
        let [from_slot, to_slot] = self.slot;
        let frames = frame(self.receive, received)
            + frame(self.send, sent)
            + frame(from_slot, taken)
            + frame(to_slot, given);
        self.slowed(work + frames, busy) + submission * u64::from(vectors)
    }
}

/// A queue of packets between host and NIC, worked off in rounds.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    engine: Engine,
    /// When the last round that is booked begins.
    begins: Time,
    /// How many packets are in it.
    packets: u32,
}

impl Queue {
    /// A packet is there; returns when it is dealt with. It joins the last round, if that has not begun and
    /// has room.
    fn take(&mut self, now: Time, numbers: &Numbers, most: u32) -> Time {
        if now <= self.begins && self.packets > 0 && self.packets < most {
            self.packets += 1;
            return self.engine.take(now, numbers.packet);
        }
        let done = self.engine.take(now, numbers.round + numbers.packet);
        self.begins = done - numbers.round - numbers.packet;
        self.packets = 1;
        done
    }
}

/// The NIC of one node, and the cores of its host.
#[derive(Clone, Debug)]
pub struct SmartNic {
    /// The NIC's cores.
    pub cores: Processor,
    /// The host's cores.
    pub host: Processor,
    /// The slot.
    pub pcie: Pcie,
    /// The DMA engine.
    pub dma: DmaEngine,
    numbers: Numbers,
    /// Towards the host, and towards the NIC.
    queues: [Queue; 2],
    /// When the host last announced packets.
    announced: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Numbers {
    datagram: u64,
    least: u64,
    mtu: u64,
    latency: Time,
    round: Time,
    burst: u32,
    packet: Time,
    to_nic_descriptor: u64,
    to_host_descriptor: u64,
    to_host_header: u64,
    notice: Time,
    crossing: Option<Time>,
    read: Time,
    write: Time,
}

/// A doorbell is a store of a word of 32 bits.
const DOORBELL_BYTES: u64 = 4;

impl SmartNic {
    /// An idle one.
    pub fn new(timing: &SmartTiming) -> Self {
        let network = &timing.network;
        let (ethernet, queues) = (&network.ethernet, &network.queues);
        let slot = [queues.receive.get(), queues.send.get()];
        Self {
            cores: Processor::new(&network.core, Some(slot)),
            host: Processor::new(&network.host, None),
            pcie: Pcie::new(timing),
            dma: DmaEngine::new(timing),
            numbers: Numbers {
                datagram: ethernet.datagram.get().0,
                least: ethernet.least.get().0,
                mtu: ethernet.mtu.get().0,
                latency: ethernet.latency.get(),
                round: queues.round.get(),
                burst: queues.burst.get().0,
                packet: queues.packet.get(),
                to_nic_descriptor: queues.to_nic_descriptor.get().0,
                to_host_descriptor: queues.to_host_descriptor.get().0,
                to_host_header: queues.to_host_header.get().0,
                notice: queues.notice.get(),
                crossing: queues.crossing.as_ref().map(Entry::get),
                read: network.dma.read.get(),
                write: network.dma.write.get(),
            },
            queues: [Queue::default(); 2],
            announced: None,
        }
    }

    /// Most and least bytes of messages in a frame, and in a packet between host and NIC.
    pub fn room(&self) -> (usize, usize) {
        let least = self.numbers.least.saturating_sub(self.numbers.datagram);
        ((self.numbers.mtu - self.numbers.datagram) as usize, least as usize)
    }

    /// Between the cable and a core's queue.
    pub fn latency(&self) -> Time {
        self.numbers.latency
    }

    /// The processor of a part.
    pub fn processor(&self, part: Part) -> &Processor {
        match part {
            Part::NicCore(_) => &self.cores,
            Part::HostThread(_) | Part::Memory | Part::Switch => &self.host,
        }
    }

    /// A packet with so many bytes of messages is announced between host and NIC; returns when the other
    /// side has it.
    ///
    /// The queue works in rounds: of all packets that wait with `rounds`, of one each without. A packet to
    /// the NIC is fetched after its descriptor, which takes as long as a read by DMA; one to the host is
    /// written. Where a NIC off the path has an entry for it, both take that instead.
    pub fn cross(&mut self, now: Time, towards: Towards, messages: usize, rounds: bool) -> Time {
        let numbers = self.numbers;
        let most = if rounds { numbers.burst } else { 1 };
        let ready = self.queues[towards as usize].take(now, &numbers, most);
        let messages = messages as u64;
        let (transit, latency) = match towards {
            Towards::Nic => {
                // One store announces all that the host sends at one time.
                if self.announced.replace(now) != Some(now) {
                    self.pcie.write(now, Towards::Nic, DOORBELL_BYTES);
                }
                self.pcie.read(now, numbers.to_nic_descriptor);
                (
                    self.pcie.read(now, messages),
                    numbers.notice + numbers.crossing.unwrap_or(numbers.read),
                )
            }
            Towards::Host => {
                self.pcie.read(now, numbers.to_host_descriptor);
                let bytes = messages + numbers.to_host_header;
                (
                    self.pcie.write(now, Towards::Host, bytes),
                    numbers.crossing.unwrap_or(numbers.write),
                )
            }
        };
        ready.max(transit.ends) + latency
    }

    /// Most frames, packets and completions that a poll takes.
    pub fn burst(&self) -> usize {
        self.numbers.burst as usize
    }

    /// How long queues, slot and DMA have been busy until `now`, with how many there are.
    pub fn busy(&self, now: Time) -> [(&'static str, Time, u32); 5] {
        let queue = |towards: Towards| self.queues[towards as usize].engine.busy_until(now);
        [
            ("queue to the host", queue(Towards::Host), 1),
            ("queue to the NIC", queue(Towards::Nic), 1),
            ("PCIe to the host", self.pcie.busy(Towards::Host, now), 1),
            ("PCIe to the NIC", self.pcie.busy(Towards::Nic, now), 1),
            ("DMA queues", self.dma.busy(now), self.dma.queues() as u32),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nic() -> SmartNic {
        SmartNic::new(&SmartTiming::usual().expect("valid"))
    }

    #[test]
    fn threads_slow_each_other_down_only_beyond_what_the_chip_does() {
        let nic = nic();
        let alone = Time::from_ns(100);
        assert_eq!(nic.cores.slowed(alone, 7), alone, "7.6 threads' worth");
        // All 24: Coremark 4530 of 14294, so 3.155 times as long.
        let all = nic.cores.slowed(alone, 24).as_ns_f64();
        assert!((all - 100.0 * 14294.0 / 4530.0).abs() < 0.01, "{all}");
        assert_eq!(nic.host.slowed(alone, 16), alone, "a thread on each core of the host");
        let all = nic.host.slowed(alone, 32).as_ns_f64();
        assert!((all - 100.0 * 29193.0 / 14771.0).abs() < 0.01, "{all}");
        assert_eq!(nic.host.slowed(alone, 500), nic.host.slowed(alone, 32));
    }

    #[test]
    fn a_burst_costs_its_frames_messages_and_vectors() {
        let nic = nic();
        // Five messages in three frames, of which one came over the slot, and four lines copied.
        let work = Time::from_ns(5 * 5 + 4 * 4);
        let handled = Handled { received: 1, sent: 1, taken: 1, given: 0, vectors: 2 };
        let submission = nic.dma.submission();
        let alone = nic.cores.burst(handled, work, submission, 1);
        assert_eq!(alone, Time::from_ps(105_932 + 53_000 + 2 * 5_000 + 4 * 4_000 + 2 * 190_000));
        let together = nic.cores.burst(handled, work, submission, 24);
        let slowed = nic.cores.slowed(alone - submission * 2, 24);
        assert_eq!(together, slowed + submission * 2);
        assert_eq!(nic.room(), (1472, 18));
    }

    #[test]
    fn packets_that_wait_share_a_round() {
        let mut nic = nic();
        let mut last = Time::ZERO;
        for _ in 0..64 {
            last = nic.cross(Time::ZERO, Towards::Nic, 80, true) - Time::from_ns(300 + 1295);
        }
        assert!((last.as_ns_f64() - 64e3 / 23.0).abs() < 0.1, "64 at 23.0 M/s: {last}");
        let next = nic.cross(Time::ZERO, Towards::Nic, 80, true) - Time::from_ns(300 + 1295);
        assert_eq!(next - last, Time::from_ps(60_561 + 42_532), "the round is full");
        // Those that come while a round is worked off make the next.
        let one = nic.cross(Time::from_us(100), Towards::Host, 80, true);
        let two = nic.cross(Time::from_us(100) + Time::from_ns(1), Towards::Host, 80, true);
        let three = nic.cross(Time::from_us(100) + Time::from_ns(90), Towards::Host, 80, true);
        let alone = Time::from_ps(103_093);
        assert_eq!(one - Time::from_us(100) - Time::from_ns(570), alone);
        assert_eq!((two - one, three - two), (alone, Time::from_ps(42_532)));
    }

    #[test]
    fn without_rounds_each_packet_is_alone() {
        let mut nic = nic();
        let mut last = Time::ZERO;
        for _ in 0..100 {
            last = nic.cross(Time::ZERO, Towards::Host, 80, false) - Time::from_ns(570);
        }
        assert!((last.as_ns_f64() - 100e3 / 9.7).abs() < 0.1, "100 at 9.7 M/s: {last}");
        for (name, busy, _) in nic.busy(Time::from_us(1)) {
            // A descriptor of a buffer is read for each packet.
            assert_eq!(
                busy > Time::ZERO,
                name != "queue to the NIC" && name != "DMA queues",
                "{name}"
            );
        }
    }
}
