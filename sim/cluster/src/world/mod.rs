// SPDX-License-Identifier: MIT OR Apache-2.0
//! A world: the machines of a protocol on modelled cores, NICs and links, in virtual time.
//!
//! Each part of a node has a core. A core that finds something in a poll gives it to its machine in
//! one burst, and is busy for as long as the machine's work takes; messages and endings leave at its
//! end. A core has one event for each burst, a frame one at the NIC that it comes to. A core that
//! finds nothing has none.

mod carry;
mod clock;
mod core;
mod course;
mod cpu;
mod data_path;
mod digest;
mod ledger;
mod life;
mod operate;
mod poll;
pub mod recorder;
mod run;
mod settings;
mod slab;
mod trace;

use std::collections::BTreeMap;

use cluster::engine::{Endpoint, Machine, Node, NodeId, Part, Protocol};
use cluster::near;
use timing::{Kernel, Priority, Time};

use crate::fabric::Fabric;
use crate::faults::{Faults, Happening};
use crate::nic::Card;
use clock::Clock;
use core::Core;
use data_path::Beside;
use digest::Happened;
use recorder::{AttemptIndex, Recorder};
use slab::{Handle, Slab};

pub use cpu::CpuCosts;
pub use data_path::{DataPath, IndexOf, Ticket};
pub use ledger::{KindCounts, Ledger, LostCounts, ResourceUse, StageCounts, VerbCounts};
pub use settings::{Hardware, Options, Registered, Unrest, WorldError};
pub use trace::{MessageNote, Trace, Unwatched};

/// An event of the kernel.
#[derive(Clone, Copy, Debug)]
struct Event {
    kind: Kind,
    part: u8,
    node: u16,
    /// A parcel, a stamp, or the place of a happening.
    handle: u32,
}

const _: () = assert!(size_of::<Event>() == 8);

#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum Kind {
    /// The first byte of a frame is at the link to a node.
    Frame,
    /// Something is in the memory of a node that did not come through its link.
    Local,
    /// A core of a NIC reaches its host's memory.
    HostMemory,
    /// A core polls, or is at the end of its burst.
    Core,
    /// A deadline may have come.
    Deadline,
    /// A clock edge of hardware in the loop.
    Edge,
    /// Something happens to a node.
    Happening,
    /// The run was to go up to here.
    Limit,
}

/// What a world knows of a node.
struct State<M: Machine> {
    id: NodeId,
    /// Its process, if it runs.
    process: Option<Node<M>>,
    /// What its memory keeps while no process runs.
    kept: Option<M::Shared>,
    cores: Vec<Core>,
    /// Parts below this number are host threads.
    host_threads: usize,
    /// How many of the cores are busy: of the host, and of the NIC.
    busy: [u32; 2],
    /// What the work of each core costs.
    costs: Vec<CpuCosts>,
    clock: Clock,
    /// Thousandths of the usual time that work takes.
    slow: u32,
    /// Its cores stand still until then.
    paused: Time,
    /// How often its process has begun.
    incarnation: u32,
    card: Box<dyn Card>,
    memory: Vec<u8>,
}

/// Finds the memory that verbs access in what the parts of a node share.
pub type MemoryOf<S> = fn(&mut S) -> &mut dyn Registered;

