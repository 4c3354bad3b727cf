// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue of the device, accessed word by word. It can submit what the driver's own queues would
//! never submit, and shows what they hide.

use std::sync::atomic::{Ordering, fence};

use driver::DeviceError;
use driver::lock_unit::stream::{Tag, UnitRequest};

use crate::context::{CheckError, Context, Mapped, expect};
use crate::map;

const SUBMISSION_BYTES: usize = 64;
const COMPLETION_BYTES: usize = 16;

/// Copy opcodes.
pub(crate) const HOST_TO_CARD: u8 = 1;
pub(crate) const CARD_TO_HOST: u8 = 2;
pub(crate) const HOST_TO_HOST: u8 = 3;
/// The lock queue's opcode.
pub(crate) const REQUEST: u8 = 1;
/// The job queue's opcodes.
pub(crate) const BEGIN: u8 = 1;
pub(crate) const RESUME: u8 = 2;
pub(crate) const FINALIZE: u8 = 3;
pub(crate) const CANCEL: u8 = 4;
pub(crate) const FORGET: u8 = 5;

/// The status of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Done,
    BadOpcode,
    BadLength,
    BadSource,
    BadDestination,
    OutsideCard,
    Aborted,
    /// None of copies and lock requests.
    Unknown(u8),
}

impl Status {
    fn from_bits(bits: u8) -> Self {
        use Status::*;
        let known = [Done, BadOpcode, BadLength, BadSource, BadDestination, OutsideCard, Aborted];
        known.get(usize::from(bits)).copied().unwrap_or(Unknown(bits))
    }
}

/// One submission.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Submission {
    pub identifier: u16,
    pub opcode: u8,
    pub interrupt: bool,
    pub bytes: u32,
    pub source: u64,
    pub destination: u64,
    /// Word 3.
    pub third: u64,
    pub beat: [u64; 3],
    /// Word 7.
    pub job: u64,
}

impl Submission {
    pub fn copy(opcode: u8, source: u64, destination: u64, bytes: u32) -> Self {
        Self { opcode, source, destination, bytes, ..Self::default() }
    }

    pub fn request(request: UnitRequest) -> Self {
        Self::beat(request.encode())
    }

    /// Any beat of the request stream, also one that means nothing.
    pub fn beat(beat: [u64; 3]) -> Self {
        let identifier = Tag::of_request(beat).index() as u16;
        Self { identifier, opcode: REQUEST, beat, ..Self::default() }
    }

    fn words(self) -> [u64; 8] {
        let first = u64::from(self.identifier)
            | u64::from(self.opcode) << 16
            | u64::from(self.interrupt) << 24
            | u64::from(self.bytes) << 32;
        let [low, middle, high] = self.beat;
        [first, self.source, self.destination, self.third, low, middle, high, self.job]
    }
}

/// One completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    pub identifier: u16,
    pub status: Status,
    pub bytes: u32,
    pub response: u64,
}

/// A queue and its rings.
pub(crate) struct Queue {
    base: u64,
    log2: u32,
    rings: Mapped,
    submitted: u16,
    consumed: u16,
}

impl Queue {
    /// Brings the queue at `base` into use with rings of `1 << log2` entries.
    pub fn open(context: &Context<'_>, base: u64, log2: u32) -> Result<Self, CheckError> {
        let rings = context.memory((SUBMISSION_BYTES + COMPLETION_BYTES) << log2)?;
        if rings.bytes() < (SUBMISSION_BYTES + COMPLETION_BYTES) << log2 {
            return Err(CheckError::Skip(format!(
                "rings of {} entries need contiguous memory: set huge pages aside",
                1 << log2
            )));
        }
        let queue = Self { base, log2, rings, submitted: 0, consumed: 0 };
        queue.enable(context, queue.rings.address, queue.completions_address())?;
        Ok(queue)
    }

    fn enable(
        &self,
        context: &Context<'_>,
        submissions: u64,
        completions: u64,
    ) -> Result<(), CheckError> {
        self.rings.fill(0);
        self.write(context, map::CONTROL, 0)?;
        for (register, value) in
            [(map::SUBMISSION_BASE, submissions), (map::COMPLETION_BASE, completions)]
        {
            self.write(context, register, value as u32)?;
            self.write(context, register + 4, (value >> 32) as u32)?;
        }
        self.write(context, map::LOG2_ENTRIES, self.log2)?;
        // The zeroes of the completion ring must be there before the device may write to it.
        fence(Ordering::Release);
        self.write(context, map::CONTROL, 1)?;
        expect(|| format!("CONTROL of the queue at {:#x}", self.base), self.control(context)?, 1)
    }

    /// Enables it again after it was halted or reset, with empty rings.
    pub fn enable_again(&mut self, context: &Context<'_>) -> Result<(), CheckError> {
        (self.submitted, self.consumed) = (0, 0);
        self.enable(context, self.rings.address, self.completions_address())
    }

