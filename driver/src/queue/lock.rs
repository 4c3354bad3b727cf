//! The lock queue: requests to the lock unit, and its responses.

use std::fmt;
use std::time::Duration;

use super::{Completion, Kind, Queue, QueueError, Status};
use crate::device::Device;
use crate::{layout, map};

const KIND: Kind = Kind {
    name: "lock",
    code: map::queue::Kind::Lock,
    base: map::device::LOCK_QUEUE,
    vector: layout::LOCK_VECTOR,
};

/// The only opcode of the lock queue, in place in word 0.
const OPCODE_REQUEST: u64 = 1 << 16;
/// Bits of a beat that are the tag.
const TAG_MASK: u64 = 0x7F;

/// The lock queue of a device: beats of `docs/lock-unit.md`, section "Request stream". Start the
/// lock unit before the first request ([`Device::lock_unit`]).
pub struct LockQueue {
    queue: Queue,
}

impl fmt::Debug for LockQueue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LockQueue({} entries)", self.queue.entries)
    }
}

impl LockQueue {
    pub(crate) fn open(device: &Device, entries: u16) -> Result<Self, QueueError> {
        Ok(LockQueue { queue: Queue::open(device, KIND, entries)? })
    }

    /// Hands a request to the lock unit: bits 63:0, 127:64 and 191:128 of the beat. The tag must not
    /// be that of an open request.
    ///
    /// # Errors
    /// [`QueueError::Full`] while the device has not fetched enough of those before; others by
    /// [`QueueError`].
    pub fn request(&mut self, beat: [u64; 3]) -> Result<(), QueueError> {
        self.enqueue(beat)?;
        self.ring()
    }

    /// Writes a request into the ring; the device sees it when [`LockQueue::ring`] is called.
    ///
    /// # Errors
    /// As [`LockQueue::request`].
    pub fn enqueue(&mut self, beat: [u64; 3]) -> Result<(), QueueError> {
        let word0 = beat[0] & TAG_MASK | OPCODE_REQUEST | 1 << 24;
        self.queue.push([word0, 0, 0, 0, beat[0], beat[1], beat[2], 0])
    }

    /// Tells the device of all requests enqueued so far.
    ///
    /// # Errors
    /// See [`QueueError`].
    pub fn ring(&mut self) -> Result<(), QueueError> {
        self.queue.ring_doorbell()
    }

    /// A response beat, if there is one. Does not wait, and reads memory only: ask
    /// [`LockQueue::check`] now and then whether the device still runs.
    ///
    /// # Errors
    /// See [`QueueError`].
    pub fn poll(&mut self) -> Result<Option<u64>, QueueError> {
        match self.queue.pop()? {
            Some(completion) => self.response(completion).map(Some),
            None => Ok(None),
        }
    }

    /// Waits for a response beat.
    ///
    /// # Errors
    /// [`QueueError::Timeout`] when none comes within `bound`; others by [`QueueError`].
    pub fn wait(&mut self, bound: Duration) -> Result<u64, QueueError> {
        let completion = self.queue.wait(true, bound)?;
        self.response(completion)
    }

    /// Asks the device whether it still runs the queue.
    ///
    /// # Errors
    /// [`QueueError::Halted`], [`QueueError::Stopped`], or what the device reports.
    pub fn check(&mut self) -> Result<(), QueueError> {
        self.queue.check_stopped()?;
        self.queue.check()
    }

    /// Takes the queue into use again after an error or a reset. What the lock unit still answers to
    /// requests from before comes as responses, so reset or drain it first.
    ///
    /// # Errors
    /// See [`QueueError`].
    pub fn restart(&mut self) -> Result<(), QueueError> {
        self.queue.start()
    }

    /// The number of entries.
    pub fn entries(&self) -> u16 {
        self.queue.entries
    }

    fn response(&mut self, completion: Completion) -> Result<u64, QueueError> {
        let Completion { identifier, status, bytes, response } = completion;
        match Status::from_code(status) {
            Status::Done if u64::from(identifier) == response & TAG_MASK => Ok(response),
            Status::Done => {
                let tag = response & TAG_MASK;
                let detail = format!("identifier is {identifier}, expected the tag {tag}");
                Err(self.queue.violation(detail))
            }
            status => Err(QueueError::Failed { queue: KIND.name, status, bytes }),
        }
    }
}
