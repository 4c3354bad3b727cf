// SPDX-License-Identifier: MIT OR Apache-2.0
//! Single accesses to registers.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Instant;

use device::Simulated;
use driver::Width;

use super::{OpenBackend, median};
use crate::{Goal, Measurement, Size, stopwatch};

/// Accesses, and clock cycles of the bare model, of a round.
const ACCESSES: u64 = 4_000;
/// Reads over the socket of a round: some milliseconds.
const READS: u64 = 500;

/// Bytes of the messages that read 4 bytes of a region, asked and answered: a header of 16 bytes,
/// offset, region and count in 16, and the data. Source: docs/vfio-user.md.
const ASKED: usize = 32;
const ANSWERED: usize = 36;

/// Reads and writes in turns, beside clock cycles of the same model in a bare loop.
pub fn in_process(
    size: Size,
    backend: &OpenBackend,
    simulated: &Simulated,
) -> Result<Measurement, String> {
    let shell = backend.device.shell();
    let count = size.of(ACCESSES).next_multiple_of(2);
    let mut failed = None;
    let pairs = || -> Result<(), driver::DeviceError> {
        for value in 0..count / 2 {
            shell.write_scratch(Width::Four, value)?;
            let found = shell.read_scratch(Width::Four)?;
            assert_eq!(found, value, "the scratch register keeps what is written");
        }
        Ok(())
    };
    let (value, floor) = stopwatch::best_of_both(
        size,
        || {
            stopwatch::each(count, || {
                if let Err(error) = pairs() {
                    failed.get_or_insert(error);
                }
            })
        },
        || stopwatch::each(count, || simulated.toggle_only(count)),
    );
    match failed {
        Some(error) => Err(error.to_string()),
        None => Ok(backend
            .figure("register accesses", "1/s", 1e9 / value)
            .over(1e9 / floor)
            .goal(Goal::AtLeast(1e6))),
    }
}

/// Reads, beside messages of the same size that go to and fro between two threads.
pub fn over_a_socket(size: Size, backend: &OpenBackend) -> Result<Measurement, String> {
    let shell = backend.device.shell();
    let count = size.of(READS);
    let mut echo = Echo::start()?;
    let (mut reads, mut echoes) = (Vec::new(), Vec::new());
    for _ in 0..size.rounds {
        for _ in 0..count {
            let begun = Instant::now();
            shell.read_scratch(Width::Four).map_err(|error| error.to_string())?;
            reads.push(begun.elapsed().as_nanos() as f64);
        }
        for _ in 0..count {
            let begun = Instant::now();
            echo.ask().map_err(|error| format!("a bare socket: {error}"))?;
            echoes.push(begun.elapsed().as_nanos() as f64);
        }
    }
    Ok(backend
        .figure("register read, median", "µs", median(reads) / 1e3)
        .over(median(echoes) / 1e3)
        .goal(Goal::AtMost(25.0)))
}

/// A thread that answers each message on a socket.
struct Echo(UnixStream);

impl Echo {
    fn start() -> Result<Self, String> {
        let ends = UnixStream::pair().and_then(|(ours, theirs)| {
            ours.set_nonblocking(true)?;
            theirs.set_nonblocking(true)?;
            Ok((ours, theirs))
        });
        let (ours, theirs) = ends.map_err(|error| format!("a bare socket: {error}"))?;
        // Ends when our end is closed.
        thread::spawn(move || {
            let mut theirs = theirs;
            while receive(&mut theirs, &mut [0; ASKED]).is_ok()
                && theirs.write_all(&[0; ANSWERED]).is_ok()
            {}
        });
        Ok(Self(ours))
    }

    fn ask(&mut self) -> std::io::Result<()> {
        self.0.write_all(&[0; ASKED])?;
        receive(&mut self.0, &mut [0; ANSWERED])
    }
}

/// Looks repeatedly, as the driver and the server do for so short a time.
fn receive(from: &mut UnixStream, message: &mut [u8]) -> std::io::Result<()> {
    let mut got = 0;
    while got < message.len() {
        match from.read(&mut message[got..]) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => got += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::yield_now(),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
