// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where each column lies in a row's payload.
//!
//! | part | bytes |
//! |---|---|
//! | null bitmap | 8 for each 64 columns; bit `c % 64` of word `c / 64` set = column `c` is null |
//! | fixed columns, in order | 8 each for Int64, Float64, Bool; n up to a multiple of 8 for Fixed(n) |
//! | ends of the variable columns, in order | 2 each, relative to the first variable byte; zeros up to a multiple of 8 |
//! | variable bytes | up to the last end |
//!
//! Everything is little-endian. What has no value is zero: a null's fixed bytes, and a null
//! variable column is empty.

use super::super::layout::{LinePointer, PAGE_BYTES, PageHeader, placed_bytes};
use super::{Column, Type};

/// The most bytes that a row may have: a page less its header, one line pointer and one version
/// header, down to a multiple of 8, as versions are padded.
pub const MAX_PAYLOAD: usize = (8192 - 64 - 4 - 32) / 8 * 8;

const _: () = {
    let room = PAGE_BYTES - PageHeader::BYTES - LinePointer::BYTES;
    let longest = MAX_PAYLOAD == 8088 && placed_bytes(MAX_PAYLOAD) <= room;
    assert!(longest && placed_bytes(MAX_PAYLOAD + 1) > room, "the longest row fills a page");
};

/// Where one column lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// The contents of the column.
    pub kind: Type,
    /// Whether its bit in the null bitmap may be set.
    pub nullable: bool,
    /// Where its bytes begin, or of a variable column, where its end is kept.
    pub offset: u16,
}

/// Where all columns lie.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// One for each column.
    pub slots: Vec<Slot>,
    /// Where the ends of the variable columns begin, and the fixed columns end.
    pub ends: usize,
    /// How many variable columns there are.
    pub variable_columns: usize,
    /// Where the variable bytes begin: the length of the shortest row.
    pub variable: usize,
}

impl Layout {
    /// The layout of rows of these columns, or the length of the shortest row if that is too long.
    pub fn of(columns: &[Column]) -> Result<Self, usize> {
        let bitmap = columns.len().div_ceil(64) * 8;
        let fixed: usize = columns.iter().filter_map(|column| column.kind.fixed_bytes()).sum();
        let variable_columns =
            columns.iter().filter(|column| column.kind.fixed_bytes().is_none()).count();
        let ends = bitmap + fixed;
        let variable = ends + (2 * variable_columns).next_multiple_of(8);
        if variable > MAX_PAYLOAD {
            return Err(variable);
        }
        let (mut next_fixed, mut next_end) = (bitmap, ends);
        let mut slots = Vec::with_capacity(columns.len());
        for &Column { kind, nullable, .. } in columns {
            let (next, step) = match kind.fixed_bytes() {
                Some(bytes) => (&mut next_fixed, bytes),
                None => (&mut next_end, 2),
            };
            let offset = u16::try_from(*next).expect("a row is shorter than 64 KiB");
            slots.push(Slot { kind, nullable, offset });
            *next += step;
        }
        Ok(Self { slots, ends, variable_columns, variable })
    }
}

/// The 8 bytes at `offset`.
#[inline]
pub(super) fn word(payload: &[u8], offset: usize) -> [u8; 8] {
    payload[offset..offset + 8].try_into().expect("8 bytes were taken")
}

/// The 16-bit number at `offset`.
#[inline]
pub(super) fn half(payload: &[u8], offset: usize) -> usize {
    u16::from_le_bytes([payload[offset], payload[offset + 1]]).into()
}
