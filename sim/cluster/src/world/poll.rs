// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cores: when they poll, what they take, and how long that takes.

use cluster::engine::{Class, Effects, Input, Machine, Operation, Place, Protocol};
use timing::{Priority, Time};

use super::core::{Command, State as CoreState};
use super::slab::{Body, Handle, Slab};
use super::{Event, Kind, Trace, World};
use crate::nic::{Frames, Load, gather};

impl<P: Protocol, T: Trace> World<P, T> {
    /// A core has, or will have, something to do.
    pub(super) fn wake(&mut self, node: usize, part: usize) {
        let now = self.kernel.now();
        let state = &self.nodes[node];
        let shown = state.clock.at(now);
        if let Some(next) = state.cores[part].next_poll(now, shown) {
            self.wake_at(node, part, next);
        }
    }

    /// A core polls at `time`, unless it is busy or polls earlier.
    pub(super) fn wake_at(&mut self, node: usize, part: usize, time: Time) {
        let core = &mut self.nodes[node].cores[part];
        match core.state {
            CoreState::Busy => return,
            CoreState::Waking(earlier) if earlier <= time => return,
            CoreState::Waking(_) | CoreState::Idle => {}
        }
        core.stamp = core.stamp.wrapping_add(1);
        core.state = CoreState::Waking(time);
        self.core_event(node, part, time);
    }

    fn core_event(&mut self, node: usize, part: usize, time: Time) {
        let handle = self.nodes[node].cores[part].stamp;
        let event = Event { kind: Kind::Core, part: part as u8, node: node as u16, handle };
        self.kernel.schedule_at(time, Priority::Issue, event);
    }

    /// The event of a core: a burst ends, or a poll begins.
    pub(super) fn core_goes_on(&mut self, now: Time, node: usize, part: usize, stamp: u32) {
        let state = &mut self.nodes[node];
        if state.cores[part].stamp != stamp {
            return;
        }
        if now < state.paused {
            let until = state.paused;
            if let CoreState::Waking(time) = &mut state.cores[part].state {
                *time = until;
            }
            return self.core_event(node, part, until);
        }
        // What the burst has left was written a while ago, and what the next one takes lies anywhere.
        let core = &state.cores[part];
        core.inbox.iter().take(usize::from(self.options.burst)).for_each(|waiting| {
            self.slab.fetch(waiting.parcel);
        });
        if core.state == CoreState::Busy {
            core.effects.fetch();
            self.end_burst(now, node, part);
            let state = &mut self.nodes[node];
            if state.process.is_none() {
                return;
            }
            let shown = state.clock.at(now);
            state.cores[part].state = CoreState::Idle;
            let kind = state.kind_of(part);
            state.busy[kind] -= 1;
            match state.cores[part].next_poll(now, shown) {
                Some(next) if next <= now => {}
                Some(next) => return self.wake_at(node, part, next),
                None => return,
            }
        }
        self.begin_burst(now, node, part);
    }

    /// A core takes what is there, its machine handles it, and the core is busy for so long.
    fn begin_burst(&mut self, now: Time, node: usize, part: usize) {
        self.take(now, node, part);
        let state = &mut self.nodes[node];
        let Some(process) = &mut state.process else { return };
        let core = &mut state.cores[part];
        let shown = state.clock.at(now);
        let mut inputs = emptied(std::mem::take(&mut self.inputs));
        inputs.extend(core.commands.drain(..).map(|command| match command {
            Command::Begin(worker) => Input::Begin { worker },
            Command::Finish(worker) => Input::Finish { worker },
        }));
        self.taken.iter().for_each(|handle| add_inputs(&self.slab, *handle, &mut inputs));
        if core.wanted.is_some_and(|wanted| wanted <= shown) {
            inputs.push(Input::Deadline);
        }
        core.effects.clear();
        let machine = &mut process.parts[part];
        machine.burst(&mut process.shared, shown, &inputs, &mut core.effects);
        let count = inputs.len() as u32;
        self.inputs = emptied(inputs);
        core.wanted = machine.deadline();
        let work = state.costs[part].of(core.effects.work_done());
        let usual = self.with_frames(node, part, work);
        let state = &mut self.nodes[node];
        let core = &mut state.cores[part];
        // Time goes on, however fast a plan of faults makes a node.
        let length = Time::from_ps((usual.as_ps() * u64::from(state.slow) / 1000).max(1));
        (core.state, core.begun, core.burst) = (CoreState::Busy, now, self.bursts);
        core.active = is_active(&core.effects);
        self.active_bursts += u32::from(core.active);
        let kind = state.kind_of(part);
        state.busy[kind] += 1;
        self.bursts += 1;
        self.ledger.bursts += 1;
        for handle in self.taken.drain(..) {
            self.slab.free(handle);
        }
        if !self.ask(now, (node, part), length, count) {
            self.work_on(now, node, part, length, count);
        }
        self.set_alarm(node, part);
    }

    /// A core works for so long from now on, and is at the end of its burst then.
    pub(super) fn work_on(&mut self, now: Time, node: usize, part: usize, work: Time, inputs: u32) {
        let state = &self.nodes[node];
        let (endpoint, begun) = (state.endpoint(part), state.cores[part].begun);
        self.trace.burst(endpoint.node, endpoint.part, begun, now + work, inputs);
        self.core_event(node, part, now + work);
    }

