// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client's memory as the server reaches it by message.

use std::collections::BTreeMap;

use rustix::io::Errno;

use crate::message::{Command, DmaAccess, DmaRange, FieldError, Kind, Reply, Request};
use crate::transport::{Message, encode};

/// Memory that the server may ask for by message, where a map carried no descriptor.
pub trait GuestMemory {
    /// Reads from device address `address`.
    ///
    /// # Errors
    /// What the server shall be told.
    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), Errno>;

    /// Writes to device address `address`.
    ///
    /// # Errors
    /// What the server shall be told.
    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), Errno>;
}

/// A map, by its first address.
pub(super) struct Lent {
    last: u64,
    readable: bool,
    writable: bool,
}

/// The maps as the server knows them, and what answers for them.
#[derive(Default)]
pub(super) struct LentMemory {
    /// By first address; may overlap for as long as the server has not refused the later one.
    maps: BTreeMap<u64, Lent>,
    guest: Option<Box<dyn GuestMemory + Send>>,
}

impl LentMemory {
    pub(super) fn set(&mut self, guest: Box<dyn GuestMemory + Send>) {
        self.guest = Some(guest);
    }

    /// Returns what to give [`Self::undo`] if the server refuses.
    #[must_use]
    pub(super) fn lend(
        &mut self,
        first: u64,
        last: u64,
        readable: bool,
        writable: bool,
    ) -> Option<Lent> {
        self.maps.insert(first, Lent { last, readable, writable })
    }

    /// As if the map at `first` had never been lent, where `before` was.
    pub(super) fn undo(&mut self, first: u64, before: Option<Lent>) {
        self.maps.remove(&first);
        self.maps.extend(before.map(|before| (first, before)));
    }

    /// Forgets all maps inside `first..=last`.
    pub(super) fn take_back(&mut self, first: u64, last: u64) {
        let inside = self.maps.range(first..=last).filter(|(_, map)| map.last <= last);
        let inside: Vec<u64> = inside.map(|(&start, _)| start).collect();
        for start in inside {
            self.maps.remove(&start);
        }
    }

    /// Does what the server asks for and puts the reply into `buffer`.
    pub(super) fn answer(&mut self, message: &Message, max_transfer: u32, buffer: &mut Vec<u8>) {
        let header = message.header;
        let reply = match self.access(message, max_transfer) {
            Ok(Done::Read(access, data)) => {
                let reply = Reply::DmaRead(access, &data);
                let kind = Kind::Reply { error: None };
                return encode(buffer, header.id, header.command, kind, |out| reply.encode(out));
            }
            Ok(Done::Written(access)) => Ok(Reply::DmaWrite(access)),
            Err(errno) => Err(errno.raw_os_error() as u32),
        };
        let kind = Kind::Reply { error: reply.as_ref().err().copied() };
        encode(buffer, header.id, header.command, kind, |out| {
            if let Ok(reply) = reply {
                reply.encode(out);
            }
        });
    }

    fn access(&mut self, message: &Message, max_transfer: u32) -> Result<Done, Errno> {
        let invalid = |_: FieldError| Errno::INVAL;
        let command = Command::from_number(message.header.command).ok_or(Errno::OPNOTSUPP)?;
        if !message.files.is_empty() {
            return Err(Errno::INVAL);
        }
        match Request::decode(command, &message.payload).map_err(invalid)? {
            Request::DmaRead(access) => {
                let guest = self.permitted(access, max_transfer, |map| map.readable)?;
                let mut data = vec![0; access.count as usize];
                guest.read(access.address, &mut data)?;
                Ok(Done::Read(access, data))
            }
            Request::DmaWrite(access, data) => {
                let guest = self.permitted(access, max_transfer, |map| map.writable)?;
                guest.write(access.address, data)?;
                Ok(Done::Written(access))
            }
            _ => Err(Errno::OPNOTSUPP),
        }
    }

    /// What answers for the range, if it is inside a map that allows it.
    fn permitted(
        &mut self,
        access: DmaAccess,
        max_transfer: u32,
        allowed: impl Fn(&Lent) -> bool,
    ) -> Result<&mut (dyn GuestMemory + Send), Errno> {
        let range = DmaRange { address: access.address, size: access.count };
        let last = range.last().map_err(|_| Errno::INVAL)?;
        if access.count > max_transfer.into() {
            return Err(Errno::TOOBIG);
        }
        let map = self.maps.range(..=access.address).next_back().map(|(_, map)| map);
        match map {
            Some(map) if last <= map.last && allowed(map) => {}
            Some(map) if last <= map.last => return Err(Errno::ACCESS),
            _ => return Err(Errno::FAULT),
        }
        Ok(&mut **self.guest.as_mut().ok_or(Errno::FAULT)?)
    }
}

enum Done {
    Read(DmaAccess, Vec<u8>),
    Written(DmaAccess),
}
