// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every payload decodes to its original value, and truncated or overlong payloads do not decode.

use proptest::prelude::*;
use vfio_user::message::{
    Capabilities, Command, DmaAccess, DmaRange, HEADER, Header, Kind, MAX_AREAS, RegionAccess,
    RegionDescription, Reply, Request, SetIrqs, SetIrqsData, SmallWrite, Version,
};
use vfio_user::{Area, DeviceInfo, IrqAction, IrqInfo};

fn capabilities() -> impl Strategy<Value = Capabilities> {
    let limit = || proptest::option::of(1..=u64::MAX);
    (limit(), limit(), limit(), limit(), any::<Option<bool>>()).prop_map(
        |(max_msg_fds, max_data_xfer_size, pgsizes, max_dma_maps, write_multiple)| Capabilities {
            max_msg_fds,
            max_data_xfer_size,
            pgsizes,
            max_dma_maps,
            write_multiple,
            qemu: false,
        },
    )
}

fn version() -> impl Strategy<Value = Version> {
    (any::<u16>(), any::<u16>(), capabilities()).prop_map(|(major, minor, capabilities)| Version {
        major,
        minor,
        capabilities,
    })
}

prop_compose! {
    fn range()(address in any::<u64>(), size in 1..=u64::MAX) -> DmaRange {
        DmaRange { address, size: size.min(u64::MAX - address).max(1) }
    }
}

prop_compose! {
    fn access()(offset in any::<u64>(), region in any::<u32>(), count in any::<u32>()) -> RegionAccess {
        RegionAccess { offset, region, count }
    }
}

prop_compose! {
    fn dma()(address in any::<u64>(), count in any::<u64>()) -> DmaAccess {
        DmaAccess { address, count }
    }
}

fn action() -> impl Strategy<Value = IrqAction> {
    prop_oneof![Just(IrqAction::Mask), Just(IrqAction::Unmask), Just(IrqAction::Trigger)]
}

/// A payload that borrows nothing, and its data.
fn request() -> impl Strategy<Value = (Request<'static>, Vec<u8>)> {
    let data = proptest::collection::vec(any::<u8>(), 0..64);
    let write = (access(), any::<[u8; 8]>(), 0u32..=8).prop_map(|(access, data, count)| {
        SmallWrite { access: RegionAccess { count, ..access }, data }
    });
    let request = prop_oneof![
        version().prop_map(Request::Version),
        (range(), any::<u64>(), any::<(bool, bool)>()).prop_map(
            |(range, offset, (readable, writable))| Request::DmaMap {
                range: DmaRange { size: range.size.min(u64::MAX - range.address).max(1), ..range },
                offset: offset.min(u64::MAX - range.size),
                readable,
                writable
            }
        ),
        proptest::option::of(range()).prop_map(Request::DmaUnmap),
        Just(Request::DeviceGetInfo),
        (any::<u32>(), 32..=u32::MAX)
            .prop_map(|(index, argsz)| Request::DeviceGetRegionInfo { index, argsz }),
        any::<u32>().prop_map(|index| Request::DeviceGetIrqInfo { index }),
        (any::<(u32, u32, u32)>(), action(), any::<bool>()).prop_map(
            |((index, start, count), action, now)| {
                let data = if now { SetIrqsData::None } else { SetIrqsData::EventFds };
                Request::DeviceSetIrqs(SetIrqs { index, start, count, action, data })
            }
        ),
        access().prop_map(Request::RegionRead),
        access().prop_map(|access| Request::RegionWrite(access, &[])),
        dma().prop_map(Request::DmaRead),
        dma().prop_map(|access| Request::DmaWrite(access, &[])),
        Just(Request::DeviceReset),
        proptest::collection::vec(write, 0..20).prop_map(Request::RegionWriteMulti),
    ];
    (request, data)
}

/// The request with `data` in it, where its kind has any.
fn with_data<'a>(request: &Request<'a>, data: &'a [u8]) -> Request<'a> {
    match request.clone() {
        Request::RegionWrite(access, _) => {
            Request::RegionWrite(RegionAccess { count: data.len() as u32, ..access }, data)
        }
        Request::DmaWrite(access, _) => {
            Request::DmaWrite(DmaAccess { count: data.len() as u64, ..access }, data)
        }
        Request::DeviceSetIrqs(irqs) if data.len() % 2 == 1 => Request::DeviceSetIrqs(SetIrqs {
            count: data.len() as u32,
            data: SetIrqsData::Bool(data),
            ..irqs
        }),
        other => other,
    }
}

