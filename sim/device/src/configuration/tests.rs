// SPDX-License-Identifier: MIT OR Apache-2.0
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

const CARD_BYTES: u64 = 64 << 20;

fn space() -> ConfigurationSpace {
    ConfigurationSpace::new(PciIdentity::LOCKSTEP, CARD_BYTES)
}

fn read(space: &ConfigurationSpace, offset: usize) -> u32 {
    let mut bytes = [0; 4];
    space.read(offset, &mut bytes);
    u32::from_le_bytes(bytes)
}

fn write(space: &mut ConfigurationSpace, offset: usize, value: u32) -> Effects {
    space.write(offset, &value.to_le_bytes())
}

/// The capability list as (id, offset), as software walks it.
fn capabilities(space: &ConfigurationSpace) -> Vec<(u8, usize)> {
    let mut found = Vec::new();
    let mut next = read(space, offset::CAPABILITIES) as u8 as usize;
    while next != 0 {
        assert!(next >= 0x40 && next.is_multiple_of(4), "capability at 0x{next:X}");
        assert!(found.len() < 48, "the list does not end");
        let [id, following, ..] = read(space, next).to_le_bytes();
        found.push((id, next));
        next = following.into();
    }
    found
}

#[test]
fn identity_capabilities_and_msix_tables_are_where_drivers_look_for_them() {
    let space = space();
    assert_eq!(read(&space, 0), 0x4C53_10EE);
    assert_eq!(read(&space, 8), 0x1200_0001);
    assert_eq!(read(&space, 0x2C), 0x4C53_10EE);
    assert_eq!(read(&space, 0x0C) >> 16 & 0xFF, 0, "header type 0, one function");
    assert_eq!(read(&space, 0x3C), 0, "no interrupt pin");
    assert_eq!(read(&space, 4) >> 16 & 0x10, 0x10, "there are capabilities");
    let ids = [(0x01, 0x40), (0x10, 0x60), (0x11, 0xA0)];
    assert_eq!(capabilities(&space), ids);
    assert_eq!(read(&space, 0x64) >> 28 & 1, 1, "function-level reset");
    assert_eq!(read(&space, 0xA0) >> 16, 5, "6 vectors");
    assert_eq!((read(&space, 0xA4), read(&space, 0xA8)), (0x8000, 0x9000));
    assert_eq!(read(&space, 0x100), 0, "no extended capabilities");
}

/// No two rows of the table share a byte, no row is wider than its value.
#[test]
fn the_table_is_without_contradiction() {
    let mut taken = [false; BYTES];
    for &(start, bytes, value, writable) in FIELDS {
        assert!((1..=4).contains(&bytes));
        let bits = u32::MAX >> (32 - 8 * bytes);
        assert_eq!((value & !bits, writable & !bits), (0, 0), "field at 0x{start:X}");
        for byte in &mut taken[start..start + bytes] {
            assert!(!std::mem::replace(byte, true), "two fields at 0x{start:X}");
        }
    }
    // Those that are chosen for each function.
    for range in [0..4, offset::BAR2..offset::BAR2 + 8, 0x2C..0x30] {
        assert!(!taken[range].contains(&true));
    }
}

#[test]
fn bars_tell_their_size_and_keep_their_address() {
    for (bar, bytes, kind) in [(offset::BAR0, BAR0_BYTES, 0x4), (offset::BAR2, CARD_BYTES, 0xC)] {
        let mut space = space();
        let _ = write(&mut space, bar, u32::MAX);
        let _ = write(&mut space, bar + 4, u32::MAX);
        let sized = u64::from(read(&space, bar)) | u64::from(read(&space, bar + 4)) << 32;
        assert_eq!(sized & 0xF, kind);
        assert_eq!((!(sized & !0xF)).wrapping_add(1), bytes);
        let address = 0x38_F000_0000 & !(bytes - 1);
        let _ = write(&mut space, bar, address as u32);
        let _ = write(&mut space, bar + 4, (address >> 32) as u32);
        assert_eq!(read(&space, bar), address as u32 | kind as u32);
        assert_eq!(read(&space, bar + 4), 0x38);
    }
    let mut space = space();
    for absent in [0x20, 0x24, 0x30] {
        let _ = write(&mut space, absent, u32::MAX);
        assert_eq!(read(&space, absent), 0, "there is no BAR or ROM at 0x{absent:X}");
    }
}

/// Whatever is written, in whatever widths: bits that are not writable stay.
#[test]
fn read_only_bits_hold_against_random_writes() {
    seeds::each!(50, |seed| {
        let generator = &mut ChaCha8Rng::seed_from_u64(seed);
        let (mut space, fresh) = (space(), space());
        for _ in 0..2000 {
            let offset = generator.random_range(0..BYTES + 8);
            let bytes: [u8; 8] = generator.random();
            let _ = space.write(offset, &bytes[..generator.random_range(0..=8)]);
        }
        for at in 0..BYTES {
            let fixed = !fresh.writable[at];
            let (found, expected) = (space.bytes[at] & fixed, fresh.bytes[at] & fixed);
            assert_eq!(found, expected, "byte 0x{at:X}");
        }
        assert_eq!(capabilities(&space), capabilities(&fresh));
        assert_eq!(read(&space, offset::DEVICE_CONTROL) & 0x8000, 0);
        space.reset();
        assert_eq!(space.bytes, fresh.bytes);
    });
}

