// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device that another process serves at a unix socket.

#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::fs::SealFlags;
use rustix::io::Errno;
use vfio_user::{Client, Error, IrqAction, Options, RegionInfo, irq_index, region_index};

use crate::event::{self, Event, EventInterrupt, Vectors};
use crate::mappings::Mappings;
use crate::pci_regs::{COMMAND, COMMAND_MASTER, COMMAND_MEMORY};
use crate::{
    AtomicRoute, Backend, DeviceError, DeviceUri, HostMemory, Information, Interrupt,
    InterruptKind, MemoryNeeds, OpenError, PAGE_BYTES, Space, Width,
};

/// The bound of each call.
const BOUND: Duration = Duration::from_secs(5);

/// What the kernel says of a file system of huge pages (`linux/magic.h`).
const HUGETLBFS_MAGIC: u32 = 0x9584_58F6;

/// What a server may be given as bus addresses: none that fits 32 bits, so that a truncated one
/// is found out, and none that an IOMMU of four levels does not know.
const BUS_ADDRESSES: std::ops::RangeInclusive<u64> = 1 << 32..=(1 << 47) - 1;

/// The backend for `vfio-user:/path`.
pub struct VfioUser {
    information: Information,
    configuration_bytes: u64,
    link: Arc<Link>,
    mappings: Mutex<Mappings>,
}

/// The connection, which interrupts also use when they are dropped.
struct Link {
    path: PathBuf,
    client: Mutex<Client>,
    vectors: Mutex<Vectors>,
}

/// A thread that panicked did so between two calls, which leaves nothing half done.
impl VfioUser {
    /// Connects to the server at `path`.
    ///
    /// # Errors
    /// [`OpenError`]: no socket, no server, busy, not a device that can be used.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::open_within(path, BOUND)
    }

    /// As [`VfioUser::open`], with another bound of each call.
    ///
    /// # Errors
    /// As [`VfioUser::open`].
    pub fn open_within(path: &Path, bound: Duration) -> Result<Self, OpenError> {
        let name = DeviceUri::VfioUser(path.into()).to_string();
        let failed = |error| open_error(&name, path, error);
        let options = Options { timeout: bound, ..Options::default() };
        let mut client = Client::connect(path, options).map_err(failed)?;
        let mut bar_bytes = [0; 6];
        for (bar, bytes) in bar_bytes.iter_mut().enumerate() {
            let index = region_index::BAR0 + bar as u32;
            *bytes = client.region_info(index).map_err(failed)?.size;
        }
        let configuration = client.region_info(region_index::CONFIG).map_err(failed)?;
        let interrupts = client.irq_info(irq_index::MSIX).map_err(failed)?;
        if interrupts.count == 0 || !interrupts.eventfd {
            return Err(OpenError::Unsuitable {
                name,
                reason: "the server offers no MSI-X interrupts by event descriptor".into(),
                remedy: "serve the device with `lockstep serve`".into(),
            });
        }
        let information = Information {
            name,
            bar_bytes,
            vectors: interrupts.count,
            memory: MemoryNeeds::OrdinaryPages,
            interrupts: InterruptKind::Event,
            // No link and no root port: the server works on the same pages as we do.
            atomics: AtomicRoute::Direct,
        };
        let link = Link {
            path: path.into(),
            client: Mutex::new(client),
            vectors: Mutex::new(Vectors::new(interrupts.count)),
        };
        let this = VfioUser {
            information,
            configuration_bytes: configuration.size,
            link: Arc::new(link),
            mappings: Mutex::new(Mappings::new([BUS_ADDRESSES])),
        };
        let enabled = this.enable();
        enabled.map_err(|source| {
            let name = this.information.name.clone();
            OpenError::Device { name, source }
        })?;
        Ok(this)
    }

    /// Lets the function answer in its BARs and reach memory, which no kernel does for us.
    fn enable(&self) -> Result<(), DeviceError> {
        let at = COMMAND as u64;
        let command = self.read(Space::Configuration, at, Width::Two)?;
        let enabled = command | u64::from(COMMAND_MEMORY | COMMAND_MASTER);
        self.write(Space::Configuration, at, Width::Two, enabled)
    }

    /// The region of a space, once the access is known to lie in it.
    fn region(&self, space: Space, offset: u64, width: Width) -> Result<u32, DeviceError> {
        self.information.check_access(space, self.configuration_bytes, offset, width)?;
        Ok(match space {
            Space::Configuration => region_index::CONFIG,
            Space::Bar(bar) => region_index::BAR0 + u32::from(bar),
        })
    }
}

