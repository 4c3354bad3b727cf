// SPDX-License-Identifier: MIT OR Apache-2.0
//! The side that has the device.

mod acceptor;
mod backlog;
mod checks;
mod link;
mod session;

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{FileType, Mode, Stat};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};

use self::acceptor::{Acceptor, Arrival};
use self::session::Session;
use crate::device::ServedDevice;
use crate::error::Error;
use crate::message::{DEFAULT_TRANSFER, MAX_TRANSFER};

pub use self::link::RemoteMemory;

/// How a server behaves.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Bound of a message from its first byte to its last, of a new client's first message, of
    /// sending a reply, and of a client's answer to a request for memory. Between messages a client
    /// may idle for ever.
    pub timeout: Duration,
    /// Largest count of one read or write message, bytes, 1 to [`MAX_TRANSFER`].
    pub max_transfer: u32,
    /// How long to look for the next message again and again before sleeping until it comes.
    pub spin: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(5),
            max_transfer: DEFAULT_TRANSFER,
            spin: Duration::from_micros(20),
        }
    }
}

/// How a client's session ended.
#[derive(Debug)]
pub enum Ending {
    /// It closed the connection between two messages.
    Left,
    /// The server was stopped.
    Stopped,
    /// It broke the rules, was too slow, or died within a message.
    Failed(Error),
}

/// Ends [`Server::serve`], from any thread and for ever.
#[derive(Debug, Clone)]
pub struct Stop(Arc<OwnedFd>);

impl Stop {
    /// A handle that has not been used.
    ///
    /// # Errors
    /// The process is out of descriptors.
    pub fn new() -> Result<Self, Error> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|errno| Error::io("make an event descriptor", errno))?;
        Ok(Self(Arc::new(event)))
    }

    /// Ends the server as soon as the device's callback under way has returned.
    pub fn stop(&self) {
        // Nobody reads the event, so that it stays set. A full counter is set too.
        let _ = rustix::io::write(&*self.0, &1u64.to_ne_bytes());
    }
}

/// A listening socket, which goes when this is dropped.
#[derive(Debug)]
pub struct Server {
    listener: OwnedFd,
    options: ServerOptions,
    path: PathBuf,
    /// Which file the socket is, so that no other is removed in its place.
    file: (u64, u64),
}

impl Drop for Server {
    fn drop(&mut self) {
        let ours = rustix::fs::lstat(&self.path).is_ok_and(|status| identity(&status) == self.file);
        if ours {
            // It may have gone by itself.
            let _ = rustix::fs::unlink(&self.path);
        }
    }
}

fn identity(status: &Stat) -> (u64, u64) {
    (status.st_dev, status.st_ino)
}

/// Connections that may wait to be looked at.
const BACKLOG: i32 = 16;

impl Server {
    /// Listens at `path`, for processes of this user only (mode 0600). A socket there that nobody
    /// listens at is replaced.
    ///
    /// # Errors
    /// - [`Error::NotASocket`]: the path names something else; it is left alone.
    /// - [`Error::InUse`]: a server answers there; it is left alone.
    /// - [`Error::Socket`]: no permission, no such folder, a path too long for a socket.
    pub fn bind(path: &Path, options: ServerOptions) -> Result<Self, Error> {
        let options =
            ServerOptions { max_transfer: options.max_transfer.clamp(1, MAX_TRANSFER), ..options };
        let failed = |errno: Errno| Error::Socket {
            action: "listen at",
            path: path.into(),
            source: errno.into(),
        };
        let address = SocketAddrUnix::new(path).map_err(failed)?;
        remove_stale(path, &address)?;
        let listener = new_socket()?;
        bind(&listener, &address).map_err(failed)?;
        // Before anybody can connect.
        rustix::fs::chmod(path, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        listen(&listener, BACKLOG).map_err(failed)?;
        let status = rustix::fs::lstat(path).map_err(failed)?;
        Ok(Self { listener, options, path: path.into(), file: identity(&status) })
    }

    /// Serves clients, one after the other, until `stop`. Who comes while another is served gets the
    /// error `EBUSY` for its first message. What ends a client's session is told to the device
    /// ([`ServedDevice::client_left`]) and never ends the server.
    ///
    /// # Errors
    /// The listening socket failed.
    pub fn serve(&mut self, device: &mut dyn ServedDevice, stop: &Stop) -> Result<(), Error> {
        let mut acceptor =
            Acceptor::new(self.listener.as_fd(), stop.0.as_fd(), self.options.timeout);
        loop {
            match acceptor.next_client()? {
                Arrival::Stopped => return Ok(()),
                Arrival::Client(stream) => serve_one(stream, device, &mut acceptor, &self.options)?,
            }
        }
    }

    /// Serves one client that is connected already, over a stream socket, until it leaves or `stop`.
    ///
    /// # Errors
    /// The socket cannot be used at all.
    pub fn serve_over(
        stream: OwnedFd,
        device: &mut dyn ServedDevice,
        stop: &Stop,
        options: &ServerOptions,
    ) -> Result<(), Error> {
        let mut acceptor = Acceptor::without_listener(stop.0.as_fd(), options.timeout);
        serve_one(stream, device, &mut acceptor, options)
    }
}

fn serve_one(
    stream: OwnedFd,
    device: &mut dyn ServedDevice,
    acceptor: &mut Acceptor<'_>,
    options: &ServerOptions,
) -> Result<(), Error> {
    let mut session = Session::new(stream, device, options)?;
    let ending = session.run(acceptor);
    session.end(&ending);
    Ok(())
}

fn new_socket() -> Result<OwnedFd, Error> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
        .map_err(|errno| Error::io("make a socket", errno))
}

/// Removes a socket that nobody listens at.
fn remove_stale(path: &Path, address: &SocketAddrUnix) -> Result<(), Error> {
    let failed =
        |action, errno: Errno| Error::Socket { action, path: path.into(), source: errno.into() };
    let status = match rustix::fs::lstat(path) {
        Ok(status) => status,
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(failed("look at", errno)),
    };
    if FileType::from_raw_mode(status.st_mode) != FileType::Socket {
        return Err(Error::NotASocket { path: path.into() });
    }
    match connect(&new_socket()?, address) {
        Err(Errno::CONNREFUSED) => {
            rustix::fs::unlink(path).map_err(|errno| failed("remove the stale socket", errno))
        }
        // A full queue of connections is a live server's.
        Ok(()) | Err(Errno::AGAIN) => Err(Error::InUse { path: path.into() }),
        Err(errno) => Err(failed("try whether a server listens at", errno)),
    }
}
