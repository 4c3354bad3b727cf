// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each block of registers does by its map: what it reads after a reset, which writes it takes, whole or in part,
//! and what they change.

use driver::map::{Access, Word};
use sim::bus::BusError;
use sim::bus::axi_lite::{LiteOutcome, LiteRequest};

/// Bytes of a block.
pub const BLOCK_BYTES: u32 = 0x1000;

/// Values to write; what does not suit a register is made to. Of each two bits, one is 1 alone somewhere.
const PATTERNS: [u32; 13] = [
    u32::MAX,
    0x5555_5555,
    0xAAAA_AAAA,
    0x3333_3333,
    0xCCCC_CCCC,
    0x0F0F_0F0F,
    0xF0F0_F0F0,
    0x00FF_00FF,
    0xFF00_FF00,
    0x0000_FFFF,
    0xFFFF_0000,
    1,
    0,
];

const NO_READ: LiteOutcome = Err(BusError::DecodeError);
const NO_WRITE: LiteOutcome = Err(BusError::SubordinateError);

/// The registers of a block, by a function that performs one access to its end.
pub struct Block<'a>(pub &'a mut dyn FnMut(LiteRequest) -> LiteOutcome);

impl Block<'_> {
    /// Reads the word at an offset in the block.
    pub fn read(&mut self, offset: u32) -> LiteOutcome {
        (self.0)(LiteRequest::Read { address: address(offset) })
    }

    /// Writes it.
    pub fn write(&mut self, offset: u32, value: u32) -> LiteOutcome {
        self.write_bytes(offset, value, 0xF)
    }

    /// Writes the bytes of it that `strobe` has a bit for.
    pub fn write_bytes(&mut self, offset: u32, value: u32, strobe: u8) -> LiteOutcome {
        (self.0)(LiteRequest::Write { address: address(offset), value, strobe })
    }

    fn value(&mut self, word: &Word) -> u32 {
        self.read(word.offset).unwrap_or_else(|error| panic!("read of {}: {error}", word.name))
    }

    fn set(&mut self, word: &Word, value: u32) {
        let written = self.write(word.offset, value);
        written.unwrap_or_else(|error| panic!("{} = {value:#x}: {error}", word.name));
    }
}

fn address(offset: u32) -> u16 {
    u16::try_from(offset).expect("an offset of 16 bits")
}

/// Reads and writes every offset of a block that was just reset, and leaves its registers at the smallest that they
/// may be. Registers named in `but` are only read, since writing them does more than to change them.
///
/// All are read before the first is written: a write may change others.
///
/// # Panics
/// When the block does not do what the map says.
pub fn check(block: &mut Block, words: &[Word], but: &[&str]) {
    words.iter().for_each(|word| check_read(block, word));
    for offset in (0..BLOCK_BYTES).step_by(4) {
        match words.iter().find(|word| word.offset == offset) {
            Some(word) if but.contains(&word.name) => {}
            Some(word) => check_write(block, word),
            None => {
                assert_eq!(block.read(offset), NO_READ, "read of {offset:#x}");
                assert_eq!(block.write(offset, 0), NO_WRITE, "write of {offset:#x}");
            }
        }
    }
    check_apart(block, words, but);
}

fn check_read(block: &mut Block, word: &Word) {
    let Word { name, offset, .. } = *word;
    if !word.is_readable() {
        assert_eq!(block.read(offset), NO_READ, "read of {name}");
        return;
    }
    let value = block.value(word);
    assert_eq!(value & !word.mask, 0, "{name} reads {value:#x}, which has bits of no field");
    if let Some(reset) = word.reset {
        assert_eq!(value, reset, "{name} after reset");
    }
}

fn check_write(block: &mut Block, word: &Word) {
    let Word { name, offset, .. } = *word;
    match word.access {
        Access::ReadOnly => {
            let before = block.value(word);
            for value in PATTERNS {
                assert_eq!(block.write(offset, value), NO_WRITE, "write of {name}");
            }
            assert_eq!(block.value(word), before, "{name} after refused writes");
        }
        Access::ReadWrite => {
            check_kept(block, word);
            check_bytes(block, word);
        }
        Access::WriteOneToClear => {
            block.set(word, u32::MAX);
            assert_eq!(block.value(word), 0, "{name} after it was cleared");
        }
        Access::WriteOnly => block.set(word, 0),
    }
}

