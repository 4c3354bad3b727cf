// SPDX-License-Identifier: MIT OR Apache-2.0
//! A Lockstep device behind any backend: identified, and typed.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use crate::atomics;
use crate::map::device::{LOCK_UNIT, LOOK_UP_UNIT, SHELL, Version};
use crate::map::shell::{CAPABILITIES, IDENTITY, SIGNATURE, VERSION};
use crate::{
    Atomics, Backend, BlockRegisters, CopyQueue, DeviceError, DmaBuffer, HUGE_PAGE_BYTES,
    HostMemory, Information, Interrupt, JobQueue, LockQueue, LockUnit, LookUpQueue, LookUpUnit,
    MemoryNeeds, OpenError, PAGE_BYTES, PciIdentity, QueueError, Registers, Shell, Space, Width,
    layout, map,
};

/// More card memory than this no address can reach.
const LOG2_CARD_BYTES_MAX: u32 = 48;

/// What the shell says of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Major version of the shell's register map.
    pub version_major: u16,
    /// Minor version of the shell's register map.
    pub version_minor: u16,
    /// Number of queues.
    pub queues: u32,
    /// Number of interrupt vectors.
    pub vectors: u32,
    /// Bytes of card memory.
    pub card_bytes: u64,
}

/// A device whose identity and register map are known to be ours.
#[derive(Clone)]
pub struct Device {
    backend: Arc<dyn Backend>,
    capabilities: Capabilities,
    atomics: Atomics,
}

impl fmt::Debug for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Device({}, {:?})", self.information().name, self.capabilities)
    }
}

impl Device {
    /// Identifies the device behind a backend: nothing but configuration space is read before that says
    /// that it is ours. Then lets the function request atomic operations, which no kernel does for it;
    /// nothing else is written.
    ///
    /// # Errors
    /// [`OpenError::WrongIdentity`], [`OpenError::Version`], [`OpenError::AllOnes`],
    /// [`OpenError::BarTooSmall`], or [`OpenError::Device`] with what the backend reports.
    pub fn new(backend: Arc<dyn Backend>) -> Result<Self, OpenError> {
        let name = backend.information().name.clone();
        identify_function(&*backend, &name)?;
        let bytes = backend.information().bar_bytes[0];
        if bytes < layout::BAR0_BYTES {
            let needed = layout::BAR0_BYTES;
            return Err(OpenError::BarTooSmall { name, bar: 0, bytes, needed });
        }
        let registers = BlockRegisters::new(backend.clone(), SHELL.into());
        let capabilities = identify_shell(&registers, &name)?;
        let bytes = backend.information().bar_bytes[usize::from(layout::CARD_BAR)];
        if bytes < capabilities.card_bytes {
            let (bar, needed) = (layout::CARD_BAR, capabilities.card_bytes);
            return Err(OpenError::BarTooSmall { name, bar, bytes, needed });
        }
        let requester =
            atomics::enable(&*backend).map_err(|source| OpenError::Device { name, source })?;
        let atomics = Atomics { requester, route: backend.information().atomics.clone() };
        Ok(Device { backend, capabilities, atomics })
    }

    /// The backend.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// What the backend says of the device.
    pub fn information(&self) -> &Information {
        self.backend.information()
    }

    /// What the shell says of the device.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// What is known of its atomic operations on host memory, which its lock unit needs.
    pub fn atomics(&self) -> &Atomics {
        &self.atomics
    }

    /// The shell.
    pub fn shell(&self) -> Shell {
        Shell::new(self.block(SHELL), self.capabilities.vectors)
    }

    /// The block at byte `offset` of BAR0.
    ///
    /// # Panics
    /// When `offset` is no multiple of a block's size.
    pub fn block(&self, offset: impl Into<u64>) -> BlockRegisters {
        BlockRegisters::new(self.backend.clone(), offset.into())
    }

    /// The lock unit.
    pub fn lock_unit(&self) -> LockUnit<BlockRegisters> {
        LockUnit::new(self.block(LOCK_UNIT))
    }

