// SPDX-License-Identifier: MIT OR Apache-2.0
//! NICs as a world drives them: arithmetic on the times at which their parts are free, without events
//! of their own.
//!
//! A world calls a [`Card`] at the moment when something reaches the queue that the card works off:
//! always with the present time, which never goes back. The card books its engines from that moment
//! on, and tells constant delays (PCIe, DMA) apart from it, in [`Passage::latency`]. So an engine that
//! sends and receives never stands idle for work that is booked ahead of its time.

pub mod dma;
pub mod frame;
pub mod gather;
pub mod pcie;
mod plain;
pub mod queue_pairs;
pub mod rdma;
pub mod smart;
pub mod smart_card;
pub mod smart_timing;

use cluster::engine::{Class, NodeId, Operation, Part};
use timing::Time;

pub use frame::{Framing, Packet};
pub use gather::Frames;
pub use plain::PlainCard;
pub use rdma::{Connections, RdmaNic};

/// When the engines of a card are done with something, and how long it is under way beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When the engine is done with it.
    pub done: Time,
    /// Delays before or after the engine, which occupy nothing.
    pub latency: Time,
}

/// A message that is handed to a card to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    /// The part that sends it. A core of the NIC itself needs no PCIe.
    pub from: Part,
    /// The node that gets it.
    pub to: NodeId,
    /// The bytes of the message, without headers of the medium.
    pub bytes: u32,
    /// Its place among the messages of its doorbell, from 0: the first carries the doorbell's cost.
    pub position: u32,
    /// How many messages its doorbell announced.
    pub batch: u32,
    /// The kind of traffic.
    pub class: Class,
}

/// A message that has come to a card.
#[derive(Clone, Copy, Debug)]
pub struct Incoming {
    /// The part that gets it.
    pub to: Part,
    /// The node that sent it.
    pub from: NodeId,
    /// The bytes of the message, without headers of the medium.
    pub bytes: u32,
    /// The kind of traffic.
    pub class: Class,
}

/// A one-sided verb at one of the two cards that it passes.
#[derive(Clone, Copy, Debug)]
pub struct Verb {
    /// The part that makes it.
    pub from: Part,
    /// The node that makes it.
    pub initiator: NodeId,
    /// The node whose memory it is on.
    pub target: NodeId,
    /// What it does.
    pub operation: Operation,
    /// The bytes that are read or written.
    pub bytes: u32,
    /// Its place among the verbs of its doorbell, from 0.
    pub position: u32,
    /// How many verbs its doorbell announced.
    pub batch: u32,
}

/// What a burst of a core had to do with the medium, where software makes the frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Frames that came from other nodes.
    pub received: u32,
    /// Frames for other nodes.
    pub sent: u32,
    /// Frames that came over the slot, between host and NIC.
    pub taken: u32,
    /// Frames for the other side of the slot.
    pub given: u32,
    /// Reads of the host's memory that begin.
    pub reads: u32,
    /// Writes of the host's memory that begin.
    pub writes: u32,
    /// Cores of the same kind that are in a burst, with this one.
    pub busy: u32,
}

/// A resource of a card that can be busy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its name in reports.
    pub name: &'static str,
    /// How long it has been busy since the start.
    pub busy: Time,
    /// How many there are of it, which `busy` is the sum of.
    pub count: u32,
}

/// A NIC.
///
/// `now` never goes back from one call to the next.
pub trait Card: Send {
    /// A message was handed over, with the doorbell rung.
    fn send(&mut self, now: Time, message: &Outgoing) -> Passage;

    /// A message came in from the wire. It is seen by a poll when the passage is over, and not before
    /// its last byte has come.
    fn receive(&mut self, now: Time, message: &Incoming) -> Passage;

    /// A verb was handed over by the host.
    fn issue(&mut self, now: Time, verb: &Verb) -> Passage;

    /// The request of a verb came in at the node whose memory it is on. When the passage is over, the
    /// answer can leave.
    fn serve(&mut self, now: Time, verb: &Verb) -> Passage;

    /// The answer of a verb came in at the node that made it.
    fn complete(&mut self, now: Time, verb: &Verb) -> Passage;

    /// A core of the NIC operates on the memory of its own host, as one of a batch; `None` if it cannot.
    /// The memory is read or written, and the core knows of it, when the passage is over.
    fn host_operation(&mut self, now: Time, operation: &Verb) -> Option<Passage> {
        let _ = (now, operation);
        None
    }

    /// A message between the host and a core of the NIC crosses the slot, in the direction of `to`.
    fn cross(&mut self, now: Time, to: Part, bytes: u32) -> Passage {
        let _ = (to, bytes);
        Passage { done: now, latency: Time::ZERO }
    }

    /// How the messages of a part get into frames.
    fn frames(&self, from: Part) -> Frames {
        let _ = from;
        Frames::ByCard
    }

    /// How long a burst of a core takes whose machine's work alone takes `work`. Asked only where software
    /// makes the frames.
    fn burst(&self, core: Part, work: Time, load: &Load) -> Time {
        let _ = (core, load);
        work
    }

    /// The least time that a message is under way between host and wire, at one side.
    fn delay(&self) -> Time;

    /// How long each of its resources has been busy from the start until `now`.
    fn resources(&self, now: Time, to: &mut Vec<Resource>);
}

/// A resource as arithmetic: when it is free again, and how long it has been busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Engine {
    free: Time,
    busy: Time,
}

impl Engine {
    /// Takes it for `length` as soon as it is free, and returns the end.
    pub fn take(&mut self, now: Time, length: Time) -> Time {
        self.free = now.max(self.free) + length;
        self.busy += length;
        self.free
    }

    /// How long it is busy with all that has been booked.
    pub fn busy(&self) -> Time {
        self.busy
    }

    /// How long it has been busy until `now`.
    pub fn busy_until(&self, now: Time) -> Time {
        self.busy.saturating_sub(self.free.saturating_sub(now))
    }
}
