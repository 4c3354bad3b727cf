// SPDX-License-Identifier: MIT OR Apache-2.0
//! Benchmarks of the model of a SmartNIC, each a run with clients that have requests outstanding all the
//! time: what Xenic (SOSP 2021, section 3) measured of its hardware.

use cluster::engine::{Endpoint, Node, NodeId, Part, Protocol};
use timing::Time;

use super::smart_machine::{Board, Client, Copier, Core, Request, SmartMachine};
use crate::nic::smart::Batching;
use crate::nic::smart_card::NO_WORK;
use crate::nic::smart_timing::SmartTiming;
use crate::world::{Options, World, WorldError};

/// A figure that came out, with what held it down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Requests a second, or operations.
    pub rate: f64,
    /// The busiest resource of all nodes, and the share of the time that it was busy.
    pub bound: (&'static str, f64),
    /// How many were counted.
    pub operations: u64,
}

impl Outcome {
    /// In millions a second.
    pub fn millions(&self) -> f64 {
        self.rate / 1e6
    }
}

/// Before it is counted.
const WARM_UP: Time = Time::from_us(400);
/// How long it is counted.
const COUNTED: Time = Time::from_us(400);
/// Bytes of the host's memory that DMA can reach.
const MEMORY: usize = 1 << 20;
/// Threads of each side in section 3.3, taken for section 3.4 as well.
const THREADS: u8 = 16;
/// Bytes of an echo's data, so that the datagram has 80 with address, head and length (section 3.3).
const ECHO_DATA: u16 = 64;

/// The nodes of a benchmark: threads and cores of each, in this order.
struct Layout {
    threads: u8,
    cores: u8,
}

impl Layout {
    fn part(&self, place: usize) -> Part {
        match place.checked_sub(usize::from(self.threads)) {
            None => Part::HostThread(place as u8),
            Some(core) => Part::NicCore(core as u8),
        }
    }

    fn node(&self, make: impl Fn(Part) -> SmartMachine) -> Node<SmartMachine> {
        let parts = usize::from(self.threads) + usize::from(self.cores);
        Node { shared: Board::default(), parts: (0..parts).map(|it| make(self.part(it))).collect() }
    }
}

/// The model cannot run a benchmark.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MicroError {
    /// There cannot be such a world.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A frame of the platform has no room for a message, or memory none for an operation.
    #[error(
        "{refused} messages and {failed} operations found that fit no frame or no memory, expected none"
    )]
    NoRoom {
        /// Messages that no frame has room for.
        refused: u64,
        /// Operations on memory that does not exist, and messages that nobody understands.
        failed: u64,
    },
    /// A resource of the platform is so slow that nothing came out.
    #[error("{completed} requests completed in {time}, expected at least {expected}")]
    Nothing {
        /// How many did.
        completed: u64,
        /// How many should have.
        expected: u64,
        /// How long was waited for them.
        time: Time,
    },
}

/// Nodes as they are at the start.
struct Nodes(Vec<Node<SmartMachine>>);

impl Protocol for Nodes {
    type Machine = SmartMachine;

    fn nodes(&self) -> u16 {
        self.0.len() as u16
    }

    fn start(&self, node: NodeId) -> Node<SmartMachine> {
        self.0[node.index()].clone()
    }

    fn restart(&self, node: NodeId, kept: Board) -> Node<SmartMachine> {
        Node { shared: kept, ..self.start(node) }
    }

    fn manager(&self) -> Option<Node<SmartMachine>> {
        None
    }

    fn check_at_rest(&self, _: &[(NodeId, &Node<SmartMachine>)]) -> Result<(), String> {
        Ok(())
    }
}

struct Bench {
    world: World<Nodes>,
    /// Messages that had no frame or no receiver.
    refused: u64,
}

impl Bench {
    fn new(
        nodes: Vec<Node<SmartMachine>>,
        layout: &Layout,
        timing: &SmartTiming,
        batching: Batching,
    ) -> Result<Self, MicroError> {
        let options = Options {
            host_threads: layout.threads,
            burst: timing.network.queues.burst.get().0 as u16,
            record: false,
            digest: false,
            memory: MEMORY,
            ..Options::default()
        };
        let hardware = timing.hardware(batching, NO_WORK, NO_WORK);
        let world = World::new(Nodes(nodes), hardware, None, options)?;
        Ok(Self { world, refused: 0 })
    }

