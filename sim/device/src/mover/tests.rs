// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

use std::sync::Arc;

use driver::{HostMemory, PAGE_BYTES};
use rustix::fs::MemfdFlags;

use crate::address_space::Permission;

const CARD_BYTES: u64 = 1 << 20;
const BOTH: Permission = Permission { readable: true, writable: true };

struct World {
    space: AddressSpace,
    memory: Arc<HostMemory>,
    card: Mapping,
    mover: Mover,
}

/// 1 MiB of the host at address 0x10_0000, and as much on the card.
fn world() -> World {
    let memory = || Arc::new(HostMemory::allocate(CARD_BYTES as usize, PAGE_BYTES).unwrap());
    let host = memory();
    let mut space = AddressSpace::default();
    space.map_memory(0x10_0000, host.clone()).unwrap();
    World { space, memory: host, card: Mapping::of_memory(memory()), mover: Mover::default() }
}

impl World {
    fn begin(&mut self, tag: u16, opcode: u8, bytes: u64, source: u64, destination: u64) {
        let command = Command { tag, opcode, bytes, source, destination };
        assert_eq!(self.mover.begin(command, CARD_BYTES), None);
    }

    fn chunk(&mut self) -> Option<Moved> {
        let card_bytes = CARD_BYTES;
        let surroundings = Surroundings { host: Some(&self.space), card: &self.card, card_bytes };
        self.mover.chunk(&surroundings)
    }

    /// The end of the next copy.
    fn end(&mut self) -> Moved {
        (0..1000).find_map(|_| self.chunk()).expect("no copy ended within 1000 chunks")
    }

    fn card_bytes(&self, offset: usize, bytes: usize) -> Vec<u8> {
        let mut found = vec![0; bytes];
        self.card.read(offset, &mut found).unwrap();
        found
    }
}

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|byte| (byte * 7 + byte / 251) as u8 | 1).collect()
}

#[test]
fn commands_and_ends_have_their_fields_at_the_documented_bits() {
    let command = Command::decode([0x0000_0200_AA03_1234, 5, 6]);
    let expected = Command { tag: 0x1234, opcode: 3, bytes: 0x200, source: 5, destination: 6 };
    assert_eq!(command, expected);
    let moved = Moved { tag: 0x1234, status: Status::OutsideCard, bytes: 0x4000_0000 };
    assert_eq!(moved.encode(), 0x4000_0000_0005_1234);
}

#[test]
fn moves_exactly_the_bytes_asked_for() {
    for (bytes, from, into) in [(1, 3, 5), (63, 1, 0), (300_001, 7, 11)] {
        let mut world = world();
        let sent = pattern(bytes);
        world.memory.write(from, &sent);
        world.begin(1, 1, bytes as u64, 0x10_0000 + from as u64, into as u64);
        let done = Moved { tag: 1, status: Status::Done, bytes: bytes as u64 };
        assert_eq!(world.end(), done);
        let mut expected = vec![0; into];
        expected.extend(&sent);
        expected.push(0);
        assert!(world.card_bytes(0, into + bytes + 1) == expected, "{bytes} bytes");
        // And back, to somewhere else.
        world.memory.write(0, &vec![0; CARD_BYTES as usize]);
        world.begin(2, 2, bytes as u64, into as u64, 0x10_0000 + 999);
        assert_eq!(world.end(), Moved { tag: 2, ..done });
        let mut found = vec![0; bytes + 2];
        world.memory.read(998, &mut found);
        assert!(found[1..=bytes] == sent && found[0] == 0 && found[bytes + 1] == 0);
    }
}

#[test]
fn a_short_copy_overtakes_a_long_one() {
    let mut world = world();
    world.begin(1, 1, CARD_BYTES, 0x10_0000, 0);
    world.begin(2, 3, 64, 0x10_0000, 0x10_8000);
    assert_eq!(world.end().tag, 2);
    assert_eq!(world.end().tag, 1);
    assert!(world.mover.is_idle());
}

#[test]
fn refuses_what_cannot_be() {
    let mut mover = Mover::default();
    let mut refused = |opcode, bytes, source, destination| {
        let command = Command { tag: 9, opcode, bytes, source, destination };
        mover.begin(command, CARD_BYTES).map(|moved| (moved.status, moved.bytes))
    };
    assert_eq!(refused(0, 64, 0, 0), Some((Status::BadOpcode, 0)));
    assert_eq!(refused(4, 64, 0, 0), Some((Status::BadOpcode, 0)));
    assert_eq!(refused(1, 0, 0, 0), Some((Status::BadLength, 0)));
    assert_eq!(refused(1, MOST_BYTES + 1, 0, 0), Some((Status::BadLength, 0)));
    assert_eq!(refused(1, 2, 0, CARD_BYTES - 1), Some((Status::OutsideCard, 0)));
    assert_eq!(refused(2, 2, u64::MAX, 0), Some((Status::OutsideCard, 0)));
    assert!(mover.is_idle());
}

