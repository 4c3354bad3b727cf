// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the driver handles each fault, on the fake device.

use super::*;
use crate::InterruptKind::Event;
use crate::fake::Fake;
use crate::layout::SHELL_VECTOR;
use crate::{CopyCommand, CopyQueue, Device, Direction, DmaBuffer, OpenError, QueueError};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(20);

struct Setting {
    fake: Arc<Fake>,
    faults: Arc<Faults>,
    device: Device,
}

impl Setting {
    fn new() -> Self {
        let fake = Fake::new(Event);
        let backend = Faulty::new(fake.clone());
        let faults = backend.faults();
        Setting { fake, faults, device: Device::new(Arc::new(backend)).unwrap() }
    }

    fn copies(&self) -> (CopyQueue, DmaBuffer) {
        (self.device.copy_queue(4).unwrap(), self.device.allocate(64).unwrap())
    }
}

fn command(buffer: &DmaBuffer) -> CopyCommand {
    CopyCommand {
        direction: Direction::HostToCard,
        source: buffer.bus_address(),
        destination: 0,
        bytes: 64,
        interrupt: true,
    }
}

/// Whatever access the removal hits, opening or working ends with a typed error.
#[test]
fn removal_at_any_access_is_noticed() {
    let mut gone = 0;
    for access in 0..60 {
        let Setting { faults, device, .. } = Setting::new();
        faults.remove_after(access);
        let outcome = device.copy_queue(4).and_then(|mut queue| {
            let buffer = device.allocate(64)?;
            for _ in 0..3 {
                let done = queue.copy(command(&buffer), LONG)?;
                done.succeeded()?;
            }
            Ok(())
        });
        match outcome {
            Ok(()) => assert!(access > 20, "gone after {access} accesses, and nobody noticed"),
            Err(QueueError::Device(DeviceError::Gone { .. })) => gone += 1,
            Err(error) => panic!("gone after {access} accesses: {error}"),
        }
    }
    assert!(gone >= 20, "{gone}");
}

#[test]
fn a_removed_device_cannot_be_opened_or_reset() {
    let backend = Faulty::new(Fake::new(Event));
    let faults = backend.faults();
    faults.remove_after(0);
    let backend = Arc::new(backend);
    assert!(matches!(Device::new(backend.clone()), Err(OpenError::AllOnes { .. })));
    assert!(matches!(backend.reset(), Err(DeviceError::Gone { .. })));
    faults.heal();
    Device::new(backend).unwrap().reset().unwrap();
}

#[test]
fn a_link_that_falls_silent_is_a_timeout() {
    for access in 0..40 {
        let Setting { faults, device, .. } = Setting::new();
        faults.fall_silent_after(access);
        let outcome = device.copy_queue(4).and_then(|mut queue| {
            let buffer = device.allocate(64)?;
            queue.copy(command(&buffer), SHORT)
        });
        match outcome {
            Ok(_) => assert!(access > 15, "silent after {access} accesses, and nobody noticed"),
            Err(QueueError::Device(DeviceError::Timeout { .. }) | QueueError::Timeout { .. }) => {}
            Err(error) => panic!("silent after {access} accesses: {error}"),
        }
    }
}

#[test]
fn lost_interrupts_lose_no_completion() {
    let setting = Setting::new();
    let (mut queue, buffer) = setting.copies();
    setting.fake.state().hold = true;
    for _ in 0..3 {
        setting.faults.drop_interrupts(1);
        let ticket = queue.submit(command(&buffer)).unwrap();
        let fake = setting.fake.clone();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(SHORT);
                fake.state().hold = false;
                fake.run();
                fake.state().hold = true;
            });
            assert_eq!(queue.wait(LONG).unwrap().ticket, ticket);
        });
    }
}

#[test]
fn repeated_interrupts_are_counted_and_bring_no_second_completion() {
    let setting = Setting::new();
    let (mut queue, buffer) = setting.copies();
    setting.faults.repeat_interrupts(u64::MAX);
    for _ in 0..5 {
        queue.copy(command(&buffer), LONG).unwrap().succeeded().unwrap();
        assert!(matches!(queue.wait(SHORT), Err(QueueError::Timeout { .. })));
    }
    setting.faults.heal();
    let interrupt = setting.device.interrupt(SHELL_VECTOR).unwrap();
    setting.faults.repeat_interrupts(1);
    setting.faults.drop_interrupts(1);
    for _ in 0..3 {
        setting.device.shell().force_interrupt(SHELL_VECTOR).unwrap();
    }
    // One of three is lost, one of the other two comes twice.
    assert_eq!((interrupt.wait(LONG), interrupt.wait(LONG)), (Ok(2), Ok(1)));
    assert!(matches!(interrupt.wait(SHORT), Err(DeviceError::Timeout { .. })));
}

#[test]
fn refusals_are_passed_on() {
    let setting = Setting::new();
    let buffer = setting.device.allocate(64).unwrap();
    setting.faults.refuse_maps(true);
    let error = setting.device.allocate(64).unwrap_err();
    assert_eq!(error.to_string(), "cannot map memory: a fault is switched on");
    setting.faults.refuse_unmaps(true);
    assert!(matches!(buffer.unmap(), Err(DeviceError::Refused { .. })));
    setting.faults.fail_resets(true);
    assert!(matches!(setting.device.reset(), Err(DeviceError::Refused { .. })));
    setting.faults.heal();
    setting.device.reset().unwrap();
    setting.device.allocate(64).unwrap();
}
