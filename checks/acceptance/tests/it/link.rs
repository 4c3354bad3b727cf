// SPDX-License-Identifier: MIT OR Apache-2.0
//! Faults of the link: whatever happens to a device or its server, its user gets a typed error
//! within its bounds, without a panic or a hang.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::device_model::{DeviceModel, Mutant};
use crate::served::fault_proxy::{FaultProxy, Spoil};
use crate::served::{self, ServerProcess, ServerThread};
use acceptance::{Extent, Options, run};
use driver::lock_unit::stream::{Tag, UnitOperation, UnitRequest};
use driver::vfio_user::VfioUser;
use driver::{CopyCommand, Device, DeviceError, Direction, Faulty, OpenError, QueueError, Width};
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Longest wait within the work.
const BOUND: Duration = Duration::from_millis(200);
/// Longest wait for one message of a server whose messages are spoilt.
const LINK_BOUND: Duration = Duration::from_millis(300);
/// After this it hangs: many times more than all waits of the work together.
const HANG: Duration = Duration::from_secs(60);

/// Each of the three has its own type; which it is depends on the moment.
#[derive(Debug, thiserror::Error)]
enum LinkError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Everything that a program does with a device, a little of each.
fn work(device: &Device) -> Result<(), LinkError> {
    work_and_then(device, || {})
}

/// As [`work`]; `at_end` is called before anything is dropped, which can tell nobody of errors.
fn work_and_then(device: &Device, at_end: impl FnOnce()) -> Result<(), LinkError> {
    let shell = device.shell();
    shell.write_scratch(Width::Four, 0x1234_5678)?;
    let interrupt = device.interrupt(0)?;
    shell.force_interrupt(0)?;
    interrupt.wait(BOUND)?;
    let memory = device.allocate(1 << 20)?;
    let mut copies = device.copy_queue(8)?;
    for turn in 0..6 {
        copies.submit(CopyCommand {
            direction: Direction::HostToHost,
            source: memory.bus_address(),
            destination: memory.bus_address() + (1 << 19),
            bytes: 1 << 18,
            interrupt: turn % 2 == 0,
        })?;
    }
    for _ in 0..6 {
        copies.wait(BOUND)?.succeeded()?;
    }
    let table = device.allocate(4096)?;
    device.lock_unit().start(table.bus_address(), 4)?;
    let mut locks = device.lock_queue(8)?;
    let (tag, key) = (Tag::new(5).expect("below 128"), TupleKey::initial(3));
    let transaction = Timestamp::new(7).expect("not 0");
    let acquire = UnitOperation::Acquire(key, Rule::Queue);
    for operation in [acquire, UnitOperation::Release(key)] {
        locks.request(UnitRequest { tag, transaction, operation })?;
        let response = locks.wait(BOUND)?;
        if response.transaction != Some(transaction) && operation == acquire {
            let expected = "the request's own".into();
            let register = "timestamp of a response".into();
            let found = response.transaction.map_or(0, Timestamp::get);
            return Err(DeviceError::Mismatch { register, found, expected }.into());
        }
    }
    if table.word(3 * 64).load(Ordering::Acquire) != 0 {
        let (register, found) = ("word 0 of a free bucket".into(), 1);
        return Err(DeviceError::Mismatch { register, found, expected: "0".into() }.into());
    }
    device.lock_unit().drain(1000)?;
    device.lock_unit().counters()?;
    device.reset()?;
    at_end();
    Ok(())
}

/// Runs something that must end, on a thread of its own. A panic there is one here.
fn within<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || drop(sender.send(run())));
    match receiver.recv_timeout(HANG) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what} hangs: waited {HANG:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let panicked = thread.join().expect_err("it sent nothing");
            std::panic::resume_unwind(panicked)
        }
    }
}

/// More accesses than anything makes.
const NEVER: u64 = u64::MAX / 2;

/// The fault, and the access from which it applies.
#[derive(Clone, Copy, Debug)]
enum Break {
    Removed(u64),
    Silent(u64),
}

/// A device that breaks while it works; how the work ended, and how many accesses it took.
fn break_while_working(what: Break) -> (Result<(), LinkError>, u64) {
    let backend = Faulty::new(DeviceModel::new(Mutant::None));
    let faults = backend.faults();
    let device = match Device::new(Arc::new(backend)) {
        Ok(device) => device,
        Err(error) => return (Err(error.into()), faults.accesses()),
    };
    match what {
        Break::Removed(after) => faults.remove_after(after),
        Break::Silent(after) => faults.fall_silent_after(after),
    }
    let before = faults.accesses();
    let mut made = 0;
    let end = work_and_then(&device, || made = faults.accesses() - before);
    (end, made)
}