/// The value, or one near it, that may be written.
fn suited(word: &Word, value: u32) -> u32 {
    (value / word.multiple_of * word.multiple_of).clamp(word.smallest, word.largest)
}

fn is_allowed(word: &Word, value: u32) -> bool {
    (word.smallest..=word.largest).contains(&value) && value.is_multiple_of(word.multiple_of)
}

/// A register that is written reads what was written, if that may be written.
fn check_kept(block: &mut Block, word: &Word) {
    let Word { name, offset, mask, smallest, largest, multiple_of, .. } = *word;
    for value in PATTERNS.map(|pattern| suited(word, pattern)) {
        block.set(word, value);
        assert_eq!(block.value(word), value & mask, "{name} = {value:#x}");
    }
    let too_small = smallest.checked_sub(1);
    let too_large = (largest / multiple_of * multiple_of).checked_add(multiple_of);
    let a_bit_more = (0..u32::BITS).map(|bit| smallest | 1 << bit);
    let candidates = a_bit_more.chain(too_small).chain(too_large);
    for bad in candidates.filter(|value| !is_allowed(word, *value)) {
        let before = block.value(word);
        assert_eq!(block.write(offset, bad), NO_WRITE, "{name} = {bad:#x}");
        assert_eq!(block.value(word), before, "{name} after {bad:#x} was refused");
    }
}

/// A write of some bytes is taken where the map says so, and changes these.
fn check_bytes(block: &mut Block, word: &Word) {
    let Word { name, offset, mask, smallest, takes_bytes, .. } = *word;
    let value = suited(word, u32::MAX);
    for strobe in 0..0xF_u8 {
        block.set(word, smallest);
        let written = block.write_bytes(offset, value, strobe);
        assert_eq!(written.is_ok(), takes_bytes, "{name}, strobe {strobe:#x}: {written:?}");
        assert!(written.is_ok() || written == NO_WRITE, "{name}, strobe {strobe:#x}: {written:?}");
        let bytes = (0..4).filter(|byte| takes_bytes && strobe >> byte & 1 == 1);
        let kept = bytes.fold(smallest, |kept, byte| kept | 0xFF << (8 * byte));
        assert_eq!(block.value(word), kept & mask, "{name}, strobe {strobe:#x}");
    }
    block.set(word, smallest);
}

/// Settings keep their values while others are written.
fn check_apart(block: &mut Block, words: &[Word], but: &[&str]) {
    let is_setting = |word: &&Word| word.access == Access::ReadWrite && word.name != "CONTROL";
    let settings: Vec<&Word> =
        words.iter().filter(is_setting).filter(|word| !but.contains(&word.name)).collect();
    for round in 0..8_u32 {
        let value = |n: usize| (8 * n as u32 + round + 1).wrapping_mul(0x9E37_79B1);
        for (n, word) in settings.iter().enumerate() {
            block.set(word, suited(word, value(n)));
        }
        for (n, word) in settings.iter().enumerate() {
            let expected = suited(word, value(n)) & word.mask;
            assert_eq!(block.value(word), expected, "{} after others were written", word.name);
        }
    }
    settings.iter().for_each(|word| block.set(word, word.smallest));
}

/// Of a block that is on: what may be written only while it is off stays as it is.
///
/// # Panics
/// When something changes, or when the map has no such register.
pub fn check_holds(block: &mut Block, words: &[Word]) {
    let settings: Vec<&Word> = words.iter().filter(|word| word.while_disabled).collect();
    assert!(!settings.is_empty(), "the map has settings");
    for word in settings {
        let before = block.value(word);
        for value in [suited(word, !before), suited(word, before)] {
            assert_eq!(block.write(word.offset, value), NO_WRITE, "{} = {value:#x}", word.name);
            assert_eq!(block.value(word), before, "{} after a refused write", word.name);
        }
    }
}

#[cfg(test)]
mod tests;