/// The cluster of a protocol in virtual time.
pub struct World<P: Protocol, T: Trace = Unwatched> {
    protocol: P,
    options: Options,
    hardware: Hardware,
    kernel: Kernel<Event>,
    /// The nodes, and the manager behind them.
    nodes: Vec<State<P::Machine>>,
    fabric: Fabric,
    slab: Slab,
    faults: Option<Box<dyn Faults>>,
    happenings: Vec<(Time, NodeId, Happening)>,
    memory_of: Option<MemoryOf<<P::Machine as Machine>::Shared>>,
    beside: Option<Beside<<P::Machine as Machine>::Shared>>,
    ledger: Ledger,
    recorder: Recorder,
    /// Attempts whose coordinator has died.
    undecided: BTreeMap<u64, AttemptIndex>,
    happened: Happened,
    trace: T,
    /// Messages that were sent.
    messages: u32,
    /// Bursts that were made.
    bursts: u64,
    /// How often each resource had been busy when counting began.
    resources_before: Vec<Time>,
    /// When something other than control traffic was last under way.
    last_active: Time,
    /// Bursts under way of which more than control traffic comes.
    active_bursts: u32,
    /// Workers that were told to begin and do not rest.
    running: u32,
    /// The time that the last run went to.
    reached: Time,
    /// What was counted in the last span that was to be measured.
    measured: Option<Ledger>,
    /// Workers have been told to begin, and not to finish.
    begins: bool,
    /// The parcels of the burst that is being made.
    taken: Vec<Handle>,
    /// Memory for its inputs.
    inputs: Vec<cluster::engine::Input<'static>>,
}

impl<P: Protocol> World<P> {
    /// A cluster at the start: nobody has been told to begin.
    ///
    /// # Errors
    /// When the options do not fit the nodes of the protocol.
    pub fn new(
        protocol: P,
        hardware: Hardware,
        faults: Option<Box<dyn Faults>>,
        options: Options,
    ) -> Result<Self, WorldError> {
        World::watched(protocol, hardware, faults, options, Unwatched)
    }
}

impl<P: Protocol, T: Trace> World<P, T> {
    /// As [`World::new`], with somebody who watches.
    ///
    /// # Errors
    /// When the options do not fit the nodes of the protocol.
    pub fn watched(
        protocol: P,
        hardware: Hardware,
        faults: Option<Box<dyn Faults>>,
        options: Options,
        trace: T,
    ) -> Result<Self, WorldError> {
        if options.burst == 0 {
            return Err(WorldError::EmptyBurst);
        }
        let nodes = states(&protocol, &hardware, &options)?;
        let happenings = faults.as_ref().map_or_else(Vec::new, |it| it.happenings().to_vec());
        let mut world = Self {
            fabric: Fabric::new(hardware.fabric, nodes.len()),
            kernel: Kernel::with_capacity(nodes.len() * 1024),
            recorder: Recorder::default(),
            slab: Slab::default(),
            memory_of: None,
            beside: None,
            ledger: Ledger::default(),
            undecided: BTreeMap::new(),
            happened: Happened::default(),
            messages: 0,
            bursts: 0,
            resources_before: Vec::new(),
            last_active: Time::ZERO,
            active_bursts: 0,
            running: 0,
            reached: Time::ZERO,
            measured: None,
            begins: false,
            taken: Vec::new(),
            inputs: Vec::new(),
            protocol,
            options,
            hardware,
            nodes,
            faults,
            happenings,
            trace,
        };
        world.schedule_start();
        Ok(world)
    }

    /// Verbs access the memory that `memory_of` finds in what the parts of a node share, instead of
    /// memory of the world.
    #[must_use]
    pub fn with_memory(mut self, memory_of: MemoryOf<<P::Machine as Machine>::Shared>) -> Self {
        self.memory_of = Some(memory_of);
        self
    }

    /// Attempts and accesses are recorded into `recorder`, which may have memory already.
    #[must_use]
    pub fn with_recorder(mut self, recorder: Recorder) -> Self {
        self.recorder = recorder;
        self
    }

    /// Happenings are scheduled, and each machine gets an empty burst, so that it can begin by itself.
    fn schedule_start(&mut self) {
        for (place, (time, node, _)) in self.happenings.iter().enumerate() {
            let node = index_of(*node, self.nodes.len());
            let Some(node) = node else { continue };
            let event = Event { kind: Kind::Happening, part: 0, node, handle: place as u32 };
            self.kernel.schedule_at(*time, Priority::Deliver, event);
        }
        for node in 0..self.nodes.len() {
            self.wake_all(node);
        }
    }

    /// Every core of a node polls, whether it finds something or not.
    fn wake_all(&mut self, node: usize) {
        for part in 0..self.nodes[node].cores.len() {
            self.wake_at(node, part, self.kernel.now());
        }
    }

