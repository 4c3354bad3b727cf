// SPDX-License-Identifier: MIT OR Apache-2.0
//! The side that uses a device.

mod memory;
mod region;

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use self::memory::LentMemory;
use self::region::checked_region;
use crate::deadline::Deadline;
use crate::device::{DeviceInfo, IrqAction, IrqInfo};
use crate::error::Error;
use crate::message::fields::same;
use crate::message::{
    Capabilities, Command, DEFAULT_TRANSFER, DmaRange, FieldError, Kind, MAJOR, MAX_TRANSFER,
    MINOR, REGION_INFO_LIMIT, RegionAccess, Reply, Request, SetIrqs, SetIrqsData, Version,
    size_limit,
};
use crate::transport::{Message, Progress, Receiver, Socket, encode};

pub use self::memory::GuestMemory;
pub use self::region::RegionInfo;

/// How a client behaves.
#[derive(Debug, Clone)]
pub struct Options {
    /// Bound of each message and its reply. An access that is split takes it for each of its parts.
    pub timeout: Duration,
    /// Largest count of one read or write message, bytes, 1 to [`MAX_TRANSFER`]; larger accesses are
    /// split. The server may lower it.
    pub max_transfer: u32,
    /// How long to look for the reply again and again before sleeping until it comes.
    pub spin: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(5),
            max_transfer: DEFAULT_TRANSFER,
            spin: Duration::from_micros(20),
        }
    }
}

/// A connection to a server. Its calls wait for the reply, each within the bound of
/// [`Options::timeout`], and answer what the server asks for meanwhile.
///
/// After a failure that leaves the link in an unknown state (a broken rule, a bound exceeded), every
/// later call returns [`Error::Poisoned`] at once. A refusal by the server is no such failure.
pub struct Client {
    socket: Socket,
    receiver: Receiver,
    options: Options,
    /// Largest count of a read or write message that both sides take.
    transfer: u32,
    /// Descriptors that the server takes in one message.
    descriptors: usize,
    next_id: u16,
    buffer: Vec<u8>,
    memory: LentMemory,
    poisoned: Option<String>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("socket", &self.socket)
            .field("options", &self.options)
            .field("poisoned", &self.poisoned)
            .finish_non_exhaustive()
    }
}