    fn boards(&self) -> impl Iterator<Item = &Board> {
        self.world.up().into_iter().map(|(_, node)| &node.shared)
    }

    fn run_until(&mut self, end: Time) -> Result<(), MicroError> {
        self.world.run_until(end);
        self.check()
    }

    fn check(&mut self) -> Result<(), MicroError> {
        let lost = self.world.ledger().lost;
        self.refused = self.refused.max(lost.oversized + lost.unreachable);
        let failed = self.boards().map(|board| board.bad).sum();
        match (self.refused, failed) {
            (0, 0) => Ok(()),
            (refused, _) => Err(MicroError::NoRoom { refused, failed }),
        }
    }

    fn completed(&self) -> u64 {
        self.boards().map(|board| board.completed).sum()
    }

    /// What the clients of all nodes complete, counted after all of the first requests are through.
    fn outcome(mut self) -> Result<Outcome, MicroError> {
        self.run_until(WARM_UP)?;
        let before = self.completed();
        self.world.run_for(Time::ZERO, COUNTED);
        self.check()?;
        let operations = self.completed() - before;
        let resources = self.world.ledger().resources.iter().map(|it| (it.name, it.share));
        let bound =
            resources.fold(("nothing", 0.0), |most, it| if it.1 > most.1 { it } else { most });
        let rate = operations as f64 / (COUNTED.as_ns_f64() * 1e-9);
        Ok(Outcome { rate, bound, operations })
    }

    /// The mean time between completions of node 0, of which one follows the other.
    fn period(mut self) -> Result<Time, MicroError> {
        let state = |bench: &Self| {
            bench.boards().next().map_or((0, 0), |board| (board.completed, board.last.as_ps()))
        };
        self.run_until(COUNTED)?;
        let first = state(&self);
        self.run_until(COUNTED + COUNTED)?;
        let last = state(&self);
        match last.0 - first.0 {
            completed @ 0..2 => Err(MicroError::Nothing { completed, expected: 2, time: COUNTED }),
            completed => Ok(Time::from_ps((last.1 - first.1) / completed)),
        }
    }
}

/// A node whose host threads, so many of its `threads`, ask node `target`.
fn asking(
    layout: &Layout,
    node: u16,
    target: u16,
    threads: u8,
    ask: (Request, u16, u16),
) -> Node<SmartMachine> {
    let (request, bytes, window) = ask;
    layout.node(|part| match part {
        Part::HostThread(thread) if thread < threads => {
            let at = Endpoint::host(NodeId(node), thread);
            let to = Endpoint { node: NodeId(node), part: Part::NicCore(thread % layout.cores) };
            SmartMachine::Client(Client { at, to, request, bytes, window, begun: false })
        }
        Part::NicCore(_) => core(node, target, part, layout.threads),
        _ => SmartMachine::Idle,
    })
}

/// A node that serves.
fn serving(layout: &Layout, node: u16) -> Node<SmartMachine> {
    layout.node(|part| match part {
        Part::NicCore(_) => core(node, node, part, layout.threads),
        _ => SmartMachine::Echo,
    })
}

fn core(node: u16, target: u16, part: Part, threads: u8) -> SmartMachine {
    SmartMachine::Core(Core::new(Endpoint { node: NodeId(node), part }, NodeId(target), threads))
}

/// Section 3.3: echoes a second of one server's host threads, or of its NIC's cores, asked by five others
/// with bursts of packets of 80 bytes. `threads` are those that echo; of the NIC, the cores that there are.
///
/// # Errors
/// When the platform cannot do that.
pub fn echoes(timing: &SmartTiming, request: Request, threads: u8) -> Result<Outcome, MicroError> {
    let cores = if request == Request::NicEcho { threads } else { THREADS };
    let layout = Layout { threads: threads.max(THREADS), cores };
    let batching = Batching { messages: false, ..Batching::ALL };
    let clients =
        (1..6).map(|node| asking(&layout, node, 0, layout.threads, (request, ECHO_DATA, 32)));
    let nodes = std::iter::once(serving(&layout, 0)).chain(clients).collect();
    Bench::new(nodes, &layout, timing, batching)?.outcome()
}

/// Where a round trip begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// At a thread of the host.
    Host,
    /// At a core of the NIC.
    Nic,
}

