// SPDX-License-Identifier: MIT OR Apache-2.0
//! What tokens put on the bus, and what fields are.

use std::collections::BTreeMap;

use super::device::{PLACES, Version};
use super::{Access, Present, lock_unit, queue, shell};
use crate::{DeviceError, Registers};

/// Words that keep what is written, and the accesses in their order.
#[derive(Default)]
struct Memory {
    words: BTreeMap<u32, u32>,
    reads: Vec<u32>,
    writes: Vec<(u32, u32)>,
}

impl Registers for Memory {
    fn read32(&mut self, offset: u32) -> Result<u32, DeviceError> {
        self.reads.push(offset);
        Ok(self.words.get(&offset).copied().unwrap_or(0))
    }

    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.writes.push((offset, value));
        self.words.insert(offset, value);
        Ok(())
    }
}

#[test]
fn a_wide_register_goes_low_half_first() {
    let mut memory = Memory::default();
    queue::SUBMISSION_BASE.write(&mut memory, 0x0123_4567_89AB_CDC0).unwrap();
    assert_eq!(memory.writes, [(0x020, 0x89AB_CDC0), (0x024, 0x0123_4567)]);
    assert_eq!(queue::SUBMISSION_BASE.read(&mut memory).unwrap(), 0x0123_4567_89AB_CDC0);
    assert_eq!(memory.reads, [0x020, 0x024]);
}

#[test]
fn a_narrow_register_ignores_bits_of_later_versions() {
    let mut memory = Memory::default();
    memory.words.insert(queue::SUBMISSION_HEAD.offset(), 0xABCD_0102);
    assert_eq!(queue::SUBMISSION_HEAD.read(&mut memory).unwrap(), 0x0102);
    queue::SUBMISSION_TAIL.write(&mut memory, 0xFFFF).unwrap();
    assert_eq!(memory.writes, [(0x050, 0xFFFF)]);
}

#[test]
fn fields_are_where_the_map_says() {
    let enabled = queue::Ier::default().with_completion(true).with_error(true);
    assert_eq!(enabled.bits(), 0b11);
    assert!(enabled.completion() && enabled.error());
    let one = enabled.with_completion(false);
    assert_eq!((one.bits(), one.completion(), one.error()), (0b10, false, true));

    let capabilities = shell::Capabilities::from_bits(0x001A_0402);
    assert_eq!((capabilities.queues(), capabilities.vectors()), (2, 4));
    assert_eq!(capabilities.card_log2_bytes(), 26);
    let version = Version::from_bits(0x0001_0003);
    assert_eq!((version.major(), version.minor()), (1, 3));

    assert_eq!(queue::Error::from_bits(3).cause(), Some(queue::Cause::Doorbell));
    assert_eq!(queue::Capabilities::from_bits(0x0C02).kind(), Some(queue::Kind::Lock));
    assert_eq!(queue::Capabilities::from_bits(0x0C09).kind(), None);
}

#[test]
fn clearing_writes_the_bits_that_are_named_and_no_others() {
    let mut memory = Memory::default();
    memory.words.insert(queue::ISR.offset(), 0b11);
    queue::ISR.clear(&mut memory, queue::Isr::default().with_error(true)).unwrap();
    assert_eq!(memory.writes, [(0x00C, 0b10)]);
    assert!(memory.reads.is_empty(), "clearing reads nothing");
}

#[test]
fn each_vector_has_its_count() {
    let offsets = shell::INTERRUPT_COUNT.map(|token| token.offset());
    assert_eq!(offsets, [0x200, 0x204, 0x208, 0x20C, 0x210, 0x214]);
}

#[test]
fn a_block_knows_its_signature() {
    let mut memory = Memory::default();
    memory.words.extend([(0x100, 0x4C53_5155), (0x104, 0x0001_0007)]);
    assert_eq!(queue::SIGNATURE.check(&mut memory).unwrap().minor(), 7);
    assert_eq!(
        shell::SIGNATURE.check(&mut memory).unwrap_err().to_string(),
        "IDENTITY is 0x4C535155, expected 0x4C534456 (\"LSDV\")"
    );
    memory.words.insert(0x104, 0x0002_0000);
    assert_eq!(
        queue::SIGNATURE.check(&mut memory).unwrap_err().to_string(),
        "VERSION is 0x20000, expected 0x10000 to 0x1FFFF (major version 1)"
    );
}

#[test]
fn all_ones_everywhere_is_a_lost_device() {
    let mut memory = Memory::default();
    memory.words.insert(shell::SCRATCH_32.offset(), u32::MAX);
    assert_eq!(shell::SCRATCH_32.read(&mut Present(&mut memory)), Ok(u32::MAX));
    memory.words.insert(shell::IDENTITY.offset(), u32::MAX);
    let lost = Err(DeviceError::Gone { offset: shell::SCRATCH_32.offset() });
    assert_eq!(shell::SCRATCH_32.read(&mut Present(&mut memory)), lost);
}

#[test]
fn signatures_and_resets_say_the_same() {
    for (place, signature) in
        PLACES.iter().zip([shell::SIGNATURE, lock_unit::SIGNATURE, queue::SIGNATURE])
    {
        let reset = |offset: u32| {
            let word = place.words.iter().find(|word| word.offset == offset).unwrap();
            assert_eq!(word.access, Access::ReadOnly);
            word.reset.unwrap()
        };
        assert_eq!(reset(0x100), signature.identity, "{}", place.name);
        let version = Version::from_bits(reset(0x104));
        assert_eq!((version.major(), version.minor()), (signature.major, signature.minor));
    }
}
