//! A PCI function through the kernel's VFIO: registers mapped, addresses translated by the IOMMU,
//! interrupts by event descriptor.

mod chain;
mod ioctl;
mod iommu;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use vfio_bindings::bindings::vfio;

use super::bar::MappedBar;
use super::pci::PciFunction;
use super::{Roots, describe};
use crate::event::{Event, EventInterrupt, Vectors};
use crate::map::device::SHELL;
use crate::map::shell::IDENTITY;
use crate::mappings::Mappings;
use crate::{
    Backend, DeviceAddress, DeviceError, HostMemory, Information, Interrupt, InterruptKind,
    MemoryNeeds, OpenError, PAGE_BYTES, PciAddress, PciMode, Space, Width, layout,
};
use iommu::Iommu;

/// How long a device may take to answer after a reset.
const RESET_BOUND: Duration = Duration::from_secs(2);

/// The backend for `pci:…?mode=vfio`.
pub struct Vfio {
    function: Arc<Function>,
    mappings: Mutex<Mappings>,
    iommu: Iommu,
}

/// The opened device, which interrupts also use.
struct Function {
    information: Information,
    device: File,
    configuration: Region,
    registers: Bar,
    card: Region,
    vectors: Mutex<MsiX>,
}

/// Where a region is in the device's file.
#[derive(Debug, Clone, Copy, Default)]
struct Region {
    offset: u64,
    bytes: u64,
    mappable: bool,
}

/// BAR0: what of it may be mapped, by its first byte; the rest goes through the device's file.
struct Bar {
    region: Region,
    areas: Vec<(u64, MappedBar)>,
}

