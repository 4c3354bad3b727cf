// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers that are slow, endless or silent: no call outlasts its bound, and a device's thread may wait
//! for the client's memory whatever the serving thread does.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::script;
use crate::support::*;
use vfio_user::message::{
    Capabilities, Command, DmaAccess, HEADER, Header, Kind, Reply, Request, Version,
};
use vfio_user::{
    Client, DeviceInfo, DmaMap, Ending, Errno, Error, GuestMemory, IrqAction, IrqData, IrqInfo,
    Options, Region, RemoteMemory, ServedDevice, Server, ServerOptions, Stop, region_index,
};

const BOUND: Duration = Duration::from_millis(250);

fn version() -> Version {
    Version { capabilities: Capabilities::ours(1 << 20), ..script::version() }
}

fn request(id: u16, request: &Request<'_>) -> Vec<u8> {
    script::request(id, request).bytes
}

fn read_message(stream: &mut UnixStream) -> Option<Header> {
    let mut head = [0; HEADER];
    stream.read_exact(&mut head).ok()?;
    let header = Header::decode(&head, 1 << 21).expect("a message of ours");
    stream.read_exact(&mut vec![0; header.size as usize - HEADER]).ok()?;
    Some(header)
}

/// A client of a server that agrees upon the version and then does as told.
fn client_of(server: impl FnOnce(UnixStream) + Send + 'static) -> (Client, JoinHandle<()>) {
    let (ours, theirs) = pair();
    let thread = std::thread::spawn(move || {
        let mut stream = UnixStream::from(theirs);
        read_message(&mut stream);
        stream.write_all(&script::reply(0, &Reply::Version(version())).bytes).unwrap();
        server(stream);
    });
    (Client::over(ours, Options { timeout: BOUND, ..Options::default() }).unwrap(), thread)
}

fn times_out(mut client: Client, server: JoinHandle<()>) {
    let error = client.device_info().unwrap_err();
    assert!(matches!(error, Error::Timeout { bound: BOUND, .. }), "{error}");
    let error = client.device_info().unwrap_err();
    assert!(matches!(error, Error::Poisoned { .. }), "{error}");
    server.join().unwrap();
}

#[test]
fn a_server_that_trickles_does_not_hold_the_client() {
    let (client, server) = client_of(|mut stream| {
        for byte in script::reply(1, &Reply::DeviceInfo(DeviceInfo::PCI)).bytes {
            std::thread::sleep(BOUND / 10);
            if stream.write_all(&[byte]).is_err() {
                return;
            }
        }
        panic!("the client has waited for all");
    });
    times_out(client, server);
}

/// A client of a server that asks without a pause, and has begun.
fn client_of_one_who_asks_and_asks() -> (Client, JoinHandle<()>) {
    let (under_way, begun) = mpsc::channel();
    let (client, server) = client_of(move |mut stream| {
        let mut answers = stream.try_clone().unwrap();
        std::thread::spawn(move || while read_message(&mut answers).is_some() {});
        // Many at once, so that the client is behind from then on.
        let ask = request(7, &Request::DmaRead(DmaAccess { address: 0, count: 8 })).repeat(1000);
        stream.write_all(&ask).unwrap();
        under_way.send(()).unwrap();
        while stream.write_all(&ask).is_ok() {}
    });
    begun.recv_timeout(LONG).unwrap();
    (client, server)
}

#[test]
fn a_server_that_asks_and_asks_does_not_hold_the_client() {
    let (client, server) = client_of_one_who_asks_and_asks();
    times_out(client, server);
}

#[test]
fn a_server_that_asks_and_asks_between_calls_does_not_hold_the_client() {
    let (mut client, server) = client_of_one_who_asks_and_asks();
    client.answer_pending().unwrap();
    times_out(client, server);
}

/// The reply comes behind requests that take four times the bound to answer.
#[test]
fn a_server_whose_questions_take_long_does_not_hold_the_client() {
    let (mut client, server) = client_of(|mut stream| {
        let ask = request(7, &Request::DmaRead(DmaAccess { address: 0x1000, count: 4 }));
        let mapped = read_message(&mut stream).unwrap();
        let done = Reply::Done(Command::DmaMap);
        stream.write_all(&script::reply(mapped.id, &done).bytes).unwrap();
        let asked = read_message(&mut stream).unwrap();
        let info = script::reply(asked.id, &Reply::DeviceInfo(DeviceInfo::PCI));
        stream.write_all(&[ask.repeat(64), info.bytes].concat()).unwrap();
        while read_message(&mut stream).is_some() {}
    });
    client.set_guest_memory(Box::new(Sleepy));
    client.dma_map(0x1000, 0x1000, 0, None, true, true).unwrap();
    times_out(client, server);
}

