// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::fs::{MemfdFlags, SealFlags};

const BOTH: Permission = Permission { readable: true, writable: true };

fn file(bytes: u64, seals: SealFlags) -> OwnedFd {
    file_named("test", bytes, seals)
}

fn file_named(name: &str, bytes: u64, seals: SealFlags) -> OwnedFd {
    let file = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
    let file = file.unwrap();
    rustix::fs::ftruncate(&file, bytes).unwrap();
    rustix::fs::fcntl_add_seals(&file, seals).unwrap();
    file
}

fn sealed(bytes: u64) -> Option<(OwnedFd, u64)> {
    Some((file(bytes, SealFlags::SHRINK), 0))
}

#[test]
fn words_of_a_map_are_those_of_the_file() {
    let mut space = AddressSpace::default();
    let shared = file(0x3000, SealFlags::SHRINK);
    let same = Some((shared.try_clone().unwrap(), 0x1000));
    assert_eq!(space.map_file(0x7000, 0x2000, same, BOTH), Ok(true));
    space.store(0x7008, 0x1122).unwrap();
    assert_eq!(space.compare_swap(0x7008, 0x1122, 0x33), Ok(0x1122));
    assert_eq!(space.compare_swap(0x7008, 0x1122, 0x44), Ok(0x33));
    let mut bytes = [0; 8];
    rustix::io::pread(&shared, &mut bytes, 0x1008).unwrap();
    assert_eq!(u64::from_le_bytes(bytes), 0x33);
    assert_eq!(space.line(0x7000).unwrap(), [0, 0x33, 0, 0, 0, 0, 0, 0]);
    assert_eq!(space.line(0x8FC0), Ok([0; 8]));
    assert_eq!(space.line(0x9000), Err(AccessError::Unmapped));
    assert_eq!(space.load(0x6FF8), Err(AccessError::Unmapped));
    assert_eq!(space.unmap_range(0x7000, 0x2000), Ok(1));
    assert_eq!(space.load(0x7008), Err(AccessError::Unmapped));
}

#[test]
fn refuses_what_does_not_fit_and_changes_nothing() {
    let mut space = AddressSpace::default();
    let mut refuse = |address, bytes, file| space.map_file(address, bytes, file, BOTH).unwrap_err();
    assert_eq!(
        refuse(0x7001, 0x1000, None),
        MapError::Unaligned { field: "address", value: 0x7001 }
    );
    assert_eq!(refuse(0x7000, 0x800, None), MapError::Unaligned { field: "size", value: 0x800 });
    assert_eq!(refuse(0x7000, 0, None), MapError::Unaligned { field: "size", value: 0 });
    let last = !0xFFF;
    assert_eq!(refuse(last, 0x1000, None), MapError::Wraps { address: last, size: 0x1000 });
    let odd = Some((file(0x2000, SealFlags::SHRINK), 8));
    assert_eq!(refuse(0x7000, 0x1000, odd), MapError::Unaligned { field: "file offset", value: 8 });
    let short = MapError::File { offset: 0, size: 0x2000, errno: Errno::INVAL };
    assert_eq!(refuse(0x7000, 0x2000, sealed(0x1FFF)), short);
    let missing = Err(MapError::Missing { address: 0x7000 });
    assert_eq!(space.unmap(0x7000), missing, "nothing was left behind");
}

/// A file can be larger than all the addresses that this process has, and costs nothing.
#[test]
fn maps_leave_addresses_for_the_rest_of_the_process() {
    let mut space = AddressSpace::default();
    let map = |space: &mut AddressSpace, address, bytes, file| {
        space.map_file(address, bytes, Some((file, 0)), BOTH)
    };
    let large = || file(1 << 46, SealFlags::SHRINK);
    let too_large = |size| Err(MapError::File { offset: 0, size, errno: Errno::NOMEM });
    // It is mapped as a whole, so that a part is refused as well.
    assert_eq!(map(&mut space, 0, 1 << 46, large()), too_large(1 << 46));
    assert_eq!(map(&mut space, 0, 0x1000, large()), too_large(0x1000));
    for number in 0..4 {
        let quarter = file(1 << 42, SealFlags::SHRINK);
        assert_eq!(map(&mut space, number << 42, 0x1000, quarter), Ok(true));
    }
    let small = || file(0x1000, SealFlags::SHRINK);
    assert_eq!(map(&mut space, 1 << 44, 0x1000, small()), too_large(0x1000));
    space.map_file(1 << 45, 1 << 45, None, BOTH).unwrap();
    assert_eq!(map(&mut space, 1 << 46, 1 << 46, file(1 << 46, SealFlags::empty())), Ok(false));
    space.unmap(0).unwrap();
    assert_eq!(map(&mut space, 1 << 44, 0x1000, small()), Ok(true));
}

