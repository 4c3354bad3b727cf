// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hardware in the loop: a block that stands for the data path of one node's NIC, clocked in the time of the world.
//!
//! The machines go on by themselves, and their index says at once what it finds. Whatever a core of the node asks of
//! the index goes to the hardware as well, in the same order. Its answers come later: a burst lasts until all that it
//! has asked is answered, and a read of a row that the index has missed ends when the hardware has looked the row up.
//! So the hardware gives the run its times, and nothing else; what it answers has to be what the index has.

use std::collections::BTreeMap;

use cluster::engine::{Machine, NodeId, Operation, Protocol, Work};
use cluster::xenic::asked::{Answered, Asked};
use cluster::xenic::index::Index;
use timing::{Priority, Time};

use super::slab::Handle;
use super::{Event, Kind, MemoryOf, Registered, Trace, World};
use crate::run::DataPathReport;

/// The number of an operation, in the order in which they were asked for.
pub type Ticket = u64;

/// Hardware in the loop.
pub trait DataPath: Send {
    /// A core asks at `now` for what the index has answered already. `host` is the memory of the node's host.
    fn ask(&mut self, now: Time, ticket: Ticket, asked: &Asked, host: &mut dyn Registered);

    /// The next clock edge, behind the last one and at `now` or later; none while the clock sleeps.
    fn next_edge(&self, now: Time) -> Option<Time>;

    /// The clock edge at `now`. Adds the tickets of what is answered to `ended`.
    ///
    /// # Errors
    /// A sentence, when the hardware answers otherwise than the index has, or breaks a rule.
    fn edge(
        &mut self,
        now: Time,
        host: &mut dyn Registered,
        ended: &mut Vec<Ticket>,
    ) -> Result<(), String>;

    /// What it did, when the cluster is at rest.
    ///
    /// # Errors
    /// A sentence, when something is still under way in it, or it has counted wrong.
    fn report(&mut self) -> Result<DataPathReport, String>;
}

/// Finds the index of a NIC in what the parts of a node share.
pub type IndexOf<S> = fn(&mut S) -> &mut Index;

/// Who waits for an answer.
#[derive(Clone, Copy, Debug)]
enum Waiter {
    /// The burst of this core.
    Burst(usize),
    /// A read that this core begins at the end of its burst, or nobody, if it begins none.
    Unclaimed,
    /// This read.
    Read(Handle),
}

/// A burst that waits for answers.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// How many.
    open: u32,
    /// How long the core works, beside waiting, and on how many inputs.
    work: Time,
    inputs: u32,
    /// What the burst has missed, by its address in host memory.
    missed: Vec<(u64, Ticket)>,
}

/// The hardware of a node, and who waits for it.
pub(super) struct Beside<S> {
    node: usize,
    path: Box<dyn DataPath>,
    index_of: IndexOf<S>,
    memory_of: MemoryOf<S>,
    /// Those that are not answered, and not forgotten.
    waiters: BTreeMap<Ticket, Waiter>,
    bursts: Vec<Waiting>,
    next: Ticket,
    /// The edge that has an event.
    edge: Option<Time>,
    failure: Option<String>,
    asked: Vec<Asked>,
    ended: Vec<Ticket>,
}

impl<P: Protocol, T: Trace> World<P, T> {
    /// The same with hardware for the data path of a node's NIC. What its cores do with their index takes no work
    /// of theirs any more, but the time of the hardware.
    ///
    /// # Panics
    /// When the world has no such node, its process does not run, or its machines have no memory that verbs access.
    #[must_use]
    pub fn with_data_path(
        mut self,
        node: NodeId,
        path: Box<dyn DataPath>,
        index_of: IndexOf<<P::Machine as Machine>::Shared>,
    ) -> Self {
        let memory_of =
            self.memory_of.expect("what a NIC asks of its index is of its host's memory");
        let node = usize::from(super::index_of(node, self.nodes.len()).expect("there is the node"));
        let state = &mut self.nodes[node];
        index_of(&mut state.process.as_mut().expect("it runs").shared).watch();
        for costs in &mut state.costs[state.host_threads..] {
            costs.work[Work::Index as usize] = Time::ZERO;
        }
        self.beside = Some(Beside {
            node,
            path,
            index_of,
            memory_of,
            waiters: BTreeMap::new(),
            bursts: vec![Waiting::default(); state.cores.len()],
            next: 0,
            edge: None,
            failure: None,
            asked: Vec::new(),
            ended: Vec::new(),
        });
        self
    }

    /// What the parts of a node share, if its process runs.
    pub fn shared_mut(&mut self, node: NodeId) -> Option<&mut <P::Machine as Machine>::Shared> {
        let index = super::index_of(node, self.nodes.len())?;
        Some(&mut self.nodes[usize::from(index)].process.as_mut()?.shared)
    }

    /// The hardware in the loop.
    pub fn data_path_mut(&mut self) -> Option<&mut dyn DataPath> {
        self.beside.as_mut().map(|beside| &mut *beside.path as _)
    }

    /// Why the hardware in the loop has failed, if it has. The run says nothing then.
    pub fn failure(&self) -> Option<&str> {
        self.beside.as_ref()?.failure.as_deref()
    }