#[test]
fn removal_and_silence_at_any_access_end_as_errors() {
    let (sound, accesses) = break_while_working(Break::Removed(NEVER));
    sound.expect("a device that does not break");
    for case in &seeds::of!(60) {
        let mut random = ChaCha8Rng::seed_from_u64(case);
        // Each of the first accesses, then any.
        let after = if case < 20 { case / 2 } else { random.random_range(0..accesses) };
        let what = if case % 2 == 0 { Break::Removed(after) } else { Break::Silent(after) };
        let (end, made) = within(&format!("{what:?}"), move || break_while_working(what));
        match end {
            Err(error) => println!("{what:?}: {error}"),
            // How often it looks for completions depends on the moment.
            Ok(()) => assert!(made <= after, "{what:?}: missed in {made} accesses"),
        }
    }
}

#[test]
fn the_suite_survives_devices_that_break() {
    let seeds = seeds::of!(10);
    let count = move |after: u64, silent: bool| {
        let mut devices = Vec::new();
        let mut open = || {
            let backend = Faulty::new(DeviceModel::new(Mutant::None));
            let faults = backend.faults();
            devices.push(faults.clone());
            let device = Device::new(Arc::new(backend))?;
            match silent {
                true => faults.fall_silent_after(after),
                false => faults.remove_after(after),
            }
            Ok(device)
        };
        let options = Options {
            seed: Options::default().seed,
            cases: 5,
            interrupts: 20,
            extent: Extent::Quick,
            // One that breaks makes it wait in vain, repeatedly.
            timeout: Duration::from_millis(if after == NEVER { 10_000 } else { 50 }),
            silence: Duration::from_millis(1),
            samples: 2,
            checks: None,
        };
        let report = run(&mut open, &options, &mut |_| {});
        (report, devices.iter().map(|faults| faults.accesses()).sum::<u64>())
    };
    let (report, accesses) = count(NEVER, false);
    assert!(report.passed(), "{report}");
    for case in &seeds {
        let mut random = ChaCha8Rng::seed_from_u64(case);
        let after = random.random_range(0..accesses);
        let silent = case % 2 == 0;
        let what = format!("the suite on a device that breaks after {after} accesses ({silent})");
        let (report, made) = within(&what, move || count(after, silent));
        // How many accesses it takes depends on the moment, and the last ones may be writes.
        assert!(!report.passed() || made <= after + 20, "{what}, {made} made: {report}");
        for check in &report.checks {
            assert!(!check.detail.contains("a panic"), "{what}: {check}");
        }
    }
}

#[test]
fn lost_interrupts_are_not_waited_for_and_repeated_ones_are_not_taken_for_completions() {
    for (drop, repeat) in [(1000, 0), (0, 1000), (1, 0), (3, 3)] {
        let backend = Faulty::new(DeviceModel::new(Mutant::None));
        let faults = backend.faults();
        let device = Device::new(Arc::new(backend)).expect("a device");
        let memory = device.allocate(4096).expect("memory");
        let mut queue = device.copy_queue(4).expect("a queue");
        faults.drop_interrupts(drop);
        faults.repeat_interrupts(repeat);
        for _ in 0..20 {
            let copy = CopyCommand {
                direction: Direction::HostToHost,
                source: memory.bus_address(),
                destination: memory.bus_address() + 64,
                bytes: 64,
                interrupt: true,
            };
            let done = queue.copy(copy, Duration::from_secs(10)).expect("a completion");
            assert_eq!(done.succeeded(), Ok(64));
        }
        let more = queue.poll().expect("a queue that works");
        assert_eq!(more, None, "{drop} interrupts lost, {repeat} repeated");
    }
}

/// Copies without end, until it fails.
fn copy_until_it_fails(device: &Device) -> Result<(), LinkError> {
    let bytes = 8 << 20;
    let memory = device.allocate(2 * bytes)?;
    let mut queue = device.copy_queue(16)?;
    let copy = CopyCommand {
        direction: Direction::HostToHost,
        source: memory.bus_address(),
        destination: memory.bus_address() + bytes as u64,
        bytes: bytes as u32,
        interrupt: true,
    };
    for submitted in 0u64.. {
        if submitted >= 8 {
            queue.wait(Duration::from_secs(5))?.succeeded()?;
        }
        queue.submit(copy)?;
    }
    Ok(())
}

