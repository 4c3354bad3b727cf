// SPDX-License-Identifier: MIT OR Apache-2.0
//! A driver of machines on nodes with SmartNICs, for benchmarks of the hardware alone: no faults, no
//! deadlines, nothing recorded.
//!
//! A part polls up to a burst of frames, packets and completions. Its effects leave when the time of the
//! burst is over: DMA is submitted, and messages are gathered for each destination (Xenic, section 4.3.2).

use std::collections::VecDeque;

use cluster::engine::{
    Effects, Endpoint, Input, Instant, Machine, Node, NodeId, Operation, Outcome, Part, Place,
    Token,
};
use timing::{Kernel, Priority, Time};

use crate::nic::dma::Direction;
use crate::nic::pcie::Towards;
use crate::nic::smart::{Batching, Handled, SmartNic};

/// An event. The payload of a frame or a vector waits in a slab under its handle.
#[derive(Clone, Copy, Debug)]
struct Event {
    kind: Kind,
    part: u8,
    node: u16,
    handle: u32,
}

const _: () = assert!(size_of::<Event>() == 8);

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A frame's first bit is at the switch's port to the node.
    AtSwitch,
    /// The part has a frame, a packet or a completion in its queue.
    Arrived,
    /// The part's burst is over.
    BurstEnded,
}

/// What waits in the queue of a part.
#[derive(Clone, Debug, Default)]
struct Parcel {
    content: Content,
    /// Messages, each with its length before it in two bytes.
    bytes: Vec<u8>,
    /// How long it occupies a link, if it is a frame.
    wire: Time,
    /// The operations of a vector.
    operations: Vec<(Token, Operation, usize)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Content {
    #[default]
    Nothing,
    /// A frame of the network.
    Frame(Endpoint),
    /// A packet over the slot.
    Packet(Endpoint),
    /// A vector of DMA.
    Vector,
}

struct Runner<M> {
    machine: M,
    endpoint: Endpoint,
    /// Its number among the cores of its processor.
    number: usize,
    inbox: VecDeque<u32>,
    busy: bool,
    effects: Effects,
    gathered: Vec<Gathered>,
}

/// A frame or packet that leaves at the end of a burst.
#[derive(Clone, Copy, Debug)]
struct Gathered {
    to: Endpoint,
    /// Over the slot, and not into the network.
    slot: bool,
    handle: u32,
}

struct Host<M: Machine> {
    shared: M::Shared,
    parts: Vec<Runner<M>>,
    nic: SmartNic,
    memory: Vec<u8>,
    /// How many threads of the host, and how many cores of the NIC, are in a burst.
    busy: [u32; 2],
    /// How long they have been in bursts, in sum.
    worked: [Time; 2],
}

/// The nodes, the network between them, and what is under way.
pub struct SmartDriver<M: Machine> {
    hosts: Vec<Host<M>>,
    batching: Batching,
    kernel: Kernel<Event>,
    parcels: Vec<Parcel>,
    free: Vec<u32>,
    refused: u64,
}

impl<M: Machine> SmartDriver<M> {
    /// Nodes at rest: each as its machines are, with a NIC and so many bytes of memory for DMA. `nodes`
    /// have their parts in the order of `parts`.
    pub fn new(
        nodes: Vec<Node<M>>,
        parts: impl Fn(usize) -> Part,
        nic: &SmartNic,
        memory: usize,
        batching: Batching,
    ) -> Self {
        let hosts = nodes.into_iter().enumerate().map(|(number, node)| {
            let runner = |(place, machine)| {
                let part = parts(place);
                let number_of_part = match part {
                    Part::HostThread(number) | Part::NicCore(number) => usize::from(number),
                    Part::Memory | Part::Switch => 0,
                };
                Runner {
                    machine,
                    endpoint: Endpoint { node: NodeId(number as u16), part },
                    number: number_of_part,
                    inbox: VecDeque::new(),
                    busy: false,
                    effects: Effects::new(),
                    gathered: Vec::new(),
                }
            };
            Host {
                shared: node.shared,
                parts: node.parts.into_iter().enumerate().map(runner).collect(),
                nic: nic.clone(),
                memory: vec![0; memory],
                busy: [0; 2],
                worked: [Time::ZERO; 2],
            }
        });
        Self {
            hosts: hosts.collect(),
            batching,
            kernel: Kernel::new(),
            parcels: Vec::new(),
            free: Vec::new(),
            refused: 0,
        }
    }

