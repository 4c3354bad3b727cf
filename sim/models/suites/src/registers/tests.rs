// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each check fails with the fault that it is for, in registers that otherwise do what their map says.

use std::panic::{AssertUnwindSafe, catch_unwind};

use driver::map::{dma_vectorizer, nic_lookup, shell, visibility_pe};

use super::*;

/// What the registers do otherwise than their map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// Nothing.
    None,
    /// The first read of a word has another value.
    Reset,
    /// A bit of no field reads 1.
    BitOfNoField,
    /// Places without a word can be read, or written.
    HoleReads,
    HoleWrites,
    /// A word that only software may not write changes, with the right answer.
    ReadOnlyChanges,
    /// The upper bit of a field is lost.
    LosesBit,
    /// A value that is no multiple, or too large, is taken.
    TakesAnyValue,
    /// A refused value is kept all the same.
    KeepsRefused,
    /// A write of some bytes is taken where all are to be written.
    TakesBytes,
    /// Bytes that the strobe leaves out are written.
    IgnoresStrobe,
    /// A write to one setting also changes a bit of another.
    Aliases,
    /// A write of a setting while the block is on is answered as if it were taken, or changes it with the right answer.
    AnswersWhileOn,
    ChangesWhileOn,
}

/// The registers of a block, as their map says, but for a fault.
struct Registers<'a> {
    words: &'a [Word],
    values: Vec<u32>,
    fault: Fault,
    is_on: bool,
    accesses: usize,
}

impl<'a> Registers<'a> {
    fn new(words: &'a [Word], fault: Fault) -> Self {
        let values = words.iter().map(|word| word.reset.unwrap_or(0)).collect();
        Registers { words, values, fault, is_on: false, accesses: 0 }
    }

    fn access(&mut self, request: LiteRequest) -> LiteOutcome {
        self.accesses += 1;
        match request {
            LiteRequest::Read { address } => self.read(u32::from(address)),
            LiteRequest::Write { address, value, strobe } => {
                self.write(u32::from(address), value, strobe)
            }
        }
    }

    fn at(&self, offset: u32) -> Option<usize> {
        self.words.iter().position(|word| word.offset == offset)
    }

    fn read(&self, offset: u32) -> LiteOutcome {
        let Some(n) = self.at(offset).filter(|&n| self.words[n].is_readable()) else {
            return if self.fault == Fault::HoleReads { Ok(0) } else { NO_READ };
        };
        match self.fault {
            Fault::BitOfNoField => Ok(self.values[n] | !self.words[n].mask),
            Fault::Reset if self.accesses == 1 => Ok(self.values[n] ^ self.words[n].mask),
            _ => Ok(self.values[n]),
        }
    }

    fn write(&mut self, offset: u32, value: u32, strobe: u8) -> LiteOutcome {
        let Some(n) = self.at(offset) else {
            return if self.fault == Fault::HoleWrites { Ok(0) } else { NO_WRITE };
        };
        let word = self.words[n];
        if word.access == Access::ReadOnly {
            if self.fault == Fault::ReadOnlyChanges {
                self.values[n] = value & word.mask;
            }
            return NO_WRITE;
        }
        if word.while_disabled && self.is_on {
            if self.fault == Fault::ChangesWhileOn {
                self.values[n] = value & word.mask;
            }
            return if self.fault == Fault::AnswersWhileOn { Ok(0) } else { NO_WRITE };
        }
        if strobe != 0xF && !word.takes_bytes && self.fault != Fault::TakesBytes {
            return NO_WRITE;
        }
        if !is_allowed(&word, value) && self.fault != Fault::TakesAnyValue {
            if self.fault == Fault::KeepsRefused {
                self.values[n] = value & word.mask;
            }
            return NO_WRITE;
        }
        self.take(n, value, strobe);
        Ok(0)
    }

    fn take(&mut self, n: usize, value: u32, strobe: u8) {
        let word = self.words[n];
        let bytes = if self.fault == Fault::IgnoresStrobe { 0xF } else { strobe };
        let bits = (0..4)
            .filter(|byte| bytes >> byte & 1 == 1)
            .fold(0, |bits, byte| bits | 0xFF << (8 * byte));
        let kept = (self.values[n] & !bits | value & bits) & word.mask;
        self.values[n] = match (word.access, self.fault) {
            (Access::WriteOneToClear, _) => self.values[n] & !value,
            (_, Fault::LosesBit) => kept & !(1 << word.mask.ilog2()),
            _ => kept,
        };
        if self.fault == Fault::Aliases {
            let setting = |word: &Word| word.access == Access::ReadWrite && word.name != "CONTROL";
            let mut others = (0..self.words.len()).filter(|&other| setting(&self.words[other]));
            if let Some(other) = others.rfind(|&other| other != n) {
                self.values[other] ^= 1 << self.words[other].mask.ilog2();
            }
        }
    }
}

/// Whether the checks say that something is wrong.
fn is_noticed(words: &[Word], fault: Fault) -> bool {
    catch_unwind(AssertUnwindSafe(|| {
        let mut registers = Registers::new(words, fault);
        check(&mut Block(&mut |request| registers.access(request)), words, &[]);
        if words.iter().any(|word| word.while_disabled) {
            registers.is_on = true;
            check_holds(&mut Block(&mut |request| registers.access(request)), words);
        }
    }))
    .is_err()
}

#[test]
fn registers_that_do_what_their_map_says_pass() {
    for words in
        [&dma_vectorizer::WORDS[..], &nic_lookup::WORDS, &visibility_pe::WORDS, &shell::WORDS]
    {
        assert!(!is_noticed(words, Fault::None), "{}", words[0].name);
    }
}

#[test]
fn each_fault_is_noticed() {
    for fault in [
        Fault::Reset,
        Fault::BitOfNoField,
        Fault::HoleReads,
        Fault::HoleWrites,
        Fault::ReadOnlyChanges,
        Fault::LosesBit,
        Fault::TakesAnyValue,
        Fault::KeepsRefused,
        Fault::TakesBytes,
        Fault::Aliases,
        Fault::AnswersWhileOn,
        Fault::ChangesWhileOn,
    ] {
        assert!(is_noticed(&dma_vectorizer::WORDS, fault), "{fault:?}");
    }
    // Of the shell's registers alone single bytes may be written.
    assert!(is_noticed(&shell::WORDS, Fault::IgnoresStrobe));
}
