// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connection to one client, as the serving thread and the device's own threads share it.
//!
//! Both directions carry requests: the client's, which the serving thread takes one after the other,
//! and ours for the client's memory, from any thread. A thread that waits for a message while no
//! other thread reads does the reading for all: it hands replies to the threads that await them and
//! keeps requests for the serving thread. So a device may reach the client's memory from within a
//! callback, where the serving thread itself must read, as well as from a thread of its own, while
//! the serving thread reads.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rustix::event::PollFlags;
use rustix::io::Errno;

use super::acceptor::{Acceptor, Woken};
use super::backlog::Backlog;
use super::{Ending, ServerOptions};
use crate::deadline::Deadline;
use crate::error::Error;
use crate::message::{Capabilities, DmaAccess, DmaRange, Kind, Reply, Request, size_limit};
use crate::transport::{Message, Progress, Receiver, Socket, encode};

/// Requests for memory that the client may leave unanswered before it counts as broken.
const ABANDONED: usize = 64;

/// A request of ours to the client.
#[derive(Debug)]
enum Awaited {
    Waiting,
    Answered(Message),
    /// Nobody waits any more; the reply, if it comes, is dropped.
    Abandoned,
}

#[derive(Debug, Default)]
struct State {
    /// Somebody reads the socket, and will say so when it stops.
    reading: bool,
    backlog: Backlog,
    awaited: BTreeMap<u16, Awaited>,
    next_id: u16,
    /// What the client takes, once it has said so.
    capabilities: Option<Capabilities>,
    /// The session is over, or must be: by [`Link::close`], or for what a reader found.
    closed: bool,
    failure: Option<Error>,
}

#[derive(Debug)]
pub(super) struct Link {
    socket: Socket,
    timeout: Duration,
    spin: Duration,
    max_transfer: u32,
    /// Held while a message is sent; what is encoded into.
    sending: Mutex<Vec<u8>>,
    /// Locked by whoever set `reading`, so never contended.
    receiver: Mutex<Receiver>,
    state: Mutex<State>,
    changed: Condvar,
}

impl Link {
    pub(super) fn new(stream: OwnedFd, options: &ServerOptions) -> Result<Arc<Self>, Error> {
        Ok(Arc::new(Self {
            socket: Socket::new(stream)?,
            timeout: options.timeout,
            spin: options.spin,
            max_transfer: options.max_transfer,
            sending: Mutex::new(Vec::new()),
            receiver: Mutex::new(Receiver::new(size_limit(options.max_transfer))),
            state: Mutex::default(),
            changed: Condvar::new(),
        }))
    }

    /// The client takes what it has said.
    pub(super) fn agree(&self, capabilities: Capabilities) {
        self.state.lock().capabilities = Some(capabilities);
    }