    /// Lets all parts begin: each gets [`Input::Begin`] for worker 0.
    pub fn begin(&mut self) {
        for node in 0..self.hosts.len() {
            for part in 0..self.hosts[node].parts.len() {
                self.burst(node, part, true);
            }
        }
    }

    /// Runs until `end`.
    pub fn run_until(&mut self, end: Time) {
        while self.kernel.next_time().is_some_and(|next| next <= end) {
            let Some((_, event)) = self.kernel.pop() else { break };
            let (node, part) = (usize::from(event.node), usize::from(event.part));
            match event.kind {
                Kind::AtSwitch => self.at_switch(event),
                Kind::Arrived => {
                    let runner = &mut self.hosts[node].parts[part];
                    runner.inbox.push_back(event.handle);
                    if !runner.busy {
                        self.burst(node, part, false);
                    }
                }
                Kind::BurstEnded => self.end_burst(node, part),
            }
        }
    }

    /// What the parts of a node share.
    pub fn shared(&self, node: usize) -> &M::Shared {
        &self.hosts[node].shared
    }

    /// The NIC of a node.
    pub fn nic(&self, node: usize) -> &SmartNic {
        &self.hosts[node].nic
    }

    /// The resources of a node that can be busy: name, for how long each has been, and how many there are.
    pub fn busy(&self, node: usize) -> Vec<(&'static str, Time, u32)> {
        let host = &self.hosts[node];
        let is_thread = |it: &&Runner<M>| matches!(it.endpoint.part, Part::HostThread(_));
        let threads = host.parts.iter().filter(is_thread).count() as u32;
        let cores = host.parts.len() as u32 - threads;
        let mut all = host.nic.busy().to_vec();
        all.push(("DMA queues", host.nic.dma.busy(), host.nic.dma.queues() as u32));
        all.push(("host threads", host.worked[0], threads));
        all.push(("NIC cores", host.worked[1], cores));
        all
    }

    /// How many messages had no way from their sender to their receiver, or did not fit a frame, and
    /// were dropped.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    fn at_switch(&mut self, event: Event) {
        let now = self.kernel.now();
        let host = &mut self.hosts[usize::from(event.node)];
        let core = host.parts[usize::from(event.part)].number;
        let at = host.nic.arrive(now, core, self.parcels[event.handle as usize].wire);
        self.kernel.schedule_at(at, Priority::Deliver, Event { kind: Kind::Arrived, ..event });
    }

    /// One poll of a part: calls its machine, and charges the time until its effects leave.
    fn burst(&mut self, node: usize, part: usize, begins: bool) {
        let now = self.kernel.now();
        let host = &mut self.hosts[node];
        let runner = &mut host.parts[part];
        let handles: Vec<u32> = {
            let most = runner.inbox.len().min(host.nic.burst());
            runner.inbox.drain(..most).collect()
        };
        let mut handled = Handled::default();
        let mut answers = Vec::new();
        for &handle in &handles {
            let parcel = &self.parcels[handle as usize];
            match parcel.content {
                Content::Frame(_) => handled.received += 1,
                Content::Packet(_) => handled.taken += 1,
                Content::Vector => answers.push(perform(&mut host.memory, parcel)),
                Content::Nothing => {}
            }
        }
        let mut inputs: Vec<Input<'_>> = Vec::new();
        inputs.extend(begins.then_some(Input::Begin { worker: 0 }));
        let mut answers = answers.iter();
        for &handle in &handles {
            let parcel = &self.parcels[handle as usize];
            match parcel.content {
                Content::Frame(from) | Content::Packet(from) => {
                    inputs.extend(
                        messages(&parcel.bytes).map(|bytes| Input::Message { from, bytes }),
                    );
                }
                Content::Vector => {
                    let answers = answers.next().into_iter().flatten();
                    inputs.extend(answers.map(|(token, outcome, bytes)| Input::Completed {
                        token: *token,
                        outcome: *outcome,
                        bytes,
                    }));
                }
                Content::Nothing => {}
            }
        }
        let effects = &mut runner.effects;
        effects.clear();
        runner.machine.burst(&mut host.shared, Instant::from_ps(now.as_ps()), &inputs, effects);
        drop(inputs);
        for handle in handles {
            self.recycle(handle);
        }
        self.gather(node, part, &mut handled);
        self.charge(node, part, handled);
    }