/// Figure 2a: the time of a round trip with nothing else under way.
///
/// # Errors
/// When the platform cannot do that.
pub fn round_trip(
    timing: &SmartTiming,
    source: Source,
    request: Request,
    bytes: u16,
) -> Result<Time, MicroError> {
    let layout = Layout { threads: 1, cores: 1 };
    let client = match source {
        Source::Host => asking(&layout, 0, 1, 1, (request, bytes, 1)),
        Source::Nic => layout.node(|part| match part {
            Part::NicCore(_) => {
                let [at, to] = [0, 1].map(|node| Endpoint { node: NodeId(node), part });
                SmartMachine::Client(Client { at, to, request, bytes, window: 1, begun: false })
            }
            _ => SmartMachine::Idle,
        }),
    };
    Bench::new(vec![client, serving(&layout, 1)], &layout, timing, Batching::ALL)?.period()
}

/// Figure 3: requests a second from one host to another's memory or its NIC's.
///
/// # Errors
/// When the platform cannot do that.
pub fn remote(
    timing: &SmartTiming,
    request: Request,
    bytes: u16,
    batched: bool,
) -> Result<Outcome, MicroError> {
    let cores = timing.network.core.threads.get().0 as u8;
    let layout = Layout { threads: timing.network.host.threads.get().0 as u8, cores };
    let batching = if batched { Batching::ALL } else { Batching::NONE };
    // Enough for the whole way; more would only wait longer.
    let window = if batched { 256 } else { 32 };
    let client = asking(&layout, 0, 1, cores, (request, bytes, window));
    Bench::new(vec![client, serving(&layout, 1)], &layout, timing, batching)?.outcome()
}

/// Figure 4a: operations a second of eight cores, each with a queue of the DMA engine, alone or in full
/// vectors.
///
/// # Errors
/// When the platform cannot do that.
pub fn copies(
    timing: &SmartTiming,
    reads: bool,
    bytes: u32,
    vectors: bool,
) -> Result<Outcome, MicroError> {
    let copier = Copier { reads, bytes, window: 120, again: true, begun: false };
    copying(timing, copier, 8, vectors)?.outcome()
}

/// Figure 4b: from the begin of the submission to the completion of one vector with so many elements, with
/// nothing else under way.
///
/// # Errors
/// When the platform cannot do that.
pub fn copy_time(
    timing: &SmartTiming,
    reads: bool,
    bytes: u32,
    elements: u32,
) -> Result<Time, MicroError> {
    let copier = Copier { reads, bytes, window: elements, again: false, begun: false };
    let mut bench = copying(timing, copier, 1, true)?;
    bench.run_until(COUNTED)?;
    match bench.completed() {
        completed if completed < u64::from(elements) => {
            Err(MicroError::Nothing { completed, expected: elements.into(), time: COUNTED })
        }
        _ => {
            let last = bench.boards().map(|board| board.last.as_ps()).max();
            Ok(Time::from_ps(last.unwrap_or(0)))
        }
    }
}

fn copying(
    timing: &SmartTiming,
    copier: Copier,
    cores: u8,
    vectors: bool,
) -> Result<Bench, MicroError> {
    let layout = Layout { threads: 0, cores };
    let batching = Batching { vectors, ..Batching::ALL };
    let node = layout.node(|_| SmartMachine::Copier(copier.clone()));
    Bench::new(vec![node], &layout, timing, batching)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_told() {
        let mut timing = SmartTiming::usual().expect("valid");
        // Longer than a datagram can be; a shorter one goes in fragments.
        let refused = remote(&timing, Request::NicWrite, 65_507, true).expect_err("none fits");
        assert!(matches!(refused, MicroError::NoRoom { refused: 1.., failed: 0 }), "{refused}");
        let slow = |timing: &mut SmartTiming| timing.network.dma.read.set(Time::from_us(10_000));
        slow(&mut timing);
        let nothing = copy_time(&timing, true, 64, 1).expect_err("too slow");
        assert_eq!(nothing.to_string(), "0 requests completed in 400 us, expected at least 1");
    }

    #[test]
    fn a_run_is_the_same_again() {
        let timing = SmartTiming::usual().expect("valid");
        let outcome = || remote(&timing, Request::HostRead, 32, true).expect("it runs");
        assert_eq!(outcome(), outcome());
    }
}
