// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's access to a device that takes jobs: through a driver, or within this process in a
//! test.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use driver::{Device, DmaBuffer, HostMemory, JobDone, JobQueue, JobSubmission, QueueError, Ticket};
use lockdb::{Database, Table};

use super::memory::StoreMemory;
use crate::job::{JobCompletion, Status, Submission};

/// The errors after which a device takes no more jobs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    /// As many submissions are open as there can be; one more may be handed in when one has ended.
    #[error("the job queue is full")]
    Full,
    /// The queue, the device or the link.
    #[error(transparent)]
    Queue(Box<QueueError>),
    /// Part of the store's memory is not where the device could reach it.
    #[error("the device cannot reach {what}: {reason}")]
    OutOfReach {
        /// Of what.
        what: String,
        /// Why not.
        reason: String,
    },
    /// The device gave an invalid answer.
    #[error("a completion has {found:#x}, expected {expected}")]
    Completion {
        /// The value found.
        found: u64,
        /// The expected value.
        expected: &'static str,
    },
    /// It was reset while submissions were open: their work is lost.
    #[error("the device was reset in the middle of a job")]
    Reset,
    /// There is no device any more.
    #[error("the device is gone: {0}")]
    Gone(String),
}

impl From<QueueError> for PortError {
    fn from(error: QueueError) -> Self {
        match error {
            QueueError::Full { .. } => Self::Full,
            other => Self::Queue(Box::new(other)),
        }
    }
}

impl From<driver::DeviceError> for PortError {
    fn from(error: driver::DeviceError) -> Self {
        Self::Queue(Box::new(QueueError::Device(error)))
    }
}

/// Memory that the device has until this is dropped.
pub trait Mapping: Send + Sync {
    /// The device's address of its first byte.
    fn bus_address(&self) -> u64;
}

impl Mapping for DmaBuffer {
    fn bus_address(&self) -> u64 {
        self.bus_address()
    }
}

/// What is left of a device after [`JobPort::fence`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fenced {
    /// It was reset and takes jobs again.
    Restarted,
    /// It is dead.
    Dead,
}

/// A device that takes jobs. But for [`JobPort::idle`] and [`JobPort::fence`] no call waits.
pub trait JobPort: Send {
    /// Lets the device reach memory.
    ///
    /// # Errors
    /// When it cannot.
    fn map(&mut self, memory: &Arc<HostMemory>) -> Result<Box<dyn Mapping>, PortError>;

    /// The device's address of the store's lock table.
    ///
    /// # Errors
    /// [`PortError::OutOfReach`].
    fn reach_locks(&mut self, database: &Database) -> Result<u64, PortError>;

    /// The device's address of a table's VID map.
    ///
    /// # Errors
    /// [`PortError::OutOfReach`].
    fn reach_vid_map(&mut self, table: &Table) -> Result<u64, PortError>;

    /// Hands in a submission, whose completion will come with `tag`; its identifier is the port's.
    ///
    /// # Errors
    /// [`PortError::Full`]; others say that the device is lost.
    fn submit(&mut self, tag: u64, submission: Submission) -> Result<(), PortError>;

    /// A submission that has ended, if there is one, by its tag.
    ///
    /// # Errors
    /// When the device is lost, or open submissions are.
    fn poll(&mut self) -> Result<Option<(u64, JobCompletion)>, PortError>;

    /// Waits a moment, at most `bound`, for a submission to end. What is left of the moment for the
    /// caller to sleep, when others may have the port.
    fn idle(&mut self, bound: Duration) -> Duration;

    /// Asks the device itself whether it still runs. More expensive than [`JobPort::poll`].
    ///
    /// # Errors
    /// When it does not.
    fn check(&mut self) -> Result<(), PortError>;

    /// Cuts off what the device does: when this returns, none of its accesses to memory or to the lock
    /// table is under way, nor will there be one for what was submitted before.
    ///
    /// # Errors
    /// When that cannot be allocated.
    fn fence(&mut self) -> Result<Fenced, PortError>;
}

