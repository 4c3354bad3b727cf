// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device to serve, and how tests run a server.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use vfio_user::{
    Backing, Client, DeviceInfo, DmaMap, Ending, Errno, IrqAction, IrqData, IrqInfo, Options,
    Region, RemoteMemory, ServedDevice, Server, ServerOptions, Stop, irq_index, region_index,
};

/// Bytes of the test device's BAR0.
pub const BAR0: u64 = 0x1_0000;
/// Bytes of its BAR2, which clients may map.
pub const BAR2: u64 = 0x10_0000;
/// BAR2 starts here in its file.
pub const BAR2_OFFSET: u64 = 0x1000;
/// A write of 8 bytes here: the device adds 1 to each of 16 bytes at that device address, by message.
pub const DOORBELL: u64 = 0xff00;

/// What the test device was asked to do.
#[derive(Debug, Default)]
pub struct Log {
    pub maps: BTreeMap<u64, (u64, bool)>,
    pub irqs: Vec<String>,
    pub events: BTreeMap<u32, OwnedFd>,
    pub resets: usize,
    pub endings: Vec<String>,
    pub joined: usize,
}

/// A PCI function of memory, which notes what happens.
#[derive(Debug)]
pub struct TestDevice {
    pub bar0: Vec<u8>,
    pub config: Vec<u8>,
    pub bar2: Arc<OwnedFd>,
    pub log: Arc<Mutex<Log>>,
    pub memory: Option<RemoteMemory>,
}

impl TestDevice {
    pub fn new() -> Self {
        Self {
            bar0: vec![0; BAR0 as usize],
            config: (0..=255).collect(),
            bar2: Arc::new(memory_file(BAR2_OFFSET + BAR2)),
            log: Arc::default(),
            memory: None,
        }
    }

    fn bytes(&mut self, index: u32) -> &mut [u8] {
        match index {
            region_index::CONFIG => &mut self.config,
            _ => &mut self.bar0,
        }
    }
}

impl ServedDevice for TestDevice {
    fn information(&self) -> DeviceInfo {
        DeviceInfo::PCI
    }

    fn region(&self, index: u32) -> Option<Region> {
        let region = |size, writable| Region { size, readable: true, writable, backing: None };
        match index {
            region_index::BAR0 => Some(region(BAR0, true)),
            2 => {
                let file = self.bar2.clone();
                let backing = Some(Backing { file, offset: BAR2_OFFSET, areas: Vec::new() });
                Some(Region { backing, ..region(BAR2, true) })
            }
            4 => {
                let file = self.bar2.clone();
                let areas = vec![vfio_user::Area { offset: 0x1000, size: 0x2000 }];
                Some(Region {
                    backing: Some(Backing { file, offset: 0, areas }),
                    ..region(0x4000, true)
                })
            }
            region_index::ROM => Some(region(0x100, false)),
            region_index::CONFIG => Some(region(256, true)),
            _ => None,
        }
    }

    fn irqs(&self, index: u32) -> Option<IrqInfo> {
        let info = IrqInfo { count: 4, eventfd: true, noresize: true, ..IrqInfo::default() };
        (index == irq_index::MSIX).then_some(info)
    }

    fn region_read(&mut self, index: u32, offset: u64, data: &mut [u8]) -> Result<(), Errno> {
        match index {
            2 => rustix::io::pread(&*self.bar2, data, BAR2_OFFSET + offset).map(drop),
            4 => rustix::io::pread(&*self.bar2, data, offset).map(drop),
            _ => {
                data.copy_from_slice(&self.bytes(index)[offset as usize..][..data.len()]);
                Ok(())
            }
        }
    }

    fn region_write(&mut self, index: u32, offset: u64, data: &[u8]) -> Result<(), Errno> {
        match index {
            2 => return rustix::io::pwrite(&*self.bar2, data, BAR2_OFFSET + offset).map(drop),
            4 => return rustix::io::pwrite(&*self.bar2, data, offset).map(drop),
            _ => self.bytes(index)[offset as usize..][..data.len()].copy_from_slice(data),
        }
        if let (region_index::BAR0, DOORBELL, Ok(address)) = (index, offset, data.try_into()) {
            let memory = self.memory.as_ref().expect("a client has joined");
            let (address, mut bytes) = (u64::from_le_bytes(address), [0; 16]);
            memory.read(address, &mut bytes)?;
            memory.write(address, &bytes.map(|byte| byte.wrapping_add(1)))?;
        }
        Ok(())
    }

