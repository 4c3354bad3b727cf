// SPDX-License-Identifier: MIT OR Apache-2.0
//! A PCI function through sysfs: registers mapped from `resource0`, physical addresses for DMA.
//!
//! Nothing protects memory from the device. So this needs root, an IOMMU that is off or passes
//! addresses through, and memory that never moves. Accesses of the device to unmapped memory cannot
//! be stopped, so such memory is kept until the device is idle.

mod enabled;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use rustix::fs::{FlockOperation, Mode, OFlags};

use enabled::Enabled;

use super::bar::MappedBar;
use super::pci::{PciFunction, atomic_route};
use super::polled::{Count, CountsInterrupts, PolledInterrupt};
use super::untranslated::{self, Untranslated};
use super::{Roots, cannot_open};
use crate::absence;
use crate::event::Vectors;
use crate::map::device::SHELL;
use crate::map::shell;
use crate::{
    Backend, DeviceError, DeviceUri, HostMemory, Information, Interrupt, InterruptKind,
    MemoryNeeds, OpenError, PAGE_BYTES, PciAddress, PciMode, Space, Width, layout,
};

/// How long a device may take to answer after a reset.
const RESET_BOUND: Duration = Duration::from_secs(2);

/// The backend for `pci:…?mode=sysfs`.
pub struct Sysfs {
    function: Arc<Function>,
    memories: Untranslated,
}

/// The opened function, which interrupts also use.
struct Function {
    information: Information,
    folder: PathBuf,
    roots: Roots,
    enabled: Enabled,
    registers: MappedBar,
    vectors: Mutex<Vectors>,
    /// How many there were; locked while one is under way, for nobody knows when in it the counters
    /// begin anew.
    resets: RwLock<u32>,
    /// Held for its lock, which keeps other processes out.
    _locked: OwnedFd,
}

impl Sysfs {
    /// Opens a function that no kernel driver has.
    ///
    /// # Errors
    /// [`OpenError`], for what is in the way and what to do about it.
    pub fn open(roots: &Roots, address: PciAddress) -> Result<Self, OpenError> {
        let name = DeviceUri::Pci { address, mode: PciMode::Sysfs }.to_string();
        let description = super::describe(roots, &name, address)?;
        check_suitable(&name, &description)?;
        let function = Function::open(roots, &name, &description)?;
        function.start().map_err(|source| OpenError::Device { name, source })?;
        Ok(Sysfs { function: Arc::new(function), memories: Untranslated::default() })
    }
}

/// Checks what makes physical addresses usable.
fn check_suitable(name: &str, function: &PciFunction) -> Result<(), OpenError> {
    let address = function.address;
    if let Some(driver) = &function.driver {
        return Err(OpenError::KernelDriver {
            address,
            found: Some(driver.clone()),
            expected: "none",
            remedy: format!(
                "as root: echo {address} > /sys/bus/pci/devices/{address}/driver/unbind"
            ),
        });
    }
    if let Some(group) = &function.group {
        let kind = group.kind.as_deref().unwrap_or("unknown");
        if kind != "identity" {
            return Err(OpenError::Translated { address, group: group.number, kind: kind.into() });
        }
    }
    let bytes = function.bar_bytes[0];
    if bytes < layout::BAR0_BYTES || !function.bar_placed[0] {
        let bytes = if function.bar_placed[0] { bytes } else { 0 };
        let needed = layout::BAR0_BYTES;
        return Err(OpenError::BarTooSmall { name: name.into(), bar: 0, bytes, needed });
    }
    Ok(())
}

fn open(name: &str, path: &Path) -> Result<OwnedFd, OpenError> {
    let flags = OFlags::RDWR | OFlags::SYNC | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| not_opened(name, path, errno))
}

fn not_opened(name: &str, path: &Path, errno: rustix::io::Errno) -> OpenError {
    const REMEDY: &str = "run as root; a kernel in lockdown (secure boot) refuses root, too: use \
                          ?mode=vfio there";
    cannot_open(name, path, REMEDY, errno)
}

