// SPDX-License-Identifier: MIT OR Apache-2.0
//! The function behind vfio-user: the callbacks of the protocol's server.

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use driver::Space;
use driver::layout::BAR0_BYTES;
use sim::models::WaveWindow;
use vfio_user::{
    Backing, DeviceInfo, DmaMap, Ending, Errno, IrqAction, IrqData, IrqInfo, Region, RemoteMemory,
    ServedDevice, Server, ServerOptions, Stop, irq_index, region_index,
};

use crate::address_space::{MapError, Permission};
use crate::configuration::{self, VECTORS};
use crate::function::{BoardOptions, CARD_BYTES, Counts, Function};
use crate::msix::Listener;
use crate::signaller::Signaller;

/// How [`serve`] behaves.
#[derive(Debug, Clone, Default)]
pub struct ServeOptions {
    /// The protocol's bounds.
    pub link: ServerOptions,
    /// The board.
    pub board: BoardOptions,
    /// Where the waves of the RTL go, and of which of its clock cycles.
    pub waves: Option<(PathBuf, WaveWindow)>,
}

/// What [`serve`] tells while it serves.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Clients can come.
    Listening {
        /// The socket.
        path: PathBuf,
    },
    /// A client has come.
    Joined,
    /// The client has lent memory that may shrink, see docs/function.md, "Memory of clients".
    Unsealed {
        /// The first device address.
        address: u64,
        /// Bytes.
        bytes: u64,
    },
    /// The client has lent memory that cannot be obtained.
    Refused {
        /// Why.
        reason: MapError,
    },
    /// Memory that the client had lent was not there when it was reached: nothing has reached those
    /// files since.
    Lost {
        /// How many.
        files: usize,
    },
    /// The client is gone; the next one can come.
    Left {
        /// How it ended.
        how: String,
        /// The function's counters for all clients.
        counts: Counts,
    },
    /// The RTL broke the rules of a bus, so that the device was gone for the client.
    Failed {
        /// How.
        how: String,
    },
    /// The system has no memory for a new card, so that the next client sees what the last one left
    /// in card memory.
    SameCard {
        /// The system's error.
        reason: String,
    },
}

impl fmt::Display for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Progress::Listening { path } => write!(formatter, "listening at {}", path.display()),
            Progress::Joined => formatter.write_str("client joined"),
            Progress::Unsealed { address, bytes } => write!(
                formatter,
                "memory at 0x{address:X} (0x{bytes:X} bytes) may shrink, so only copies reach it, \
                 no queues or locks; expected a memfd with F_SEAL_SHRINK"
            ),
            Progress::Refused { reason } => write!(formatter, "memory refused: {reason}"),
            Progress::Lost { files } => write!(
                formatter,
                "{files} of the client's files lost pages, and have not been reached since; does it \
                 punch holes, are there too few huge pages?"
            ),
            Progress::Left { how, counts } => write!(
                formatter,
                "client left: {how}; {} cycles, {} register accesses refused so far",
                counts.cycles, counts.refused
            ),
            Progress::Failed { how } => write!(formatter, "the RTL broke a rule: {how}"),
            Progress::SameCard { reason } => {
                write!(formatter, "card memory is not renewed: {reason}")
            }
        }
    }
}

/// Serves a simulated device at a socket, to one client after the other, until `stop`. Whatever a
/// client does ends its session at most: then all that it lent is forgotten, and the device is as
/// after power-up.
///
/// From the first memory of a client on, the process handles SIGBUS (`docs/function.md`, "Memory of
/// clients"). It should also handle SIGXFSZ, or a client's file ends it that meets `ulimit -f`.
///
/// # Errors
/// The socket cannot be obtained or has failed, there is no memory for the device, or the system
/// has no asynchronous I/O for its interrupts (io_setup(2)); see [`Server::bind`].
pub fn serve(
    path: &Path,
    options: ServeOptions,
    stop: &Stop,
    progress: impl FnMut(&Progress),
) -> Result<(), vfio_user::Error> {
    let mut server = Server::bind(path, options.link)?;
    let function = Function::new(&options.board)
        .map_err(|source| vfio_user::Error::Io { action: "make a simulated device", source })?;
    if let Some((path, window)) = &options.waves {
        let opened = function.open_waves(path, *window);
        opened.map_err(|source| vfio_user::Error::Io { action: "write waves", source })?;
    }
    let signaller = Signaller::new().map_err(|errno| vfio_user::Error::Io {
        action: "set up asynchronous I/O, by which interrupts are signalled",
        source: errno.into(),
    })?;
    let mut served = Served { function, signaller: Arc::new(signaller), progress };
    (served.progress)(&Progress::Listening { path: path.into() });
    server.serve(&mut served, stop)
}

struct Served<P> {
    function: Function,
    signaller: Arc<Signaller>,
    progress: P,
}

/// A failed map as the error for the client.
fn errno(error: &MapError) -> Errno {
    match error {
        MapError::Overlaps { .. } => Errno::EXIST,
        MapError::TooMany | MapError::TooManyFiles { .. } => Errno::NOSPC,
        MapError::Missing { .. } => Errno::NOENT,
        MapError::File { errno, .. } => *errno,
        MapError::Unaligned { .. } | MapError::Wraps { .. } | MapError::Splits { .. } => {
            Errno::INVAL
        }
    }
}

fn space(region: u32) -> Result<Space, Errno> {
    match region {
        region_index::BAR0 => Ok(Space::Bar(0)),
        2 => Ok(Space::Bar(2)),
        region_index::CONFIG => Ok(Space::Configuration),
        _ => Err(Errno::INVAL),
    }
}

