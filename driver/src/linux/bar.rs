// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registers behind a BAR, mapped into this process.

use std::io;
use std::os::fd::AsFd;
use std::ptr::NonNull;

use memmap2::MmapRaw;
use volatile_register::RW;

use crate::Width;
use crate::memory::{map_shared, ones};

/// A mapping of registers. Every access is one volatile access of its width, so one of the device.
///
/// Unlike memory, registers may not be copied in and out in chunks of any size; hence no
/// [`crate::HostMemory`].
#[derive(Debug)]
pub struct MappedBar {
    map: MmapRaw,
}

impl MappedBar {
    /// Maps `bytes` bytes of a file from `offset` on.
    ///
    /// # Errors
    /// As [`map_shared`].
    pub fn map(file: impl AsFd, offset: u64, bytes: usize) -> io::Result<Self> {
        Ok(MappedBar { map: map_shared(file, offset, bytes)? })
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.map.len()
    }

    /// Reads a register. The caller has checked that it lies in the mapping and is aligned.
    pub fn read(&self, offset: usize, width: Width) -> u64 {
        match width {
            Width::One => self.cell::<u8>(offset).read().into(),
            Width::Two => self.cell::<u16>(offset).read().into(),
            Width::Four => self.cell::<u32>(offset).read().into(),
            Width::Eight => self.cell::<u64>(offset).read(),
        }
    }

    /// Writes a register. The caller has checked that it lies in the mapping and is aligned.
    pub fn write(&self, offset: usize, width: Width, value: u64) {
        // SAFETY: whatever a register does, it does to the device: the bytes of this mapping are no
        // memory of anybody's, as with every write of a `Backend`.
        unsafe {
            match width {
                Width::One => self.cell::<u8>(offset).write(value as u8),
                Width::Two => self.cell::<u16>(offset).write(value as u16),
                Width::Four => self.cell::<u32>(offset).write(value as u32),
                Width::Eight => self.cell::<u64>(offset).write(value),
            }
        }
    }

    /// Takes the device away from behind it: reads then give all-ones, or what was written since.
    ///
    /// # Errors
    /// What the system reports; another try goes on.
    pub fn detach(&self) -> io::Result<()> {
        let start = NonNull::new(self.map.as_mut_ptr()).expect("a mapping is never at address 0");
        // SAFETY: start and size are those of the mapping, which lives as long as self; registers may
        // read as anything.
        unsafe { ones::replace(start, self.bytes()) }.map(drop)
    }

    /// The register of a width at an offset.
    fn cell<T: Register>(&self, offset: usize) -> &RW<T> {
        let (bytes, whole) = (size_of::<T>(), self.bytes());
        assert!(
            offset.is_multiple_of(bytes) && offset <= whole && bytes <= whole - offset,
            "{bytes} bytes at 0x{offset:X} of a mapping of 0x{whole:X}"
        );
        // SAFETY: the cell lies in the mapping and is aligned, as asserted and as a mapping begins on
        // a page; it lives as long as self. Any bits are a valid value (`Register`), and a cell is
        // reached by volatile accesses only.
        unsafe { &*self.map.as_mut_ptr().add(offset).cast::<RW<T>>() }
    }
}

/// The integers that are as wide as registers: any bits are one.
trait Register: Copy {}

impl Register for u8 {}
impl Register for u16 {}
impl Register for u32 {}
impl Register for u64 {}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::layout;
    use crate::map::device::SHELL;
    use crate::map::shell;

    #[test]
    fn each_width_reads_what_was_written() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4096).unwrap();
        let bar = MappedBar::map(&file, 0, 4096).unwrap();
        for (index, width) in Width::ALL.into_iter().enumerate() {
            let offset = 64 * index + width.bytes();
            bar.write(offset, width, 0x8877_6655_4433_2211);
            assert_eq!(bar.read(offset, width), 0x8877_6655_4433_2211 & width.all_ones());
            let mut bytes = [0; 16];
            file.read_exact_at(&mut bytes, offset as u64).unwrap();
            assert_eq!(
                bytes[..width.bytes()],
                0x8877_6655_4433_2211u64.to_le_bytes()[..width.bytes()]
            );
            assert_eq!(bytes[width.bytes()..], [0; 16][width.bytes()..]);
        }
    }

    /// A register by its offset is the cell of its name in the block that was made from the map.
    #[test]
    fn offsets_lead_to_the_cells_of_a_block() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(layout::BAR0_BYTES).unwrap();
        let bar = MappedBar::map(&file, 0, layout::BAR0_BYTES as usize).unwrap();
        let base = SHELL as usize;
        let start = bar.map.as_mut_ptr().wrapping_add(base).cast::<shell::Block>();
        // SAFETY: the block lies in the mapping, on a page, and consists of cells of plain numbers.
        let block = unsafe { &*start };
        bar.write(base + shell::SCRATCH_32.offset() as usize, Width::Four, 0x0123_4567);
        assert_eq!(block.scratch_32.read(), 0x0123_4567);
        // SAFETY: a register that only keeps what is written.
        unsafe { block.scratch_64[1].write(0x89AB_CDEF) };
        let wide = bar.read(base + shell::SCRATCH_64.offset() as usize, Width::Eight);
        assert_eq!(wide, 0x89AB_CDEF << 32);
        let count = shell::INTERRUPT_COUNT[3].offset() as usize;
        bar.write(base + count, Width::Four, 9);
        assert_eq!(block.interrupt_count[3].read(), 9);
    }

    #[test]
    fn registers_of_a_device_that_was_let_go_read_as_ones() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(3 << 20).unwrap();
        let bar = MappedBar::map(&file, 0, 3 << 20).unwrap();
        bar.write(0x100, Width::Four, 7);
        bar.detach().unwrap();
        for offset in [0, 0x100, (2 << 20) - 8, 2 << 20, (3 << 20) - 8] {
            assert_eq!(bar.read(offset, Width::Eight), u64::MAX, "0x{offset:X}");
        }
        bar.write(0x100, Width::Four, 8);
        let mut bytes = [0; 4];
        file.read_exact_at(&mut bytes, 0x100).unwrap();
        assert_eq!(bytes, [7, 0, 0, 0]);
    }

    #[test]
    #[should_panic(expected = "4 bytes at 0xFFE of a mapping of 0x1000")]
    fn an_access_outside_panics() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4096).unwrap();
        MappedBar::map(&file, 0, 4096).unwrap().read(0xFFE, Width::Four);
    }
}
