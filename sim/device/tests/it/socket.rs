// SPDX-License-Identifier: MIT OR Apache-2.0
//! The function behind vfio-user: what a client can and cannot do to it.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use device::{Progress, ServeOptions};
use driver::{
    CopyCommand, Device, DeviceUri, Direction, OpenError, PAGE_BYTES, PciIdentity, QueueError,
    Status, Width, open_backend,
};
use rustix::event::EventfdFlags;
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::ReadWriteFlags;
use vfio_user::{Client, Errno, Error, IrqAction, Options, Stop, irq_index, region_index};

const BOUND: Duration = Duration::from_secs(30);

/// A server on a thread of its own, at a socket in a folder that goes with it.
struct Served {
    folder: tempfile::TempDir,
    stop: Stop,
    told: Arc<Mutex<Vec<Progress>>>,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

impl Served {
    fn new() -> Self {
        Self::with(ServeOptions::default())
    }

    fn with(options: ServeOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let stop = Stop::new().unwrap();
        let told: Arc<Mutex<Vec<Progress>>> = Arc::default();
        let thread = std::thread::spawn({
            let (path, stop, told) = (folder.path().join("socket"), stop.clone(), told.clone());
            move || {
                let tell = |progress: &Progress| told.lock().unwrap().push(progress.clone());
                device::serve(&path, options, &stop, tell)
            }
        });
        let served = Self { folder, stop, told, thread: Some(thread) };
        served.until(|told| told.iter().any(|one| matches!(one, Progress::Listening { .. })));
        served
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn client(&self) -> Client {
        connect(&self.path())
    }

    fn device(&self) -> Device {
        Device::new(open_backend(&DeviceUri::VfioUser(self.path())).unwrap()).unwrap()
    }

    /// Waits, in bounds, until the server has told something.
    fn until(&self, so: impl Fn(&[Progress]) -> bool) {
        let deadline = Instant::now() + BOUND;
        while !so(&self.told.lock().unwrap()) {
            assert!(Instant::now() < deadline, "told: {:?}", self.told.lock().unwrap());
            assert!(!self.thread.as_ref().unwrap().is_finished(), "the server has ended");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits until so many clients have gone.
    fn until_left(&self, clients: usize) {
        let left = |one: &&Progress| matches!(one, Progress::Left { .. });
        self.until(|told| told.iter().filter(left).count() == clients);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.stop();
        let thread = self.thread.take().unwrap();
        let deadline = Instant::now() + BOUND;
        while !thread.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        if std::thread::panicking() {
            return;
        }
        assert!(thread.is_finished(), "waited {BOUND:?} for the server to end");
        thread.join().expect("the server did not panic").unwrap();
    }
}

fn connect(path: &Path) -> Client {
    Client::connect(path, Options::default()).unwrap()
}

fn read(client: &mut Client, region: u32, offset: u64) -> u32 {
    let mut bytes = [0; 4];
    client.region_read(region, offset, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

fn write(client: &mut Client, region: u32, offset: u64, value: u32) {
    client.region_write(region, offset, &value.to_le_bytes()).unwrap();
}

/// Lets the function answer and reach memory.
fn enable(client: &mut Client) {
    client.region_write(region_index::CONFIG, 4, &[6, 0]).unwrap();
}

/// What an event has counted since the last call, without waiting.
fn take(event: &OwnedFd) -> u64 {
    let mut bytes = [0; 8];
    let mut into = [IoSliceMut::new(&mut bytes)];
    match rustix::io::preadv2(event, &mut into, u64::MAX, ReadWriteFlags::NOWAIT) {
        Ok(_) => u64::from_ne_bytes(bytes),
        Err(errno) => {
            assert_eq!(errno, Errno::AGAIN);
            0
        }
    }
}

fn memfd(bytes: u64, seals: SealFlags) -> OwnedFd {
    memfd_named("test", bytes, seals)
}

fn memfd_named(name: &str, bytes: u64, seals: SealFlags) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = rustix::fs::memfd_create(name, flags).unwrap();
    rustix::fs::ftruncate(&file, bytes).unwrap();
    rustix::fs::fcntl_add_seals(&file, seals).unwrap();
    file
}

#[test]
fn is_a_pci_function_as_the_protocol_describes_one() {
    let served = Served::new();
    let mut client = served.client();
    let information = client.device_info().unwrap();
    assert!(information.pci && information.resettable);
    assert_eq!(read(&mut client, region_index::CONFIG, 0), 0x4C53_10EE);
    let sizes = (0..9).map(|index| client.region_info(index).unwrap().size).collect::<Vec<_>>();
    assert_eq!(sizes, [64 << 10, 0, 64 << 20, 0, 0, 0, 0, 4096, 0]);
    let msix = client.irq_info(irq_index::MSIX).unwrap();
    assert_eq!((msix.count, msix.eventfd), (6, true));
    assert_eq!(client.irq_info(irq_index::INTX).unwrap().count, 0);
    assert_eq!(read(&mut client, region_index::BAR0, 0x100), u32::MAX, "memory is disabled");
    enable(&mut client);
    assert_eq!(read(&mut client, region_index::BAR0, 0x100), 0x4C53_4456);
    // A BAR is sized as firmware does it.
    write(&mut client, region_index::CONFIG, 0x18, u32::MAX);
    assert_eq!(read(&mut client, region_index::CONFIG, 0x18), 0xFC00_000C);
}

#[test]
fn who_the_function_says_it_is_can_be_chosen() {
    let mut options = ServeOptions::default();
    options.board.identity = "1234:5678:9abc:def0".parse().unwrap();
    let served = Served::with(options);
    let mut client = served.client();
    let read = |client: &mut Client, offset| read(client, region_index::CONFIG, offset);
    assert_eq!((read(&mut client, 0), read(&mut client, 0x2C)), (0x5678_1234, 0xDEF0_9ABC));
    drop(client);
    served.until_left(1);
    let backend = open_backend(&DeviceUri::VfioUser(served.path())).unwrap();
    let error = Device::new(backend).unwrap_err();
    assert!(matches!(error, OpenError::WrongIdentity { .. }), "{error}");
}

#[test]
fn card_memory_is_one_by_message_and_by_map() {
    let served = Served::new();
    let device = served.device();
    let window = device.window(2).unwrap().expect("card memory can be mapped");
    window.write(0x1234, b"mapped");
    let space = driver::Space::Bar(2);
    let read = device.backend().read(space, 0x1238, Width::Two).unwrap();
    assert_eq!(read, u64::from(u16::from_le_bytes(*b"ed")));
    device.backend().write(space, 0x2000, Width::Eight, 0x0807_0605_0403_0201).unwrap();
    let mut bytes = [0; 8];
    window.read(0x2000, &mut bytes);
    assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn queues_copies_and_interrupts_work_across_the_socket() {
    let served = Served::new();
    let device = served.device();
    let buffer = device.allocate(1 << 20).unwrap();
    let mut queue = device.copy_queue(8).unwrap();
    buffer.write(100, &[0x5A; 5000]);
    let there = CopyCommand {
        direction: Direction::HostToHost,
        source: buffer.bus_address() + 100,
        destination: buffer.bus_address() + 500_001,
        bytes: 5000,
        interrupt: true,
    };
    let done = queue.copy(there, BOUND).unwrap();
    assert_eq!((done.status, done.bytes), (Status::Done, 5000));
    let mut found = vec![0; 5002];
    buffer.read(500_000, &mut found);
    assert!(found[1..5001] == [0x5A; 5000] && found[0] == 0 && found[5001] == 0);
    let interrupt = device.interrupt(0).unwrap();
    for sent in 1..=100 {
        device.shell().force_interrupt(0).unwrap();
        assert_eq!(interrupt.wait(BOUND).unwrap(), 1, "interrupt {sent}");
    }
}

#[test]
fn a_vector_can_be_masked_fired_and_disconnected_by_the_protocol() {
    let served = Served::new();
    let mut client = served.client();
    enable(&mut client);
    let event = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).unwrap();
    let count = || take(&event);
    let msix = irq_index::MSIX;
    client.set_irqs(msix, 1, &[Some(event.as_fd())], IrqAction::Trigger).unwrap();
    // Through the RTL, which counts an interrupt when it is raised.
    let force = |client: &mut Client| {
        write(client, region_index::BAR0, 0x40, 1 << 1);
        let deadline = Instant::now() + BOUND;
        while read(client, region_index::BAR0, 0x204) == 0 {
            assert!(Instant::now() < deadline, "waited for the interrupt to be raised");
        }
    };
    client.act_on_irqs(msix, 1, 1, IrqAction::Trigger).unwrap();
    assert_eq!(count(), 1, "fired by the client");
    client.act_on_irqs(msix, 1, 1, IrqAction::Mask).unwrap();
    force(&mut client);
    client.act_on_irqs(msix, 1, 1, IrqAction::Trigger).unwrap();
    assert_eq!((count(), read(&mut client, region_index::BAR0, 0x9000)), (0, 2));
    client.act_on_irqs(msix, 1, 1, IrqAction::Unmask).unwrap();
    assert_eq!((count(), read(&mut client, region_index::BAR0, 0x9000)), (1, 0));
    client.disable_irqs(msix).unwrap();
    client.act_on_irqs(msix, 1, 1, IrqAction::Trigger).unwrap();
    assert_eq!(count(), 0);
    client.set_irqs(msix, 0, &[None, Some(event.as_fd())], IrqAction::Trigger).unwrap();
    assert_eq!(count(), 1, "what was pending came after all");
    let refused = client.act_on_irqs(msix, 5, 2, IrqAction::Trigger);
    assert!(matches!(refused, Err(Error::Refused { .. })));
}

/// Whether a write to an event may block is said by a flag of the open file, which the client has as
/// well; and the counter can be full whatever a look at it said before.
#[test]
fn a_client_that_fills_its_events_holds_nobody_up() {
    const ROUNDS: u64 = 200;
    let served = Served::new();
    let mut client = served.client();
    enable(&mut client);
    let event = rustix::event::eventfd(0, EventfdFlags::CLOEXEC).unwrap();
    let msix = irq_index::MSIX;
    client.set_irqs(msix, 0, &[Some(event.as_fd())], IrqAction::Trigger).unwrap();
    rustix::io::ioctl_fionbio(&event, false).unwrap();
    let (done, mut signalled) = (AtomicBool::new(false), Ok(()));
    std::thread::scope(|scope| {
        // Fills the counter whenever it is empty, and else waits for that.
        let filler = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                rustix::io::write(&event, &(u64::MAX - 1).to_ne_bytes()).unwrap();
            }
        });
        for _ in 0..ROUNDS {
            take(&event);
            signalled = client.act_on_irqs(msix, 0, 1, IrqAction::Trigger);
            if signalled.is_err() {
                break;
            }
        }
        done.store(true, Ordering::Release);
        while !filler.is_finished() {
            take(&event);
        }
    });
    signalled.unwrap();
    assert_eq!(read(&mut client, region_index::CONFIG, 0), identifiers());
}

#[test]
fn a_second_client_is_told_at_once_and_the_first_goes_on() {
    let served = Served::new();
    let first = served.device();
    let second = open_backend(&DeviceUri::VfioUser(served.path())).map(drop);
    assert!(matches!(second, Err(OpenError::Busy { .. })), "{second:?}");
    first.shell().write_scratch(Width::Four, 3).unwrap();
    drop(first);
    served.until_left(1);
    assert_eq!(served.device().shell().read_scratch(Width::Four).unwrap(), 0, "as after power-up");
}

#[test]
fn a_client_that_dies_in_the_middle_of_copies_leaves_nothing_behind() {
    let served = Served::new();
    for _ in 0..3 {
        let device = served.device();
        let window = device.window(2).unwrap().expect("card memory can be mapped");
        assert_eq!(window.word(64).load(Ordering::Acquire), 0, "of the client before");
        let buffer = device.allocate(16 << 20).unwrap();
        buffer.write(64, &[0xFF; 8]);
        let mut queue = device.copy_queue(16).unwrap();
        for _ in 0..16 {
            let direction = Direction::HostToCard;
            let source = buffer.bus_address();
            let bytes = 16 << 20;
            let command = CopyCommand { direction, source, destination: 0, bytes, interrupt: true };
            queue.submit(command).unwrap();
        }
        let deadline = Instant::now() + BOUND;
        while window.word(64).load(Ordering::Acquire) == 0 {
            assert!(Instant::now() < deadline, "waited for the first bytes");
        }
        // No word of farewell: the socket closes under all that is open.
        drop((queue, buffer, device));
    }
    served.until_left(3);
    assert!(served.device().shell().read_scratch(Width::Four).is_ok());
}

/// A process of its own that is killed. The child is this test, told to be the victim.
#[test]
fn a_killed_client_is_survived() {
    const VICTIM: &str = "LOCKSTEP_TEST_VICTIM_OF";
    if let Some(path) = std::env::var_os(VICTIM) {
        let backend = open_backend(&DeviceUri::VfioUser(path.into())).unwrap();
        let device = Device::new(backend).unwrap();
        let buffer = device.allocate(16 << 20).unwrap();
        let mut queue = device.copy_queue(16).unwrap();
        let host = buffer.bus_address();
        let command = CopyCommand {
            direction: Direction::HostToCard,
            source: host,
            destination: 0,
            bytes: 16 << 20,
            interrupt: true,
        };
        for _ in 0..16 {
            queue.submit(command).unwrap();
        }
        // SIGKILL, by our own hand so that it comes in the middle.
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        unreachable!("killed");
    }
    let served = Served::new();
    let mut victim = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "socket::a_killed_client_is_survived"])
        .env(VICTIM, served.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let status = victim.wait().unwrap();
    assert_eq!(status.signal(), Some(9), "{status}");
    served.until_left(1);
    assert!(served.device().shell().read_scratch(Width::Four).is_ok());
}

/// The registers of the copy queue.
const COPY_QUEUE: u64 = 0x2000;

/// Enables the copy queue by hand, with rings at an address, and asks it to work.
fn ring_copy_queue(client: &mut Client, address: u64) {
    let mut set = |offset, value| write(client, region_index::BAR0, COPY_QUEUE + offset, value);
    let (low, high) = (address as u32, (address >> 32) as u32);
    set(0, 0);
    for (offset, value) in [(0x20, low), (0x24, high), (0x30, low + 0x1000), (0x34, high)] {
        set(offset, value);
    }
    set(0x40, 2);
    set(0, 1);
    set(0x50, 1);
}

/// As [`ring_copy_queue`], with rings that cannot be read: waits for the queue's error.
fn read_copy_ring(client: &mut Client, address: u64) {
    ring_copy_queue(client, address);
    let deadline = Instant::now() + BOUND;
    while read(client, region_index::BAR0, COPY_QUEUE + 0x90) == 0 {
        assert!(Instant::now() < deadline, "waited for the queue's error");
    }
}

#[test]
fn memory_that_is_cut_off_is_a_fault_and_not_the_end() {
    let served = Served::new();
    let mut client = served.client();
    enable(&mut client);
    let file = memfd(1 << 20, SealFlags::empty());
    client.dma_map(1 << 32, 1 << 20, 0, Some(file.as_fd()), true, true).unwrap();
    let unsealed = Progress::Unsealed { address: 1 << 32, bytes: 1 << 20 };
    served.until(|told| told.contains(&unsealed));
    rustix::fs::ftruncate(&file, 0).unwrap();
    read_copy_ring(&mut client, 1 << 32);
    assert_eq!(read(&mut client, region_index::BAR0, COPY_QUEUE + 0x90), 1, "reading failed");
    assert_eq!(rustix::fs::fstat(&file).unwrap().st_size, 0);
}

/// Bytes of a huge page.
const HUGE: u64 = 2 << 20;

/// How many huge pages the system has left, if it knows of any.
fn free_huge_pages() -> Option<u64> {
    let path = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages";
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn huge_memfd(bytes: u64) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB;
    let huge = rustix::fs::memfd_create("huge", flags | MemfdFlags::HUGE_2MB).unwrap();
    rustix::fs::ftruncate(&huge, bytes).unwrap();
    rustix::fs::fcntl_add_seals(&huge, SealFlags::SHRINK).unwrap();
    huge
}

/// Its pages are missing when the ring is read: by itself that would end the server by SIGBUS.
fn missing_pages_are_a_fault(served: &Served, mut client: Client) {
    for _ in 0..2 {
        read_copy_ring(&mut client, 1 << 32);
        let error = read(&mut client, region_index::BAR0, COPY_QUEUE + 0x90);
        assert_eq!(error, 1, "reading the ring failed");
    }
    drop(client);
    served.until(|told| told.contains(&Progress::Lost { files: 1 }));
    served.until_left(1);
    assert!(served.device().shell().read_scratch(Width::Four).is_ok(), "the next client is served");
}

#[test]
fn huge_pages_that_the_system_does_not_have_are_a_fault_and_not_the_end() {
    if free_huge_pages() != Some(0) {
        println!("skipped: huge pages of 2 MiB are there, or not known");
        return;
    }
    let served = Served::new();
    let mut client = served.client();
    enable(&mut client);
    let huge = huge_memfd(HUGE);
    client.dma_map(1 << 32, HUGE, 0, Some(huge.as_fd()), true, true).unwrap();
    missing_pages_are_a_fault(&served, client);
}

/// A client punches a hole into its file, which no seal forbids, and takes all pages that are left.
#[test]
#[ignore = "needs huge pages set aside, and takes all of them"]
fn a_hole_in_huge_pages_is_a_fault_and_not_the_end() {
    use rustix::fs::{FallocateFlags, fallocate};
    assert!(free_huge_pages() > Some(0), "set some aside in /proc/sys/vm/nr_hugepages");
    let served = Served::new();
    let mut client = served.client();
    enable(&mut client);
    let huge = huge_memfd(HUGE);
    fallocate(&huge, FallocateFlags::empty(), 0, HUGE).unwrap();
    client.dma_map(1 << 32, HUGE, 0, Some(huge.as_fd()), true, true).unwrap();
    // The page is there: the ring is read, and what stands there is no submission.
    ring_copy_queue(&mut client, 1 << 32);
    let deadline = Instant::now() + BOUND;
    while read(&mut client, region_index::BAR0, COPY_QUEUE + 0x70) == 0 {
        assert!(Instant::now() < deadline, "waited for the submission to be read");
    }
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(&huge, hole, 0, HUGE).unwrap();
    let others = huge_memfd(1 << 40);
    let taken = (0..)
        .take_while(|page| fallocate(&others, FallocateFlags::empty(), page * HUGE, HUGE).is_ok());
    assert!(taken.count() > 0, "the page of the hole is one of those that are left");
    missing_pages_are_a_fault(&served, client);
}

#[test]
fn maps_that_cannot_be_are_refused_and_the_session_goes_on() {
    let served = Served::new();
    let mut client = served.client();
    let file = memfd(0x2000, SealFlags::SHRINK);
    let mut map = |address, bytes, offset| {
        client.dma_map(address, bytes, offset, Some(file.as_fd()), true, true)
    };
    map(0x10_0000, 0x2000, 0).unwrap();
    for (address, bytes, offset) in [
        (0x10_1000, 0x1000, 0),  // overlaps
        (0x20_0000, 0x3000, 0),  // longer than the file
        (0x20_0000, 0x1000, 8),  // not on a page of the file
        (0x20_0800, 0x1000, 0),  // not on a page
        (0x20_0000, 0x1000, !0), // beyond any file
    ] {
        let refused = map(address, bytes, offset);
        assert!(refused.is_err(), "map of 0x{bytes:X} at 0x{address:X}, file 0x{offset:X}");
    }
    client.dma_unmap(0x10_0000, 0x2000).unwrap();
    client.dma_map(0x10_0000, 0x1000, 0, None, true, true).unwrap();
    client.dma_unmap_all().unwrap();
    client.dma_map(0x10_0000, 0x1000, 0, None, true, false).unwrap();
    assert_eq!(read(&mut client, region_index::CONFIG, 0), 0x4C53_10EE);
}

/// As QEMU does it for a guest program that maps its memory through VFIO in small pages: the same
/// file comes with each of them.
#[test]
fn a_guest_may_lend_its_memory_page_by_page() {
    const PAGES: u64 = 200;
    let served = Served::new();
    let mut client = served.client();
    let guest = memfd_named("guest-of-pages", PAGES << 12, SealFlags::SHRINK);
    let name = |path: PathBuf| std::fs::read_link(path).unwrap_or_default();
    let is_open = |path| name(path).to_string_lossy().contains("guest-of-pages");
    let descriptors = || {
        let open = std::fs::read_dir("/proc/self/fd").unwrap();
        open.filter(|entry| is_open(entry.as_ref().unwrap().path())).count()
    };
    assert_eq!(descriptors(), 1, "ours");
    for page in 0..PAGES {
        let (address, offset) = (page << 13, page << 12);
        client.dma_map(address, 0x1000, offset, Some(guest.as_fd()), true, true).unwrap();
    }
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mapped = maps.lines().filter(|line| line.contains("guest-of-pages")).count();
    assert_eq!((mapped, descriptors()), (1, 1), "mappings and descriptors for {PAGES} maps");
    client.dma_unmap(0, PAGES << 12).unwrap_err();
    client.dma_unmap_all().unwrap();
    assert_eq!(read(&mut client, region_index::CONFIG, 0), identifiers());
}

#[test]
fn reset_keeps_what_the_kernel_would_restore() {
    let served = Served::new();
    let device = served.device();
    let interrupt = device.interrupt(0).unwrap();
    let buffer = device.allocate(PAGE_BYTES).unwrap();
    device.shell().write_scratch(Width::Four, 7).unwrap();
    device.reset().unwrap();
    assert_eq!(device.shell().read_scratch(Width::Four).unwrap(), 0);
    device.shell().force_interrupt(0).unwrap();
    assert_eq!(interrupt.wait(BOUND).unwrap(), 1);
    let mut queue = device.copy_queue(2).unwrap();
    let host = buffer.bus_address();
    let command = CopyCommand {
        direction: Direction::HostToCard,
        source: host,
        destination: 0,
        bytes: 64,
        interrupt: false,
    };
    assert_eq!(queue.copy(command, BOUND).unwrap().status, Status::Done);
}

#[test]
fn a_stopped_server_lets_its_client_know() {
    let served = Served::new();
    let device = served.device();
    let buffer = device.allocate(PAGE_BYTES).unwrap();
    let mut queue = device.copy_queue(2).unwrap();
    let path = served.path();
    drop(served);
    let command = CopyCommand {
        direction: Direction::HostToCard,
        source: buffer.bus_address(),
        destination: 0,
        bytes: 64,
        interrupt: false,
    };
    let failed = queue.copy(command, Duration::from_secs(5)).unwrap_err();
    assert!(matches!(failed, QueueError::Device(_) | QueueError::Timeout { .. }), "{failed:?}");
    assert!(!path.exists());
}

/// The first register of configuration space.
fn identifiers() -> u32 {
    let PciIdentity { vendor, device, .. } = PciIdentity::LOCKSTEP;
    u32::from(device) << 16 | u32::from(vendor)
}
