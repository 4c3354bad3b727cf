// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way of messages from one machine to another.

use cluster::engine::{Class, Effects, Endpoint, NodeId, Part, Protocol, SendRequest, Stage};
use timing::{Priority, Time};

use super::slab::{Body, Handle, Label, Parcel};
use super::{Event, Kind, MessageNote, Trace, World};
use crate::faults::{Fate, FrameNote};
use crate::nic::gather::Gathered;
use crate::nic::{Frames, Incoming, Outgoing, Packet};

/// A message or a frame of several that leaves.
#[derive(Clone, Copy)]
struct Leaving {
    to: Endpoint,
    class: Class,
    stage: Stage,
    body: Body,
}

impl<P: Protocol, T: Trace> World<P, T> {
    /// All messages of a burst leave: batch by batch, or in the frames that software made of them.
    pub(super) fn send_all(&mut self, now: Time, node: usize, part: usize, effects: &Effects) {
        let state = &self.nodes[node];
        if state.card.frames(state.endpoint(part).part) != Frames::ByCard {
            return self.send_frames(now, node, part, effects);
        }
        for batch in effects.batches() {
            for (position, send) in batch.iter().enumerate() {
                let bytes = effects.bytes_of(&send.bytes);
                let place = (position as u32, batch.len() as u32);
                self.send(now, (node, part), send, bytes, place);
            }
        }
    }

    /// The frames leave that software made of the messages of a burst.
    fn send_frames(&mut self, now: Time, node: usize, part: usize, effects: &Effects) {
        let from = self.nodes[node].endpoint(part);
        for send in effects.sends() {
            let bytes = effects.bytes_of(&send.bytes);
            self.count_sent(now, send, bytes, 0, (from, self.messages));
        }
        let gathering = std::mem::take(&mut self.nodes[node].cores[part].gathering);
        self.ledger.lost.oversized += u64::from(gathering.refused());
        let batch = gathering.frames().len() as u32;
        for (position, frame) in (0..).zip(gathering.frames()) {
            let &Gathered { to, class, stage, ref bytes } = frame;
            let leaving = Leaving { to, class, stage, body: Body::Gathered };
            let number = self.messages;
            self.messages = self.messages.wrapping_add(1);
            let wire = self.wire(from.node, to.node, bytes.len());
            self.ledger.messages[stage as usize].wire_bytes += u64::from(wire);
            self.leave(now, (node, part), leaving, bytes, (wire, number, position, batch));
        }
        self.nodes[node].cores[part].gathering = gathering;
    }

    /// Bytes on the wire, with all headers; none within a node.
    fn wire(&self, from: NodeId, to: NodeId, bytes: usize) -> u32 {
        match from == to {
            true => 0,
            false => {
                let framing = self.fabric.timing().framing;
                framing.wire_bytes(Packet::Datagram, bytes as u64) as u32
            }
        }
    }

    /// A message leaves: the `position`th of `batch` with one doorbell.
    fn send(
        &mut self,
        now: Time,
        (node, part): (usize, usize),
        send: &SendRequest,
        bytes: &[u8],
        (position, batch): (u32, u32),
    ) {
        let from = self.nodes[node].endpoint(part);
        let number = self.messages;
        self.messages = self.messages.wrapping_add(1);
        let wire = self.wire(from.node, send.to.node, bytes.len());
        self.count_sent(now, send, bytes, wire, (from, number));
        let &SendRequest { to, class, stage, .. } = send;
        let leaving = Leaving { to, class, stage, body: Body::Message };
        self.leave(now, (node, part), leaving, bytes, (wire, number, position, batch));
    }

    /// A frame leaves.
    fn leave(
        &mut self,
        now: Time,
        (node, part): (usize, usize),
        send: Leaving,
        bytes: &[u8],
        (wire, number, position, batch): (u32, u32, u32, u32),
    ) {
        let from = self.nodes[node].endpoint(part);
        let within = send.to.node == from.node;
        let framing = self.fabric.timing().framing;
        let Some((to, _)) = self.place(send.to) else {
            self.ledger.lost.unreachable += 1;
            return;
        };
        // Software sends a long datagram in fragments, a card cannot.
        let is_by_card = send.body != Body::Gathered;
        if !within && is_by_card && bytes.len() as u64 > framing.mtu {
            self.ledger.lost.oversized += 1;
            return;
        }
        let arrival = if within {
            self.cross(now, (node, from.part), send.to.part, bytes.len() as u32)
        } else if send.class == Class::Control {
            now + self.unhindered(node, to, wire)
        } else {
            let length = bytes.len() as u32;
            let (from, class) = (from.part, send.class);
            let to_node = send.to.node;
            let outgoing = Outgoing { from, to: to_node, bytes: length, position, batch, class };
            let passage = self.nodes[node].card.send(now, &outgoing);
            self.fabric.leave((node, to), part as u8, passage.done, wire) + passage.latency
        };
        let kind =
            if wire == 0 || send.class == Class::Control { Kind::Local } else { Kind::Frame };
        let Leaving { to: receiver, class, stage, body } = send;
        let note = FrameNote { from, to: receiver, class, stage, number: number.into() };
        let fate = if within { Fate::Deliver } else { self.fate(now, &note) };
        if fate == Fate::Drop {
            self.ledger.lost.dropped += 1;
            return;
        }
        let label = Label { from, to: receiver, class, stage, wire, number };
        let handle = self.slab.put(label, body, bytes);
        let event = Event { kind, part: 0, node: to as u16, handle };
        self.put_under_way(event, arrival, fate);
    }

