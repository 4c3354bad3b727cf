// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device model's look-up unit: the machine of `nic::lookup`, on the memory that the model reaches.

use std::sync::atomic::Ordering;

use driver::map::device::LOOK_UP_UNIT;
use driver::map::nic_lookup::{
    CONTROL, DIRECTORY_BASE, INDEX_BASE, LIMIT, LOOK_UPS, LookupSetting, MORE, MOST_READINGS,
    OVERFLOW_BASE, OVERFLOW_SLOTS, SEGMENT_SHIFT, SEGMENTS, SETTINGS_ERROR, SLOTS, TABLE_BASE,
    VALUE_BYTES,
};
use nic::index::{Operation, Status, Table};
use nic::lookup::{Answer, Engine, Geometry, HostLines, Places, ReadError, Request, Settings};

use super::Mutant;
use super::memory::Memories;
use super::registers::Registers;

/// The table is here for the engine, wherever it is: so that the index stays when the table moves.
const BASE: u64 = 1 << 32;
/// As the unit was built.
const SLOT_BYTES: u16 = 32;
const MOST_SEGMENTS: u32 = 1 << 24;
const ENTRY_BYTES: u64 = 64;
const MOST_PINS: u8 = 255;
const LANDING_LINES: u16 = 32;

/// A look-up unit, with the index of the table that it was last told of.
#[derive(Default)]
pub struct LookUps {
    engine: Option<Engine<2, 1>>,
}

/// A request to the unit, and its answer as a completion has it.
pub struct Done {
    pub status: u8,
    pub version: u32,
    pub result: u64,
}

impl LookUps {
    /// Carries a request out: opcode, and words 1 to 4 of its submission.
    pub fn run(
        &mut self,
        opcode: u8,
        words: [u64; 4],
        registers: &mut Registers,
        memories: &Memories,
        mutant: Mutant,
    ) -> Done {
        let beat = match Request::<1>::from_words(&words) {
            Ok(request) => {
                let answer = self.answer(request, registers, memories, mutant);
                answer.to_words()
            }
            Err(_) => Answer::<1>::refused(0, Status::OutOfRange).to_words(),
        };
        let (number, out_of_line) = ((beat[0] >> 16 & 0xF) as u8, beat[0] >> 21 & 1 == 1);
        let status = match number {
            0 if out_of_line => 0x50,
            0 => 0,
            number => 0x40 + number,
        };
        let result = match opcode {
            2 => beat[1] & 0xFFFF_FFFF_FFFF | beat[0] >> 16 << 48,
            _ if number == Status::Locked as u8 => beat[1] >> 16 & 0xFFFF,
            _ => beat[2],
        };
        let version = if mutant == Mutant::LosesVersions { 0 } else { (beat[0] >> 32) as u32 };
        Done { status, version, result }
    }

    fn answer(
        &mut self,
        mut request: Request<1>,
        registers: &mut Registers,
        memories: &Memories,
        mutant: Mutant,
    ) -> Answer<1> {
        let Some(geometry) = geometry(registers) else {
            return Answer::refused(0, Status::BusError);
        };
        if self.engine.as_ref().is_none_or(|engine| *engine.geometry() != geometry) {
            self.engine = Some(Engine::new(geometry, MOST_PINS));
        }
        let engine = self.engine.as_mut().expect("made above");
        match request.operation {
            Operation::LookUp | Operation::LockAndRead => {
                registers.count(LOOK_UP_UNIT + LOOK_UPS.offset(), 1);
            }
            Operation::Evict if mutant == Mutant::EvictsNothing => {
                request.operation = Operation::LookUp;
            }
            Operation::Unlock if mutant == Mutant::UnlocksForAll => request.owner = 1,
            _ => {}
        }
        let base = registers.pair(LOOK_UP_UNIT + TABLE_BASE.offset());
        engine.run(&Lines { base, memories, mutant }, request)
    }
}

fn setting(registers: &Registers, offset: u32) -> u32 {
    registers.get(LOOK_UP_UNIT + offset)
}

