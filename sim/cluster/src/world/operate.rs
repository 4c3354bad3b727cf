// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory operations: one-sided verbs on another node's memory, and a NIC core's operations on the
//! memory of its host.

use cluster::engine::{
    Class, Effects, Endpoint, Operation, OperationRequest, Outcome, Part, Place, Protocol,
};
use timing::{Priority, Time};

use super::slab::{Body, Handle, Label, Request, Slab};
use super::{Event, Kind, Registered, Trace, World};
use crate::faults::{Fate, FrameNote};
use crate::nic::Packet;
use crate::nic::Verb;

impl<P: Protocol, T: Trace> World<P, T> {
    /// All memory operations of a burst begin. Those on one node have one doorbell.
    pub(super) fn operate_all(&mut self, now: Time, node: usize, part: usize, effects: &Effects) {
        let all = effects.operations();
        for (index, request) in all.iter().enumerate() {
            let same = |other: &&OperationRequest| other.place == request.place;
            let position = all[..index].iter().filter(same).count() as u32;
            let batch = position + all[index..].iter().filter(same).count() as u32;
            self.operate(now, (node, part), request, effects, (position, batch));
        }
    }

    fn operate(
        &mut self,
        now: Time,
        (node, part): (usize, usize),
        asked: &OperationRequest,
        effects: &Effects,
        (position, batch): (u32, u32),
    ) {
        self.ledger.operations[0] += 1;
        let state = &mut self.nodes[node];
        let from = state.endpoint(part);
        let target = match asked.place {
            Place::Host => from.node,
            Place::Node(target) => target,
        };
        let &OperationRequest { token, operation, stage, .. } = asked;
        let incarnation = state.incarnation;
        let request = Request { token, operation, position, batch, incarnation };
        let to = Endpoint { node: target, part: Part::Memory };
        let (class, number) = (Class::Foreground, self.messages);
        self.messages = self.messages.wrapping_add(1);
        let label = Label { from, to, class, stage, wire: 0, number };
        let bytes = effects.bytes_of(&asked.bytes);
        if asked.place == Place::Host {
            self.ledger.dma[usize::from(!matches!(operation, Operation::Read { .. }))] += 1;
        }
        if let Place::Node(_) = asked.place {
            let counts = &mut self.ledger.verbs[stage as usize];
            counts.issued += 1;
            counts.bytes += u64::from(touched(&operation, bytes));
        }
        let handle = self.slab.put(label, Body::Request(request), bytes);
        if self.options.digest {
            let way = u64::from(from.node.0) << 32 | u64::from(target.0);
            self.happened.add([now.as_ps(), way, u64::from(token.0)], bytes);
        }
        match asked.place {
            Place::Host if self.reads_by_data_path(now, (node, part), handle, &operation) => {}
            Place::Host => self.operate_on_host(now, node, handle, request),
            Place::Node(_) => self.issue(now, node, handle, request),
        }
    }

    /// A core of the NIC operates on the memory of its own host.
    fn operate_on_host(&mut self, now: Time, node: usize, handle: Handle, request: Request) {
        let verb = verb(&self.slab, handle, request);
        match self.nodes[node].card.host_operation(now, &verb) {
            Some(passage) => {
                let time = passage.done + passage.latency;
                let event = Event { kind: Kind::HostMemory, part: 0, node: node as u16, handle };
                self.kernel.schedule_at(time, Priority::Deliver, event);
            }
            None => self.fail_after(node, handle, request, Time::ZERO),
        }
    }

    /// A core of the NIC reaches its host's memory, and knows the outcome at once.
    pub(super) fn host_memory_reached(&mut self, now: Time, node: usize, handle: Handle) {
        if let Body::Request(request) = self.slab.body(handle) {
            self.access_memory(node, handle, request);
        }
        self.comes_within(now, node, handle);
    }

    /// The request of a verb leaves for the node whose memory it is on.
    fn issue(&mut self, now: Time, node: usize, handle: Handle, request: Request) {
        let parcel = self.slab.get(handle);
        let Some(target) = super::index_of(parcel.to.node, self.nodes.len()) else {
            return self.fail_after(node, handle, request, Time::ZERO);
        };
        let note = FrameNote {
            from: parcel.from,
            to: parcel.to,
            class: parcel.class,
            stage: parcel.stage,
            number: parcel.number.into(),
        };
        let verb = verb(&self.slab, handle, request);
        let passage = self.nodes[node].card.issue(now, &verb);
        let (packet, payload) = match request.operation {
            Operation::Read { .. } => (Packet::ReadRequest, 0),
            Operation::Write { .. } => (Packet::Write, verb.bytes),
            _ => (Packet::Atomic, 0),
        };
        let wire = self.fabric.timing().framing.wire_bytes(packet, payload.into()) as u32;
        self.slab.set_wire(handle, wire);
        self.ledger.verbs[note.stage as usize].wire_bytes += u64::from(wire);
        let lane = self.place(note.from).map_or(0, |(_, part)| part as u8);
        let way = (node, usize::from(target));
        let arrival = self.fabric.leave(way, lane, passage.done, wire) + passage.latency;
        // A connection repeats what is lost, and recognises what comes twice.
        let later = match self.fate(now, &note) {
            Fate::Drop => return self.fail_after(node, handle, request, self.options.verb_timeout),
            Fate::Delay(later) | Fate::Duplicate { delay: later, .. } => later,
            Fate::Deliver => Time::ZERO,
        };
        let event = Event { kind: Kind::Frame, part: 0, node: target, handle };
        self.kernel.schedule_at(arrival + later, Priority::Deliver, event);
    }

