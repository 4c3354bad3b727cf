// SPDX-License-Identifier: MIT OR Apache-2.0
//! The backend on a folder that imitates sysfs: refused devices, writes, and their undoing.
//!
//! Registers are a file here, so nothing answers; the device itself is tried in a guest
//! (`docs/qemu.md`).

use std::fs;

use super::*;
use crate::linux::pci::tests::{OURS, Tree, configuration};
use crate::map::device::{
    COPY_QUEUE, JOB_QUEUE, LOCK_QUEUE, LOCK_UNIT, LOOK_UP_QUEUE, LOOK_UP_UNIT,
};
use crate::map::queue;
use crate::pci_regs::{COMMAND, COMMAND_MASTER, COMMAND_MEMORY};

fn refusal(tree: &Tree) -> (OpenError, String) {
    let error = Sysfs::open(&tree.roots(), OURS.parse().unwrap()).err().unwrap();
    let text = error.to_string();
    (error, text)
}

/// A function that can be opened.
fn openable() -> Tree {
    let tree = Tree::new();
    tree.ours();
    let folder = format!("sys/bus/pci/devices/{OURS}");
    let mut space = configuration();
    // Somebody left bus mastering on.
    space[COMMAND] = COMMAND_MASTER as u8;
    tree.write(&format!("{folder}/config"), space);
    tree.write(&format!("{folder}/resource0"), vec![0; 0x1_0000]);
    tree.write(&format!("{folder}/resource2"), "");
    let card = tree.roots().function(OURS.parse().unwrap()).join("resource2");
    File::options().write(true).open(card).unwrap().set_len(64 << 20).unwrap();
    tree.write(&format!("{folder}/enable"), "0\n");
    tree.write(&format!("{folder}/reset"), "");
    tree
}

fn file(tree: &Tree, name: &str) -> Vec<u8> {
    fs::read(tree.roots().function(OURS.parse().unwrap()).join(name)).unwrap()
}

#[test]
fn what_is_in_the_way_is_named_with_what_to_do() {
    let tree = Tree::new();
    let (error, text) = refusal(&tree);
    assert!(matches!(error, OpenError::NoDevice { .. }), "{text}");
    assert!(text.contains("no function 0000:3b:00.0") && text.contains("doctor"), "{text}");

    tree.function(OURS, [0x8086, 0x1572, 0x8086, 7]);
    let (error, text) = refusal(&tree);
    assert!(matches!(error, OpenError::WrongIdentity { .. }), "{text}");
    assert!(text.contains("8086:1572:8086:0007, expected 10ee:4c53:10ee:4c53"), "{text}");

    tree.ours();
    tree.bind("xdma");
    let (error, text) = refusal(&tree);
    assert!(matches!(error, OpenError::KernelDriver { .. }), "{text}");
    assert!(text.contains("the kernel driver xdma, expected none; as root: echo"), "{text}");
}

#[test]
fn an_iommu_that_translates_is_refused() {
    for (kind, translated) in [("DMA", true), ("DMA-FQ", true), ("identity", false)] {
        let tree = openable();
        tree.group(7, kind);
        if translated {
            let (error, text) = refusal(&tree);
            assert!(matches!(error, OpenError::Translated { group: 7, .. }), "{text}");
            assert!(text.contains("use ?mode=vfio, or boot with iommu=pt"), "{text}");
        } else {
            Sysfs::open(&tree.roots(), OURS.parse().unwrap()).unwrap();
        }
    }
}

#[test]
fn a_bar_that_cannot_hold_the_registers_is_refused() {
    for resource in ["0x1000 0x1fff 0x200\n", "0x0 0xffff 0x20000200\n", "0x0 0x0 0x0\n"] {
        let tree = openable();
        tree.write(&format!("sys/bus/pci/devices/{OURS}/resource"), resource);
        let (error, text) = refusal(&tree);
        assert!(matches!(error, OpenError::BarTooSmall { bar: 0, .. }), "{text}");
    }
}

#[test]
fn a_second_user_is_refused_until_the_first_is_gone() {
    let tree = openable();
    let address = OURS.parse().unwrap();
    let first = Sysfs::open(&tree.roots(), address).unwrap();
    let (error, text) = refusal(&tree);
    assert!(matches!(error, OpenError::Busy { .. }), "{text}");
    drop(first);
    Sysfs::open(&tree.roots(), address).unwrap();
}

#[test]
fn the_command_register_is_set_and_put_back() {
    let tree = openable();
    let backend = Sysfs::open(&tree.roots(), OURS.parse().unwrap()).unwrap();
    assert_eq!(file(&tree, "config")[COMMAND], (COMMAND_MEMORY | COMMAND_MASTER) as u8);
    assert_eq!(file(&tree, "enable"), b"1");
    assert_eq!(file(&tree, "reset"), b"1");
    assert_eq!(backend.read(Space::Configuration, 4, Width::Two), Ok(6));
    drop(backend);
    assert_eq!(file(&tree, "config")[COMMAND], 0);
    assert_eq!(file(&tree, "enable"), b"0");
}

