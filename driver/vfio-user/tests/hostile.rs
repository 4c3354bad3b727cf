// SPDX-License-Identifier: MIT OR Apache-2.0
//! A hostile server and our client, a hostile client and our server: whatever is sent, each call
//! ends with a typed error within its bound, nothing panics, and no descriptor leaks. This is a
//! bounded run of the targets of `vfio-user/fuzz`.

#[path = "../fuzz/src/script.rs"]
mod script;
#[path = "../fuzz/src/targets.rs"]
mod targets;

use std::path::{Path, PathBuf};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use script::{EVENTS, Packet, Script, message, refusal, reply, request};
use vfio_user::message::{
    Command, DmaAccess, DmaRange, HEADER, Kind, RegionAccess, RegionDescription, Reply, Request,
    SetIrqs, SetIrqsData, SmallWrite,
};
use vfio_user::{Area, DeviceInfo, IrqAction, IrqInfo};

/// All that a well-behaved server says to `targets::client`.
fn server_side() -> Script {
    let region = |index, sparse: &[Area]| {
        Reply::RegionInfo(RegionDescription {
            index,
            size: 0x4000,
            offset: 0,
            readable: true,
            writable: true,
            mappable: !sparse.is_empty(),
            sparse: sparse.to_vec(),
        })
    };
    let area = Area { offset: 0x1000, size: 0x2000 };
    let msix = IrqInfo { count: 4, eventfd: true, ..IrqInfo::default() };
    let access = RegionAccess { offset: 0x10, region: 0, count: 4 };
    let memory = DmaAccess { address: 0x1800, count: 8 };
    let packets = vec![
        reply(1, &Reply::Done(Command::DmaMap)),
        reply(2, &Reply::DeviceInfo(DeviceInfo::PCI)),
        reply(3, &region(0, &[])),
        Packet { files: 1, ..reply(4, &region(2, &[area])) },
        reply(5, &Reply::IrqInfo(2, msix)),
        reply(6, &Reply::Done(Command::DeviceSetIrqs)),
        request(0, &Request::DmaRead(memory)),
        request(1, &Request::DmaWrite(memory, &[7; 8])),
        reply(7, &Reply::RegionRead(access, &[1, 2, 3, 4])),
        reply(8, &Reply::RegionWrite(access)),
        reply(9, &Reply::DmaUnmap(DmaRange { address: 0x1000, size: 0x2000 })),
        reply(10, &Reply::Done(Command::DeviceReset)),
        reply(11, &Reply::DmaUnmap(DmaRange { address: 0, size: 0 })),
        refusal(12, Command::DeviceSetIrqs, 22),
        request(2, &Request::DmaRead(memory)),
    ];
    Script { proper_version: true, packets }
}

/// Much of what a well-behaved client says.
fn client_side() -> Script {
    let range = |address, size| DmaRange { address, size };
    let map = |range, offset| Request::DmaMap { range, offset, readable: true, writable: true };
    let access = |offset, count| RegionAccess { offset, region: 0, count };
    let irqs = |count, data| {
        Request::DeviceSetIrqs(SetIrqs {
            index: 2,
            start: 1,
            count,
            action: IrqAction::Trigger,
            data,
        })
    };
    let write = SmallWrite { access: access(0x40, 4), data: [9; 8] };
    let doorbell = access(targets::DOORBELL, 8);
    let memory = DmaAccess { address: 0x9000, count: 16 };
    let mut packets = vec![
        request(1, &Request::DeviceGetInfo),
        request(2, &Request::DeviceGetRegionInfo { index: 4, argsz: 32 }),
        request(3, &Request::DeviceGetRegionInfo { index: 4, argsz: 4096 }),
        request(4, &Request::DeviceGetIrqInfo { index: 2 }),
        Packet { files: 1, ..request(5, &map(range(0x1000, 0x2000), 0x1000)) },
        request(6, &map(range(0x8000, 0x4000), 0)),
        Packet { files: EVENTS | 2, ..request(7, &irqs(2, SetIrqsData::EventFds)) },
        request(8, &irqs(3, SetIrqsData::Bool(&[0, 1, 1]))),
        request(9, &Request::RegionWrite(access(0x20, 5), &[1, 2, 3, 4, 5])),
        request(10, &Request::RegionRead(access(0x20, 5))),
        request(11, &Request::RegionWriteMulti(vec![write, write])),
        request(12, &Request::RegionWrite(doorbell, &memory.address.to_le_bytes())),
        // While the device waits for its memory, a request in advance.
        request(13, &Request::RegionRead(access(0, 4096))),
        reply(0, &Reply::DmaRead(memory, &[1; 16])),
        reply(1, &Reply::DmaWrite(memory)),
        request(14, &Request::DmaUnmap(Some(range(0x1000, 0x2000)))),
        request(15, &Request::DeviceReset),
        message(16, Command::DeviceFeature as u16, Kind::Request { no_reply: false }, &[0; 8]),
        message(17, 99, Kind::Request { no_reply: false }, &[]),
        request(18, &Request::DmaUnmap(None)),
        irqs_off(19),
    ];
    let posted = request(20, &Request::RegionWrite(access(0x30, 1), &[1]));
    packets.push(message(20, 10, Kind::Request { no_reply: true }, &posted.bytes[16..]));
    Script { proper_version: true, packets }
}