    /// The present time.
    pub fn now(&self) -> Time {
        self.kernel.now()
    }

    /// The protocol.
    pub fn protocol(&self) -> &P {
        &self.protocol
    }

    /// What was counted in the last span that [`World::run_for`] measured; without one, from the start
    /// until now.
    pub fn ledger(&self) -> &Ledger {
        self.measured.as_ref().unwrap_or(&self.ledger)
    }

    /// What was recorded.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// What was recorded, and the memory for it.
    pub fn into_recorder(self) -> Recorder {
        self.recorder
    }

    /// Who watches.
    pub fn trace(&self) -> &T {
        &self.trace
    }

    /// Who watches.
    pub fn trace_mut(&mut self) -> &mut T {
        &mut self.trace
    }

    /// A digest (SHA-256) of all frames and endings so far, in their order.
    pub fn digest(&self) -> [u8; 32] {
        self.happened.so_far()
    }

    /// The process of a node, if it runs.
    pub fn node(&self, node: NodeId) -> Option<&Node<P::Machine>> {
        let index = index_of(node, self.nodes.len())?;
        self.nodes[usize::from(index)].process.as_ref()
    }

    /// The nodes whose process runs, without the manager.
    pub fn up(&self) -> Vec<(NodeId, &Node<P::Machine>)> {
        let nodes = self.nodes.iter().filter(|node| node.id != NodeId::MANAGER);
        nodes.filter_map(|node| Some((node.id, node.process.as_ref()?))).collect()
    }

    /// The memory of a node that verbs access, if the world has it.
    pub fn memory(&mut self, node: NodeId) -> Option<&mut Vec<u8>> {
        let index = index_of(node, self.nodes.len())?;
        Some(&mut self.nodes[usize::from(index)].memory)
    }

    /// The card of a node.
    pub fn card(&self, node: NodeId) -> Option<&dyn Card> {
        let index = index_of(node, self.nodes.len())?;
        Some(self.nodes[usize::from(index)].card.as_ref())
    }

    /// The place of an endpoint: its node and its core.
    fn place(&self, endpoint: Endpoint) -> Option<(usize, usize)> {
        let node = usize::from(index_of(endpoint.node, self.nodes.len())?);
        let state = &self.nodes[node];
        let part = match endpoint.part {
            Part::HostThread(thread) if usize::from(thread) < state.host_threads => thread.into(),
            Part::NicCore(core) => state.host_threads + usize::from(core),
            _ => return None,
        };
        (part < state.cores.len()).then_some((node, part))
    }

    /// Makes the next event happen, if there is one before `limit` or at it.
    fn step(&mut self, limit: Time) -> bool {
        if self.kernel.next_time().is_none_or(|next| next > limit) {
            return false;
        }
        let Some((now, event)) = self.kernel.pop() else { return false };
        self.happen(now, event);
        true
    }

    /// Fetches what the next event will need first, while this one happens: parcels and cores are too many
    /// for the nearer caches.
    #[inline]
    fn fetch_ahead(&self) {
        let Some(next) = self.kernel.likely_next() else { return };
        let node = &self.nodes[usize::from(next.node)];
        match next.kind {
            Kind::Frame | Kind::Local | Kind::HostMemory => self.slab.fetch(next.handle),
            Kind::Core => {
                let part = usize::from(next.part);
                near::fetch_value(&node.cores[part]);
                if let Some(machine) = node.process.as_ref().and_then(|it| it.parts.get(part)) {
                    near::fetch_value(machine);
                }
            }
            _ => {}
        }
    }

    /// Makes an event happen.
    fn happen(&mut self, now: Time, event: Event) {
        self.ledger.events += 1;
        let (node, part) = (usize::from(event.node), usize::from(event.part));
        match event.kind {
            Kind::Frame => self.frame_arrives(now, node, event.handle),
            Kind::Local => self.comes_within(now, node, event.handle),
            Kind::HostMemory => self.host_memory_reached(now, node, event.handle),
            Kind::Core => self.core_goes_on(now, node, part, event.handle),
            Kind::Deadline => self.deadline_comes(now, node, part, event.handle),
            Kind::Edge => self.edge_comes(now, node),
            Kind::Happening => self.happens(now, node, event.handle as usize),
            Kind::Limit => {}
        }
    }
}

