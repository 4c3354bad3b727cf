// SPDX-License-Identifier: MIT OR Apache-2.0
//! One job on the device, with the memory that it was given.

use std::sync::Arc;
use std::time::Instant;

use driver::{HostMemory, PAGE_BYTES};
use lockdb::near_data::PageReservation;

use super::error::NearDataJobError;
use super::port::{Mapping, PortError};
use super::report::{COMPLETION_BYTES, LinkBytes, SUBMISSION_BYTES};
use super::runtime::{Pause, Pending, Runtime};
use super::watch::Watch;
use crate::job::{
    Descriptor, JobCompletion, JobError, ResultChunk, Span, Status, Submission, TopUp, TopUpBlock,
    reservation,
};

/// A job on the device.
///
/// It is running; or paused: it has completed a submission with [`Status::More`], and requests of its
/// rows may still be open at the lock unit; or idle: it is done, and none is; or over: the device
/// has forgotten it, or was cut off.
pub(super) struct Work<'r> {
    runtime: &'r Runtime,
    pub number: u32,
    memory: Arc<HostMemory>,
    mapping: Option<Box<dyn Mapping>>,
    parts: Parts,
    state: State,
    generation: u64,
    begin: Submission,
    /// Of the last chunk.
    chunk: u32,
    pub link: LinkBytes,
    received: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Running(Pending),
    Paused,
    Idle,
    Over,
}

impl State {
    /// What a job is when a Begin, Resume or Finalize of it has completed.
    fn after(done: &JobCompletion) -> Self {
        if done.status == Status::More { Self::Paused } else { Self::Idle }
    }
}

/// What lies where in a job's memory. The result buffer comes first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    result_bytes: usize,
    reservations_at: usize,
    most_reservations: usize,
    block_at: usize,
    state_at: usize,
    state_bytes: usize,
    bytes: usize,
}

/// Device addresses of the parts, for a descriptor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses {
    pub shared_state: Span,
    pub result: Span,
    pub reservations: u64,
}

impl Parts {
    pub fn new(result_bytes: usize, most_reservations: usize, state_bytes: usize) -> Self {
        let mut end = 0;
        let mut place = |bytes: usize| {
            let at = end;
            end = (at + bytes).next_multiple_of(64);
            at
        };
        place(result_bytes);
        let reservations_at = place(most_reservations * reservation::Entry::BYTES);
        let block_at = place((Descriptor::MOST_BYTES as usize).max(TopUpBlock::BYTES));
        let state_at = place(state_bytes);
        Self {
            result_bytes,
            reservations_at,
            most_reservations,
            block_at,
            state_at,
            state_bytes,
            bytes: end,
        }
    }
}

impl std::fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Work({}, {:?}, {:?})", self.number, self.state, self.link)
    }
}

impl<'r> Work<'r> {
    /// Begins a job: `describe` makes its descriptor, given where its parts stand.
    pub fn begin(
        runtime: &'r Runtime,
        parts: Parts,
        shared_state: &[u8],
        reservations: &[PageReservation],
        describe: impl FnOnce(Addresses) -> Descriptor,
    ) -> Result<Self, NearDataJobError> {
        // Submissions from before the device was cut off are lost.
        let generation = runtime.generation();
        let memory = HostMemory::allocate(parts.bytes, PAGE_BYTES).map_err(|source| {
            let what = format!("{} bytes for a near-data job", parts.bytes);
            NearDataJobError::Store(lockdb::Error::System { what, source })
        })?;
        let memory = Arc::new(memory);
        let mapping = runtime.map(&memory).map_err(NearDataJobError::lost)?;
        let mut work = Self {
            runtime,
            number: runtime.number_job(),
            memory,
            mapping: Some(mapping),
            parts,
            state: State::Over,
            generation,
            begin: Submission::default(),
            chunk: 0,
            link: LinkBytes::default(),
            received: Vec::new(),
        };
        work.memory.write(parts.state_at, shared_state);
        work.write_reservations(reservations);
        let descriptor = describe(Addresses {
            shared_state: Span {
                address: work.address(parts.state_at),
                bytes: parts.state_bytes as u64,
            },
            result: work.result(),
            reservations: work.address(parts.reservations_at),
        });
        let bytes = descriptor.encode();
        work.memory.write(parts.block_at, &bytes);
        work.link.shared_state += shared_state.len() as u64;
        work.link.descriptors += bytes.len() as u64;
        let at = work.address(parts.block_at);
        work.begin = Submission::begin(work.number, at, bytes.len() as u64);
        work.run(work.begin)?;
        Ok(work)
    }

