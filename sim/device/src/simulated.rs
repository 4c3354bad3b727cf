// SPDX-License-Identifier: MIT OR Apache-2.0
//! The function in this process, as seen by software.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use driver::layout::BAR0_BYTES;
use driver::{
    AtomicRoute, Backend, DeviceError, DeviceUri, HostMemory, Information, Interrupt,
    InterruptKind, MemoryNeeds, OpenError, PciIdentity, Space, Width,
};
use parking_lot::Mutex;

use crate::configuration::{self, VECTORS};
use crate::function::{BoardOptions, CARD_BYTES, Counts, Function, Shared};
use crate::msix::{Listener, LocalEvent};

/// The first device address that is given to memory: not one that any number in a register or a
/// ring is by mistake.
const FIRST_ADDRESS: u64 = 1 << 36;

/// The end of the addresses, as of most IOMMUs: 48 bits.
const END_OF_ADDRESSES: u64 = 1 << 48;

/// Opens the device that a URI names: simulated ones here, all others by the driver.
///
/// # Errors
/// [`OpenError`]: of a simulated one, when its card is to have other memory than it has
/// ([`CARD_BYTES`]), or the system has no memory or thread for it; for others see
/// [`driver::open_backend`].
pub fn open_backend(uri: &DeviceUri) -> Result<Arc<dyn Backend>, OpenError> {
    let DeviceUri::Simulated { card_bytes, storage, elements } = uri else {
        return driver::open_backend(uri);
    };
    if let Some(bytes) = card_bytes.filter(|&bytes| bytes != CARD_BYTES) {
        return Err(OpenError::Unsuitable {
            name: uri.to_string(),
            reason: format!("the card of this device has {CARD_BYTES} bytes, not {bytes}"),
            remedy: "leave `card` out, or give 64M".into(),
        });
    }
    let board = BoardOptions {
        storage: storage.clone(),
        elements: *elements,
        identity: PciIdentity::expected()?,
    };
    let opened = Simulated::with_options(uri.to_string(), &board);
    Ok(Arc::new(opened.map_err(|source| OpenError::System {
        name: uri.to_string(),
        attempted: "make a simulated device".into(),
        source,
    })?))
}

/// A simulated device of this process. Each is a device of its own.
pub struct Simulated {
    function: Function,
    information: Information,
    /// The address of the next map. None is used twice, so that what the device still does with an
    /// old one is a fault and not an access to something else.
    next: Mutex<u64>,
}

impl Simulated {
    /// A device after power-up, enabled as the kernel leaves one that is opened.
    ///
    /// # Errors
    /// The system has no memory for the card, or no thread.
    pub fn new(name: String) -> std::io::Result<Self> {
        Self::with_options(name, &BoardOptions::default())
    }

    /// As [`Simulated::new`], with native storage for its jobs: a file of pages of a store, or the
    /// folder of a store. It is looked for when a job begins.
    ///
    /// # Errors
    /// As [`Simulated::new`].
    pub fn with_storage(name: String, storage: &Path) -> std::io::Result<Self> {
        let storage = Some(storage.into());
        Self::with_options(name, &BoardOptions { storage, ..BoardOptions::default() })
    }

    /// As [`Simulated::new`], of a board with these options.
    ///
    /// # Errors
    /// As [`Simulated::new`].
    pub fn with_options(name: String, board: &BoardOptions) -> std::io::Result<Self> {
        let function = Function::new(board)?;
        function.enable();
        let information = Information {
            name,
            bar_bytes: [BAR0_BYTES, 0, CARD_BYTES, 0, 0, 0],
            vectors: VECTORS as u32,
            memory: MemoryNeeds::Pages,
            interrupts: InterruptKind::Event,
            atomics: AtomicRoute::Direct,
        };
        Ok(Self { function, information, next: Mutex::new(FIRST_ADDRESS) })
    }

    /// The device's counters.
    pub fn counts(&self) -> Counts {
        self.function.counts()
    }

