// SPDX-License-Identifier: MIT OR Apache-2.0
//! One client's session: its requests, checked and given to the device.

use std::convert::Infallible;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

use super::acceptor::Acceptor;
use super::checks::{Maps, check_event, check_map_file};
use super::link::{Link, RemoteMemory};
use super::{Ending, ServerOptions};
use crate::device::{Area, Backing, DmaMap, IrqData, Region, ServedDevice};
use crate::error::Error;
use crate::message::{
    Command, DmaRange, FieldError, Kind, MAJOR, MAX_AREAS, MINOR, RegionAccess, RegionDescription,
    Reply, Request, SetIrqs, SetIrqsData, SmallWrite, Version,
};
use crate::transport::Message;

/// Interrupts of a kind that one request may concern; more than MSI-X has.
const MAX_IRQS: u32 = 4096;

pub(super) struct Session<'d> {
    link: Arc<Link>,
    device: &'d mut dyn ServedDevice,
    max_transfer: u32,
    maps: Maps,
    /// The version has been agreed upon, and the device knows of the client.
    joined: bool,
}

/// A reply, besides those that say nothing.
enum Answer {
    Payload(Reply<'static>),
    Region { description: RegionDescription, argsz: u32, file: Option<Arc<OwnedFd>> },
    Read(RegionAccess, Vec<u8>),
}

impl<'d> Session<'d> {
    pub(super) fn new(
        stream: OwnedFd,
        device: &'d mut dyn ServedDevice,
        options: &ServerOptions,
    ) -> Result<Self, Error> {
        let link = Link::new(stream, options)?;
        let max_transfer = options.max_transfer;
        Ok(Self { link, device, max_transfer, maps: Maps::default(), joined: false })
    }

    /// Serves until the session ends.
    pub(super) fn run(&mut self, acceptor: &mut Acceptor<'_>) -> Ending {
        match self.serve(acceptor) {
            Ok(never) => match never {},
            Err(ending) => ending,
        }
    }

    /// Closes the connection and tells the device, if it knows of the client.
    pub(super) fn end(self, ending: &Ending) {
        self.link.close();
        if self.joined {
            self.device.client_left(ending);
        }
    }

    fn serve(&mut self, acceptor: &mut Acceptor<'_>) -> Result<Infallible, Ending> {
        let first = self.link.next_request(acceptor, true)?;
        self.negotiate(&first).map_err(Ending::Failed)?;
        loop {
            let message = self.link.next_request(acceptor, false)?;
            self.handle(message).map_err(Ending::Failed)?;
        }
    }

    /// Agrees upon a version, or says why not.
    fn negotiate(&mut self, message: &Message) -> Result<(), Error> {
        let theirs = match self.proposal(message) {
            Ok(version) => version,
            Err(error) => {
                let errno = match error {
                    Error::Version { .. } => Errno::PROTONOSUPPORT,
                    _ => Errno::INVAL,
                };
                self.refuse(message, errno)?;
                return Err(error);
            }
        };
        self.link.agree(theirs.capabilities);
        let capabilities = theirs.capabilities.reply(self.max_transfer);
        let ours = Version { major: MAJOR, minor: MINOR, capabilities };
        self.device.client_joined(RemoteMemory::new(self.link.clone()));
        self.joined = true;
        self.reply(message, Answer::Payload(Reply::Version(ours)))
    }

    fn proposal(&self, message: &Message) -> Result<Version, Error> {
        let header = message.header;
        if header.command != Command::Version as u16 {
            let described = header.describe();
            return Err(Error::malformed(described, "command", header.command, "VERSION at first"));
        }
        if !message.files.is_empty() {
            let found = message.files.len();
            return Err(Error::malformed("VERSION", "descriptors", found, "none"));
        }
        let request = Request::decode(Command::Version, &message.payload);
        let Request::Version(version) = request.map_err(|fault| fault.of("VERSION"))? else {
            unreachable!("a command's payload decodes as that command's");
        };
        match version.major {
            MAJOR => Ok(version),
            major => Err(Error::Version { major, minor: version.minor }),
        }
    }

    /// Does what the client asks and replies. Whatever is wrong inside a message earns an error
    /// reply, not the end of the session: the next message begins where it should all the same.
    fn handle(&mut self, mut message: Message) -> Result<(), Error> {
        let files = std::mem::take(&mut message.files);
        match self.answer(&message, files) {
            Ok(answer) => self.reply(&message, answer),
            Err(errno) => self.refuse(&message, errno),
        }
    }

