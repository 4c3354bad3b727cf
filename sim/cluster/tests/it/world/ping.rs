// SPDX-License-Identifier: MIT OR Apache-2.0
//! A protocol of a single message there and back, on hardware of round numbers.

use cluster::engine::{
    Class, Effects, Ending, Endpoint, Input, Instant, Machine, Moment, Node, NodeId, Part,
    Protocol, Span, Stage, TransactionId, Work,
};
use cluster_sim::faults::{Fate, Faults, FrameNote, Happening};
use cluster_sim::world::{Hardware, Options, World};
use timing::Time;

/// Each worker pings thread 0 of another node, one after the other, and waits for the echo.
#[derive(Clone, Debug)]
pub struct Ping {
    pub nodes: u16,
    pub threads: u8,
    pub class: Class,
    /// Bytes of a ping, at least 3.
    pub bytes: usize,
    /// Pings of each worker.
    pub pings: u32,
    /// A ping without an echo for so long is sent again.
    pub patience: Span,
}

impl Default for Ping {
    fn default() -> Self {
        let (class, patience) = (Class::Foreground, Span::from_us(50));
        Self { nodes: 2, threads: 1, class, bytes: 32, pings: u32::MAX, patience }
    }
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    me: Endpoint,
    settings: Ping,
    workers: Vec<Worker>,
    /// The clock at each burst.
    pub shown: Vec<Instant>,
    pub keep_shown: bool,
    /// The first numbers of pings from each other node, as they came.
    pub served: Vec<(NodeId, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Worker {
    finishes: bool,
    count: u32,
    waits_since: Option<Instant>,
}

const PING: u8 = 0;
const ECHO: u8 = 1;

impl Thread {
    fn target(&self, count: u32) -> Endpoint {
        let others = u32::from(self.settings.nodes - 1);
        let node =
            (u32::from(self.me.node.0) + 1 + count % others) % u32::from(self.settings.nodes);
        Endpoint::host(NodeId(node as u16), 0)
    }

    fn begin(&mut self, number: u8, now: Instant, out: &mut Effects) {
        let Part::HostThread(thread) = self.me.part else { return };
        let worker = &mut self.workers[usize::from(number)];
        if worker.finishes || worker.count >= self.settings.pings {
            worker.waits_since = None;
            return out.tell(Moment::Rests { worker: number });
        }
        worker.count += 1;
        let transaction = TransactionId::new(self.me.node, thread, number, worker.count);
        out.tell(Moment::Begun { transaction, kind: 0, again: false });
        self.ping(number, now, out);
    }

    fn ping(&mut self, number: u8, now: Instant, out: &mut Effects) {
        let worker = &mut self.workers[usize::from(number)];
        worker.waits_since = Some(now);
        let count = worker.count;
        let length = self.settings.bytes;
        out.send(self.target(count), self.settings.class, Stage::Execute, |bytes| {
            let start = bytes.len();
            bytes.extend([PING, number]);
            bytes.extend(count.to_le_bytes());
            bytes.resize(start + length.max(6), 0);
        });
        out.work(Work::Begin, 1);
    }

    fn message(&mut self, from: Endpoint, bytes: &[u8], now: Instant, out: &mut Effects) {
        let &[kind, number, a, b, c, d, ..] = bytes else { return };
        let count = u32::from_le_bytes([a, b, c, d]);
        if kind == PING {
            if self.keep_shown {
                self.served.push((from.node, count));
            }
            return out.send(from, self.settings.class, Stage::Primary, |to| {
                to.extend_from_slice(&[ECHO, number, a, b, c, d]);
            });
        }
        let Part::HostThread(thread) = self.me.part else { return };
        let worker = self.workers[usize::from(number)];
        if worker.waits_since.is_some() && worker.count == count {
            let transaction = TransactionId::new(self.me.node, thread, number, count);
            out.tell(Moment::Ended { transaction, ending: Ending::Committed });
            self.begin(number, now, out);
        }
    }
}

impl Machine for Thread {
    type Shared = u32;

    fn burst(&mut self, lives: &mut u32, now: Instant, inputs: &[Input<'_>], out: &mut Effects) {
        assert!(*lives > 0);
        if self.keep_shown {
            self.shown.push(now);
        }
        for input in inputs {
            match *input {
                Input::Message { from, bytes } => self.message(from, bytes, now, out),
                Input::Begin { worker } => {
                    self.workers[usize::from(worker)].finishes = false;
                    self.begin(worker, now, out);
                }
                Input::Finish { worker } => {
                    let state = &mut self.workers[usize::from(worker)];
                    state.finishes = true;
                    if state.waits_since.is_none() {
                        out.tell(Moment::Rests { worker });
                    }
                }
                Input::Deadline => {
                    for number in 0..self.workers.len() {
                        let since = self.workers[number].waits_since;
                        if since.is_some_and(|since| since + self.settings.patience <= now) {
                            self.ping(number as u8, now, out);
                        }
                    }
                }
                Input::Completed { .. } => {}
            }
        }
        out.ring_doorbell();
    }

    fn deadline(&self) -> Option<Instant> {
        let since = self.workers.iter().filter_map(|worker| worker.waits_since).min()?;
        Some(since + self.settings.patience)
    }
}

impl Ping {
    fn node(&self, node: NodeId, first_count: u32, lives: u32) -> Node<Thread> {
        let thread = |thread| Thread {
            me: Endpoint::host(node, thread),
            settings: self.clone(),
            workers: vec![Worker { finishes: false, count: first_count, waits_since: None }; 64],
            shown: Vec::new(),
            keep_shown: false,
            served: Vec::new(),
        };
        Node { shared: lives, parts: (0..self.threads).map(thread).collect() }
    }
}

impl Protocol for Ping {
    type Machine = Thread;

    fn nodes(&self) -> u16 {
        self.nodes
    }

    fn start(&self, node: NodeId) -> Node<Thread> {
        self.node(node, 0, 1)
    }

    fn restart(&self, node: NodeId, lives: u32) -> Node<Thread> {
        self.node(node, lives * 1_000_000, lives + 1)
    }

    fn manager(&self) -> Option<Node<Thread>> {
        None
    }

    fn check_at_rest(&self, up: &[(NodeId, &Node<Thread>)]) -> Result<(), String> {
        let workers = up.iter().flat_map(|(_, node)| &node.parts).flat_map(|part| &part.workers);
        match workers.filter(|worker| worker.waits_since.is_some()).count() {
            0 => Ok(()),
            count => Err(format!("{count} workers wait")),
        }
    }
}

/// Every piece of work takes 10 ns.
pub fn hardware() -> Hardware {
    Hardware::plain(Time::from_ns(10))
}

pub fn options(threads: u8, workers: u8) -> Options {
    Options { host_threads: threads, workers, ..Options::default() }
}

pub fn world(ping: Ping, workers: u8) -> World<Ping> {
    let options = options(ping.threads, workers);
    World::new(ping, hardware(), None, options).expect("they fit")
}

/// Faults by a list and a function.
pub struct Listed<F> {
    pub happenings: Vec<(Time, NodeId, Happening)>,
    pub fate: F,
}

impl<F: FnMut(Time, &FrameNote) -> Fate + Send> Faults for Listed<F> {
    fn happenings(&self) -> &[(Time, NodeId, Happening)] {
        &self.happenings
    }

    fn fate(&mut self, now: Time, frame: &FrameNote) -> Fate {
        (self.fate)(now, frame)
    }
}

pub fn faulty(
    ping: Ping,
    workers: u8,
    happenings: Vec<(Time, NodeId, Happening)>,
    fate: impl FnMut(Time, &FrameNote) -> Fate + Send + 'static,
) -> World<Ping> {
    let options = options(ping.threads, workers);
    let faults = Box::new(Listed { happenings, fate });
    World::new(ping, hardware(), Some(faults), options).expect("they fit")
}