    /// The look-up unit. Devices of version 1.1 or older have none, where all reads answer all-ones.
    pub fn look_up_unit(&self) -> LookUpUnit<BlockRegisters> {
        LookUpUnit::new(self.block(LOOK_UP_UNIT))
    }

    /// Zeroed memory of at least `bytes` bytes that the device can reach: in huge pages where that
    /// wastes little and they are there, else in ordinary ones if the device takes them.
    ///
    /// # Errors
    /// [`DeviceError::System`] when there is no such memory, or what the backend reports.
    pub fn allocate(&self, bytes: usize) -> Result<DmaBuffer, DeviceError> {
        let sizes: &[usize] = match self.information().memory {
            MemoryNeeds::OrdinaryPages => &[PAGE_BYTES],
            MemoryNeeds::Pages if bytes < HUGE_PAGE_BYTES => &[PAGE_BYTES],
            MemoryNeeds::Pages => &[HUGE_PAGE_BYTES, PAGE_BYTES],
            // A small page may be refused, because the kernel moves it.
            MemoryNeeds::Contiguous if bytes <= PAGE_BYTES => &[PAGE_BYTES, HUGE_PAGE_BYTES],
            MemoryNeeds::Contiguous => &[HUGE_PAGE_BYTES],
        };
        let (last, others) = sizes.split_last().expect("each list has a size");
        for page_bytes in others {
            if let Ok(buffer) = self.allocate_in(bytes, *page_bytes) {
                return Ok(buffer);
            }
        }
        self.allocate_in(bytes, *last)
    }

    /// Memory in pages of a size, mapped for the device.
    fn allocate_in(&self, bytes: usize, page_bytes: usize) -> Result<DmaBuffer, DeviceError> {
        let memory = allocate(bytes, page_bytes)?;
        DmaBuffer::map(self.backend.clone(), Arc::new(memory))
    }

    /// Enables an interrupt vector.
    ///
    /// # Errors
    /// When there is no such vector, or it is enabled already.
    pub fn interrupt(&self, vector: u32) -> Result<Box<dyn Interrupt>, DeviceError> {
        self.backend.interrupt(vector)
    }

    /// The memory behind a BAR, where this process may map it.
    ///
    /// # Errors
    /// What the mapping reports.
    pub fn window(&self, bar: u8) -> Result<Option<Arc<HostMemory>>, DeviceError> {
        self.backend.window(bar)
    }

    /// Takes the copy queue into use, with rings of `entries`: a power of two from 2 to 4096.
    ///
    /// # Errors
    /// When somebody else uses it, when there is no memory for the rings, or what the device reports.
    pub fn copy_queue(&self, entries: u16) -> Result<CopyQueue, QueueError> {
        CopyQueue::open(self, entries)
    }

    /// Takes the lock queue into use, with rings of `entries`: a power of two from 2 to 4096.
    ///
    /// # Errors
    /// As [`Device::copy_queue`].
    pub fn lock_queue(&self, entries: u16) -> Result<LockQueue, QueueError> {
        LockQueue::open(self, entries)
    }

    /// Takes the job queue into use, with rings of `entries`: a power of two from 2 to 4096.
    ///
    /// # Errors
    /// As [`Device::copy_queue`], and when the device has no job queue.
    pub fn job_queue(&self, entries: u16) -> Result<JobQueue, QueueError> {
        JobQueue::open(self, entries)
    }

    /// Takes the look-up queue into use, with rings of `entries`: a power of two from 2 to 4096. The unit
    /// behind it is a thing of its own ([`Device::look_up_unit`]), to be enabled first.
    ///
    /// # Errors
    /// As [`Device::copy_queue`], and when the device has no look-up queue.
    pub fn look_up_queue(&self, entries: u16) -> Result<LookUpQueue, QueueError> {
        LookUpQueue::open(self, entries)
    }