impl<P: FnMut(&Progress)> ServedDevice for Served<P> {
    fn information(&self) -> DeviceInfo {
        DeviceInfo::PCI
    }

    fn region(&self, index: u32) -> Option<Region> {
        let trapped = |size| Region { size, readable: true, writable: true, backing: None };
        match space(index).ok()? {
            Space::Configuration => Some(trapped(configuration::BYTES as u64)),
            Space::Bar(0) => Some(trapped(BAR0_BYTES)),
            Space::Bar(_) => {
                // Without a descriptor it is still reached by messages.
                let file = self.function.card().file().try_clone_to_owned().ok();
                let mappable =
                    |file| Backing { file: Arc::new(file), offset: 0, areas: Vec::new() };
                Some(Region { backing: file.map(mappable), ..trapped(CARD_BYTES) })
            }
        }
    }

    fn irqs(&self, index: u32) -> Option<IrqInfo> {
        let count = VECTORS as u32;
        (index == irq_index::MSIX).then(|| IrqInfo {
            count,
            eventfd: true,
            maskable: true,
            ..IrqInfo::default()
        })
    }

    fn region_read(&mut self, index: u32, offset: u64, data: &mut [u8]) -> Result<(), Errno> {
        self.function.read(space(index)?, offset, data);
        Ok(())
    }

    fn region_write(&mut self, index: u32, offset: u64, data: &[u8]) -> Result<(), Errno> {
        self.function.write(space(index)?, offset, data);
        Ok(())
    }

    fn dma_map(&mut self, map: DmaMap) -> Result<(), Errno> {
        let DmaMap { address, size, offset, readable, writable, file } = map;
        let unsealed = file.is_some();
        let file = file.map(|file| (file, offset));
        let permission = Permission { readable, writable };
        match self.function.map_file(address, size, file, permission) {
            Ok(false) if unsealed => {
                (self.progress)(&Progress::Unsealed { address, bytes: size });
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(reason) => {
                let errno = errno(&reason);
                (self.progress)(&Progress::Refused { reason });
                Err(errno)
            }
        }
    }

    fn dma_unmap(&mut self, address: u64, size: u64) -> Result<(), Errno> {
        self.function.unmap_range(address, size).map(drop).map_err(|error| errno(&error))
    }

    fn dma_unmap_all(&mut self) -> Result<(), Errno> {
        self.function.unmap_all();
        Ok(())
    }

    fn set_irqs(
        &mut self,
        index: u32,
        start: u32,
        count: u32,
        action: IrqAction,
        data: IrqData,
    ) -> Result<(), Errno> {
        let vectors = vectors(index, start, count)?;
        match (action, data) {
            (IrqAction::Trigger, IrqData::None) if count == 0 => {
                (0..VECTORS).for_each(|vector| self.function.connect(vector, None));
            }
            (IrqAction::Trigger, IrqData::EventFds(files)) => self.listen(vectors, files)?,
            // By event: the vectors would be masked by the client's writes to a descriptor.
            (_, IrqData::EventFds(_)) => return Err(Errno::NOTSUP),
            (action, IrqData::None) => vectors.for_each(|vector| self.act(vector, action)),
            (action, IrqData::Bool(chosen)) => {
                let chosen = vectors.zip(chosen).filter(|(_, chosen)| *chosen);
                chosen.for_each(|(vector, _)| self.act(vector, action));
            }
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Errno> {
        self.function.reset();
        Ok(())
    }

    fn client_joined(&mut self, memory: RemoteMemory) {
        // Memory without a descriptor is not reached: nothing that our driver or a guest's RAM is.
        drop(memory);
        (self.progress)(&Progress::Joined);
    }

    fn client_left(&mut self, ending: &Ending) {
        if let Some(how) = self.function.failure() {
            (self.progress)(&Progress::Failed { how });
        }
        let files = self.function.lost_files();
        if files > 0 {
            (self.progress)(&Progress::Lost { files });
        }
        if let Err(error) = self.function.renew() {
            (self.progress)(&Progress::SameCard { reason: error.to_string() });
        }
        let how = match ending {
            Ending::Left => "it closed the connection".into(),
            Ending::Stopped => "the server was stopped".into(),
            Ending::Failed(error) => error.to_string(),
        };
        (self.progress)(&Progress::Left { how, counts: self.function.counts() });
    }
}

impl<P> Served<P> {
    /// Connects event descriptors to vectors, or disconnects the vectors when there are none.
    fn listen(&self, vectors: std::ops::Range<usize>, files: Vec<OwnedFd>) -> Result<(), Errno> {
        if !files.is_empty() && files.len() != vectors.len() {
            return Err(Errno::INVAL);
        }
        let mut files = files.into_iter();
        for vector in vectors {
            let listener =
                files.next().map(|file| Listener::Descriptor(file, self.signaller.clone()));
            self.function.connect(vector, listener);
        }
        Ok(())
    }

    fn act(&self, vector: usize, action: IrqAction) {
        match action {
            IrqAction::Mask => self.function.mask(vector, true),
            IrqAction::Unmask => self.function.mask(vector, false),
            IrqAction::Trigger => self.function.raise(vector),
        }
    }
}

/// A range of our vectors.
fn vectors(index: u32, start: u32, count: u32) -> Result<std::ops::Range<usize>, Errno> {
    let end = start.checked_add(count).filter(|&end| end <= VECTORS as u32);
    match end {
        Some(end) if index == irq_index::MSIX => Ok(start as usize..end as usize),
        _ => Err(Errno::INVAL),
    }
}
