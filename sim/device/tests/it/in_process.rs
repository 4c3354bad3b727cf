// SPDX-License-Identifier: MIT OR Apache-2.0
//! The function in this process, accessed through the driver.

use std::sync::Arc;
use std::time::{Duration, Instant};

use device::Simulated;
use driver::{
    Backend, CopyCommand, CopyQueue, Device, DeviceError, DeviceUri, Direction, OpenError, Space,
    Status, Width, open_backend,
};

const BOUND: Duration = Duration::from_secs(30);

/// What a read of four bytes gives where nothing answers.
const GONE: u64 = 0xFFFF_FFFF;

/// The offsets in BAR0 that this needs.
const SCRATCH_32: u64 = 0x28;
const FORCE: u64 = 0x40;
const TABLE: u64 = 0x8000;
const PENDING: u64 = 0x9000;

/// The offsets in configuration space that this needs.
const COMMAND: u64 = 0x04;
const DEVICE_CONTROL: u64 = 0x68;
const MSIX_CONTROL: u64 = 0xA2;

fn backend() -> Arc<Simulated> {
    Arc::new(Simulated::new("sim:".into()).unwrap())
}

fn open() -> (Arc<Simulated>, Device) {
    let backend = backend();
    let device = Device::new(backend.clone()).unwrap();
    (backend, device)
}

fn read(backend: &Simulated, offset: u64) -> u64 {
    backend.read(Space::Bar(0), offset, Width::Four).unwrap()
}

fn write(backend: &Simulated, offset: u64, value: u64) {
    backend.write(Space::Bar(0), offset, Width::Four, value).unwrap();
}

fn configure(backend: &Simulated, offset: u64, value: u64) {
    backend.write(Space::Configuration, offset, Width::Two, value).unwrap();
}

fn to_card(source: u64, bytes: u32) -> CopyCommand {
    let direction = Direction::HostToCard;
    CopyCommand { direction, source, destination: 0, bytes, interrupt: false }
}

/// Waits, in bounds, until something is so.
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let deadline = Instant::now() + BOUND;
    while !so() {
        assert!(Instant::now() < deadline, "waited {BOUND:?} for {what}");
        std::hint::spin_loop();
    }
}

#[test]
fn registers_answer_in_every_width_and_refuse_with_ones() {
    let (backend, device) = open();
    let shell = device.shell();
    for width in Width::ALL {
        let value = 0xF1E2_D3C4_B5A6_9788 & width.all_ones();
        shell.write_scratch(width, value).unwrap();
        assert_eq!(shell.read_scratch(width).unwrap(), value);
    }
    // A byte of a wider register, and nothing beside it.
    write(&backend, SCRATCH_32, 0x1111_1111);
    backend.write(Space::Bar(0), SCRATCH_32 + 2, Width::One, 0xAB).unwrap();
    assert_eq!(read(&backend, SCRATCH_32), 0x11AB_1111);
    assert_eq!(backend.read(Space::Bar(0), SCRATCH_32 + 2, Width::Two).unwrap(), 0x11AB);
    assert_eq!(backend.counts().refused, 0);
    assert_eq!(read(&backend, 0xFFC), GONE);
    write(&backend, 0x100, 0);
    assert_eq!(read(&backend, 0xF000), GONE);
    assert_eq!(backend.counts().refused, 3);
    assert_eq!(read(&backend, 0x100), 0x4C53_4456);
}

#[test]
fn what_is_out_of_range_is_an_error_that_says_so() {
    let backend = backend();
    for (space, offset, width) in [
        (Space::Bar(0), 1 << 16, Width::One),
        (Space::Bar(0), 2, Width::Four),
        (Space::Bar(1), 0, Width::One),
        (Space::Bar(9), 0, Width::One),
        (Space::Bar(2), u64::MAX - 7, Width::Eight),
        (Space::Configuration, 4096, Width::Two),
    ] {
        let error = backend.read(space, offset, width).unwrap_err();
        assert!(matches!(error, DeviceError::OutOfRange { value, .. } if value == offset));
        assert_eq!(backend.write(space, offset, width, 0).unwrap_err(), error);
    }
    let unmapped = backend.unmap(0x1000).unwrap_err();
    assert!(matches!(unmapped, DeviceError::OutOfRange { value: 0x1000, .. }));
    let vector = backend.interrupt(6).map(drop).unwrap_err();
    assert!(matches!(vector, DeviceError::OutOfRange { value: 6, .. }));
    let other = "sim:?card=1M".parse::<DeviceUri>().unwrap();
    assert!(matches!(device::open_backend(&other), Err(OpenError::Unsuitable { .. })));
    assert!(matches!(open_backend(&other), Err(OpenError::NoSimulator)));
    device::open_backend(&"sim:".parse().unwrap()).unwrap();
}

