// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages of a hostile peer, as bytes that a fuzzer can change.
//!
//! One byte of settings (bit 0: a proper `VERSION` message goes before), then packets: 2 bytes with
//! the length, 1 byte with the number (bits 0 to 4) and the kind (bits 5 to 7) of descriptors, and as
//! many bytes as the length says, or as are left. Each packet is sent by one call.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown, SocketFlags,
    SocketType, sendmsg, shutdown, socketpair,
};
use vfio_user::message::{
    Capabilities, Command, HEADER, Header, Kind, MAJOR, MINOR, Reply, Request, Version,
};

/// One call's bytes and descriptors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Number and kind of the descriptors, as in the script.
    pub files: u8,
    pub bytes: Vec<u8>,
}

/// All that a peer sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    pub proper_version: bool,
    pub packets: Vec<Packet>,
}

/// The kind of descriptors that are events. Kind 0 is files, long enough for the conversations' maps.
pub const EVENTS: u8 = 1 << 5;

/// More descriptors than a message may carry, fewer than would be slow.
const MOST_FILES: u8 = 20;

impl Script {
    pub fn parse(data: &[u8]) -> Self {
        let (settings, mut rest) = data.split_first().unwrap_or((&0, &[]));
        let mut packets = Vec::new();
        while let [low, high, files, more @ ..] = rest {
            let length = usize::from(u16::from_le_bytes([*low, *high])).min(more.len());
            let (bytes, after) = more.split_at(length);
            packets.push(Packet { files: *files, bytes: bytes.to_vec() });
            rest = after;
        }
        Self { proper_version: settings & 1 != 0, packets }
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut data = vec![u8::from(self.proper_version)];
        for Packet { files, bytes } in &self.packets {
            let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
            data.extend(length.to_le_bytes());
            data.push(*files);
            data.extend(&bytes[..length.into()]);
        }
        data
    }

    /// Sends all packets, as far as the socket takes them, and ends this direction; `version` is the
    /// proper message. Returns the peer's socket, and ours, to be kept until the end.
    pub fn play(&self, version: &Packet) -> (OwnedFd, OwnedFd) {
        let flags = SocketFlags::CLOEXEC;
        let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None);
        let (ours, theirs) = pair.expect("a pair of sockets");
        let first = Some(version).filter(|_| self.proper_version);
        for packet in first.into_iter().chain(&self.packets) {
            if !send(&ours, packet) {
                break;
            }
        }
        shutdown(&ours, Shutdown::Write).expect("the peer is still there");
        (theirs, ours)
    }
}

/// Whether the socket took all of the packet.
pub fn send(socket: &OwnedFd, packet: &Packet) -> bool {
    if packet.bytes.is_empty() {
        return true;
    }
    let number = (packet.files & 0x1f).min(MOST_FILES);
    let file = (number > 0).then(|| file(packet.files & 0xe0));
    let files: Vec<BorrowedFd<'_>> =
        (0..number).flat_map(|_| file.as_ref().map(AsFd::as_fd)).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES as usize))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(&files));
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    let sent = sendmsg(socket, &[IoSlice::new(&packet.bytes)], &mut ancillary, flags);
    sent.is_ok_and(|sent| sent == packet.bytes.len())
}

fn file(kind: u8) -> OwnedFd {
    let memory = |size| {
        let file = memfd_create("vfio-user-fuzz", MemfdFlags::CLOEXEC).expect("a file of memory");
        ftruncate(&file, size).expect("a longer file");
        file
    };
    match kind {
        EVENTS => eventfd(0, EventfdFlags::CLOEXEC).expect("an event"),
        0x40 => memory(1),
        0x60 => fcntl_dupfd_cloexec(std::io::stdin(), 3).unwrap_or_else(|_| memory(0)),
        _ => memory(0x10_0000),
    }
}

/// A message without descriptors.
pub fn message(id: u16, command: u16, kind: Kind, payload: &[u8]) -> Packet {
    let size = (HEADER + payload.len()) as u32;
    let bytes = [&Header { id, command, size, kind }.encode(), payload].concat();
    Packet { files: 0, bytes }
}

pub fn request(id: u16, request: &Request<'_>) -> Packet {
    let mut payload = Vec::new();
    request.encode(&mut payload);
    message(id, request.command() as u16, Kind::Request { no_reply: false }, &payload)
}

pub fn reply(id: u16, reply: &Reply<'_>) -> Packet {
    let mut payload = Vec::new();
    reply.encode(&mut payload);
    message(id, reply.command() as u16, Kind::Reply { error: None }, &payload)
}

pub fn refusal(id: u16, command: Command, errno: u32) -> Packet {
    message(id, command as u16, Kind::Reply { error: Some(errno) }, &[])
}

pub fn version() -> Version {
    Version { major: MAJOR, minor: MINOR, capabilities: Capabilities::ours(4096) }
}
