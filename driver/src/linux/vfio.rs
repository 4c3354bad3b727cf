// SPDX-License-Identifier: MIT OR Apache-2.0
//! A PCI function through the kernel's VFIO: registers mapped, addresses translated by the IOMMU, or
//! physical where there is none, interrupts by event descriptor.

mod chain;
mod function;
mod ioctl;
mod iommu;
#[cfg(test)]
mod tests;
mod watch;

use std::fs;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::pci::{PciFunction, atomic_route};
use super::untranslated::{self, Untranslated};
use super::{Roots, describe};
use crate::event::{Event, EventInterrupt};
use crate::map::device::SHELL;
use crate::map::shell::IDENTITY;
use crate::mappings::Mappings;
use crate::{
    Backend, DeviceError, DeviceUri, HostMemory, Information, Interrupt, MemoryNeeds, OpenError,
    PciAddress, PciMode, Space, Width, layout,
};
use function::Function;
use iommu::{Iommu, NoIommu};

/// How long a device may take to answer after a reset.
const RESET_BOUND: Duration = Duration::from_secs(2);

/// The backend for `pci:…?mode=vfio`.
pub struct Vfio {
    function: Arc<Function>,
    reach: Reach,
}

/// How the device reaches memory.
enum Reach {
    /// Through the IOMMU.
    Translated { mappings: Mutex<Mappings>, iommu: Iommu },
    /// By physical addresses: nothing keeps the device from any other.
    Physical { memories: Untranslated, roots: Roots, _open: NoIommu },
}

impl Vfio {
    /// Opens a function that is bound to vfio-pci.
    ///
    /// # Errors
    /// [`OpenError`], for what is in the way and what to do about it.
    pub fn open(roots: &Roots, address: PciAddress) -> Result<Self, OpenError> {
        let name = DeviceUri::Pci { address, mode: PciMode::Vfio }.to_string();
        let description = describe(roots, &name, address)?;
        check_suitable(roots, &description)?;
        let system = |attempted: &str| {
            let attempted = attempted.to_string();
            |source| OpenError::System { name: name.clone(), attempted, source }
        };
        let (reach, needs, device) = if description.is_without_iommu() {
            let (open, device) = NoIommu::open(roots, &name, &description)?;
            let (memories, roots) = (Untranslated::default(), roots.clone());
            (Reach::Physical { memories, roots, _open: open }, MemoryNeeds::Contiguous, device)
        } else {
            let (iommu, device) = Iommu::open(roots, &name, &description)?;
            let usable = iommu.usable_addresses().map_err(system("ask for device addresses"))?;
            let mappings = Mutex::new(Mappings::new(usable));
            (Reach::Translated { mappings, iommu }, MemoryNeeds::Pages, device)
        };
        let route = atomic_route(roots, address);
        let function = Function::open(&name, device, description.bar_bytes, needs, route)?;
        // From here on closing takes it back, whatever fails.
        let this = Vfio { function, reach };
        this.function.set_bus_master(true).map_err(system("write COMMAND"))?;
        Ok(this)
    }

    /// Whether the device has nothing under way.
    fn is_idle(&self) -> bool {
        // All-ones, as of a device that is gone, is not rest.
        let read = |offset: u32| self.read(Space::Bar(0), offset.into(), Width::Four);
        untranslated::is_idle(|offset| read(offset).map_or(u32::MAX, |value| value as u32))
    }
}

fn check_suitable(roots: &Roots, function: &PciFunction) -> Result<(), OpenError> {
    let address = function.address;
    // Without an IOMMU there is a group only once vfio-pci has the function, and is allowed that.
    if function.group.is_none() && !no_iommu_is_allowed(roots) {
        return Err(OpenError::NoIommuGroup { address });
    }
    // Variants for some devices have other names: mlx5_vfio_pci and so on.
    if function.driver.as_deref().is_some_and(|name| name.contains("vfio")) {
        return Ok(());
    }
    let unbind = match function.driver {
        Some(_) => format!("echo {address} > /sys/bus/pci/devices/{address}/driver/unbind; "),
        None => String::new(),
    };
    Err(OpenError::KernelDriver {
        address,
        found: function.driver.clone(),
        expected: "vfio-pci",
        remedy: format!(
            "as root: modprobe vfio-pci; {unbind}echo vfio-pci > \
             /sys/bus/pci/devices/{address}/driver_override; echo {address} > \
             /sys/bus/pci/drivers_probe"
        ),
    })
}

