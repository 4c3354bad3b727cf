// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every command, from our client to our server.

use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, Mutex};

use crate::support::*;
use rustix::event::{EventfdFlags, eventfd};
use vfio_user::{
    Area, Client, DeviceInfo, Errno, Error, GuestMemory, IrqAction, Options, irq_index,
    region_index,
};

fn refused(outcome: Result<(), Error>) -> Errno {
    match outcome {
        Err(Error::Refused { errno, .. }) => Errno::from_raw_os_error(errno as i32),
        other => panic!("expected a refusal, found {other:?}"),
    }
}

#[test]
fn device_regions_and_interrupts_are_described() {
    let (mut client, _server) = linked();
    assert_eq!(client.device_info().unwrap(), DeviceInfo::PCI);

    let bar0 = client.region_info(region_index::BAR0).unwrap();
    assert_eq!((bar0.size, bar0.readable, bar0.writable), (BAR0, true, true));
    assert!(!bar0.mappable && bar0.file.is_none() && bar0.areas().is_empty());
    let rom = client.region_info(region_index::ROM).unwrap();
    assert!(rom.readable && !rom.writable);
    assert_eq!(client.region_info(1).unwrap().size, 0, "of regions that are not there, size 0");
    assert_eq!(refused(client.region_info(region_index::COUNT).map(drop)), Errno::INVAL);

    let bar2 = client.region_info(2).unwrap();
    assert_eq!(bar2.areas(), [Area { offset: 0, size: BAR2 }]);
    assert_eq!((bar2.offset, bar2.file.is_some()), (BAR2_OFFSET, true));
    let sparse = client.region_info(4).unwrap();
    assert_eq!(sparse.areas(), [Area { offset: 0x1000, size: 0x2000 }]);

    let msix = client.irq_info(irq_index::MSIX).unwrap();
    assert_eq!((msix.count, msix.eventfd, msix.noresize, msix.maskable), (4, true, true, false));
    assert_eq!(client.irq_info(irq_index::INTX).unwrap().count, 0);
    assert_eq!(refused(client.irq_info(irq_index::COUNT).map(drop)), Errno::INVAL);
}

#[test]
fn regions_are_read_and_written_also_in_parts() {
    let (ours, theirs) = pair();
    let _server = Running::over(theirs, server_options());
    // 7 bytes at a time, so that every larger access is split.
    let mut client = Client::over(ours, Options { max_transfer: 7, ..options() }).unwrap();
    let sent: Vec<u8> = (0..100).collect();
    client.region_write(region_index::BAR0, 0x123, &sent).unwrap();
    let mut back = vec![0; 100];
    client.region_read(region_index::BAR0, 0x123, &mut back).unwrap();
    assert_eq!(back, sent);
    let mut all = vec![0; 256];
    client.region_read(region_index::CONFIG, 0, &mut all).unwrap();
    assert_eq!(all, (0..=255).collect::<Vec<u8>>());
    client.region_read(region_index::CONFIG, 0, &mut []).unwrap();
}

#[test]
fn accesses_outside_regions_are_refused_and_change_nothing() {
    let (mut client, _server) = linked();
    let mut byte = [0x55; 2];
    for (index, offset) in [
        (region_index::BAR0, BAR0 - 1),
        (region_index::BAR0, u64::MAX),
        (1, 0),
        (region_index::COUNT, 0),
        (u32::MAX, 0),
    ] {
        assert_eq!(refused(client.region_read(index, offset, &mut byte)), Errno::INVAL);
        assert_eq!(refused(client.region_write(index, offset, &[1, 2])), Errno::INVAL);
    }
    assert_eq!(refused(client.region_write(region_index::ROM, 0, &[1])), Errno::ACCESS);
    assert_eq!(byte, [0x55; 2]);
    client.region_read(region_index::BAR0, BAR0 - 2, &mut byte).unwrap();
    assert_eq!(byte, [0; 2]);
}

#[test]
fn the_mapped_region_is_the_one_that_messages_reach() {
    let (mut client, _server) = linked();
    let bar2 = client.region_info(2).unwrap();
    let file = bar2.file.unwrap();
    client.region_write(2, 0x40, &[1, 2, 3, 4]).unwrap();
    let mut seen = [0; 4];
    rustix::io::pread(&file, &mut seen, bar2.offset + 0x40).unwrap();
    assert_eq!(seen, [1, 2, 3, 4]);
    rustix::io::pwrite(&file, &[9], bar2.offset + 0x41).unwrap();
    client.region_read(2, 0x40, &mut seen).unwrap();
    assert_eq!(seen, [1, 9, 3, 4]);
}