impl Link {
    /// Does one call; its failure names what was attempted.
    fn call<T>(
        &self,
        attempted: impl FnOnce() -> String,
        work: impl FnOnce(&mut Client) -> Result<T, Error>,
    ) -> Result<T, DeviceError> {
        work(&mut self.client.lock()).map_err(|error| device_error(&self.path, attempted(), error))
    }

    /// What is said once the other end is gone.
    fn lost(&self) -> DeviceError {
        DeviceError::Disconnected {
            peer: format!("the server at {}", self.path.display()),
            reason: "the connection is closed".into(),
        }
    }

    /// Connects an event to a vector, or none.
    fn set_event(&self, vector: u32, event: Option<&Event>) -> Result<(), DeviceError> {
        self.call(
            || format!("set the event of vector {vector}"),
            |client| {
                let files = [event.map(Event::file)];
                client.set_irqs(irq_index::MSIX, vector, &files, IrqAction::Trigger)
            },
        )
    }
}

impl Backend for VfioUser {
    fn information(&self) -> &Information {
        &self.information
    }

    fn read(&self, space: Space, offset: u64, width: Width) -> Result<u64, DeviceError> {
        let region = self.region(space, offset, width)?;
        let mut bytes = [0; 8];
        self.link.call(
            || format!("read {space} at 0x{offset:X}"),
            |client| client.region_read(region, offset, &mut bytes[..width.bytes()]),
        )?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn write(
        &self,
        space: Space,
        offset: u64,
        width: Width,
        value: u64,
    ) -> Result<(), DeviceError> {
        let region = self.region(space, offset, width)?;
        let bytes = value.to_le_bytes();
        self.link.call(
            || format!("write {space} at 0x{offset:X}"),
            |client| client.region_write(region, offset, &bytes[..width.bytes()]),
        )
    }

    fn map(&self, memory: &Arc<HostMemory>) -> Result<u64, DeviceError> {
        if is_of_huge_pages(memory.file()) {
            return Err(DeviceError::Refused {
                attempted: format!("map {} bytes", memory.bytes()),
                reason: "the server could take huge pages out of it; ordinary pages are needed"
                    .into(),
            });
        }
        self.mappings.lock().map(memory, |address| {
            let (bytes, offset) = (memory.bytes() as u64, memory.file_offset());
            self.link.call(
                || format!("map {bytes} bytes at device address 0x{address:X}"),
                |client| client.dma_map(address, bytes, offset, Some(memory.file()), true, true),
            )
        })
    }

    fn unmap(&self, address: u64) -> Result<(), DeviceError> {
        self.mappings.lock().unmap(address, |memory| {
            self.link.call(
                || format!("unmap device address 0x{address:X}"),
                |client| client.dma_unmap(address, memory.bytes() as u64),
            )
        })
    }

    fn interrupt(&self, vector: u32) -> Result<Box<dyn Interrupt>, DeviceError> {
        let event = Event::new()?;
        let socket = self.link.client.lock().as_fd().try_clone_to_owned();
        let socket = socket.map_err(|error| DeviceError::system("duplicate a socket", error))?;
        self.link.vectors.lock().enable(vector)?;
        if let Err(error) = self.link.set_event(vector, Some(&event)) {
            self.link.vectors.lock().disable(vector);
            return Err(error);
        }
        let link = self.link.clone();
        let disable = move || {
            // A server that has ended signals nobody.
            let _ = link.set_event(vector, None);
            link.vectors.lock().disable(vector);
        };
        let lost = self.link.lost();
        let ended = event::Link { socket, lost: Box::new(move || lost.clone()) };
        Ok(Box::new(EventInterrupt::new(vector, event, Some(ended), Box::new(disable))))
    }

    fn window(&self, bar: u8) -> Result<Option<Arc<HostMemory>>, DeviceError> {
        if bar >= 6 {
            return Ok(None);
        }
        let region = self.link.call(
            || format!("describe BAR{bar}"),
            |client| client.region_info(region_index::BAR0 + u32::from(bar)),
        )?;
        map_window(region, bar)
    }

    fn reset(&self) -> Result<(), DeviceError> {
        self.link.call(|| "reset the device".into(), Client::reset)?;
        self.enable()
    }
}

/// Maps a region whose server lets all of it be mapped.
fn map_window(region: RegionInfo, bar: u8) -> Result<Option<Arc<HostMemory>>, DeviceError> {
    let whole =
        matches!(region.areas()[..], [area] if area.offset == 0 && area.size == region.size);
    let Some(file) = region.file.filter(|_| whole && region.size > 0) else { return Ok(None) };
    // A file that its owner shortens would end this process at the next access.
    let seals = rustix::fs::fcntl_get_seals(&file).unwrap_or(SealFlags::empty());
    if !seals.contains(SealFlags::SHRINK) {
        return Err(DeviceError::Refused {
            attempted: format!("map BAR{bar}"),
            reason: "the server could shorten the file behind it; it must be sealed against \
                     shrinking"
                .into(),
        });
    }
    if is_of_huge_pages(file.as_fd()) {
        return Err(DeviceError::Refused {
            attempted: format!("map BAR{bar}"),
            reason:
                "the server could take huge pages out of the file behind it; ordinary pages are \
                     needed"
                    .into(),
        });
    }
    // Asked after the seal was seen, so the answer holds for ever.
    let status = rustix::fs::fstat(&file)
        .map_err(|errno| DeviceError::system(format!("look at the file of BAR{bar}"), errno))?;
    let length = u64::try_from(status.st_size).unwrap_or(0);
    if region.offset.checked_add(region.size).is_none_or(|end| end > length) {
        return Err(DeviceError::Refused {
            attempted: format!("map BAR{bar}"),
            reason: format!("the file behind it has {length} bytes, too few"),
        });
    }
    let memory = usize::try_from(region.size)
        .map_err(|_| io::Error::from(Errno::OVERFLOW))
        .and_then(|bytes| HostMemory::map(file, region.offset, bytes, PAGE_BYTES))
        .map_err(|error| DeviceError::system(format!("map BAR{bar}"), error))?;
    Ok(Some(Arc::new(memory)))
}

/// Whether a file in memory is made of huge pages. Whoever has it can punch a hole into it, seals or
/// not, and when no huge page is left to fill that again, an access ends the process by SIGBUS; while
/// ordinary pages come back as zeros.
fn is_of_huge_pages(file: BorrowedFd<'_>) -> bool {
    // What cannot be asked for is no reason to trust it.
    rustix::fs::fstatfs(file).map_or(true, |status| status.f_type as u32 == HUGETLBFS_MAGIC)
}

/// What a failed call means to the user of a device.
fn device_error(path: &Path, attempted: String, error: Error) -> DeviceError {
    match error {
        Error::Timeout { waited_for, bound } => DeviceError::Timeout {
            waited_for: format!("{waited_for} of {}, to {attempted}", path.display()),
            bound: format!("{bound:?}"),
        },
        Error::Refused { .. } | Error::TooLarge { .. } | Error::Unmapped { .. } => {
            DeviceError::Refused { attempted, reason: error.to_string() }
        }
        // All others leave the connection of no more use, or found it so.
        _ => DeviceError::Disconnected {
            peer: format!("the server at {}", path.display()),
            reason: error.to_string(),
        },
    }
}

/// What a failure to connect means, and what to do next.
fn open_error(name: &str, path: &Path, error: Error) -> OpenError {
    let name = name.to_string();
    const START: &str = "start a server there with `lockstep serve`";
    match error {
        Error::NotASocket { path } => OpenError::NotASocket { path },
        Error::Socket { path, source, .. } => match source.kind() {
            io::ErrorKind::NotFound => OpenError::NoDevice {
                name,
                reason: format!("{} does not exist", path.display()),
                remedy: START.into(),
            },
            io::ErrorKind::ConnectionRefused => OpenError::NoDevice {
                name,
                reason: format!("nobody listens at {}", path.display()),
                remedy: START.into(),
            },
            io::ErrorKind::PermissionDenied => OpenError::PermissionDenied {
                remedy: format!(
                    "the server makes it for its own user alone: run as that user, or let that \
                     user give you the socket itself (setfacl -m u:$YOU:rw {}), in a folder that \
                     both may enter",
                    path.display()
                ),
                path,
            },
            _ => OpenError::System { name, attempted: "connect".into(), source },
        },
        Error::Refused { errno, .. } if errno == Errno::BUSY.raw_os_error().unsigned_abs() => {
            OpenError::Busy { name, reason: "the server has another client".into() }
        }
        error @ (Error::Version { .. } | Error::Malformed { .. } | Error::Refused { .. }) => {
            OpenError::Unsuitable { name, reason: error.to_string(), remedy: START.into() }
        }
        error => {
            let source = device_error(path, "connect".into(), error);
            OpenError::Device { name, source }
        }
    }
}