    /// How long a burst takes whose machine's work alone takes `work`: with what its frames take where
    /// software makes them, which is done here.
    fn with_frames(&mut self, node: usize, part: usize, work: Time) -> Time {
        let reads_rows = !self.has_data_path(node, part);
        let state = &mut self.nodes[node];
        let own = state.endpoint(part);
        let frames = state.card.frames(own.part);
        if frames == Frames::ByCard {
            return work;
        }
        let busy = state.busy[state.kind_of(part)];
        debug_assert_eq!(busy, state.count_busy(part));
        let mut load = Load { busy: busy + 1, ..Load::default() };
        // Each fragment of a long datagram is a frame.
        let framing = self.fabric.timing().framing;
        let packets = |bytes: usize| framing.packets(bytes as u64) as u32;
        for handle in &self.taken {
            let parcel = self.slab.get(*handle);
            match (parcel.is_message(), parcel.from.node == own.node) {
                (true, true) => load.taken += 1,
                (true, false) => load.received += packets(self.slab.bytes(*handle).len()),
                (false, _) => {}
            }
        }
        let core = &mut state.cores[part];
        core.gathering.fill(&core.effects, frames);
        for frame in core.gathering.frames() {
            match frame.to.node == own.node {
                true => load.given += 1,
                false => load.sent += packets(frame.bytes.len()),
            }
        }
        for request in core.effects.operations().iter().filter(|it| it.place == Place::Host) {
            match request.operation {
                Operation::Read { .. } => load.reads += u32::from(reads_rows),
                _ => load.writes += 1,
            }
        }
        state.card.burst(own.part, work, &load)
    }

    /// Takes parcels from the queues of a core, up to a burst.
    fn take(&mut self, now: Time, node: usize, part: usize) {
        let core = &mut self.nodes[node].cores[part];
        let most = usize::from(self.options.burst);
        while self.taken.len() < most {
            let Some(handle) = core.urgent.pop_front() else { break };
            self.taken.push(handle);
        }
        while self.taken.len() < most {
            match core.inbox.front() {
                Some(first) if first.seen <= now => self.taken.push(first.parcel),
                _ => break,
            }
            core.inbox.pop_front();
        }
        for handle in &self.taken {
            let bytes = self.slab.bytes(*handle);
            let counts = &mut self.ledger.messages[self.slab.get(*handle).stage as usize];
            match self.slab.body(*handle) {
                Body::Message => {
                    counts.received += 1;
                    counts.received_bytes += bytes.len() as u64;
                }
                Body::Gathered => {
                    for message in gather::messages(bytes) {
                        counts.received += 1;
                        counts.received_bytes += message.len() as u64;
                    }
                }
                Body::Request(_) | Body::Answer(..) => {}
            }
        }
    }

    /// The effects of a burst leave its machine.
    fn end_burst(&mut self, now: Time, node: usize, part: usize) {
        let core = &mut self.nodes[node].cores[part];
        core.busy += now.saturating_sub(core.begun);
        self.active_bursts -= u32::from(std::mem::take(&mut core.active));
        let effects = std::mem::take(&mut core.effects);
        self.course(now, node, part, &effects);
        if effects.is_killed() {
            self.nodes[node].cores[part].effects = effects;
            return self.crash(node);
        }
        self.send_all(now, node, part, &effects);
        self.operate_all(now, node, part, &effects);
        self.nodes[node].cores[part].effects = effects;
    }

    /// A machine's deadline has an event, and only one: a later deadline waits for it.
    pub(super) fn set_alarm(&mut self, node: usize, part: usize) {
        let state = &mut self.nodes[node];
        let core = &mut state.cores[part];
        let Some(wanted) = core.wanted else { return };
        let time = state.clock.when(wanted).max(self.kernel.now());
        if core.alarm.is_some_and(|alarm| alarm <= time) || time == Time::MAX {
            return;
        }
        core.alarm = Some(time);
        core.alarm_stamp = core.alarm_stamp.wrapping_add(1);
        let handle = core.alarm_stamp;
        let event = Event { kind: Kind::Deadline, part: part as u8, node: node as u16, handle };
        self.kernel.schedule_at(time, Priority::Observe, event);
    }

    /// The event of a deadline, which the machine may have moved since.
    pub(super) fn deadline_comes(&mut self, now: Time, node: usize, part: usize, stamp: u32) {
        let state = &mut self.nodes[node];
        let core = &mut state.cores[part];
        if core.alarm_stamp != stamp {
            return;
        }
        core.alarm = None;
        match core.wanted {
            Some(wanted) if wanted <= state.clock.at(now) => self.wake_at(node, part, now),
            _ => self.set_alarm(node, part),
        }
    }
}

/// Whether more than control traffic comes of a burst.
fn is_active(effects: &Effects) -> bool {
    let mut sends = effects.sends().iter();
    !effects.moments().is_empty()
        || !effects.operations().is_empty()
        || sends.any(|send| send.class != Class::Control)
}

/// A list without its items, for other items in the same memory.
fn emptied<'a>(mut inputs: Vec<Input<'_>>) -> Vec<Input<'a>> {
    inputs.clear();
    // The standard library collects in place, as the items have one layout.
    inputs.into_iter().map(|_| Input::Deadline).collect()
}

/// A parcel as the machine gets it: several inputs of messages that share a frame.
fn add_inputs<'a>(slab: &'a Slab, handle: Handle, inputs: &mut Vec<Input<'a>>) {
    let (from, bytes) = (slab.get(handle).from, slab.bytes(handle));
    match slab.body(handle) {
        Body::Message => inputs.push(Input::Message { from, bytes }),
        Body::Gathered => {
            let messages = gather::messages(bytes);
            inputs.extend(messages.map(|bytes| Input::Message { from, bytes }));
        }
        Body::Answer(request, outcome) => {
            inputs.push(Input::Completed { token: request.token, outcome, bytes });
        }
        Body::Request(_) => {}
    }
}
