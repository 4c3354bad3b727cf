// SPDX-License-Identifier: MIT OR Apache-2.0
//! What happens to nodes: crashes, restarts, slowness, pauses, and their clocks.

use cluster::engine::{Machine, NodeId, Protocol};
use timing::Time;

use super::core::{Command, State as CoreState};
use super::{Trace, World};
use crate::faults::Happening;

impl<P: Protocol, T: Trace> World<P, T> {
    pub(super) fn happens(&mut self, now: Time, node: usize, place: usize) {
        let (_, id, happening) = self.happenings[place];
        self.trace.happened(now, id, &happening);
        let state = &mut self.nodes[node];
        let runs = state.process.is_some();
        match happening {
            Happening::Crash => self.crash(node),
            Happening::Restart => self.restart(node),
            Happening::Slow { factor } => state.slow = factor,
            Happening::Pause { length } => state.paused = state.paused.max(now + length),
            Happening::Clock { ahead, drift } => self.set_clock(now, node, ahead, drift),
        }
        let is_turn = matches!(happening, Happening::Crash | Happening::Restart);
        let has_happened = !is_turn || runs != self.nodes[node].process.is_some();
        if let (true, Some(faults)) = (has_happened, &mut self.faults) {
            faults.happened(now, id, &happening);
        }
    }

    /// The process of a node ends: nothing that is volatile is kept.
    pub(super) fn crash(&mut self, node: usize) {
        for part in 0..self.nodes[node].cores.len() {
            self.stop_core(node, part);
        }
        let state = &mut self.nodes[node];
        state.busy = [0; 2];
        if let Some(process) = state.process.take() {
            state.kept = Some(process.shared);
        }
    }

    fn stop_core(&mut self, node: usize, part: usize) {
        let core = &mut self.nodes[node].cores[part];
        let effects = std::mem::take(&mut core.effects);
        if std::mem::take(&mut core.active) {
            self.active_bursts -= 1;
            self.course_cut_short(node, part, &effects);
        }
        let core = &mut self.nodes[node].cores[part];
        core.effects = effects;
        core.stamp = core.stamp.wrapping_add(1);
        core.alarm_stamp = core.alarm_stamp.wrapping_add(1);
        (core.state, core.wanted, core.alarm) = (CoreState::Idle, None, None);
        core.commands.clear();
        for handle in core.urgent.drain(..).chain(core.inbox.drain(..).map(|it| it.parcel)) {
            self.slab.free(handle);
        }
        let mut workers = std::mem::take(&mut core.workers);
        for worker in &mut workers {
            self.running -= u32::from(std::mem::take(&mut worker.runs));
            if let Some(open) = worker.open.take() {
                self.orphan(open);
            }
        }
        self.nodes[node].cores[part].workers = workers;
    }

    /// The process of a node begins anew, with what its memory has kept.
    fn restart(&mut self, node: usize) {
        let state = &mut self.nodes[node];
        let Some(kept) = state.kept.take() else { return };
        let process = self.protocol.restart(state.id, kept);
        state.incarnation += 1;
        state.paused = Time::ZERO;
        let parts = process.parts.len().min(state.cores.len());
        for (core, machine) in state.cores.iter_mut().zip(&process.parts) {
            core.wanted = machine.deadline();
        }
        debug_assert_eq!(parts, state.cores.len(), "a node keeps its parts");
        state.process = Some(process);
        if self.begins && self.options.begin_again {
            self.command_workers(node, Command::Begin);
        }
        self.wake_all(node);
    }

    fn set_clock(&mut self, now: Time, node: usize, ahead: Time, drift: i32) {
        self.nodes[node].clock.set(now, ahead, drift);
        for part in 0..self.nodes[node].cores.len() {
            // The event that there may be comes too late or too early now.
            let core = &mut self.nodes[node].cores[part];
            core.alarm_stamp = core.alarm_stamp.wrapping_add(1);
            core.alarm = None;
            self.set_alarm(node, part);
        }
    }

    /// All workers of a node get a command, if its process runs.
    pub(super) fn command_workers(&mut self, node: usize, command: fn(u8) -> Command) {
        let state = &self.nodes[node];
        if state.process.is_none() || state.id == NodeId::MANAGER {
            return;
        }
        let threads = self.options.threads_with_workers.unwrap_or(u8::MAX);
        for part in 0..self.nodes[node].host_threads.min(threads.into()) {
            for number in 0..self.options.workers {
                let core = &mut self.nodes[node].cores[part];
                core.commands.push_back(command(number));
                if matches!(command(number), Command::Begin(_)) {
                    let worker = core.worker(number);
                    self.running += u32::from(!std::mem::replace(&mut worker.runs, true));
                }
            }
            self.wake(node, part);
        }
    }
}
