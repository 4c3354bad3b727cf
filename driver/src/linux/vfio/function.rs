// SPDX-License-Identifier: MIT OR Apache-2.0
//! The opened device: registers, configuration space and interrupts, and its release.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;
use vfio_bindings::bindings::vfio;

use super::watch::Watch;
use super::{chain, ioctl};
use crate::event::{Event, Link, Vectors};
use crate::linux::bar::MappedBar;
use crate::memory::ones;
use crate::pci_regs::{COMMAND, COMMAND_MASTER, COMMAND_MEMORY};
use crate::{
    AtomicRoute, DeviceError, HostMemory, Information, InterruptKind, MemoryNeeds, OpenError,
    PAGE_BYTES, Space, Width, layout,
};

/// Why a function is let go: the kernel asks for it.
const REQUESTED: &str = "the kernel asked for the function back, as its driver was unbound or it was \
                         unplugged, and it was let go";
/// Why a function is let go: the kernel has told of an error.
const FAILED: &str = "the kernel told of an error of its link that cannot be corrected, and the \
                      function was let go";

/// The opened device, which interrupts also use.
pub struct Function {
    information: Information,
    /// Once the function has been let go, a file that has nothing to do with it.
    device: File,
    configuration: Region,
    registers: Bar,
    card: Region,
    vectors: Mutex<MsiX>,
    /// Card memory as it was given out, which has to be taken back with everything else.
    windows: Mutex<Vec<Weak<HostMemory>>>,
    /// What every call says once the function was let go.
    lost: OnceLock<DeviceError>,
    /// Ends with the function: `pulse` tells whoever waits for an interrupt when its peer is closed.
    alive: Mutex<Option<OwnedFd>>,
    pulse: OwnedFd,
    watch: OnceLock<Watch>,
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

impl Function {
    /// Describes the opened device, maps its registers, and waits for the kernel to want it back.
    ///
    /// # Errors
    /// It is not what a Lockstep device is, or what the system reports.
    pub fn open(
        name: &str,
        device: OwnedFd,
        bar_bytes: [u64; 6],
        memory: MemoryNeeds,
        atomics: AtomicRoute,
    ) -> Result<Arc<Self>, OpenError> {
        let function = Arc::new(Self::new(name.into(), device, bar_bytes, memory, atomics)?);
        function.watch().map_err(|source| OpenError::Device { name: name.into(), source })?;
        Ok(function)
    }

    fn new(
        name: String,
        device: OwnedFd,
        bar_bytes: [u64; 6],
        memory: MemoryNeeds,
        atomics: AtomicRoute,
    ) -> Result<Self, OpenError> {
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
        let (pulse, alive) = UnixStream::pair().map_err(system("make a pair of sockets"))?;
        let information = Information {
            name,
            bar_bytes,
            vectors: interrupts.count,
            memory,
            interrupts: InterruptKind::Event,
            atomics,
        };
        Ok(Function {
            information,
            device,
            configuration,
            registers: Bar { region: registers, areas },
            card,
            vectors: Mutex::new(MsiX { vectors: Vectors::new(interrupts.count), on: false }),
            windows: Mutex::default(),
            lost: OnceLock::new(),
            alive: Mutex::new(Some(alive.into())),
            pulse: pulse.into(),
            watch: OnceLock::new(),
        })
    }

    /// Has the kernel tell when it wants the function back, as far as it can, and waits for that.
    fn watch(self: &Arc<Self>) -> Result<(), DeviceError> {
        let mut events = Vec::new();
        let kinds =
            [(vfio::VFIO_PCI_REQ_IRQ_INDEX, REQUESTED), (vfio::VFIO_PCI_ERR_IRQ_INDEX, FAILED)];
        for (index, why) in kinds {
            // The kernel knows no such interrupt where there is no PCI Express to report errors.
            if !ioctl::irq_info(&self.device, index).is_ok_and(|info| info.count > 0) {
                continue;
            }
            let event = Event::new()?;
            ioctl::set_irqs(&self.device, index, 0, &[Some(event.file())])
                .map_err(|error| DeviceError::system("ask to be told of errors", error))?;
            events.push((event, why));
        }
        self.watch_for(events)
    }

