// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interrupts that come through an event descriptor.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use crate::{DeviceError, Interrupt};

/// An event descriptor that counts the interrupts of a vector.
#[derive(Debug)]
pub struct Event {
    file: OwnedFd,
}

#[cfg(test)]
impl From<OwnedFd> for Event {
    fn from(file: OwnedFd) -> Self {
        Event { file }
    }
}

impl Event {
    /// A new one, at 0.
    pub fn new() -> Result<Self, DeviceError> {
        let file = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|errno| DeviceError::system("make an event descriptor", errno))?;
        Ok(Event { file })
    }

    /// The descriptor, for those who signal.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Adds one event.
    pub fn signal(&self) -> Result<(), DeviceError> {
        match rustix::io::write(&self.file, &1u64.to_ne_bytes()) {
            // A full counter wakes whoever waits, too.
            Ok(_) | Err(Errno::AGAIN) => Ok(()),
            Err(errno) => Err(DeviceError::system("signal an event descriptor", errno)),
        }
    }

    /// The events since the last call.
    pub fn take(&self) -> Result<u64, DeviceError> {
        let mut count = [0; 8];
        // "Do not wait" is said with each read: who signals has the same open file, and can take its
        // `O_NONBLOCK` away.
        let mut into = [IoSliceMut::new(&mut count)];
        match preadv2(&self.file, &mut into, u64::MAX, ReadWriteFlags::NOWAIT) {
            Ok(_) => Ok(u64::from_ne_bytes(count)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(errno) => Err(DeviceError::system("read an event descriptor", errno)),
        }
    }

    /// Waits for at least one event; `what` names it. Ends as `None` when the peer of `link` is gone.
    pub fn wait(
        &self,
        what: &str,
        bound: Duration,
        link: Option<BorrowedFd<'_>>,
    ) -> Result<Option<u64>, DeviceError> {
        let started = Instant::now();
        let mut gone = false;
        loop {
            let count = self.take()?;
            if count > 0 {
                return Ok(Some(count));
            }
            if gone {
                return Ok(None);
            }
            let left = bound.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(DeviceError::Timeout {
                    waited_for: what.into(),
                    bound: format!("{bound:?}"),
                });
            }
            // More than the kernel takes is as good as for ever, and looked at again then.
            let left = Timespec::try_from(left.min(Duration::from_secs(3600)))
                .expect("an hour fits a timespec");
            let event = PollFd::new(&self.file, PollFlags::IN);
            let mut files = vec![event];
            files.extend(link.map(|link| PollFd::from_borrowed_fd(link, PollFlags::RDHUP)));
            match poll(&mut files, Some(&left)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => {
                    return Err(DeviceError::system("wait for an event descriptor", errno));
                }
            }
            // What was signalled before the end is still taken, once round.
            gone = files.get(1).is_some_and(|link| !link.revents().is_empty());
        }
    }
}

/// One vector with its event, and what is to be done when it is not wanted any more.
pub struct EventInterrupt {
    vector: u32,
    event: Event,
    link: Option<Link>,
    disable: Box<dyn Fn() + Send + Sync>,
}

/// A socket to whoever signals the events, and the error once the other end is gone.
pub struct Link {
    pub socket: OwnedFd,
    pub lost: Box<dyn Fn() -> DeviceError + Send + Sync>,
}

impl EventInterrupt {
    pub fn new(
        vector: u32,
        event: Event,
        link: Option<Link>,
        disable: Box<dyn Fn() + Send + Sync>,
    ) -> Self {
        EventInterrupt { vector, event, link, disable }
    }
}

impl Interrupt for EventInterrupt {
    fn vector(&self) -> u32 {
        self.vector
    }

    fn take(&self) -> Result<u64, DeviceError> {
        self.event.take()
    }

