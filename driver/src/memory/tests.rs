// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that is given to devices.

use std::time::Instant;

use super::*;

#[test]
fn memory_is_whole_pages_of_zeroes_that_nobody_can_shorten() {
    let memory = HostMemory::allocate(5000, PAGE_BYTES).unwrap();
    assert_eq!((memory.bytes(), memory.page_bytes()), (8192, PAGE_BYTES));
    let mut bytes = vec![1; 8192];
    memory.read(0, &mut bytes);
    assert!(bytes.iter().all(|byte| *byte == 0));
    assert!(rustix::fs::ftruncate(memory.file(), 4096).is_err());
    assert!(rustix::fs::ftruncate(memory.file(), 16384).is_err());
}

#[test]
fn more_memory_than_there_is_is_an_error() {
    for bytes in [usize::MAX, usize::MAX / 2, 1 << 60] {
        for page_bytes in [PAGE_BYTES, HUGE_PAGE_BYTES] {
            assert!(HostMemory::allocate(bytes, page_bytes).is_err(), "{bytes}");
        }
    }
}

#[test]
fn a_second_mapping_of_the_file_sees_the_same_bytes() {
    let memory = HostMemory::allocate(3 * PAGE_BYTES, PAGE_BYTES).unwrap();
    let file = memory.file().try_clone_to_owned().unwrap();
    let offset = PAGE_BYTES as u64;
    let other = HostMemory::map(file, offset, 2 * PAGE_BYTES, PAGE_BYTES).unwrap();
    memory.write(PAGE_BYTES + 5, b"seen");
    let mut found = [0; 4];
    other.read(5, &mut found);
    assert_eq!(&found, b"seen");
    assert_eq!(other.file_offset(), offset);
    memory.word(PAGE_BYTES + 8).store(7, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(other.word(8).load(std::sync::atomic::Ordering::Relaxed), 7);
}

#[test]
#[should_panic(expected = "bytes 4095..+2 of a memory of 4096")]
fn an_access_past_the_end_panics() {
    HostMemory::allocate(1, PAGE_BYTES).unwrap().write(4095, &[1, 2]);
}

#[test]
#[should_panic(expected = "word at byte 4: expected a multiple of 8")]
fn a_word_is_aligned() {
    HostMemory::allocate(1, PAGE_BYTES).unwrap().word(4);
}

/// Not a bound, only a look: what atomic copies cost beside plain ones, in GB/s.
#[test]
#[ignore = "a measurement"]
fn speed_of_copies() {
    use std::hint::black_box;
    const BYTES: usize = 64 << 20;
    const ROUNDS: usize = 8;
    let memory = HostMemory::allocate(BYTES, PAGE_BYTES).unwrap();
    let mut bytes = vec![1; BYTES];
    let mut other = vec![2; BYTES];
    memory.write(0, &bytes);
    let mut measure = |name: &str, copy: &mut dyn FnMut(&mut [u8])| {
        let started = Instant::now();
        (0..ROUNDS).for_each(|_| copy(black_box(&mut bytes)));
        let seconds = started.elapsed().as_secs_f64();
        println!("{name}: {:.1} GB/s", (ROUNDS * BYTES) as f64 / 1e9 / seconds);
    };
    measure("store", &mut |bytes| memory.write(0, bytes));
    measure("load", &mut |bytes| memory.read(0, bytes));
    measure("plain copy", &mut |bytes| black_box(&mut other).copy_from_slice(bytes));
}

#[test]
fn a_mapping_begins_on_a_page_and_has_bytes() {
    for (offset, bytes) in [(1, PAGE_BYTES), (2048, PAGE_BYTES), (0, 0)] {
        let file =
            HostMemory::allocate(1, PAGE_BYTES).unwrap().file().try_clone_to_owned().unwrap();
        let error = HostMemory::map(file, offset, bytes, PAGE_BYTES).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
    }
}