    /// Whether hardware reads rows for this core.
    pub(super) fn has_data_path(&self, node: usize, part: usize) -> bool {
        let is_beside = self.beside.as_ref().is_some_and(|beside| beside.node == node);
        is_beside && part >= self.nodes[node].host_threads
    }

    /// A core has made a burst that takes so much work: what it has asked of the index goes to the hardware. Says
    /// whether the burst waits for an answer.
    pub(super) fn ask(
        &mut self,
        now: Time,
        (node, part): (usize, usize),
        work: Time,
        inputs: u32,
    ) -> bool {
        if !self.has_data_path(node, part) {
            return false;
        }
        let (Some(beside), Some(process)) = (&mut self.beside, &mut self.nodes[node].process)
        else {
            return false;
        };
        // What the last burst has missed and read is claimed by now.
        let Beside { bursts, waiters, .. } = beside;
        for (_, ticket) in bursts[part].missed.drain(..) {
            if matches!(waiters.get(&ticket), Some(Waiter::Unclaimed)) {
                waiters.remove(&ticket);
            }
        }
        (beside.index_of)(&mut process.shared).take_asked(&mut beside.asked);
        let host = (beside.memory_of)(&mut process.shared);
        let burst = &mut beside.bursts[part];
        (burst.work, burst.inputs) = (work, inputs);
        for asked in beside.asked.drain(..) {
            let ticket = beside.next;
            beside.next += 1;
            beside.path.ask(now, ticket, &asked, host);
            let waiter = if asked.answer == Answered::Miss {
                burst.missed.push((address(&asked), ticket));
                Waiter::Unclaimed
            } else {
                burst.open += 1;
                Waiter::Burst(part)
            };
            beside.waiters.insert(ticket, waiter);
        }
        let waits = burst.open > 0;
        self.schedule_edge(now);
        waits
    }

    /// The next edge of the hardware's clock gets an event, if it has none.
    fn schedule_edge(&mut self, now: Time) {
        let Some(beside) = &mut self.beside else { return };
        let next = beside.path.next_edge(now);
        if let (None, None, Some(next)) = (beside.edge, &beside.failure, next) {
            beside.edge = Some(next);
            let event = Event { kind: Kind::Edge, part: 0, node: beside.node as u16, handle: 0 };
            self.kernel.schedule_at(next, Priority::ClockEdge, event);
        }
    }

    /// A clock edge of the hardware: who waits for an answer that has come goes on.
    pub(super) fn edge_comes(&mut self, now: Time, node: usize) {
        let Some(beside) = &mut self.beside else { return };
        beside.edge = None;
        let Some(process) = &mut self.nodes[node].process else { return };
        let host = (beside.memory_of)(&mut process.shared);
        if let Err(failure) = beside.path.edge(now, host, &mut beside.ended) {
            beside.failure = Some(failure);
            return;
        }
        let mut ended = std::mem::take(&mut beside.ended);
        for ticket in ended.drain(..) {
            self.is_answered(now, ticket);
        }
        if let Some(beside) = &mut self.beside {
            beside.ended = ended;
        }
        self.schedule_edge(now);
    }

    fn is_answered(&mut self, now: Time, ticket: Ticket) {
        let Some(beside) = &mut self.beside else { return };
        let node = beside.node;
        match beside.waiters.remove(&ticket) {
            Some(Waiter::Burst(part)) => {
                let burst = &mut beside.bursts[part];
                burst.open -= 1;
                if burst.open == 0 {
                    let (work, inputs) = (burst.work, burst.inputs);
                    self.work_on(now, node, part, work, inputs);
                }
            }
            Some(Waiter::Read(handle)) => self.ends_read(now, handle),
            Some(Waiter::Unclaimed) | None => {}
        }
    }

    /// A core reads host memory for a row that its index has missed. Says whether the hardware does it.
    pub(super) fn reads_by_data_path(
        &mut self,
        now: Time,
        (node, part): (usize, usize),
        handle: Handle,
        operation: &Operation,
    ) -> bool {
        let Operation::Read { at, .. } = operation else { return false };
        if !self.has_data_path(node, part) {
            return false;
        }
        let Some(beside) = &mut self.beside else { return false };
        let missed = &mut beside.bursts[part].missed;
        let place = missed.iter().position(|(address, _)| address == at);
        let waiter = place.and_then(|place| beside.waiters.get_mut(&missed.swap_remove(place).1));
        match waiter {
            Some(waiter) => *waiter = Waiter::Read(handle),
            // The hardware has made all reads of the look-up by now.
            None => self.ends_read(now, handle),
        }
        true
    }

    fn ends_read(&mut self, now: Time, handle: Handle) {
        let Some(beside) = &self.beside else { return };
        let event = Event { kind: Kind::HostMemory, part: 0, node: beside.node as u16, handle };
        self.kernel.schedule_at(now, Priority::Deliver, event);
    }
}

/// The address of a row in host memory, as the core reads it.
fn address(asked: &Asked) -> u64 {
    cluster::xenic::log::Address::Row(asked.key).number()
}
