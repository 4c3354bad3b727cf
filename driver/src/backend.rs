// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trait that each backend of a device implements.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::{AtomicRoute, DeviceError, HostMemory};

/// How many bytes one access moves. The device sees it as one access, except that it may see a
/// [`Width::Eight`] as two of four bytes, the low half first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// 8 bits.
    One,
    /// 16 bits.
    Two,
    /// 32 bits.
    Four,
    /// 64 bits.
    Eight,
}

impl Width {
    /// All widths, smallest first.
    pub const ALL: [Width; 4] = [Width::One, Width::Two, Width::Four, Width::Eight];

    /// The number of bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Width::One => 1,
            Width::Two => 2,
            Width::Four => 4,
            Width::Eight => 8,
        }
    }

    /// The width of so many bytes, if there is one.
    pub const fn of_bytes(bytes: usize) -> Option<Width> {
        match bytes {
            1 => Some(Width::One),
            2 => Some(Width::Two),
            4 => Some(Width::Four),
            8 => Some(Width::Eight),
            _ => None,
        }
    }

    /// A value with all bits of this width set: what a read gives once the device is gone.
    pub const fn all_ones(self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes())
    }
}

/// Where an access goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// The function's configuration space, 4 KiB.
    Configuration,
    /// The memory behind a base address register, by its number, 0 to 5.
    Bar(u8),
}

impl fmt::Display for Space {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Space::Configuration => formatter.write_str("configuration space"),
            Space::Bar(number) => write!(formatter, "BAR{number}"),
        }
    }
}

/// What a backend knows of its device before any register is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Information {
    /// How the device was named, as a URI.
    pub name: String,
    /// Bytes behind each BAR; 0: there is none, or it is the high half of the one before.
    pub bar_bytes: [u64; 6],
    /// Interrupt vectors that can be enabled.
    pub vectors: u32,
    /// What memory must be like for [`Backend::map`] to take it.
    pub memory: MemoryNeeds,
    /// Whether interrupts come as events; otherwise they are polled from the device's counters.
    pub interrupts: InterruptKind,
    /// The way of the device's atomic operations to host memory.
    pub atomics: AtomicRoute,
}

impl Information {
    /// Checks that an access is aligned and lies in its space, of which configuration has
    /// `configuration_bytes`.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    pub fn check_access(
        &self,
        space: Space,
        configuration_bytes: u64,
        offset: u64,
        width: Width,
    ) -> Result<(), DeviceError> {
        let bytes = match space {
            Space::Configuration => configuration_bytes,
            Space::Bar(bar) => self.bar_bytes.get(usize::from(bar)).copied().unwrap_or(0),
        };
        let width = width.bytes() as u64;
        let inside = offset.checked_add(width).is_some_and(|end| end <= bytes);
        if inside && offset.is_multiple_of(width) {
            return Ok(());
        }
        Err(DeviceError::OutOfRange {
            field: "offset",
            value: offset,
            expected: format!("a multiple of {width} inside the {bytes} bytes of {space}"),
        })
    }
}

/// What a device's address translation asks of host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryNeeds {
    /// Any pages: they are translated one by one.
    Pages,
    /// Pages of 4 KiB: another process gets the file behind them, and could take huge ones away.
    OrdinaryPages,
    /// Contiguous in physical memory, so within one page: small, or huge pages.
    Contiguous,
}

/// How a backend learns of interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterruptKind {
    /// An event descriptor for each vector.
    Event,
    /// The device's register INTERRUPT_COUNT of the vector is read again and again.
    Polled,
}

/// A way to one device: in process, over a socket, or through the kernel.
///
/// Accesses may come from several threads at once; each is one access to the device, in the order
/// in which the calls begin on one thread. Every wait inside is bounded and ends as
/// [`DeviceError::Timeout`]. Nothing here panics on what a device or a peer does.
pub trait Backend: Send + Sync {
    /// What is known of the device.
    fn information(&self) -> &Information;

