// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver against a fake register file.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{LookUpUnit, LookUpUnitError, Settings};
use crate::map::nic_lookup::{
    CAPABILITIES, CAPABILITIES_INDEX, CONTROL, IDENTITY, LIMIT, LookupSetting, REQUESTS, RETURN,
    SETTINGS_ERROR, SIGNATURE, TABLE_BASE, VERSION,
};
use crate::{DeviceError, Registers};

const SETTINGS: Settings = Settings {
    table_base: 0x12_3456_7000,
    slots: 100,
    limit: 8,
    overflow_slots: 7,
    segments: 100,
    ..Settings::NONE
};

/// Keeps what is written; CONTROL only as long as it refuses no setting.
#[derive(Default)]
struct FakeUnit {
    values: BTreeMap<u32, u32>,
    refuses: Option<LookupSetting>,
    /// A register that keeps nothing.
    forgets: Option<u32>,
}

impl FakeUnit {
    fn sound() -> Self {
        let values = [
            (IDENTITY.offset(), SIGNATURE.identity),
            (VERSION.offset(), u32::from(SIGNATURE.major) << 16),
            (CAPABILITIES.offset(), 24 << 24 | 7 << 20 | 1 << 16 | 32),
            (CAPABILITIES_INDEX.offset(), 32 << 24 | 255 << 16 | 2 << 12 | 2 << 8 | 12),
        ];
        FakeUnit { values: values.into(), ..Default::default() }
    }
}

impl Registers for FakeUnit {
    fn read32(&mut self, offset: u32) -> Result<u32, DeviceError> {
        Ok(self.values.get(&offset).copied().unwrap_or(0))
    }

    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        match (offset == CONTROL.offset(), self.refuses) {
            (true, Some(setting)) => {
                self.values.insert(SETTINGS_ERROR.offset(), setting as u32);
            }
            _ if self.forgets == Some(offset) => {}
            _ => _ = self.values.insert(offset, value),
        }
        Ok(())
    }
}

#[test]
fn identifies_a_sound_unit() {
    let built = LookUpUnit::new(FakeUnit::sound()).identify().unwrap();
    assert_eq!((built.slot_bytes, built.value_words, built.contexts), (32, 1, 128));
    assert_eq!((built.cached_entries, built.segments), (1 << 14, 1 << 24));
    assert_eq!((built.objects, built.most_pins, built.landing_lines), (2, 255, 32));
    assert_eq!(built.entry_bytes(), 64);
}

#[test]
fn says_what_is_no_look_up_unit() {
    for (offset, value, name) in [
        (IDENTITY.offset(), 0xCAFE, "IDENTITY"),
        (VERSION.offset(), 2 << 16, "VERSION"),
        (CAPABILITIES.offset(), 32, "CAPABILITIES is 0x20"),
        (CAPABILITIES_INDEX.offset(), 31 << 8 | 31, "CAPABILITIES_INDEX"),
    ] {
        let mut fake = FakeUnit::sound();
        fake.values.insert(offset, value);
        let error = LookUpUnit::new(fake).identify().unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn settings_are_written_before_the_unit_is_enabled() {
    let mut unit = LookUpUnit::new(FakeUnit::sound());
    unit.start(&SETTINGS).unwrap();
    assert!(unit.is_enabled().unwrap());
    let refused = unit.configure(&SETTINGS).unwrap_err().to_string();
    assert!(refused.contains("drain it first"), "{refused}");
    unit.drain(Duration::ZERO).unwrap();
    unit.configure(&SETTINGS).unwrap();
    let fake = unit.into_registers();
    let word = |offset: u32| fake.values[&offset];
    assert_eq!((word(TABLE_BASE.offset()), word(TABLE_BASE.offset() + 4)), (0x3456_7000, 0x12));
    assert_eq!((word(LIMIT.offset()), word(CONTROL.offset())), (8, 0));
}

#[test]
fn a_refused_setting_is_named_with_its_value() {
    let fake = FakeUnit { refuses: Some(LookupSetting::Limit), ..FakeUnit::sound() };
    let error = LookUpUnit::new(fake).start(&SETTINGS).unwrap_err();
    let expected =
        LookUpUnitError::Setting { setting: "LIMIT", value: 8, expected: "at most 63 slots" };
    assert_eq!(error, expected);
    // A unit that stays off without a reason is none of ours.
    let fake = FakeUnit { refuses: Some(LookupSetting::None), ..FakeUnit::sound() };
    let error = LookUpUnit::new(fake).start(&SETTINGS).unwrap_err();
    assert!(matches!(error, LookUpUnitError::Device(DeviceError::Mismatch { .. })), "{error}");
}

#[test]
fn a_register_that_forgets_is_noticed() {
    let fake = FakeUnit { forgets: Some(LIMIT.offset()), ..FakeUnit::sound() };
    let error = LookUpUnit::new(fake).start(&SETTINGS).unwrap_err().to_string();
    assert_eq!(error, "LIMIT is 0x0, expected 0x8");
}

#[test]
fn a_wait_for_requests_under_way_is_bounded() {
    let mut fake = FakeUnit::sound();
    fake.values.insert(RETURN.offset(), 3);
    let error = LookUpUnit::new(fake).drain(Duration::from_millis(2)).unwrap_err().to_string();
    assert!(error.contains("3 left"), "{error}");
}

#[test]
fn counters_have_both_halves() {
    let mut fake = FakeUnit::sound();
    fake.values.insert(REQUESTS.offset() + 4, 5);
    assert_eq!(LookUpUnit::new(fake).counters().unwrap().requests, 5 << 32);
}
