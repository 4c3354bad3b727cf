// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several clients: in turn, at once, dying, silent; and how a server starts and ends.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use crate::support::*;
use vfio_user::{Client, Errno, Error, Options, Server, ServerOptions, region_index};

fn connect(path: &std::path::Path) -> Client {
    Client::connect(path, options()).unwrap()
}

/// The first client after another has left may be told that the server is busy for as long as the
/// server has not noticed.
#[test]
fn clients_are_served_in_turn_and_find_a_reset_device() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let server = Running::at(&path, server_options());
    for turn in 0..20u8 {
        let mut client = connect(&path);
        let mut byte = [0xff];
        client.region_read(region_index::BAR0, 0, &mut byte).unwrap();
        assert_eq!(byte, [0], "turn {turn} finds nothing of the one before");
        client.region_write(region_index::BAR0, 0, &[turn + 1]).unwrap();
        client.dma_map(0x1000, 0x1000, 0, None, true, true).unwrap();
    }
    server.until("the last client's end", |log| log.endings.len() == 20);
    let log = server.end();
    let log = log.lock().unwrap();
    assert!(log.endings.iter().all(|ending| ending == "Left"), "{:?}", log.endings);
    assert!(log.maps.is_empty());
    assert!(!path.exists(), "the socket goes with the server");
}

#[test]
fn a_second_client_is_told_that_the_server_is_busy_and_the_first_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let server = Running::at(&path, server_options());
    let mut first = connect(&path);
    for _ in 0..5 {
        let second = Client::connect(&path, options()).unwrap_err();
        let busy = Errno::BUSY.raw_os_error() as u32;
        assert!(matches!(second, Error::Refused { errno, .. } if errno == busy), "{second}");
        first.device_info().unwrap();
    }
    // More of them than the server keeps waiting, who say nothing.
    let silent: Vec<_> = (0..12).map(|_| UnixStream::connect(&path).unwrap()).collect();
    first.device_info().unwrap();
    assert!(Client::connect(&path, options()).is_err());
    drop(first);
    server.until("the first client's end", |log| log.endings.len() == 1);
    connect(&path).device_info().unwrap();
    drop(silent);
}

#[test]
fn who_dies_within_a_message_makes_room_for_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let server = Running::at(&path, server_options());
    for (turn, sent) in [3, 16, 20].into_iter().enumerate() {
        let mut dying = UnixStream::connect(&path).unwrap();
        let mut message = [0; 20];
        message[2..8].copy_from_slice(&[1, 0, 40, 0, 0, 0]);
        dying.write_all(&message[..sent]).unwrap();
        drop(dying);
        let mut client = connect(&path);
        client.dma_map(0x1000, 0x1000, 0, None, true, true).unwrap();
        drop(client);
        server.until("the end", |log| log.endings.len() == turn + 1 && log.maps.is_empty());
    }
}

#[test]
fn who_stops_within_a_message_is_dropped_and_who_idles_between_messages_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let timeout = Duration::from_millis(200);
    let server = Running::at(&path, ServerOptions { timeout, ..server_options() });

    let mut idle = connect(&path);
    std::thread::sleep(timeout * 3);
    idle.device_info().unwrap();
    drop(idle);
    server.until("the idle client's end", |log| log.endings == ["Left"]);

    // One that says nothing at all is no client yet; it is dropped, too.
    let mut silent = UnixStream::connect(&path).unwrap();
    assert_eq!(silent.read(&mut [0; 16]).unwrap(), 0);

    let mut slow = UnixStream::connect(&path).unwrap();
    let mut version = vec![0; 20];
    version[2..8].copy_from_slice(&[1, 0, 20, 0, 0, 0]);
    slow.write_all(&version).unwrap();
    slow.read_exact(&mut [0; 16]).unwrap();
    slow.write_all(&version[..10]).unwrap();
    server.until("the slow client's end", |log| log.endings.len() == 2);
    let ending = server.log.lock().unwrap().endings[1].clone();
    assert!(ending.contains("waited 200ms for the rest of a message"), "{ending}");
    connect(&path).device_info().unwrap();
}

#[test]
fn a_server_stops_while_it_waits_for_a_client_while_one_idles_and_while_one_floods() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    drop(Running::at(&path, server_options()));

    let server = Running::at(&path, server_options());
    let mut client = connect(&path);
    let log = server.end();
    assert_eq!(log.lock().unwrap().endings, ["Stopped"]);
    assert!(matches!(client.device_info(), Err(Error::Closed { .. })));
    assert!(matches!(client.device_info(), Err(Error::Poisoned { .. })));

    let server = Running::at(&path, server_options());
    let flood = std::thread::spawn(move || {
        let mut client = Client::connect(&path, options()).unwrap();
        while client.device_info().is_ok() {}
    });
    server.until("the client", |log| log.joined == 1);
    server.end();
    flood.join().unwrap();
}

#[test]
fn paths_are_taken_over_from_the_dead_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let bind = || Server::bind(&path, server_options());

    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "what a server that died leaves behind");
    let server = bind().unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "for this user only");
    assert!(matches!(bind(), Err(Error::InUse { .. })));
    // Somebody else's file is not removed with the server.
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "precious").unwrap();
    drop(server);
    assert!(matches!(bind(), Err(Error::NotASocket { .. })));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");

    let nowhere = folder.path().join("no/such/folder");
    let failed = Server::bind(&nowhere, server_options()).unwrap_err();
    assert!(failed.to_string().starts_with("listen at /"), "{failed}");
    let long = folder.path().join("x".repeat(120));
    assert!(matches!(Server::bind(&long, server_options()), Err(Error::Socket { .. })));
}

#[test]
fn connecting_to_what_is_no_server_says_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let try_it = |options| Client::connect(&path, options).map(drop);

    let absent = try_it(options()).unwrap_err().to_string();
    assert!(absent.starts_with("connect to /") && absent.contains("No such file"), "{absent}");
    std::fs::write(&path, "").unwrap();
    assert!(matches!(try_it(options()), Err(Error::NotASocket { .. })));
    std::fs::remove_file(&path).unwrap();
    let listener = UnixListener::bind(&path).unwrap();
    // Somebody listens and says nothing.
    let hasty = Options { timeout: Duration::from_millis(30), ..options() };
    let silent = try_it(hasty.clone()).unwrap_err();
    assert!(matches!(silent, Error::Timeout { .. }), "{silent}");
    drop(listener);
    let dead = try_it(hasty).unwrap_err().to_string();
    assert!(dead.contains("refused"), "{dead}");
}