/// How often this process has mapped the file of memory with a name.
fn mappings_of(name: &str) -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.contains(name)).count()
}

/// As QEMU lends a guest's memory that the guest's kernel lends page by page: the same file, with a
/// descriptor for each map.
#[test]
fn a_file_is_mapped_once_however_many_maps_lie_in_it() {
    let name = "mapped-once";
    let guest = file_named(name, MOST_MAPS as u64 * PAGE_BYTES, SealFlags::SHRINK);
    let mut space = AddressSpace::default();
    let map = |space: &mut AddressSpace, number: u64| {
        let page = Some((guest.try_clone().unwrap(), number * PAGE_BYTES));
        space.map_file(2 * number * PAGE_BYTES, PAGE_BYTES, page, BOTH)
    };
    for number in 0..MOST_MAPS as u64 {
        assert_eq!(map(&mut space, number), Ok(true), "map {number}");
        if number % 1000 == 0 {
            assert_eq!(mappings_of(name), 1, "after {number} maps");
        }
    }
    assert_eq!(map(&mut space, MOST_MAPS as u64), Err(MapError::TooMany));
    let last = MOST_MAPS as u64 - 1;
    space.store(2 * last * PAGE_BYTES + 8, 0x1122).unwrap();
    let mut bytes = [0; 8];
    rustix::io::pread(&guest, &mut bytes, last * PAGE_BYTES + 8).unwrap();
    assert_eq!(u64::from_le_bytes(bytes), 0x1122);
    assert_eq!(space.unmap_range(PAGE_BYTES, u64::MAX - PAGE_BYTES), Ok(MOST_MAPS - 1));
    assert_eq!((space.load(0), mappings_of(name)), (Ok(0), 1), "one map is left");
    space.unmap(0).unwrap();
    assert_eq!(mappings_of(name), 0);
}

#[test]
fn a_file_that_has_grown_is_mapped_anew_and_old_maps_stay() {
    let mut space = AddressSpace::default();
    let grows = file_named("grows", 0x1000, SealFlags::SHRINK);
    let part = |offset| Some((grows.try_clone().unwrap(), offset));
    let beyond = Err(MapError::File { offset: 0x1000, size: 0x1000, errno: Errno::INVAL });
    assert_eq!(space.map_file(0, 0x1000, part(0), BOTH), Ok(true));
    assert_eq!(space.map_file(0x1000, 0x1000, part(0x1000), BOTH), beyond);
    rustix::fs::ftruncate(&grows, 0x2000).unwrap();
    assert_eq!(space.map_file(0x1000, 0x1000, part(0x1000), BOTH), Ok(true));
    space.store(0x0FF8, 1).unwrap();
    space.store(0x1000, 2).unwrap();
    let words = [0x0FF8, 0x1000].map(|offset| {
        let mut bytes = [0; 8];
        rustix::io::pread(&grows, &mut bytes, offset).unwrap();
        u64::from_le_bytes(bytes)
    });
    assert_eq!((words, mappings_of("grows")), ([1, 2], 2));
    space.clear();
    assert_eq!(mappings_of("grows"), 0);
}

/// What was opened for reading is not written through the mapping of another descriptor.
#[test]
fn each_descriptor_of_a_file_allows_what_it_was_opened_for() {
    use std::os::fd::AsRawFd;
    let mut space = AddressSpace::default();
    let shared = file(0x3000, SealFlags::SHRINK);
    let path = format!("/proc/self/fd/{}", shared.as_raw_fd());
    let opened = |read, write| {
        let file = std::fs::File::options().read(read).write(write).open(&path).unwrap();
        Some((OwnedFd::from(file), 0x1000))
    };
    let read_only = Permission { readable: true, writable: false };
    assert_eq!(space.map_file(0x1000, 0x1000, opened(true, true), BOTH), Ok(true));
    let refused = Err(MapError::File { offset: 0x1000, size: 0x1000, errno: Errno::ACCESS });
    assert_eq!(space.map_file(0x2000, 0x1000, opened(true, false), BOTH), refused);
    assert_eq!(space.map_file(0x2000, 0x1000, opened(false, true), BOTH), refused);
    assert_eq!(space.map_file(0x2000, 0x1000, opened(true, false), read_only), Ok(true));
    space.store(0x1000, 5).unwrap();
    assert_eq!((space.load(0x2000), space.store(0x2000, 6)), (Ok(5), Err(AccessError::Forbidden)));
}