/// A program that was killed leaves bus mastering on, over pages that others have by now.
#[test]
fn bus_mastering_that_was_left_on_ends_before_anything_can_fail() {
    let tree = openable();
    let enable = tree.roots().function(OURS.parse().unwrap()).join("enable");
    fs::remove_file(&enable).unwrap();
    fs::create_dir(&enable).unwrap();
    let (error, text) = refusal(&tree);
    assert!(matches!(error, OpenError::System { .. }), "{text}");
    assert_eq!(file(&tree, "config")[COMMAND] & COMMAND_MASTER as u8, 0);
}

/// What fails on the way leaves nothing switched on.
#[test]
fn a_function_that_does_not_answer_is_left_as_it_was() {
    let tree = openable();
    let folder = format!("sys/bus/pci/devices/{OURS}");
    tree.write(&format!("{folder}/resource0"), vec![0xFF; 0x1_0000]);
    let (error, text) = refusal(&tree);
    assert!(
        matches!(error, OpenError::Device { source: DeviceError::Timeout { .. }, .. }),
        "{text}"
    );
    assert_eq!((file(&tree, "config")[COMMAND], file(&tree, "enable")), (0, b"0".to_vec()));
}

/// An interrupt may outlive its backend; the device's access to memory may not.
#[test]
fn bus_mastering_ends_with_the_backend() {
    let tree = openable();
    let backend = Sysfs::open(&tree.roots(), OURS.parse().unwrap()).unwrap();
    let interrupt = backend.interrupt(0).unwrap();
    drop(backend);
    assert_eq!(file(&tree, "config")[COMMAND], COMMAND_MEMORY as u8);
    drop(interrupt);
    assert_eq!(file(&tree, "config")[COMMAND], 0);
}

#[test]
fn accesses_go_where_they_should_and_nowhere_else() {
    let tree = openable();
    let backend = Sysfs::open(&tree.roots(), OURS.parse().unwrap()).unwrap();
    backend.write(Space::Bar(0), 0x28, Width::Four, 0x1234_5678).unwrap();
    assert_eq!(backend.read(Space::Bar(0), 0x28, Width::Two), Ok(0x5678));
    for (space, offset, width) in [
        (Space::Bar(0), 0x1_0000, Width::One),
        (Space::Bar(0), 1, Width::Two),
        (Space::Bar(2), 0, Width::Four),
        (Space::Configuration, 4096, Width::One),
    ] {
        let error = backend.read(space, offset, width).unwrap_err();
        assert!(matches!(error, DeviceError::OutOfRange { .. }), "{error}");
        let error = backend.write(space, offset, width, 0).unwrap_err();
        assert!(matches!(error, DeviceError::OutOfRange { .. }), "{error}");
    }
    assert_eq!(backend.window(2).unwrap().unwrap().bytes(), 64 << 20);
    assert!(backend.window(0).unwrap().is_none());
}

#[test]
fn interrupts_are_counted_by_the_device() {
    let tree = openable();
    let backend = Sysfs::open(&tree.roots(), OURS.parse().unwrap()).unwrap();
    let interrupt = backend.interrupt(3).unwrap();
    backend.write(Space::Bar(0), 0x20C, Width::Four, 7).unwrap();
    assert_eq!(interrupt.take(), Ok(7));
    assert!(backend.interrupt(3).is_err());
    drop(interrupt);
    backend.interrupt(3).unwrap();
    backend.write(Space::Bar(0), 0x20C, Width::Four, 0xFFFF_FFFF).unwrap();
    backend.write(Space::Bar(0), 0x100, Width::Four, 0xFFFF_FFFF).unwrap();
    let error = backend.interrupt(3).err().unwrap();
    assert!(matches!(error, DeviceError::Gone { .. }), "{error}");
    backend.write(Space::Configuration, 4, Width::Two, 0).unwrap();
    let error = backend.interrupt(3).err().unwrap();
    assert!(matches!(error, DeviceError::MemoryDisabled { .. }), "{error}");
}