fn region() -> impl Strategy<Value = RegionDescription> {
    let areas = proptest::collection::vec(any::<(u64, u64)>(), 0..MAX_AREAS);
    (any::<u32>(), 1..=u64::MAX, any::<u64>(), any::<(bool, bool, bool)>(), areas).prop_map(
        |(index, size, offset, (readable, writable, mappable), areas)| {
            let inside = |(a, b)| {
                let offset = a % size;
                Area { offset, size: b % (size - offset + 1).max(1) }
            };
            let sparse = areas.into_iter().map(inside).collect();
            RegionDescription { index, size, offset, readable, writable, mappable, sparse }
        },
    )
}

fn reply() -> impl Strategy<Value = (Reply<'static>, Vec<u8>)> {
    let data = proptest::collection::vec(any::<u8>(), 0..64);
    let done = prop_oneof![
        Just(Command::DmaMap),
        Just(Command::DeviceSetIrqs),
        Just(Command::DeviceReset),
        Just(Command::DmaWrite)
    ];
    let reply = prop_oneof![
        version().prop_map(Reply::Version),
        done.prop_map(Reply::Done),
        any::<(u64, u64)>().prop_map(|(address, size)| Reply::DmaUnmap(DmaRange { address, size })),
        any::<(bool, bool, u32, u32)>().prop_map(|(resettable, pci, regions, irqs)| {
            Reply::DeviceInfo(DeviceInfo { resettable, pci, regions, irqs })
        }),
        region().prop_map(Reply::RegionInfo),
        any::<(u32, u32, [bool; 4])>().prop_map(|(index, count, flags)| {
            let [eventfd, maskable, automasked, noresize] = flags;
            Reply::IrqInfo(index, IrqInfo { count, eventfd, maskable, automasked, noresize })
        }),
        access().prop_map(|access| Reply::RegionRead(access, &[])),
        access().prop_map(Reply::RegionWrite),
        dma().prop_map(|access| Reply::DmaRead(access, &[])),
        dma().prop_map(Reply::DmaWrite),
        any::<u64>().prop_map(Reply::RegionWriteMulti),
    ];
    (reply, data)
}