#[test]
fn files_are_bounded_and_room_comes_back() {
    let mut space = AddressSpace::default();
    let kinds = [
        (SealFlags::SHRINK, "mapped files", files::MOST_MAPPED),
        (SealFlags::empty(), "files that may shrink", files::MOST_OPEN),
    ];
    for (seals, kind, most) in kinds {
        let map = |space: &mut AddressSpace, number: usize| {
            let page = Some((file(PAGE_BYTES, seals), 0));
            space.map_file(number as u64 * PAGE_BYTES, PAGE_BYTES, page, BOTH).map(drop)
        };
        for number in 0..most {
            assert_eq!(map(&mut space, number), Ok(()), "{kind}: map {number}");
        }
        let full = Err(MapError::TooManyFiles { kind, most });
        assert_eq!((map(&mut space, most), map(&mut space, most)), (full.clone(), full));
        space.unmap(0).unwrap();
        assert_eq!(map(&mut space, most), Ok(()));
        space.clear();
        assert_eq!(map(&mut space, 0), Ok(()));
        space.clear();
    }
}

#[test]
fn maps_may_touch_and_not_overlap() {
    let mut space = AddressSpace::default();
    space.map_file(0x4000, 0x2000, None, BOTH).unwrap();
    for (address, bytes) in [(0x4000, 0x1000), (0x5000, 0x1000), (0x3000, 0x2000), (0, 0x9000)] {
        let overlaps = MapError::Overlaps { address, other: 0x4000 };
        assert_eq!(space.map_file(address, bytes, None, BOTH), Err(overlaps));
    }
    space.map_file(0x6000, 0x1000, None, BOTH).unwrap();
    space.map_file(0x3000, 0x1000, None, BOTH).unwrap();
    space.unmap(0x4000).unwrap();
    space.map_file(0x4000, 0x1000, None, BOTH).unwrap();
}

#[test]
fn a_range_takes_all_its_maps_and_no_part_of_one() {
    let mut space = AddressSpace::default();
    for address in [0x4000, 0x6000, 0x9000] {
        space.map_file(address, 0x2000, None, BOTH).unwrap();
    }
    let splits = |address, size, other| Err(MapError::Splits { address, size, other });
    assert_eq!(space.unmap_range(0x5000, 0x3000), splits(0x5000, 0x3000, 0x4000));
    assert_eq!(space.unmap_range(0x4000, 0x3000), splits(0x4000, 0x3000, 0x6000));
    assert_eq!(space.unmap_range(0x9000, 0x1000), splits(0x9000, 0x1000, 0x9000));
    let wraps = MapError::Wraps { address: 0x4000, size: u64::MAX };
    assert_eq!(space.unmap_range(0x4000, u64::MAX), Err(wraps));
    assert_eq!(space.unmap_range(0, 0x4000), Ok(0));
    assert_eq!(space.unmap_range(0x8000, 0x1000), Ok(0));
    assert_eq!(space.unmap_range(0, 1 << 63), Ok(3));
    assert_eq!(space.unmap_range(0, 1 << 63), Ok(0));
}

#[test]
fn permissions_hold_for_each_kind_of_access() {
    let mut space = AddressSpace::default();
    let read_only = Permission { readable: true, writable: false };
    let write_only = Permission { readable: false, writable: true };
    space.map_file(0x1000, 0x1000, sealed(0x1000), read_only).unwrap();
    space.map_file(0x2000, 0x1000, sealed(0x1000), write_only).unwrap();
    assert_eq!(space.load(0x1000), Ok(0));
    assert_eq!(space.store(0x1000, 1), Err(AccessError::Forbidden));
    assert_eq!(space.compare_swap(0x1000, 0, 1), Err(AccessError::Forbidden));
    assert_eq!(space.store(0x2000, 1), Ok(()));
    assert_eq!(space.load(0x2000), Err(AccessError::Forbidden));
    assert_eq!(space.compare_swap(0x2000, 0, 1), Err(AccessError::Forbidden));
    assert!(space.span(0x2000, Access::Read).is_err());
    assert!(space.span(0x2000, Access::Write).is_ok());
}