    /// Ends the session: whoever waits for memory learns it, and the client too.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
        self.socket.shut_down();
    }

    /// Sends a message; `fill` appends the payload.
    pub(super) fn send(
        &self,
        id: u16,
        command: u16,
        kind: Kind,
        files: &[BorrowedFd<'_>],
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Error> {
        let deadline = Deadline::after(self.timeout);
        let mut buffer = self.sending.lock();
        encode(&mut buffer, id, command, kind, fill);
        self.socket.send(&buffer, files, deadline)
    }

    /// The client's next request. The first must come within the bound, if `first`.
    pub(super) fn next_request(
        &self,
        acceptor: &mut Acceptor<'_>,
        first: bool,
    ) -> Result<Message, Ending> {
        let deadline = first.then(|| Deadline::after(self.timeout));
        let mut state = self.state.lock();
        loop {
            if let Some(request) = state.backlog.pop() {
                return Ok(request);
            }
            if let Some(failure) = state.failure.take() {
                return Err(Ending::of(failure));
            }
            if state.reading {
                // Its reader stops within its own bound, and says so.
                self.changed.wait(&mut state);
                continue;
            }
            state.reading = true;
            drop(state);
            let outcome = self.read_for_session(acceptor, deadline);
            state = self.state.lock();
            state.reading = false;
            self.changed.notify_all();
            if let Some(failure) = state.failure.take() {
                return Err(Ending::of(failure));
            }
            match outcome? {
                message if matches!(message.header.kind, Kind::Request { .. }) => {
                    return Ok(message);
                }
                message => self.file(&mut state, message).map_err(Ending::Failed)?,
            }
        }
    }

    /// Reads a message, for which the client may take its time.
    fn read_for_session(
        &self,
        acceptor: &mut Acceptor<'_>,
        first: Option<Deadline>,
    ) -> Result<Message, Ending> {
        const FIRST: &str = "a client's first message";
        const IDLE: &str = "the rest of a message";
        let mut receiver = self.receiver.lock();
        let client = self.socket.as_fd();
        if acceptor.glance(client).map_err(Ending::Failed)? == Woken::Stop {
            return Err(Ending::Stopped);
        }
        let mut deadline = None;
        let spin_until = Instant::now() + self.spin;
        loop {
            let begun = match receiver.advance(&self.socket).map_err(Ending::of)? {
                Progress::Whole(message) => return Ok(message),
                Progress::Waiting { begun } => begun,
            };
            if begun && deadline.is_none() {
                deadline = Some(Deadline::after(self.timeout));
            }
            if !begun && Instant::now() < spin_until {
                std::thread::yield_now();
                continue;
            }
            let bound = deadline.map(|at| (at, IDLE)).or(first.map(|at| (at, FIRST)));
            let at_most = bound.map(|(at, what)| at.timespec(what)).transpose();
            let at_most = at_most.map_err(Ending::Failed)?;
            match acceptor.wait(Some(client), at_most).map_err(Ending::Failed)? {
                Woken::Stop => return Err(Ending::Stopped),
                Woken::Look => {}
            }
        }
    }

    /// Puts a message where it is looked for.
    fn file(&self, state: &mut State, message: Message) -> Result<(), Error> {
        let header = message.header;
        if let Kind::Request { .. } = header.kind {
            return state.backlog.push(message);
        }
        match state.awaited.get_mut(&header.id) {
            Some(slot @ Awaited::Waiting) => *slot = Awaited::Answered(message),
            Some(Awaited::Abandoned) => {
                state.awaited.remove(&header.id);
            }
            Some(Awaited::Answered(_)) | None => {
                let expected = "of a request that awaits its reply";
                return Err(Error::malformed(header.describe(), "id", header.id, expected));
            }
        }
        Ok(())
    }

    /// Sends a request for memory and waits for its reply.
    fn ask(&self, request: &Request<'_>) -> Result<Message, Errno> {
        let deadline = Deadline::after(self.timeout);
        let id = self.new_id()?;
        let command = request.command() as u16;
        let kind = Kind::Request { no_reply: false };
        if let Err(error) = self.send(id, command, kind, &[], |out| request.encode(out)) {
            let mut state = self.state.lock();
            state.awaited.remove(&id);
            return Err(self.fail(&mut state, error));
        }
        let message = self.await_reply(id, deadline)?;
        if message.header.command != command || !message.files.is_empty() {
            let described = message.header.describe();
            let error = Error::malformed(described, "command or descriptors", "others", "as asked");
            return Err(self.fail(&mut self.state.lock(), error));
        }
        match message.header.kind {
            Kind::Reply { error: None } => Ok(message),
            Kind::Reply { error: Some(errno @ 1..4096) } => {
                Err(Errno::from_raw_os_error(errno as i32))
            }
            _ => Err(Errno::IO),
        }
    }

    fn new_id(&self) -> Result<u16, Errno> {
        let mut state = self.state.lock();
        if state.closed || state.failure.is_some() {
            return Err(Errno::NOTCONN);
        }
        // Half of all at most are awaited (see `give_up`, and each thread waits for one), so this
        // ends.
        if state.awaited.len() >= usize::from(u16::MAX / 2) {
            return Err(Errno::BUSY);
        }
        while state.awaited.contains_key(&state.next_id) {
            state.next_id = state.next_id.wrapping_add(1);
        }
        let id = state.next_id;
        state.next_id = id.wrapping_add(1);
        state.awaited.insert(id, Awaited::Waiting);
        Ok(id)
    }

    /// Waits for the reply to `id`; reads if nobody else does.
    fn await_reply(&self, id: u16, deadline: Deadline) -> Result<Message, Errno> {
        let mut state = self.state.lock();
        loop {
            if let Some(Awaited::Answered(_)) = state.awaited.get(&id) {
                let Some(Awaited::Answered(message)) = state.awaited.remove(&id) else {
                    unreachable!("it has just been looked at, under the lock");
                };
                return Ok(message);
            }
            if state.closed || state.failure.is_some() {
                state.awaited.remove(&id);
                return Err(Errno::NOTCONN);
            }
            if deadline.left().is_zero() {
                return Err(self.give_up(&mut state, id));
            }
            if state.reading {
                self.changed.wait_for(&mut state, deadline.left());
                continue;
            }
            state.reading = true;
            drop(state);
            let outcome = self.read_within(deadline);
            state = self.state.lock();
            state.reading = false;
            self.changed.notify_all();
            let filed = match outcome {
                Ok(Some(message)) => self.file(&mut state, message),
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = filed {
                state.awaited.remove(&id);
                return Err(self.fail(&mut state, error));
            }
        }
    }

    /// Reads a message if one comes in time.
    fn read_within(&self, deadline: Deadline) -> Result<Option<Message>, Error> {
        let mut receiver = self.receiver.lock();
        loop {
            if let Progress::Whole(message) = receiver.advance(&self.socket)? {
                return Ok(Some(message));
            }
            match self.socket.wait(PollFlags::IN, deadline, "the client's memory") {
                Ok(()) => {}
                Err(Error::Timeout { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    fn give_up(&self, state: &mut State, id: u16) -> Errno {
        state.awaited.insert(id, Awaited::Abandoned);
        let abandoned = state.awaited.values().filter(|a| matches!(a, Awaited::Abandoned)).count();
        if abandoned > ABANDONED {
            let waited_for = "the client's memory, too many times";
            self.fail(state, Error::Timeout { waited_for, bound: self.timeout });
        }
        Errno::TIMEDOUT
    }

    /// The session must end; the serving thread learns why when it next looks for a request.
    fn fail(&self, state: &mut State, error: Error) -> Errno {
        state.failure.get_or_insert(error);
        self.changed.notify_all();
        // Wakes the serving thread, if it reads.
        self.socket.shut_down();
        Errno::NOTCONN
    }
}

impl Ending {
    fn of(error: Error) -> Self {
        match error {
            Error::Closed { during: crate::transport::BETWEEN } => Self::Left,
            error => Self::Failed(error),
        }
    }
}

/// The client's memory by message, where a map carried no descriptor. Clones reach the same client,
/// from any thread, until it has left.
///
/// A device that waits for memory from within a callback holds up the client's call, so a client that
/// answers only between its calls lets it wait in vain. Better is a thread of its own. QEMU is not
/// asked at all: it lays these messages out in its own way ([`Capabilities::qemu`]).
#[derive(Debug, Clone)]
pub struct RemoteMemory(Arc<Link>);

impl RemoteMemory {
    pub(super) fn new(link: Arc<Link>) -> Self {
        Self(link)
    }

    /// Reads from device address `address`, in parts of what the client takes.
    ///
    /// # Errors
    /// The client refused (its error number), answered nonsense (`EIO`) or not in time
    /// (`ETIMEDOUT`), is gone (`ENOTCONN`), or is QEMU (`EOPNOTSUPP`); `EINVAL` if the range wraps
    /// round.
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<(), Errno> {
        let transfer = self.transfer(address, data.len())?;
        let mut address = address;
        for part in data.chunks_mut(transfer) {
            let access = DmaAccess { address, count: part.len() as u64 };
            let request = Request::DmaRead(access);
            let message = self.0.ask(&request)?;
            match Reply::decode(request.command(), &message.payload) {
                Ok(Reply::DmaRead(answered, bytes)) if answered == access => {
                    part.copy_from_slice(bytes);
                }
                _ => return Err(Errno::IO),
            }
            address = address.wrapping_add(part.len() as u64);
        }
        Ok(())
    }

    /// Writes to device address `address`, in parts of what the client takes.
    ///
    /// # Errors
    /// As [`Self::read`]; parts before the one that failed have been written.
    pub fn write(&self, address: u64, data: &[u8]) -> Result<(), Errno> {
        let transfer = self.transfer(address, data.len())?;
        let mut address = address;
        for part in data.chunks(transfer) {
            let access = DmaAccess { address, count: part.len() as u64 };
            let request = Request::DmaWrite(access, part);
            let message = self.0.ask(&request)?;
            match Reply::decode(request.command(), &message.payload) {
                Ok(Reply::Done(_)) => {}
                Ok(Reply::DmaWrite(answered)) if answered == access => {}
                _ => return Err(Errno::IO),
            }
            address = address.wrapping_add(part.len() as u64);
        }
        Ok(())
    }

    fn transfer(&self, address: u64, size: usize) -> Result<usize, Errno> {
        if size > 0 {
            let range = DmaRange { address, size: size as u64 };
            range.last().map_err(|_| Errno::INVAL)?;
        }
        match self.0.state.lock().capabilities {
            Some(client) if client.qemu => Err(Errno::OPNOTSUPP),
            Some(client) => Ok(client.transfer(self.0.max_transfer) as usize),
            None => Err(Errno::NOTCONN),
        }
    }
}
