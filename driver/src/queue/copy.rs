// SPDX-License-Identifier: MIT OR Apache-2.0
//! The copy queue: the device moves bytes between host memory and card memory.

use std::fmt;
use std::time::{Duration, Instant};

use super::command::{Command, CommandQueue};
use super::{Completion, Kind, QueueError, Ticket, header, out_of_range};
use crate::device::Device;
use crate::{layout, map};

/// The most bytes of one command.
const BYTES_MAX: u32 = 1 << 30;

/// What is copied where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From host memory to card memory.
    HostToCard,
    /// From card memory to host memory.
    CardToHost,
    /// From host memory to host memory.
    HostToHost,
}

impl Direction {
    fn opcode(self) -> u8 {
        match self {
            Direction::HostToCard => 1,
            Direction::CardToHost => 2,
            Direction::HostToHost => 3,
        }
    }
}

/// One copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyCommand {
    /// What kind of memory the addresses are of.
    pub direction: Direction,
    /// Where to read: a device address of host memory, or a byte offset in card memory.
    pub source: u64,
    /// Where to write.
    pub destination: u64,
    /// How many bytes, 1 to 2^30.
    pub bytes: u32,
    /// Whether an interrupt is wanted. Without one a wait looks for the completion now and then.
    pub interrupt: bool,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// All bytes were moved.
    Done,
    /// The device does not know the opcode.
    BadOpcode,
    /// The length is 0 or above 2^30 bytes.
    BadLength,
    /// The source is not mapped, or not for reading.
    Source,
    /// The destination is not mapped, or not for writing.
    Destination,
    /// The range does not lie in card memory.
    OutsideCard,
    /// The command was dropped.
    Aborted,
    /// A status that this driver does not know.
    Unknown(u8),
}

impl Status {
    /// From the code in a completion.
    pub fn from_code(code: u8) -> Self {
        match code {
            0 => Status::Done,
            1 => Status::BadOpcode,
            2 => Status::BadLength,
            3 => Status::Source,
            4 => Status::Destination,
            5 => Status::OutsideCard,
            6 => Status::Aborted,
            other => Status::Unknown(other),
        }
    }

    /// The code in a completion.
    pub fn code(self) -> u8 {
        match self {
            Status::Done => 0,
            Status::BadOpcode => 1,
            Status::BadLength => 2,
            Status::Source => 3,
            Status::Destination => 4,
            Status::OutsideCard => 5,
            Status::Aborted => 6,
            Status::Unknown(code) => code,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Status::Done => "done",
            Status::BadOpcode => "unknown opcode",
            Status::BadLength => "length 0 or above 2^30",
            Status::Source => "source not mapped or not readable",
            Status::Destination => "destination not mapped or not writable",
            Status::OutsideCard => "outside card memory",
            Status::Aborted => "aborted",
            Status::Unknown(_) => "unknown status",
        })
    }
}

/// A command that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "its status tells whether the bytes were moved"]
pub struct CopyDone {
    /// Which one.
    pub ticket: Ticket,
    /// How.
    pub status: Status,
    /// Bytes that were moved.
    pub bytes: u32,
}

impl CopyDone {
    /// The number of bytes moved, if all were.
    ///
    /// # Errors
    /// [`QueueError::Failed`] with any other status than done.
    pub fn succeeded(self) -> Result<u32, QueueError> {
        match self.status {
            Status::Done => Ok(self.bytes),
            status => Err(QueueError::Failed { queue: Open::KIND.name, status, bytes: self.bytes }),
        }
    }
}

/// A command that the device has not answered yet.
#[derive(Debug, Clone, Copy)]
struct Open {
    interrupt: bool,
    bytes: u32,
}

impl Command for Open {
    type Done = CopyDone;
    const KIND: Kind = Kind {
        name: "copy",
        code: map::queue::Kind::Copy,
        base: map::device::COPY_QUEUE,
        vector: layout::COPY_VECTOR,
    };
    const NOUN: &'static str = "command";

    fn interrupts(&self) -> bool {
        self.interrupt
    }