    fn wait(&self, bound: Duration) -> Result<u64, DeviceError> {
        let what = format!("an interrupt on vector {}", self.vector);
        let socket = self.link.as_ref().map(|link| link.socket.as_fd());
        let count = self.event.wait(&what, bound, socket)?;
        match (count, &self.link) {
            (Some(count), _) => Ok(count),
            (None, Some(link)) => Err((link.lost)()),
            (None, None) => unreachable!("without a link, nobody is found gone"),
        }
    }
}

impl Drop for EventInterrupt {
    fn drop(&mut self) {
        (self.disable)();
    }
}

/// Which vectors are enabled: each at most once at a time.
#[derive(Debug)]
pub struct Vectors(Vec<bool>);

impl Vectors {
    /// None of `count` is enabled.
    pub fn new(count: u32) -> Self {
        Vectors(vec![false; count as usize])
    }

    /// Marks a vector as enabled, unless it is or does not exist.
    pub fn enable(&mut self, vector: u32) -> Result<(), DeviceError> {
        let count = self.0.len();
        match self.0.get_mut(vector as usize) {
            Some(enabled @ false) => {
                *enabled = true;
                Ok(())
            }
            Some(true) => Err(DeviceError::Refused {
                attempted: format!("enable vector {vector}"),
                reason: "it is enabled already; drop the other one first".into(),
            }),
            None => Err(DeviceError::OutOfRange {
                field: "vector",
                value: vector.into(),
                expected: format!("less than {count}"),
            }),
        }
    }

    /// Marks an enabled vector as disabled.
    pub fn disable(&mut self, vector: u32) {
        self.0[vector as usize] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::os::unix::net::UnixStream;

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(20);

    fn signal(event: &Event, count: u64) {
        rustix::io::write(event.file(), &count.to_ne_bytes()).unwrap();
    }

    #[test]
    fn events_are_counted_and_none_waits_longer_than_its_bound() {
        let event = Event::new().unwrap();
        assert_eq!(event.take(), Ok(0));
        signal(&event, 1);
        signal(&event, 2);
        assert_eq!(event.wait("three events", SHORT, None), Ok(Some(3)));
        assert_eq!(
            event.wait("an interrupt on vector 1", SHORT, None).unwrap_err().to_string(),
            "waited for an interrupt on vector 1: nothing within 20ms"
        );
    }

    /// As whoever signals can make it, since the flag belongs to the open file.
    #[test]
    fn an_event_that_was_made_blocking_holds_nobody_up() {
        let event = Event::new().unwrap();
        rustix::io::ioctl_fionbio(event.file(), false).unwrap();
        assert_eq!(event.take(), Ok(0));
        assert!(matches!(event.wait("an event", SHORT, None), Err(DeviceError::Timeout { .. })));
        signal(&event, 3);
        assert_eq!(event.wait("an event", LONG, None), Ok(Some(3)));
    }

    #[test]
    fn a_wait_ends_when_an_event_comes() {
        let event = Event::new().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(SHORT);
                signal(&event, 1);
            });
            assert_eq!(event.wait("an event", LONG, None), Ok(Some(1)));
        });
    }

    #[test]
    fn a_wait_ends_when_the_other_end_is_gone_and_what_it_signalled_is_taken() {
        let event = Event::new().unwrap();
        let (ours, theirs) = UnixStream::pair().unwrap();
        let wait = || event.wait("an event", LONG, Some(ours.as_fd()));
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(SHORT);
                drop(theirs);
            });
            assert_eq!(wait(), Ok(None));
        });
        signal(&event, 2);
        assert_eq!((wait(), wait()), (Ok(Some(2)), Ok(None)));
    }

    #[test]
    fn a_vector_has_one_user() {
        let mut vectors = Vectors::new(2);
        vectors.enable(1).unwrap();
        assert!(vectors.enable(1).unwrap_err().to_string().contains("enabled already"));
        assert!(vectors.enable(2).unwrap_err().to_string().contains("less than 2"));
        vectors.disable(1);
        vectors.enable(1).unwrap();
    }
}