    /// Schedules the arrival of a parcel, as its fate wants it.
    pub(super) fn put_under_way(&mut self, event: Event, arrival: Time, fate: Fate) {
        let arrival = match fate {
            Fate::Delay(longer) => arrival + longer,
            Fate::Duplicate { delay, after } => {
                let handle = self.slab.copy(event.handle);
                let copy = Event { handle, ..event };
                self.kernel.schedule_at(arrival + delay + after, Priority::Deliver, copy);
                arrival + delay
            }
            Fate::Deliver | Fate::Drop => arrival,
        };
        self.kernel.schedule_at(arrival, Priority::Deliver, event);
    }

    /// What becomes of a frame, and what happens because of it: at this time, but after what happens
    /// now.
    pub(super) fn fate(&mut self, now: Time, note: &FrameNote) -> Fate {
        let Some(faults) = &mut self.faults else { return Fate::Deliver };
        let fate = faults.fate(now, note);
        while let Some((node, happening)) = faults.due() {
            let Some(index) = super::index_of(node, self.nodes.len()) else { continue };
            let handle = self.happenings.len() as u32;
            self.happenings.push((now, node, happening));
            let event = Event { kind: Kind::Happening, part: 0, node: index, handle };
            self.kernel.schedule_at(now, Priority::Deliver, event);
        }
        fate
    }

    /// When a message to another part of the same node is there: over the slot between host and NIC, or
    /// through the memory of either.
    fn cross(&mut self, now: Time, (node, from): (usize, Part), to: Part, bytes: u32) -> Time {
        let is_nic = |part| matches!(part, Part::NicCore(_));
        if is_nic(from) == is_nic(to) {
            return now + self.hardware.local;
        }
        let passage = self.nodes[node].card.cross(now, to, bytes);
        passage.done + passage.latency
    }

    /// How long control traffic is under way: what a message takes that meets no other.
    fn unhindered(&self, node: usize, to: usize, wire: u32) -> Time {
        let [out, inward] = [node, to].map(|node| self.nodes[node].card.delay());
        out + self.fabric.latency(node, to) + self.fabric.length(wire) + inward
    }

    fn count_sent(
        &mut self,
        now: Time,
        send: &SendRequest,
        bytes: &[u8],
        wire: u32,
        (from, number): (cluster::engine::Endpoint, u32),
    ) {
        let counts = &mut self.ledger.messages[send.stage as usize];
        counts.sent += 1;
        counts.sent_bytes += bytes.len() as u64;
        counts.wire_bytes += u64::from(wire);
        if self.options.digest {
            let part = |endpoint: cluster::engine::Endpoint| {
                let core = self.place(endpoint).map_or(u64::from(u8::MAX), |(_, core)| core as u64);
                u64::from(endpoint.node.0) << 8 | core
            };
            let way = part(from) << 32 | part(send.to);
            let what = (send.class as u64) << 8 | send.stage as u64;
            self.happened.add([now.as_ps(), way, what], bytes);
        }
        let &SendRequest { to, class, stage, .. } = send;
        let bytes = bytes.len() as u32;
        self.trace.sent(now, &MessageNote { from, to, class, stage, bytes, number });
    }

    /// The first byte of a frame is at the link to `node`.
    pub(super) fn frame_arrives(&mut self, now: Time, node: usize, handle: Handle) {
        let &Parcel { from, to, class, wire, .. } = self.slab.get(handle);
        let body = self.slab.body(handle);
        let sender = if let Body::Answer(..) = body { to } else { from };
        let source = super::index_of(sender.node, self.nodes.len()).map_or(node, usize::from);
        let lane = self.place(from).map_or(0, |(_, part)| part as u8);
        let last_byte = self.fabric.arrive((source, node), lane, now, wire);
        if !self.slab.get(handle).is_message() {
            return self.verb_arrives(now, last_byte, node, handle);
        }
        let up = self.nodes[node].process.is_some();
        let Some((_, part)) = self.place(to).filter(|_| up) else {
            self.ledger.lost.unreachable += 1;
            return self.slab.free(handle);
        };
        let length = self.slab.bytes(handle).len() as u32;
        let incoming = Incoming { to: to.part, from: from.node, bytes: length, class };
        let passage = self.nodes[node].card.receive(now, &incoming);
        let seen = passage.done.max(last_byte) + passage.latency;
        self.put_in_inbox(node, part, handle, seen);
    }

    /// What came through the NIC will be seen by polls.
    pub(super) fn put_in_inbox(&mut self, node: usize, part: usize, handle: Handle, seen: Time) {
        let seen = self.nodes[node].cores[part].put(seen, handle);
        self.note_received(seen, handle);
        self.wake_at(node, part, seen);
    }

    fn note_received(&mut self, seen: Time, handle: Handle) {
        let parcel = self.slab.get(handle);
        if parcel.is_message() {
            let &Parcel { from, to, class, stage, number, .. } = parcel;
            let bytes = self.slab.bytes(handle).len() as u32;
            self.trace.received(seen, &MessageNote { from, to, class, stage, bytes, number });
        }
    }

    /// Something is in the memory of a node that no other traffic delayed.
    pub(super) fn comes_within(&mut self, now: Time, node: usize, handle: Handle) {
        let parcel = self.slab.get(handle);
        let incarnation = self.nodes[node].incarnation;
        let of_another_life = match self.slab.body(handle) {
            Body::Message | Body::Gathered => false,
            Body::Request(request) | Body::Answer(request, _) => request.incarnation != incarnation,
        };
        let up = self.nodes[node].process.is_some() && !of_another_life;
        let receiver = if parcel.is_message() { parcel.to } else { parcel.from };
        let Some((_, part)) = self.place(receiver).filter(|_| up) else {
            self.ledger.lost.unreachable += 1;
            return self.slab.free(handle);
        };
        self.nodes[node].cores[part].urgent.push_back(handle);
        self.note_received(now, handle);
        self.wake_at(node, part, now);
    }
}
