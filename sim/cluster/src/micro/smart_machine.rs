// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machines of the benchmarks of a SmartNIC: clients with a window of requests, the NIC's cores that
//! pass requests on or serve them, and host threads that echo.

use cluster::engine::{
    Class, Effects, Endpoint, Input, Instant, Machine, NodeId, Operation, Outcome, Part, Place,
    Stage, Token, Work,
};

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Request {
    /// The remote NIC sends the bytes back.
    NicEcho,
    /// The remote host sends the bytes back.
    HostEcho,
    /// The bytes are written to the remote NIC's memory.
    NicWrite,
    /// The bytes are written to the remote host's memory, by DMA.
    HostWrite,
    /// Bytes of the remote NIC's memory are read.
    NicRead,
    /// Bytes of the remote host's memory are read, by DMA.
    HostRead,
}

impl Request {
    const ALL: [Self; 6] = [
        Self::NicEcho,
        Self::HostEcho,
        Self::NicWrite,
        Self::HostWrite,
        Self::NicRead,
        Self::HostRead,
    ];

    fn carries_data(self) -> bool {
        !matches!(self, Self::NicRead | Self::HostRead)
    }
}

/// Added to the request's number in its answer.
const ANSWER: u8 = 0x80;
/// The thread of a client that runs on a core of the NIC.
const ON_NIC: u8 = u8::MAX;
/// Of the kind, the thread, the node and the number of a request.
const HEAD: usize = 6;
/// Of the NIC's memory that is written to and read from.
const MEMORY: usize = 1 << 16;

/// The head of a message.
#[derive(Clone, Copy, Debug)]
struct Head {
    kind: u8,
    thread: u8,
    node: u16,
    number: u16,
}

impl Head {
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (&[kind, thread, a, b, c, d], rest) = bytes.split_first_chunk::<HEAD>()?;
        let (node, number) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        Some((Self { kind, thread, node, number }, rest))
    }

    fn write(self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(&[self.kind, self.thread]);
        buffer.extend_from_slice(&self.node.to_le_bytes());
        buffer.extend_from_slice(&self.number.to_le_bytes());
    }

    fn request(self) -> Option<Request> {
        Request::ALL.into_iter().find(|it| *it as u8 == self.kind)
    }

    fn answer(self) -> Self {
        Self { kind: self.kind | ANSWER, ..self }
    }
}

/// What the parts of a node share: counts, and the NIC's memory.
#[derive(Clone, Debug)]
pub struct Board {
    /// Requests and operations of this node's clients that were answered.
    pub completed: u64,
    /// When the last of them was.
    pub last: Instant,
    /// Messages that could not be read, and operations that failed.
    pub bad: u64,
    memory: Vec<u8>,
}

impl Default for Board {
    fn default() -> Self {
        Self { completed: 0, last: Instant::default(), bad: 0, memory: vec![0; MEMORY] }
    }
}

impl Board {
    fn complete(&mut self, now: Instant) {
        self.completed += 1;
        self.last = now;
    }
}

/// A client.
#[derive(Clone, Debug)]
pub struct Client {
    /// Where it runs.
    pub at: Endpoint,
    /// Where its requests go first: a core of its own NIC, or of the other one from a NIC's core.
    pub to: Endpoint,
    /// What it asks for.
    pub request: Request,
    /// Bytes that are carried, written or read.
    pub bytes: u16,
    /// How many requests it has outstanding.
    pub window: u16,
    /// Whether it has begun, which it does in its first burst.
    pub begun: bool,
}

/// A core of a NIC that passes on what its host sends, and serves what comes from the network.
#[derive(Clone, Debug)]
pub struct Core {
    /// Where it runs.
    pub at: Endpoint,
    /// Where requests of its host go.
    pub target: NodeId,
    /// The threads of its host that echo.
    pub hosts: u8,
    waiting: Vec<Option<(Endpoint, Head)>>,
    free: Vec<u32>,
}

/// A core of a NIC that has operations on its host's memory outstanding all the time.
#[derive(Clone, Debug)]
pub struct Copier {
    /// Whether it reads.
    pub reads: bool,
    /// Bytes of each operation.
    pub bytes: u32,
    /// How many are outstanding.
    pub window: u32,
    /// Whether it goes on after the first ones.
    pub again: bool,
    /// Whether it has begun, which it does in its first burst.
    pub begun: bool,
}

