// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device memory: some runs of bytes, and nothing between them.

use std::collections::BTreeSet;

use lockdb::layout::{PAGE_BYTES, PageBuffer};
use sim::bus::BusError;
use sim::visibility_element::DeviceMemory;

/// Bytes of a line.
pub const LINE: u64 = 64;

/// A line of memory, or an error: nothing is there, or it cannot be read.
pub type Line = Result<[u64; 8], Unreadable>;

/// Nothing is there, or it cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// The memory of a device.
#[derive(Clone, Default)]
pub struct Memory {
    /// By their addresses, which are multiples of 64.
    runs: Vec<(u64, Vec<u8>)>,
    /// Addresses of lines that cannot be read.
    pub broken: BTreeSet<u64>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Memory").finish_non_exhaustive()
    }
}

impl DeviceMemory for Memory {
    fn line(&mut self, address: u64) -> Result<[u64; 8], BusError> {
        Memory::line(self, address).map_err(|Unreadable| BusError::SubordinateError)
    }
}

impl Memory {
    /// Adds a run of bytes, filled up to whole lines.
    ///
    /// # Panics
    /// When `address` is no multiple of [`LINE`].
    pub fn add(&mut self, address: u64, mut bytes: Vec<u8>) {
        assert!(address.is_multiple_of(LINE));
        bytes.resize(bytes.len().next_multiple_of(LINE as usize), 0);
        self.runs.push((address, bytes));
        self.runs.sort_by_key(|run| run.0);
    }

    /// The line at an address.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn line(&self, address: u64) -> Line {
        if self.broken.contains(&address) {
            return Err(Unreadable);
        }
        let bytes = self.bytes(address, LINE as usize)?;
        let (words, _) = bytes.as_chunks::<8>();
        Ok(std::array::from_fn(|word| u64::from_le_bytes(words[word])))
    }

    /// The word at an address. Whole lines are read, as the hardware does it.
    ///
    /// # Errors
    /// When its line cannot be read.
    pub fn word(&self, address: u64) -> Result<u64, Unreadable> {
        Ok(self.line(address / LINE * LINE)?[(address % LINE / 8) as usize])
    }

    /// Bytes that may begin and end anywhere.
    ///
    /// # Errors
    /// When a line of them cannot be read.
    pub fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, Unreadable> {
        let first = address / LINE * LINE;
        let past = (address + bytes as u64).next_multiple_of(LINE);
        let mut all = Vec::new();
        for line in (first..past).step_by(LINE as usize) {
            all.extend(self.line(line)?.iter().flat_map(|word| word.to_le_bytes()));
        }
        let skip = (address - first) as usize;
        Ok(all[skip..skip + bytes].to_vec())
    }

    /// The page at an address.
    ///
    /// # Errors
    /// When a line of it cannot be read.
    pub fn page(&self, address: u64) -> Result<Box<PageBuffer>, Unreadable> {
        let mut page = Box::new(PageBuffer::ZERO);
        page.0.copy_from_slice(&self.read(address, PAGE_BYTES)?);
        Ok(page)
    }

    /// Bytes to be changed, inside one run.
    ///
    /// # Panics
    /// When they are not inside one.
    pub fn bytes_mut(&mut self, address: u64, bytes: usize) -> &mut [u8] {
        let run = self.runs.iter_mut().rev().find(|run| run.0 <= address).expect("a run");
        let at = (address - run.0) as usize;
        &mut run.1[at..at + bytes]
    }

    fn bytes(&self, address: u64, bytes: usize) -> Result<&[u8], Unreadable> {
        let after = self.runs.partition_point(|run| run.0 <= address);
        let run = self.runs[..after].last().ok_or(Unreadable)?;
        let at = (address - run.0) as usize;
        run.1.get(at..at + bytes).ok_or(Unreadable)
    }
}