seeds::proptest! {
    #![cases(2000)]

    #[test]
    fn headers(id: u16, command: u16, size in HEADER as u32..=1000, error: u32, kind in 0..4) {
        let kind = match kind {
            0 => Kind::Request { no_reply: false },
            1 => Kind::Request { no_reply: true },
            2 => Kind::Reply { error: None },
            _ => Kind::Reply { error: Some(error) },
        };
        let header = Header { id, command, size, kind };
        prop_assert_eq!(Header::decode(&header.encode(), 1000), Ok(header));
        prop_assert!(Header::decode(&header.encode(), size as usize - 1).is_err());
    }

    #[test]
    fn requests((request, data) in request()) {
        let request = with_data(&request, &data);
        let mut bytes = Vec::new();
        request.encode(&mut bytes);
        prop_assert_eq!(Request::decode(request.command(), &bytes), Ok(request.clone()));
        for end in 0..bytes.len() {
            let cut = Request::decode(request.command(), &bytes[..end]);
            // A version without data is complete.
            let whole = matches!(request, Request::Version(_)) && end == 4;
            prop_assert!(whole || cut.is_err(), "{end} of {} bytes: {cut:?}", bytes.len());
        }
        bytes.push(0);
        let ignored = matches!(
            request,
            Request::DeviceSetIrqs(SetIrqs { data: SetIrqsData::None | SetIrqsData::EventFds, .. })
        );
        prop_assert!(ignored || Request::decode(request.command(), &bytes).is_err());
    }

    #[test]
    fn replies((reply, data) in reply()) {
        let reply = match reply {
            Reply::RegionRead(access, _) => {
                Reply::RegionRead(RegionAccess { count: data.len() as u32, ..access }, &data)
            }
            Reply::DmaRead(access, _) => {
                Reply::DmaRead(DmaAccess { count: data.len() as u64, ..access }, &data)
            }
            other => other,
        };
        let mut bytes = Vec::new();
        reply.encode(&mut bytes);
        let command = reply.command();
        prop_assert_eq!(Reply::decode(command, &bytes), Ok(reply.clone()));
        for end in 0..bytes.len() {
            let cut = Reply::decode(command, &bytes[..end]);
            let whole = match reply {
                Reply::Version(_) => end == 4,
                // See `Reply::decode`: three encodings are about.
                Reply::DmaWrite(_) => end == 0 || end == 12,
                _ => false,
            };
            prop_assert!(whole || cut.is_err(), "{end} of {} bytes: {cut:?}", bytes.len());
        }
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(number in 0..20u16, bytes: Vec<u8>) {
        if let Some(command) = Command::from_number(number) {
            let _ = (Request::decode(command, &bytes), Reply::decode(command, &bytes));
        }
    }
}

/// Layouts by hand, from the specification; a codec that is wrong both ways would pass the above.
#[test]
fn layouts_are_those_of_the_specification() {
    let header = Header {
        id: 0x1234,
        command: Command::RegionWrite as u16,
        size: 36,
        kind: Kind::Request { no_reply: true },
    };
    let expected = [0x34, 0x12, 10, 0, 36, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(header.encode(), expected);
    let refusal = Header { kind: Kind::Reply { error: Some(22) }, ..header };
    assert_eq!(refusal.encode()[8..], [0x21, 0, 0, 0, 22, 0, 0, 0]);

    let mut bytes = Vec::new();
    let access = RegionAccess { offset: 0x0102_0304_0506_0708, region: 7, count: 2 };
    Request::RegionWrite(access, &[0xaa, 0xbb]).encode(&mut bytes);
    assert_eq!(bytes, [8, 7, 6, 5, 4, 3, 2, 1, 7, 0, 0, 0, 2, 0, 0, 0, 0xaa, 0xbb]);

    bytes.clear();
    let range = DmaRange { address: 0x11, size: 0x22 };
    Request::DmaMap { range, offset: 0x33, readable: false, writable: true }.encode(&mut bytes);
    let mut expected = vec![32, 0, 0, 0, 2, 0, 0, 0];
    for word in [0x33, 0x11, 0x22] {
        expected.extend([word, 0, 0, 0, 0, 0, 0, 0]);
    }
    assert_eq!(bytes, expected);

    bytes.clear();
    let irqs = SetIrqs {
        index: 2,
        start: 1,
        count: 3,
        action: IrqAction::Trigger,
        data: SetIrqsData::EventFds,
    };
    Request::DeviceSetIrqs(irqs).encode(&mut bytes);
    assert_eq!(bytes, [20, 0, 0, 0, 0x24, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0]);

    bytes.clear();
    let sparse = vec![Area { offset: 0x10, size: 0x20 }];
    let region = RegionDescription {
        index: 2,
        size: 0x40,
        offset: 0x50,
        readable: true,
        writable: true,
        mappable: true,
        sparse,
    };
    Reply::RegionInfo(region).encode(&mut bytes);
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let fixed = [64, 0xf, 2, 32, 0x40, 0, 0x50, 0];
    let capability = [0x0001_0001, 0, 1, 0, 0x10, 0, 0x20, 0];
    assert_eq!(words, [fixed, capability].concat());
}

/// What QEMU 10.1 and later propose (`hw/vfio-user/proxy.c`); our answer must not be longer.
#[test]
fn qemus_proposal_is_understood_and_answered_in_no_more_bytes() {
    let mut proposal = vec![0, 0, 0, 0];
    proposal.extend(
        br#"{"capabilities": {"migration": {"pgsize": 4096, "max_bitmap_size": 268435456}, "max_msg_fds": 16, "max_data_xfer_size": 1048576, "pgsizes": 4096, "max_dma_maps": 65535, "write_multiple": true}}"#,
    );
    proposal.push(0);
    let Ok(Request::Version(version)) = Request::decode(Command::Version, &proposal) else {
        panic!("understood")
    };
    let said = version.capabilities;
    assert!(said.qemu);
    assert_eq!((said.descriptors(), said.transfer(1 << 30)), (16, 1 << 20));
    assert_eq!((said.max_dma_maps, said.write_multiple), (Some(65535), Some(true)));
    let mut answer = Vec::new();
    let capabilities = said.reply(64 << 20);
    Reply::Version(Version { major: 0, minor: 0, capabilities }).encode(&mut answer);
    assert!(answer.len() <= proposal.len());

    let nothing = Capabilities::default();
    assert_eq!((nothing.descriptors(), nothing.transfer(1 << 30)), (1, 1 << 20));
    assert_eq!(nothing.reply(1 << 20), nothing, "a subset of what was proposed");
}

#[test]
fn version_data_that_are_none_are_refused() {
    for data in [
        &b"{}"[..],
        b"{\0",
        b"\0",
        b"[]\0",
        b"{\"capabilities\":[]}\0",
        b"{\"capabilities\":{\"max_msg_fds\":-1}}\0",
        b"{\"capabilities\":{\"max_msg_fds\":\"8\"}}\0",
        b"{\"capabilities\":{\"max_data_xfer_size\":0}}\0",
        b"{\"capabilities\":{\"max_data_xfer_size\":99999999999999999999}}\0",
        b"\xff\xfe{}\0",
        &[b'['; 4000],
        &[b' '; 5000],
    ] {
        let payload = [&[0; 4], data].concat();
        assert!(Request::decode(Command::Version, &payload).is_err(), "{data:?}");
    }
    let nested = [&[0; 4], &vec![b'['; 4000][..], b"\0"].concat();
    assert!(Request::decode(Command::Version, &nested).is_err());
    for data in [&b""[..], b"{}\0", b"{\"other\":1,\"capabilities\":{\"new\":{}}}\0"] {
        let payload = [&[0; 4], data].concat();
        assert!(Request::decode(Command::Version, &payload).is_ok(), "{data:?}");
    }
}