/// A device behind a driver.
pub struct QueuePort {
    device: Device,
    queue: JobQueue,
    memory: Arc<StoreMemory>,
    /// By tickets of the driver.
    tags: BTreeMap<Ticket, u64>,
    /// Ended while a thread slept.
    early: VecDeque<JobDone>,
    /// The parts of the store's memory that the device has, by name.
    reached: BTreeMap<String, DmaBuffer>,
}

impl QueuePort {
    /// Takes the device's job queue into use. The store's lock table and arrays stand in `memory`.
    ///
    /// # Errors
    /// As [`Device::job_queue`].
    pub fn open(device: Device, memory: Arc<StoreMemory>, entries: u16) -> Result<Self, PortError> {
        let queue = device.job_queue(entries)?;
        let (tags, early, reached) = (BTreeMap::new(), VecDeque::new(), BTreeMap::new());
        Ok(Self { device, queue, memory, tags, early, reached })
    }

    fn reach(&mut self, name: &str) -> Result<u64, PortError> {
        if let Some(buffer) = self.reached.get(name) {
            return Ok(buffer.bus_address());
        }
        let memory = self.memory.named(name).ok_or_else(|| PortError::OutOfReach {
            what: name.into(),
            reason: "it does not stand in the memory that the device was given".into(),
        })?;
        let buffer = DmaBuffer::map(self.device.backend().clone(), memory)?;
        let address = buffer.bus_address();
        self.reached.insert(name.into(), buffer);
        Ok(address)
    }
}

impl JobPort for QueuePort {
    fn map(&mut self, memory: &Arc<HostMemory>) -> Result<Box<dyn Mapping>, PortError> {
        let buffer = DmaBuffer::map(self.device.backend().clone(), memory.clone())?;
        Ok(Box::new(buffer))
    }

    fn reach_locks(&mut self, _: &Database) -> Result<u64, PortError> {
        self.reach(StoreMemory::LOCKS)
    }

    fn reach_vid_map(&mut self, table: &Table) -> Result<u64, PortError> {
        self.reach(&format!("vid-map-{}", table.id()))
    }

    fn submit(&mut self, tag: u64, submission: Submission) -> Result<(), PortError> {
        let [_, a, b, c, d, e, f, g] = submission.encode();
        let (opcode, words) = (submission.opcode, [a, b, c, d, e, f, g]);
        let ticket = self.queue.submit(JobSubmission { opcode, words, interrupt: true })?;
        self.tags.insert(ticket, tag);
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<(u64, JobCompletion)>, PortError> {
        let done = match self.early.pop_front() {
            Some(done) => Some(done),
            None => self.queue.poll()?,
        };
        let Some(done) = done else { return Ok(None) };
        let tag = self.tags.remove(&done.ticket);
        let status = Status::from_code(done.status).ok_or(PortError::Completion {
            found: done.status.into(),
            expected: "a status of docs/near-data-jobs.md",
        })?;
        let (bytes, detail) = (done.bytes, done.detail);
        let completion = JobCompletion { identifier: 0, status, bytes, detail };
        Ok(tag.map(|tag| (tag, completion)))
    }

    fn idle(&mut self, bound: Duration) -> Duration {
        // By the interrupt of the queue. The next poll reports the error.
        self.early.extend(self.queue.wait(bound));
        Duration::ZERO
    }

    fn check(&mut self) -> Result<(), PortError> {
        Ok(self.queue.check()?)
    }

    fn fence(&mut self) -> Result<Fenced, PortError> {
        self.tags.clear();
        self.early.clear();
        match self.device.reset() {
            Ok(()) => {
                self.queue.restart()?;
                Ok(Fenced::Restarted)
            }
            // No thread is left that could access its memory.
            Err(driver::DeviceError::Gone { .. } | driver::DeviceError::Disconnected { .. }) => {
                self.reached.clear();
                Ok(Fenced::Dead)
            }
            Err(error) => {
                // At least the store's memory is unmapped from it, where addresses are translated.
                self.reached.clear();
                Err(error.into())
            }
        }
    }
}
