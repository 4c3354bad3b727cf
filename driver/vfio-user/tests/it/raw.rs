// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hand-made messages to our server and to our client: unusual but valid ones are accepted, invalid
//! ones are refused, and those that break the stream end the session.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;

use crate::script::{self, EVENTS, Packet, message, refusal, reply, request, version};
use crate::support::*;
use vfio_user::message::{
    Command, DmaRange, HEADER, Header, Kind, RegionAccess, RegionDescription, Reply, Request,
    SetIrqs, SetIrqsData, SmallWrite, Version,
};
use vfio_user::{Area, Client, Errno, Error, IrqAction};

const POSTED: Kind = Kind::Request { no_reply: true };

/// A client made of bytes.
struct Raw {
    stream: OwnedFd,
    server: Running,
}

impl Raw {
    /// Connected, and agreed upon a version.
    fn joined() -> Self {
        let mut raw = Self::connected();
        assert!(raw.ask(&request(0, &Request::Version(version()))).is_ok());
        raw
    }

    fn connected() -> Self {
        let (stream, theirs) = pair();
        Self { stream, server: Running::over(theirs, server_options()) }
    }

    fn send(&self, packet: &Packet) {
        assert!(script::send(&self.stream, packet), "the server takes it");
    }

    /// The reply's payload, or error number.
    fn ask(&mut self, packet: &Packet) -> Result<Vec<u8>, u32> {
        self.send(packet);
        let mut stream = File::from(self.stream.try_clone().unwrap());
        let mut head = [0; HEADER];
        stream.read_exact(&mut head).expect("a reply");
        assert_eq!(head[..4], packet.bytes[..4], "id and command of the request");
        let header = Header::decode(&head, 1 << 21).expect("a header");
        let mut payload = vec![0; header.size as usize - HEADER];
        stream.read_exact(&mut payload).expect("a whole reply");
        match header.kind {
            Kind::Reply { error: None } => Ok(payload),
            Kind::Reply { error: Some(errno) } => {
                assert!(payload.is_empty(), "an error has no payload");
                Err(errno)
            }
            Kind::Request { .. } => panic!("a reply is expected"),
        }
    }

    fn refused(&mut self, packet: &Packet, errno: Errno) {
        assert_eq!(self.ask(packet), Err(errno.raw_os_error() as u32), "{packet:?}");
    }

    /// How the session ended.
    fn ending(self) -> String {
        self.server.until("the session's end", |log| !log.endings.is_empty());
        let log = self.server.log.lock().unwrap();
        log.endings[0].clone()
    }
}

fn access(offset: u64, count: u32) -> RegionAccess {
    RegionAccess { offset, region: 0, count }
}

#[test]
fn what_is_not_supported_is_refused_and_the_session_goes_on() {
    let mut raw = Raw::joined();
    let plain = Kind::Request { no_reply: false };
    for command in [
        Command::DeviceFeature,
        Command::DeviceGetRegionIoFds,
        Command::DirtyPages,
        Command::MigDataRead,
        Command::MigDataWrite,
    ] {
        raw.refused(&message(7, command as u16, plain, &[0; 8]), Errno::OPNOTSUPP);
    }
    for unknown in [0, 19, u16::MAX] {
        raw.refused(&message(8, unknown, plain, &[]), Errno::OPNOTSUPP);
    }
    raw.refused(&request(9, &Request::Version(version())), Errno::INVAL);
    raw.refused(&message(9, Command::DmaRead as u16, plain, &[0; 16]), Errno::INVAL);
    // Wrong inside, but a message all the same.
    raw.refused(&message(10, Command::DmaMap as u16, plain, &[0; 31]), Errno::INVAL);
    let with_file = Packet { files: 1, ..request(11, &Request::DeviceReset) };
    raw.refused(&with_file, Errno::INVAL);
    raw.refused(&request(12, &Request::RegionRead(access(0, 0))), Errno::INVAL);
    let too_much = RegionAccess { offset: 0, region: 0, count: u32::MAX };
    raw.refused(&request(13, &Request::RegionRead(too_much)), Errno::TOOBIG);
    assert!(raw.ask(&request(14, &Request::DeviceReset)).is_ok());
}