#[test]
fn a_copy_ends_where_the_map_does() {
    let mut world = world();
    let end = 0x10_0000 + CARD_BYTES;
    world.begin(1, 1, 0x2000, end - 0x800, 0);
    assert_eq!(world.end(), Moved { tag: 1, status: Status::Source, bytes: 0x800 });
    world.begin(2, 2, 64, 0, 0xFF_0000);
    assert_eq!(world.end(), Moved { tag: 2, status: Status::Destination, bytes: 0 });
    world.space.map_file(0, 0x1000, None, BOTH).unwrap();
    world.begin(3, 3, 64, 0x10_0000, 0x800);
    assert_eq!(world.end().status, Status::Destination);
    world.begin(4, 3, 64, u64::MAX - 3, 0x10_0000);
    assert_eq!(world.end().status, Status::Source);
}

#[test]
fn a_copy_crosses_maps_that_touch() {
    let mut world = world();
    let next = Arc::new(HostMemory::allocate(PAGE_BYTES, PAGE_BYTES).unwrap());
    world.space.map_memory(0x10_0000 + CARD_BYTES, next.clone()).unwrap();
    next.write(0, &[0x77; 16]);
    world.begin(1, 1, 32, 0x10_0000 + CARD_BYTES - 16, 64);
    assert_eq!(world.end(), Moved { tag: 1, status: Status::Done, bytes: 32 });
    assert_eq!(world.card_bytes(64, 32), [[0; 16], [0x77; 16]].concat());
}

#[test]
fn unmapping_ends_a_copy_at_its_next_chunk() {
    let mut world = world();
    world.begin(1, 1, CARD_BYTES, 0x10_0000, 0);
    assert_eq!(world.chunk(), None);
    world.space.unmap(0x10_0000).unwrap();
    let ended = Moved { tag: 1, status: Status::Source, bytes: CHUNK_BYTES };
    assert_eq!(world.chunk(), Some(ended));
}

#[test]
fn without_bus_mastering_the_host_is_out_of_reach() {
    let mut world = world();
    let host = 0x10_0000;
    for (tag, opcode, source, destination, status) in
        [(1, 1, host, 0, Status::Source), (2, 2, 0, host, Status::Destination)]
    {
        world.begin(tag, opcode, 64, source, destination);
        let surroundings = Surroundings { host: None, card: &world.card, card_bytes: CARD_BYTES };
        let ended = world.mover.chunk(&surroundings);
        assert_eq!(ended, Some(Moved { tag, status, bytes: 0 }));
    }
}

#[test]
fn a_file_that_is_cut_off_under_a_copy_ends_it() {
    let mut world = world();
    let file = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&file, CARD_BYTES).unwrap();
    let same = Some((file.try_clone().unwrap(), 0));
    assert_eq!(world.space.map_file(0x40_0000, CARD_BYTES, same, BOTH), Ok(false));
    let sent = pattern(200_000);
    rustix::io::pwrite(&file, &sent, 0).unwrap();
    world.begin(1, 1, 200_000, 0x40_0000, 3);
    assert_eq!(world.end(), Moved { tag: 1, status: Status::Done, bytes: 200_000 });
    assert!(world.card_bytes(3, 200_000) == sent);
    world.begin(2, 2, 200_000, 3, 0x40_0000 + 50_000);
    assert_eq!(world.end().status, Status::Done);
    // Cut off between two chunks: what was moved counts, and the file does not grow again.
    world.begin(3, 1, CARD_BYTES, 0x40_0000, 0);
    world.begin(4, 2, CARD_BYTES, 0, 0x40_0000);
    assert_eq!((world.chunk(), world.chunk()), (None, None));
    rustix::fs::ftruncate(&file, 0x1000).unwrap();
    let cut_off = |tag, status| Moved { tag, status, bytes: CHUNK_BYTES };
    assert_eq!(world.end(), cut_off(3, Status::Source));
    assert_eq!(world.end(), cut_off(4, Status::Destination));
    assert_eq!(rustix::fs::fstat(&file).unwrap().st_size, 0x1000);
}

#[test]
fn memory_whose_pages_are_missing_ends_a_copy() {
    let mut world = world();
    let file = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&file, CARD_BYTES).unwrap();
    for address in [0x40_0000, 0x80_0000, 0xC0_0000] {
        let mapping = Mapping::of_any_file(&file, CARD_BYTES, true).unwrap();
        world.space.map_mapping(address, CARD_BYTES, mapping);
    }
    rustix::fs::ftruncate(&file, CHUNK_BYTES).unwrap();
    let ends = [
        (1, 1, 0x40_0000, 0, Status::Source),
        (2, 2, 0, 0x80_0000, Status::Destination),
        (3, 3, 0xC0_0000, 0x10_0000, Status::Source),
    ];
    for (tag, opcode, source, destination, status) in ends {
        world.begin(tag, opcode, CARD_BYTES, source, destination);
        assert_eq!(world.end(), Moved { tag, status, bytes: CHUNK_BYTES });
    }
}
