// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device behind a server: its description and its callbacks.

use std::os::fd::OwnedFd;
use std::sync::Arc;

/// An error number, by which a device refuses a request; the client gets it in the error reply.
pub use rustix::io::Errno;

use crate::{Ending, RemoteMemory};

/// Indices of a PCI device's regions.
pub mod region_index {
    use vfio_bindings::bindings::vfio;

    /// First base address register; BAR n is `BAR0 + n`, n < 6.
    pub const BAR0: u32 = vfio::VFIO_PCI_BAR0_REGION_INDEX;
    /// Expansion ROM.
    pub const ROM: u32 = vfio::VFIO_PCI_ROM_REGION_INDEX;
    /// Configuration space.
    pub const CONFIG: u32 = vfio::VFIO_PCI_CONFIG_REGION_INDEX;
    /// Legacy VGA ranges.
    pub const VGA: u32 = vfio::VFIO_PCI_VGA_REGION_INDEX;
    /// How many there are.
    pub const COUNT: u32 = vfio::VFIO_PCI_NUM_REGIONS;
}

/// Indices of a PCI device's kinds of interrupts.
pub mod irq_index {
    use vfio_bindings::bindings::vfio;

    /// The interrupt pin.
    pub const INTX: u32 = vfio::VFIO_PCI_INTX_IRQ_INDEX;
    /// Message-signalled interrupts.
    pub const MSI: u32 = vfio::VFIO_PCI_MSI_IRQ_INDEX;
    /// Message-signalled interrupts, extended.
    pub const MSIX: u32 = vfio::VFIO_PCI_MSIX_IRQ_INDEX;
    /// Errors of the link.
    pub const ERR: u32 = vfio::VFIO_PCI_ERR_IRQ_INDEX;
    /// The host asks for the device back.
    pub const REQ: u32 = vfio::VFIO_PCI_REQ_IRQ_INDEX;
    /// How many there are.
    pub const COUNT: u32 = vfio::VFIO_PCI_NUM_IRQS;
}

/// What the device is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Answers `DEVICE_RESET`.
    pub resettable: bool,
    /// Is a PCI device.
    pub pci: bool,
    /// Region indices below this exist (their size may be 0).
    pub regions: u32,
    /// Interrupt indices below this exist (their count may be 0).
    pub irqs: u32,
}

impl DeviceInfo {
    /// A PCI device with the regular indices, which can be reset.
    pub const PCI: Self =
        Self { resettable: true, pci: true, regions: region_index::COUNT, irqs: irq_index::COUNT };
}

/// A range of a region, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// First byte, from the region's start.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

/// A region as a device describes it.
#[derive(Debug, Clone)]
pub struct Region {
    /// Bytes; a region of size 0 does not exist.
    pub size: u64,
    /// May be read by message.
    pub readable: bool,
    /// May be written by message.
    pub writable: bool,
    /// The memory behind it, if clients may map it.
    pub backing: Option<Backing>,
}

/// The memory behind a region that clients may map.
#[derive(Debug, Clone)]
pub struct Backing {
    /// What is mapped; it must be at least `offset` plus the region's size long.
    pub file: Arc<OwnedFd>,
    /// Where in the file the region starts.
    pub offset: u64,
    /// Which parts may be mapped; empty: the whole region.
    pub areas: Vec<Area>,
}

/// A kind of interrupts (`vfio_irq_info`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IrqInfo {
    /// How many interrupts of this kind; 0: none.
    pub count: u32,
    /// They are signalled by event descriptor.
    pub eventfd: bool,
    /// They can be masked.
    pub maskable: bool,
    /// They mask themselves when they fire.
    pub automasked: bool,
    /// They are set up as a whole.
    pub noresize: bool,
}

/// What `SET_IRQS` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IrqAction {
    /// Masks, or names the event of masking.
    Mask,
    /// Unmasks, or names the event of unmasking.
    Unmask,
    /// Fires, or names the event of firing: the usual way to receive interrupts.
    Trigger,
}

