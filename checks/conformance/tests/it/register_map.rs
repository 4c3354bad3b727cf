// SPDX-License-Identifier: MIT OR Apache-2.0
//! The register map against the hardware, the lock unit alone and the device: every word that
//! `hw/regs` describes, and every offset that it does not.

use std::panic::AssertUnwindSafe;

use driver::map::{Access, Place, Word, device, lock_unit};
use driver::{BusResponse, DeviceError, Operation, Registers};
use lockstep_device_model::{Inputs, Model, Outputs};
use sim::bus::BusError;
use sim::bus::axi_lite::{AxiLiteManager, AxiLiteRegisters, LiteRequest, LiteStalls};
use sim::bus::pins::{AxiLiteManagerPins, AxiLiteSubordinatePins};
use sim::lock_unit::{UnitConfig, UnitUnderTest};
use sim::models::TupleLockUnit;

/// Bytes of a block.
const BLOCK_BYTES: u32 = 0x1000;

/// Values to write; what does not suit a register is made to.
const PATTERNS: [u32; 5] = [u32::MAX, 0x5A5A_5A5A, 0xA5A5_A5A5, 1, 0];

fn response<T>(result: Result<T, DeviceError>) -> Option<BusResponse> {
    match result {
        Ok(_) => None,
        Err(DeviceError::Bus { response, .. }) => Some(response),
        Err(other) => panic!("{other}"),
    }
}

/// Reads and writes every offset of a block that was just reset, over a bus that reports errors,
/// and leaves its registers at the smallest that they may be.
///
/// All are read before the first is written: a write may change others.
fn walk(registers: &mut dyn Registers, words: &[Word]) {
    words.iter().for_each(|word| check_read(registers, word));
    for offset in (0..BLOCK_BYTES).step_by(4) {
        match words.iter().find(|word| word.offset == offset) {
            Some(word) => check_write(registers, word),
            None => {
                let read = response(registers.read32(offset));
                assert_eq!(read, Some(BusResponse::DecodeError), "read of {offset:#x}");
                let written = response(registers.write32(offset, 0));
                assert_eq!(written, Some(BusResponse::SubordinateError), "write of {offset:#x}");
            }
        }
    }
}

fn check_read(registers: &mut dyn Registers, word: &Word) {
    let Word { name, offset, .. } = *word;
    if !word.is_readable() {
        let read = response(registers.read32(offset));
        assert_eq!(read, Some(BusResponse::DecodeError), "read of {name}");
        return;
    }
    let value = registers.read32(offset).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(value & !word.mask, 0, "{name} reads {value:#x}, which has bits of no field");
    if let Some(reset) = word.reset {
        assert_eq!(value, reset, "{name} after reset");
    }
}

