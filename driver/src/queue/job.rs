//! The job queue: work that is done near the data.

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

use super::open::OpenCommands;
use super::{Completion, Kind, Queue, QueueError, Ticket};
use crate::device::Device;
use crate::{DeviceError, layout, map};

const KIND: Kind = Kind {
    name: "job",
    code: map::queue::Kind::Job,
    base: map::device::JOB_QUEUE,
    vector: layout::JOB_VECTOR,
};

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

/// The job queue of a device. Submissions are begun in their order and end in any.
pub struct JobQueue {
    queue: Queue,
    /// Whether each wants an interrupt.
    open: OpenCommands<bool>,
    /// Open submissions that asked for an interrupt.
    interrupts: usize,
    /// Ended while another one was waited for.
    early: VecDeque<JobDone>,
}

impl fmt::Debug for JobQueue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "JobQueue({} open of {})", self.open.len(), self.open.most())
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
        Ok(JobQueue {
            queue: Queue::open(device, KIND, entries)?,
            open: OpenCommands::new(entries),
            interrupts: 0,
            early: VecDeque::new(),
        })
    }

    /// Hands a submission to the device.
    ///
    /// # Errors
    /// [`QueueError::Full`] when as many are open as the queue has entries; others by
    /// [`QueueError`].
    pub fn submit(&mut self, submission: JobSubmission) -> Result<Ticket, QueueError> {
        self.queue.check_stopped()?;
        let Some(identifier) = self.open.next() else {
            return Err(QueueError::Full { queue: KIND.name, entries: self.queue.entries });
        };
        let JobSubmission { opcode, words: [a, b, c, d, e, f, g], interrupt } = submission;
        let word0 = u64::from(identifier) | u64::from(opcode) << 16 | u64::from(interrupt) << 24;
        self.queue.push([word0, a, b, c, d, e, f, g])?;
        self.interrupts += usize::from(interrupt);
        let ticket = self.open.open(interrupt);
        self.queue.ring_doorbell()?;
        Ok(ticket)
    }

    /// A submission that has ended, if there is one. Does not wait, and reads memory only: ask
    /// [`JobQueue::check`] now and then whether the device still runs.
    ///
    /// # Errors
    /// See [`QueueError`].
    pub fn poll(&mut self) -> Result<Option<JobDone>, QueueError> {
        if let Some(done) = self.early.pop_front() {
            return Ok(Some(done));
        }
        match self.queue.pop()? {
            Some(completion) => self.close(completion).map(Some),
            None => Ok(None),
        }
    }

    /// Waits until a submission has ended.
    ///
    /// # Errors
    /// [`QueueError::Timeout`] when none ends within `bound`; others by [`QueueError`].
    pub fn wait(&mut self, bound: Duration) -> Result<JobDone, QueueError> {
        if let Some(done) = self.early.pop_front() {
            return Ok(done);
        }
        let completion = self.queue.wait(self.interrupts > 0, bound)?;
        self.close(completion)
    }

    /// Waits until this submission has ended; what else ends meanwhile is kept for
    /// [`JobQueue::poll`], [`JobQueue::wait`] and other calls of this.
    ///
    /// # Errors
    /// As [`JobQueue::wait`]. After a time-out the submission is still open.
    pub fn wait_for(&mut self, ticket: Ticket, bound: Duration) -> Result<JobDone, QueueError> {
        if let Some(at) = self.early.iter().position(|done| done.ticket == ticket) {
            return Ok(self.early.remove(at).expect("found there"));
        }
        let started = Instant::now();
        loop {
            let left = bound.saturating_sub(started.elapsed());
            let completion = self.queue.wait(self.interrupts > 0, left)?;
            let done = self.close(completion)?;
            if done.ticket == ticket {
                return Ok(done);
            }
            self.early.push_back(done);
        }
    }

    /// Asks the device whether it still runs the queue.
    ///
    /// # Errors
    /// [`QueueError::Halted`], [`QueueError::Stopped`], or what the device reports.
    pub fn check(&mut self) -> Result<(), QueueError> {
        self.queue.check_stopped()?;
        self.queue.check()
    }

    /// Takes the queue into use again after an error or a reset; open submissions are forgotten. The
    /// device takes new ones up when those that it has in hand have ended, so without a reset
    /// between this waits for them for a moment.
    ///
    /// # Errors
    /// [`QueueError::Timeout`] while jobs from before go on: reset the device. Others by
    /// [`QueueError`].
    pub fn restart(&mut self) -> Result<(), QueueError> {
        self.queue.start()?;
        self.open.forget();
        self.interrupts = 0;
        self.early.clear();
        Ok(())
    }

    /// The number of submissions that the device has not answered.
    pub fn open_submissions(&self) -> usize {
        self.open.len()
    }

    /// The number of entries.
    pub fn entries(&self) -> u16 {
        self.queue.entries
    }

    /// Finds the submission that a completion names.
    fn close(&mut self, completion: Completion) -> Result<JobDone, QueueError> {
        let Completion { identifier, status, bytes, response } = completion;
        let Some((ticket, interrupt)) = self.open.close(identifier) else {
            let detail = format!("identifier is {identifier}, expected that of an open submission");
            return Err(self.queue.violation(detail));
        };
        self.interrupts -= usize::from(interrupt);
        Ok(JobDone { ticket, status, bytes, detail: response })
    }
}