    fn judge(self, ticket: Ticket, completion: Completion) -> Result<CopyDone, String> {
        let Completion { status, bytes, .. } = completion;
        let status = Status::from_code(status);
        let right = if status == Status::Done { bytes == self.bytes } else { bytes <= self.bytes };
        match right {
            true => Ok(CopyDone { ticket, status, bytes }),
            false => {
                let asked = self.bytes;
                Err(format!("bytes moved are {bytes} ({status}), asked for {asked}"))
            }
        }
    }
}

/// The copy queue of a device. Commands end in any order.
pub struct CopyQueue(CommandQueue<Open>);

impl fmt::Debug for CopyQueue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "CopyQueue({})", self.0)
    }
}

impl CopyQueue {
    pub(crate) fn open(device: &Device, entries: u16) -> Result<Self, QueueError> {
        CommandQueue::open(device, entries).map(CopyQueue)
    }

    /// Hands a command to the device.
    ///
    /// # Errors
    /// [`QueueError::Full`] when as many commands are open as the queue has entries; others by
    /// [`QueueError`]. An impossible length is [`crate::DeviceError::OutOfRange`].
    pub fn submit(&mut self, command: CopyCommand) -> Result<Ticket, QueueError> {
        let ticket = self.enqueue(command)?;
        self.ring()?;
        Ok(ticket)
    }

    /// Writes a command into the ring; the device begins with it when [`CopyQueue::ring`] is called.
    ///
    /// # Errors
    /// As [`CopyQueue::submit`].
    pub fn enqueue(&mut self, command: CopyCommand) -> Result<Ticket, QueueError> {
        if !(1..=BYTES_MAX).contains(&command.bytes) {
            let expected = format!("1 to {BYTES_MAX}");
            return Err(out_of_range("bytes", command.bytes.into(), expected));
        }
        let CopyCommand { interrupt, bytes, .. } = command;
        let words = |identifier| submission(identifier, command);
        self.0.enqueue(Open { interrupt, bytes }, words)
    }

    /// Tells the device of all commands enqueued so far.
    ///
    /// # Errors
    /// See [`QueueError`].
    pub fn ring(&mut self) -> Result<(), QueueError> {
        self.0.ring()
    }

    /// A command that has ended, if there is one. Does not wait, and reads memory only: ask
    /// [`CopyQueue::check`] now and then whether the device still runs.
    ///
    /// # Errors
    /// See [`QueueError`].
    pub fn poll(&mut self) -> Result<Option<CopyDone>, QueueError> {
        self.0.poll()
    }

    /// Waits until a command has ended.
    ///
    /// # Errors
    /// [`QueueError::Timeout`] when none ends within `bound`; others by [`QueueError`].
    pub fn wait(&mut self, bound: Duration) -> Result<CopyDone, QueueError> {
        self.0.wait(bound)
    }

    /// Submits one command and waits for its end; what else ends meanwhile is kept for
    /// [`CopyQueue::poll`] and [`CopyQueue::wait`].
    ///
    /// # Errors
    /// As [`CopyQueue::submit`] and [`CopyQueue::wait`]. After a time-out the command is still open.
    pub fn copy(&mut self, command: CopyCommand, bound: Duration) -> Result<CopyDone, QueueError> {
        let started = Instant::now();
        let ticket = self.submit(command)?;
        self.0.wait_for(ticket, started, bound)
    }

    /// Asks the device whether it still runs the queue.
    ///
    /// # Errors
    /// [`QueueError::Halted`], [`QueueError::Stopped`], or what the device reports.
    pub fn check(&mut self) -> Result<(), QueueError> {
        self.0.check()
    }

    /// Takes the queue into use again after an error or a reset; open commands are forgotten.
    ///
    /// # Errors
    /// See [`QueueError`].
    pub fn restart(&mut self) -> Result<(), QueueError> {
        self.0.restart()
    }

    /// The number of commands that the device has not answered.
    pub fn open_commands(&self) -> usize {
        self.0.open_commands()
    }

    /// The number of entries.
    pub fn entries(&self) -> u16 {
        self.0.entries()
    }
}

/// The words of a submission. Source: `docs/device.md`, "Submission".
fn submission(identifier: u16, command: CopyCommand) -> [u64; 8] {
    let CopyCommand { direction, interrupt, bytes, .. } = command;
    let word0 = header(identifier, direction.opcode(), interrupt) | u64::from(bytes) << 32;
    [word0, command.source, command.destination, 0, 0, 0, 0, 0]
}