fn check_write(registers: &mut dyn Registers, word: &Word) {
    let Word { name, offset, .. } = *word;
    match word.access {
        Access::ReadOnly => {
            let before = registers.read32(offset).unwrap();
            for value in PATTERNS {
                let written = response(registers.write32(offset, value));
                assert_eq!(written, Some(BusResponse::SubordinateError), "write of {name}");
            }
            assert_eq!(registers.read32(offset).unwrap(), before, "{name} after refused writes");
        }
        Access::ReadWrite => check_kept(registers, word),
        Access::WriteOneToClear => {
            registers.write32(offset, u32::MAX).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(registers.read32(offset).unwrap(), 0, "{name} after it was cleared");
        }
        Access::WriteOnly => {
            registers.write32(offset, 0).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
}

/// A register that is written reads what was written, if that may be written.
fn check_kept(registers: &mut dyn Registers, word: &Word) {
    let Word { name, offset, mask, smallest, largest, multiple_of, .. } = *word;
    for pattern in PATTERNS {
        let value = (pattern / multiple_of * multiple_of).clamp(smallest, largest);
        registers.write32(offset, value).unwrap_or_else(|e| panic!("{name} = {value:#x}: {e}"));
        assert_eq!(registers.read32(offset).unwrap(), value & mask, "{name} = {value:#x}");
    }
    let too_small = smallest.checked_sub(1);
    let too_large = (largest / multiple_of * multiple_of).checked_add(multiple_of);
    let uneven = (multiple_of > 1).then_some(multiple_of / 2);
    for bad in [too_small, too_large, uneven].into_iter().flatten() {
        let before = registers.read32(offset).unwrap();
        let written = response(registers.write32(offset, bad));
        assert_eq!(written, Some(BusResponse::SubordinateError), "{name} = {bad:#x}");
        assert_eq!(registers.read32(offset).unwrap(), before, "{name} after {bad:#x} was refused");
    }
}

#[test]
fn the_lock_unit_has_the_registers_of_the_map() {
    let mut unit = UnitUnderTest::new(TupleLockUnit::new(), &UnitConfig::smooth());
    walk(&mut unit, &lock_unit::WORDS);
}

/// The device's registers at its pins.
struct DeviceAtPins<C> {
    lite: AxiLiteRegisters<C>,
    /// The block that offsets count from.
    base: u32,
}

sim::axi_lite_port!(register_pins, set_register_pins of Inputs, Outputs);

fn device_at_pins() -> DeviceAtPins<impl FnMut(&AxiLiteManagerPins) -> AxiLiteSubordinatePins> {
    let mut model = Model::new();
    model.reset(4);
    let clock = move |pins: &AxiLiteManagerPins| {
        let outputs = model.outputs();
        let answer = register_pins(outputs);
        set_register_pins(model.inputs_mut(), pins);
        model.clock();
        answer
    };
    let manager = AxiLiteManager::new("s_axil", LiteStalls::default(), 0, 1000);
    let lite = AxiLiteRegisters::new(manager.with_address_bits(16), clock);
    DeviceAtPins { lite, base: 0 }
}

impl<C: FnMut(&AxiLiteManagerPins) -> AxiLiteSubordinatePins> DeviceAtPins<C> {
    fn access(&mut self, offset: u32, operation: Operation, value: u32, strobe: u8) -> Answer {
        let address = u16::try_from(self.base + offset).expect("an address of 16 bits");
        let request = match operation {
            Operation::Read => LiteRequest::Read { address },
            Operation::Write => LiteRequest::Write { address, value, strobe },
        };
        let outcome = self.lite.access(request).unwrap_or_else(|fault| panic!("{fault}"));
        outcome.map_err(|error| {
            let response = match error {
                BusError::SubordinateError => BusResponse::SubordinateError,
                BusError::DecodeError => BusResponse::DecodeError,
            };
            DeviceError::Bus { operation, offset, response }
        })
    }
}

type Answer = Result<u32, DeviceError>;

impl<C: FnMut(&AxiLiteManagerPins) -> AxiLiteSubordinatePins> Registers for DeviceAtPins<C> {
    fn read32(&mut self, offset: u32) -> Answer {
        self.access(offset, Operation::Read, 0, 0)
    }

    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.access(offset, Operation::Write, value, 0xF).map(drop)
    }
}

#[test]
fn the_device_has_the_registers_of_the_map() {
    for Place { name, base, words } in device::PLACES {
        println!("{name}");
        let mut device = device_at_pins();
        device.base = base;
        // The look-up unit is not switched on as long as it is told of no table.
        let enables =
            |word: &Word| base == driver::map::device::LOOK_UP_UNIT && word.name == "CONTROL";
        let words: Vec<Word> = words
            .iter()
            .map(|word| if enables(word) { Word { mask: word.mask & !1, ..*word } } else { *word })
            .collect();
        walk(&mut device, &words);
    }
    let mut device = device_at_pins();
    let is_free = |page: &u32| device::PLACES.iter().all(|place| place.base != *page);
    for page in (0..0x1_0000).step_by(BLOCK_BYTES as usize).filter(is_free) {
        for offset in [0, 0x100, 0xFFC] {
            device.base = page;
            assert_eq!(response(device.read32(offset)), Some(BusResponse::DecodeError));
            assert_eq!(response(device.write32(offset, 0)), Some(BusResponse::SubordinateError));
        }
    }
}

#[test]
fn a_write_with_bytes_missing_is_taken_where_the_map_says_so() {
    let mut device = device_at_pins();
    for Place { name, base, words } in device::PLACES {
        device.base = base;
        for word in words.iter().filter(|word| word.access == Access::ReadWrite) {
            for strobe in 0..0xF_u8 {
                device.write32(word.offset, word.smallest).unwrap();
                let value = 0xFFFF_FFFF / word.multiple_of * word.multiple_of;
                let value = value.clamp(word.smallest, word.largest);
                let written = device.access(word.offset, Operation::Write, value, strobe);
                let refused = (!word.takes_bytes).then_some(BusResponse::SubordinateError);
                assert_eq!(response(written), refused, "{name} {} {strobe:#x}", word.name);
                let bytes = (0..4).filter(|byte| word.takes_bytes && strobe >> byte & 1 == 1);
                let kept = bytes.fold(word.smallest, |kept, byte| kept | 0xFF << (8 * byte));
                let found = device.read32(word.offset).unwrap();
                assert_eq!(found, kept & word.mask, "{name} {} {strobe:#x}", word.name);
            }
            device.write32(word.offset, word.smallest).unwrap();
        }
    }
}

#[test]
fn what_may_change_only_in_a_queue_that_is_off_does_not_change_in_one_that_is_on() {
    let queues = device::PLACES.iter().filter(|place| place.name.ends_with("queue"));
    let mut device = device_at_pins();
    for Place { name, base, words } in queues {
        device.base = *base;
        device.write32(0x000, 1).unwrap();
        assert_eq!(device.read32(0x000).unwrap(), 1, "{name} is on");
        assert!(words.iter().any(|word| word.while_disabled));
        for word in words.iter().filter(|word| word.while_disabled) {
            let before = device.read32(word.offset).unwrap();
            let written = response(device.write32(word.offset, word.multiple_of.max(2)));
            assert_eq!(written, Some(BusResponse::SubordinateError), "{name} {}", word.name);
            assert_eq!(device.read32(word.offset).unwrap(), before, "{name} {}", word.name);
        }
    }
}

/// Whether the walk over the lock unit with this map fails.
fn is_noticed(words: &[Word]) -> bool {
    let mut unit = UnitUnderTest::new(TupleLockUnit::new(), &UnitConfig::smooth());
    std::panic::catch_unwind(AssertUnwindSafe(|| walk(&mut unit, words))).is_err()
}

#[test]
fn a_mistake_in_the_map_is_noticed_wherever_it_is() {
    for index in 0..lock_unit::WORDS.len() {
        let mut words = lock_unit::WORDS;
        let right = words[index];
        let other = if right.is_writable() { Access::ReadOnly } else { Access::ReadWrite };
        let mut wrong = vec![
            Word { offset: 0xF00, ..right },
            Word { access: other, ..right },
            Word { reset: right.reset.map(|value| value ^ 1), ..right },
        ];
        if right.access == Access::ReadWrite {
            wrong.push(Word { mask: right.mask >> 1, ..right });
            wrong.push(Word { multiple_of: 2 * right.multiple_of, ..right });
            let largest = right.largest.min(right.mask);
            wrong.push(Word { largest: largest - right.multiple_of, ..right });
        }
        for word in wrong {
            words[index] = word;
            assert!(is_noticed(&words), "{right:?} as {word:?}");
        }
    }
}

#[test]
fn control_registers_are_where_tapasco_expects_those_of_a_processing_element() {
    use driver::map::queue;
    assert_eq!(lock_unit::CONTROL.offset(), 0x00);
    assert_eq!(lock_unit::GIE.offset(), 0x04);
    assert_eq!(lock_unit::IER.offset(), 0x08);
    assert_eq!(lock_unit::ISR.offset(), 0x0C);
    assert_eq!(lock_unit::RETURN.offset(), 0x10);
    let argument = |n: u32| 0x20 + 0x10 * n;
    assert_eq!(lock_unit::TABLE_BASE.offset(), argument(0));
    assert_eq!(lock_unit::TABLE_LOG2_BUCKETS.offset(), argument(1));

    assert_eq!(queue::CONTROL.offset(), 0x00);
    assert_eq!(queue::GIE.offset(), 0x04);
    assert_eq!(queue::IER.offset(), 0x08);
    assert_eq!(queue::ISR.offset(), 0x0C);
    assert_eq!(queue::RETURN.offset(), 0x10);
    let arguments = [queue::SUBMISSION_BASE.offset(), queue::COMPLETION_BASE.offset()]
        .into_iter()
        .chain([queue::LOG2_ENTRIES.offset(), queue::SUBMISSION_TAIL.offset()])
        .chain([queue::COMPLETION_HEAD.offset(), queue::SUBMISSION_HEAD.offset()])
        .chain([queue::COMPLETION_TAIL.offset(), queue::ERROR.offset()]);
    for (n, offset) in (0..).zip(arguments) {
        assert_eq!(offset, argument(n), "argument {n}");
    }
}

#[test]
fn every_block_of_the_device_fits_its_page() {
    for place in driver::map::device::PLACES {
        assert!(place.base.is_multiple_of(BLOCK_BYTES), "{}", place.name);
        for pair in place.words.windows(2) {
            assert!(pair[0].offset < pair[1].offset, "{}: {}", place.name, pair[1].name);
        }
        let last = place.words.last().expect("a block with registers");
        assert!(last.offset < BLOCK_BYTES, "{}: {}", place.name, last.name);
    }
}