    /// The first byte of a verb, or of its answer, is at the link to `node`.
    pub(super) fn verb_arrives(&mut self, now: Time, last: Time, node: usize, handle: Handle) {
        match self.slab.body(handle) {
            Body::Request(request) => self.serve(now, last, node, handle, request),
            Body::Answer(request, _) => {
                let verb = verb(&self.slab, handle, request);
                let passage = self.nodes[node].card.complete(now, &verb);
                let state = &self.nodes[node];
                let lives = state.process.is_some() && state.incarnation == request.incarnation;
                let from = self.slab.get(handle).from;
                let Some((_, part)) = self.place(from).filter(|_| lives) else {
                    self.ledger.lost.unreachable += 1;
                    return self.slab.free(handle);
                };
                let seen = passage.done.max(last) + passage.latency;
                self.put_in_inbox(node, part, handle, seen);
            }
            Body::Message | Body::Gathered => self.slab.free(handle),
        }
    }

    /// A verb is at the node whose memory it is on: it is done, and the answer leaves.
    fn serve(&mut self, now: Time, last: Time, node: usize, handle: Handle, request: Request) {
        let Some((initiator, lane)) = self.place(self.slab.get(handle).from) else {
            return self.slab.free(handle);
        };
        if self.nodes[node].process.is_none() {
            return self.fail_after(initiator, handle, request, self.options.verb_timeout);
        }
        let verb = verb(&self.slab, handle, request);
        self.access_memory(node, handle, request);
        let passage = self.nodes[node].card.serve(now, &verb);
        let (packet, payload) = match request.operation {
            Operation::Read { .. } => (Packet::ReadResponse, verb.bytes),
            Operation::Write { .. } => (Packet::Acknowledge, 0),
            _ => (Packet::AtomicResponse, 0),
        };
        let wire = self.fabric.timing().framing.wire_bytes(packet, payload.into()) as u32;
        self.slab.set_wire(handle, wire);
        let stage = self.slab.get(handle).stage;
        self.ledger.verbs[stage as usize].wire_bytes += u64::from(wire);
        let ready = passage.done.max(last);
        let way = (node, initiator);
        let arrival = self.fabric.leave(way, lane as u8, ready, wire) + passage.latency;
        let event = Event { kind: Kind::Frame, part: 0, node: initiator as u16, handle };
        self.kernel.schedule_at(arrival, Priority::Deliver, event);
    }

    /// The initiator will be told that its operation failed.
    fn fail_after(&mut self, initiator: usize, handle: Handle, request: Request, time: Time) {
        self.ledger.operations[1] += 1;
        let operation = self.slab.operation(handle);
        operation.body = Body::Answer(request, Outcome::Failed);
        operation.bytes.clear();
        let event = Event { kind: Kind::Local, part: 0, node: initiator as u16, handle };
        self.kernel.schedule_after(time, Priority::Deliver, event);
    }

    /// Does an operation on the memory of `node`, and makes the parcel its answer.
    fn access_memory(&mut self, node: usize, handle: Handle, request: Request) {
        let state = &mut self.nodes[node];
        let shared = match (&mut state.process, &mut state.kept) {
            (Some(process), _) => Some(&mut process.shared),
            (None, kept) => kept.as_mut(),
        };
        let memory: &mut dyn Registered = match (self.memory_of, shared) {
            (Some(memory_of), Some(shared)) => memory_of(shared),
            _ => &mut state.memory,
        };
        let asked = self.slab.operation(handle);
        let bytes = &mut asked.bytes;
        let outcome = match request.operation {
            Operation::Read { at, length } => {
                bytes.clear();
                memory.read(at, length, bytes).then_some(Outcome::Done)
            }
            Operation::Write { at } => {
                let done = memory.write(at, bytes);
                bytes.clear();
                done.then_some(Outcome::Done)
            }
            Operation::CompareSwap { at, expected, new } => word(memory, at, bytes).map(|held| {
                if held == expected {
                    memory.write(at, &new.to_le_bytes());
                }
                Outcome::Held(held)
            }),
            Operation::FetchAdd { at, by } => word(memory, at, bytes).map(|held| {
                memory.write(at, &held.wrapping_add(by).to_le_bytes());
                Outcome::Held(held)
            }),
        };
        self.ledger.operations[1] += u64::from(outcome.is_none());
        asked.body = Body::Answer(request, outcome.unwrap_or(Outcome::Failed));
    }
}

/// The word at an address that is a multiple of 8; `bytes` is memory to read it into.
fn word(memory: &mut dyn Registered, at: u64, bytes: &mut Vec<u8>) -> Option<u64> {
    bytes.clear();
    let there = at.is_multiple_of(8) && memory.read(at, 8, bytes);
    let word = <[u8; 8]>::try_from(bytes.as_slice()).ok().filter(|_| there);
    bytes.clear();
    word.map(u64::from_le_bytes)
}

/// A verb as cards know it.
fn verb(slab: &Slab, handle: Handle, request: Request) -> Verb {
    let parcel = slab.get(handle);
    Verb {
        from: parcel.from.part,
        initiator: parcel.from.node,
        target: parcel.to.node,
        operation: request.operation,
        bytes: touched(&request.operation, slab.bytes(handle)),
        position: request.position,
        batch: request.batch,
    }
}

/// How many bytes an operation reads or writes.
fn touched(operation: &Operation, bytes: &[u8]) -> u32 {
    match operation {
        Operation::Read { length, .. } => *length,
        Operation::Write { .. } => bytes.len() as u32,
        Operation::CompareSwap { .. } | Operation::FetchAdd { .. } => 8,
    }
}