    /// Reads `width` at byte `offset`, a multiple of the width. A device that is gone answers
    /// all-ones; what it means is for the caller to find out.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] when the offset is unaligned or past the end; otherwise what the
    /// carrier reports.
    fn read(&self, space: Space, offset: u64, width: Width) -> Result<u64, DeviceError>;

    /// Writes the low bytes of `value` at byte `offset`, a multiple of the width. It is posted: the
    /// device may not have seen it when this returns, but sees it before any later access of this
    /// thread.
    ///
    /// # Errors
    /// As [`Backend::read`].
    fn write(&self, space: Space, offset: u64, width: Width, value: u64)
    -> Result<(), DeviceError>;

    /// Lets the device read and write `memory`; gives the address that the device uses for its
    /// first byte. The memory stays alive at least until it is unmapped.
    ///
    /// # Errors
    /// When the memory does not suit the device, or no address is left.
    fn map(&self, memory: &Arc<HostMemory>) -> Result<u64, DeviceError>;

    /// Takes the memory at a device address, as [`Backend::map`] gave it, away again. Accesses of
    /// the device under way have ended when this returns; later ones fail in the device.
    ///
    /// # Errors
    /// When there is no such mapping.
    fn unmap(&self, address: u64) -> Result<(), DeviceError>;

    /// Enables an interrupt vector.
    ///
    /// # Errors
    /// When there is no such vector, or it is enabled already.
    fn interrupt(&self, vector: u32) -> Result<Box<dyn Interrupt>, DeviceError>;

    /// The memory behind a BAR as this process may map it, when it may: card memory, never
    /// registers whose reads have effects.
    ///
    /// # Errors
    /// What the mapping reports.
    fn window(&self, bar: u8) -> Result<Option<Arc<HostMemory>>, DeviceError>;

    /// Resets the function: all work under way is dropped, all registers are as at power-up. What
    /// is mapped stays mapped, enabled vectors stay enabled.
    ///
    /// # Errors
    /// When the device cannot be reset, or is not back in time.
    fn reset(&self) -> Result<(), DeviceError>;
}

/// One enabled interrupt vector; dropping it disables the vector.
pub trait Interrupt: Send + Sync {
    /// The vector.
    fn vector(&self) -> u32;

    /// The interrupts since the last call of this or [`Interrupt::wait`]; does not wait.
    ///
    /// # Errors
    /// What the carrier reports.
    fn take(&self) -> Result<u64, DeviceError>;

    /// Waits until at least one interrupt has come, and gives their number.
    ///
    /// # Errors
    /// [`DeviceError::Timeout`] when none comes within `bound`, or what the carrier reports.
    fn wait(&self, bound: Duration) -> Result<u64, DeviceError>;
}

/// A shared backend is one, too.
impl<B: Backend + ?Sized> Backend for Arc<B> {
    fn information(&self) -> &Information {
        (**self).information()
    }

    fn read(&self, space: Space, offset: u64, width: Width) -> Result<u64, DeviceError> {
        (**self).read(space, offset, width)
    }

    fn write(
        &self,
        space: Space,
        offset: u64,
        width: Width,
        value: u64,
    ) -> Result<(), DeviceError> {
        (**self).write(space, offset, width, value)
    }

    fn map(&self, memory: &Arc<HostMemory>) -> Result<u64, DeviceError> {
        (**self).map(memory)
    }

    fn unmap(&self, address: u64) -> Result<(), DeviceError> {
        (**self).unmap(address)
    }

    fn interrupt(&self, vector: u32) -> Result<Box<dyn Interrupt>, DeviceError> {
        (**self).interrupt(vector)
    }

    fn window(&self, bar: u8) -> Result<Option<Arc<HostMemory>>, DeviceError> {
        (**self).window(bar)
    }

    fn reset(&self) -> Result<(), DeviceError> {
        (**self).reset()
    }
}
