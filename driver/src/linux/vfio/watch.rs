// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waits for the kernel to want a function back.
//!
//! While a program has a function open, vfio-pci blocks an unbind or unplug of it, for as long as
//! that takes. It only sends a request, by an event; by another event it reports link errors. A
//! thread waits for both, since the program may never check.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::DeviceError;
use crate::event::Event;

/// The thread that waits; it ends when this is dropped.
#[derive(Debug)]
pub struct Watch {
    stop: Arc<Event>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Calls `let_go` with the words that belong to the first of the events that comes; and again
    /// with each further event as long as that fails: the kernel repeats its request every 10 s.
    ///
    /// # Errors
    /// The system has no thread or event descriptor.
    pub fn new(
        events: Vec<(Event, &'static str)>,
        let_go: impl Fn(&'static str) -> io::Result<()> + Send + 'static,
    ) -> Result<Self, DeviceError> {
        let stop = Arc::new(Event::new()?);
        let stopped = stop.clone();
        let wait = move || while wait(&events, &stopped).is_some_and(|why| let_go(why).is_err()) {};
        let thread = thread::Builder::new().name("vfio-watch".into()).spawn(wait);
        let thread = thread.map_err(|error| DeviceError::system("start a thread", error))?;
        Ok(Watch { stop, thread: Some(thread) })
    }
}

/// Waits for one of the events, and gives its words; nothing when it is to stop.
fn wait(events: &[(Event, &'static str)], stop: &Event) -> Option<&'static str> {
    loop {
        let all = events.iter().map(|(event, _)| event).chain([stop]);
        let mut files: Vec<_> =
            all.map(|event| PollFd::from_borrowed_fd(event.file(), PollFlags::IN)).collect();
        match poll(&mut files, None) {
            Ok(_) | Err(Errno::INTR) => {}
            // Without memory for the call, and nothing else: later there is some.
            Err(_) => thread::sleep(std::time::Duration::from_millis(100)),
        }
        if stop.take() != Ok(0) {
            return None;
        }
        if let Some((_, why)) = events.iter().find(|(event, _)| event.take() != Ok(0)) {
            return Some(why);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let signalled = self.stop.signal();
        let Some(thread) = self.thread.take() else { return };
        // The thread itself may drop the last reference to the function. One that cannot be told to
        // stop is left alone.
        if signalled.is_ok() && thread.thread().id() != thread::current().id() {
            // It does not panic.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    const LONG: Duration = Duration::from_secs(20);

    /// An event, and a second descriptor of it, as the kernel has one.
    fn event() -> (Event, Event) {
        let event = Event::new().unwrap();
        let theirs = Event::from(event.file().try_clone_to_owned().unwrap());
        (event, theirs)
    }

    #[test]
    fn the_event_that_comes_is_told_until_it_has_been_obeyed() {
        let ((request, asks), (error, _)) = (event(), event());
        let (told, hears) = mpsc::channel();
        let tries = std::sync::atomic::AtomicU32::new(0);
        let watch = Watch::new(vec![(error, "error"), (request, "request")], move |why| {
            let first = tries.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
            told.send(why).unwrap();
            if first { Err(io::ErrorKind::OutOfMemory.into()) } else { Ok(()) }
        });
        asks.signal().unwrap();
        assert_eq!(hears.recv_timeout(LONG), Ok("request"));
        asks.signal().unwrap();
        assert_eq!(hears.recv_timeout(LONG), Ok("request"));
        // The thread has ended, and its channel with it.
        assert_eq!(hears.recv_timeout(LONG), Err(mpsc::RecvTimeoutError::Disconnected));
        drop(watch);
    }

    #[test]
    fn a_watch_that_is_dropped_ends_without_a_word() {
        let ((request, _asks), (told, hears)) = (event(), mpsc::channel::<&str>());
        let tell = move |why| told.send(why).map_err(io::Error::other);
        drop(Watch::new(vec![(request, "request")], tell).unwrap());
        assert_eq!(hears.recv_timeout(LONG), Err(mpsc::RecvTimeoutError::Disconnected));
    }
}