    fn answer(&mut self, message: &Message, files: Vec<OwnedFd>) -> Result<Answer, Errno> {
        let command = Command::from_number(message.header.command).ok_or(Errno::OPNOTSUPP)?;
        let most = match command {
            Command::DmaMap => 1,
            Command::DeviceSetIrqs => usize::MAX,
            _ => 0,
        };
        if files.len() > most {
            return Err(Errno::INVAL);
        }
        let request =
            Request::decode(command, &message.payload).map_err(|_: FieldError| Errno::INVAL)?;
        self.perform(request, files)
    }

    fn perform(&mut self, request: Request<'_>, mut files: Vec<OwnedFd>) -> Result<Answer, Errno> {
        let done = |()| Answer::Payload(Reply::Done(request.command()));
        match request {
            Request::DeviceGetInfo => {
                Ok(Answer::Payload(Reply::DeviceInfo(self.device.information())))
            }
            Request::DeviceGetRegionInfo { index, argsz } => self.region_info(index, argsz),
            Request::DeviceGetIrqInfo { index } => {
                self.irq_index(index)?;
                let info = self.device.irqs(index).unwrap_or_default();
                Ok(Answer::Payload(Reply::IrqInfo(index, info)))
            }
            Request::DeviceSetIrqs(ref irqs) => self.set_irqs(irqs, files).map(done),
            Request::RegionRead(access) => self.region_read(access),
            Request::RegionWrite(access, data) => {
                self.region_write(access, data)?;
                Ok(Answer::Payload(Reply::RegionWrite(access)))
            }
            Request::RegionWriteMulti(ref writes) => self.region_write_multi(writes),
            Request::DmaMap { range, offset, readable, writable } => {
                let DmaRange { address, size } = range;
                let file = files.pop();
                self.dma_map(DmaMap { address, size, offset, readable, writable, file }).map(done)
            }
            Request::DmaUnmap(range) => self.dma_unmap(range),
            Request::DeviceReset => match self.device.information().resettable {
                true => self.device.reset().map(done),
                false => Err(Errno::OPNOTSUPP),
            },
            // Agreed upon already.
            Request::Version(_) => Err(Errno::INVAL),
            // Of the other direction.
            Request::DmaRead(_) | Request::DmaWrite(..) => Err(Errno::INVAL),
            Request::Unsupported(_) => Err(Errno::OPNOTSUPP),
        }
    }

    fn region_info(&mut self, index: u32, argsz: u32) -> Result<Answer, Errno> {
        if index >= self.device.information().regions {
            return Err(Errno::INVAL);
        }
        let none = Region { size: 0, readable: false, writable: false, backing: None };
        let Region { size, readable, writable, backing } =
            self.device.region(index).unwrap_or(none);
        let mappable = backing.is_some();
        let (file, offset, sparse) = match backing {
            // Some clients map nothing but what is listed, so all of it is listed, too.
            Some(Backing { file, offset, areas }) if areas.is_empty() => {
                (Some(file), offset, vec![Area { offset: 0, size }])
            }
            Some(Backing { file, offset, areas }) => (Some(file), offset, areas),
            None => (None, 0, Vec::new()),
        };
        assert!(sparse.len() <= MAX_AREAS, "a device describes at most {MAX_AREAS} areas");
        let description =
            RegionDescription { index, size, offset, readable, writable, mappable, sparse };
        Ok(Answer::Region { description, argsz, file })
    }

    /// Whether a region allows an access, `allowed` being the region's flag.
    fn check_access(
        &self,
        access: RegionAccess,
        allowed: impl Fn(&Region) -> bool,
    ) -> Result<(), Errno> {
        if access.region >= self.device.information().regions {
            return Err(Errno::INVAL);
        }
        if access.count > self.max_transfer {
            return Err(Errno::TOOBIG);
        }
        let region = self.device.region(access.region).ok_or(Errno::INVAL)?;
        let end = access.offset.checked_add(access.count.into()).ok_or(Errno::INVAL)?;
        if access.count == 0 || end > region.size {
            return Err(Errno::INVAL);
        }
        if !allowed(&region) { Err(Errno::ACCESS) } else { Ok(()) }
    }

    fn region_read(&mut self, access: RegionAccess) -> Result<Answer, Errno> {
        self.check_access(access, |region| region.readable)?;
        let mut data = vec![0; access.count as usize];
        self.device.region_read(access.region, access.offset, &mut data)?;
        Ok(Answer::Read(access, data))
    }

    fn region_write(&mut self, access: RegionAccess, data: &[u8]) -> Result<(), Errno> {
        self.check_access(access, |region| region.writable)?;
        self.device.region_write(access.region, access.offset, data)
    }