struct Sleepy;

impl GuestMemory for Sleepy {
    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), Errno> {
        std::thread::sleep(BOUND / 16);
        Ok(())
    }

    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), Errno> {
        Ok(())
    }
}

#[test]
fn a_server_that_takes_nothing_does_not_hold_the_client() {
    let (mut client, server) = client_of(|stream| {
        std::thread::sleep(BOUND * 4);
        drop(stream);
    });
    let error = client.region_write(0, 0, &vec![0; 1 << 20]).unwrap_err();
    assert!(
        matches!(error, Error::Timeout { waited_for: "the peer to take a message", .. }),
        "{error}"
    );
    server.join().unwrap();
}

#[test]
fn endless_refusals_are_each_reported_and_replies_to_nobody_end_the_link() {
    let (mut client, server) = client_of(|mut stream| {
        while let Some(header) = read_message(&mut stream) {
            // The 100th refusal answers what nobody asked.
            let id = if header.id == 100 { 7 } else { header.id };
            let refusal = script::refusal(id, Command::DeviceReset, header.id.into());
            let _ = stream.write_all(&refusal.bytes);
        }
    });
    for id in 1..100 {
        let error = client.reset().unwrap_err();
        assert!(matches!(error, Error::Refused { errno, .. } if errno == id), "{error}");
    }
    let error = client.reset().unwrap_err();
    assert!(matches!(error, Error::Malformed { field: "id", .. }), "{error}");
    assert!(matches!(client.reset(), Err(Error::Poisoned { .. })));
    server.join().unwrap();
}

#[test]
fn a_client_that_takes_no_replies_is_dropped() {
    let (ours, theirs) = pair();
    let options = ServerOptions { timeout: BOUND, ..ServerOptions::default() };
    let server = Running::over(theirs, options);
    let mut stream = UnixStream::from(ours);
    stream.write_all(&request(0, &Request::Version(version()))).unwrap();
    let access = vfio_user::message::RegionAccess { offset: 0, region: 0, count: BAR0 as u32 };
    while stream.write_all(&request(1, &Request::RegionRead(access))).is_ok() {}
    server.until("the client's end", |log| log.endings.len() == 1);
    let ending = server.log.lock().unwrap().endings[0].clone();
    assert!(ending.contains("waited 250ms for the peer to take a message"), "{ending}");
}

#[test]
fn memory_that_is_not_answered_times_out_and_an_answer_too_late_is_dropped() {
    let (ours, theirs) = pair();
    let options = ServerOptions { timeout: BOUND, ..ServerOptions::default() };
    let _server = Running::over(theirs, options);
    let mut stream = UnixStream::from(ours);
    stream.write_all(&request(0, &Request::Version(version()))).unwrap();
    read_message(&mut stream).unwrap();
    let access = vfio_user::message::RegionAccess { offset: DOORBELL, region: 0, count: 8 };
    stream.write_all(&request(1, &Request::RegionWrite(access, &[0; 8]))).unwrap();
    let asked = read_message(&mut stream).unwrap();
    assert_eq!(asked.command, Command::DmaRead as u16);
    let refused = read_message(&mut stream).unwrap();
    let timed_out = Errno::TIMEDOUT.raw_os_error() as u32;
    assert_eq!((refused.id, refused.kind), (1, Kind::Reply { error: Some(timed_out) }));
    let late = Reply::DmaRead(DmaAccess { address: 0, count: 16 }, &[0; 16]);
    stream.write_all(&script::reply(asked.id, &late).bytes).unwrap();
    stream.write_all(&request(2, &Request::DeviceGetInfo)).unwrap();
    assert_eq!(read_message(&mut stream).unwrap().kind, Kind::Reply { error: None });
}