    /// Puts the messages of a part into frames and packets.
    fn gather(&mut self, node: usize, part: usize, handled: &mut Handled) {
        let host = &mut self.hosts[node];
        let room = host.nic.room();
        let runner = &mut host.parts[part];
        for send in runner.effects.sends() {
            let slot = match (runner.endpoint.part, send.to.part) {
                (Part::NicCore(_), Part::NicCore(_)) if send.to.node.index() != node => false,
                (Part::NicCore(_), Part::HostThread(_))
                | (Part::HostThread(_), Part::NicCore(_))
                    if send.to.node.index() == node =>
                {
                    true
                }
                // All traffic passes the NIC's cores.
                _ => {
                    self.refused += 1;
                    continue;
                }
            };
            let bytes = runner.effects.bytes_of(&send.bytes);
            let length = bytes.len() + 2;
            if length > room {
                self.refused += 1;
                continue;
            }
            let open = match self.batching.messages {
                false => None,
                true => runner.gathered.iter().rfind(|it| it.to == send.to),
            };
            let open =
                open.filter(|it| self.parcels[it.handle as usize].bytes.len() + length <= room);
            let handle = match open {
                Some(open) => open.handle,
                None => {
                    let handle = take(&mut self.parcels, &mut self.free);
                    let from = runner.endpoint;
                    self.parcels[handle as usize].content = match slot {
                        true => Content::Packet(from),
                        false => Content::Frame(from),
                    };
                    runner.gathered.push(Gathered { to: send.to, slot, handle });
                    *(if slot { &mut handled.given } else { &mut handled.sent }) += 1;
                    handle
                }
            };
            let parcel = &mut self.parcels[handle as usize];
            parcel.bytes.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
            parcel.bytes.extend_from_slice(bytes);
        }
        let most = if self.batching.vectors { host.nic.dma.vector() } else { 1 };
        let reads = runner
            .effects
            .operations()
            .iter()
            .filter(|it| direction(&it.operation) == Direction::Read);
        let reads = reads.count();
        let writes = runner.effects.operations().len() - reads;
        handled.vectors = (reads.div_ceil(most) + writes.div_ceil(most)) as u32;
    }

    fn charge(&mut self, node: usize, part: usize, handled: Handled) {
        let host = &mut self.hosts[node];
        let runner = &mut host.parts[part];
        let work = runner.effects.work_done();
        let (processor, kind) = match runner.endpoint.part {
            Part::HostThread(_) => (&host.nic.host, 0),
            _ => (&host.nic.cores, 1),
        };
        runner.busy = true;
        host.busy[kind] += 1;
        let submission = host.nic.dma.submission();
        let length = processor.burst(handled, work, submission, host.busy[kind]);
        host.worked[kind] += length;
        let event =
            Event { kind: Kind::BurstEnded, part: part as u8, node: node as u16, handle: 0 };
        self.kernel.schedule_after(length, Priority::Issue, event);
    }

    fn end_burst(&mut self, node: usize, part: usize) {
        self.submit(node, part);
        self.dispatch(node, part);
        let host = &mut self.hosts[node];
        let runner = &mut host.parts[part];
        runner.busy = false;
        host.busy[usize::from(!matches!(runner.endpoint.part, Part::HostThread(_)))] -= 1;
        if !runner.inbox.is_empty() {
            self.burst(node, part, false);
        }
    }

    /// Submits the DMA of the burst, reads and writes apart (Xenic, section 4.3.1).
    fn submit(&mut self, node: usize, part: usize) {
        let now = self.kernel.now();
        let host = &mut self.hosts[node];
        let runner = &mut host.parts[part];
        let most = if self.batching.vectors { host.nic.dma.vector() } else { 1 };
        for wanted in [Direction::Read, Direction::Write] {
            let requests = runner.effects.operations().iter();
            let mut requests = requests.filter(|it| direction(&it.operation) == wanted).peekable();
            while requests.peek().is_some() {
                let handle = take(&mut self.parcels, &mut self.free);
                let parcel = &mut self.parcels[handle as usize];
                parcel.content = Content::Vector;
                for request in requests.by_ref().take(most) {
                    let written = runner.effects.bytes_of(&request.bytes);
                    let length = match request.operation {
                        Operation::Read { length, .. } => length as usize,
                        _ => written.len(),
                    };
                    let own = request.place == Place::Host;
                    let token = request.token;
                    // What is not the own host's memory fails, as an address outside of it.
                    let operation = match own {
                        true => request.operation,
                        false => Operation::Read { at: u64::MAX, length: 0 },
                    };
                    parcel.operations.push((token, operation, length));
                    parcel.bytes.extend_from_slice(written);
                }
                let sizes = parcel.operations.iter().map(|(_, _, length)| *length as u64);
                let nic = &mut host.nic;
                let at = nic.dma.submit(now, runner.number, wanted, sizes, &mut nic.pcie);
                let event =
                    Event { kind: Kind::Arrived, part: part as u8, node: node as u16, handle };
                self.kernel.schedule_at(at, Priority::Deliver, event);
            }
        }
    }