#[test]
fn maps_come_and_go() {
    let (mut client, server) = linked();
    let file = memory_file(0x10_0000);
    let map = |client: &mut Client, address, size, offset, writable| {
        client.dma_map(address, size, offset, Some(file.as_fd()), true, writable)
    };
    map(&mut client, 0x10_0000, 0x8000, 0x1000, true).unwrap();
    map(&mut client, 0x10_8000, 0x1000, 0, true).unwrap();
    client.dma_map(0x20_0000, 0x1000, 0, None, true, false).unwrap();
    let log = |server: &Running| server.log.lock().unwrap().maps.clone();
    let three =
        [(0x10_0000, (0x8000, true)), (0x10_8000, (0x1000, true)), (0x20_0000, (0x1000, false))];
    assert_eq!(log(&server).into_iter().collect::<Vec<_>>(), three);

    for (address, size, offset, errno) in [
        (0x10_0000, 0x1000, 0, Errno::EXIST),
        (0xf_f000, 0x2000, 0, Errno::EXIST),
        (0x10_7000, 0x1000, 0, Errno::EXIST),
        (0xf_0000, 0x10_0000, 0, Errno::EXIST),
        (0x30_0800, 0x1000, 0, Errno::INVAL),
        (0x30_0000, 0x800, 0, Errno::INVAL),
        (0x30_0000, 0x1000, 0x800, Errno::INVAL),
        (0x30_0000, 0x1000, 0x10_0000, Errno::INVAL),
        (0x30_0000, 0x1000, u64::MAX - 0xfff, Errno::INVAL),
        (u64::MAX - 0xfff, 0x1000, 0, Errno::INVAL),
    ] {
        let found = refused(map(&mut client, address, size, offset, true));
        assert_eq!(found, errno, "{size:#x} at {address:#x} from {offset:#x}");
    }
    assert_eq!(log(&server).len(), 3, "what is refused changes nothing");
    assert!(matches!(map(&mut client, 0, 0, 0, true), Err(Error::Malformed { field: "size", .. })));

    // A map that sticks out stays; then several at once go; then there is nothing.
    assert_eq!(refused(client.dma_unmap(0x10_0000, 0x8800)), Errno::INVAL);
    assert_eq!(log(&server).len(), 3);
    client.dma_unmap(0x10_0000, 0x9000).unwrap();
    assert_eq!(log(&server).len(), 1);
    let outcome = client.dma_unmap(0x10_0000, 0x9000);
    assert!(
        matches!(outcome, Err(Error::Unmapped { unmapped: 0, size: 0x9000, .. })),
        "{outcome:?}"
    );
    client.dma_unmap_all().unwrap();
    assert_eq!(log(&server).len(), 0);
}