fn irqs_off(id: u16) -> Packet {
    let (action, data) = (IrqAction::Trigger, SetIrqsData::None);
    request(id, &Request::DeviceSetIrqs(SetIrqs { index: 2, start: 0, count: 0, action, data }))
}

/// Changes a script in a few places, mostly where it hurts: sizes, ids, types, counts, descriptors.
fn mutate(random: &mut ChaCha8Rng, script: &mut Script) {
    let edges = [0, 1, 15, 16, 17, 4096, 1 << 20, (1 << 31) - 1, u32::MAX];
    for _ in 0..random.random_range(1..4) {
        if script.packets.is_empty() {
            return;
        }
        let last = script.packets.len() - 1;
        let at = random.random_range(0..=last);
        let edge = edges[random.random_range(0..edges.len())];
        let packet = &mut script.packets[at];
        let length = packet.bytes.len();
        let word =
            |random: &mut ChaCha8Rng| random.random_range(0..=length.saturating_sub(4) / 4) * 4;
        match random.random_range(0..14) {
            0 => packet.bytes.truncate(random.random_range(0..=length)),
            1 => put(packet, 4, &edge.to_le_bytes()),
            2 => put(packet, 8, &random.random_range(0..0x40u32).to_le_bytes()),
            3 => put(packet, 0, &random.random::<u16>().to_le_bytes()),
            4 => put(packet, 2, &random.random_range(0..22u16).to_le_bytes()),
            5 => put(packet, word(random), &edge.to_le_bytes()),
            6 => put(packet, word(random), &random.random::<u32>().to_le_bytes()),
            7 => packet.files = random.random(),
            8 => packet.bytes.extend(vec![random.random::<u8>(); random.random_range(1..40)]),
            9 => {
                let again = packet.clone();
                script.packets.insert(random.random_range(0..=last), again);
            }
            10 => drop(script.packets.remove(at)),
            11 => script.packets.swap(at, random.random_range(0..=last)),
            12 => script
                .packets
                .insert(at, refusal(random.random_range(0..20), Command::RegionRead, edge)),
            _ => script.proper_version = random.random_ratio(9, 10),
        }
    }
}

fn put(packet: &mut Packet, at: usize, bytes: &[u8]) {
    if let Some(room) = packet.bytes.get_mut(at..at + bytes.len()) {
        room.copy_from_slice(bytes);
    }
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("this process's descriptors").count()
}

/// One test, for it counts the descriptors of the whole process.
#[test]
fn whatever_a_peer_sends_is_survived_and_leaves_no_descriptor() {
    check_corpus();
    for Target { name, run, valid, successes } in targets() {
        let before = open_descriptors();
        assert_eq!(run(&valid.encode()), successes, "{name}: the valid conversation");
        let impolite = Script { proper_version: false, ..valid.clone() };
        run(&impolite.encode());
        // Cut off everywhere.
        let whole = valid.encode();
        for end in (0..whole.len()).step_by(3) {
            run(&whole[..end]);
        }
        for seed in &seeds::of!(2000) {
            let mut script = valid.clone();
            mutate(&mut ChaCha8Rng::seed_from_u64(seed), &mut script);
            let survived = std::panic::catch_unwind(|| run(&script.encode()));
            let left = open_descriptors() as i64 - before as i64;
            assert!(survived.is_ok() && left == 0, "{name}: {left} descriptors left behind");
        }
    }
}

#[test]
fn damaged_payloads_are_decoded_or_refused() {
    let packets = [server_side().packets, client_side().packets].concat();
    for seed in &seeds::of!(2000) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let packet = packets[random.random_range(0..packets.len())].clone();
        let mut script = Script { proper_version: true, packets: vec![packet] };
        mutate(&mut random, &mut script);
        for packet in script.packets.iter().filter(|packet| packet.bytes.len() >= HEADER) {
            let data = [&packet.bytes[2..3], &packet.bytes[HEADER..]].concat();
            let survived = std::panic::catch_unwind(|| targets::codec(&data));
            assert!(survived.is_ok());
        }
    }
}

struct Target {
    name: &'static str,
    run: fn(&[u8]) -> usize,
    valid: Script,
    /// What `run` returns for the valid conversation.
    successes: usize,
}

fn targets() -> [Target; 2] {
    [
        Target { name: "client", run: targets::client, valid: server_side(), successes: 11 },
        Target { name: "server", run: targets::server, valid: client_side(), successes: 18 },
    ]
}

/// The fuzzers begin with these. After a change of the conversations, write them anew with
/// `LOCKSTEP_WRITE_CORPUS=1`.
fn check_corpus() {
    for Target { name, valid, .. } in targets() {
        let path = corpus(name).join("valid");
        if std::env::var_os("LOCKSTEP_WRITE_CORPUS").is_some() {
            std::fs::create_dir_all(corpus(name)).expect("a folder");
            std::fs::write(&path, valid.encode()).expect("a file");
        }
        let found = std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert_eq!(Script::parse(&found), valid, "{path:?}");
    }
}

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target)
}
