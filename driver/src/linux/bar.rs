//! The registers behind a BAR, mapped into this process.

use std::os::fd::AsFd;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags};

use crate::Width;
use crate::memory::ones;

/// A mapping of registers. Every access is one volatile access of its width, so one of the device.
///
/// Unlike memory, registers may not be copied in and out in chunks of any size; hence no
/// [`crate::HostMemory`].
#[derive(Debug)]
pub struct MappedBar {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to this value until it is dropped and is not tied to a thread.
unsafe impl Send for MappedBar {}
// SAFETY: as above; it is only reached by volatile accesses of whole registers, which the bus orders.
unsafe impl Sync for MappedBar {}

impl MappedBar {
    /// Maps `bytes` bytes of a file from `offset` on.
    pub fn map(file: impl AsFd, offset: u64, bytes: usize) -> rustix::io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the system's choice overlaps nothing.
        let start = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                bytes,
                protection,
                MapFlags::SHARED,
                file,
                offset,
            )?
        };
        let start = NonNull::new(start.cast()).expect("a mapping is never at address 0");
        Ok(MappedBar { start, bytes })
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads a register. The caller has checked that it lies in the mapping and is aligned.
    pub fn read(&self, offset: usize, width: Width) -> u64 {
        let at = self.locate(offset, width);
        // SAFETY: `locate` has asserted that the register lies in the mapping and is aligned to its
        // width; the mapping lives as long as self; any bits are a valid value.
        unsafe {
            match width {
                Width::One => at.read_volatile().into(),
                Width::Two => at.cast::<u16>().read_volatile().into(),
                Width::Four => at.cast::<u32>().read_volatile().into(),
                Width::Eight => at.cast::<u64>().read_volatile(),
            }
        }
    }

    /// Writes a register. The caller has checked that it lies in the mapping and is aligned.
    pub fn write(&self, offset: usize, width: Width, value: u64) {
        let at = self.locate(offset, width);
        // SAFETY: as in `read`; nothing else in this process refers to the registers.
        unsafe {
            match width {
                Width::One => at.write_volatile(value as u8),
                Width::Two => at.cast::<u16>().write_volatile(value as u16),
                Width::Four => at.cast::<u32>().write_volatile(value as u32),
                Width::Eight => at.cast::<u64>().write_volatile(value),
            }
        }
    }

    /// Takes the device away from behind it: reads then give all-ones, or what was written since.
    ///
    /// # Errors
    /// What the system reports; another try goes on.
    pub fn detach(&self) -> std::io::Result<()> {
        // SAFETY: start and size are those of the mapping, which lives as long as self; registers may
        // read as anything.
        unsafe { ones::replace(self.start, self.bytes) }.map(drop)
    }

    fn locate(&self, offset: usize, width: Width) -> *mut u8 {
        let bytes = width.bytes();
        assert!(
            offset.is_multiple_of(bytes) && offset <= self.bytes && bytes <= self.bytes - offset,
            "{bytes} bytes at 0x{offset:X} of a mapping of 0x{:X}",
            self.bytes
        );
        // SAFETY: the offset is inside the mapping, as asserted.
        unsafe { self.start.as_ptr().add(offset) }
    }
}

impl Drop for MappedBar {
    fn drop(&mut self) {
        // SAFETY: start and size are those of the mapping, and nobody borrows from it. A failure
        // would leave it mapped, which harms nobody.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

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
