// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages over a unix socket: whole ones, with their descriptors, within a bound.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, recvmsg, sendmsg, shutdown,
};

use crate::deadline::Deadline;
use crate::error::Error;
use crate::message::{HEADER, Header, MAX_DESCRIPTORS};

/// Space for the descriptors of one message. The kernel closes those that do not fit and says so.
const ANCILLARY: usize = rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS));

/// A connected socket that never blocks.
#[derive(Debug)]
pub(crate) struct Socket(OwnedFd);

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Socket {
    /// Makes the descriptor non-blocking.
    pub(crate) fn new(stream: OwnedFd) -> Result<Self, Error> {
        rustix::io::ioctl_fionbio(&stream, true)
            .map_err(|errno| Error::io("make the socket non-blocking", errno))?;
        Ok(Self(stream))
    }

    /// Ends the connection in both directions, for all who share the socket.
    pub(crate) fn shut_down(&self) {
        // Fails only where the peer has ended it already.
        let _ = shutdown(&self.0, Shutdown::Both);
    }

    /// Sends a message, header and all, in one piece if the socket has room for it (QEMU wants the
    /// header in one piece), with its descriptors on the first byte.
    pub(crate) fn send(
        &self,
        message: &[u8],
        files: &[BorrowedFd<'_>],
        deadline: Deadline,
    ) -> Result<(), Error> {
        const SEND: &str = "the peer to take a message";
        let mut files = Some(files).filter(|files| !files.is_empty());
        let mut rest = message;
        while !rest.is_empty() {
            match self.send_some(rest, files.unwrap_or_default()) {
                Ok(sent) => {
                    rest = &rest[sent..];
                    files = None;
                }
                Err(Errno::AGAIN) => self.wait(PollFlags::OUT, deadline, SEND)?,
                Err(Errno::INTR) => deadline.check(SEND)?,
                Err(Errno::PIPE | Errno::CONNRESET) => {
                    return Err(Error::Closed { during: "while a message was sent" });
                }
                Err(errno) => return Err(Error::io("send a message", errno)),
            }
        }
        Ok(())
    }

    fn send_some(&self, bytes: &[u8], files: &[BorrowedFd<'_>]) -> Result<usize, Errno> {
        let mut space = [MaybeUninit::uninit(); ANCILLARY];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() {
            let fits = ancillary.push(SendAncillaryMessage::ScmRights(files));
            assert!(fits, "callers send at most MAX_DESCRIPTORS descriptors");
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        sendmsg(&self.0, &[IoSlice::new(bytes)], &mut ancillary, flags)
    }

    /// Receives up to `bytes.len()` bytes and adds the descriptors that come along to `files`.
    fn receive_some(&self, bytes: &mut [u8], files: &mut Vec<OwnedFd>) -> Result<usize, Received> {
        let mut space = [MaybeUninit::uninit(); ANCILLARY];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let received = recvmsg(&self.0, &mut [IoSliceMut::new(bytes)], &mut ancillary, flags)
            .map_err(Received::Errno)?;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                files.extend(rights);
            }
        }
        if received.flags.contains(ReturnFlags::CTRUNC) || files.len() > MAX_DESCRIPTORS {
            return Err(Received::TooManyFiles);
        }
        Ok(received.bytes)
    }

    /// Waits until the socket is ready for `events` (or has failed, which the next call finds).
    pub(crate) fn wait(
        &self,
        events: PollFlags,
        deadline: Deadline,
        waited_for: &'static str,
    ) -> Result<(), Error> {
        let timeout = deadline.timespec(waited_for)?;
        match poll(&mut [PollFd::new(&self.0, events)], Some(&timeout)) {
            Ok(0) => deadline.check(waited_for),
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(Error::io("wait for the socket", errno)),
        }
    }
}

enum Received {
    Errno(Errno),
    TooManyFiles,
}

/// A whole message. Dropping it closes the descriptors that nobody took.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) header: Header,
    pub(crate) payload: Vec<u8>,
    pub(crate) files: Vec<OwnedFd>,
}

/// Where the peer may close the connection without breaking a rule.
pub(crate) const BETWEEN: &str = "between two messages";

/// How far a message has come.
#[derive(Debug)]
pub(crate) enum Progress {
    /// It is whole.
    Whole(Message),
    /// The peer must send first: more of a message that has begun, or the first byte of one.
    Waiting { begun: bool },
}

/// Puts messages together from whatever chunks the peer sends. Reads no byte beyond a message's
/// end, so that descriptors are never taken for those of another message.
#[derive(Debug)]
pub(crate) struct Receiver {
    limit: usize,
    head: [u8; HEADER],
    /// Bytes of header and payload that are here.
    have: usize,
    header: Option<Header>,
    payload: Vec<u8>,
    files: Vec<OwnedFd>,
}

impl Receiver {
    /// Of messages of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        assert!(limit >= HEADER, "no message is shorter than its header");
        Self {
            limit,
            head: [0; HEADER],
            have: 0,
            header: None,
            payload: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Takes what has come, up to the end of one message, and never blocks. The payload's memory is
    /// allocated once the header has been checked: at most the limit.
    pub(crate) fn advance(&mut self, socket: &Socket) -> Result<Progress, Error> {
        loop {
            if let Some(message) = self.take_whole() {
                return Ok(Progress::Whole(message));
            }
            let room = match self.header {
                None => &mut self.head[self.have..],
                Some(_) => &mut self.payload[self.have - HEADER..],
            };
            match socket.receive_some(room, &mut self.files) {
                Ok(0) => return Err(self.closed()),
                Ok(received) => self.have += received,
                Err(Received::Errno(Errno::AGAIN)) => {
                    return Ok(Progress::Waiting { begun: self.have > 0 });
                }
                Err(Received::Errno(Errno::INTR)) => {}
                Err(Received::Errno(Errno::CONNRESET)) => return Err(self.closed()),
                Err(Received::Errno(errno)) => return Err(Error::io("receive a message", errno)),
                Err(Received::TooManyFiles) => return Err(self.too_many_files()),
            }
            if self.header.is_none() && self.have == HEADER {
                let header = Header::decode(&self.head, self.limit)
                    .map_err(|fault| fault.of("header of a message"))?;
                self.payload = vec![0; header.size as usize - HEADER];
                self.header = Some(header);
            }
        }
    }

    fn take_whole(&mut self) -> Option<Message> {
        let header = self.header.filter(|header| self.have == header.size as usize)?;
        self.header = None;
        self.have = 0;
        let (payload, files) = (std::mem::take(&mut self.payload), std::mem::take(&mut self.files));
        Some(Message { header, payload, files })
    }

    fn closed(&self) -> Error {
        let during = if self.have == 0 { BETWEEN } else { "within a message" };
        Error::Closed { during }
    }

    fn too_many_files(&mut self) -> Error {
        self.files.clear();
        let message = self.header.map_or("header of a message".to_string(), |h| h.describe());
        let expected = format!("at most {MAX_DESCRIPTORS}");
        Error::malformed(message, "descriptors", "more", expected)
    }
}

/// A message's bytes: its header, and the payload that `encode` appends.
pub(crate) fn encode(
    buffer: &mut Vec<u8>,
    id: u16,
    command: u16,
    kind: crate::message::Kind,
    encode: impl FnOnce(&mut Vec<u8>),
) {
    buffer.clear();
    buffer.extend([0; HEADER]);
    encode(buffer);
    let size = u32::try_from(buffer.len()).expect("transfers are limited to less than 4 GiB");
    let header = Header { id, command, size, kind };
    buffer[..HEADER].copy_from_slice(&header.encode());
}