/// Keeps other processes that use this backend out, as long as the descriptor is open.
fn lock(name: &str, resource: &OwnedFd) -> Result<(), OpenError> {
    rustix::fs::flock(resource, FlockOperation::NonBlockingLockExclusive).map_err(|errno| {
        match io::Error::from(errno).kind() {
            io::ErrorKind::WouldBlock => OpenError::Busy {
                name: name.into(),
                reason: "another process holds the lock on its resource0".into(),
            },
            _ => OpenError::System {
                name: name.into(),
                attempted: "lock resource0".into(),
                source: errno.into(),
            },
        }
    })
}

impl Function {
    /// Keeps others out, maps the registers, and enables the function; it may not access memory yet.
    fn open(roots: &Roots, name: &str, description: &PciFunction) -> Result<Self, OpenError> {
        let folder = roots.function(description.address);
        let resource = open(name, &folder.join("resource0"))?;
        lock(name, &resource)?;
        let configuration = File::from(open(name, &folder.join("config"))?);
        let failed = |attempted: &str, source: io::Error| OpenError::System {
            name: name.into(),
            attempted: attempted.into(),
            source,
        };
        let enabled = Enabled::new(configuration, folder.clone())
            .map_err(|error| failed("enable the function", error))?;
        let registers = MappedBar::map(&resource, 0, layout::BAR0_BYTES as usize)
            .map_err(|error| failed("map resource0", error))?;
        let information = Information {
            name: name.into(),
            bar_bytes: description.bar_bytes,
            vectors: shell::INTERRUPT_COUNT.len() as u32,
            memory: MemoryNeeds::Contiguous,
            interrupts: InterruptKind::Polled,
            atomics: atomic_route(roots, description.address),
        };
        Ok(Function {
            vectors: Mutex::new(Vectors::new(information.vectors)),
            information,
            folder,
            roots: roots.clone(),
            enabled,
            registers,
            resets: RwLock::default(),
            _locked: resource,
        })
    }

    /// Resets the function, where that is possible, and only then lets it access memory.
    fn start(&self) -> Result<(), DeviceError> {
        if self.folder.join("reset").exists() {
            self.reset()?;
        }
        self.enabled
            .set_bus_master(true)
            .map_err(|error| DeviceError::system("switch bus mastering on", error))
    }

    fn register(&self, block: u32, offset: u32) -> u32 {
        self.registers.read((block + offset) as usize, Width::Four) as u32
    }

