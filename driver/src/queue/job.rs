// SPDX-License-Identifier: MIT OR Apache-2.0
//! The job queue: work that is done near the data.

use std::fmt;
use std::time::{Duration, Instant};

use super::command::{Command, CommandQueue};
use super::{Completion, Kind, QueueError, Ticket, header};
use crate::device::Device;
use crate::{DeviceError, layout, map};

/// How many queues a device has that has this one.
const QUEUES: u32 = 3;

/// One submission. What the words mean: `docs/near-data-jobs.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobSubmission {
    /// Bits 23:16 of word 0.
    pub opcode: u8,
    /// Words 1 to 7.
    pub words: [u64; 7],
    /// Whether an interrupt is wanted. Without one a wait looks for the completion now and then.
    pub interrupt: bool,
}

/// The completion of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "its status tells how the submission ended"]
pub struct JobDone {
    /// Of which submission.
    pub ticket: Ticket,
    /// How it ended, raw: 0 done, 1 unknown opcode, others by `docs/near-data-jobs.md`.
    pub status: u8,
    /// Bytes that were written to the result buffer.
    pub bytes: u32,
    /// Word 1, which each status gives a meaning.
    pub detail: u64,
}

/// A submission that the device has not answered yet: whether it is to end with an interrupt.
#[derive(Debug, Clone, Copy)]
struct Open {
    interrupt: bool,
}

impl Command for Open {
    type Done = JobDone;
    const KIND: Kind = Kind {
        name: "job",
        code: map::queue::Kind::Job,
        base: map::device::JOB_QUEUE,
        vector: layout::JOB_VECTOR,
    };
    const NOUN: &'static str = "submission";

    fn interrupts(&self) -> bool {
        self.interrupt
    }

    fn judge(self, ticket: Ticket, completion: Completion) -> Result<JobDone, String> {
        let Completion { status, bytes, response: detail, .. } = completion;
        Ok(JobDone { ticket, status, bytes, detail })
    }
}

/// The job queue of a device. Submissions are begun in their order and end in any.
pub struct JobQueue(CommandQueue<Open>);

impl fmt::Debug for JobQueue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "JobQueue({})", self.0)
    }
}

impl JobQueue {
    pub(crate) fn open(device: &Device, entries: u16) -> Result<Self, QueueError> {
        let queues = device.capabilities().queues;
        if queues < QUEUES {
            return Err(QueueError::Device(DeviceError::Refused {
                attempted: "open the job queue".into(),
                reason: format!("the device has {queues} queues, expected {QUEUES} or more"),
            }));
        }
        CommandQueue::open(device, entries).map(JobQueue)
    }

    /// Hands a submission to the device.
    ///
    /// # Errors
    /// [`QueueError::Full`] when as many are open as the queue has entries; others by
    /// [`QueueError`].
    pub fn submit(&mut self, submission: JobSubmission) -> Result<Ticket, QueueError> {
        let JobSubmission { opcode, words: [a, b, c, d, e, f, g], interrupt } = submission;
        let ticket = self.0.enqueue(Open { interrupt }, |identifier| {
            [header(identifier, opcode, interrupt), a, b, c, d, e, f, g]
        })?;
        self.0.ring()?;
        Ok(ticket)
    }

    /// A submission that has ended, if there is one. Does not wait, and reads memory only: ask
    /// [`JobQueue::check`] now and then whether the device still runs.
    ///
    /// # Errors
    /// See [`QueueError`].
    pub fn poll(&mut self) -> Result<Option<JobDone>, QueueError> {
        self.0.poll()
    }

    /// Waits until a submission has ended.
    ///
    /// # Errors
    /// [`QueueError::Timeout`] when none ends within `bound`; others by [`QueueError`].
    pub fn wait(&mut self, bound: Duration) -> Result<JobDone, QueueError> {
        self.0.wait(bound)
    }

    /// Waits until this submission has ended; what else ends meanwhile is kept for
    /// [`JobQueue::poll`], [`JobQueue::wait`] and other calls of this.
    ///
    /// # Errors
    /// As [`JobQueue::wait`]. After a time-out the submission is still open.
    pub fn wait_for(&mut self, ticket: Ticket, bound: Duration) -> Result<JobDone, QueueError> {
        self.0.wait_for(ticket, Instant::now(), bound)
    }

    /// Asks the device whether it still runs the queue.
    ///
    /// # Errors
    /// [`QueueError::Halted`], [`QueueError::Stopped`], or what the device reports.
    pub fn check(&mut self) -> Result<(), QueueError> {
        self.0.check()
    }

    /// Takes the queue into use again after an error or a reset; open submissions are forgotten. The
    /// device takes new ones up when those that it has in hand have ended, so without a reset
    /// between this waits for them for a moment.
    ///
    /// # Errors
    /// [`QueueError::Timeout`] while jobs from before go on: reset the device. Others by
    /// [`QueueError`].
    pub fn restart(&mut self) -> Result<(), QueueError> {
        self.0.restart()
    }

    /// The number of submissions that the device has not answered.
    pub fn open_submissions(&self) -> usize {
        self.0.open_commands()
    }

    /// The number of entries.
    pub fn entries(&self) -> u16 {
        self.0.entries()
    }
}
