// SPDX-License-Identifier: MIT OR Apache-2.0
//! The targets. Each takes arbitrary bytes, and must neither panic nor hang.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};
use vfio_user::message::{Command, Header, Kind, Reply, Request};
use vfio_user::{
    Client, Errno, Error, GuestMemory, IrqAction, Options, Server, ServerOptions, Stop,
    region_index,
};

use super::script::{self, Script};

#[path = "../../tests/support/mod.rs"]
mod support;

pub use support::DOORBELL;

/// Bound of each wait. All that the peer sends is there already, so that only a peer that takes no
/// replies makes us wait.
const BOUND: Duration = Duration::from_millis(20);

/// Bytes are decoded or refused, and what was decoded decodes from its own encoding.
pub fn codec(data: &[u8]) {
    let Some((&number, payload)) = data.split_first() else { return };
    let Some(command) = Command::from_number(number.into()) else { return };
    let mut bytes = Vec::new();
    if let Ok(request) = Request::decode(command, payload) {
        request.encode(&mut bytes);
        assert_eq!(Request::decode(command, &bytes), Ok(request));
    }
    bytes.clear();
    if let Ok(reply) = Reply::decode(command, payload) {
        reply.encode(&mut bytes);
        assert_eq!(Reply::decode(command, &bytes), Ok(reply));
    }
}

/// Memory that answers everything.
struct Memory;

impl GuestMemory for Memory {
    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), Errno> {
        assert!((0x1000..0x3000).contains(&address) && address + data.len() as u64 <= 0x3000);
        data.fill(address as u8);
        Ok(())
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), Errno> {
        assert!((0x1000..0x3000).contains(&address) && address + data.len() as u64 <= 0x3000);
        Ok(())
    }
}

/// What a client of a hostile server calls; each call ends, and after a broken rule at once.
struct Calls {
    client: Client,
    broken: bool,
    succeeded: usize,
}

impl Calls {
    fn call<T>(&mut self, call: impl FnOnce(&mut Client) -> Result<T, Error>) -> Option<T> {
        let outcome = call(&mut self.client);
        let poisoned = matches!(outcome, Err(Error::Poisoned { .. }));
        assert_eq!(poisoned, self.broken, "after a broken rule, and only then");
        let harmless = match &outcome {
            Ok(_) | Err(Error::Refused { .. } | Error::Unmapped { .. }) => true,
            Err(_) => false,
        };
        self.broken |= !harmless;
        self.succeeded += usize::from(outcome.is_ok());
        outcome.ok()
    }
}

/// Our client and a server that sends the script. Returns how many calls succeeded.
pub fn client(data: &[u8]) -> usize {
    let script = Script::parse(data);
    let version = script::reply(0, &Reply::Version(script::version()));
    let (stream, _server) = script.play(&version);
    let options = Options { timeout: BOUND, max_transfer: 4096, spin: Duration::ZERO };
    let Ok(client) = Client::over(stream, options) else { return 0 };
    let mut calls = Calls { client, broken: false, succeeded: 0 };
    calls.client.set_guest_memory(Box::new(Memory));
    calls.call(|client| client.dma_map(0x1000, 0x2000, 0, None, true, true));
    calls.call(Client::device_info);
    for index in [region_index::BAR0, 2] {
        if let Some(region) = calls.call(|client| client.region_info(index)) {
            let inside = |area: vfio_user::Area| area.offset + area.size <= region.size;
            assert!(region.areas().into_iter().all(inside));
            assert_eq!(region.mappable, region.file.is_some());
        }
    }
    calls.call(|client| client.irq_info(2));
    let event = eventfd(0, EventfdFlags::CLOEXEC).expect("an event");
    calls.call(|client| client.set_irqs(2, 0, &[Some(event.as_fd())], IrqAction::Trigger));
    calls.call(|client| client.region_read(0, 0x10, &mut [0; 4]));
    calls.call(|client| client.region_write(0, 0x10, &[1, 2, 3, 4]));
    calls.call(|client| client.dma_unmap(0x1000, 0x2000));
    calls.call(Client::reset);
    calls.call(Client::dma_unmap_all);
    calls.call(|client| client.disable_irqs(2));
    calls.call(Client::answer_pending);
    calls.succeeded
}

/// Our server and a client that sends the script. Returns how many replies were no refusals.
pub fn server(data: &[u8]) -> usize {
    let script = Script::parse(data);
    let version = script::request(0, &Request::Version(script::version()));
    let (stream, client) = script.play(&version);
    let options = ServerOptions { timeout: BOUND, max_transfer: 4096, spin: Duration::ZERO };
    let stop = Stop::new().expect("an event");
    let mut device = support::TestDevice::new();
    Server::serve_over(stream, &mut device, &stop, &options).expect("no client ends a server");
    let log = device.log.lock().expect("no panic");
    assert_eq!(log.joined, log.endings.len(), "who has joined leaves");
    assert!(log.maps.is_empty() && log.events.is_empty());
    replies(client)
}

/// Replies without an error among what our side has sent; all must be whole, unless it gave up.
fn replies(peer: OwnedFd) -> usize {
    let mut sent = Vec::new();
    // Ends with an error where our side left messages unread.
    let _ = File::from(peer).read_to_end(&mut sent);
    let (mut rest, mut replies) = (&sent[..], 0);
    while let Some(head) = rest.first_chunk() {
        let header = Header::decode(head, 1 << 20).expect("our own header");
        replies += usize::from(header.kind == Kind::Reply { error: None });
        rest = rest.get(header.size as usize..).unwrap_or_default();
    }
    replies
}
