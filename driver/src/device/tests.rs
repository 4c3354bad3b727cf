// SPDX-License-Identifier: MIT OR Apache-2.0
//! Identification and buffers, against a fake device.

use super::*;
use crate::InterruptKind::Event;
use crate::fake::{Fake, State};
use crate::layout::SHELL_VECTOR;

/// What opening says after the fake was changed.
fn refusal(change: impl FnOnce(&mut State)) -> (OpenError, String) {
    let fake = Fake::new(Event);
    change(&mut fake.state());
    let error = Device::new(fake).unwrap_err();
    let text = error.to_string();
    (error, text)
}

#[test]
fn a_sound_device_is_known() {
    let device = Fake::new(Event).device();
    let expected = Capabilities {
        version_major: 1,
        version_minor: 2,
        queues: 4,
        vectors: 6,
        card_bytes: 1 << 20,
    };
    assert_eq!(device.capabilities(), expected);
    assert_eq!(device.lock_unit().identify().unwrap().contexts, 128);
}

#[test]
fn another_function_is_refused_before_its_registers_are_read() {
    let (error, text) = refusal(|state| {
        state.configuration.insert(0, 0x1572_8086);
        state.registers.clear();
    });
    assert!(matches!(error, OpenError::WrongIdentity { .. }));
    assert_eq!(
        text,
        "fake:: vendor and device is 8086:1572, expected 10ee:4c53: another device; check the \
         address"
    );
    let (_, text) = refusal(|state| _ = state.configuration.insert(0x2C, 0x0007_10EE));
    assert!(text.contains("subsystem is 10ee:0007, expected 10ee:4c53"), "{text}");
}

#[test]
fn another_bitstream_is_refused() {
    let (error, text) = refusal(|state| _ = state.registers.insert(0x100, 0x1234));
    assert!(matches!(error, OpenError::WrongIdentity { .. }));
    assert!(text.contains("IDENTITY of the shell is 0x1234, expected 0x4C534456"), "{text}");
}

#[test]
fn a_newer_major_version_is_refused_and_a_newer_minor_one_taken() {
    let (error, text) = refusal(|state| _ = state.registers.insert(0x104, 0x0002_0001));
    assert!(matches!(error, OpenError::Version { found_major: 2, found_minor: 1, .. }));
    assert!(text.contains("version 2.1, this program knows 1.x; bring this program up"), "{text}");
    let (_, text) = refusal(|state| _ = state.registers.insert(0x104, 0x0000_0009));
    assert!(text.contains("load a newer bitstream"), "{text}");
    let fake = Fake::new(Event);
    fake.state().registers.insert(0x104, 0x0001_0009);
    assert_eq!(fake.device().capabilities().version_minor, 9);
}

#[test]
fn all_ones_is_a_device_that_does_not_answer() {
    let (error, text) = refusal(|state| state.gone = true);
    assert!(matches!(error, OpenError::AllOnes { .. }));
    assert!(text.contains("its link is down"), "{text}");
    let (error, _) = refusal(|state| state.registers.clear());
    assert!(matches!(error, OpenError::AllOnes { .. }));
}

/// Configuration space answers all the same, and says what is the matter.
#[test]
fn a_device_that_was_switched_off_or_sleeps_is_named_as_that() {
    let fake = Fake::new(Event);
    let device = fake.device();
    fake.state().registers.clear();
    let found = || device.shell().interrupt_count(1).unwrap_err();
    assert!(matches!(found(), DeviceError::Gone { offset: 0x204 }), "{}", found());
    fake.state().configuration.insert(0x04, 0x10_0004);
    assert_eq!(
        found().to_string(),
        "memory space is disabled (bit 1 of the function's command register is 0): register 0x204 and \
         IDENTITY read 0xFFFF_FFFF; open the device anew"
    );
    // Power management at 0x50, behind another capability. In D3hot memory does not answer, enabled
    // or not.
    let capabilities = [(0x34, 0x40), (0x40, 0x5010), (0x50, 0x01), (0x54, 0x3)];
    fake.state().configuration.extend(capabilities);
    assert!(matches!(found(), DeviceError::Asleep { offset: 0x204 }), "{}", found());
    let text = Device::new(fake.clone()).unwrap_err().to_string();
    assert!(text.starts_with("fake:: the function is in D3hot: register 0x100"), "{text}");
    fake.state().gone = true;
    assert!(matches!(found(), DeviceError::Gone { .. }), "{}", found());
}

#[test]
fn bars_must_hold_the_register_map_and_the_card() {
    for (bar, bytes) in [(0, 0x1000), (0, 0), (2, 0x8000)] {
        let mut fake = Arc::into_inner(Fake::new(Event)).unwrap();
        fake.information.bar_bytes[bar] = bytes;
        let error = Device::new(Arc::new(fake)).unwrap_err();
        let OpenError::BarTooSmall { bar: found, bytes: size, .. } = error else {
            panic!("{error}")
        };
        assert_eq!((usize::from(found), size), (bar, bytes));
    }
}

#[test]
fn the_shell_forces_and_counts_interrupts() {
    let device = Fake::new(Event).device();
    let shell = device.shell();
    let interrupt = device.interrupt(SHELL_VECTOR).unwrap();
    shell.force_interrupt(SHELL_VECTOR).unwrap();
    shell.force_interrupt(SHELL_VECTOR).unwrap();
    assert_eq!(interrupt.take(), Ok(2));
    assert_eq!(shell.interrupt_count(SHELL_VECTOR), Ok(2));
    let error = shell.force_interrupt(6).unwrap_err();
    assert_eq!(error.to_string(), "vector is 0x6, expected less than 6");
}

#[test]
fn a_buffer_is_mapped_as_long_as_it_lives() {
    let fake = Fake::new(Event);
    let device = fake.device();
    let buffer = device.allocate(5000).unwrap();
    assert!(buffer.bytes() >= 5000 && buffer.bus_address() != 0);
    assert_eq!(fake.state().memories.len(), 1);
    drop(buffer);
    assert_eq!(fake.state().memories.len(), 0);
    device.allocate(1).unwrap().unmap().unwrap();
    assert_eq!(fake.state().memories.len(), 0);
}

#[test]
fn an_access_outside_its_block_is_refused() {
    let device = Fake::new(Event).device();
    let error = device.shell().registers().read(0xFFC, Width::Eight).unwrap_err();
    assert!(error.to_string().contains("register offset is 0xFFC"), "{error}");
}