    /// Resets by the kernel, which restores configuration space, and waits until registers answer.
    fn reset(&self) -> Result<(), DeviceError> {
        let path = self.folder.join("reset");
        let mut resets = self.resets.write();
        let written =
            File::options().write(true).open(&path).and_then(|mut file| file.write_all(b"1"));
        written.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DeviceError::Refused {
                attempted: "reset the device".into(),
                reason: "the kernel knows no way to reset it on its own".into(),
            },
            _ => DeviceError::system("reset the device", error),
        })?;
        *resets = resets.wrapping_add(1);
        let started = Instant::now();
        while self.register(SHELL, shell::IDENTITY.offset()) == u32::MAX {
            if started.elapsed() > RESET_BOUND {
                return Err(DeviceError::Timeout {
                    waited_for: "the device to answer after its reset".into(),
                    bound: format!("{RESET_BOUND:?}"),
                });
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Whether the device has nothing under way.
    fn is_idle(&self) -> bool {
        untranslated::is_idle(|offset| self.register(0, offset))
    }

    fn configuration_word(&self, offset: u64) -> Result<u64, DeviceError> {
        let mut bytes = [0; 4];
        self.enabled
            .configuration()
            .read_exact_at(&mut bytes, offset)
            .map_err(|error| DeviceError::system("read configuration space", error))?;
        Ok(u32::from_le_bytes(bytes).into())
    }

    fn check(&self, space: Space, offset: u64, width: Width) -> Result<(), DeviceError> {
        match space {
            // Only what is mapped.
            Space::Bar(0) if offset >= self.registers.bytes() as u64 => {}
            Space::Configuration | Space::Bar(0) => {
                let bytes = self.enabled.configuration_bytes();
                return self.information.check_access(space, bytes, offset, width);
            }
            Space::Bar(_) => {}
        }
        Err(DeviceError::OutOfRange {
            field: "offset",
            value: offset,
            expected: format!(
                "in the 0x{:X} bytes of registers in BAR0; other BARs by their window, not {space}",
                self.registers.bytes()
            ),
        })
    }
}

impl Backend for Sysfs {
    fn information(&self) -> &Information {
        &self.function.information
    }

    fn read(&self, space: Space, offset: u64, width: Width) -> Result<u64, DeviceError> {
        self.function.check(space, offset, width)?;
        if space != Space::Configuration {
            return Ok(self.function.registers.read(offset as usize, width));
        }
        let mut bytes = [0; 8];
        self.function
            .enabled
            .configuration()
            .read_exact_at(&mut bytes[..width.bytes()], offset)
            .map_err(|error| DeviceError::system("read configuration space", error))?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn write(
        &self,
        space: Space,
        offset: u64,
        width: Width,
        value: u64,
    ) -> Result<(), DeviceError> {
        self.function.check(space, offset, width)?;
        if space != Space::Configuration {
            self.function.registers.write(offset as usize, width, value);
            return Ok(());
        }
        self.function
            .enabled
            .configuration()
            .write_all_at(&value.to_le_bytes()[..width.bytes()], offset)
            .map_err(|error| DeviceError::system("write configuration space", error))
    }

    fn map(&self, memory: &Arc<HostMemory>) -> Result<u64, DeviceError> {
        self.memories.map(&self.function.roots, memory)
    }

    fn unmap(&self, address: u64) -> Result<(), DeviceError> {
        self.memories.unmap(address, || self.function.is_idle())
    }

    fn interrupt(&self, vector: u32) -> Result<Box<dyn Interrupt>, DeviceError> {
        self.function.vectors.lock().enable(vector)?;
        let counters = Box::new(self.function.clone());
        // When it fails, its `disable` is called as it is dropped.
        PolledInterrupt::new(vector, counters).map(|interrupt| Box::new(interrupt) as _)
    }

    fn window(&self, bar: u8) -> Result<Option<Arc<HostMemory>>, DeviceError> {
        if bar != layout::CARD_BAR {
            return Ok(None);
        }
        let bytes = self.function.information.bar_bytes[usize::from(bar)];
        let path = self.function.folder.join(format!("resource{bar}"));
        let failed =
            |error: io::Error| DeviceError::system(format!("map {}", path.display()), error);
        let file = File::options().read(true).write(true).open(&path).map_err(failed)?;
        let memory = HostMemory::map(file.into(), 0, bytes as usize, PAGE_BYTES).map_err(failed)?;
        Ok(Some(Arc::new(memory)))
    }

    fn reset(&self) -> Result<(), DeviceError> {
        self.function.reset()?;
        self.memories.forget_retired();
        Ok(())
    }
}

impl CountsInterrupts for Arc<Function> {
    fn count(&self, vector: u32) -> Result<Option<Count>, DeviceError> {
        let offset = shell::INTERRUPT_COUNT[vector as usize].offset();
        let Some(resets) = self.resets.try_read() else { return Ok(None) };
        let interrupts = self.register(SHELL, offset);
        if interrupts == u32::MAX && self.register(SHELL, shell::IDENTITY.offset()) == u32::MAX {
            return Err(absence::explain_by(|at| self.configuration_word(at), offset));
        }
        Ok(Some(Count { resets: *resets, interrupts }))
    }

    fn disable(&self, vector: u32) {
        self.vectors.lock().disable(vector);
    }
}

impl Drop for Sysfs {
    fn drop(&mut self) {
        // The device stops before its memory goes, also where an interrupt outlives this.
        let _ = self.function.enabled.set_bus_master(false);
    }
}