    /// Enables it with rings somewhere else, which the device may not be able to reach.
    pub fn enable_at(
        &mut self,
        context: &Context<'_>,
        submissions: Option<u64>,
        completions: Option<u64>,
    ) -> Result<(), CheckError> {
        (self.submitted, self.consumed) = (0, 0);
        let submissions = submissions.unwrap_or(self.rings.address);
        self.enable(context, submissions, completions.unwrap_or(self.completions_address()))
    }

    pub fn entries(&self) -> u16 {
        1 << self.log2
    }

    fn completions_address(&self) -> u64 {
        self.rings.address + ((SUBMISSION_BYTES as u64) << self.log2)
    }

    pub fn read(&self, context: &Context<'_>, register: u64) -> Result<u32, DeviceError> {
        context.read(self.base + register)
    }

    pub fn write(
        &self,
        context: &Context<'_>,
        register: u64,
        value: u32,
    ) -> Result<(), DeviceError> {
        context.write(self.base + register, value)
    }

    pub fn control(&self, context: &Context<'_>) -> Result<u32, DeviceError> {
        self.read(context, map::CONTROL)
    }

    /// A counter of 64 bits, of a queue idle.
    pub fn counter(&self, context: &Context<'_>, register: u64) -> Result<u64, DeviceError> {
        let low = self.read(context, register)?;
        let high = self.read(context, register + 4)?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    /// Switches interrupts on completions on.
    pub fn set_interrupts(&self, context: &Context<'_>, on: bool) -> Result<(), DeviceError> {
        self.write(context, map::IER, on.into())?;
        self.write(context, map::GIE, on.into())
    }

    /// Submissions that have not been consumed as completions.
    pub fn open_submissions(&self) -> u16 {
        self.submitted.wrapping_sub(self.consumed)
    }

    /// Writes a submission into the ring, without telling the device.
    pub fn push(&mut self, submission: Submission) {
        let offset = usize::from(self.submitted % self.entries()) * SUBMISSION_BYTES;
        for (index, word) in submission.words().into_iter().enumerate() {
            self.rings.memory.word(offset + 8 * index).store(word, Ordering::Relaxed);
        }
        self.submitted = self.submitted.wrapping_add(1);
    }

    /// Tells the device of all submissions that were pushed.
    pub fn ring(&self, context: &Context<'_>) -> Result<(), DeviceError> {
        self.doorbell(context, self.submitted)
    }

    /// Writes any number as the count of submissions.
    pub fn doorbell(&self, context: &Context<'_>, count: u16) -> Result<(), DeviceError> {
        // Submissions are in memory before the device hears of them.
        fence(Ordering::Release);
        self.write(context, map::SUBMISSION_TAIL, count.into())
    }

    pub fn submitted(&self) -> u16 {
        self.submitted
    }

    /// The next completion, if it is there. The device hears of it with [`Queue::give_back`].
    pub fn take(&mut self) -> Option<Completion> {
        let offset = (SUBMISSION_BYTES << self.log2)
            + usize::from(self.consumed % self.entries()) * COMPLETION_BYTES;
        let word = self.rings.memory.word(offset).load(Ordering::Acquire);
        let lap = self.consumed >> self.log2;
        if word >> 24 & 1 != u64::from(!lap & 1) {
            return None;
        }
        self.consumed = self.consumed.wrapping_add(1);
        Some(Completion {
            identifier: word as u16,
            status: Status::from_bits((word >> 16) as u8),
            bytes: (word >> 32) as u32,
            response: self.rings.memory.word(offset + 8).load(Ordering::Relaxed),
        })
    }

    /// Tells the device which completions were consumed.
    pub fn give_back(&self, context: &Context<'_>) -> Result<(), DeviceError> {
        self.write(context, map::COMPLETION_HEAD, self.consumed.into())
    }

    /// Waits for the next completion and consumes it.
    pub fn wait(&mut self, context: &Context<'_>) -> Result<Completion, CheckError> {
        let base = self.base;
        let completion = context
            .wait_for(|| format!("a completion of the queue at {base:#x}"), || Ok(self.take()))?;
        self.give_back(context)?;
        Ok(completion)
    }

    /// Submits one thing and waits for its completion.
    pub fn perform(
        &mut self,
        context: &Context<'_>,
        submission: Submission,
    ) -> Result<Completion, CheckError> {
        self.push(submission);
        self.ring(context)?;
        let completion = self.wait(context)?;
        expect(
            || "identifier of a completion".into(),
            completion.identifier,
            submission.identifier,
        )?;
        Ok(completion)
    }

    /// The bytes of the completion ring, to see whether anything is written to it.
    pub fn completion_bytes(&self) -> Vec<u8> {
        self.rings.copy_out(SUBMISSION_BYTES << self.log2, COMPLETION_BYTES << self.log2)
    }

    /// Disables it.
    pub fn stop(&self, context: &Context<'_>) -> Result<(), DeviceError> {
        self.write(context, map::CONTROL, 0)
    }
}