#[test]
fn memory_taken_away_from_a_device_at_work_is_kept_until_it_is_idle() {
    let tree = openable();
    let backend = Sysfs::open(&tree.roots(), OURS.parse().unwrap()).unwrap();
    let memories = [0, 1].map(|_| Arc::new(HostMemory::allocate(1, PAGE_BYTES).unwrap()));
    for (address, memory) in [0x1000, 0x2000].into_iter().zip(&memories) {
        backend.memories.insert(address, memory.clone());
    }
    let open = u64::from(COPY_QUEUE + queue::RETURN.offset());
    backend.write(Space::Bar(0), open, Width::Four, 1).unwrap();
    backend.unmap(0x1000).unwrap();
    assert_eq!(Arc::strong_count(&memories[0]), 2);
    backend.write(Space::Bar(0), open, Width::Four, 0).unwrap();
    backend.unmap(0x2000).unwrap();
    assert_eq!(memories.each_ref().map(Arc::strong_count), [1, 1]);
    let error = backend.unmap(0x2000).unwrap_err();
    assert!(matches!(error, DeviceError::OutOfRange { .. }), "{error}");
}

#[test]
fn a_device_is_idle_when_it_has_fetched_all_that_it_was_told_of() {
    let tree = openable();
    let backend = Sysfs::open(&tree.roots(), OURS.parse().unwrap()).unwrap();
    let write = |block, offset, value| {
        backend.write(Space::Bar(0), u64::from(block + offset), Width::Four, value).unwrap();
        backend.function.is_idle()
    };
    let lock_return = crate::map::lock_unit::RETURN.offset();
    // The register says that there are four queues.
    assert!(write(SHELL, shell::CAPABILITIES.offset(), 4));
    for block in [COPY_QUEUE, LOCK_QUEUE, JOB_QUEUE, LOOK_UP_QUEUE] {
        assert!(write(block, queue::CONTROL.offset(), 1));
        assert!(!write(block, queue::SUBMISSION_TAIL.offset(), 3), "nothing is fetched");
        assert!(write(block, queue::SUBMISSION_HEAD.offset(), 3));
        assert!(!write(block, queue::SUBMISSION_TAIL.offset(), 4));
        assert!(write(block, queue::CONTROL.offset(), 0), "nothing more is fetched");
        assert!(!write(block, queue::RETURN.offset(), 1), "its rings may be touched");
        assert!(write(block, queue::RETURN.offset(), 0));
    }
    for block in [COPY_QUEUE, JOB_QUEUE, LOOK_UP_QUEUE] {
        assert!(write(block, queue::SUBMISSION_HEAD.offset(), 4));
        assert!(write(block, queue::CONTROL.offset(), 1));
        assert!(!write(block, queue::RETURN.offset(), 1), "what it does may write memory");
        assert!(write(block, queue::RETURN.offset(), 0));
    }
    assert!(!write(LOCK_UNIT, lock_return, 1));
    assert!(write(LOCK_UNIT, lock_return, 0));
    let look_up_return = crate::map::nic_lookup::RETURN.offset();
    assert!(!write(LOOK_UP_UNIT, look_up_return, 1), "a request of the network reads memory");
    assert!(write(LOOK_UP_UNIT, look_up_return, 0));
    // Where a device of version 1.1 has no look-ups, reads give all-ones.
    assert!(!write(LOOK_UP_UNIT, look_up_return, u32::MAX.into()));
    assert!(write(SHELL, shell::CAPABILITIES.offset(), 3));
    // Where a device of version 1.0 has no job queue, reads give all-ones.
    assert!(!write(JOB_QUEUE, queue::RETURN.offset(), u32::MAX.into()));
    assert!(write(SHELL, shell::CAPABILITIES.offset(), 2));
}

/// A reset takes time, in which nobody knows what the counters mean.
#[test]
fn no_interrupt_is_made_up_during_a_reset() {
    let tree = openable();
    let backend = Sysfs::open(&tree.roots(), OURS.parse().unwrap()).unwrap();
    let interrupt = backend.interrupt(3).unwrap();
    backend.write(Space::Bar(0), 0x20C, Width::Four, 7).unwrap();
    assert_eq!(interrupt.take(), Ok(7));
    let under_way = backend.function.resets.write();
    backend.write(Space::Bar(0), 0x20C, Width::Four, 0).unwrap();
    assert_eq!(interrupt.take(), Ok(0));
    drop(under_way);
    backend.reset().unwrap();
    backend.write(Space::Bar(0), 0x20C, Width::Four, 9).unwrap();
    assert_eq!(interrupt.take(), Ok(9));
}

/// Without the right, and in lockdown.
#[test]
fn who_may_not_open_a_resource_is_told_who_may() {
    for errno in [rustix::io::Errno::ACCESS, rustix::io::Errno::PERM] {
        let path = Path::new("/sys/bus/pci/devices/0000:3b:00.0/resource0");
        let error = not_opened("pci:0000:3b:00.0?mode=sysfs", path, errno);
        assert!(matches!(&error, OpenError::PermissionDenied { path: place, .. } if place == path));
        assert_eq!(
            error.to_string(),
            "/sys/bus/pci/devices/0000:3b:00.0/resource0: permission denied; run as root; a kernel \
             in lockdown (secure boot) refuses root, too: use ?mode=vfio there"
        );
    }
}
