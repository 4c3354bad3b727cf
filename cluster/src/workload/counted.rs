// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows that count their updates, for workloads that do not say what they write: so lost and repeated
//! updates are noticed, and values that were torn or lost their way.

use std::ops::Range;

/// A row's first eight bytes count its updates, the next eight name the last one.
const COUNT: Range<usize> = 0..8;
const WRITER: Range<usize> = 8..16;

/// The fewest bytes of a value.
pub(super) const LEAST_BYTES: u16 = WRITER.end as u16;

/// A word of a value, 0 if the value is too short.
fn word(value: &[u8], place: Range<usize>) -> u64 {
    value.get(place).map_or(0, |word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
}

/// Writes the row's value after its update number `count`, by `writer`. The bytes behind depend on row
/// and writer.
fn fill(row: u64, count: u64, writer: u64, value: &mut [u8]) {
    value[COUNT].copy_from_slice(&count.to_le_bytes());
    value[WRITER].copy_from_slice(&writer.to_le_bytes());
    let mut state = row.rotate_left(32) ^ writer;
    for chunk in value[WRITER.end..].chunks_mut(8) {
        state = state.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ count;
        chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
    }
}

/// Appends the row's value at the start.
pub(super) fn initial(row: u64, bytes: u16, value: &mut Vec<u8>) {
    let start = value.len();
    value.resize(start + usize::from(bytes), 0);
    fill(row, 0, 0, &mut value[start..]);
}

/// Makes one more update of the row, by `writer`; `false`, and nothing done, if the value is too short.
pub(super) fn update(row: u64, writer: u64, value: &mut [u8]) -> bool {
    let is_whole = value.len() >= WRITER.end;
    if is_whole {
        fill(row, word(value, COUNT).wrapping_add(1), writer, value);
    }
    is_whole
}

/// How often the row was updated.
pub(super) fn updates(value: Option<&[u8]>) -> i64 {
    value.map_or(0, |value| word(value, COUNT) as i64)
}

/// Checks that the value is one of this row, whole, and of so many bytes.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check(row: u64, bytes: u16, value: &[u8]) -> Result<(), String> {
    if value.len() != usize::from(bytes) {
        return Err(format!("it has {} bytes instead of {bytes}", value.len()));
    }
    let (count, writer) = (word(value, COUNT), word(value, WRITER));
    let mut intact = value.to_vec();
    fill(row, count, writer, &mut intact);
    if intact != value {
        return Err(format!("its bytes are not those of update {count} by {writer:#x}"));
    }
    Ok(())
}
