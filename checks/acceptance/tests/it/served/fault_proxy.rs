// SPDX-License-Identifier: MIT OR Apache-2.0
//! A proxy on a vfio-user link that injects one fault: it forwards messages and descriptors, and
//! corrupts one message of the server.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Descriptors that come with one message.
const MOST_DESCRIPTORS: usize = 16;

/// The outcome of one message.
#[derive(Clone, Copy, Debug)]
pub enum Spoil {
    /// One byte of it is another, counted modulo its length.
    Byte {
        /// Which.
        at: usize,
        /// The addition to it.
        add: u8,
    },
    /// It ends after so many bytes, modulo its length, and the link closes.
    Truncate {
        /// How many are left.
        after: usize,
    },
    /// It comes a second time.
    Repeat,
    /// Bytes that are no message come before it.
    Garbage {
        /// What they all are.
        byte: u8,
    },
    /// It never comes.
    Swallow,
}

/// Stands between a socket of its own and a server's, for one client.
pub struct FaultProxy {
    folder: tempfile::TempDir,
    threads: Vec<JoinHandle<()>>,
}

impl FaultProxy {
    /// Spoils the message of the server with this number, counted from 0.
    pub fn new(server: &Path, number: usize, spoil: Spoil) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the socket");
        let listener = UnixListener::bind(folder.path().join("socket")).expect("a socket");
        let server = server.to_owned();
        let threads = vec![thread::spawn(move || relay(&listener, &server, number, spoil))];
        Self { folder, threads }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("socket")
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        // So that it also ends when no client has come.
        drop(UnixStream::connect(self.path()));
        for thread in self.threads.drain(..) {
            thread.join().expect("a proxy that does not fail");
        }
    }
}

fn relay(listener: &UnixListener, server: &Path, number: usize, spoil: Spoil) {
    let (Ok((client, _)), Ok(server)) = (listener.accept(), UnixStream::connect(server)) else {
        return;
    };
    let requests = thread::spawn({
        let (client, server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        move || {
            while pass(&client, &server, |_| Next::Go).is_some() {}
            let _ = server.shutdown(std::net::Shutdown::Both);
        }
    });
    let mut count = 0;
    let replies = |bytes: &mut Vec<u8>| {
        let turn = count == number;
        count += 1;
        if turn { spoil.apply(bytes) } else { Next::Go }
    };
    let mut replies = replies;
    while pass(&server, &client, &mut replies).is_some() {}
    let _ = client.shutdown(std::net::Shutdown::Both);
    let _ = server.shutdown(std::net::Shutdown::Both);
    requests.join().expect("nothing fails there");
}

/// What comes after a message.
enum Next {
    Go,
    Close,
}

impl Spoil {
    fn apply(self, message: &mut Vec<u8>) -> Next {
        let length = message.len().max(1);
        match self {
            Spoil::Byte { at, add } => {
                message[at % length] = message[at % length].wrapping_add(add)
            }
            Spoil::Truncate { after } => {
                message.truncate(after % length);
                return Next::Close;
            }
            Spoil::Repeat => message.extend_from_within(..),
            Spoil::Garbage { byte } => drop(message.splice(0..0, [byte; 16])),
            Spoil::Swallow => message.clear(),
        }
        Next::Go
    }
}

/// Passes what comes next on, with its descriptors; `None`: one of the two is gone. The client asks
/// one thing at a time, so what comes from the server at once is one message.
fn pass(
    from: &UnixStream,
    to: &UnixStream,
    mut change: impl FnMut(&mut Vec<u8>) -> Next,
) -> Option<()> {
    let mut bytes = vec![0; 2 << 20];
    let mut space =
        [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received =
        recvmsg(from, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)
            .ok()?;
    if received.bytes == 0 {
        return None;
    }
    bytes.truncate(received.bytes);
    let files: Vec<OwnedFd> = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        })
        .flatten()
        .collect();
    let next = change(&mut bytes);
    let files: Vec<_> = files.iter().map(|file| file.as_fd()).collect();
    let mut space =
        [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&files));
    }
    let mut sent = 0;
    while sent < bytes.len() {
        let rest = [IoSlice::new(&bytes[sent..])];
        sent += sendmsg(to, &rest, &mut control, SendFlags::NOSIGNAL).ok()?;
        control.clear();
    }
    matches!(next, Next::Go).then_some(())
}