/// To which interrupts of the range, and how, `SET_IRQS` does it.
#[derive(Debug)]
pub enum IrqData {
    /// To all, now. With action trigger and count 0: all of the index are disabled.
    None,
    /// To those that are true, now; as many as the range is long.
    Bool(Vec<bool>),
    /// By these event descriptors from now on, as many as the range is long; none at all: the
    /// interrupts of the range are disconnected. The server has checked that each is an event
    /// descriptor. A write to one may block for ever, whatever its flags say: the client has the same
    /// open file, can clear `O_NONBLOCK` and fill the counter at any time.
    EventFds(Vec<OwnedFd>),
}

/// Memory of the client that the device may reach.
#[derive(Debug)]
pub struct DmaMap {
    /// First device address.
    pub address: u64,
    /// Bytes, at least 1; `address + size` does not overflow.
    pub size: u64,
    /// Where in the file the memory starts.
    pub offset: u64,
    /// The device may read it.
    pub readable: bool,
    /// The device may write it.
    pub writable: bool,
    /// What to map: a file in memory (memfd, tmpfs, hugetlbfs) that was, when it came, at least
    /// `offset + size` long and opened for what the map allows. Without one, the memory is reached by message only
    /// ([`RemoteMemory`]).
    pub file: Option<OwnedFd>,
}

/// A device behind a [`crate::Server`]. One client at a time; all calls come from the thread that
/// serves, one after the other.
///
/// The server has checked what it can before it calls: indices exist, ranges are inside their region
/// and allowed by its flags, maps do not overlap, descriptors are of the right kind and number.
pub trait ServedDevice {
    /// What the device is. Must not change.
    fn information(&self) -> DeviceInfo;

    /// Region `index`, which is less than `information().regions`; `None`: it does not exist.
    fn region(&self, index: u32) -> Option<Region>;

    /// Interrupts `index`, which is less than `information().irqs`; `None`: there are none.
    fn irqs(&self, index: u32) -> Option<IrqInfo>;

    /// Reads `data.len()` bytes of region `index` from `offset`.
    ///
    /// # Errors
    /// Whatever the client shall be told.
    fn region_read(&mut self, index: u32, offset: u64, data: &mut [u8]) -> Result<(), Errno>;

    /// Writes region `index` at `offset`.
    ///
    /// # Errors
    /// Whatever the client shall be told.
    fn region_write(&mut self, index: u32, offset: u64, data: &[u8]) -> Result<(), Errno>;

    /// The client lends memory. It overlaps no other map.
    ///
    /// # Errors
    /// Whatever the client shall be told; the map is then not made.
    fn dma_map(&mut self, map: DmaMap) -> Result<(), Errno>;

    /// The client takes memory back: exactly one map as it was made. On return the device no longer
    /// uses it.
    ///
    /// # Errors
    /// Whatever the client shall be told; the map is gone all the same.
    fn dma_unmap(&mut self, address: u64, size: u64) -> Result<(), Errno>;

    /// The client takes all memory back.
    ///
    /// # Errors
    /// Whatever the client shall be told; the maps are gone all the same.
    fn dma_unmap_all(&mut self) -> Result<(), Errno>;

    /// Sets up, masks or fires interrupts `start..start + count` of kind `index`.
    ///
    /// # Errors
    /// Whatever the client shall be told.
    fn set_irqs(
        &mut self,
        index: u32,
        start: u32,
        count: u32,
        action: IrqAction,
        data: IrqData,
    ) -> Result<(), Errno>;

    /// Resets the device (`DEVICE_RESET`). Maps and interrupt descriptors stay.
    ///
    /// # Errors
    /// Whatever the client shall be told.
    fn reset(&mut self) -> Result<(), Errno>;

    /// A client has come, and the version is agreed upon. `memory` reaches, by message, the maps that
    /// carry no descriptor; it may be used from any thread until the client leaves.
    fn client_joined(&mut self, memory: RemoteMemory) {
        drop(memory);
    }

    /// The client is gone, by its will or not: unmap all, drop interrupt descriptors, reset.
    fn client_left(&mut self, ending: &Ending);
}
