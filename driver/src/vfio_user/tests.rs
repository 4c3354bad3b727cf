// SPDX-License-Identifier: MIT OR Apache-2.0
//! The backend against a server in another thread, with the fake device behind it.

use std::os::fd::OwnedFd;
use std::thread::JoinHandle;

use vfio_user::{
    Backing, DeviceInfo, DmaMap, Ending, IrqData, IrqInfo, Region, Server, ServerOptions, Stop,
};

use super::*;
use crate::fake::Fake;
use crate::layout::SHELL_VECTOR;
use crate::{CopyCommand, Device, Direction, QueueError, Status};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(50);

/// The fake as a server serves it.
struct Served {
    fake: Arc<Fake>,
    events: [Option<OwnedFd>; 4],
    card: Option<HostMemory>,
}

impl Served {
    fn signal(&self) {
        for (vector, event) in self.events.iter().enumerate() {
            let count = self.fake.interrupt(vector as u32).unwrap().take().unwrap();
            if let (Some(event), 1..) = (event, count) {
                rustix::io::write(event, &count.to_ne_bytes()).unwrap();
            }
        }
    }
}

fn errno<T>(_: T) -> Errno {
    Errno::INVAL
}

impl vfio_user::ServedDevice for Served {
    fn information(&self) -> DeviceInfo {
        DeviceInfo::PCI
    }

    fn region(&self, index: u32) -> Option<Region> {
        let size = match index {
            0 | 2 => self.fake.information.bar_bytes[index as usize],
            region_index::CONFIG => 4096,
            _ => 0,
        };
        let backing = self.card.as_ref().filter(|_| index == 2).map(|card| Backing {
            file: Arc::new(card.file().try_clone_to_owned().unwrap()),
            offset: 0,
            areas: Vec::new(),
        });
        Some(Region { size, readable: true, writable: true, backing })
    }

    fn irqs(&self, index: u32) -> Option<IrqInfo> {
        let count = if index == irq_index::MSIX { 4 } else { 0 };
        Some(IrqInfo { count, eventfd: true, ..IrqInfo::default() })
    }

    fn region_read(&mut self, index: u32, offset: u64, data: &mut [u8]) -> Result<(), Errno> {
        let space =
            if index == region_index::CONFIG { Space::Configuration } else { Space::Bar(0) };
        let width = Width::of_bytes(data.len()).ok_or(Errno::INVAL)?;
        let value = self.fake.read(space, offset, width).map_err(errno)?;
        data.copy_from_slice(&value.to_le_bytes()[..data.len()]);
        Ok(())
    }

    fn region_write(&mut self, index: u32, offset: u64, data: &[u8]) -> Result<(), Errno> {
        if index == region_index::CONFIG {
            // Of configuration space, a client has to enable the function.
            let enabling = (offset, data) == (4, &[6, 0]);
            self.fake.state().configuration.insert(4, 6);
            return if enabling { Ok(()) } else { Err(Errno::INVAL) };
        }
        let value = u32::from_le_bytes(data.try_into().map_err(errno)?);
        self.fake.write(Space::Bar(0), offset, Width::Four, value.into()).map_err(errno)?;
        self.signal();
        Ok(())
    }

    fn dma_map(&mut self, map: DmaMap) -> Result<(), Errno> {
        let file = map.file.ok_or(Errno::INVAL)?;
        let memory =
            HostMemory::map(file, map.offset, map.size as usize, PAGE_BYTES).map_err(errno)?;
        self.fake.state().memories.insert(map.address, Arc::new(memory));
        Ok(())
    }

    fn dma_unmap(&mut self, address: u64, _: u64) -> Result<(), Errno> {
        self.fake.unmap(address).map_err(errno)
    }

    fn dma_unmap_all(&mut self) -> Result<(), Errno> {
        self.fake.state().memories.clear();
        Ok(())
    }