/// Whether VFIO may hand out functions without an IOMMU.
pub(super) fn no_iommu_is_allowed(roots: &Roots) -> bool {
    let path = roots.sys.join("module/vfio/parameters/enable_unsafe_noiommu_mode");
    fs::read_to_string(path).is_ok_and(|text| matches!(text.trim(), "Y" | "1"))
}

impl Backend for Vfio {
    fn information(&self) -> &Information {
        self.function.information()
    }

    fn read(&self, space: Space, offset: u64, width: Width) -> Result<u64, DeviceError> {
        self.function.read(space, offset, width)
    }

    fn write(
        &self,
        space: Space,
        offset: u64,
        width: Width,
        value: u64,
    ) -> Result<(), DeviceError> {
        self.function.write(space, offset, width, value)
    }

    fn map(&self, memory: &Arc<HostMemory>) -> Result<u64, DeviceError> {
        let (mappings, iommu) = match &self.reach {
            Reach::Translated { mappings, iommu } => (mappings, iommu),
            Reach::Physical { memories, roots, .. } => return memories.map(roots, memory),
        };
        mappings.lock().map(memory, |address| {
            let bytes = memory.bytes() as u64;
            let dma = ioctl::Dma { memory: memory.start().as_ptr() as u64, address, bytes };
            iommu.map(dma).map_err(|error| match error.kind() {
                io::ErrorKind::OutOfMemory => DeviceError::Refused {
                    attempted: format!("pin {bytes} bytes"),
                    reason: "more than this user may lock: raise `ulimit -l`, or run as root"
                        .into(),
                },
                _ => self.function.failure(format!("map {bytes} bytes in the IOMMU"), error),
            })
        })
    }

    fn unmap(&self, address: u64) -> Result<(), DeviceError> {
        let (mappings, iommu) = match &self.reach {
            Reach::Translated { mappings, iommu } => (mappings, iommu),
            Reach::Physical { memories, .. } => {
                return memories.unmap(address, || self.is_idle());
            }
        };
        mappings.lock().unmap(address, |memory| {
            let bytes = memory.bytes() as u64;
            let attempted = || format!("unmap device address 0x{address:X}");
            match iommu.unmap(address, bytes) {
                Ok(unmapped) if unmapped == bytes => Ok(()),
                Ok(unmapped) => Err(DeviceError::Refused {
                    attempted: attempted(),
                    reason: format!("the kernel unmapped {unmapped} of {bytes} bytes"),
                }),
                Err(error) => Err(self.function.failure(attempted(), error)),
            }
        })
    }

    fn interrupt(&self, vector: u32) -> Result<Box<dyn Interrupt>, DeviceError> {
        let event = Event::new()?;
        let link = self.function.link()?;
        self.function.enable(vector, &event)?;
        let function = self.function.clone();
        let disable = move || function.disable(vector);
        Ok(Box::new(EventInterrupt::new(vector, event, Some(link), Box::new(disable))))
    }

    fn window(&self, bar: u8) -> Result<Option<Arc<HostMemory>>, DeviceError> {
        if bar == layout::CARD_BAR { self.function.card_window() } else { Ok(None) }
    }

    fn reset(&self) -> Result<(), DeviceError> {
        self.function.reset()?;
        let started = Instant::now();
        let identity = u64::from(SHELL + IDENTITY.offset());
        while self.read(Space::Bar(0), identity, Width::Four)? == Width::Four.all_ones() {
            if started.elapsed() > RESET_BOUND {
                return Err(DeviceError::Timeout {
                    waited_for: "the device to answer after its reset".into(),
                    bound: format!("{RESET_BOUND:?}"),
                });
            }
            thread::sleep(Duration::from_millis(1));
        }
        if let Reach::Physical { memories, .. } = &self.reach {
            memories.forget_retired();
        }
        Ok(())
    }
}

impl Drop for Vfio {
    fn drop(&mut self) {
        // The device stops before its memory goes, also where an interrupt keeps the device open.
        let _ = self.function.set_bus_master(false);
    }
}
