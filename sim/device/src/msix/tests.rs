// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use rustix::event::EventfdFlags;

const TABLE_BYTES: usize = VECTORS * ENTRY_BYTES;

fn listening() -> (Msix, Arc<LocalEvent>) {
    let mut msix = Msix::new();
    let event = Arc::new(LocalEvent::default());
    msix.connect(1, Some(Listener::Local(event.clone())));
    msix.enable(true);
    (msix, event)
}

#[test]
fn a_vector_that_is_connected_is_heard() {
    let (mut msix, event) = listening();
    msix.raise(1);
    msix.raise(1);
    msix.raise(2);
    assert_eq!(event.take(), 2);
    assert_eq!(event.take(), 0);
    assert_eq!(msix.read_pending(0), 1 << 2, "nobody listens to vector 2");
    msix.raise(200);
}

#[test]
fn each_kind_of_mask_keeps_an_interrupt_until_it_is_lifted() {
    type Change = fn(&mut Msix, bool);
    let masks: [(&str, Change); 3] = [
        ("table", |msix, masked| msix.write_table(16 + 12, masked.into(), u32::MAX)),
        ("vector", |msix, masked| msix.mask(1, masked)),
        ("function", |msix, masked| msix.enable(!masked)),
    ];
    for (name, mask) in masks {
        let (mut msix, event) = listening();
        mask(&mut msix, true);
        assert_eq!(msix.read_pending(0), 0);
        msix.raise(1);
        msix.raise(1);
        assert_eq!((event.take(), msix.read_pending(0)), (0, 2), "{name}");
        // Another mask being lifted is not enough.
        msix.write_table(32 + 12, 0, u32::MAX);
        msix.mask(2, false);
        assert_eq!(event.take(), 0, "{name}");
        mask(&mut msix, false);
        assert_eq!((event.take(), msix.read_pending(0)), (1, 0), "{name}: one bit, one message");
        mask(&mut msix, true);
        mask(&mut msix, false);
        assert_eq!(event.take(), 0, "{name}: delivered once");
    }
}

#[test]
fn what_came_before_the_listener_is_not_lost() {
    let mut msix = Msix::new();
    msix.enable(true);
    msix.raise(3);
    let event = Arc::new(LocalEvent::default());
    msix.connect(3, Some(Listener::Local(event.clone())));
    assert_eq!(event.take(), 1);
    msix.connect(3, None);
    msix.raise(3);
    assert_eq!(event.take(), 0);
    msix.connect(3, Some(Listener::Local(event.clone())));
    assert_eq!(event.take(), 1);
}

#[test]
fn the_table_keeps_what_is_written_and_no_more() {
    let mut msix = Msix::new();
    for offset in (0..TABLE_BYTES).step_by(4) {
        let masked = if offset % 16 == 12 { 1 } else { 0 };
        assert_eq!(msix.read_table(offset), masked, "after power-up");
        msix.write_table(offset, 0xFFFF_FFFF, u32::MAX);
    }
    for vector in 0..VECTORS {
        let words: Vec<u32> = (0..4).map(|word| msix.read_table(16 * vector + 4 * word)).collect();
        assert_eq!(words, [0xFFFF_FFFC, 0xFFFF_FFFF, 0xFFFF_FFFF, 1]);
    }
    msix.write_table(8, 0x1234_5678, 0x00FF_0000);
    assert_eq!(msix.read_table(8), 0xFF34_FFFF);
    msix.write_table(TABLE_BYTES, 1, u32::MAX);
    assert_eq!((msix.read_table(TABLE_BYTES), msix.read_pending(4)), (0, 0));
}

#[test]
fn a_reset_forgets_what_is_pending_and_keeps_who_listens() {
    let (mut msix, event) = listening();
    msix.mask(1, true);
    msix.write_table(16, 0x1000, u32::MAX);
    msix.raise(1);
    msix.raise(2);
    msix.reset();
    assert_eq!((msix.read_pending(0), msix.read_table(16)), (0, 0));
    msix.raise(1);
    assert_eq!(event.take(), 0, "not enabled");
    msix.enable(true);
    assert_eq!(event.take(), 1);
}

#[test]
fn a_descriptor_counts() {
    let file = rustix::event::eventfd(0, EventfdFlags::CLOEXEC).unwrap();
    let mut msix = Msix::new();
    msix.enable(true);
    let signaller = Arc::new(Signaller::new().unwrap());
    msix.connect(0, Some(Listener::Descriptor(file.try_clone().unwrap(), signaller)));
    (0..3).for_each(|_| msix.raise(0));
    let mut count = [0; 8];
    rustix::io::read(&file, &mut count).unwrap();
    assert_eq!(u64::from_ne_bytes(count), 3);
}

/// The counter is filled whenever it is empty, so also between a look at it and a write; and whether a
/// write may block is the client's to say, since the open file is.
#[test]
fn a_client_that_fills_a_blocking_event_holds_nobody_up() {
    const ROUNDS: u64 = 100_000;
    let event = Arc::new(rustix::event::eventfd(0, EventfdFlags::CLOEXEC).unwrap());
    let done = Arc::new(AtomicBool::new(false));
    let filler = {
        let (event, done) = (event.clone(), done.clone());
        let fill = move || rustix::io::write(&event, &(u64::MAX - 1).to_ne_bytes());
        std::thread::spawn(move || while !done.load(Relaxed) && fill().is_ok() {})
    };
    let raised = Arc::new(AtomicU64::new(0));
    let raiser = {
        let (event, raised) = (event.try_clone().unwrap(), raised.clone());
        let signaller = Arc::new(Signaller::new().unwrap());
        std::thread::spawn(move || {
            let mut msix = Msix::new();
            msix.enable(true);
            msix.connect(0, Some(Listener::Descriptor(event, signaller)));
            while raised.load(Relaxed) < ROUNDS {
                msix.raise(0);
                raised.fetch_add(1, Relaxed);
            }
        })
    };
    let drain = || {
        let (mut bytes, flags) = ([0; 8], rustix::io::ReadWriteFlags::NOWAIT);
        let mut into = [std::io::IoSliceMut::new(&mut bytes)];
        // `EAGAIN` when there is nothing.
        let _ = rustix::io::preadv2(&event, &mut into, u64::MAX, flags);
    };
    // Whoever waits for room in the counter gets none: it is emptied only while all continues.
    let bound = Duration::from_secs(20);
    let (mut seen, mut deadline) = (0, Instant::now() + bound);
    while !raiser.is_finished() {
        let now = raised.load(Relaxed);
        if now != seen {
            (seen, deadline) = (now, Instant::now() + bound);
            drain();
        }
        assert!(Instant::now() < deadline, "interrupt {seen} waits for the client");
        std::thread::yield_now();
    }
    raiser.join().unwrap();
    done.store(true, Relaxed);
    while !filler.is_finished() {
        drain();
    }
}

#[test]
fn a_wait_ends_with_its_bound_or_with_an_interrupt() {
    let event = Arc::new(LocalEvent::default());
    assert_eq!(event.wait(Duration::from_millis(1)), None);
    let raiser = {
        let event = event.clone();
        std::thread::spawn(move || event.signal())
    };
    assert_eq!(event.wait(Duration::from_secs(30)), Some(1));
    raiser.join().unwrap();
    event.signal();
    assert_eq!(event.wait(Duration::MAX), Some(1));
}
