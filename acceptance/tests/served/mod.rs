//! Servers for tests: on a thread of this process, or in a process of their own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use driver::{Device, DeviceAddress, OpenError};
use vfio_user::Stop;

/// Longest wait for a server to listen.
const START: Duration = Duration::from_secs(30);

/// Names the socket to a process that is to serve.
const SOCKET: &str = "LOCKSTEP_TEST_SOCKET";

/// A server on a thread of this process, until it is dropped.
pub struct ServerThread {
    folder: tempfile::TempDir,
    stop: Stop,
    server: Option<JoinHandle<()>>,
}

impl ServerThread {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the socket");
        let stop = Stop::new().expect("a way to stop");
        let path = folder.path().join("socket");
        let server = thread::spawn({
            let (path, stop) = (path.clone(), stop.clone());
            move || {
                let served = device::serve(&path, device::ServeOptions::default(), &stop, |_| {});
                served.expect("a served device");
            }
        });
        await_socket(&path);
        Self { folder, stop, server: Some(server) }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("socket")
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
}

impl ServerProcess {
    /// Starts this test's own program once more, to run the test `serve_as_child` alone.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the socket");
        let path = folder.path().join("socket");
        let child = run_as_child("serve_as_child", &path);
        await_socket(&path);
        Self { folder, child }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Kills it at once, as the system does when memory runs out.
    #[allow(dead_code, reason = "not all tests use it")]
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
        .stdout(Stdio::null())
        .spawn()
        .expect("this program can be started once more")
}

/// The socket that this process was started for.
pub fn socket_of_child() -> PathBuf {
    std::env::var_os(SOCKET).expect("run by other tests as a child process").into()
}

/// Serves until the process is killed, or its parent is gone.
pub fn serve_until_killed() {
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
    device::serve(&path, device::ServeOptions::default(), &stop, |_| {}).expect("a served device");
}

fn await_socket(path: &Path) {
    let begun = Instant::now();
    while std::os::unix::net::UnixStream::connect(path).is_err() {
        assert!(begun.elapsed() < START, "waited for {}: not in {START:?}", path.display());
        thread::sleep(Duration::from_millis(2));
    }
}

/// Opens the device behind a socket.
pub fn open(path: &Path) -> Result<Device, OpenError> {
    Device::new(device::open_backend(&DeviceAddress::VfioUser(path.into()))?)
}

/// Opens a device of this process.
#[allow(dead_code, reason = "not all tests use it")]
pub fn open_simulated() -> Result<Device, OpenError> {
    Device::new(device::open_backend(&DeviceAddress::Simulated { card_bytes: None })?)
}

/// The device behind `path`, once the client before it has been shown out.
#[allow(dead_code, reason = "not all tests use it")]
pub fn open_after_another(path: &Path) -> Arc<Device> {
    let begun = Instant::now();
    loop {
        match open(path) {
            Ok(device) => return Arc::new(device),
            Err(error) if begun.elapsed() > START => panic!("not served again: {error}"),
            Err(_) => thread::sleep(Duration::from_millis(2)),
        }
    }
}