    /// Continues after [`Status::More`], with more reservations.
    pub fn resume(&mut self, reservations: &[PageReservation]) -> Result<(), NearDataJobError> {
        self.chunk += 1;
        self.write_reservations(reservations);
        let block = TopUp {
            chunk: self.chunk,
            result: self.result(),
            reservations: self.address(self.parts.reservations_at),
            reservation_count: reservations.len() as u32,
        };
        self.memory.write(self.parts.block_at, &block.encode());
        self.link.descriptors += TopUpBlock::BYTES as u64;
        let at = self.address(self.parts.block_at);
        self.run(Submission::resume(self.number, at, TopUpBlock::BYTES as u64))
    }

    /// Waits until the device has ended what was last submitted. `progress` is called at first, and
    /// meanwhile repeatedly.
    pub fn wait(
        &mut self,
        watch: &mut Watch<'_>,
        progress: &mut dyn FnMut(),
    ) -> Result<JobCompletion, NearDataJobError> {
        let mut pause = Pause::default();
        loop {
            let State::Running(pending) = self.state else {
                unreachable!("whoever waits for a job has let it run");
            };
            progress();
            if let Some(reason) = watch.look() {
                self.stop()?;
                return Err(reason);
            }
            match self.runtime.poll(pending) {
                // The device has as many jobs as it can: once more when one may have ended.
                Ok(Some(done)) if done.status == Status::TooManyJobs => {
                    self.state = State::Over;
                    if let Some(reason) = watch.without_place() {
                        return Err(reason);
                    }
                    pause.wait(self.runtime);
                    self.run(self.begin)?;
                }
                Ok(Some(done)) => {
                    self.state = State::after(&done);
                    self.link.results += COMPLETION_BYTES + u64::from(done.bytes);
                    return Ok(done);
                }
                Ok(None) => pause.wait(self.runtime),
                Err(lost) => return Err(self.lose(lost)),
            }
        }
    }

    /// What the device has written to the result buffer: so many bytes, copied so that it does not
    /// change them any more.
    pub fn received(&mut self, bytes: u32) -> Result<&[u8], JobError> {
        let most = self.parts.result_bytes;
        if bytes as usize > most {
            return Err(JobError {
                what: "completion",
                offset: 4,
                field: "bytes",
                found: bytes.into(),
                expected: format!("at most {most}"),
            });
        }
        self.received.resize(bytes as usize, 0);
        self.memory.read(0, &mut self.received);
        Ok(&self.received)
    }