    /// Clocks the bare model so many times in one loop that toggles the clock and looks at no port:
    /// the floor that the speed of everything else is compared with. Nothing may be under way.
    pub fn toggle_only(&self, cycles: u64) {
        self.function.toggle_only(cycles);
    }

    fn check(&self, space: Space, offset: u64, width: Width) -> Result<(), DeviceError> {
        self.information.check_access(space, configuration::BYTES as u64, offset, width)
    }
}

impl Backend for Simulated {
    fn information(&self) -> &Information {
        &self.information
    }

    fn read(&self, space: Space, offset: u64, width: Width) -> Result<u64, DeviceError> {
        self.check(space, offset, width)?;
        let mut bytes = [0; 8];
        self.function.read(space, offset, &mut bytes[..width.bytes()]);
        Ok(u64::from_le_bytes(bytes))
    }

    fn write(
        &self,
        space: Space,
        offset: u64,
        width: Width,
        value: u64,
    ) -> Result<(), DeviceError> {
        self.check(space, offset, width)?;
        self.function.write(space, offset, &value.to_le_bytes()[..width.bytes()]);
        Ok(())
    }

    fn map(&self, memory: &Arc<HostMemory>) -> Result<u64, DeviceError> {
        let refused = |reason: String| DeviceError::Refused {
            attempted: format!("map {} bytes", memory.bytes()),
            reason,
        };
        let mut next = self.next.lock();
        let address = next.next_multiple_of(memory.page_bytes() as u64);
        let end = address.checked_add(memory.bytes() as u64).filter(|&end| end < END_OF_ADDRESSES);
        let end = end.ok_or_else(|| refused("all device addresses have been used".into()))?;
        let mapped = self.function.map_memory(address, memory.clone());
        mapped.map_err(|error| refused(error.to_string()))?;
        // A page apart, so that what runs past the end of a buffer does not run into another.
        *next = end + memory.page_bytes() as u64;
        Ok(address)
    }

    fn unmap(&self, address: u64) -> Result<(), DeviceError> {
        self.function.unmap(address).map_err(|_| DeviceError::OutOfRange {
            field: "device address",
            value: address,
            expected: "that of a map".into(),
        })
    }

    fn interrupt(&self, vector: u32) -> Result<Box<dyn Interrupt>, DeviceError> {
        let number = usize::try_from(vector).ok().filter(|&number| number < VECTORS);
        let number = number.ok_or_else(|| DeviceError::OutOfRange {
            field: "interrupt vector",
            value: vector.into(),
            expected: format!("a number below {VECTORS}"),
        })?;
        let event = Arc::new(LocalEvent::default());
        let connected = self.function.connect_first(number, Listener::Local(event.clone()));
        connected.map_err(|_| DeviceError::Refused {
            attempted: format!("enable interrupt vector {vector}"),
            reason: "it is enabled already; drop the one that there is first".into(),
        })?;
        Ok(Box::new(Connected { number, event, function: self.function.shared().clone() }))
    }

    fn window(&self, bar: u8) -> Result<Option<Arc<HostMemory>>, DeviceError> {
        Ok((bar == 2).then(|| self.function.card()))
    }

    fn reset(&self) -> Result<(), DeviceError> {
        self.function.reset();
        Ok(())
    }
}

/// A vector with a listener.
struct Connected {
    number: usize,
    event: Arc<LocalEvent>,
    function: Arc<Shared>,
}

impl Interrupt for Connected {
    fn vector(&self) -> u32 {
        self.number as u32
    }

    fn take(&self) -> Result<u64, DeviceError> {
        Ok(self.event.take())
    }

    fn wait(&self, bound: Duration) -> Result<u64, DeviceError> {
        self.event.wait(bound).ok_or_else(|| DeviceError::Timeout {
            waited_for: format!("an interrupt of vector {}", self.number),
            bound: format!("{bound:?}"),
        })
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.function.disconnect(self.number);
    }
}