/// One part of a node in a benchmark.
#[derive(Clone, Debug)]
pub enum SmartMachine {
    /// Asks.
    Client(Client),
    /// Passes on and serves.
    Core(Core),
    /// A host thread that echoes.
    Echo,
    /// Reads or writes its host's memory.
    Copier(Copier),
    /// Does nothing.
    Idle,
}

impl Core {
    /// One that has nothing under way.
    pub fn new(at: Endpoint, target: NodeId, hosts: u8) -> Self {
        Self { at, target, hosts, waiting: Vec::new(), free: Vec::new() }
    }

    fn number(&self) -> u8 {
        match self.at.part {
            Part::NicCore(number) => number,
            _ => 0,
        }
    }

    fn peer(&self, node: u16) -> Endpoint {
        Endpoint { node: NodeId(node), part: self.at.part }
    }

    fn message(&mut self, board: &mut Board, from: Endpoint, bytes: &[u8], out: &mut Effects) {
        out.work(Work::Receive, 1);
        let Some((head, rest)) = Head::read(bytes) else {
            board.bad += 1;
            return;
        };
        let from_host = from.node == self.at.node;
        if head.kind & ANSWER != 0 {
            let to = match from_host {
                true => self.peer(head.node),
                false => Endpoint::host(self.at.node, head.thread),
            };
            return pass_on(to, bytes, out);
        }
        match (head.request(), from_host) {
            (Some(_), true) => pass_on(self.peer(self.target.0), bytes, out),
            (Some(Request::HostEcho), false) if self.hosts > 0 => {
                let thread = self.number() % self.hosts;
                pass_on(Endpoint::host(self.at.node, thread), bytes, out);
            }
            (Some(request), false) => self.serve(board, request, (from, head), rest, out),
            (None, _) => board.bad += 1,
        }
    }

    fn serve(
        &mut self,
        board: &mut Board,
        request: Request,
        (from, head): (Endpoint, Head),
        rest: &[u8],
        out: &mut Effects,
    ) {
        let Some((address, data)) = rest.split_first_chunk::<8>() else {
            board.bad += 1;
            return;
        };
        let address = u64::from_le_bytes(*address);
        let length = match (request.carries_data(), data) {
            (true, _) => data.len(),
            (false, &[low, high]) => usize::from(u16::from_le_bytes([low, high])),
            (false, _) => {
                board.bad += 1;
                return;
            }
        };
        let start = (address as usize) % (MEMORY - usize::from(u16::MAX) / 2);
        let Some(place) = board.memory.get_mut(start..start + length) else {
            board.bad += 1;
            return;
        };
        match request {
            Request::NicEcho | Request::HostEcho => reply(from, head, rest, out),
            Request::NicWrite => {
                place.copy_from_slice(data);
                out.work(Work::CopyLine, lines(length));
                reply(from, head, &[], out);
            }
            Request::NicRead => {
                out.work(Work::CopyLine, lines(length));
                reply(from, head, place, out);
            }
            Request::HostWrite => {
                let token = self.keep(from, head);
                let write = |buffer: &mut Vec<u8>| buffer.extend_from_slice(data);
                out.operate(token, Place::Host, Operation::Write { at: address }, write);
            }
            Request::HostRead => {
                let token = self.keep(from, head);
                let operation = Operation::Read { at: address, length: length as u32 };
                out.operate(token, Place::Host, operation, |_| {});
            }
        }
    }

    fn keep(&mut self, from: Endpoint, head: Head) -> Token {
        let place = self.free.pop().unwrap_or_else(|| {
            self.waiting.push(None);
            self.waiting.len() as u32 - 1
        });
        self.waiting[place as usize] = Some((from, head));
        Token(place)
    }

    fn completed(
        &mut self,
        board: &mut Board,
        token: Token,
        outcome: Outcome,
        bytes: &[u8],
        out: &mut Effects,
    ) {
        let Some((from, head)) = self.waiting.get_mut(token.0 as usize).and_then(Option::take)
        else {
            return;
        };
        self.free.push(token.0);
        match outcome {
            Outcome::Done => reply(from, head, bytes, out),
            Outcome::Held(_) | Outcome::Failed => board.bad += 1,
        }
    }
}