#[test]
fn what_cannot_be_mapped_is_refused() {
    let (mut client, server) = linked();
    let (pipe, _other_end) = std::io::pipe().unwrap();
    let event = eventfd(0, EventfdFlags::empty()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let on_disk = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
    assert!(rustix::fs::fcntl_get_seals(&on_disk).is_err(), "run this from a disk");
    let memory = memory_file(0x1000);
    let path = format!("/proc/self/fd/{}", memory.as_raw_fd());
    let read_only = std::fs::File::open(&path).unwrap();
    let write_only = std::fs::File::options().write(true).open(&path).unwrap();
    let directory = std::fs::File::open(folder.path()).unwrap();
    let mut map = |file, writable| client.dma_map(0, 0x1000, 0, Some(file), true, writable);
    for file in [pipe.as_fd(), event.as_fd(), directory.as_fd(), on_disk.as_fd()] {
        assert_eq!(refused(map(file, false)), Errno::INVAL);
    }
    assert_eq!(refused(map(read_only.as_fd(), true)), Errno::ACCESS);
    assert_eq!(refused(map(write_only.as_fd(), true)), Errno::ACCESS);
    map(read_only.as_fd(), false).unwrap();
    assert_eq!(server.log.lock().unwrap().maps.len(), 1);
}

#[test]
fn interrupts_are_connected_fired_and_disconnected() {
    let (mut client, server) = linked();
    let events: Vec<_> = (0..4).map(|_| eventfd(0, EventfdFlags::empty()).unwrap()).collect();
    let fds: Vec<_> = events.iter().map(|event| Some(event.as_fd())).collect();
    client.set_irqs(irq_index::MSIX, 0, &fds, IrqAction::Trigger).unwrap();
    // What the device writes into its descriptor, the client reads from its own.
    let two = rustix::io::dup(&server.log.lock().unwrap().events[&2]).unwrap();
    rustix::io::write(&two, &1u64.to_ne_bytes()).unwrap();
    let mut count = [0; 8];
    rustix::io::read(&events[2], &mut count).unwrap();
    assert_eq!(u64::from_ne_bytes(count), 1);

    // Mixed: three messages, for one may only carry all or none.
    let mixed = [fds[0], None, None, fds[3]];
    client.set_irqs(irq_index::MSIX, 0, &mixed, IrqAction::Trigger).unwrap();
    client.act_on_irqs(irq_index::MSIX, 1, 2, IrqAction::Mask).unwrap();
    client.disable_irqs(irq_index::MSIX).unwrap();
    let log = server.log.lock().unwrap().irqs.clone();
    assert_eq!(
        log,
        [
            "2: 0+4 Trigger 4 events",
            "2: 0+1 Trigger 1 events",
            "2: 1+2 Trigger 0 events",
            "2: 3+1 Trigger 1 events",
            "2: 1+2 Mask now",
            "2: 0+0 Trigger now",
        ]
    );

    let file = memory_file(8);
    let not_an_event = [Some(file.as_fd())];
    let mut set = |index, start, fds| client.set_irqs(index, start, fds, IrqAction::Trigger);
    assert_eq!(refused(set(irq_index::MSIX, 0, &not_an_event)), Errno::INVAL);
    assert_eq!(refused(set(irq_index::MSIX, 4, &fds[..1])), Errno::INVAL);
    assert_eq!(refused(set(irq_index::MSIX, 1, &fds)), Errno::INVAL);
    assert_eq!(refused(set(irq_index::MSIX, u32::MAX - 1, &fds[..1])), Errno::INVAL);
    assert_eq!(refused(set(irq_index::MSI, 0, &fds[..1])), Errno::INVAL);
    assert_eq!(refused(set(irq_index::COUNT, 0, &fds[..1])), Errno::INVAL);
    let outcome = set(irq_index::MSIX, u32::MAX, &fds);
    assert!(matches!(outcome, Err(Error::TooLarge { .. })), "{outcome:?}");
    assert_eq!(server.log.lock().unwrap().irqs.len(), log.len());
}

#[test]
fn reset_reaches_the_device() {
    let (mut client, server) = linked();
    client.region_write(region_index::BAR0, 0, &[1]).unwrap();
    client.reset().unwrap();
    let mut byte = [1];
    client.region_read(region_index::BAR0, 0, &mut byte).unwrap();
    assert_eq!((byte, server.log.lock().unwrap().resets), ([0], 1));
}

/// Memory at device address 0x1000.
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl GuestMemory for Buffer {
    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), Errno> {
        data.copy_from_slice(&self.0.lock().unwrap()[address as usize - 0x1000..][..data.len()]);
        Ok(())
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), Errno> {
        self.0.lock().unwrap()[address as usize - 0x1000..][..data.len()].copy_from_slice(data);
        Ok(())
    }
}

#[test]
fn memory_without_a_descriptor_is_reached_by_message_in_the_midst_of_a_call() {
    // The second: the doorbell's 8 bytes at once, the memory's 16 in two parts.
    for max_transfer in [1 << 20, 8] {
        let (ours, theirs) = pair();
        let _server = Running::over(theirs, server_options());
        let mut client = Client::over(ours, Options { max_transfer, ..options() }).unwrap();
        let ring = |client: &mut Client, address: u64| {
            client.region_write(region_index::BAR0, DOORBELL, &address.to_le_bytes())
        };
        assert_eq!(refused(ring(&mut client, 0x1000)), Errno::FAULT, "nothing is mapped");
        client.dma_map(0x1000, 0x2000, 0, None, true, true).unwrap();
        client.dma_map(0x4000, 0x1000, 0, None, true, false).unwrap();
        assert_eq!(refused(ring(&mut client, 0x1000)), Errno::FAULT, "nobody answers");
        let memory = Arc::new(Mutex::new((0..0x4000).map(|at| at as u8).collect::<Vec<_>>()));
        client.set_guest_memory(Box::new(Buffer(memory.clone())));
        ring(&mut client, 0x1005).unwrap();
        let found = memory.lock().unwrap()[..32].to_vec();
        let expected: Vec<u8> = (0..32).map(|at| at + u8::from((5..21).contains(&at))).collect();
        assert_eq!(found, expected);
        assert_eq!(refused(ring(&mut client, 0x2ff8)), Errno::FAULT, "beyond the map's end");
        assert_eq!(refused(ring(&mut client, 0x4000)), Errno::ACCESS, "the map is read-only");
        assert_eq!(refused(ring(&mut client, u64::MAX - 3)), Errno::INVAL, "wraps round");
        client.dma_unmap_all().unwrap();
        assert_eq!(refused(ring(&mut client, 0x1005)), Errno::FAULT, "no longer mapped");
    }
}