    /// Does writes up to the first that fails; an error only if that is the very first.
    fn region_write_multi(&mut self, writes: &[SmallWrite]) -> Result<Answer, Errno> {
        let mut written = 0;
        for SmallWrite { access, data } in writes {
            match self.region_write(*access, &data[..access.count as usize]) {
                Ok(()) => written += 1,
                Err(errno) if written == 0 => return Err(errno),
                Err(_) => break,
            }
        }
        Ok(Answer::Payload(Reply::RegionWriteMulti(written)))
    }

    fn dma_map(&mut self, map: DmaMap) -> Result<(), Errno> {
        let range = DmaRange { address: map.address, size: map.size };
        let last = self.maps.check(range)?;
        if let Some(file) = &map.file {
            check_map_file(file, map.offset, map.size, map.writable)?;
        }
        self.device.dma_map(map)?;
        self.maps.insert(range, last);
        Ok(())
    }

    /// The reply says how much had been mapped, as the kernel's VFIO does.
    fn dma_unmap(&mut self, range: Option<DmaRange>) -> Result<Answer, Errno> {
        let Some(DmaRange { address, .. }) = range else {
            let size = self.maps.clear();
            self.device.dma_unmap_all()?;
            return Ok(Answer::Payload(Reply::DmaUnmap(DmaRange { address: 0, size })));
        };
        let maps = range.map_or(Ok(Vec::new()), |range| self.maps.remove(range))?;
        // Each is tried even if one before it failed: all are gone.
        let mut outcome = Ok(());
        for map in &maps {
            outcome = outcome.and(self.device.dma_unmap(map.address, map.size));
        }
        outcome?;
        let size = maps.iter().map(|map| map.size).sum();
        Ok(Answer::Payload(Reply::DmaUnmap(DmaRange { address, size })))
    }

    fn irq_index(&self, index: u32) -> Result<(), Errno> {
        if index >= self.device.information().irqs { Err(Errno::INVAL) } else { Ok(()) }
    }

    fn set_irqs(&mut self, irqs: &SetIrqs<'_>, files: Vec<OwnedFd>) -> Result<(), Errno> {
        let SetIrqs { index, start, count, action, .. } = *irqs;
        self.irq_index(index)?;
        let available = self.device.irqs(index).unwrap_or_default().count.min(MAX_IRQS);
        // Count 0 without data means all; nothing else may be empty.
        let all = count == 0 && start == 0 && matches!(irqs.data, SetIrqsData::None);
        let end = start.checked_add(count).ok_or(Errno::INVAL)?;
        if end > available || (count == 0 && !all) {
            return Err(Errno::INVAL);
        }
        let data = match irqs.data {
            SetIrqsData::None => IrqData::None,
            SetIrqsData::Bool(flags) => {
                IrqData::Bool(flags.iter().map(|&flag| flag != 0).collect())
            }
            SetIrqsData::EventFds => {
                if !files.is_empty() && files.len() != count as usize {
                    return Err(Errno::INVAL);
                }
                files.iter().try_for_each(check_event)?;
                return self.device.set_irqs(index, start, count, action, IrqData::EventFds(files));
            }
        };
        if !files.is_empty() {
            return Err(Errno::INVAL);
        }
        self.device.set_irqs(index, start, count, action, data)
    }

    fn reply(&self, message: &Message, answer: Answer) -> Result<(), Error> {
        let header = message.header;
        if let Kind::Request { no_reply: true } = header.kind {
            return Ok(());
        }
        let kind = Kind::Reply { error: None };
        let (id, command) = (header.id, header.command);
        match answer {
            Answer::Payload(reply) => {
                self.link.send(id, command, kind, &[], |out| reply.encode(out))
            }
            Answer::Read(access, data) => {
                let reply = Reply::RegionRead(access, &data);
                self.link.send(id, command, kind, &[], |out| reply.encode(out))
            }
            Answer::Region { description, argsz, file } => {
                let needed = description.payload_size();
                let reply = match needed <= argsz {
                    true => Reply::RegionInfo(description),
                    false => Reply::RegionInfoTooLong(description, needed),
                };
                // Who asks again for the rest gets the file then, and would lose it now.
                let file = file.as_deref().map(AsFd::as_fd).filter(|_| needed <= argsz);
                self.link.send(id, command, kind, file.as_slice(), |out| reply.encode(out))
            }
        }
    }

    fn refuse(&self, message: &Message, errno: Errno) -> Result<(), Error> {
        let header = message.header;
        if let Kind::Request { no_reply: true } = header.kind {
            return Ok(());
        }
        let kind = Kind::Reply { error: Some(errno.raw_os_error() as u32) };
        self.link.send(header.id, header.command, kind, &[], |_| {})
    }
}