/// Lines of 64 bytes.
fn lines(bytes: usize) -> u32 {
    bytes.div_ceil(64) as u32
}

fn pass_on(to: Endpoint, bytes: &[u8], out: &mut Effects) {
    let write = |buffer: &mut Vec<u8>| buffer.extend_from_slice(bytes);
    out.send(to, Class::Foreground, Stage::Micro, write);
}

fn reply(to: Endpoint, head: Head, data: &[u8], out: &mut Effects) {
    out.send(to, Class::Foreground, Stage::Micro, |buffer| {
        head.answer().write(buffer);
        buffer.extend_from_slice(data);
    });
}

impl Client {
    fn ask(&self, number: u16, out: &mut Effects) {
        let thread = match self.at.part {
            Part::HostThread(thread) => thread,
            _ => ON_NIC,
        };
        let head = Head { kind: self.request as u8, thread, node: self.at.node.0, number };
        out.send(self.to, Class::Foreground, Stage::Micro, |buffer| {
            head.write(buffer);
            let place = usize::from(number) * 256 % (MEMORY / 4);
            buffer.extend_from_slice(&(place as u64).to_le_bytes());
            match self.request.carries_data() {
                true => buffer.resize(buffer.len() + usize::from(self.bytes), number as u8),
                false => buffer.extend_from_slice(&self.bytes.to_le_bytes()),
            }
        });
    }

    fn burst(&mut self, board: &mut Board, now: Instant, inputs: &[Input<'_>], out: &mut Effects) {
        if !std::mem::replace(&mut self.begun, true) {
            (0..self.window).for_each(|number| self.ask(number, out));
        }
        for input in inputs {
            let Input::Message { bytes, .. } = *input else { continue };
            out.work(Work::Receive, 1);
            match Head::read(bytes) {
                Some((head, _)) if head.kind == self.request as u8 | ANSWER => {
                    board.complete(now);
                    self.ask(head.number, out);
                }
                _ => board.bad += 1,
            }
        }
        out.ring_doorbell();
    }
}

impl Copier {
    fn operate(&self, number: u32, out: &mut Effects) {
        let at = u64::from(number % 64) * 4096;
        let operation = match self.reads {
            true => Operation::Read { at, length: self.bytes },
            false => Operation::Write { at },
        };
        out.operate(Token(number), Place::Host, operation, |buffer| {
            if !self.reads {
                buffer.resize(buffer.len() + self.bytes as usize, number as u8);
            }
        });
    }
}

impl Machine for SmartMachine {
    type Shared = Board;

    fn burst(&mut self, board: &mut Board, now: Instant, inputs: &[Input<'_>], out: &mut Effects) {
        match self {
            Self::Client(client) => client.burst(board, now, inputs, out),
            Self::Core(core) => {
                for input in inputs {
                    match *input {
                        Input::Message { from, bytes } => core.message(board, from, bytes, out),
                        Input::Completed { token, outcome, bytes } => {
                            core.completed(board, token, outcome, bytes, out);
                        }
                        Input::Begin { .. } | Input::Finish { .. } | Input::Deadline => {}
                    }
                }
            }
            Self::Echo => {
                for input in inputs {
                    let Input::Message { from, bytes } = *input else { continue };
                    out.work(Work::Receive, 1);
                    match Head::read(bytes) {
                        Some((head, data)) => reply(from, head, data, out),
                        None => board.bad += 1,
                    }
                }
            }
            Self::Copier(copier) => {
                if !std::mem::replace(&mut copier.begun, true) {
                    (0..copier.window).for_each(|number| copier.operate(number, out));
                }
                for input in inputs {
                    match *input {
                        Input::Completed { token, outcome: Outcome::Done, .. } => {
                            board.complete(now);
                            if copier.again {
                                copier.operate(token.0, out);
                            }
                        }
                        Input::Completed { .. } => board.bad += 1,
                        _ => {}
                    }
                }
            }
            Self::Idle => {}
        }
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}
