// SPDX-License-Identifier: MIT OR Apache-2.0
//! Release of a device that is a file: nothing of it may remain in this process.

use std::fs;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::*;
use crate::Interrupt;
use crate::event::EventInterrupt;

/// Bounds that only a hang reaches.
const LONG: Duration = Duration::from_secs(20);

const CARD_BYTES: u64 = 1 << 20;

/// A function whose registers, configuration space and card memory are parts of a file.
fn function(folder: &tempfile::TempDir) -> Arc<Function> {
    let path = folder.path().join("device");
    let device = File::options().read(true).write(true).create(true).truncate(true).open(path);
    let device = device.unwrap();
    let region = |offset, bytes| Region { offset, bytes, mappable: true };
    let (registers, configuration) = (region(0, 0x1_0000), region(0x1_0000, 4096));
    let card = region(0x2_0000, CARD_BYTES);
    device.set_len(card.offset + card.bytes).unwrap();
    let areas = map_areas(&device, registers, vec![(0, 0x8000)]).unwrap();
    let (pulse, alive) = UnixStream::pair().unwrap();
    let information = Information {
        name: "pci:0000:3b:00.0?mode=vfio".into(),
        bar_bytes: [0x1_0000, 0, CARD_BYTES, 0, 0, 0],
        vectors: 5,
        memory: MemoryNeeds::Pages,
        interrupts: InterruptKind::Event,
        atomics: AtomicRoute::Direct,
    };
    Arc::new(Function {
        information,
        device,
        configuration,
        registers: Bar { region: registers, areas },
        card,
        vectors: Mutex::new(MsiX { vectors: Vectors::new(5), on: true }),
        windows: Mutex::default(),
        lost: OnceLock::new(),
        alive: Mutex::new(Some(alive.into())),
        pulse: pulse.into(),
        watch: OnceLock::new(),
    })
}

/// Whether anything of this process is the device: a descriptor or a mapping.
fn is_held(folder: &tempfile::TempDir) -> bool {
    let path = folder.path().join("device");
    let opened = fs::read_dir("/proc/self/fd").unwrap();
    let held = |entry: fs::DirEntry| fs::read_link(entry.path()).is_ok_and(|target| target == path);
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    opened.into_iter().any(|entry| held(entry.unwrap())) || maps.contains(path.to_str().unwrap())
}

#[test]
fn a_function_that_the_kernel_asks_for_is_let_go_by_whoever_is_at_work_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let function = function(&folder);
    let request = Event::new().unwrap();
    let asks = Event::from(request.file().try_clone_to_owned().unwrap());
    function.watch_for(vec![(request, REQUESTED)]).unwrap();
    function.set_bus_master(true).unwrap();
    function.write(Space::Bar(0), 0x28, Width::Four, 7).unwrap();
    assert_eq!(function.read(Space::Bar(0), 0x28, Width::Four), Ok(7));
    let window = function.card_window().unwrap().unwrap();
    window.write(0, b"bytes");
    let interrupt = EventInterrupt::new(
        1,
        Event::new().unwrap(),
        Some(function.link().unwrap()),
        Box::new(|| ()),
    );
    assert!(is_held(&folder));

    let (ended, ends) = mpsc::channel();
    let waits = thread::spawn(move || ended.send(interrupt.wait(LONG)).unwrap());
    asks.signal().unwrap();
    let lost = ends.recv_timeout(LONG).unwrap().unwrap_err();
    waits.join().unwrap();
    assert_eq!(
        lost.to_string(),
        "pci:0000:3b:00.0?mode=vfio is gone: the kernel asked for the function back, as its driver \
         was unbound or it was unplugged, and it was let go; open the device anew once it is back"
    );
    assert!(!is_held(&folder));
    // Registers that are mapped, and those that go through the device's file.
    for (space, offset) in
        [(Space::Bar(0), 0x28), (Space::Bar(0), 0x9000), (Space::Configuration, 0)]
    {
        assert_eq!(function.read(space, offset, Width::Four), Err(lost.clone()));
        assert_eq!(function.write(space, offset, Width::Four, 1), Err(lost.clone()));
    }
    let mut bytes = [0; 5];
    window.read(0, &mut bytes);
    assert_eq!(bytes, [0xFF; 5]);
    assert_eq!(function.card_window().unwrap_err(), lost);
    assert_eq!(function.reset(), Err(lost.clone()));
    assert_eq!(function.enable(2, &Event::new().unwrap()), Err(lost));
    // It may not access memory any more, and what was written afterwards did not arrive.
    let file = fs::read(folder.path().join("device")).unwrap();
    assert_eq!(file[0x1_0004], 1 << 1);
    assert_eq!((file[0x28], &file[0x2_0000..0x2_0005]), (7, &b"bytes"[..]));
}

#[test]
fn accesses_of_other_threads_end_with_an_error_and_nothing_worse() {
    let folder = tempfile::tempdir().unwrap();
    let function = function(&folder);
    let (error, tells) = (Event::new().unwrap(), Event::new().unwrap());
    let asks = Event::from(error.file().try_clone_to_owned().unwrap());
    function.watch_for(vec![(tells, REQUESTED), (error, FAILED)]).unwrap();
    let window = function.card_window().unwrap().unwrap();
    let threads = [0x28, 0x9000].map(|offset| {
        let (function, window) = (function.clone(), window.clone());
        thread::spawn(move || {
            loop {
                window.write(64, &[1; 64]);
                if let Err(error) = function.read(Space::Bar(0), offset, Width::Four) {
                    return error;
                }
            }
        })
    });
    asks.signal().unwrap();
    for thread in threads {
        let error = thread.join().unwrap().to_string();
        assert!(error.contains("error of its link that cannot be corrected"), "{error}");
    }
}

#[test]
fn a_function_that_nobody_asks_for_stays() {
    let folder = tempfile::tempdir().unwrap();
    let function = function(&folder);
    function.watch_for(vec![(Event::new().unwrap(), REQUESTED)]).unwrap();
    let link = function.link().unwrap();
    let interrupt = EventInterrupt::new(1, Event::new().unwrap(), Some(link), Box::new(|| ()));
    let error = interrupt.wait(Duration::from_millis(20)).unwrap_err();
    assert!(matches!(error, DeviceError::Timeout { .. }), "{error}");
    drop(interrupt);
    assert_eq!(Arc::strong_count(&function), 1);
    drop(function);
    assert!(!is_held(&folder));
}
