// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver against a fake register file.

use super::{Counters, LockUnit};
use crate::map::lock_unit::{CONTROL, IDENTITY, ISR, RETURN, VERSION};
use crate::{BusResponse, DeviceError, Operation, Registers};
use std::collections::BTreeMap;

/// How the fake device behaves.
#[derive(Clone, Copy, PartialEq)]
enum Behaviour {
    Sound,
    AllOnes,
    NeverAnswers,
    /// Counter 0 carries from its low into its high half on every read of the low half.
    CarriesAlways,
    /// As above, but once.
    CarriesOnce,
    /// TABLE_LOG2_BUCKETS does not keep what is written.
    Forgets,
}

struct FakeUnit {
    behaviour: Behaviour,
    values: BTreeMap<u32, u32>,
    writes: Vec<(u32, u32)>,
}

impl FakeUnit {
    fn new(behaviour: Behaviour) -> Self {
        let mut values = BTreeMap::new();
        for offset in (0..0x14).step_by(4).chain([0x20, 0x24, 0x30]) {
            values.insert(offset, 0);
        }
        values.insert(0x100, 0x4C53_4C55);
        values.insert(0x104, 0x0001_0000);
        values.insert(0x108, 0x0000_0807);
        for offset in (0x200..0x280).step_by(4) {
            values.insert(offset, 0);
        }
        FakeUnit { behaviour, values, writes: Vec::new() }
    }

    fn carry(&mut self) {
        *self.values.get_mut(&0x200).unwrap() = 3;
        *self.values.get_mut(&0x204).unwrap() += 1;
    }
}

impl Registers for FakeUnit {
    fn read32(&mut self, offset: u32) -> Result<u32, DeviceError> {
        match self.behaviour {
            Behaviour::AllOnes => return Ok(u32::MAX),
            Behaviour::NeverAnswers => {
                return Err(DeviceError::Timeout {
                    waited_for: format!("the answer to a read of 0x{offset:03X}"),
                    bound: "1000 cycles".into(),
                });
            }
            _ => {}
        }
        let value = self.values.get(&offset).copied().ok_or(DeviceError::Bus {
            operation: Operation::Read,
            offset,
            response: BusResponse::DecodeError,
        });
        if offset == 0x200 {
            match self.behaviour {
                Behaviour::CarriesAlways => self.carry(),
                Behaviour::CarriesOnce => {
                    self.carry();
                    self.behaviour = Behaviour::Sound;
                }
                _ => {}
            }
        }
        value
    }

    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.writes.push((offset, value));
        match offset {
            0x00C => *self.values.get_mut(&offset).unwrap() &= !value,
            0x030 if self.behaviour == Behaviour::Forgets => {}
            0x000..=0x008 | 0x020..=0x030 => {
                self.values.insert(offset, value);
            }
            _ => {
                return Err(DeviceError::Bus {
                    operation: Operation::Write,
                    offset,
                    response: BusResponse::SubordinateError,
                });
            }
        }
        Ok(())
    }
}

fn unit(behaviour: Behaviour) -> LockUnit<FakeUnit> {
    LockUnit::new(FakeUnit::new(behaviour))
}