    /// Lets the frames and packets of the burst leave.
    fn dispatch(&mut self, node: usize, part: usize) {
        let now = self.kernel.now();
        let mut gathered = std::mem::take(&mut self.hosts[node].parts[part].gathered);
        let number = self.hosts[node].parts[part].number;
        for frame in gathered.iter().filter(|it| !it.slot) {
            let parcel = &mut self.parcels[frame.handle as usize];
            let departure = self.hosts[node].nic.transmit(now, number, parcel.bytes.len());
            parcel.wire = departure.wire;
            self.deliver(departure.at_switch, Kind::AtSwitch, frame);
        }
        let packets: Vec<Gathered> = gathered.iter().copied().filter(|it| it.slot).collect();
        let towards = match self.hosts[node].parts[part].endpoint.part {
            Part::HostThread(_) => Towards::Nic,
            _ => Towards::Host,
        };
        if towards == Towards::Nic && !packets.is_empty() {
            self.hosts[node].nic.doorbell(now);
        }
        for packet in packets {
            let bytes = self.parcels[packet.handle as usize].bytes.len();
            let at = self.hosts[node].nic.cross(now, towards, bytes, self.batching.rounds);
            self.deliver(at, Kind::Arrived, &packet);
        }
        gathered.clear();
        self.hosts[node].parts[part].gathered = gathered;
    }

    fn deliver(&mut self, at: Time, kind: Kind, gathered: &Gathered) {
        let node = gathered.to.node.index();
        let host = self.hosts.get(node);
        let place = host.and_then(|it| it.parts.iter().position(|it| it.endpoint == gathered.to));
        match place {
            Some(part) => {
                let (part, node) = (part as u8, node as u16);
                let event = Event { kind, part, node, handle: gathered.handle };
                self.kernel.schedule_at(at, Priority::Deliver, event);
            }
            None => {
                self.refused += 1;
                self.recycle(gathered.handle);
            }
        }
    }

    fn recycle(&mut self, handle: u32) {
        let parcel = &mut self.parcels[handle as usize];
        parcel.content = Content::Nothing;
        parcel.bytes.clear();
        parcel.operations.clear();
        self.free.push(handle);
    }
}

fn take(parcels: &mut Vec<Parcel>, free: &mut Vec<u32>) -> u32 {
    free.pop().unwrap_or_else(|| {
        parcels.push(Parcel::default());
        parcels.len() as u32 - 1
    })
}

fn direction(operation: &Operation) -> Direction {
    match operation {
        Operation::Read { .. } => Direction::Read,
        _ => Direction::Write,
    }
}

/// The messages of a frame.
fn messages(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk::<2>()?;
        let (message, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        bytes = rest;
        Some(message)
    })
}

/// What the operations of a vector did, and what they read.
fn perform(memory: &mut [u8], parcel: &Parcel) -> Vec<(Token, Outcome, Vec<u8>)> {
    let mut written = parcel.bytes.as_slice();
    let operations = parcel.operations.iter();
    let size = memory.len();
    let place = |at: u64, length: usize| {
        let start = usize::try_from(at).ok()?;
        let end = start.checked_add(length)?;
        (end <= size).then_some(start..end)
    };
    let mut perform = |(token, operation, length): &(Token, Operation, usize)| {
        let done = match *operation {
            Operation::Read { at, .. } => place(at, *length).map(|it| memory[it].to_vec()),
            Operation::Write { at } => {
                let (bytes, rest) = written.split_at(*length);
                written = rest;
                place(at, *length).map(|it| {
                    memory[it].copy_from_slice(bytes);
                    Vec::new()
                })
            }
            // The engine has no atomics.
            Operation::CompareSwap { .. } | Operation::FetchAdd { .. } => None,
        };
        match done {
            Some(bytes) => (*token, Outcome::Done, bytes),
            None => (*token, Outcome::Failed, Vec::new()),
        }
    };
    operations.map(&mut perform).collect()
}