/// The table that the registers tell of.
fn geometry(registers: &Registers) -> Option<Geometry<1>> {
    let word = |offset| setting(registers, offset);
    let pair = |offset: u32| registers.pair(LOOK_UP_UNIT + offset);
    let (limit, more) = (word(LIMIT.offset()) as u8, word(MORE.offset()) as u8);
    let (slots, segments) = (word(SLOTS.offset()), word(SEGMENTS.offset()));
    let table = Table::new(BASE, slots, SLOT_BYTES, limit, more, segments).ok()?;
    let from_base =
        |address: u64| address.wrapping_sub(pair(TABLE_BASE.offset())).wrapping_add(BASE);
    let places = Places {
        log2_segment: word(SEGMENT_SHIFT.offset()),
        directory: from_base(pair(DIRECTORY_BASE.offset())),
        overflow: from_base(pair(OVERFLOW_BASE.offset())),
        overflow_slots: word(OVERFLOW_SLOTS.offset()),
    };
    let settings = Settings {
        value_bytes: word(VALUE_BYTES.offset()) as u16,
        most_readings: word(MOST_READINGS.offset()) as u8,
        landing_lines: LANDING_LINES,
    };
    Geometry::new(table, places, settings).ok()
}

/// Switches the unit off if a setting does not fit, and says which.
pub fn enable(registers: &mut Registers) {
    let misfit = misfit(registers).unwrap_or(LookupSetting::None);
    registers.set(LOOK_UP_UNIT + SETTINGS_ERROR.offset(), misfit as u32);
    if misfit != LookupSetting::None {
        registers.set(LOOK_UP_UNIT + CONTROL.offset(), 0);
    }
}

/// The first setting that does not fit.
fn misfit(registers: &Registers) -> Option<LookupSetting> {
    let word = |offset| setting(registers, offset);
    let aligned = |offset: u32, to| registers.pair(LOOK_UP_UNIT + offset).is_multiple_of(to);
    let shift = word(SEGMENT_SHIFT.offset());
    let segments = 1u32.checked_shl(shift).map(|homes| word(SLOTS.offset()).div_ceil(homes));
    let fits = [
        (aligned(TABLE_BASE.offset(), 64), LookupSetting::TableBase),
        (word(SLOTS.offset()) > 0, LookupSetting::Slots),
        (word(LIMIT.offset()) <= 63, LookupSetting::Limit),
        ((1..=64).contains(&word(MORE.offset())), LookupSetting::More),
        (shift <= 31, LookupSetting::SegmentShift),
        (aligned(DIRECTORY_BASE.offset(), 64), LookupSetting::DirectoryBase),
        (aligned(OVERFLOW_BASE.offset(), 64), LookupSetting::OverflowBase),
        (word(VALUE_BYTES.offset()) <= 8, LookupSetting::ValueBytes),
        ((2..=255).contains(&word(MOST_READINGS.offset())), LookupSetting::MostReadings),
        (aligned(INDEX_BASE.offset(), ENTRY_BYTES), LookupSetting::IndexBase),
        (
            segments
                .is_some_and(|least| (least..=MOST_SEGMENTS).contains(&word(SEGMENTS.offset()))),
            LookupSetting::Segments,
        ),
    ];
    fits.into_iter().find_map(|(fits, setting)| (!fits).then_some(setting))
}

/// The memory around the table, as the engine sees it.
struct Lines<'a> {
    base: u64,
    memories: &'a Memories,
    mutant: Mutant,
}

impl HostLines for Lines<'_> {
    fn line(&self, address: u64) -> Result<[u64; 8], ReadError> {
        let place = address.wrapping_sub(BASE).wrapping_add(self.base);
        let Some(spot) = self.memories.readable(place, 64) else {
            return match self.mutant {
                Mutant::ReadsUnmappedAsZero => Ok([0; 8]),
                _ => Err(ReadError(place)),
            };
        };
        let read = || {
            let word = |index: usize| spot.memory.word(spot.offset + 8 * index);
            std::array::from_fn(|index| word(index).load(Ordering::Acquire))
        };
        let mut last = read();
        loop {
            let next = read();
            if next == last {
                return Ok(next);
            }
            last = next;
        }
    }
}
