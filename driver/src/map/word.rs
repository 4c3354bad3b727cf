// SPDX-License-Identifier: MIT OR Apache-2.0
//! The map as data, for tests and tools that walk over all of it.

/// What software may do with a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only read it.
    ReadOnly,
    /// Read and write it.
    ReadWrite,
    /// Only write it.
    WriteOnly,
    /// Read it, and clear bits by writing 1 to them.
    WriteOneToClear,
}

/// 32 bits of a register: all of it, or one half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// Name in the register map, with the half or the index where there are several words.
    pub name: &'static str,
    /// Place in the block, in bytes.
    pub offset: u32,
    /// What software may do.
    pub access: Access,
    /// What it reads after reset, where the map says so.
    pub reset: Option<u32>,
    /// The bits that belong to a field; the others read 0.
    pub mask: u32,
    /// The smallest value that may be written.
    pub smallest: u32,
    /// The largest value that may be written.
    pub largest: u32,
    /// Each value that may be written is a multiple of this.
    pub multiple_of: u32,
    /// Single bytes may be written.
    pub takes_bytes: bool,
    /// Writes are refused while bit 0 of CONTROL is 1.
    pub while_disabled: bool,
}

impl Word {
    pub(super) const fn new(
        name: &'static str,
        offset: u32,
        access: Access,
        reset: Option<u32>,
        mask: u32,
    ) -> Self {
        Word {
            name,
            offset,
            access,
            reset,
            mask,
            smallest: 0,
            largest: u32::MAX,
            multiple_of: 1,
            takes_bytes: false,
            while_disabled: false,
        }
    }

    pub(super) const fn between(self, smallest: u32, largest: u32) -> Self {
        Word { smallest, largest, ..self }
    }

    pub(super) const fn multiple_of(self, multiple_of: u32) -> Self {
        Word { multiple_of, ..self }
    }

    pub(super) const fn takes_bytes(self) -> Self {
        Word { takes_bytes: true, ..self }
    }

    pub(super) const fn while_disabled(self) -> Self {
        Word { while_disabled: true, ..self }
    }

    /// Whether software may read it.
    pub const fn is_readable(&self) -> bool {
        !matches!(self.access, Access::WriteOnly)
    }

    /// Whether software may write it.
    pub const fn is_writable(&self) -> bool {
        !matches!(self.access, Access::ReadOnly)
    }
}

/// A block of registers at its place in BAR0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Name of the block.
    pub name: &'static str,
    /// Its first byte in BAR0.
    pub base: u32,
    /// Its words, by ascending offset.
    pub words: &'static [Word],
}
