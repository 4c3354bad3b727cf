// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servers for tests: on a thread of this process, or in a process of their own.

pub mod fault_proxy;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use device::{Progress, ServeOptions};
use driver::{Device, DeviceUri, Elements, OpenError};
use vfio_user::Stop;

/// Longest wait for a server or a client.
const START: Duration = Duration::from_secs(30);

/// Names the socket to a process that is to serve.
const SOCKET: &str = "LOCKSTEP_TEST_SOCKET";
/// What a serving process says when clients can come.
const LISTENING: &str = "listening";

/// A server on a thread of this process, until it is dropped.
pub struct ServerThread {
    folder: tempfile::TempDir,
    stop: Stop,
    clients: Arc<AtomicI64>,
    server: Option<JoinHandle<()>>,
}

impl ServerThread {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the socket");
        let stop = Stop::new().expect("a way to stop");
        let clients = Arc::<AtomicI64>::default();
        let (sender, listening) = mpsc::channel();
        let server = thread::spawn({
            let (path, stop) = (folder.path().join("socket"), stop.clone());
            let clients = Arc::clone(&clients);
            let told = move |progress: &Progress| match progress {
                Progress::Listening { .. } => sender.send(()).expect("a waiter exists"),
                Progress::Joined => drop(clients.fetch_add(1, Ordering::SeqCst)),
                Progress::Left { .. } => drop(clients.fetch_sub(1, Ordering::SeqCst)),
                _ => {}
            };
            move || {
                let served = device::serve(&path, ServeOptions::default(), &stop, told);
                served.expect("a served device");
            }
        });
        listening.recv_timeout(START).expect("a server that listens");
        Self { folder, stop, clients, server: Some(server) }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Waits until the server has no client, or has one.
    pub fn await_clients(&self, count: i64) {
        let begun = Instant::now();
        while self.clients.load(Ordering::SeqCst) != count {
            assert!(begun.elapsed() < START, "waited for {count} clients: not in {START:?}");
            thread::sleep(Duration::from_micros(200));
        }
    }
}

impl Drop for ServerThread {
    fn drop(&mut self) {
        self.stop.stop();
        let server = self.server.take().expect("joined once");
        // A test that is failing already says why by itself.
        if server.join().is_err() && !thread::panicking() {
            panic!("the server has failed");
        }
    }
}

/// A server in a process of its own, which is killed when it is dropped.
pub struct ServerProcess {
    folder: tempfile::TempDir,
    child: Child,
    /// Kept, so that the child can continue talking.
    _output: BufReader<ChildStdout>,
}

impl ServerProcess {
    /// Starts this test's own program once more, to run [`serve_as_child`] alone.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the socket");
        let path = folder.path().join("socket");
        let mut child = run_as_child("served::serve_as_child", &path);
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        // It ends with the child, at the latest.
        while !line.contains(LISTENING) {
            line.clear();
            let read = output.read_line(&mut line).expect("a pipe that can be read");
            assert!(read > 0, "the server has ended");
        }
        Self { folder, child, _output: output }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Kills it at once, as the system does when memory runs out.
    pub fn kill(&mut self) {
        self.child.kill().expect("a child that can be killed");
        self.child.wait().expect("a child that ends");
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs one test of this program, which is ignored otherwise, in a process of its own.
pub fn run_as_child(test: &str, path: &Path) -> Child {
    let program = std::env::current_exe().expect("this program has a path");
    Command::new(program)
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(SOCKET, path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be started once more")
}

/// The socket that this process was started for.
pub fn socket_of_child() -> PathBuf {
    std::env::var_os(SOCKET).expect("run by other tests as a child process").into()
}

/// Serves until the process is killed, or its parent is gone.
#[test]
#[ignore = "other tests run it in a process of its own"]
fn serve_as_child() {
    let stop = Stop::new().expect("a way to stop");
    let parent = rustix::process::getppid();
    thread::spawn({
        let stop = stop.clone();
        move || {
            while rustix::process::getppid() == parent {
                thread::sleep(Duration::from_millis(100));
            }
            stop.stop();
        }
    });
    let path = socket_of_child();
    let told = |progress: &Progress| {
        if let Progress::Listening { .. } = progress {
            println!("{LISTENING}");
        }
    };
    device::serve(&path, ServeOptions::default(), &stop, told).expect("a served device");
}

/// Opens the device behind a socket.
pub fn open(path: &Path) -> Result<Device, OpenError> {
    Device::new(device::open_backend(&DeviceUri::VfioUser(path.into()))?)
}

/// Opens a device of this process.
pub fn open_simulated() -> Result<Device, OpenError> {
    Device::new(device::open_backend(&DeviceUri::Simulated {
        card_bytes: None,
        storage: None,
        elements: Elements::Software,
    })?)
}