impl AsFd for Client {
    /// Readable when the server asks for memory; see [`Client::answer_pending`].
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Client {
    /// Connects to the socket at `path` and agrees upon version and limits.
    ///
    /// # Errors
    /// - [`Error::NotASocket`]: the path names something else.
    /// - [`Error::Socket`]: nothing is there, nobody listens, no permission.
    /// - [`Error::Refused`]: the server has another client (`EBUSY`), or does not like the version.
    /// - [`Error::Version`]: the server's version differs.
    pub fn connect(path: &Path, options: Options) -> Result<Self, Error> {
        let failed = |errno: Errno| Error::Socket {
            action: "connect to",
            path: path.into(),
            source: errno.into(),
        };
        let status = rustix::fs::stat(path).map_err(failed)?;
        if FileType::from_raw_mode(status.st_mode) != FileType::Socket {
            return Err(Error::NotASocket { path: path.into() });
        }
        let address = SocketAddrUnix::new(path).map_err(failed)?;
        let deadline = Deadline::after(options.timeout);
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let stream = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
            .map_err(|errno| Error::io("make a socket", errno))?;
        // A full queue of connections says `EAGAIN`, and cannot be waited for but by trying again.
        while let Err(errno) = connect(&stream, &address) {
            match errno {
                Errno::AGAIN | Errno::INTR => deadline.check("the server to accept")?,
                errno => return Err(failed(errno)),
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Self::over(stream, options)
    }

    /// Agrees upon version and limits over a connected stream socket.
    ///
    /// # Errors
    /// As [`Self::connect`].
    pub fn over(stream: OwnedFd, options: Options) -> Result<Self, Error> {
        let options =
            Options { max_transfer: options.max_transfer.clamp(1, MAX_TRANSFER), ..options };
        let mut client = Self {
            socket: Socket::new(stream)?,
            receiver: Receiver::new(size_limit(options.max_transfer)),
            transfer: options.max_transfer,
            descriptors: 1,
            options,
            next_id: 0,
            buffer: Vec::new(),
            memory: LentMemory::default(),
            poisoned: None,
        };
        client.negotiate()?;
        Ok(client)
    }

    fn negotiate(&mut self) -> Result<(), Error> {
        let capabilities = Capabilities::ours(self.options.max_transfer);
        let ours = Version { major: MAJOR, minor: MINOR, capabilities };
        let message = self.call(&Request::Version(ours), &[])?;
        let Reply::Version(theirs) = self.decode(Command::Version, &message)? else {
            unreachable!("the reply to a command decodes as that command's");
        };
        if theirs.major != MAJOR || theirs.minor > MINOR {
            return Err(Error::Version { major: theirs.major, minor: theirs.minor });
        }
        self.transfer = theirs.capabilities.transfer(self.options.max_transfer);
        self.descriptors = theirs.capabilities.descriptors();
        Ok(())
    }

    /// Largest count of one read or write message that was agreed upon, bytes.
    pub fn max_transfer(&self) -> u32 {
        self.transfer
    }

    /// Answers the server's requests for memory with `memory` from now on; until then they are
    /// refused. Only accesses inside a map, and allowed by it, get there.
    pub fn set_guest_memory(&mut self, memory: Box<dyn GuestMemory + Send>) {
        self.memory.set(memory);
    }

    /// Answers what the server has asked for, without waiting for more. Calls do so while they wait;
    /// this is for the time in between. After the bound it returns also if the server asks on and on.
    ///
    /// # Errors
    /// The server broke the rules, closed the connection, or does not take the answer in time.
    pub fn answer_pending(&mut self) -> Result<(), Error> {
        self.guarded(|client| {
            let end = Deadline::after(client.options.timeout);
            while !end.left().is_zero() {
                let deadline = Deadline::after(client.options.timeout);
                match client.receiver.advance(&client.socket)? {
                    Progress::Whole(message) => client.answer(&message, deadline)?,
                    Progress::Waiting { begun: false } => break,
                    Progress::Waiting { begun: true } => {
                        let message = client.receive(deadline)?;
                        client.answer(&message, deadline)?;
                    }
                }
            }
            Ok(())
        })
    }

    /// What the device is.
    ///
    /// # Errors
    /// Any of [`Error`]'s about the link.
    pub fn device_info(&mut self) -> Result<DeviceInfo, Error> {
        let message = self.call(&Request::DeviceGetInfo, &[])?;
        match self.decode(Command::DeviceGetInfo, &message)? {
            Reply::DeviceInfo(info) => Ok(info),
            _ => unreachable!("the reply to a command decodes as that command's"),
        }
    }

    /// Describes region `index`.
    ///
    /// # Errors
    /// Any of [`Error`]'s about the link.
    pub fn region_info(&mut self, index: u32) -> Result<RegionInfo, Error> {
        const COMMAND: Command = Command::DeviceGetRegionInfo;
        let request = Request::DeviceGetRegionInfo { index, argsz: REGION_INFO_LIMIT };
        let mut message = self.call(&request, &[])?;
        let Reply::RegionInfo(region) = self.decode(COMMAND, &message)? else {
            unreachable!("the reply to a command decodes as that command's");
        };
        self.rule(COMMAND, checked_region(index, region, &mut message.files))
    }

    /// Describes the interrupts of kind `index`.
    ///
    /// # Errors
    /// Any of [`Error`]'s about the link.
    pub fn irq_info(&mut self, index: u32) -> Result<IrqInfo, Error> {
        const COMMAND: Command = Command::DeviceGetIrqInfo;
        let message = self.call(&Request::DeviceGetIrqInfo { index }, &[])?;
        let Reply::IrqInfo(answered, info) = self.decode(COMMAND, &message)? else {
            unreachable!("the reply to a command decodes as that command's");
        };
        self.rule(COMMAND, same("index", answered, index))?;
        Ok(info)
    }

    /// Connects event descriptors to interrupts from `start` on; where there is `None`, disconnects
    /// the interrupt. Sent in as many messages as the server's limits want; if one is refused, those
    /// before it stay in force. Whoever reads a descriptor should say "do not wait" with each read
    /// (`preadv2` with `RWF_NOWAIT`): the server has the same open file and can clear `O_NONBLOCK`.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the range leaves 32 bits; any about the link.
    pub fn set_irqs(
        &mut self,
        index: u32,
        start: u32,
        files: &[Option<BorrowedFd<'_>>],
        action: IrqAction,
    ) -> Result<(), Error> {
        let end = u64::from(start) + files.len() as u64;
        if end > u32::MAX.into() {
            return Err(Error::TooLarge {
                what: "end of the interrupts",
                size: end,
                limit: u32::MAX.into(),
            });
        }
        let mut start = start;
        for run in files.chunk_by(|a, b| a.is_some() == b.is_some()) {
            // Without descriptors, a message may cover any number.
            let most = if run[0].is_some() { self.descriptors.max(1) } else { run.len() };
            for part in run.chunks(most) {
                let count = part.len() as u32;
                let files: Vec<_> = part.iter().copied().flatten().collect();
                let irqs = SetIrqs { index, start, count, action, data: SetIrqsData::EventFds };
                self.set_irqs_once(irqs, &files)?;
                start += count;
            }
        }
        Ok(())
    }

    /// Masks, unmasks or fires interrupts `start..start + count` of kind `index` now.
    ///
    /// # Errors
    /// Any of [`Error`]'s about the link.
    pub fn act_on_irqs(
        &mut self,
        index: u32,
        start: u32,
        count: u32,
        action: IrqAction,
    ) -> Result<(), Error> {
        let irqs = SetIrqs { index, start, count, action, data: SetIrqsData::None };
        self.set_irqs_once(irqs, &[])
    }

    /// Disconnects all interrupts of kind `index`.
    ///
    /// # Errors
    /// Any of [`Error`]'s about the link.
    pub fn disable_irqs(&mut self, index: u32) -> Result<(), Error> {
        self.act_on_irqs(index, 0, 0, IrqAction::Trigger)
    }

    fn set_irqs_once(&mut self, irqs: SetIrqs<'_>, files: &[BorrowedFd<'_>]) -> Result<(), Error> {
        let message = self.call(&Request::DeviceSetIrqs(irqs), files)?;
        self.decode(Command::DeviceSetIrqs, &message).map(drop)
    }

    /// Reads region `index` from `offset`, in parts of at most [`Self::max_transfer`] bytes: what one
    /// part reads is one access of the device.
    ///
    /// # Errors
    /// [`Error::Refused`] if the range leaves the region, say; any about the link. `data` may have
    /// been filled in part.
    pub fn region_read(&mut self, index: u32, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        const COMMAND: Command = Command::RegionRead;
        let mut offset = offset;
        for part in data.chunks_mut(self.transfer as usize) {
            let access = RegionAccess { offset, region: index, count: part.len() as u32 };
            let message = self.call(&Request::RegionRead(access), &[])?;
            let Reply::RegionRead(answered, bytes) = self.decode(COMMAND, &message)? else {
                unreachable!("the reply to a command decodes as that command's");
            };
            self.rule(COMMAND, same_access(answered, access))?;
            part.copy_from_slice(bytes);
            offset = offset.wrapping_add(part.len() as u64);
        }
        Ok(())
    }

    /// Writes region `index` at `offset`, in parts of at most [`Self::max_transfer`] bytes: what one
    /// part writes is one access of the device.
    ///
    /// # Errors
    /// [`Error::Refused`] if the range leaves the region, say; any about the link. Parts before the
    /// one that failed have been written.
    pub fn region_write(&mut self, index: u32, offset: u64, data: &[u8]) -> Result<(), Error> {
        const COMMAND: Command = Command::RegionWrite;
        let mut offset = offset;
        for part in data.chunks(self.transfer as usize) {
            let access = RegionAccess { offset, region: index, count: part.len() as u32 };
            let message = self.call(&Request::RegionWrite(access, part), &[])?;
            let Reply::RegionWrite(answered) = self.decode(COMMAND, &message)? else {
                unreachable!("the reply to a command decodes as that command's");
            };
            self.rule(COMMAND, same_access(answered, access))?;
            offset = offset.wrapping_add(part.len() as u64);
        }
        Ok(())
    }

    /// Lends the device `size` bytes from device address `address` on: those of `file` from `offset`
    /// on, or, without a file, what [`Self::set_guest_memory`]'s argument answers.
    ///
    /// # Errors
    /// [`Error::Refused`] (`EEXIST`: overlaps another map); any about the link.
    pub fn dma_map(
        &mut self,
        address: u64,
        size: u64,
        offset: u64,
        file: Option<BorrowedFd<'_>>,
        readable: bool,
        writable: bool,
    ) -> Result<(), Error> {
        let range = DmaRange { address, size };
        let last = range.last().map_err(|fault| fault.of("DMA_MAP"))?;
        let request = Request::DmaMap { range, offset, readable, writable };
        // Before the reply, for the server may use the map as soon as it has it.
        let before = self.memory.lend(address, last, readable, writable);
        let reply = self.call(&request, file.as_slice());
        if reply.is_err() {
            self.memory.undo(address, before);
        }
        self.decode(Command::DmaMap, &reply?).map(drop)
    }

    /// Takes back the maps inside `size` bytes from `address` on, none of which may stick out. When
    /// this returns, with or without [`Error::Unmapped`], the device no longer uses them.
    ///
    /// # Errors
    /// [`Error::Unmapped`]: not all of the range was mapped; [`Error::Refused`]: a map sticks out;
    /// any about the link.
    pub fn dma_unmap(&mut self, address: u64, size: u64) -> Result<(), Error> {
        let range = DmaRange { address, size };
        let last = range.last().map_err(|fault| fault.of("DMA_UNMAP"))?;
        let unmapped = self.dma_unmap_once(Some(range))?;
        self.memory.take_back(address, last);
        let outcome = match unmapped.size {
            unmapped if unmapped > size => {
                Err(FieldError::new("size", unmapped, format!("at most the {size} asked for")))
            }
            _ => same("address", unmapped.address, address),
        };
        self.rule(Command::DmaUnmap, outcome)?;
        if unmapped.size < size {
            return Err(Error::Unmapped { address, size, unmapped: unmapped.size });
        }
        Ok(())
    }

    /// Takes all memory back.
    ///
    /// # Errors
    /// Any of [`Error`]'s about the link.
    pub fn dma_unmap_all(&mut self) -> Result<(), Error> {
        self.dma_unmap_once(None)?;
        self.memory.take_back(0, u64::MAX);
        Ok(())
    }

    fn dma_unmap_once(&mut self, range: Option<DmaRange>) -> Result<DmaRange, Error> {
        let message = self.call(&Request::DmaUnmap(range), &[])?;
        match self.decode(Command::DmaUnmap, &message)? {
            Reply::DmaUnmap(range) => Ok(range),
            _ => unreachable!("the reply to a command decodes as that command's"),
        }
    }

    /// Resets the device. Maps and interrupts' descriptors stay.
    ///
    /// # Errors
    /// Any of [`Error`]'s about the link.
    pub fn reset(&mut self) -> Result<(), Error> {
        let message = self.call(&Request::DeviceReset, &[])?;
        self.decode(Command::DeviceReset, &message).map(drop)
    }

    /// Sends a request and waits for its reply.
    fn call(&mut self, request: &Request<'_>, files: &[BorrowedFd<'_>]) -> Result<Message, Error> {
        let command = request.command();
        let message = self.guarded(|client| client.exchange(request, files))?;
        match message.header.kind {
            Kind::Reply { error: Some(errno) } => Err(Error::Refused { command, errno }),
            _ => Ok(message),
        }
    }

    /// Does `work` unless an earlier call failed; remembers if it fails.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if let Some(cause) = &self.poisoned {
            return Err(Error::Poisoned { cause: cause.clone() });
        }
        let outcome = work(self);
        if let Err(error) = &outcome {
            self.poison(error);
        }
        outcome
    }

