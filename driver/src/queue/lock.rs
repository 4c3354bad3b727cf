// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lock queue: requests to the lock unit, and its responses.

use std::fmt;
use std::time::Duration;

use super::{Completion, Kind, Queue, QueueError, Status, header};
use crate::device::Device;
use crate::lock_unit::stream::{Tag, UnitRequest, UnitResponse};
use crate::{layout, map};

const KIND: Kind = Kind {
    name: "lock",
    code: map::queue::Kind::Lock,
    base: map::device::LOCK_QUEUE,
    vector: layout::LOCK_VECTOR,
};

/// The only opcode of the lock queue.
const OPCODE_REQUEST: u8 = 1;

/// The lock queue of a device. Start the lock unit before the first request
/// ([`Device::lock_unit`]).
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

    /// Hands a request to the lock unit. The tag must not be that of an open request.
    ///
    /// # Errors
    /// [`QueueError::Full`] while the device has not fetched enough of those before; others by
    /// [`QueueError`].
    pub fn request(&mut self, request: UnitRequest) -> Result<(), QueueError> {
        self.enqueue(request)?;
        self.ring()
    }

    /// Writes a request into the ring; the device sees it when [`LockQueue::ring`] is called.
    ///
    /// # Errors
    /// As [`LockQueue::request`].
    pub fn enqueue(&mut self, request: UnitRequest) -> Result<(), QueueError> {
        self.enqueue_beat(request.encode())
    }

    /// As [`LockQueue::enqueue`], with any beat of the request stream, also one that means nothing.
    ///
    /// # Errors
    /// As [`LockQueue::request`].
    pub fn enqueue_beat(&mut self, beat: [u64; 3]) -> Result<(), QueueError> {
        let tag = Tag::of_request(beat).index() as u16;
        let word0 = header(tag, OPCODE_REQUEST, true);
        self.queue.push([word0, 0, 0, 0, beat[0], beat[1], beat[2], 0])
    }

    /// Tells the device of all requests enqueued so far.
    ///
    /// # Errors
    /// See [`QueueError`].
    pub fn ring(&mut self) -> Result<(), QueueError> {
        self.queue.ring_doorbell()
    }

    /// A response, if there is one. Does not wait, and reads memory only: ask
    /// [`LockQueue::check`] now and then whether the device still runs.
    ///
    /// # Errors
    /// See [`QueueError`].
    pub fn poll(&mut self) -> Result<Option<UnitResponse>, QueueError> {
        match self.queue.pop()? {
            Some(completion) => self.response(completion).map(Some),
            None => Ok(None),
        }
    }

    /// Waits for a response.
    ///
    /// # Errors
    /// [`QueueError::Timeout`] when none comes within `bound`; others by [`QueueError`].
    pub fn wait(&mut self, bound: Duration) -> Result<UnitResponse, QueueError> {
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

    fn response(&mut self, completion: Completion) -> Result<UnitResponse, QueueError> {
        let Completion { identifier, status, bytes, response } = completion;
        let status = Status::from_code(status);
        if status != Status::Done {
            return Err(QueueError::Failed { queue: KIND.name, status, bytes });
        }
        let tag = Tag::of_id(response as u16).index();
        if usize::from(identifier) != tag {
            let detail = format!("identifier is {identifier}, expected the tag {tag}");
            return Err(self.queue.violation(detail));
        }
        UnitResponse::decode(response).map_err(|bad| self.queue.violation(bad.to_string()))
    }
}
