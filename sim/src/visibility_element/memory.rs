// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device memory that an element reads.

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::bus::BusError;

/// Bytes of a line.
const LINE_BYTES: u64 = 64;

/// The memory behind the ports of an element.
pub trait DeviceMemory: Debug {
    /// The line at `address`, a multiple of 64; word 0 is its first 8 bytes.
    ///
    /// # Errors
    /// What the bus answers instead.
    fn line(&mut self, address: u64) -> Result<[u64; 8], BusError>;

    /// Whether one more line is served in `cycle`. A memory of limited bandwidth says no; the read
    /// then waits. Asked before each line.
    fn admits(&mut self, _cycle: u64) -> bool {
        true
    }
}

/// Chunks of memory at their addresses; what is in none answers DECERR.
#[derive(Debug, Clone, Default)]
pub struct SparseMemory {
    /// By the address of their first byte, a multiple of 64; whole lines, none over another.
    chunks: BTreeMap<u64, Vec<u8>>,
}

impl SparseMemory {
    /// Puts bytes at `address`, filled up with zeros to whole lines.
    ///
    /// # Panics
    /// When `address` is no multiple of 64, or something is there already.
    pub fn place(&mut self, address: u64, bytes: &[u8]) {
        assert!(address.is_multiple_of(LINE_BYTES), "address {address:#x} is within a line");
        let mut chunk = bytes.to_vec();
        chunk.resize(bytes.len().next_multiple_of(LINE_BYTES as usize), 0);
        let end = address + chunk.len() as u64;
        let before = self.chunks.range(..end).next_back();
        let free = before.is_none_or(|(start, chunk)| start + chunk.len() as u64 <= address);
        assert!(free, "{address:#x} to {end:#x} is over another chunk");
        self.chunks.insert(address, chunk);
    }

    /// The bytes that were placed at `address`, if any were.
    pub fn chunk_mut(&mut self, address: u64) -> Option<&mut [u8]> {
        self.chunks.get_mut(&address).map(Vec::as_mut_slice)
    }
}

impl DeviceMemory for SparseMemory {
    fn line(&mut self, address: u64) -> Result<[u64; 8], BusError> {
        let (start, chunk) =
            self.chunks.range(..=address).next_back().ok_or(BusError::DecodeError)?;
        let offset = (address - start) as usize;
        let line = chunk.get(offset..offset + LINE_BYTES as usize).ok_or(BusError::DecodeError)?;
        let word = |n: usize| line[8 * n..8 * n + 8].try_into().expect("8 bytes");
        Ok(std::array::from_fn(|n| u64::from_le_bytes(word(n))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_where_they_were_placed_and_nowhere_else() {
        let mut memory = SparseMemory::default();
        memory.place(0x80, &[1; 65]);
        memory.place(0x100, &[2; 64]);
        assert_eq!(memory.line(0x80), Ok([0x0101_0101_0101_0101; 8]));
        assert_eq!(memory.line(0xC0), Ok([1, 0, 0, 0, 0, 0, 0, 0]), "filled up with zeros");
        assert_eq!(memory.line(0x100), Ok([0x0202_0202_0202_0202; 8]));
        for nowhere in [0, 0x40, 0x140] {
            assert_eq!(memory.line(nowhere), Err(BusError::DecodeError), "{nowhere:#x}");
        }
        memory.chunk_mut(0x100).expect("it was placed")[0] = 7;
        assert_eq!(memory.line(0x100).map(|line| line[0]), Ok(0x0202_0202_0202_0207));
        assert!(memory.chunk_mut(0xC0).is_none());
    }

    #[test]
    #[should_panic(expected = "0xc0 to 0x100 is over another chunk")]
    fn chunks_do_not_overlap() {
        let mut memory = SparseMemory::default();
        memory.place(0x80, &[1; 65]);
        memory.place(0xC0, &[2; 64]);
    }
}