#[test]
fn qemu_is_not_asked_for_memory_for_it_would_answer_in_another_layout() {
    let (ours, theirs) = pair();
    let _server = Running::over(theirs, server_options());
    let mut stream = UnixStream::from(ours);
    let proposal = br#"....{"capabilities": {"migration": {"max_bitmap_size": 268435456}}}."#;
    let mut proposal = proposal.to_vec();
    proposal[..4].fill(0);
    *proposal.last_mut().unwrap() = 0;
    let kind = Kind::Request { no_reply: false };
    let proposal = script::message(0, Command::Version as u16, kind, &proposal);
    stream.write_all(&proposal.bytes).unwrap();
    read_message(&mut stream).unwrap();
    let access = vfio_user::message::RegionAccess { offset: DOORBELL, region: 0, count: 8 };
    stream.write_all(&request(1, &Request::RegionWrite(access, &[0; 8]))).unwrap();
    let refused = read_message(&mut stream).unwrap();
    let not_supported = Errno::OPNOTSUPP.raw_os_error() as u32;
    assert_eq!((refused.id, refused.kind), (1, Kind::Reply { error: Some(not_supported) }));
}

/// A device whose thread counts bytes up in the client's memory, by message, while the client reads
/// registers as fast as it can.
struct Counting {
    thread: Option<JoinHandle<Result<(), Errno>>>,
    ended: mpsc::Sender<Result<(), Errno>>,
}

impl ServedDevice for Counting {
    fn information(&self) -> DeviceInfo {
        DeviceInfo::PCI
    }

    fn region(&self, _: u32) -> Option<Region> {
        Some(Region { size: 8, readable: true, writable: true, backing: None })
    }

    fn irqs(&self, _: u32) -> Option<IrqInfo> {
        None
    }

    fn region_read(&mut self, _: u32, _: u64, data: &mut [u8]) -> Result<(), Errno> {
        data.fill(7);
        Ok(())
    }

    fn region_write(&mut self, _: u32, _: u64, _: &[u8]) -> Result<(), Errno> {
        // Waits for the thread, which waits for the client's memory: nobody else reads meanwhile.
        let thread = self.thread.take().ok_or(Errno::INVAL)?;
        self.ended.send(thread.join().expect("no panic")).expect("the test waits");
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

    fn client_joined(&mut self, memory: RemoteMemory) {
        self.thread = Some(std::thread::spawn(move || {
            // Not before the client has mapped it.
            while memory.read(0x1000, &mut [0; 4]).is_err_and(|errno| errno == Errno::FAULT) {}
            for count in 0..2000u32 {
                let mut bytes = [0; 4];
                memory.read(0x1000, &mut bytes)?;
                assert_eq!(u32::from_le_bytes(bytes), count);
                memory.write(0x1000, &(count + 1).to_le_bytes())?;
            }
            Ok(())
        }));
    }

    fn client_left(&mut self, _: &Ending) {}
}

struct Word([u8; 4]);

impl GuestMemory for Word {
    fn read(&mut self, _: u64, data: &mut [u8]) -> Result<(), Errno> {
        data.copy_from_slice(&self.0);
        Ok(())
    }

    fn write(&mut self, _: u64, data: &[u8]) -> Result<(), Errno> {
        self.0.copy_from_slice(data);
        Ok(())
    }
}

#[test]
fn a_devices_thread_reaches_memory_while_the_client_calls_and_while_the_server_waits_for_it() {
    let (ours, theirs) = pair();
    let (ended, end) = mpsc::channel();
    let stop = Stop::new().unwrap();
    let stopped = stop.clone();
    let server = std::thread::spawn(move || {
        let mut device = Counting { thread: None, ended };
        Server::serve_over(theirs, &mut device, &stopped, &server_options()).unwrap();
    });
    let mut client = Client::over(ours, options()).unwrap();
    client.set_guest_memory(Box::new(Word([0; 4])));
    client.dma_map(0x1000, 0x1000, 0, None, true, true).unwrap();
    for _ in 0..500 {
        let mut data = [0; 4];
        client.region_read(region_index::BAR0, 0, &mut data).unwrap();
        assert_eq!(data, [7; 4]);
    }
    client.region_write(region_index::BAR0, 0, &[1]).unwrap();
    assert_eq!(end.recv_timeout(LONG).unwrap(), Ok(()));
    stop.stop();
    server.join().unwrap();
}