#[test]
fn a_file_that_may_shrink_is_never_mapped() {
    let mut space = AddressSpace::default();
    let shared = file(0x1000, SealFlags::GROW);
    let same = Some((shared.try_clone().unwrap(), 0));
    assert_eq!(space.map_file(0x1000, 0x1000, same, BOTH), Ok(false));
    rustix::fs::ftruncate(&shared, 0).unwrap();
    assert_eq!(space.load(0x1000), Err(AccessError::Forbidden));
    assert_eq!(space.store(0x1000, 1), Err(AccessError::Forbidden));
    let (span, bytes) = space.span(0x1800, Access::Read).unwrap();
    assert!(matches!(span, Span::Unsealed(_, 0x800)));
    assert_eq!(bytes, 0x800);
}

#[test]
fn memory_whose_pages_are_missing_is_out_of_reach() {
    let file = file(0x2000, SealFlags::empty());
    let mapping = || Mapping::of_any_file(&file, 0x2000, true).unwrap();
    let mut space = AddressSpace::default();
    for number in 0..4 {
        space.map_mapping(number << 16, 0x2000, mapping());
    }
    space.store(0x1000, 5).unwrap();
    rustix::fs::ftruncate(&file, 0x1000).unwrap();
    let lost = Err(AccessError::Forbidden);
    assert_eq!(space.load(0x0_1000).map(drop), lost);
    assert_eq!(space.store(0x1_1000, 1), lost);
    assert_eq!(space.compare_swap(0x2_1000, 0, 1).map(drop), lost);
    assert_eq!(space.line(0x3_1000).map(drop), lost);
    for number in 0..4 {
        assert_eq!(space.load(number << 16).map(drop), lost, "all of it, from then on");
    }
}

#[test]
fn a_map_without_a_file_is_there_and_not_reached() {
    let mut space = AddressSpace::default();
    assert_eq!(space.map_file(0, 0x1000, None, BOTH), Ok(false));
    assert_eq!(space.load(0), Err(AccessError::Forbidden));
    assert!(space.span(0, Access::Read).is_err());
    space.unmap(0).unwrap();
}

/// The maps as a plain list, each checked against all others.
#[test]
fn random_maps_are_taken_and_found_as_a_list_has_them() {
    seeds::each!(200, |seed| {
        let generator = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut space = AddressSpace::default();
        let mut list: Vec<(u64, u64)> = Vec::new();
        for _ in 0..200 {
            let address = generator.random_range(0..64u64) * PAGE_BYTES;
            let bytes = generator.random_range(1..8u64) * PAGE_BYTES;
            if generator.random_bool(0.6) {
                let free = list
                    .iter()
                    .all(|&(other, size)| address + bytes <= other || other + size <= address);
                assert_eq!(space.map_file(address, bytes, sealed(bytes), BOTH).is_ok(), free);
                if free {
                    list.push((address, bytes));
                }
            } else {
                let end = address + bytes;
                let within = |&(other, size): &(u64, u64)| other >= address && other + size <= end;
                let apart = |&(other, size): &(u64, u64)| end <= other || other + size <= address;
                let whole = list.iter().all(|map| within(map) || apart(map));
                let inside = list.iter().filter(|map| within(map)).count();
                let taken = space.unmap_range(address, bytes);
                assert_eq!(taken.ok(), whole.then_some(inside));
                list.retain(|map| !whole || !within(map));
            }
            let probe = generator.random_range(0..70 * PAGE_BYTES) & !7;
            let inside = |&(start, size): &(u64, u64)| (start..start + size).contains(&probe);
            assert_eq!(space.load(probe).is_ok(), list.iter().any(inside), "at 0x{probe:X}");
        }
    });
}

/// Where the machine has huge pages set aside: small parts of one can be lent and taken back.
#[test]
fn parts_of_a_huge_page_are_mapped_and_unmapped() {
    const HUGE: usize = driver::HUGE_PAGE_BYTES;
    let Ok(memory) = HostMemory::allocate(2 * HUGE, HUGE) else {
        println!("skipped: no huge pages are set aside");
        return;
    };
    let mut space = AddressSpace::default();
    for round in 0..1000u64 {
        let (address, offset) = (0x7000, (HUGE as u64 / 2) + 0x1000 * (round % 400));
        let file = memory.file().try_clone_to_owned().unwrap();
        assert_eq!(space.map_file(address, 0x1000, Some((file, offset)), BOTH), Ok(true));
        space.store(address + 8, round).unwrap();
        assert_eq!(
            memory.word(offset as usize + 8).load(std::sync::atomic::Ordering::Acquire),
            round
        );
        assert_eq!(space.load(address + 0x1000), Err(AccessError::Unmapped));
        space.unmap(address).unwrap();
    }
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let own = maps.lines().filter(|line| line.contains("lockstep")).count();
    assert!(own < 100, "{own} mappings are left of 1000 that were taken back");
}