fn message<T: std::fmt::Debug>(result: Result<T, DeviceError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn identifies_a_sound_unit() {
    let found = unit(Behaviour::Sound).identify().unwrap();
    assert_eq!((found.version_major, found.version_minor), (1, 0));
    assert_eq!((found.contexts, found.slots), (128, 8));
}

#[test]
fn names_expected_and_found_when_it_is_another_device() {
    let mut fake = FakeUnit::new(Behaviour::Sound);
    fake.values.insert(0x100, 0xCAFE);
    assert_eq!(
        message(LockUnit::new(&mut fake).identify()),
        "IDENTITY is 0xCAFE, expected 0x4C534C55 (\"LSLU\")"
    );
    fake.values.insert(0x100, 0x4C53_4C55);
    fake.values.insert(0x104, 0x0002_0001);
    assert_eq!(
        message(LockUnit::new(&mut fake).identify()),
        "VERSION is 0x20001, expected 0x10000 to 0x1FFFF (major version 1)"
    );
    fake.values.insert(0x104, 0x0001_0003);
    assert_eq!(LockUnit::new(&mut fake).identify().unwrap().version_minor, 3);
    fake.values.insert(0x108, 0x0000_0407);
    assert!(message(LockUnit::new(&mut fake).identify()).starts_with("CAPABILITIES is 0x407"));
}

#[test]
fn a_device_that_answers_all_ones_is_gone() {
    let mut gone = unit(Behaviour::AllOnes);
    assert_eq!(gone.identify(), Err(DeviceError::Gone { offset: IDENTITY.offset() }));
    assert_eq!(gone.open_requests(), Err(DeviceError::Gone { offset: RETURN.offset() }));
    assert!(matches!(gone.counters(), Err(DeviceError::Gone { .. })));
    assert!(matches!(gone.configure(0, 4), Err(DeviceError::Gone { .. })));
    assert_eq!(gone.into_registers().writes, []);
}

#[test]
fn all_ones_may_be_a_value_while_the_device_is_there() {
    let mut fake = FakeUnit::new(Behaviour::Sound);
    fake.values.insert(0x208, u32::MAX);
    assert_eq!(LockUnit::new(fake).counters().unwrap().granted, u64::from(u32::MAX));
}

#[test]
fn a_device_that_never_answers_gives_a_timeout() {
    let mut silent = unit(Behaviour::NeverAnswers);
    assert_eq!(
        message(silent.identify()),
        "waited for the answer to a read of 0x100: nothing within 1000 cycles"
    );
    assert!(matches!(silent.drain(3), Err(DeviceError::Timeout { .. })));
}

#[test]
fn configures_base_and_size() {
    let mut sound = unit(Behaviour::Sound);
    sound.configure(0x12_3456_7880, 20).unwrap();
    assert_eq!(sound.into_registers().writes, [(0x020, 0x3456_7880), (0x024, 0x12), (0x030, 20)]);
}

#[test]
fn starts_only_a_unit_that_it_knows() {
    let mut sound = unit(Behaviour::Sound);
    assert_eq!(sound.start(0x40, 4).unwrap().slots, 8);
    let writes = sound.into_registers().writes;
    assert_eq!(writes.last(), Some(&(CONTROL.offset(), 1)), "enabled last: {writes:?}");
    assert_eq!(writes.len(), 4);
    let mut other = unit(Behaviour::Sound).into_registers();
    other.values.insert(IDENTITY.offset(), 7);
    let mut other = LockUnit::new(other);
    assert!(matches!(other.start(0x40, 4), Err(DeviceError::Mismatch { .. })));
    assert_eq!(other.into_registers().writes, []);
}

#[test]
fn refuses_an_impossible_table_before_any_write() {
    let mut sound = unit(Behaviour::Sound);
    assert_eq!(
        message(sound.configure(0x1008, 4)),
        "table_base is 0x1008, expected a multiple of 64 bytes"
    );
    assert_eq!(message(sound.configure(0x1000, 33)), "log2_buckets is 0x21, expected 0 to 32");
    assert_eq!(
        message(sound.configure(0xFFFF_FFFF_FFFF_FFC0, 1)),
        "table_base is 0xFFFFFFFFFFFFFFC0, expected at most 0xFFFFFFFFFFFFFF80 for 2^1 buckets"
    );
    sound.configure(0xFFFF_FFFF_FFFF_FF80, 1).unwrap();
    assert_eq!(sound.into_registers().writes.len(), 3);
}

#[test]
fn refuses_to_move_the_table_under_a_running_unit() {
    let mut sound = unit(Behaviour::Sound);
    sound.enable().unwrap();
    assert_eq!(message(sound.configure(0, 4)), "CONTROL is 0x1, expected 0x0");
    sound.disable().unwrap();
    let mut fake = sound.into_registers();
    fake.values.insert(RETURN.offset(), 2);
    assert_eq!(
        message(LockUnit::new(fake).configure(0, 4)),
        "RETURN (open requests) is 0x2, expected 0x0"
    );
}

#[test]
fn notices_a_setting_that_did_not_stick() {
    assert_eq!(
        message(unit(Behaviour::Forgets).configure(0x40, 4)),
        "TABLE_LOG2_BUCKETS is 0x0, expected 0x4"
    );
}

#[test]
fn drains_within_its_bound() {
    let mut sound = unit(Behaviour::Sound);
    sound.enable().unwrap();
    sound.drain(1).unwrap();
    let mut fake = sound.into_registers();
    assert_eq!(fake.values[&CONTROL.offset()], 0);
    fake.values.insert(RETURN.offset(), 5);
    assert_eq!(
        message(LockUnit::new(fake).drain(7)),
        "waited for open requests to end, 5 left: nothing within 7 reads of RETURN"
    );
}

#[test]
fn names_the_counters_in_the_order_of_the_map() {
    let mut fake = FakeUnit::new(Behaviour::Sound);
    for index in 0..16 {
        fake.values.insert(0x200 + 8 * index, 100 + index);
        fake.values.insert(0x204 + 8 * index, index);
    }
    let counters = LockUnit::new(fake).counters().unwrap();
    let counter = |index: u64| index << 32 | (100 + index);
    assert_eq!(counters.requests, counter(0));
    assert_eq!(counters.handed_over, counter(6));
    assert_eq!(counters.bus_errors, counter(9));
    assert_eq!(counters.compare_and_swaps, counter(10));
    assert_eq!(counters.copies_voided, counter(15));
}

#[test]
fn a_carry_between_the_halves_does_not_tear_a_counter() {
    let mut fake = FakeUnit::new(Behaviour::CarriesOnce);
    fake.values.insert(0x200, u32::MAX - 1);
    let counters = LockUnit::new(fake).counters().unwrap();
    assert_eq!(counters, Counters { requests: 1 << 32 | 3, ..Counters::default() });
    assert_eq!(
        message(unit(Behaviour::CarriesAlways).counters()),
        "waited for the high half of REQUESTS to hold still: nothing within 8 reads"
    );
}

#[test]
fn raises_and_acknowledges_the_bus_error_interrupt() {
    let mut fake = FakeUnit::new(Behaviour::Sound);
    fake.values.insert(ISR.offset(), 1);
    let mut unit = LockUnit::new(fake);
    unit.set_interrupt(true).unwrap();
    assert!(unit.bus_error_pending().unwrap());
    unit.acknowledge_bus_error().unwrap();
    assert!(!unit.bus_error_pending().unwrap());
    unit.set_interrupt(false).unwrap();
    assert_eq!(
        unit.into_registers().writes,
        [(0x008, 1), (0x004, 1), (0x00C, 1), (0x008, 0), (0x004, 0)]
    );
}

#[test]
fn a_bus_error_names_operation_and_register() {
    let mut fake = FakeUnit::new(Behaviour::Sound);
    fake.values.remove(&VERSION.offset());
    assert_eq!(
        message(LockUnit::new(fake).identify()),
        "read of register 0x104 answered DECERR, expected OKAY"
    );
}