#[test]
fn a_disabled_function_is_as_if_gone() {
    let (backend, device) = open();
    configure(&backend, COMMAND, 0);
    assert_eq!(read(&backend, 0x100), GONE);
    assert_eq!(backend.read(Space::Bar(2), 0, Width::Eight).unwrap(), u64::MAX);
    configure(&backend, COMMAND, 0x2);
    assert_eq!(read(&backend, 0x100), 0x4C53_4456);
    drop(device);
}

#[test]
fn copies_go_both_ways_through_the_queue() {
    let (_, device) = open();
    let mut queue = device.copy_queue(8).unwrap();
    let buffer = device.allocate(1 << 20).unwrap();
    let window = device.window(2).unwrap().expect("card memory can be mapped");
    let sent: Vec<u8> = (0..500_001u32).map(|byte| (byte % 253) as u8 + 1).collect();
    buffer.write(13, &sent);
    let mut there = to_card(buffer.bus_address() + 13, sent.len() as u32);
    (there.destination, there.interrupt) = (77, true);
    assert_eq!(queue.copy(there, BOUND).unwrap().status, Status::Done);
    let mut found = vec![0; sent.len()];
    window.read(77, &mut found);
    assert!(found == sent);
    buffer.write(0, &vec![0; 1 << 20]);
    let back = CopyCommand {
        direction: Direction::CardToHost,
        source: 77,
        destination: buffer.bus_address() + 5,
        ..there
    };
    assert_eq!(queue.copy(back, BOUND).unwrap().status, Status::Done);
    buffer.read(5, &mut found);
    assert!(found == sent);
}

#[test]
fn without_bus_mastering_no_ring_is_read() {
    let (backend, device) = open();
    let mut queue = device.copy_queue(8).unwrap();
    let buffer = device.allocate(4096).unwrap();
    configure(&backend, COMMAND, 0x2);
    queue.copy(to_card(buffer.bus_address(), 64), BOUND).unwrap_err();
    configure(&backend, COMMAND, 0x6);
    let mut queue = {
        drop(queue);
        device.copy_queue(8).unwrap()
    };
    let done = queue.copy(to_card(buffer.bus_address(), 64), BOUND).unwrap();
    assert_eq!(done.status, Status::Done);
}

#[test]
fn a_masked_interrupt_waits_and_is_delivered_once() {
    let backend = backend();
    let interrupt = backend.interrupt(2).unwrap();
    assert!(matches!(backend.interrupt(2), Err(DeviceError::Refused { .. })));
    type Mask = fn(&Simulated, bool);
    let masks: [Mask; 2] = [
        |backend, masked| write(backend, TABLE + 0x2C, masked.into()),
        |backend, masked| configure(backend, MSIX_CONTROL, if masked { 0xC003 } else { 0x8003 }),
    ];
    for mask in masks {
        write(&backend, FORCE, 1 << 2);
        assert_eq!(interrupt.wait(BOUND).unwrap(), 1);
        mask(&backend, true);
        write(&backend, FORCE, 1 << 2);
        until("the pending bit", || read(&backend, PENDING) == 1 << 2);
        assert_eq!(interrupt.take().unwrap(), 0);
        mask(&backend, false);
        assert_eq!(interrupt.wait(BOUND).unwrap(), 1);
        assert_eq!(read(&backend, PENDING), 0);
    }
    let error = interrupt.wait(Duration::from_millis(1)).unwrap_err();
    assert!(matches!(error, DeviceError::Timeout { .. }));
    drop(interrupt);
    write(&backend, FORCE, 1 << 2);
    until("the pending bit", || read(&backend, PENDING) == 1 << 2);
    assert_eq!(backend.interrupt(2).unwrap().wait(BOUND).unwrap(), 1);
}

#[test]
fn no_interrupt_is_lost() {
    let backend = backend();
    let interrupt = backend.interrupt(0).unwrap();
    let mut heard = 0;
    for sent in 1..=1000 {
        write(&backend, FORCE, 1);
        // One at a time: two at once may be one, as on a board.
        while heard < sent {
            heard += interrupt.wait(BOUND).unwrap();
        }
    }
    assert_eq!((heard, read(&backend, 0x200)), (1000, 1000));
}

