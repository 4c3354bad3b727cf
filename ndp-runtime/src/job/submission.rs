// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contents of the job queue: submissions of 64 bytes, completions of 16 bytes.

/// The request of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Opcode {
    /// Begin the job of a [`Descriptor`](super::Descriptor).
    Begin = 1,
    /// Go on with room from a [`TopUp`](super::TopUp), after [`Status::More`].
    Resume = 2,
    /// Stamp the job's pages with a commit timestamp and make them durable.
    Finalize = 3,
    /// Stop the job; completes when no lock request of it is open any more.
    Cancel = 4,
    /// Drop a job that is idle, and its pages.
    Forget = 5,
}

impl Opcode {
    /// All of them.
    pub const ALL: [Opcode; 5] =
        [Opcode::Begin, Opcode::Resume, Opcode::Finalize, Opcode::Cancel, Opcode::Forget];

    /// The opcode of this number.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|opcode| *opcode as u8 == code)
    }
}

/// How a submission ended. Codes below 16 mean the same on every queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Status {
    /// It is done.
    Done = 0,
    /// The opcode is none. Detail: its number.
    BadOpcode = 1,
    /// The result buffer or the page reservations are used up: drain the chunk and resume. Detail: 1 when
    /// page reservations are wanted.
    More = 16,
    /// Another transaction changed the row and committed first. Detail: its VID.
    Conflict = 17,
    /// A lock was not granted in time. Detail: the row's VID.
    LockTimeout = 18,
    /// The job was cancelled.
    Cancelled = 19,
    /// The descriptor, top-up or page reservations are impossible. Detail: byte offset of the field.
    BadDescriptor = 20,
    /// The program or the assignments are refused; the reason is in the result buffer, as text.
    BadProgram = 21,
    /// Storage or the shared state cannot be read or written; the reason is in the result buffer,
    /// as text.
    Storage = 22,
    /// An update met rows that it cannot read or change; they are in the result set.
    RowFaults = 23,
    /// Host memory did not answer. Detail: the address.
    HostMemory = 24,
    /// There is no job of this number that could do what was asked.
    NoJob = 25,
    /// As many jobs as there can be are live. Detail: how many.
    TooManyJobs = 26,
    /// A job of this number is live already.
    JobExists = 27,
    /// The lock unit gave an answer that makes no sense. Detail: its code.
    LockUnit = 28,
    /// The aggregation has no result; the reason is in the result buffer, as text.
    Aggregation = 29,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 16] = [
        Status::Done,
        Status::BadOpcode,
        Status::More,
        Status::Conflict,
        Status::LockTimeout,
        Status::Cancelled,
        Status::BadDescriptor,
        Status::BadProgram,
        Status::Storage,
        Status::RowFaults,
        Status::HostMemory,
        Status::NoJob,
        Status::TooManyJobs,
        Status::JobExists,
        Status::LockUnit,
        Status::Aggregation,
    ];

    /// The status of this code.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|status| *status as u8 == code)
    }
}

/// A submission of the job queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Submission {
    /// Comes back with the completion.
    pub identifier: u16,
    /// Number of an [`Opcode`].
    pub opcode: u8,
    /// Begin: address of the descriptor in host memory. Resume: of the top-up.
    pub address: u64,
    /// Begin and Resume: bytes there.
    pub bytes: u64,
    /// Finalize: commit timestamp, epoch, identity of the store.
    pub arguments: [u64; 3],
    /// The job, as the host has numbered it; unique among live jobs.
    pub job: u32,
}

impl Submission {
    /// A job begins, by the descriptor at an address.
    pub fn begin(job: u32, address: u64, bytes: u64) -> Self {
        Self { opcode: Opcode::Begin as u8, address, bytes, job, ..Self::default() }
    }

    /// A job continues, by the top-up at an address.
    pub fn resume(job: u32, address: u64, bytes: u64) -> Self {
        Self { opcode: Opcode::Resume as u8, address, bytes, job, ..Self::default() }
    }

    /// A job's pages are stamped with a commit timestamp and made durable.
    pub fn finalize(job: u32, commit: u64, epoch: u64, store: u64) -> Self {
        let arguments = [commit, epoch, store];
        Self { opcode: Opcode::Finalize as u8, arguments, job, ..Self::default() }
    }

    /// A job is stopped.
    pub fn cancel(job: u32) -> Self {
        Self { opcode: Opcode::Cancel as u8, job, ..Self::default() }
    }

    /// A job idle is dropped.
    pub fn forget(job: u32) -> Self {
        Self { opcode: Opcode::Forget as u8, job, ..Self::default() }
    }

    /// As eight words. Bit 24 of word 0, whether an interrupt is wanted, is the queue's own.
    pub fn encode(&self) -> [u64; 8] {
        let [a, b, c] = self.arguments;
        let word0 = u64::from(self.identifier) | u64::from(self.opcode) << 16;
        [word0, self.address, self.bytes, a, b, c, 0, self.job.into()]
    }

    /// From eight words; what no opcode uses is not looked at.
    pub fn decode(words: [u64; 8]) -> Self {
        let [word0, address, bytes, a, b, c, _, job] = words;
        Self {
            identifier: word0 as u16,
            opcode: (word0 >> 16) as u8,
            address,
            bytes,
            arguments: [a, b, c],
            job: job as u32,
        }
    }
}

/// The end of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobCompletion {
    /// The submission's.
    pub identifier: u16,
    /// How it ended.
    pub status: Status,
    /// Bytes written to the result buffer.
    pub bytes: u32,
    /// As the status says.
    pub detail: u64,
}

impl JobCompletion {
    /// As two words. Bit 24 of word 0, the phase, is the queue's own.
    pub fn encode(&self) -> [u64; 2] {
        let status = u64::from(self.status as u8) << 16;
        [u64::from(self.identifier) | status | u64::from(self.bytes) << 32, self.detail]
    }

    /// From two words; `None` when the status is none.
    pub fn decode([word0, detail]: [u64; 2]) -> Option<Self> {
        let status = Status::from_code((word0 >> 16) as u8)?;
        Some(Self { identifier: word0 as u16, status, bytes: (word0 >> 32) as u32, detail })
    }
}