/// Which vectors are enabled, and whether MSI-X is at all.
struct MsiX {
    vectors: Vectors,
    on: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked did so between two calls, which leaves nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Vfio {
    /// Opens a function that is bound to vfio-pci.
    ///
    /// # Errors
    /// [`OpenError`], for what is in the way and what to do about it.
    pub fn open(roots: &Roots, address: PciAddress) -> Result<Self, OpenError> {
        let name = DeviceAddress::Pci { address, mode: PciMode::Vfio }.to_string();
        let description = describe(roots, &name, address)?;
        check_suitable(&description)?;
        let (iommu, device) = Iommu::open(roots, &name, &description)?;
        let system = |attempted: &str| {
            let attempted = attempted.to_string();
            |source| OpenError::System { name: name.clone(), attempted, source }
        };
        let usable = iommu.usable_addresses().map_err(system("ask for device addresses"))?;
        let function = Function::new(name.clone(), device, description.bar_bytes)?;
        function.enable_bus_master().map_err(system("write COMMAND"))?;
        Ok(Vfio {
            function: Arc::new(function),
            mappings: Mutex::new(Mappings::new(usable)),
            iommu,
        })
    }
}

fn check_suitable(function: &PciFunction) -> Result<(), OpenError> {
    let address = function.address;
    if function.group.is_none() {
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

impl Function {
    fn new(name: String, device: OwnedFd, bar_bytes: [u64; 6]) -> Result<Self, OpenError> {
        let device = File::from(device);
        let system = |attempted: &'static str| {
            let name = name.clone();
            move |source| OpenError::System { name, attempted: attempted.into(), source }
        };
        let region = |index| region(&device, index).map_err(system("describe a region"));
        let (configuration, _) = region(vfio::VFIO_PCI_CONFIG_REGION_INDEX)?;
        let (registers, areas) = region(vfio::VFIO_PCI_BAR0_REGION_INDEX)?;
        let (card, _) = region(vfio::VFIO_PCI_BAR0_REGION_INDEX + u32::from(layout::CARD_BAR))?;
        if registers.bytes < layout::BAR0_BYTES {
            let (bytes, needed) = (registers.bytes, layout::BAR0_BYTES);
            return Err(OpenError::BarTooSmall { name, bar: 0, bytes, needed });
        }
        let interrupts = ioctl::irq_info(&device, vfio::VFIO_PCI_MSIX_IRQ_INDEX)
            .map_err(system("describe its interrupts"))?;
        if interrupts.count == 0 || interrupts.flags & vfio::VFIO_IRQ_INFO_EVENTFD == 0 {
            return Err(OpenError::Unsuitable {
                name,
                reason: "it has no MSI-X interrupts".into(),
                remedy: "check the bitstream's PCI Express block".into(),
            });
        }
        let areas = map_areas(&device, registers, areas).map_err(system("map BAR0"))?;
        let information = Information {
            name,
            bar_bytes,
            vectors: interrupts.count,
            memory: MemoryNeeds::Pages,
            interrupts: InterruptKind::Event,
        };
        Ok(Function {
            information,
            device,
            configuration,
            registers: Bar { region: registers, areas },
            card,
            vectors: Mutex::new(MsiX { vectors: Vectors::new(interrupts.count), on: false }),
        })
    }

    /// Lets the function answer at its BARs and access memory; the kernel takes both back when the
    /// device is closed.
    fn enable_bus_master(&self) -> io::Result<()> {
        const COMMAND: u64 = 4;
        const MEMORY_ENABLE: u16 = 1 << 1;
        const BUS_MASTER: u16 = 1 << 2;
        let at = self.configuration.offset + COMMAND;
        let mut command = [0; 2];
        self.device.read_exact_at(&mut command, at)?;
        let command = u16::from_le_bytes(command) | MEMORY_ENABLE | BUS_MASTER;
        self.device.write_all_at(&command.to_le_bytes(), at)
    }

    /// The region of a space, once the access is known to lie in it.
    fn region(&self, space: Space, offset: u64, width: Width) -> Result<Region, DeviceError> {
        let region = match space {
            Space::Configuration => self.configuration,
            Space::Bar(0) => self.registers.region,
            Space::Bar(bar) if bar == layout::CARD_BAR => self.card,
            Space::Bar(_) => Region::default(),
        };
        let bytes = width.bytes() as u64;
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= region.bytes);
        if inside && offset.is_multiple_of(bytes) {
            return Ok(region);
        }
        Err(DeviceError::OutOfRange {
            field: "offset",
            value: offset,
            expected: format!("a multiple of {bytes} inside the {} bytes of {space}", region.bytes),
        })
    }

    /// The mapped register, if the access is to one.
    fn mapped(&self, space: Space, offset: u64, width: Width) -> Option<(&MappedBar, usize)> {
        if space != Space::Bar(0) {
            return None;
        }
        self.registers.areas.iter().find_map(|(start, area)| {
            let at = usize::try_from(offset.checked_sub(*start)?).ok()?;
            (at + width.bytes() <= area.bytes()).then_some((area, at))
        })
    }

    fn read(&self, space: Space, offset: u64, width: Width) -> Result<u64, DeviceError> {
        let region = self.region(space, offset, width)?;
        if let Some((area, at)) = self.mapped(space, offset, width) {
            return Ok(area.read(at, width));
        }
        let mut bytes = [0; 8];
        self.device
            .read_exact_at(&mut bytes[..width.bytes()], region.offset + offset)
            .map_err(|error| DeviceError::system(format!("read {space}"), error))?;
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
        if let Some((area, at)) = self.mapped(space, offset, width) {
            area.write(at, width, value);
            return Ok(());
        }
        self.device
            .write_all_at(&value.to_le_bytes()[..width.bytes()], region.offset + offset)
            .map_err(|error| DeviceError::system(format!("write {space}"), error))
    }

    /// Connects an event to a vector, or none.
    fn set_event(&self, vector: u32, event: Option<&Event>) -> io::Result<()> {
        let events = [event.map(Event::file)];
        ioctl::set_irqs(&self.device, vfio::VFIO_PCI_MSIX_IRQ_INDEX, vector, &events)
    }

    fn enable(&self, vector: u32, event: &Event) -> Result<(), DeviceError> {
        let mut msi_x = lock(&self.vectors);
        msi_x.vectors.enable(vector)?;
        let mut enable = || {
            if !msi_x.on {
                // Kernels before 6.5 allot as many vectors as the first call names, for good.
                let none = vec![None; self.information.vectors as usize];
                ioctl::set_irqs(&self.device, vfio::VFIO_PCI_MSIX_IRQ_INDEX, 0, &none)?;
                msi_x.on = true;
            }
            self.set_event(vector, Some(event))
        };
        enable().map_err(|error| {
            msi_x.vectors.disable(vector);
            DeviceError::system(format!("enable vector {vector}"), error)
        })
    }

    fn disable(&self, vector: u32) {
        // A device that is gone interrupts nobody.
        let _ = self.set_event(vector, None);
        lock(&self.vectors).vectors.disable(vector);
    }
}

/// Describes a region, and which areas of it may be mapped: offset and size.
fn region(device: &File, index: u32) -> io::Result<(Region, Vec<(u64, u64)>)> {
    let (info, words) = ioctl::region_info(device, index)?;
    let mappable = info.flags & vfio::VFIO_REGION_INFO_FLAG_MMAP != 0;
    let region = Region { offset: info.offset, bytes: info.size, mappable };
    let whole = vec![(0, info.size)];
    let areas = match mappable {
        false => Vec::new(),
        // The cap_offset of the second answer: the high half of its second word.
        true if info.flags & vfio::VFIO_REGION_INFO_FLAG_CAPS != 0 => {
            let second = words[1].to_ne_bytes();
            let first = u32::from_ne_bytes([second[4], second[5], second[6], second[7]]);
            chain::pairs(&words, first, vfio::VFIO_REGION_INFO_CAP_SPARSE_MMAP).unwrap_or(whole)
        }
        true => whole,
    };
    Ok((region, areas))
}

/// Maps those areas that are whole pages inside the region.
fn map_areas(
    device: &File,
    region: Region,
    areas: Vec<(u64, u64)>,
) -> io::Result<Vec<(u64, MappedBar)>> {
    let page = PAGE_BYTES as u64;
    areas
        .into_iter()
        .filter(|(offset, bytes)| {
            let inside = offset.checked_add(*bytes).is_some_and(|end| end <= region.bytes);
            inside && *bytes > 0 && offset.is_multiple_of(page) && bytes.is_multiple_of(page)
        })
        .map(|(offset, bytes)| {
            Ok((offset, MappedBar::map(device, region.offset + offset, bytes as usize)?))
        })
        .collect()
}

impl Backend for Vfio {
    fn information(&self) -> &Information {
        &self.function.information
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
        lock(&self.mappings).map(memory, |address| {
            let bytes = memory.bytes() as u64;
            let dma = ioctl::Dma { memory: memory.start().as_ptr() as u64, address, bytes };
            self.iommu.map(dma).map_err(|error| match error.kind() {
                io::ErrorKind::OutOfMemory => DeviceError::Refused {
                    attempted: format!("pin {bytes} bytes"),
                    reason: "more than this user may lock: raise `ulimit -l`, or run as root"
                        .into(),
                },
                _ => DeviceError::system(format!("map {bytes} bytes in the IOMMU"), error),
            })
        })
    }

