// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many small copies between host and NIC memory, gathered into vectors (Xenic, 3.5 and 4.3.1).
//!
//! Eight queues take elements. Each has an open vector of reads and one of writes, which is *sent* when
//! it has 15 elements, when its queue was without a new element for the idle time, or when its oldest
//! element has waited for the flush time. One sent vector of each queue and direction waits for
//! its turn; until all its elements are *begun*, the next one fills further. Vectors take turns, queue by
//! queue; elements of one queue and direction are begun in the order in which they were accepted.
//! They complete in any order.
//!
//! Time is given in clocks. What happens in one clock goes in this order: [`Vectorizer::begin`] at most
//! once for each direction, [`Vectorizer::accept`] at most once for each queue, [`Vectorizer::send`].
//! `hw/rtl/nic/dma_vectorizer.sv` is the same in hardware, clock by clock.

mod pieces;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

pub use pieces::{PIECE, Piece, Pieces};

/// Queues of a vectorizer, as many as the DMA engine of Xenic's NIC has (3.5).
pub const QUEUES: usize = 8;
/// The most elements of a vector (Xenic, 3.5).
pub const VECTOR: usize = 15;
/// The most bytes of an element.
pub const LARGEST: u16 = 4096;
/// Bytes of a page: no burst crosses its end.
pub const PAGE: u64 = 4096;

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From host memory to NIC memory.
    Read,
    /// From NIC memory to host memory.
    Write,
}

impl Direction {
    /// Both, in the order of the hardware's numbers.
    pub const ALL: [Direction; 2] = [Direction::Read, Direction::Write];
}

/// A copy, as a caller asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// Comes back with the completion. The machine does not look at it.
    pub token: u16,
    /// Which way.
    pub direction: Direction,
    /// Address of its first byte in host memory.
    pub host: u64,
    /// Address of its first byte in NIC memory.
    pub nic: u64,
    /// Its length, 1 to [`LARGEST`]; others are refused when they are begun.
    pub bytes: u16,
}

/// The response of a bus to an access, with AXI's numbers. The greater one is the worse one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Response {
    /// All bytes were copied.
    #[default]
    Okay = 0,
    /// SLVERR: memory refused an access, or the length is 0 or above [`LARGEST`].
    SubordinateError = 2,
    /// DECERR: nothing is at an address, or a byte is outside a window.
    DecodeError = 3,
}

/// The pages that elements may touch on one side, from the first to the last. Empty if the first is
/// after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// Number of the first page: its address over [`PAGE`].
    pub first: u64,
    /// Number of the last page, which is inside.
    pub last: u64,
}

impl Window {
    /// All pages that there are.
    pub const ALL: Window = Window { first: 0, last: u64::MAX / PAGE };

    /// Whether all these bytes, at most [`LARGEST`] and at least one, are in the window.
    #[must_use]
    pub fn holds(&self, address: u64, bytes: u16) -> bool {
        let end = address.checked_add(u64::from(bytes) - 1);
        end.is_some_and(|end| address / PAGE >= self.first && end / PAGE <= self.last)
    }
}

/// What software sets before it hands elements over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Clocks without a new element after which a queue sends its vectors; 0 is as 1.
    pub idle_time: u16,
    /// The most clocks that an element waits in an open vector while no sent one is in its way; 0 is as 1.
    pub flush_time: u16,
    /// Where elements may be in host memory.
    pub host: Window,
    /// Where elements may be in NIC memory.
    pub nic: Window,
}

/// Why a vector was sent. When several reasons hold in a clock, the first of this list is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// It has [`VECTOR`] elements.
    Full,
    /// Its oldest element has waited for the flush time.
    Flushed,
    /// Its queue had no new element for the idle time.
    Idle,
}

/// A vector that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sent {
    /// Its queue.
    pub queue: usize,
    /// The direction of all its elements.
    pub direction: Direction,
    /// How many, 1 to [`VECTOR`].
    pub elements: usize,
    /// Why.
    pub reason: Reason,
}

/// An element that the machine accepted, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// What becomes of an element whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Begun {
    /// It is carried out now, piece by piece ([`Pieces`]), and ends with [`Vectorizer::finish`].
    Copy {
        /// For `finish`.
        ticket: Ticket,
        /// The queue that it came by.
        queue: usize,
        /// The copy.
        element: Element,
    },
    /// It may not be carried out, and has ended.
    Refused(Completion),
}

/// The end of an element. Each accepted element has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Completion {
    /// The caller's.
    pub token: u16,
    /// The queue that it came by.
    pub queue: usize,
    /// The worst response to any of its accesses. After an error its target has some of the new bytes.
    pub response: Response,
}

/// Why an element was not accepted. The machine is as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AcceptError {
    /// No such queue.
    #[error("queue {0}, expected 0 to 7")]
    UnknownQueue(usize),
    /// An open vector of the queue is full, and the one before it was not begun whole.
    #[error("queue {0} has a full vector, expected room for an element")]
    NoRoom(usize),
}

/// An element ended that is not under way. The machine is as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("element {} ended, expected one that was begun and has not ended", .0.0)]
pub struct UnknownElement(pub Ticket);

/// The elements of one queue and direction that were not begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Fill {
    /// Those of the sent vector, then those of the open one.
    elements: VecDeque<(Ticket, Element)>,
    /// How many of them are of the sent vector.
    sent: usize,
    /// The clock in which the oldest of the open ones was accepted.
    since: u64,
}