    /// Resets the function: work under way is dropped, registers are as at power-up. What is mapped
    /// stays mapped, enabled vectors stay enabled; queues give [`QueueError::Stopped`].
    ///
    /// # Errors
    /// When the device cannot be reset, or is not back in time.
    pub fn reset(&self) -> Result<(), DeviceError> {
        self.backend.reset()
    }
}

/// Memory in pages of a size; the error says what to do.
fn allocate(bytes: usize, page_bytes: usize) -> Result<HostMemory, DeviceError> {
    HostMemory::allocate(bytes, page_bytes).map_err(|error| {
        let remedy = match page_bytes {
            HUGE_PAGE_BYTES => ": set some aside in /proc/sys/vm/nr_hugepages",
            _ => "",
        };
        let attempted =
            format!("allocate {bytes} bytes in pages of {} KiB{remedy}", page_bytes >> 10);
        DeviceError::system(attempted, error)
    })
}

/// Looks at the identifiers in configuration space.
fn identify_function(backend: &dyn Backend, name: &str) -> Result<(), OpenError> {
    let read = |offset| {
        backend
            .read(Space::Configuration, offset, Width::Four)
            .map(|value| value as u32)
            .map_err(|source| OpenError::Device { name: name.into(), source })
    };
    let PciIdentity { vendor, device, subsystem_vendor, subsystem } = PciIdentity::expected()?;
    let wanted = [
        ("vendor and device", 0x00, vendor, device),
        ("subsystem vendor and subsystem", 0x2C, subsystem_vendor, subsystem),
    ];
    for (what, offset, vendor, device) in wanted {
        let found = read(offset)?;
        if found == u32::MAX {
            return Err(OpenError::AllOnes { name: name.into() });
        }
        if found != u32::from(device) << 16 | u32::from(vendor) {
            return Err(OpenError::WrongIdentity {
                name: name.into(),
                what,
                found: format!("{:04x}:{:04x}", found & 0xFFFF, found >> 16),
                expected: format!("{vendor:04x}:{device:04x}"),
            });
        }
    }
    Ok(())
}

/// Looks at the identification of the shell.
fn identify_shell(registers: &BlockRegisters, name: &str) -> Result<Capabilities, OpenError> {
    let failed = |source| OpenError::Device { name: name.into(), source };
    let wrong = |what, found: u32, expected| OpenError::WrongIdentity {
        name: name.into(),
        what,
        found: format!("0x{found:X}"),
        expected,
    };
    let identity = IDENTITY.read(&mut &*registers).map_err(failed)?;
    if identity == u32::MAX {
        return Err(match (&*registers).explain_absence(IDENTITY.offset()) {
            DeviceError::Gone { .. } => OpenError::AllOnes { name: name.into() },
            cause => failed(cause),
        });
    }
    if identity != SIGNATURE.identity {
        let expected = format!("0x{:X} (\"LSDV\")", SIGNATURE.identity);
        return Err(wrong("IDENTITY of the shell", identity, expected));
    }
    let version: Version = VERSION.read(&mut &*registers).map_err(failed)?;
    if version.major() != SIGNATURE.major {
        return Err(OpenError::Version {
            name: name.into(),
            block: "shell",
            found_major: version.major(),
            found_minor: version.minor(),
            known_major: SIGNATURE.major,
        });
    }
    let found: map::shell::Capabilities = CAPABILITIES.read(&mut &*registers).map_err(failed)?;
    let log2_card = u32::from(found.card_log2_bytes());
    if log2_card > LOG2_CARD_BYTES_MAX {
        let expected = format!("at most {LOG2_CARD_BYTES_MAX} in bits 23:16");
        return Err(wrong("CAPABILITIES of the shell", found.bits(), expected));
    }
    Ok(Capabilities {
        version_major: version.major(),
        version_minor: version.minor(),
        queues: found.queues().into(),
        vectors: found.vectors().into(),
        card_bytes: 1 << log2_card,
    })
}
