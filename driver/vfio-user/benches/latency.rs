// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a register read takes through a socket, and where the time goes.
//!
//! `cargo bench -p lockstep-vfio-user --bench latency -- [reads] [spin in µs]` starts a server in a
//! process of its own, measures, and prints medians. Next to the whole round trip stand its parts:
//! what the same bytes cost over a bare socket between the same two processes, and what the codec
//! costs without any.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use vfio_user::message::{HEADER, Header, Kind, RegionAccess, Reply, Request};
use vfio_user::{
    Client, DeviceInfo, DmaMap, Ending, Errno, IrqAction, IrqData, IrqInfo, Options, Region,
    ServedDevice, Server, ServerOptions, Stop,
};

/// A register block of nothing.
struct Register;

impl ServedDevice for Register {
    fn information(&self) -> DeviceInfo {
        DeviceInfo::PCI
    }

    fn region(&self, index: u32) -> Option<Region> {
        let region = Region { size: 0x1000, readable: true, writable: true, backing: None };
        (index == 0).then_some(region)
    }

    fn irqs(&self, _: u32) -> Option<IrqInfo> {
        None
    }

    fn region_read(&mut self, _: u32, offset: u64, data: &mut [u8]) -> Result<(), Errno> {
        data.fill(offset as u8);
        Ok(())
    }

    fn region_write(&mut self, _: u32, _: u64, _: &[u8]) -> Result<(), Errno> {
        Ok(())
    }

    fn dma_map(&mut self, _: DmaMap) -> Result<(), Errno> {
        Ok(())
    }

    fn dma_unmap(&mut self, _: u64, _: u64) -> Result<(), Errno> {
        Ok(())
    }

    fn dma_unmap_all(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    fn set_irqs(&mut self, _: u32, _: u32, _: u32, _: IrqAction, _: IrqData) -> Result<(), Errno> {
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    fn client_left(&mut self, _: &Ending) {}
}

fn main() {
    // Cargo adds an argument of its own.
    let arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let arguments: Vec<String> = arguments.collect();
    match arguments.first().map(String::as_str) {
        Some("serve") => serve(Path::new(&arguments[1]), micros(&arguments[2])),
        Some("echo") => echo(Path::new(&arguments[1])),
        _ => {
            let number =
                |at: usize| arguments.get(at).map(|text| text.parse::<u64>().expect("a number"));
            measure(number(0).unwrap_or(100_000) as usize, number(1).unwrap_or(20));
        }
    }
}

fn micros(text: &str) -> Duration {
    Duration::from_micros(text.parse().expect("a number of microseconds"))
}

fn serve(path: &Path, spin: Duration) {
    let options = ServerOptions { spin, ..ServerOptions::default() };
    let mut server = Server::bind(path, options).expect("the path is free");
    let stop = Stop::new().expect("a descriptor");
    server.serve(&mut Register, &stop).expect("the socket works");
}

/// As many bytes in as a read's request has, as many out as its reply has.
fn echo(path: &Path) {
    let listener = std::os::unix::net::UnixListener::bind(path).expect("the path is free");
    let (mut stream, _) = listener.accept().expect("a client comes");
    let mut request = [0; REQUEST];
    while stream.read_exact(&mut request).is_ok() {
        if stream.write_all(&[0; REPLY]).is_err() {
            return;
        }
    }
}

const REQUEST: usize = HEADER + RegionAccess::SIZE;
const REPLY: usize = REQUEST + 4;

/// A process of this program, which ends with this.
struct Peer(Child);

impl Peer {
    /// Starts it, and waits until something listens at the path.
    fn start(role: &str, path: &Path, spin: u64) -> Self {
        let program = std::env::current_exe().expect("this program's path");
        let mut command = Command::new(program);
        command.arg(role).arg(path).arg(spin.to_string());
        let peer = Self(command.spawn().expect("this program starts"));
        let start = Instant::now();
        while !path.exists() {
            assert!(start.elapsed() < Duration::from_secs(10), "nobody listens at {path:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
        peer
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Median and 99th percentile of `times` runs, after a tenth as many to warm up.
fn quantiles(times: usize, mut run: impl FnMut()) -> (Duration, Duration) {
    (0..times / 10).for_each(|_| run());
    let mut took: Vec<Duration> = (0..times.max(1))
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    took.sort_unstable();
    (took[took.len() / 2], took[took.len() * 99 / 100])
}

fn measure(reads: usize, spin: u64) {
    let folder = std::env::temp_dir().join(format!("vfio-user-latency-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder of our own");
    let report = |what: &str, (median, late): (Duration, Duration)| {
        println!("{what:36} median {median:>9.2?}, 99th percentile {late:>9.2?}");
    };

    let path = folder.join("vfio-user");
    let server = Peer::start("serve", &path, spin);
    let options = Options { spin: Duration::from_micros(spin), ..Options::default() };
    let mut client = Client::connect(&path, options).expect("the server listens");
    let mut data = [0; 4];
    let read = || client.region_read(0, 0x10, &mut data).expect("the server answers");
    report("register read of 4 bytes", quantiles(reads, read));
    drop((client, server));

    let path = folder.join("echo");
    let echo = Peer::start("echo", &path, spin);
    let mut stream = UnixStream::connect(&path).expect("the peer listens");
    let bare = || {
        stream.write_all(&[0; REQUEST]).expect("the peer reads");
        stream.read_exact(&mut [0; REPLY]).expect("the peer answers");
    };
    report("the same bytes over a bare socket", quantiles(reads, bare));
    drop((stream, echo));

    report("codec alone, both sides", quantiles(reads, codec));
    let _ = std::fs::remove_dir_all(&folder);
}

/// What both sides encode and decode for one read.
fn codec() {
    let access = RegionAccess { offset: 0x10, region: 0, count: 4 };
    let mut bytes = vec![0; HEADER];
    Request::RegionRead(access).encode(&mut bytes);
    let kind = Kind::Request { no_reply: false };
    let command = vfio_user::message::Command::RegionRead;
    let header = Header { id: 1, command: command as u16, size: REQUEST as u32, kind };
    let head = std::hint::black_box(header.encode());
    Header::decode(&head, 1 << 20).expect("as encoded");
    Request::decode(command, &bytes[HEADER..]).expect("as encoded");
    bytes.truncate(HEADER);
    Reply::RegionRead(access, &[1, 2, 3, 4]).encode(&mut bytes);
    Header::decode(&std::hint::black_box(head), 1 << 20).expect("as encoded");
    Reply::decode(command, &bytes[HEADER..]).expect("as encoded");
}