/// A queue with 16 copies of 16 MiB under way, of which some have begun and some have not ended.
fn busy_queue(device: &Device, source: u64) -> CopyQueue {
    let mut queue = device.copy_queue(16).unwrap();
    for _ in 0..16 {
        queue.submit(to_card(source, 16 << 20)).unwrap();
    }
    let window = device.window(2).unwrap().expect("card memory can be mapped");
    until("the first bytes", || window.word(0).load(std::sync::atomic::Ordering::Acquire) != 0);
    queue
}

#[test]
fn a_reset_in_the_middle_of_copies_leaves_nothing_of_them() {
    let (backend, device) = open();
    let buffer = device.allocate(16 << 20).unwrap();
    buffer.write(0, &vec![0xFF; 16 << 20]);
    let zeros = vec![0; 16 << 20];
    type Reset = fn(&Simulated);
    let resets: [Reset; 2] = [
        |backend| backend.reset().unwrap(),
        |backend| {
            configure(backend, DEVICE_CONTROL, 0x8000);
            assert_eq!(backend.read(Space::Configuration, COMMAND, Width::Two).unwrap(), 0);
            configure(backend, COMMAND, 0x6);
        },
    ];
    for reset in resets {
        device.shell().write_scratch(Width::Four, 5).unwrap();
        let queue = busy_queue(&device, buffer.bus_address());
        reset(&backend);
        assert_eq!(device.shell().read_scratch(Width::Four).unwrap(), 0);
        let window = device.window(2).unwrap().unwrap();
        window.write(0, &zeros);
        drop(queue);
        let mut queue = device.copy_queue(16).unwrap();
        let done = queue.copy(to_card(buffer.bus_address(), 8), BOUND).unwrap();
        assert_eq!((done.status, done.bytes), (Status::Done, 8), "maps stay through a reset");
        let mut found = vec![1; 16 << 20];
        window.read(0, &mut found);
        assert!(found[8..] == zeros[8..], "an old copy went on");
        window.write(0, &zeros);
    }
}

#[test]
fn unmapping_in_the_middle_of_copies_ends_them_with_a_fault() {
    // On a busy machine all copies may be done before the maps are taken back.
    let found = (0..50).find(|_| faults_of_an_unmap_in_the_middle() > 0);
    assert!(found.is_some(), "the maps were taken back before all was done");
}

/// How many of 16 copies ended because their memory was taken away.
fn faults_of_an_unmap_in_the_middle() -> usize {
    let (_, device) = open();
    let buffer = device.allocate(16 << 20).unwrap();
    buffer.write(0, &[0xFF; 8]);
    let mut queue = busy_queue(&device, buffer.bus_address());
    let memory = buffer.memory().clone();
    buffer.unmap().unwrap();
    let mut faults = 0;
    for _ in 0..16 {
        let done = queue.wait(BOUND).unwrap();
        match done.status {
            Status::Done => assert_eq!(done.bytes, 16 << 20),
            status => {
                assert_eq!(status, Status::Source);
                assert!(done.bytes < 16 << 20);
                faults += 1;
            }
        }
    }
    drop(memory);
    faults
}

#[test]
fn registers_and_copies_do_not_keep_each_other_waiting() {
    let (backend, device) = open();
    let buffer = device.allocate(16 << 20).unwrap();
    buffer.write(0, &[0xFF; 8]);
    let mut queue = busy_queue(&device, buffer.bus_address());
    let mut reads = 0;
    let mut open = 16;
    until("all copies to end while registers are read", || {
        assert_eq!(read(&backend, 0x100), 0x4C53_4456);
        reads += 1u32;
        open -= usize::from(queue.poll().unwrap().is_some());
        open == 0
    });
    println!("{reads} reads beside 256 MiB");
}

#[test]
fn a_function_that_sleeps_or_is_switched_off_is_named_as_that() {
    const POWER_STATE: u64 = 0x44;
    let (backend, device) = open();
    let error = || device.shell().interrupt_count(0).unwrap_err();
    configure(&backend, COMMAND, 0x4);
    assert!(matches!(error(), DeviceError::MemoryDisabled { .. }), "{}", error());
    configure(&backend, COMMAND, 0x6);
    configure(&backend, POWER_STATE, 3);
    assert!(matches!(error(), DeviceError::Asleep { .. }), "{}", error());
    configure(&backend, POWER_STATE, 0);
    assert_eq!(device.shell().interrupt_count(0), Ok(0));
}

#[test]
fn the_clock_stops_when_nothing_is_to_do() {
    let backend = backend();
    write(&backend, SCRATCH_32, 1);
    let mut last = backend.counts().cycles;
    until("the clock to stop", || {
        std::thread::sleep(Duration::from_millis(5));
        let now = backend.counts().cycles;
        std::mem::replace(&mut last, now) == now
    });
}
