// SPDX-License-Identifier: MIT OR Apache-2.0
//! The clients that connect while no client, or another client, is served.

use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvFlags, SendFlags, SocketFlags, accept_with, recvmsg, send,
};

use crate::deadline::Deadline;
use crate::error::Error;
use crate::message::{HEADER, Header, Kind};

/// Clients that may be waited for at a time so that they can be told why they are turned away. With
/// more, the one that has been silent for longest is dropped without a word.
const TURNED_AWAY: usize = 8;

/// How long a client that sends without a pause may keep us from looking at anything else.
const GLANCE: Duration = Duration::from_millis(10);

/// Who has come to a server that serves nobody.
pub(super) enum Arrival {
    Client(OwnedFd),
    Stopped,
}

/// Why a session stopped waiting for its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Woken {
    /// The client has sent something, or something else wants to be looked at.
    Look,
    /// The server is to stop.
    Stop,
}

/// The listening socket, the stop event, and those who are being turned away.
pub(super) struct Acceptor<'a> {
    listener: Option<BorrowedFd<'a>>,
    stop: BorrowedFd<'a>,
    timeout: Duration,
    turned_away: Vec<(OwnedFd, Deadline)>,
    looked: Instant,
}

impl<'a> Acceptor<'a> {
    pub(super) fn new(listener: BorrowedFd<'a>, stop: BorrowedFd<'a>, timeout: Duration) -> Self {
        Self {
            listener: Some(listener),
            stop,
            timeout,
            turned_away: Vec::new(),
            looked: Instant::now(),
        }
    }

    /// An acceptor of nobody.
    pub(super) fn without_listener(stop: BorrowedFd<'a>, timeout: Duration) -> Self {
        Self { listener: None, stop, timeout, turned_away: Vec::new(), looked: Instant::now() }
    }

    /// Waits for a client.
    pub(super) fn next_client(&mut self) -> Result<Arrival, Error> {
        loop {
            if let Some(stream) = self.accept()? {
                return Ok(Arrival::Client(stream));
            }
            if self.wait(None, None)? == Woken::Stop {
                return Ok(Arrival::Stopped);
            }
        }
    }

    /// Waits until `client` can be read, `at_most` has passed, somebody comes, or the server is to
    /// stop. Whoever comes while there is a client is turned away.
    pub(super) fn wait(
        &mut self,
        client: Option<BorrowedFd<'_>>,
        at_most: Option<Timespec>,
    ) -> Result<Woken, Error> {
        let at_most = at_most.or_else(|| self.until_next_drop());
        self.looked = Instant::now();
        let mut fds = vec![PollFd::from_borrowed_fd(self.stop, PollFlags::IN)];
        let readable = PollFlags::IN | PollFlags::RDHUP;
        let others = client.into_iter().chain(self.listener);
        fds.extend(others.map(|fd| PollFd::from_borrowed_fd(fd, readable)));
        fds.extend(self.turned_away.iter().map(|(fd, _)| PollFd::new(fd, PollFlags::IN)));
        match poll(&mut fds, at_most.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::io("wait for clients", errno)),
        }
        if !fds[0].revents().is_empty() {
            return Ok(Woken::Stop);
        }
        // Who comes after the client has left is the next client.
        let left = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR;
        if client.is_some() && !fds[1].revents().intersects(left) {
            self.attend()?;
        }
        self.dismiss();
        Ok(Woken::Look)
    }

    /// Looks who has come, and whether to stop, unless it has just been looked: for a client that
    /// never lets us wait.
    pub(super) fn glance(&mut self, client: BorrowedFd<'_>) -> Result<Woken, Error> {
        if self.looked.elapsed() < GLANCE {
            return Ok(Woken::Look);
        }
        self.wait(Some(client), Some(Timespec { tv_sec: 0, tv_nsec: 0 }))
    }

    /// Turns away who has come.
    fn attend(&mut self) -> Result<(), Error> {
        while let Some(stream) = self.accept()? {
            if self.turned_away.len() == TURNED_AWAY {
                self.turned_away.remove(0);
            }
            self.turned_away.push((stream, Deadline::after(self.timeout)));
        }
        Ok(())
    }

    /// Refuses those who have said something; drops those who have been silent for too long.
    fn dismiss(&mut self) {
        self.turned_away.retain(|(stream, deadline)| !refuse(stream) && !deadline.left().is_zero());
    }

    fn until_next_drop(&self) -> Option<Timespec> {
        let left = self.turned_away.iter().map(|(_, deadline)| deadline.left()).min()?;
        // Never 0 without an end: who is late is dropped right after.
        Some(Timespec::try_from(left).expect("a bound of at most a year fits a timespec"))
    }

    fn accept(&mut self) -> Result<Option<OwnedFd>, Error> {
        let Some(listener) = self.listener else { return Ok(None) };
        loop {
            match accept_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(stream) => return Ok(Some(stream)),
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                // Out of descriptors or memory: others may free some; whoever waits goes on waiting.
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    std::thread::sleep(Duration::from_millis(10));
                    return Ok(None);
                }
                Err(errno) => return Err(Error::io("accept a client", errno)),
            }
        }
    }
}

/// Tells who has said something that the server is busy; returns whether it has now been dealt with.
/// Never blocks: whoever sends half a header goes without an answer.
fn refuse(stream: &OwnedFd) -> bool {
    let mut head = [0; HEADER];
    // No space for descriptors: the kernel closes them.
    let mut ancillary = RecvAncillaryBuffer::new(&mut [] as &mut [MaybeUninit<u8>]);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    match recvmsg(stream.as_fd(), &mut [IoSliceMut::new(&mut head)], &mut ancillary, flags) {
        Err(Errno::AGAIN | Errno::INTR) => return false,
        Ok(received) if received.bytes == HEADER => {}
        Ok(_) | Err(_) => return true,
    }
    let Ok(header) = Header::decode(&head, u32::MAX as usize) else { return true };
    let reply = Header {
        size: HEADER as u32,
        kind: Kind::Reply { error: Some(Errno::BUSY.raw_os_error() as u32) },
        ..header
    };
    // If it does not take 16 bytes, it does not want to know.
    let _ = send(stream, &reply.encode(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    true
}