impl Fill {
    fn open(&self) -> usize {
        self.elements.len() - self.sent
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Queue {
    fills: [Fill; 2],
    /// The clock in which it last accepted an element.
    last: u64,
}

/// Whose turn it is in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Turn {
    /// The queue of the last element that was begun.
    queue: usize,
    /// Its vector has more of them.
    inside: bool,
}

/// The machine. See the [module](self).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Vectorizer {
    config: Config,
    queues: [Queue; QUEUES],
    turns: [Turn; 2],
    accepted: u64,
    /// Queue and token of each element that was begun and has not ended.
    under_way: BTreeMap<Ticket, (usize, u16)>,
}

impl Vectorizer {
    /// One without elements.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let (queues, turns, under_way) = Default::default();
        Self { config, queues, turns, accepted: 0, under_way }
    }

    /// Whether the queue accepts an element, of either direction.
    ///
    /// # Panics
    /// When there is no such queue.
    #[must_use]
    pub fn has_room(&self, queue: usize) -> bool {
        self.queues[queue].fills.iter().all(|fill| fill.open() < VECTOR)
    }

    /// Accepts an element in this clock.
    ///
    /// # Errors
    /// When there is no such queue, or it has no room ([`Self::has_room`]).
    pub fn accept(
        &mut self,
        now: u64,
        queue: usize,
        element: Element,
    ) -> Result<Ticket, AcceptError> {
        if queue >= QUEUES {
            return Err(AcceptError::UnknownQueue(queue));
        }
        if !self.has_room(queue) {
            return Err(AcceptError::NoRoom(queue));
        }
        let ticket = Ticket(self.accepted);
        self.accepted += 1;
        let queue = &mut self.queues[queue];
        queue.last = now;
        let fill = &mut queue.fills[element.direction as usize];
        if fill.open() == 0 {
            fill.since = now;
        }
        fill.elements.push_back((ticket, element));
        Ok(ticket)
    }

    /// Sends the vectors that are due in this clock, each after the one before was begun whole.
    pub fn send(&mut self, now: u64) -> Vec<Sent> {
        let mut all = Vec::new();
        for queue in 0..QUEUES {
            for direction in Direction::ALL {
                let Some(reason) = self.reason(now, queue, direction) else { continue };
                let fill = &mut self.queues[queue].fills[direction as usize];
                fill.sent = fill.elements.len();
                all.push(Sent { queue, direction, elements: fill.sent, reason });
            }
        }
        all
    }

    fn reason(&self, now: u64, queue: usize, direction: Direction) -> Option<Reason> {
        let queue = &self.queues[queue];
        let fill = &queue.fills[direction as usize];
        if fill.sent > 0 || fill.open() == 0 {
            return None;
        }
        let waited = |since: u64, time: u16| now - since >= u64::from(time.max(1));
        if fill.open() == VECTOR {
            Some(Reason::Full)
        } else if waited(fill.since, self.config.flush_time) {
            Some(Reason::Flushed)
        } else if waited(queue.last, self.config.idle_time) {
            Some(Reason::Idle)
        } else {
            None
        }
    }

    /// The clock in which [`Self::send`] next sends something if nothing else happens; none if it does not.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        let due = self.queues.iter().flat_map(|queue| {
            let waiting = queue.fills.iter().filter(|fill| fill.sent == 0 && fill.open() > 0);
            waiting.map(|fill| match fill.open() {
                VECTOR => queue.last,
                _ => {
                    let flush = fill.since + u64::from(self.config.flush_time.max(1));
                    flush.min(queue.last + u64::from(self.config.idle_time.max(1)))
                }
            })
        });
        due.min()
    }

    /// Begins the next element of a direction: of the vector that is under way, or else of the next
    /// queue's, in circles. None if no vector was sent.
    pub fn begin(&mut self, direction: Direction) -> Option<Begun> {
        let way = direction as usize;
        let queue = self.turn(direction)?;
        let fill = &mut self.queues[queue].fills[way];
        let (ticket, element) = fill.elements.pop_front().expect("a sent vector has elements");
        fill.sent -= 1;
        self.turns[way] = Turn { queue, inside: fill.sent > 0 };
        let token = element.token;
        Some(match self.refusal(&element) {
            Some(response) => Begun::Refused(Completion { token, queue, response }),
            None => {
                self.under_way.insert(ticket, (queue, token));
                Begun::Copy { ticket, queue, element }
            }
        })
    }

    /// The queue whose element [`Self::begin`] takes.
    #[must_use]
    pub fn turn(&self, direction: Direction) -> Option<usize> {
        let Turn { queue: last, inside } = self.turns[direction as usize];
        let mut circle = (1..=QUEUES).map(|step| (last + step) % QUEUES);
        match inside {
            true => Some(last),
            false => circle.find(|queue| self.queues[*queue].fills[direction as usize].sent > 0),
        }
    }

    /// Why an element may not be carried out, if so. The length comes first.
    #[must_use]
    pub fn refusal(&self, element: &Element) -> Option<Response> {
        let &Element { host, nic, bytes, .. } = element;
        if bytes == 0 || bytes > LARGEST {
            return Some(Response::SubordinateError);
        }
        let inside = self.config.host.holds(host, bytes) && self.config.nic.holds(nic, bytes);
        (!inside).then_some(Response::DecodeError)
    }

    /// Ends an element that was begun, with the worst response to its accesses.
    ///
    /// # Errors
    /// When it is not under way.
    pub fn finish(
        &mut self,
        ticket: Ticket,
        response: Response,
    ) -> Result<Completion, UnknownElement> {
        let (queue, token) = self.under_way.remove(&ticket).ok_or(UnknownElement(ticket))?;
        Ok(Completion { token, queue, response })
    }

    /// Whether all elements have ended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let waiting = self.queues.iter().flat_map(|queue| &queue.fills);
        self.under_way.is_empty() && waiting.into_iter().all(|fill| fill.elements.is_empty())
    }
}