#[test]
fn a_server_that_is_killed_within_transfers_is_told_as_an_error() {
    for delay in [20, 35] {
        let mut server = ServerProcess::new();
        let path = server.path();
        let (sender, started) = mpsc::channel();
        let client = thread::spawn(move || {
            within("a client of a killed server", move || {
                let device = served::open(&path).expect("a served device");
                sender.send(()).expect("a waiter exists");
                let error = copy_until_it_fails(&device).expect_err("it copies until it fails");
                // What is asked of it later fails as well, and at once.
                let later = device.shell().interrupt_count(0);
                (error, later)
            })
        });
        started.recv().expect("the client has begun");
        thread::sleep(Duration::from_millis(delay));
        server.kill();
        let (error, later) = client.join().expect("a client that does not panic");
        println!("killed after {delay} ms: {error}; then {later:?}");
        assert!(matches!(error, LinkError::Queue(_) | LinkError::Device(_)), "{error}");
        assert!(later.is_err(), "{later:?} from a server that is gone");
    }
}

#[test]
fn a_server_goes_on_after_clients_that_are_killed_within_transfers() {
    let server = ServerThread::new();
    for delay in [30, 60] {
        let mut client = served::run_as_child("link::copy_as_child", &server.path());
        server.await_clients(1);
        let second = served::open(&server.path());
        assert!(matches!(second, Err(OpenError::Busy { .. })), "two processes at once: {second:?}");
        thread::sleep(Duration::from_millis(delay));
        client.kill().expect("a child that can be killed");
        client.wait().expect("a child that ends");
        server.await_clients(0);
        let device = served::open(&server.path()).expect("a device for the next client");
        assert_eq!(device.shell().read_scratch(Width::Eight).expect("a register"), 0);
        work(&device).expect("a server that goes on");
        drop(device);
        server.await_clients(0);
    }
}

#[test]
#[ignore = "other tests run it in a process of its own"]
fn copy_as_child() {
    let device = served::open(&served::socket_of_child()).expect("a served device");
    device.shell().write_scratch(Width::Eight, 1).expect("a register");
    panic!("it was to be killed: {:?}", copy_until_it_fails(&device));
}

/// Messages of the server while a client opens it and works.
const MESSAGES: usize = 150;

#[test]
fn spoilt_messages_of_a_server_end_as_errors_or_do_no_harm() {
    let server = ServerThread::new();
    let (mut errors, seeds) = (0, seeds::of!(60));
    for case in &seeds {
        let mut random = ChaCha8Rng::seed_from_u64(case);
        let number = if case < 30 { case as usize / 2 } else { random.random_range(0..MESSAGES) };
        let at =
            if random.random() { random.random_range(0..16) } else { random.random_range(0..4096) };
        let spoil = match case % 8 {
            0 | 1 => Spoil::Byte { at, add: random.random_range(1..=255) },
            2 | 3 => Spoil::Byte { at, add: 1 << random.random_range(0..8) },
            4 | 5 => Spoil::Truncate { after: at },
            6 => Spoil::Repeat,
            _ => Spoil::Garbage { byte: random.random() },
        };
        errors += u64::from(spoilt(&server, number, spoil).is_some());
    }
    let cases = seeds.count();
    println!("{errors} of {cases} ended as errors");
    assert!(!seeds.is_whole() || errors > cases / 3, "{errors} of {cases} messages were missed");
    server.await_clients(0);
    let device = served::open(&server.path()).expect("a server that goes on");
    work(&device).expect("a device that works");
}

#[test]
fn a_message_that_never_comes_costs_the_bound() {
    let server = ServerThread::new();
    let error = spoilt(&server, 20, Spoil::Swallow).expect("a message was missed");
    assert!(error.to_string().contains("nothing within"), "{error}");
}

/// Works through a link that spoils one message of the server; how it ended, if not well.
fn spoilt(server: &ServerThread, number: usize, spoil: Spoil) -> Option<LinkError> {
    // The client before this one has been shown out.
    server.await_clients(0);
    let proxy = FaultProxy::new(&server.path(), number, spoil);
    let path = proxy.path();
    let what = format!("a client whose message {number} is spoilt: {spoil:?}");
    let end = within(&what, move || {
        let device = Device::new(Arc::new(VfioUser::open_within(&path, LINK_BOUND)?))?;
        work(&device)
    });
    let error: LinkError = end.err()?;
    println!("message {number}, {spoil:?}: {error}");
    Some(error)
}