    /// The chunk that the device has written.
    pub fn chunk(&mut self, done: &JobCompletion) -> Result<ResultChunk<'_>, JobError> {
        let (job, number) = (self.number, self.chunk);
        let chunk = ResultChunk::verified(self.received(done.bytes)?)?;
        let header = chunk.header();
        for (field, found, expected) in [("job", header.job, job), ("chunk", header.chunk, number)]
        {
            if found != expected {
                let (found, expected) = (found.into(), expected.to_string());
                return Err(JobError { what: "result set", offset: 12, field, found, expected });
            }
        }
        Ok(chunk)
    }

    /// Has the device stamp and write its pages.
    pub fn finalize(
        &mut self,
        commit: u64,
        epoch: u64,
        store: u64,
    ) -> Result<(), NearDataJobError> {
        self.run(Submission::finalize(self.number, commit, epoch, store))?;
        let done = self.settle()?;
        self.link.results += COMPLETION_BYTES;
        match done.status {
            Status::Done => Ok(()),
            status => Err(self.refusal(status, &done)),
        }
    }

    /// Ends a job that is not done: when this returns, no access of it is under way.
    pub fn stop(&mut self) -> Result<(), NearDataJobError> {
        let (State::Running(_) | State::Paused) = self.state else { return Ok(()) };
        match self.runtime.submit(Submission::cancel(self.number)) {
            Ok(cancelling) => {
                if let State::Running(_) = self.state {
                    self.settle()?;
                }
                match self.runtime.wait(cancelling, self.runtime.options().timeout) {
                    Ok(Some(_)) => {
                        self.state = State::Over;
                        Ok(())
                    }
                    Ok(None) => Err(self.lose_silent()),
                    Err(lost) => Err(self.lose(lost)),
                }
            }
            Err(lost) => Err(self.lose(lost)),
        }
    }

    /// Has the device forget a job that is done.
    pub fn forget(&mut self) -> Result<(), NearDataJobError> {
        let State::Idle = self.state else { return Ok(()) };
        self.run(Submission::forget(self.number))?;
        self.settle()?;
        self.state = State::Over;
        Ok(())
    }

    /// What a status says that is no success.
    pub fn refusal(&mut self, status: Status, done: &JobCompletion) -> NearDataJobError {
        let has_reason =
            matches!(status, Status::BadProgram | Status::Storage | Status::Aggregation);
        let reason = match has_reason.then(|| self.received(done.bytes)) {
            Some(Ok(text)) => String::from_utf8_lossy(text).into_owned(),
            _ => String::new(),
        };
        match status {
            Status::Aggregation => NearDataJobError::NoAggregate { reason },
            _ => NearDataJobError::Refused { status, detail: done.detail, reason },
        }
    }

    fn run(&mut self, submission: Submission) -> Result<(), NearDataJobError> {
        match self.runtime.submit(submission) {
            // The device was cut off in the meantime: it does not know the job any more. But one
            // that begins was not known before: it runs on the device as it is now, and is to be
            // stopped there.
            Ok(pending) if pending.generation != self.generation && submission != self.begin => {
                Err(self.lose(PortError::Reset))
            }
            Ok(pending) => {
                self.generation = pending.generation;
                self.link.descriptors += SUBMISSION_BYTES;
                self.state = State::Running(pending);
                Ok(())
            }
            Err(lost) => Err(self.lose(lost)),
        }
    }

    /// Waits for the end of what runs, as long as the device may take that counts as alive.
    fn settle(&mut self) -> Result<JobCompletion, NearDataJobError> {
        let State::Running(pending) = self.state else {
            unreachable!("whoever waits for a job has let it run");
        };
        match self.runtime.wait(pending, self.runtime.options().timeout) {
            Ok(Some(done)) => {
                self.state = State::after(&done);
                Ok(done)
            }
            Ok(None) => Err(self.lose_silent()),
            Err(lost) => Err(self.lose(lost)),
        }
    }

    /// The device is silent: it counts as lost.
    fn lose_silent(&mut self) -> NearDataJobError {
        let bound = self.runtime.options().timeout;
        self.lose(PortError::Gone(format!("it was silent for {bound:?}")))
    }

    /// The device is lost: it is cut off, and then the job is over.
    fn lose(&mut self, lost: PortError) -> NearDataJobError {
        match self.runtime.fence(self.generation, lost.clone()) {
            Ok(()) => {
                self.state = State::Over;
                NearDataJobError::lost(lost)
            }
            Err(not_fenced) => {
                // The device may still write what it was given: that stays.
                self.state = State::Over;
                std::mem::forget(self.mapping.take());
                std::mem::forget(self.memory.clone());
                not_fenced
            }
        }
    }

    fn write_reservations(&mut self, reservations: &[PageReservation]) {
        assert!(
            reservations.len() <= self.parts.most_reservations,
            "{} reservations at once",
            reservations.len()
        );
        let bytes = reservation::encode_all(reservations);
        self.memory.write(self.parts.reservations_at, &bytes);
        self.link.reservations += bytes.len() as u64;
    }

    fn result(&self) -> Span {
        Span { address: self.address(0), bytes: self.parts.result_bytes as u64 }
    }

    fn address(&self, offset: usize) -> u64 {
        let mapping = self.mapping.as_ref().expect("it is there until the device is lost");
        mapping.bus_address() + offset as u64
    }
}

impl Drop for Work<'_> {
    /// Code that drops a running job has panicked, or has lost it by an error of its own: it is
    /// stopped, so that the memory can go.
    fn drop(&mut self) {
        if self.stop().is_ok() {
            let _ = self.forget();
        }
    }
}

/// The time since a moment, which is then set to now.
pub(super) fn lap(since: &mut Instant) -> std::time::Duration {
    let now = Instant::now();
    now.duration_since(std::mem::replace(since, now))
}
