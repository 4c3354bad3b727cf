//! The side that uses a device.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use crate::device::{Area, DeviceInfo, Errno, IrqAction, IrqInfo};
use crate::error::Error;

/// How a client behaves.
#[derive(Debug, Clone)]
pub struct Options {
    /// Bound of each call: connect, send and the whole of the reply.
    pub timeout: Duration,
    /// Largest count of one read or write message, bytes; larger accesses are split. The server may
    /// lower it.
    pub max_transfer: u32,
    /// How long to look for the reply again and again before sleeping until it comes.
    pub spin: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(5),
            max_transfer: 1 << 20,
            spin: Duration::from_micros(20),
        }
    }
}

/// A region as the server describes it.
#[derive(Debug)]
pub struct RegionInfo {
    /// Bytes; 0: there is no such region.
    pub size: u64,
    /// May be read.
    pub readable: bool,
    /// May be written.
    pub writable: bool,
    /// May be mapped, through `file`.
    pub mappable: bool,
    /// Which parts may be mapped; empty and `mappable`: all of it.
    pub sparse: Vec<Area>,
    /// What to map.
    pub file: Option<OwnedFd>,
    /// Where in the file the region starts.
    pub offset: u64,
}

/// Memory that the server may ask for by message, where a map carried no descriptor.
pub trait GuestMemory {
    /// Reads from device address `address`.
    ///
    /// # Errors
    /// What the server shall be told, as `EFAULT`.
    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), Errno>;

    /// Writes to device address `address`.
    ///
    /// # Errors
    /// What the server shall be told, as `EFAULT`.
    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), Errno>;
}

/// A connection to a server.
#[derive(Debug)]
pub struct Client(());

impl Client {
    /// Connects and agrees upon a version.
    ///
    /// # Errors
    /// No such socket, nobody listens, the server is busy, it speaks another version.
    pub fn connect(path: &Path, options: Options) -> Result<Self, Error> {
        let _ = options;
        Err(Error::NotASocket { path: path.into() })
    }

    /// Answers the server's requests for memory with `memory` from now on.
    pub fn set_guest_memory(&mut self, memory: Box<dyn GuestMemory + Send>) {
        drop(memory);
    }

    /// What the device is.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn device_info(&mut self) -> Result<DeviceInfo, Error> {
        Err(self.unfinished())
    }

    /// Describes a region.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn region_info(&mut self, index: u32) -> Result<RegionInfo, Error> {
        let _ = index;
        Err(self.unfinished())
    }

    /// Describes interrupts.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn irq_info(&mut self, index: u32) -> Result<IrqInfo, Error> {
        let _ = index;
        Err(self.unfinished())
    }

    /// Connects event descriptors to interrupts from `start` on (`None`: disconnects).
    ///
    /// # Errors
    /// See [`Error`].
    pub fn set_irqs(
        &mut self,
        index: u32,
        start: u32,
        files: &[Option<BorrowedFd<'_>>],
        action: IrqAction,
    ) -> Result<(), Error> {
        let _ = (index, start, files, action);
        Err(self.unfinished())
    }

    /// Masks, unmasks or fires interrupts now.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn act_on_irqs(
        &mut self,
        index: u32,
        start: u32,
        count: u32,
        action: IrqAction,
    ) -> Result<(), Error> {
        let _ = (index, start, count, action);
        Err(self.unfinished())
    }

    /// Disconnects all interrupts of a kind.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn disable_irqs(&mut self, index: u32) -> Result<(), Error> {
        let _ = index;
        Err(self.unfinished())
    }

    /// Reads a region.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn region_read(&mut self, index: u32, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        let _ = (index, offset, data);
        Err(self.unfinished())
    }

    /// Writes a region.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn region_write(&mut self, index: u32, offset: u64, data: &[u8]) -> Result<(), Error> {
        let _ = (index, offset, data);
        Err(self.unfinished())
    }

    /// Lends memory to the device.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn dma_map(
        &mut self,
        address: u64,
        size: u64,
        offset: u64,
        file: Option<BorrowedFd<'_>>,
        readable: bool,
        writable: bool,
    ) -> Result<(), Error> {
        let _ = (address, size, offset, file, readable, writable);
        Err(self.unfinished())
    }

    /// Takes memory back.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn dma_unmap(&mut self, address: u64, size: u64) -> Result<(), Error> {
        let _ = (address, size);
        Err(self.unfinished())
    }

    /// Takes all memory back.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn dma_unmap_all(&mut self) -> Result<(), Error> {
        Err(self.unfinished())
    }

    /// Resets the device.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn reset(&mut self) -> Result<(), Error> {
        Err(self.unfinished())
    }

    fn unfinished(&self) -> Error {
        Error::Closed { during: "before a message" }
    }
}
