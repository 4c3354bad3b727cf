//! The side that has the device.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::device::{Device, Errno};
use crate::error::Error;

/// How a server behaves.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Bound of a message from its first byte to its last, of sending a reply, and of a client's
    /// answer to a request for memory. Between messages a client may idle for ever.
    pub timeout: Duration,
    /// Largest count of one read or write message, bytes.
    pub max_transfer: u32,
    /// How long to look for the next message again and again before sleeping until it comes.
    pub spin: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(5),
            max_transfer: 1 << 20,
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
    /// It broke the protocol, was too slow, or died within a message.
    Failed(Error),
}

/// The client's memory by message, where a map carried no descriptor. Clones reach the same client.
#[derive(Debug, Clone)]
pub struct RemoteMemory(());

impl RemoteMemory {
    /// Reads from device address `address`.
    ///
    /// # Errors
    /// The client refused (its error number), is gone (`ENOTCONN`), or did not answer in time
    /// (`ETIMEDOUT`).
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<(), Errno> {
        let _ = (address, data);
        Err(Errno::NOTCONN)
    }

    /// Writes to device address `address`.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn write(&self, address: u64, data: &[u8]) -> Result<(), Errno> {
        let _ = (address, data);
        Err(Errno::NOTCONN)
    }
}

/// Ends [`Server::serve`], from any thread.
#[derive(Debug, Clone)]
pub struct Stop(Arc<()>);

impl Stop {
    /// A handle that has not been used.
    ///
    /// # Errors
    /// The process is out of descriptors.
    pub fn new() -> Result<Self, Error> {
        Ok(Self(Arc::new(())))
    }

    /// Ends the server; for ever.
    pub fn stop(&self) {}
}

/// A listening socket.
#[derive(Debug)]
pub struct Server(());

impl Server {
    /// Listens at `path`; replaces a socket that nobody listens at.
    ///
    /// # Errors
    /// [`Error::NotASocket`], [`Error::InUse`], [`Error::Socket`].
    pub fn bind(path: &Path, options: ServerOptions) -> Result<Self, Error> {
        let _ = options;
        Err(Error::NotASocket { path: path.into() })
    }

    /// Serves clients, one after the other, until `stop`.
    ///
    /// # Errors
    /// The listening socket failed; never what a client did.
    pub fn serve(&mut self, device: &mut dyn Device, stop: &Stop) -> Result<(), Error> {
        let _ = (device, stop);
        Ok(())
    }
}