#[test]
fn what_is_past_the_end_reads_as_ones_and_takes_nothing() {
    let mut space = space();
    let mut bytes = [0; 4];
    space.read(BYTES - 2, &mut bytes);
    assert_eq!(bytes, [0, 0, 0xFF, 0xFF]);
    space.read(usize::MAX, &mut bytes);
    assert_eq!(bytes, [0xFF; 4]);
    assert_eq!(space.write(usize::MAX, &[0xFF; 4]), Effects::default());
    assert_eq!(space.write(BYTES - 2, &[0xFF; 4]), Effects::default());
}

#[test]
fn a_reset_is_initiated_by_its_bit_alone_in_any_width() {
    let mut space = space();
    let control = offset::DEVICE_CONTROL;
    assert!(!space.write(control, &[0xFF, 0x7F]).reset);
    assert!(space.write(control, &[0, 0x80]).reset);
    assert!(space.write(control + 1, &[0x80]).reset);
    assert!(space.write(control - 4, &[0, 0, 0, 0, 0, 0x80, 0, 0]).reset);
    assert!(!space.write(control, &[0xFF]).reset);
}

#[test]
fn who_the_function_is_can_be_chosen_and_is_kept_over_a_reset() {
    let identity = "1234:5678:9abc:def0".parse().unwrap();
    let mut space = ConfigurationSpace::new(identity, CARD_BYTES);
    for _ in 0..2 {
        assert_eq!((read(&space, 0), read(&space, 0x2C)), (0x5678_1234, 0xDEF0_9ABC));
        let _ = write(&mut space, 0, 0);
        space.reset();
    }
}

/// Of device control, the function has error reporting, payloads of 128 and 256 bytes, read requests.
#[test]
fn what_device_control_cannot_do_reads_as_zero() {
    let mut space = space();
    assert_eq!(read(&space, offset::DEVICE_CONTROL) & 0xFFFF, 0x2000);
    let _ = space.write(offset::DEVICE_CONTROL, &[0xFF, 0x7F]);
    assert_eq!(read(&space, offset::DEVICE_CONTROL) & 0xFFFF, 0x702F);
    let _ = space.write(offset::DEVICE_CONTROL, &[0, 0]);
    assert_eq!(read(&space, offset::DEVICE_CONTROL) & 0xFFFF, 0);
}

/// Software sees by it that the function requests AtomicOps.
#[test]
fn atomic_operations_may_be_requested_once_software_says_so() {
    let mut space = space();
    let _ = space.write(offset::COMMAND, &[COMMAND_MEMORY | COMMAND_BUS_MASTER, 0]);
    assert_eq!(read(&space, offset::DEVICE_CONTROL_2) & 0xFFFF, 0);
    assert!(!space.may_request_atomics());
    let _ = space.write(offset::DEVICE_CONTROL_2, &[0xFF, 0xFF]);
    assert_eq!(read(&space, offset::DEVICE_CONTROL_2) & 0xFFFF, 0x0050);
    assert!(space.may_request_atomics());
    // It is no port: it routes and completes none (bits 6 to 9 of device capabilities 2).
    assert_eq!(read(&space, offset::EXPRESS + 0x24) & 0x3C0, 0);
    let _ = space.write(offset::COMMAND, &[COMMAND_MEMORY, 0]);
    assert!(!space.may_request_atomics(), "without requests there are no such ones");
    space.reset();
    assert_eq!(read(&space, offset::DEVICE_CONTROL_2) & 0xFFFF, 0);
}

#[test]
fn command_power_and_msix_are_honoured() {
    let mut space = space();
    assert!(!space.is_memory_enabled() && !space.is_bus_master() && !space.may_interrupt());
    let _ = space.write(offset::COMMAND, &[COMMAND_MEMORY | COMMAND_BUS_MASTER, 0]);
    assert!(space.is_memory_enabled() && space.is_bus_master() && !space.may_interrupt());
    let _ = space.write(offset::MSIX_CONTROL, &[0, MSIX_ENABLE]);
    assert!(space.may_interrupt());
    let _ = space.write(offset::MSIX_CONTROL, &[0, MSIX_ENABLE | MSIX_FUNCTION_MASK]);
    assert!(!space.may_interrupt());
    let _ = space.write(offset::MSIX_CONTROL, &[0, MSIX_ENABLE]);
    for (state, memory) in [(1, true), (2, true), (3, false), (1, false), (0, true)] {
        let _ = space.write(offset::POWER_STATE, &[state]);
        assert_eq!(space.is_memory_enabled(), memory, "after a write of power state {state}");
    }
    let _ = space.write(offset::COMMAND, &[COMMAND_MEMORY, 0]);
    assert!(!space.may_interrupt(), "a message is a write to memory");
}
