// SPDX-License-Identifier: MIT OR Apache-2.0
//! The register map against the hardware, the lock unit alone and the device: every word that
//! `hw/regs` describes, and every offset that it does not.

use driver::map::{Access, Place, Word, device, lock_unit};
use lockstep_device_model::{Inputs, Model, Outputs};
use sim::bus::BusError;
use sim::bus::axi_lite::{AxiLiteManager, AxiLiteRegisters, LiteOutcome, LiteRequest, LiteStalls};
use sim::bus::pins::AxiLiteManagerPins;
use sim::lock_unit::{UnitConfig, UnitUnderTest};
use sim::models::TupleLockUnit;
use suites::registers::{self, BLOCK_BYTES, Block};

#[test]
fn the_lock_unit_has_the_registers_of_the_map() {
    check_lock_unit(&lock_unit::WORDS);
}

fn check_lock_unit(words: &[Word]) {
    let mut unit = UnitUnderTest::new(TupleLockUnit::new(), &UnitConfig::smooth());
    let mut access = |request| unit.access(request).unwrap_or_else(|fault| panic!("{fault}"));
    registers::check(&mut Block(&mut access), words, &[]);
}

sim::axi_lite_port!(register_pins, set_register_pins of Inputs, Outputs);

/// The registers of a device after a reset, all of them.
fn device_at_pins() -> impl FnMut(LiteRequest) -> LiteOutcome {
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
    let mut lite = AxiLiteRegisters::new(manager.with_address_bits(16), clock);
    move |request| lite.access(request).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Those of the block that begins at `base`.
fn from(
    base: u32,
    mut device: impl FnMut(LiteRequest) -> LiteOutcome,
) -> impl FnMut(LiteRequest) -> LiteOutcome {
    let base = u16::try_from(base).expect("an address of 16 bits");
    move |request| {
        device(match request {
            LiteRequest::Read { address } => LiteRequest::Read { address: base + address },
            LiteRequest::Write { address, value, strobe } => {
                LiteRequest::Write { address: base + address, value, strobe }
            }
        })
    }
}

#[test]
fn the_device_has_the_registers_of_the_map() {
    for Place { name, base, words } in device::PLACES {
        println!("{name}");
        // The look-up unit is not switched on as long as it is told of no table.
        let enables = |word: &Word| base == device::LOOK_UP_UNIT && word.name == "CONTROL";
        let words: Vec<Word> = words
            .iter()
            .map(|word| if enables(word) { Word { mask: word.mask & !1, ..*word } } else { *word })
            .collect();
        registers::check(&mut Block(&mut from(base, device_at_pins())), &words, &[]);
    }
    let mut device = device_at_pins();
    let mut all = Block(&mut device);
    let is_free = |page: &u32| device::PLACES.iter().all(|place| place.base != *page);
    for page in (0..0x1_0000).step_by(BLOCK_BYTES as usize).filter(is_free) {
        for offset in [0, 0x100, 0xFFC] {
            assert_eq!(all.read(page + offset), Err(BusError::DecodeError));
            assert_eq!(all.write(page + offset, 0), Err(BusError::SubordinateError));
        }
    }
}

#[test]
fn what_may_change_only_in_a_queue_that_is_off_does_not_change_in_one_that_is_on() {
    let queues = device::PLACES.iter().filter(|place| place.name.ends_with("queue"));
    let mut device = device_at_pins();
    for Place { name, base, words } in queues {
        println!("{name}");
        let mut queue = from(*base, &mut device);
        let mut queue = Block(&mut queue);
        queue.write(0x000, 1).unwrap();
        assert_eq!(queue.read(0x000), Ok(1), "{name} is on");
        registers::check_holds(&mut queue, words);
    }
}

/// Whether the check of the lock unit with this map fails.
fn is_noticed(words: &[Word]) -> bool {
    std::panic::catch_unwind(|| check_lock_unit(words)).is_err()
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