    fn dma_map(&mut self, map: DmaMap) -> Result<(), Errno> {
        let mut log = self.log.lock().unwrap();
        let overlapped = log.maps.range(..map.address + map.size).next_back();
        assert!(overlapped.is_none_or(|(at, (size, _))| at + size <= map.address));
        log.maps.insert(map.address, (map.size, map.file.is_some()));
        Ok(())
    }

    fn dma_unmap(&mut self, address: u64, size: u64) -> Result<(), Errno> {
        let removed = self.log.lock().unwrap().maps.remove(&address);
        assert_eq!(removed.map(|(size, _)| size), Some(size), "a map is unmapped as it was made");
        Ok(())
    }

    fn dma_unmap_all(&mut self) -> Result<(), Errno> {
        self.log.lock().unwrap().maps.clear();
        Ok(())
    }

    fn set_irqs(
        &mut self,
        index: u32,
        start: u32,
        count: u32,
        action: IrqAction,
        data: IrqData,
    ) -> Result<(), Errno> {
        let mut log = self.log.lock().unwrap();
        let what = match data {
            IrqData::None => "now".to_string(),
            IrqData::Bool(flags) => format!("{flags:?}"),
            IrqData::EventFds(files) => {
                let what = format!("{} events", files.len());
                log.events.retain(|at, _| !(start..start + count).contains(at));
                log.events.extend((start..).zip(files));
                what
            }
        };
        log.irqs.push(format!("{index}: {start}+{count} {action:?} {what}"));
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Errno> {
        self.bar0.fill(0);
        self.log.lock().unwrap().resets += 1;
        Ok(())
    }

    fn client_joined(&mut self, memory: RemoteMemory) {
        self.memory = Some(memory);
        self.log.lock().unwrap().joined += 1;
    }

    fn client_left(&mut self, ending: &Ending) {
        self.bar0.fill(0);
        self.memory = None;
        let mut log = self.log.lock().unwrap();
        log.maps.clear();
        log.events.clear();
        log.endings.push(match ending {
            Ending::Failed(error) => error.to_string(),
            other => format!("{other:?}"),
        });
    }
}

/// A file in memory.
pub fn memory_file(size: u64) -> OwnedFd {
    let file = memfd_create("vfio-user-test", MemfdFlags::CLOEXEC).unwrap();
    ftruncate(&file, size).unwrap();
    file
}

/// Two connected sockets.
pub fn pair() -> (OwnedFd, OwnedFd) {
    socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap()
}

/// A bound that is never reached unless something hangs, for tests that expect none to be.
pub const LONG: Duration = Duration::from_secs(20);

pub fn options() -> Options {
    Options { timeout: LONG, ..Options::default() }
}

pub fn server_options() -> ServerOptions {
    ServerOptions { timeout: LONG, ..ServerOptions::default() }
}

/// A server in a thread; it ends when this is dropped.
pub struct Running {
    pub log: Arc<Mutex<Log>>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// At a path.
    pub fn at(path: &Path, options: ServerOptions) -> Self {
        let mut server = Server::bind(path, options).unwrap();
        Self::run(move |device, stop| server.serve(device, stop).unwrap())
    }

    /// Over a connected socket.
    pub fn over(stream: OwnedFd, options: ServerOptions) -> Self {
        Self::run(move |device, stop| {
            Server::serve_over(stream, device, stop, &options).unwrap();
        })
    }

    fn run(serve: impl FnOnce(&mut dyn ServedDevice, &Stop) + Send + 'static) -> Self {
        let stop = Stop::new().unwrap();
        let mut device = TestDevice::new();
        let (log, stopped) = (device.log.clone(), stop.clone());
        let thread = std::thread::spawn(move || serve(&mut device, &stopped));
        Self { log, stop, thread: Some(thread) }
    }

    /// Waits until what happened is as wanted.
    pub fn until(&self, what: &str, reached: impl Fn(&Log) -> bool) {
        let start = Instant::now();
        while !reached(&self.log.lock().unwrap()) {
            assert!(start.elapsed() < LONG, "waited for {what}: {:?}", self.log.lock().unwrap());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Stops the server and waits for its thread.
    pub fn end(mut self) -> Arc<Mutex<Log>> {
        self.join();
        self.log.clone()
    }

    fn join(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let start = Instant::now();
            while !thread.is_finished() {
                assert!(start.elapsed() < LONG, "the server does not stop");
                std::thread::sleep(Duration::from_millis(1));
            }
            thread.join().expect("the server does not panic");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.join();
        }
    }
}

/// A client of a server that runs in a thread.
pub fn linked() -> (Client, Running) {
    let (ours, theirs) = pair();
    let server = Running::over(theirs, server_options());
    (Client::over(ours, options()).unwrap(), server)
}
