// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data mover: carries out the copies that the RTL commands, as the shell's DMA engine does on
//! a board.
//!
//! A copy is made in chunks, in turn with the other open ones, so that a short one does not wait
//! for a long one and nothing else waits for more than a chunk: register accesses, unmapping and
//! reset come in between. Each chunk looks its addresses up again.

use std::collections::VecDeque;

use crate::address_space::{Access, AccessError, AddressSpace, Span};
use crate::memory::{LostError, Mapping};

/// The most bytes of one chunk. Long enough that looking up costs nothing beside it, short enough
/// that it is done in some ten microseconds.
pub(crate) const CHUNK_BYTES: u64 = 128 << 10;

/// The most bytes through a buffer, where one side cannot be mapped.
pub(crate) const BUFFER_BYTES: usize = 64 << 10;

/// The most bytes of one copy. Source: `docs/registers.md`, "Queues".
const MOST_BYTES: u64 = 1 << 30;

/// How a copy ended, as it stands in its completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Done = 0,
    BadOpcode = 1,
    BadLength = 2,
    Source = 3,
    Destination = 4,
    OutsideCard = 5,
}

/// A command of the RTL on `m_axis_move`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Command {
    tag: u16,
    opcode: u8,
    bytes: u64,
    source: u64,
    destination: u64,
}

impl Command {
    /// Reads a beat: 15:0 tag, 23:16 opcode, 63:32 length, 127:64 source, 191:128 destination.
    pub fn decode(beat: [u64; 3]) -> Self {
        let [head, source, destination] = beat;
        let (tag, opcode) = (head as u16, (head >> 16) as u8);
        Self { tag, opcode, bytes: head >> 32, source, destination }
    }
}

/// The end of a copy, for `s_axis_moved`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moved {
    tag: u16,
    status: Status,
    bytes: u64,
}

impl Moved {
    /// The beat: 15:0 tag, 23:16 status, 63:32 bytes moved.
    pub fn encode(self) -> u64 {
        u64::from(self.tag) | (self.status as u64) << 16 | self.bytes << 32
    }
}

/// Where one side of a copy lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CopyEnd {
    /// At this device address of the host.
    Host(u64),
    /// At this byte of the card's memory.
    Card(u64),
}