impl<M: Machine> State<M> {
    /// Of which kind a core is: 0 if it is the host's, 1 if it is the NIC's.
    fn kind_of(&self, core: usize) -> usize {
        usize::from(core >= self.host_threads)
    }

    /// How many cores of the kind of this one are busy, counted anew.
    fn count_busy(&self, core: usize) -> u32 {
        let kind = self.kind_of(core);
        let busy = self.cores.iter().enumerate();
        let busy =
            busy.filter(|(at, of)| self.kind_of(*at) == kind && of.state == core::State::Busy);
        busy.count() as u32
    }

    /// The endpoint of a core.
    fn endpoint(&self, core: usize) -> Endpoint {
        let part = match core.checked_sub(self.host_threads) {
            None => Part::HostThread(core as u8),
            Some(core) => Part::NicCore(core as u8),
        };
        Endpoint { node: self.id, part }
    }
}

/// The place of a node in a list of all and the manager.
fn index_of(node: NodeId, nodes: usize) -> Option<u16> {
    let last = nodes - 1;
    match node {
        NodeId::MANAGER => Some(last as u16),
        NodeId(index) if usize::from(index) < last => Some(index),
        _ => None,
    }
}

/// All nodes at the start, and the manager behind them: one without parts if the protocol has none.
fn states<P: Protocol>(
    protocol: &P,
    hardware: &Hardware,
    options: &Options,
) -> Result<Vec<State<P::Machine>>, WorldError> {
    let mut states = Vec::new();
    for node in (0..protocol.nodes()).map(NodeId) {
        let process = protocol.start(node);
        let (parts, host_threads) = (process.parts.len(), options.host_threads);
        let nic_cores = parts
            .checked_sub(host_threads.into())
            .ok_or(WorldError::TooManyThreads { host_threads, node: node.0, parts })?;
        if nic_cores > 0 && hardware.nic_cores.is_none() {
            return Err(WorldError::NoNicCores { node: node.0, parts: nic_cores, host_threads });
        }
        let host = hardware.host.with_cores(host_threads.into());
        let mut costs = vec![host; host_threads.into()];
        if let Some(nic) = &hardware.nic_cores {
            costs.resize(parts, nic.with_cores(nic_cores));
        }
        states.push(state(node, Some(process), costs, host_threads.into(), hardware, options)?);
    }
    let manager = protocol.manager();
    let parts = manager.as_ref().map_or(0, |manager| manager.parts.len());
    let costs = vec![hardware.host.with_cores(parts); parts];
    states.push(state(NodeId::MANAGER, manager, costs, parts, hardware, options)?);
    let (count, most) = (states.len(), usize::from(u16::MAX));
    if count > most {
        return Err(WorldError::TooMany { what: "nodes", count, most });
    }
    Ok(states)
}

fn state<M: Machine>(
    id: NodeId,
    process: Option<Node<M>>,
    costs: Vec<CpuCosts>,
    host_threads: usize,
    hardware: &Hardware,
    options: &Options,
) -> Result<State<M>, WorldError> {
    let (count, most) = (costs.len(), usize::from(u8::MAX));
    if count > most {
        return Err(WorldError::TooMany { what: "parts of a node", count, most });
    }
    Ok(State {
        id,
        process,
        kept: None,
        cores: costs.iter().map(|_| Core::default()).collect(),
        host_threads,
        busy: [0; 2],
        costs,
        clock: Clock::default(),
        slow: 1000,
        paused: Time::ZERO,
        incarnation: 0,
        card: (hardware.card)(id),
        memory: vec![0; if id == NodeId::MANAGER { 0 } else { options.memory }],
    })
}