    fn set_irqs(
        &mut self,
        _: u32,
        start: u32,
        count: u32,
        _: IrqAction,
        data: IrqData,
    ) -> Result<(), Errno> {
        let mut files = match data {
            IrqData::EventFds(files) => files.into_iter(),
            _ => Vec::new().into_iter(),
        };
        for vector in start..start + count {
            self.events[vector as usize] = files.next();
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Errno> {
        self.fake.state().reset();
        self.fake.state().configuration.remove(&4);
        Ok(())
    }

    fn client_left(&mut self, _: &Ending) {
        self.events = Default::default();
        self.dma_unmap_all().expect("the fake lets go of all memory");
    }
}

/// A server in a thread, which ends with this.
struct Running {
    folder: tempfile::TempDir,
    fake: Arc<Fake>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn new(card: Option<HostMemory>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fake = Fake::new(InterruptKind::Event);
        let stop = Stop::new().unwrap();
        let mut server =
            Server::bind(&folder.path().join("socket"), ServerOptions::default()).unwrap();
        let mut served = Served { fake: fake.clone(), events: Default::default(), card };
        let ended = stop.clone();
        let thread = std::thread::spawn(move || {
            let _ = server.serve(&mut served, &ended);
        });
        Running { folder, fake, stop, thread: Some(thread) }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn device(&self) -> Device {
        Device::new(Arc::new(VfioUser::open(&self.path()).unwrap())).unwrap()
    }

    fn end(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

#[test]
fn copies_pass_through_shared_memory_and_end_by_interrupt() {
    let running = Running::new(None);
    let device = running.device();
    let mut queue = device.copy_queue(8).unwrap();
    let buffer = device.allocate(3 << 20).unwrap();
    buffer.write(2 << 20, b"through a socket");
    let command = CopyCommand {
        direction: Direction::HostToCard,
        source: buffer.bus_address() + (2 << 20),
        destination: 5,
        bytes: 16,
        interrupt: true,
    };
    assert_eq!(queue.copy(command, LONG).unwrap().succeeded(), Ok(16));
    assert_eq!(&running.fake.state().card[5..21], b"through a socket");
    let address = buffer.bus_address();
    buffer.unmap().unwrap();
    assert_eq!(queue.copy(command, LONG).unwrap().status, Status::Source);
    let error = device.backend().unmap(address).unwrap_err();
    assert!(matches!(error, DeviceError::OutOfRange { field: "device address", .. }), "{error}");
}

#[test]
fn interrupts_come_once_each_and_vectors_have_one_user() {
    let running = Running::new(None);
    let device = running.device();
    let interrupt = device.interrupt(SHELL_VECTOR).unwrap();
    for _ in 0..100 {
        device.shell().force_interrupt(SHELL_VECTOR).unwrap();
        assert_eq!(interrupt.wait(LONG), Ok(1));
    }
    assert!(matches!(interrupt.wait(SHORT), Err(DeviceError::Timeout { .. })));
    assert!(matches!(device.interrupt(SHELL_VECTOR), Err(DeviceError::Refused { .. })));
    drop(interrupt);
    let interrupt = device.interrupt(SHELL_VECTOR).unwrap();
    assert_eq!(interrupt.take(), Ok(0));
    assert!(matches!(device.interrupt(4), Err(DeviceError::OutOfRange { .. })));
}

#[test]
fn accesses_outside_a_space_are_refused_here() {
    let running = Running::new(None);
    let device = running.device();
    let backend = device.backend();
    for (space, offset) in [
        (Space::Bar(0), 0x1_0000),
        (Space::Bar(0), 2),
        (Space::Bar(1), 0),
        (Space::Bar(6), 0),
        (Space::Configuration, 4096),
        (Space::Bar(0), u64::MAX - 3),
    ] {
        let error = backend.read(space, offset, Width::Four).unwrap_err();
        assert!(matches!(error, DeviceError::OutOfRange { field: "offset", .. }), "{error}");
    }
}

#[test]
fn a_reset_stops_queues_and_keeps_memory() {
    let running = Running::new(None);
    let device = running.device();
    let mut queue = device.copy_queue(2).unwrap();
    device.reset().unwrap();
    assert_eq!(queue.check(), Err(QueueError::Stopped { queue: "copy" }));
    queue.restart().unwrap();
    assert_eq!(running.fake.state().memories.len(), 1);
    // The function answers and reaches memory again.
    assert_eq!(running.fake.state().configuration[&4], 6);
}

#[test]
fn after_the_server_ended_every_call_fails_at_once() {
    let mut running = Running::new(None);
    let device = running.device();
    let mut queue = device.copy_queue(2).unwrap();
    let buffer = device.allocate(64).unwrap();
    let interrupt = device.interrupt(SHELL_VECTOR).unwrap();
    running.end();
    let errors = [
        device.shell().read_scratch(Width::Four).unwrap_err(),
        device.shell().write_scratch(Width::Four, 1).unwrap_err(),
        device.allocate(64).unwrap_err(),
        device.interrupt(3).err().unwrap(),
        device.window(2).unwrap_err(),
        device.reset().unwrap_err(),
        buffer.unmap().unwrap_err(),
        interrupt.wait(LONG).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, DeviceError::Disconnected { .. }), "{error}");
    }
    let error = queue.wait(LONG).unwrap_err();
    assert!(matches!(error, QueueError::Device(DeviceError::Disconnected { .. })), "{error}");
    drop((queue, interrupt));
}

#[test]
fn card_memory_is_mapped_if_the_server_cannot_shorten_it() {
    let bytes = crate::fake::CARD_BYTES;
    let running = Running::new(Some(HostMemory::allocate(bytes, PAGE_BYTES).unwrap()));
    let device = running.device();
    let window = device.window(2).unwrap().unwrap();
    assert_eq!(window.bytes(), bytes);
    window.write(bytes - 3, b"end");
    assert!(device.window(0).unwrap().is_none());
    assert!(device.window(9).unwrap().is_none());

    let file = rustix::fs::memfd_create("unsealed", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&file, bytes as u64).unwrap();
    let unsealed = HostMemory::map(file, 0, bytes, PAGE_BYTES).unwrap();
    let running = Running::new(Some(unsealed));
    let error = running.device().window(2).unwrap_err();
    assert!(error.to_string().contains("sealed against shrinking"), "{error}");
}

/// As a server has it that cuts its file off after the length was asked for, and seals it then.
#[test]
fn a_window_is_not_mapped_past_the_end_of_a_file_that_is_sealed() {
    let memory = HostMemory::allocate(PAGE_BYTES, PAGE_BYTES).unwrap();
    let region = |offset, bytes| RegionInfo {
        size: bytes as u64,
        readable: true,
        writable: true,
        mappable: true,
        sparse: Vec::new(),
        file: Some(memory.file().try_clone_to_owned().unwrap()),
        offset,
    };
    assert!(map_window(region(0, PAGE_BYTES), 2).unwrap().is_some());
    for (offset, bytes) in [(0, 2 * PAGE_BYTES), (PAGE_BYTES as u64, PAGE_BYTES), (!0xFFF, 4096)] {
        let error = map_window(region(offset, bytes), 2).unwrap_err();
        assert!(error.to_string().contains("has 4096 bytes, too few"), "{error}");
    }
}

/// Who has the descriptor of huge pages can take them away, and the next access may end the process.
#[test]
fn huge_pages_are_neither_lent_nor_taken() {
    use rustix::fs::MemfdFlags;
    let flags = MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
    let Ok(file) = rustix::fs::memfd_create("huge", flags) else {
        println!("skipped: the system has no huge pages");
        return;
    };
    let size = crate::HUGE_PAGE_BYTES as u64;
    rustix::fs::ftruncate(&file, size).unwrap();
    rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).unwrap();
    assert!(is_of_huge_pages(file.as_fd()));
    let (file, sparse) = (Some(file), Vec::new());
    let region = RegionInfo {
        size,
        readable: true,
        writable: true,
        mappable: true,
        sparse,
        file,
        offset: 0,
    };
    let error = map_window(region, 2).unwrap_err();
    assert!(error.to_string().contains("could take huge pages out of"), "{error}");

    let running = Running::new(None);
    let device = running.device();
    let buffer = device.allocate(2 * crate::HUGE_PAGE_BYTES).unwrap();
    assert!(!is_of_huge_pages(buffer.memory().file()), "whether the system has any or not");
    if let Ok(huge) = HostMemory::allocate(1, crate::HUGE_PAGE_BYTES) {
        let error = device.backend().map(&Arc::new(huge)).unwrap_err();
        assert!(error.to_string().contains("could take huge pages out of"), "{error}");
    }
}

fn refusal(path: &Path) -> (OpenError, String) {
    let error = VfioUser::open_within(path, SHORT).err().unwrap();
    let text = error.to_string();
    (error, text)
}

#[test]
fn what_cannot_be_opened_says_what_to_do() {
    let mut running = Running::new(None);
    let file = running.folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let (error, text) = refusal(&file);
    assert!(matches!(error, OpenError::NotASocket { .. }), "{text}");
    let (error, text) = refusal(&running.folder.path().join("nothing"));
    assert!(matches!(error, OpenError::NoDevice { .. }), "{text}");
    assert!(text.contains("does not exist; start a server there with `lockstep serve`"), "{text}");
    let device = running.device();
    let (error, text) = refusal(&running.path());
    assert!(matches!(error, OpenError::Busy { .. }), "{text}");
    drop(device);
    running.end();
    let stale = running.folder.path().join("stale");
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    let (error, text) = refusal(&stale);
    assert!(matches!(error, OpenError::NoDevice { .. }), "{text}");
    assert!(text.contains("nobody listens"), "{text}");
}

#[test]
fn a_server_that_never_answers_costs_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _silent = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let (error, text) = refusal(&path);
    let OpenError::Device { source: DeviceError::Timeout { .. }, .. } = error else {
        panic!("{text}")
    };
}

#[test]
fn who_may_not_use_the_socket_is_told_whose_it_is_and_how_to_be_let_in() {
    let path = Path::new("/run/lockstep/socket");
    let source = io::ErrorKind::PermissionDenied.into();
    let refused = Error::Socket { action: "connect to", path: path.into(), source };
    let error = open_error("vfio-user:/run/lockstep/socket", path, refused);
    assert!(matches!(&error, OpenError::PermissionDenied { path: place, .. } if place == path));
    assert_eq!(
        error.to_string(),
        "/run/lockstep/socket: permission denied; the server makes it for its own user alone: run \
         as that user, or let that user give you the socket itself (setfacl -m u:$YOU:rw \
         /run/lockstep/socket), in a folder that both may enter"
    );
}

#[test]
fn huge_pages_are_known_as_the_kernel_marks_them() {
    kernel_headers::Header::new("linux/magic.h").value("HUGETLBFS_MAGIC", HUGETLBFS_MAGIC).check();
}
