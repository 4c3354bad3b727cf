// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device behind a socket.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use driver::DeviceUri;
use tempfile::TempDir;
use vfio_user::Stop;

/// How long a server may take to say that it is ready.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A server, ended when this is dropped.
pub struct Served {
    uri: DeviceUri,
    _server: Server,
    _folder: TempDir,
}

impl Served {
    /// Starts a server, a process of the command `server` or a thread of this one, and waits until it
    /// is ready.
    pub fn start(server: Option<&Path>) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("cannot start `lockstep serve`: {error}");
        let folder = TempDir::new().map_err(failed)?;
        let socket = folder.path().join("device.socket");
        let server = match server {
            None => in_a_thread(&socket)?,
            Some(program) => in_a_process(program, &socket).map_err(failed)?,
        };
        Ok(Self { uri: DeviceUri::VfioUser(socket), _server: server, _folder: folder })
    }

    /// Where it is.
    pub fn uri(&self) -> &DeviceUri {
        &self.uri
    }
}

enum Server {
    /// The command `lockstep serve`, and what it says: it ends when nobody reads that.
    Process(Child, #[expect(dead_code, reason = "kept open")] BufReader<ChildStdout>),
    Thread(Stop, Option<JoinHandle<()>>),
}

fn in_a_process(program: &Path, socket: &Path) -> std::io::Result<Server> {
    let mut command = Command::new(program);
    command.args(["serve", "--once", "--socket"]).arg(socket);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut said = BufReader::new(child.stdout.take().expect("it was asked for"));
    let mut line = String::new();
    // It says this or ends, which ends the line as well.
    let read = said.read_line(&mut line);
    let server = Server::Process(child, said);
    read?;
    match line.starts_with("ready") {
        true => Ok(server),
        false => Err(std::io::Error::other(format!("it said {line:?}, expected \"ready …\""))),
    }
}

fn in_a_thread(socket: &Path) -> Result<Server, String> {
    let stop = Stop::new().map_err(|error| error.to_string())?;
    let (ready, is_ready) = mpsc::channel();
    let thread = thread::spawn({
        let (socket, stop) = (socket.to_owned(), stop.clone());
        move || {
            let tell = |_: &device::Progress| {
                // The test does not wait for the later ones.
                let _ = ready.send(());
            };
            if let Err(error) = device::serve(&socket, Default::default(), &stop, tell) {
                eprintln!("the served device: {error}");
            }
        }
    });
    let server = Server::Thread(stop, Some(thread));
    match is_ready.recv_timeout(TIMEOUT) {
        Ok(()) => Ok(server),
        Err(_) => Err(format!("the served device was not ready within {TIMEOUT:?}")),
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        match self {
            Server::Process(child, _) => {
                // One that has ended already is what is wanted.
                let _ = child.kill();
                let _ = child.wait();
            }
            Server::Thread(stop, thread) => {
                stop.stop();
                // A server that panicked has said so.
                let _ = thread.take().map(JoinHandle::join);
            }
        }
    }
}