impl CopyEnd {
    fn advanced(self, bytes: u64) -> Self {
        match self {
            // A range that goes past the last address ends at the last map, before the wrap.
            CopyEnd::Host(address) => CopyEnd::Host(address.wrapping_add(bytes)),
            CopyEnd::Card(offset) => CopyEnd::Card(offset + bytes),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Copy {
    tag: u16,
    source: CopyEnd,
    destination: CopyEnd,
    bytes: u64,
    done: u64,
}

/// What the mover sees of the world while it makes a chunk.
pub(crate) struct Surroundings<'a> {
    /// The host's memory; `None`: the function may not reach it, as it is no bus master.
    pub host: Option<&'a AddressSpace>,
    /// The card's memory.
    pub card: &'a Mapping,
    /// Its size in bytes.
    pub card_bytes: u64,
}

/// The open copies.
#[derive(Debug, Default)]
pub(crate) struct Mover {
    open: VecDeque<Copy>,
    buffer: Vec<u8>,
}

impl Mover {
    /// Whether no copy is open.
    pub fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// Drops all copies, as a reset does.
    pub fn abort(&mut self) {
        self.open.clear();
    }

    /// Takes a command; its end, if it cannot even begin.
    pub fn begin(&mut self, command: Command, card_bytes: u64) -> Option<Moved> {
        let Command { tag, opcode, bytes, source, destination } = command;
        let refuse = |status| Some(Moved { tag, status, bytes: 0 });
        let (source, destination) = match opcode {
            1 => (CopyEnd::Host(source), CopyEnd::Card(destination)),
            2 => (CopyEnd::Card(source), CopyEnd::Host(destination)),
            3 => (CopyEnd::Host(source), CopyEnd::Host(destination)),
            _ => return refuse(Status::BadOpcode),
        };
        if bytes == 0 || bytes > MOST_BYTES {
            return refuse(Status::BadLength);
        }
        let inside = |place| match place {
            CopyEnd::Card(offset) => {
                card_bytes.checked_sub(offset).is_some_and(|left| left >= bytes)
            }
            CopyEnd::Host(_) => true,
        };
        if !inside(source) || !inside(destination) {
            return refuse(Status::OutsideCard);
        }
        self.open.push_back(Copy { tag, source, destination, bytes, done: 0 });
        None
    }

    /// Makes one chunk of the copy whose turn it is; the copy's end, if that was the last.
    pub fn chunk(&mut self, surroundings: &Surroundings<'_>) -> Option<Moved> {
        let mut copy = self.open.pop_front()?;
        // Several maps may lie in one piece: guests lend their memory page by page.
        let end = copy.bytes.min(copy.done + CHUNK_BYTES);
        while copy.done < end {
            match copy_span(&copy, end - copy.done, surroundings, &mut self.buffer) {
                Ok(bytes) => {
                    copy.done += bytes;
                    copy.source = copy.source.advanced(bytes);
                    copy.destination = copy.destination.advanced(bytes);
                }
                Err(status) => return Some(Moved { tag: copy.tag, status, bytes: copy.done }),
            }
        }
        if copy.done < copy.bytes {
            self.open.push_back(copy);
            return None;
        }
        Some(Moved { tag: copy.tag, status: Status::Done, bytes: copy.done })
    }
}

/// Copies the next bytes, at most so many and as many as lie in one span on both sides, and gives
/// their number, at least 1.
fn copy_span(
    copy: &Copy,
    most: u64,
    surroundings: &Surroundings<'_>,
    buffer: &mut Vec<u8>,
) -> Result<u64, Status> {
    let source = span(copy.source, Access::Read, surroundings).map_err(|_| Status::Source)?;
    let destination =
        span(copy.destination, Access::Write, surroundings).map_err(|_| Status::Destination)?;
    let bytes = most.min(source.1).min(destination.1) as usize;
    match (source.0, destination.0) {
        (Span::Mapped(from, at), Span::Mapped(into, offset)) => {
            let copied = into.copy_from(offset, from, at, bytes);
            let lost = if from.is_lost() { Status::Source } else { Status::Destination };
            copied.map(|()| bytes as u64).map_err(|LostError| lost)
        }
        (from, into) => {
            let bytes = bytes.min(BUFFER_BYTES);
            buffer.resize(BUFFER_BYTES, 0);
            read(from, &mut buffer[..bytes])?;
            write(into, &buffer[..bytes])?;
            Ok(bytes as u64)
        }
    }
}

fn span<'a>(
    place: CopyEnd,
    access: Access,
    surroundings: &Surroundings<'a>,
) -> Result<(Span<'a>, u64), AccessError> {
    match place {
        CopyEnd::Host(address) => {
            let host = surroundings.host.ok_or(AccessError::Forbidden)?;
            host.span(address, access)
        }
        CopyEnd::Card(offset) => {
            let left = surroundings.card_bytes - offset;
            Ok((Span::Mapped(surroundings.card, offset as usize), left))
        }
    }
}

/// Reads bytes that lie in one span.
pub(crate) fn read(from: Span<'_>, bytes: &mut [u8]) -> Result<(), Status> {
    match from {
        Span::Mapped(mapping, offset) => {
            mapping.read(offset, bytes).map_err(|LostError| Status::Source)?;
        }
        Span::Unsealed(file, offset) => {
            let mut done = 0;
            while done < bytes.len() {
                match rustix::io::pread(file, &mut bytes[done..], offset + done as u64) {
                    Ok(0) => return Err(Status::Source),
                    Ok(more) => done += more,
                    Err(rustix::io::Errno::INTR) => {}
                    Err(_) => return Err(Status::Source),
                }
            }
        }
    }
    Ok(())
}

/// Writes bytes that lie in one span.
pub(crate) fn write(into: Span<'_>, bytes: &[u8]) -> Result<(), Status> {
    match into {
        Span::Mapped(mapping, offset) => {
            mapping.write(offset, bytes).map_err(|LostError| Status::Destination)?;
        }
        Span::Unsealed(file, offset) => {
            // A file that has become too short is not to grow again by our hand.
            let size = rustix::fs::fstat(file).map_err(|_| Status::Destination)?.st_size;
            if u64::try_from(size).unwrap_or(0) < offset + bytes.len() as u64 {
                return Err(Status::Destination);
            }
            let mut done = 0;
            while done < bytes.len() {
                match rustix::io::pwrite(file, &bytes[done..], offset + done as u64) {
                    Ok(0) => return Err(Status::Destination),
                    Ok(more) => done += more,
                    Err(rustix::io::Errno::INTR) => {}
                    Err(_) => return Err(Status::Destination),
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