    fn poison(&mut self, error: &Error) {
        self.poisoned = Some(error.to_string());
        self.socket.shut_down();
    }

    fn exchange(
        &mut self,
        request: &Request<'_>,
        files: &[BorrowedFd<'_>],
    ) -> Result<Message, Error> {
        let deadline = Deadline::after(self.options.timeout);
        let (id, command) = (self.next_id, request.command());
        self.next_id = self.next_id.wrapping_add(1);
        let kind = Kind::Request { no_reply: false };
        encode(&mut self.buffer, id, command as u16, kind, |out| request.encode(out));
        self.socket.send(&self.buffer, files, deadline)?;
        loop {
            let message = self.receive(deadline)?;
            let header = message.header;
            if matches!(header.kind, Kind::Request { .. }) {
                self.answer(&message, deadline)?;
                // Or a server that asks and asks would hold us for ever.
                deadline.check("a reply among the server's requests")?;
                continue;
            }
            let described = header.describe();
            same("id", header.id, id).map_err(|fault| fault.of(&described))?;
            same("command", header.command, command as u16)
                .map_err(|fault| fault.of(&described))?;
            let most = usize::from(command == Command::DeviceGetRegionInfo);
            if message.files.len() > most {
                let found = message.files.len();
                return Err(Error::malformed(
                    described,
                    "descriptors",
                    found,
                    format!("at most {most}"),
                ));
            }
            return Ok(message);
        }
    }

    /// The next message, looked for again and again at first, then waited for asleep.
    fn receive(&mut self, deadline: Deadline) -> Result<Message, Error> {
        const REPLY: &str = "a reply";
        let spin_until = Instant::now() + self.options.spin;
        loop {
            if let Progress::Whole(message) = self.receiver.advance(&self.socket)? {
                return Ok(message);
            }
            if Instant::now() < spin_until {
                std::thread::yield_now();
            } else {
                self.socket.wait(PollFlags::IN, deadline, REPLY)?;
            }
        }
    }

    /// Answers a request of the server.
    fn answer(&mut self, message: &Message, deadline: Deadline) -> Result<(), Error> {
        let header = message.header;
        let Kind::Request { no_reply } = header.kind else {
            return Err(Error::malformed(
                header.describe(),
                "type",
                "reply",
                "a request: nothing was asked",
            ));
        };
        self.memory.answer(message, self.options.max_transfer, &mut self.buffer);
        if no_reply {
            return Ok(());
        }
        self.socket.send(&self.buffer, &[], deadline)
    }

    fn decode<'a>(&mut self, command: Command, message: &'a Message) -> Result<Reply<'a>, Error> {
        let reply = Reply::decode(command, &message.payload);
        self.rule(command, reply)
    }

    /// A fault in a reply is the end of the link.
    fn rule<T>(&mut self, command: Command, outcome: Result<T, FieldError>) -> Result<T, Error> {
        outcome.map_err(|fault| {
            let error = fault.of(format!("reply to {command}"));
            self.poison(&error);
            error
        })
    }
}

fn same_access(found: RegionAccess, sent: RegionAccess) -> Result<(), FieldError> {
    same("offset", found.offset, sent.offset)?;
    same("region", found.region, sent.region)?;
    same("count", found.count, sent.count)
}