    fn watch_for(self: &Arc<Self>, events: Vec<(Event, &'static str)>) -> Result<(), DeviceError> {
        let this = Arc::downgrade(self);
        let let_go = move |why| this.upgrade().map_or(Ok(()), |function| function.let_go(why));
        // Set once, when it is opened.
        let _ = self.watch.set(Watch::new(events, let_go)?);
        Ok(())
    }

    /// Gives the function back to the kernel, whoever may be at work with it: nothing of this process
    /// holds its file any more. Accesses then end with an error, and what is mapped reads as all-ones.
    fn let_go(&self, why: &str) -> io::Result<()> {
        // The kernel will do so, too; but whoever finds the function gone may rely on it. One that was
        // unplugged does not answer.
        let _ = self.set_bus_master(false);
        let peer = self.information.name.clone();
        // A second time, if the first one failed.
        let _ = self.lost.set(DeviceError::Disconnected { peer, reason: why.into() });
        for (_, area) in &self.registers.areas {
            area.detach()?;
        }
        // Under the mutex, so that no new window comes in between.
        let windows = self.windows.lock();
        for window in windows.iter().filter_map(Weak::upgrade) {
            window.detach()?;
        }
        let null = File::open("/dev/null")?;
        ones::replace_file(self.device.as_fd(), null)?;
        *self.alive.lock() = None;
        Ok(())
    }

    /// Whether the function is still there for us.
    fn check_present(&self) -> Result<(), DeviceError> {
        self.lost.get().map_or(Ok(()), |lost| Err(lost.clone()))
    }

    /// An error of the system; that the function was let go, if it was, is its cause.
    pub fn failure(&self, attempted: impl Into<String>, error: io::Error) -> DeviceError {
        match self.check_present() {
            Ok(()) => DeviceError::system(attempted, error),
            Err(lost) => lost,
        }
    }

    /// What is known of it.
    pub fn information(&self) -> &Information {
        &self.information
    }

    /// Lets the function answer at its BARs, and access memory or not; the kernel takes both back when
    /// the device is closed.
    ///
    /// # Errors
    /// What the system reports.
    pub fn set_bus_master(&self, on: bool) -> io::Result<()> {
        let at = self.configuration.offset + COMMAND as u64;
        let mut command = [0; 2];
        self.device.read_exact_at(&mut command, at)?;
        let quiet = u16::from_le_bytes(command) & !COMMAND_MASTER | COMMAND_MEMORY;
        let command = if on { quiet | COMMAND_MASTER } else { quiet };
        self.device.write_all_at(&command.to_le_bytes(), at)?;
        // What it wrote before has arrived when this is answered.
        self.device.read_exact_at(&mut [0; 2], at)
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

    /// As [`crate::Backend::read`].
    pub fn read(&self, space: Space, offset: u64, width: Width) -> Result<u64, DeviceError> {
        let region = self.region(space, offset, width)?;
        self.check_present()?;
        if let Some((area, at)) = self.mapped(space, offset, width) {
            return Ok(area.read(at, width));
        }
        let mut bytes = [0; 8];
        self.device
            .read_exact_at(&mut bytes[..width.bytes()], region.offset + offset)
            .map_err(|error| self.failure(format!("read {space}"), error))?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// As [`crate::Backend::write`].
    pub fn write(
        &self,
        space: Space,
        offset: u64,
        width: Width,
        value: u64,
    ) -> Result<(), DeviceError> {
        let region = self.region(space, offset, width)?;
        self.check_present()?;
        if let Some((area, at)) = self.mapped(space, offset, width) {
            area.write(at, width, value);
            return Ok(());
        }
        self.device
            .write_all_at(&value.to_le_bytes()[..width.bytes()], region.offset + offset)
            .map_err(|error| self.failure(format!("write {space}"), error))
    }

    /// Connects an event to a vector, or none.
    fn set_event(&self, vector: u32, event: Option<&Event>) -> io::Result<()> {
        let events = [event.map(Event::file)];
        ioctl::set_irqs(&self.device, vfio::VFIO_PCI_MSIX_IRQ_INDEX, vector, &events)
    }

    /// Enables a vector; its interrupts come as events.
    ///
    /// # Errors
    /// There is no such vector, it is enabled already, or what the system reports.
    pub fn enable(&self, vector: u32, event: &Event) -> Result<(), DeviceError> {
        let mut msi_x = self.vectors.lock();
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
            self.failure(format!("enable vector {vector}"), error)
        })
    }

    /// What ends the waits for interrupts once the function was let go.
    ///
    /// # Errors
    /// What the system reports.
    pub fn link(self: &Arc<Self>) -> Result<Link, DeviceError> {
        let socket = self.pulse.try_clone();
        let socket = socket.map_err(|error| self.failure("duplicate a socket", error))?;
        let this = Arc::downgrade(self);
        let gone = || DeviceError::Disconnected {
            peer: "the function".into(),
            reason: "it was closed".into(),
        };
        let lost = move || {
            let lost = this.upgrade().and_then(|function| function.lost.get().cloned());
            lost.unwrap_or_else(gone)
        };
        Ok(Link { socket, lost: Box::new(lost) })
    }

    /// Disables a vector.
    pub fn disable(&self, vector: u32) {
        // A device that is gone interrupts nobody.
        let _ = self.set_event(vector, None);
        self.vectors.lock().vectors.disable(vector);
    }

    /// The card's memory, mapped; none if the kernel does not let it be mapped.
    ///
    /// # Errors
    /// What the system reports.
    pub fn card_window(&self) -> Result<Option<Arc<HostMemory>>, DeviceError> {
        let Region { offset, bytes, mappable } = self.card;
        if !mappable {
            return Ok(None);
        }
        let mut windows = self.windows.lock();
        self.check_present()?;
        let map = |file: File| HostMemory::map(file.into(), offset, bytes as usize, PAGE_BYTES);
        let memory = self
            .device
            .try_clone()
            .and_then(map)
            .map_err(|error| self.failure(format!("map BAR{}", layout::CARD_BAR), error))?;
        let memory = Arc::new(memory);
        windows.retain(|window| window.strong_count() > 0);
        windows.push(Arc::downgrade(&memory));
        Ok(Some(memory))
    }

    /// Has the kernel reset the function, which restores configuration space after it.
    ///
    /// # Errors
    /// What the system reports.
    pub fn reset(&self) -> Result<(), DeviceError> {
        ioctl::reset(&self.device).map_err(|error| self.failure("reset the device", error))
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

#[cfg(test)]
mod tests;