    fn unmap(&self, address: u64) -> Result<(), DeviceError> {
        lock(&self.mappings).unmap(address, |memory| {
            let bytes = memory.bytes() as u64;
            let attempted = || format!("unmap device address 0x{address:X}");
            match self.iommu.unmap(address, bytes) {
                Ok(unmapped) if unmapped == bytes => Ok(()),
                Ok(unmapped) => Err(DeviceError::Refused {
                    attempted: attempted(),
                    reason: format!("the kernel unmapped {unmapped} of {bytes} bytes"),
                }),
                Err(error) => Err(DeviceError::system(attempted(), error)),
            }
        })
    }

    fn interrupt(&self, vector: u32) -> Result<Box<dyn Interrupt>, DeviceError> {
        let event = Event::new()?;
        self.function.enable(vector, &event)?;
        let function = self.function.clone();
        let disable = move || function.disable(vector);
        Ok(Box::new(EventInterrupt::new(vector, event, None, Box::new(disable))))
    }

    fn window(&self, bar: u8) -> Result<Option<Arc<HostMemory>>, DeviceError> {
        let card = self.function.card;
        if bar != layout::CARD_BAR || !card.mappable {
            return Ok(None);
        }
        let map =
            |file: File| HostMemory::map(file.into(), card.offset, card.bytes as usize, PAGE_BYTES);
        let memory = self
            .function
            .device
            .try_clone()
            .and_then(map)
            .map_err(|error| DeviceError::system(format!("map BAR{bar}"), error))?;
        Ok(Some(Arc::new(memory)))
    }

    fn reset(&self) -> Result<(), DeviceError> {
        ioctl::reset(&self.function.device)
            .map_err(|error| DeviceError::system("reset the device", error))?;
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
        Ok(())
    }
}
