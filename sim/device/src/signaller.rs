// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals event descriptors of clients, and never waits.
//!
//! A write to an event descriptor waits while its counter is full, unless the open file says
//! `O_NONBLOCK`. The client controls that flag as much as we do, since both have the same open
//! file: it can clear the flag, and fill the counter, between our check and the write. To say "do
//! not wait" with the write itself (`RWF_NOWAIT`) is something that event descriptors do not take
//! (`EOPNOTSUPP` from Linux 6.18).
//!
//! The kernel's own way to signal an event, `eventfd_signal`, which VFIO and KVM use, never waits:
//! a full counter stays full. Asynchronous I/O uses it: a completion is signalled to an event
//! descriptor, if one is named (`IOCB_FLAG_RESFD`, see io_submit(2)). So a signal is a
//! read of no bytes from an empty file of memory, which has ended when the call returns.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use libc::{c_long, c_ulong};
use rustix::fs::MemfdFlags;
use rustix::io::Errno;

/// Values of `linux/aio_abi.h`.
const IOCB_CMD_PREAD: u16 = 0;
const IOCB_FLAG_RESFD: u32 = 1;

/// A `struct io_event`, whose fields nobody here looks at.
type IoEvent = [u64; 4];

/// How many ends are taken out at once; the kernel makes place for about as many.
const ENDS: usize = 128;

/// A context of asynchronous I/O.
#[derive(Debug)]
pub(crate) struct Signaller {
    context: c_ulong,
    /// An empty file.
    nothing: OwnedFd,
}

impl Signaller {
    /// A new one.
    ///
    /// # Errors
    /// What the system says: `ENOSYS` or `EPERM` where it has or allows no asynchronous I/O,
    /// `EAGAIN` when others have all of it (`fs.aio-max-nr`).
    pub fn new() -> Result<Self, Errno> {
        let nothing = rustix::fs::memfd_create("lockstep-nothing", MemfdFlags::CLOEXEC)?;
        let mut context: c_ulong = 0;
        let place: *mut c_ulong = &mut context;
        // SAFETY: the call writes the context to `place`, which is ours and is 0 as it must be.
        result(unsafe { libc::syscall(libc::SYS_io_setup, 1 as c_long, place) })?;
        Ok(Self { context, nothing })
    }

    /// Adds 1 to an event's counter, unless that is full: then whoever waits for it needs no more.
    /// Other failures are not reported: the descriptor is a client's.
    pub fn signal(&self, event: BorrowedFd<'_>) {
        if self.submit(event) == Err(Errno::AGAIN) {
            // The ends of about a hundred signals are kept until they are taken out.
            self.take_ends();
            let _ = self.submit(event);
        }
    }

    fn submit(&self, event: BorrowedFd<'_>) -> Result<c_long, Errno> {
        // SAFETY: a structure of plain numbers, for which 0 is a value.
        let mut block: libc::iocb = unsafe { std::mem::zeroed() };
        block.aio_lio_opcode = IOCB_CMD_PREAD;
        block.aio_fildes = self.nothing.as_raw_fd() as u32;
        block.aio_flags = IOCB_FLAG_RESFD;
        block.aio_resfd = event.as_fd().as_raw_fd() as u32;
        let mut blocks: [*mut libc::iocb; 1] = [&mut block];
        let (number, blocks) = (1 as c_long, blocks.as_mut_ptr());
        // SAFETY: the context is ours; one pointer to a block, which the call reads and writes, and
        // which the kernel keeps no hold of afterwards. The read is of no bytes, so no buffer is
        // named.
        result(unsafe { libc::syscall(libc::SYS_io_submit, self.context, number, blocks) })
    }

    fn take_ends(&self) {
        let mut ends: [IoEvent; ENDS] = [[0; 4]; ENDS];
        let (least, most) = (0 as c_long, ENDS as c_long);
        let mut no_time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let (into, no_time): (*mut IoEvent, *mut libc::timespec) =
            (ends.as_mut_ptr(), &mut no_time);
        // SAFETY: the context is ours; at most as many ends are written as there is space for. A
        // least number of 0 does not wait.
        let _ = result(unsafe {
            libc::syscall(libc::SYS_io_getevents, self.context, least, most, into, no_time)
        });
    }
}

impl Drop for Signaller {
    fn drop(&mut self) {
        // SAFETY: the context is ours, and nobody uses it any more. Nothing is under way in it.
        let _ = result(unsafe { libc::syscall(libc::SYS_io_destroy, self.context) });
    }
}

/// What a system call returned, which says how it failed in this thread's `errno`.
fn result(returned: c_long) -> Result<c_long, Errno> {
    if returned >= 0 {
        return Ok(returned);
    }
    let error = std::io::Error::last_os_error();
    Err(Errno::from_io_error(&error).unwrap_or(Errno::INVAL))
}

#[cfg(test)]
mod tests {
    use super::*;

    use rustix::event::{EventfdFlags, eventfd};

    fn take(event: &OwnedFd) -> u64 {
        let mut count = [0; 8];
        rustix::io::read(event, &mut count).unwrap();
        u64::from_ne_bytes(count)
    }

    #[test]
    fn each_signal_counts_once() {
        let signaller = Signaller::new().unwrap();
        let events = [0, 0].map(|_| eventfd(0, EventfdFlags::CLOEXEC).unwrap());
        // More than the kernel keeps ends of.
        for _ in 0..1000 {
            signaller.signal(events[0].as_fd());
        }
        signaller.signal(events[1].as_fd());
        assert_eq!(events.each_ref().map(take), [1000, 1]);
    }

    /// A write would wait here forever.
    #[test]
    fn a_full_counter_of_a_blocking_event_holds_up_nobody() {
        let signaller = Signaller::new().unwrap();
        let event = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
        rustix::io::write(&event, &(u64::MAX - 1).to_ne_bytes()).unwrap();
        for _ in 0..1000 {
            signaller.signal(event.as_fd());
        }
        assert_eq!(take(&event), u64::MAX);
        signaller.signal(event.as_fd());
        assert_eq!(take(&event), 1);
    }

    #[test]
    fn what_is_no_event_is_left_alone() {
        let signaller = Signaller::new().unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        signaller.signal(writer.as_fd());
        signaller.signal(reader.as_fd());
        let event = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
        signaller.signal(event.as_fd());
        assert_eq!(take(&event), 1);
    }

    /// What is written by hand or comes from `libc`, beside the kernel's header.
    #[test]
    fn asynchronous_io_is_that_of_the_kernel() {
        use std::mem::offset_of;
        kernel_headers::Header::new("linux/aio_abi.h")
            .value("IOCB_CMD_PREAD", IOCB_CMD_PREAD)
            .value("IOCB_FLAG_RESFD", IOCB_FLAG_RESFD)
            .size("io_event", size_of::<IoEvent>())
            .size("iocb", size_of::<libc::iocb>())
            .offset("iocb", "aio_lio_opcode", offset_of!(libc::iocb, aio_lio_opcode))
            .offset("iocb", "aio_fildes", offset_of!(libc::iocb, aio_fildes))
            .offset("iocb", "aio_nbytes", offset_of!(libc::iocb, aio_nbytes))
            .offset("iocb", "aio_flags", offset_of!(libc::iocb, aio_flags))
            .offset("iocb", "aio_resfd", offset_of!(libc::iocb, aio_resfd))
            .check();
    }
}