#[test]
fn a_short_region_description_says_how_long_the_whole_is() {
    let mut raw = Raw::joined();
    let short =
        raw.ask(&request(1, &Request::DeviceGetRegionInfo { index: 4, argsz: 32 })).unwrap();
    let words: Vec<u32> =
        short.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    // 64 bytes are needed; read, write, map, but no flag of capabilities, for there are none.
    assert_eq!(words, [64, 0b0111, 4, 0, 0x4000, 0, 0, 0]);
    let whole =
        raw.ask(&request(2, &Request::DeviceGetRegionInfo { index: 4, argsz: 64 })).unwrap();
    assert_eq!((whole.len(), whole[4]), (64, 0b1111));
}

/// Descriptors that come along with the reply to a message; its bytes are of no interest.
fn files_of_reply(raw: &Raw, packet: &Packet) -> usize {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
    raw.send(packet);
    let mut bytes = [0; 4096];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut into = [std::io::IoSliceMut::new(&mut bytes)];
    recvmsg(&raw.stream, &mut into, &mut control, RecvFlags::empty()).expect("a reply");
    let files = control.drain().map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => files.count(),
        _ => 0,
    });
    files.sum()
}

/// Some clients, libvfio-user's among them, map what the capability lists and nothing else, and look at
/// descriptors only once they have asked for all of the description.
#[test]
fn a_region_that_may_be_mapped_as_a_whole_lists_that_and_the_file_comes_with_the_list() {
    let mut raw = Raw::joined();
    let ask = |id, argsz| request(id, &Request::DeviceGetRegionInfo { index: 2, argsz });
    let short = raw.ask(&ask(1, 32)).unwrap();
    assert_eq!((short.len(), short[0], short[4]), (32, 64, 0b0111));
    let whole = raw.ask(&ask(2, 64)).unwrap();
    // Flags and offset of the capability; it: identifier 1, version 1, the last one; one area.
    assert_eq!((whole[4], whole[12]), (0b1111, 32));
    assert_eq!(whole[32..48], [1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(whole[48..], [0u64.to_le_bytes(), BAR2.to_le_bytes()].concat());
    assert_eq!(files_of_reply(&raw, &ask(3, 32)), 0);
    assert_eq!(files_of_reply(&raw, &ask(4, 64)), 1);
}

#[test]
fn posted_and_coalesced_writes_are_done_in_order() {
    let mut raw = Raw::joined();
    let mut payload = Vec::new();
    Request::RegionWrite(access(0x10, 2), &[1, 2]).encode(&mut payload);
    raw.send(&message(1, Command::RegionWrite as u16, POSTED, &payload));
    // Not even an error is a reply.
    raw.send(&message(2, Command::RegionWrite as u16, POSTED, &[]));
    let write =
        |offset, count, value| SmallWrite { access: access(offset, count), data: [value; 8] };
    let writes = vec![write(0x11, 1, 7), write(0x12, 8, 8), write(BAR0, 1, 9), write(0x10, 1, 9)];
    let done = raw.ask(&request(3, &Request::RegionWriteMulti(writes))).unwrap();
    assert_eq!(done, 2u64.to_le_bytes(), "up to the first that fails");
    raw.refused(&request(4, &Request::RegionWriteMulti(vec![write(BAR0, 1, 9)])), Errno::INVAL);
    let found = raw.ask(&request(5, &Request::RegionRead(access(0x10, 11)))).unwrap();
    assert_eq!(found[RegionAccess::SIZE..], [1, 7, 8, 8, 8, 8, 8, 8, 8, 8, 0]);
}

#[test]
fn the_reply_to_an_unmap_says_how_much_had_been_mapped() {
    let mut raw = Raw::joined();
    let mut map = |address| {
        let range = DmaRange { address, size: 0x2000 };
        let map = Request::DmaMap { range, offset: 0, readable: true, writable: true };
        assert!(raw.ask(&request(1, &map)).is_ok());
    };
    [0x1000, 0x4000, 0x8000, 0xa000].into_iter().for_each(&mut map);
    let mut unmap = |range| {
        let payload = raw.ask(&request(2, &Request::DmaUnmap(range))).unwrap();
        u64::from_le_bytes(payload[16..].try_into().unwrap())
    };
    // As QEMU does it: the whole address space, in powers of two.
    assert_eq!(unmap(Some(DmaRange { address: 1 << 63, size: 1 << 63 })), 0);
    assert_eq!(unmap(Some(DmaRange { address: 0, size: 0x8000 })), 0x4000);
    assert_eq!(unmap(None), 0x4000);
    assert_eq!(unmap(None), 0);
}

#[test]
fn interrupts_by_booleans_need_one_for_each_and_no_descriptor() {
    let mut raw = Raw::joined();
    let irqs = |count, data| {
        let (index, start, action) = (2, 1, IrqAction::Trigger);
        Request::DeviceSetIrqs(SetIrqs { index, start, count, action, data })
    };
    assert!(raw.ask(&request(1, &irqs(3, SetIrqsData::Bool(&[1, 0, 2])))).is_ok());
    raw.refused(&request(2, &irqs(2, SetIrqsData::Bool(&[1, 0, 1]))), Errno::INVAL);
    let with_file = Packet { files: EVENTS | 1, ..request(3, &irqs(1, SetIrqsData::None)) };
    raw.refused(&with_file, Errno::INVAL);
    let too_few = Packet { files: EVENTS | 1, ..request(4, &irqs(2, SetIrqsData::EventFds)) };
    raw.refused(&too_few, Errno::INVAL);
    assert_eq!(raw.server.log.lock().unwrap().irqs, ["2: 1+3 Trigger [true, false, true]"]);
}

#[test]
fn what_breaks_the_stream_ends_the_session() {
    let many = Packet { files: EVENTS | 20, ..request(1, &Request::DeviceReset) };
    let plain = Kind::Request { no_reply: false };
    let sized = |size: u32| {
        let header = Header { id: 1, command: 13, size, kind: plain };
        Packet { files: 0, bytes: header.encode().to_vec() }
    };
    let mut typed = request(1, &Request::DeviceReset);
    typed.bytes[8] = 2;
    for (packet, expected) in [
        (many, "malformed header of a message: descriptors is more, expected at most 16"),
        (sized(15), "size is 15, expected 16 to"),
        (sized((1 << 20) + 8193), "size is 1056769, expected 16 to 1056768"),
        (sized(u32::MAX), "size is 4294967295"),
        (typed, "type is 2, expected 0 (request) or 1 (reply)"),
        (reply(9, &Reply::Done(Command::DeviceReset)), "id is 9, expected of a request"),
    ] {
        let raw = Raw::joined();
        raw.send(&packet);
        let ending = raw.ending();
        assert!(ending.contains(expected), "{ending:?} instead of {expected:?}");
    }
}

#[test]
fn a_session_begins_with_a_version_that_fits() {
    let mut raw = Raw::connected();
    raw.refused(&request(1, &Request::DeviceGetInfo), Errno::INVAL);
    let mut raw = Raw::connected();
    let other = Version { major: 1, ..version() };
    raw.refused(&request(2, &Request::Version(other)), Errno::PROTONOSUPPORT);
    let mut raw = Raw::connected();
    let plain = Kind::Request { no_reply: false };
    raw.refused(&message(3, Command::Version as u16, plain, b"\0\0\0\0{\"capab"), Errno::INVAL);
    // Who never joined never leaves.
    assert_eq!(raw.server.end().lock().unwrap().endings.len(), 0);
    // A newer minor version is answered with ours.
    let mut raw = Raw::connected();
    let newer = Version { minor: 9, ..version() };
    assert_eq!(raw.ask(&request(4, &Request::Version(newer))).unwrap()[..4], [0; 4]);
}

/// What our client makes of a server's reply to its first call, after a proper version.
fn client_of(first: Packet) -> Client {
    let (ours, theirs) = pair();
    assert!(script::send(&theirs, &reply(0, &Reply::Version(version()))));
    assert!(script::send(&theirs, &first));
    // Kept open: the client has to find the fault itself.
    std::mem::forget(theirs);
    Client::over(ours, options()).unwrap()
}

#[test]
fn region_descriptions_that_lie_are_found_out() {
    let region = RegionDescription {
        index: 2,
        size: 0x4000,
        offset: 0,
        readable: true,
        writable: true,
        mappable: true,
        sparse: vec![Area { offset: 0x1000, size: 0x1000 }],
    };
    let with_file = |files, region: &RegionDescription| Packet {
        files,
        ..reply(1, &Reply::RegionInfo(region.clone()))
    };
    let right = client_of(with_file(1, &region)).region_info(2).unwrap();
    assert_eq!(right.areas(), region.sparse);
    let without = client_of(with_file(0, &region)).region_info(2).unwrap();
    assert!(without.areas().is_empty() && !without.mappable, "nothing to map without a file");

    let far = vec![Area { offset: 0x3000, size: 0x1001 }];
    let wraps = vec![Area { offset: 0x3000, size: u64::MAX }];
    for (files, region, field) in [
        (1, RegionDescription { index: 3, ..region.clone() }, "index"),
        (1, RegionDescription { sparse: far, ..region.clone() }, "area"),
        (1, RegionDescription { sparse: wraps, ..region.clone() }, "area"),
        (1, RegionDescription { offset: 0xf_d000, ..region.clone() }, "descriptor"),
        (1, RegionDescription { offset: u64::MAX, ..region.clone() }, "offset"),
        (2, region.clone(), "descriptors"),
    ] {
        let mut client = client_of(with_file(files, &region));
        match client.region_info(2) {
            Err(Error::Malformed { field: found, .. }) => assert_eq!(found, field),
            other => panic!("{field}: {other:?}"),
        }
        assert!(matches!(client.reset(), Err(Error::Poisoned { .. })));
    }
}

#[test]
fn a_region_description_may_have_capabilities_we_do_not_know_but_no_loop() {
    let with = |first: u32, capabilities: &[u8]| {
        let region = RegionDescription {
            index: 0,
            size: 0x4000,
            offset: 0,
            readable: true,
            writable: true,
            mappable: false,
            sparse: Vec::new(),
        };
        let mut packet = reply(1, &Reply::RegionInfo(region));
        packet.bytes.extend(capabilities);
        let size = packet.bytes.len() as u32;
        packet.bytes[4..8].copy_from_slice(&size.to_le_bytes());
        packet.bytes[HEADER + 4] |= 1 << 3;
        packet.bytes[HEADER + 12..HEADER + 16].copy_from_slice(&first.to_le_bytes());
        client_of(packet).region_info(0).map(|region| region.size)
    };
    let unknown = |next: u8| [9, 0, 1, 0, next, 0, 0, 0];
    assert_eq!(with(32, &unknown(0)).unwrap(), 0x4000);
    assert_eq!(with(32, &[unknown(40), unknown(0)].concat()).unwrap(), 0x4000);
    for (first, next) in [(32, 32), (32, 33), (32, 200), (0, 0), (200, 0)] {
        let outcome = with(first, &[unknown(next), unknown(32)].concat());
        assert!(matches!(outcome, Err(Error::Malformed { .. })), "{first}, {next}: {outcome:?}");
    }
}

#[test]
fn replies_to_another_range_are_found_out() {
    let read = |access, data: &[u8]| {
        let mut client = client_of(reply(1, &Reply::RegionRead(access, data)));
        client.region_read(0, 0x10, &mut [0; 4])
    };
    assert!(read(access(0x10, 4), &[0; 4]).is_ok());
    for (access, data) in [
        (access(0x14, 4), &[0; 4][..]),
        (access(0x10, 3), &[0; 3]),
        (access(0x10, 4), &[0; 5]),
        (access(0x10, 5), &[0; 5]),
        (RegionAccess { region: 1, ..access(0x10, 4) }, &[0; 4]),
    ] {
        let outcome = read(access, data);
        assert!(matches!(outcome, Err(Error::Malformed { .. })), "{outcome:?}");
    }
    let mut client = client_of(refusal(1, Command::RegionRead, 0));
    let refused = client.region_read(0, 0, &mut [0]).unwrap_err();
    assert_eq!(refused.to_string(), "REGION_READ was refused: the peer gave no reason");
}

/// Requests that want no reply, one after the other without a pause.
#[test]
fn a_server_stops_while_a_client_never_lets_it_wait() {
    let raw = Raw::joined();
    let posted = message(1, Command::DeviceGetInfo as u16, POSTED, &[0; 16]).bytes.repeat(1000);
    let mut stream = UnixStream::from(raw.stream);
    let (under_way, begun) = mpsc::channel();
    let flood = std::thread::spawn(move || {
        // More than the socket holds, so that the server is behind from then on.
        (0..40).for_each(|_| stream.write_all(&posted).unwrap());
        under_way.send(()).unwrap();
        while stream.write_all(&posted).is_ok() {}
    });
    begun.recv_timeout(LONG).unwrap();
    assert_eq!(raw.server.end().lock().unwrap().endings, ["Stopped"]);
    flood.join().unwrap();
}
