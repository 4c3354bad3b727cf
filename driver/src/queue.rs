// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues: rings in host memory, a doorbell, completions with a phase bit.
//!
//! The order that matters (`docs/driver.md`, "Ordering"): the words of a submission are stored before
//! the doorbell is rung; the phase word of a completion is loaded with acquire before its other word.

pub mod ring;

mod command;
mod copy;
mod error;
mod job;
mod lock;
mod look_up;
mod open;
#[cfg(test)]
mod tests;

use std::sync::atomic::{Ordering, fence};
use std::thread;
use std::time::{Duration, Instant};

pub use copy::{CopyCommand, CopyDone, CopyQueue, Direction, Status};
pub use error::QueueError;
pub use job::{JobDone, JobQueue, JobSubmission};
pub use lock::LockQueue;
pub use look_up::{
    Answer, LookUpDone, LookUpOperation, LookUpQueue, LookUpRequest, LookUpStatus, Particulars,
    Shown,
};
pub use open::Ticket;

use crate::device::Device;
use crate::map::Present;
use crate::map::queue::{
    CAPABILITIES, COMPLETION_BASE, COMPLETION_HEAD, CONTROL, Control, ERROR, GIE, Gie, IER, ISR,
    Ier, Isr, LOG2_ENTRIES, LOG2_ENTRIES_LARGEST, RETURN, SIGNATURE, SUBMISSION_BASE,
    SUBMISSION_HEAD, SUBMISSION_TAIL,
};
use crate::{BlockRegisters, DeviceError, DmaBuffer, Interrupt, InterruptKind, map};
use ring::{CompletionRing, ImpossibleCount, SubmissionRing};

/// Bytes of one submission.
const SUBMISSION_BYTES: usize = 64;
/// Bytes of one completion.
const COMPLETION_BYTES: usize = 16;
/// How long a wait looks at the ring before it sleeps.
const SPIN: Duration = Duration::from_micros(20);
/// How long a wait sleeps without looking at the ring: what a lost interrupt costs at most.
const SLICE: Duration = Duration::from_millis(10);
/// The longest pause between two looks where no interrupt is to come.
const PAUSE_MAX: Duration = Duration::from_millis(1);
/// How long a queue that was in use may take to come to rest.
const IDLE_BOUND: Duration = Duration::from_secs(1);

/// Bits 23:16 of a completion's word 0 are the status, bit 24 the phase.
const PHASE_BIT: u64 = 1 << 24;

/// Which queue, and what is told apart by it.
#[derive(Debug, Clone, Copy)]
struct Kind {
    name: &'static str,
    /// As CAPABILITIES says it.
    code: map::queue::Kind,
    /// Offset of its block in BAR0.
    base: u32,
    vector: u32,
}

/// What the device says of one submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Completion {
    identifier: u16,
    status: u8,
    bytes: u32,
    response: u64,
}

/// What all queues have in common: one device queue and its rings.
struct Queue {
    kind: Kind,
    registers: Present<BlockRegisters>,
    entries: u16,
    /// The submissions, and the completions behind them.
    rings: DmaBuffer,
    submissions: SubmissionRing,
    completions: CompletionRing,
    /// Where interrupts come as events.
    interrupt: Option<Box<dyn Interrupt>>,
    /// Why the queue does not go on.
    stopped: Option<QueueError>,
}

impl Queue {
    /// Takes a queue of the device into use.
    fn open(device: &Device, kind: Kind, entries: u16) -> Result<Self, QueueError> {
        let mut registers = Present(device.block(kind.base));
        let entries_max = identify(&mut registers, kind)?;
        if !ring::is_ring_size(entries) || entries > entries_max {
            return Err(out_of_range(
                "entries",
                entries.into(),
                format!("a power of two from 2 to {entries_max}"),
            ));
        }
        if CONTROL.read(&mut registers)?.enable() {
            return Err(QueueError::Device(DeviceError::Refused {
                attempted: format!("open the {} queue", kind.name),
                reason: "it is enabled: somebody uses it; close the other one, or reset the device"
                    .into(),
            }));
        }
        let interrupt = match device.information().interrupts {
            InterruptKind::Event => Some(device.interrupt(kind.vector)?),
            InterruptKind::Polled => None,
        };
        let rings =
            device.allocate(usize::from(entries) * (SUBMISSION_BYTES + COMPLETION_BYTES))?;
        let mut queue = Queue {
            kind,
            registers,
            entries,
            rings,
            submissions: SubmissionRing::new(entries),
            completions: CompletionRing::new(entries),
            interrupt,
            stopped: None,
        };
        queue.start()?;
        Ok(queue)
    }

    /// Enables the queue with empty rings; what was open is forgotten.
    fn start(&mut self) -> Result<(), QueueError> {
        CONTROL.write(&mut self.registers, Control::default())?;
        self.await_idle()?;
        self.submissions = SubmissionRing::new(self.entries);
        self.completions = CompletionRing::new(self.entries);
        for word in 0..self.completion_offset(usize::from(self.entries)) / 8 {
            self.rings.word(8 * word).store(0, Ordering::Relaxed);
        }
        let submissions = self.rings.bus_address();
        let completions = submissions + self.completion_offset(0) as u64;
        let registers = &mut self.registers;
        SUBMISSION_BASE.write(registers, submissions)?;
        COMPLETION_BASE.write(registers, completions)?;
        LOG2_ENTRIES.write(registers, self.entries.trailing_zeros() as u8)?;
        let on = self.interrupt.is_some();
        ISR.clear(registers, Isr::default().with_completion(true).with_error(true))?;
        IER.write(registers, Ier::default().with_completion(on).with_error(on))?;
        GIE.write(registers, Gie::default().with_enable(on))?;
        // The zeroed rings are in memory before the device may look at them.
        fence(Ordering::Release);
        CONTROL.write(registers, Control::default().with_enable(true))?;
        self.stopped = None;
        self.check()
    }

    /// Waits until the disabled queue has nothing under way any more, so that nothing of it comes
    /// later and its rings are not touched.
    fn await_idle(&mut self) -> Result<(), QueueError> {
        let started = Instant::now();
        loop {
            let open = RETURN.read(&mut self.registers)?;
            if open == 0 {
                return Ok(());
            }
            if started.elapsed() > IDLE_BOUND {
                let what =
                    format!("{open} accesses of the disabled {} queue to end", self.kind.name);
                return Err(timeout(what, IDLE_BOUND));
            }
            thread::sleep(PAUSE_MAX);
        }
    }

    /// Writes a submission into the ring; the device looks at it once the doorbell is rung.
    fn push(&mut self, words: [u64; 8]) -> Result<(), QueueError> {
        self.check_stopped()?;
        let slot = match self.submissions.slot() {
            Some(slot) => slot,
            None => self.free_slot()?,
        };
        for (index, word) in words.into_iter().enumerate() {
            self.rings.word(slot * SUBMISSION_BYTES + 8 * index).store(word, Ordering::Relaxed);
        }
        self.submissions.push();
        Ok(())
    }

    /// Asks the device what it has fetched, to find room.
    fn free_slot(&mut self) -> Result<usize, QueueError> {
        let head = SUBMISSION_HEAD.read(&mut self.registers)?;
        if let Err(ImpossibleCount { found, least, most }) = self.submissions.fetched(head) {
            self.check()?;
            let detail = format!("SUBMISSION_HEAD is {found}, expected {least} to {most}");
            return Err(self.violation(detail));
        }
        match self.submissions.slot() {
            Some(slot) => Ok(slot),
            None => {
                self.check()?;
                Err(QueueError::Full { queue: self.kind.name, entries: self.entries })
            }
        }
    }

    /// Tells the device of all submissions written so far.
    fn ring_doorbell(&mut self) -> Result<(), QueueError> {
        self.check_stopped()?;
        // The submissions are in memory before the device is told.
        fence(Ordering::Release);
        Ok(SUBMISSION_TAIL.write(&mut self.registers, self.submissions.tail())?)
    }

    /// Takes the next completion out of the ring, if there is one. Touches no register but to give
    /// room back now and then.
    fn pop(&mut self) -> Result<Option<Completion>, QueueError> {
        self.check_stopped()?;
        let at = self.completion_offset(self.completions.slot());
        // Acquire: the device stores the other word first, so it is loaded after this one.
        let word0 = self.rings.word(at).load(Ordering::Acquire);
        if (word0 & PHASE_BIT != 0) != self.completions.phase() {
            return Ok(None);
        }
        let response = self.rings.word(at + 8).load(Ordering::Relaxed);
        if let Some(head) = self.completions.pop() {
            COMPLETION_HEAD.write(&mut self.registers, head)?;
        }
        Ok(Some(Completion {
            identifier: word0 as u16,
            status: (word0 >> 16) as u8,
            bytes: (word0 >> 32) as u32,
            response,
        }))
    }

    /// Waits for the next completion, by interrupt if one is to come. The ring decides: an interrupt
    /// is only a reason to look, so one too many costs a look, and a lost one at most [`SLICE`].
    fn wait(&mut self, by_interrupt: bool, bound: Duration) -> Result<Completion, QueueError> {
        let started = Instant::now();
        let mut pause = Duration::from_micros(1);
        let mut checked = started;
        loop {
            if let Some(completion) = self.pop()? {
                return Ok(completion);
            }
            let elapsed = started.elapsed();
            if elapsed >= bound {
                self.check()?;
                let what = format!("a completion of the {} queue", self.kind.name);
                return Err(timeout(what, bound));
            }
            if elapsed < SPIN {
                std::hint::spin_loop();
                continue;
            }
            let left = bound - elapsed;
            match &self.interrupt {
                Some(interrupt) if by_interrupt => match interrupt.wait(SLICE.min(left)) {
                    Ok(_) => continue,
                    Err(DeviceError::Timeout { .. }) => self.check()?,
                    Err(error) => return Err(error.into()),
                },
                _ => {
                    thread::sleep(pause.min(left));
                    pause = (2 * pause).min(PAUSE_MAX);
                    if checked.elapsed() >= SLICE {
                        self.check()?;
                        checked = Instant::now();
                    }
                }
            }
        }
    }

    /// Looks whether the device still runs the queue.
    fn check(&mut self) -> Result<(), QueueError> {
        let queue = self.kind.name;
        let error = ERROR.read(&mut self.registers)?;
        if error.bits() != 0 {
            let meaning = error::halt_meaning(error.cause());
            return Err(self.stop(QueueError::Halted { queue, code: error.bits(), meaning }));
        }
        if !CONTROL.read(&mut self.registers)?.enable() {
            return Err(self.stop(QueueError::Stopped { queue }));
        }
        Ok(())
    }

    fn check_stopped(&self) -> Result<(), QueueError> {
        self.stopped.clone().map_or(Ok(()), Err)
    }

    /// Remembers why the queue does not go on.
    fn stop(&mut self, error: QueueError) -> QueueError {
        self.stopped = Some(error.clone());
        error
    }

    fn violation(&mut self, detail: String) -> QueueError {
        let queue = self.kind.name;
        self.stop(QueueError::Violation { queue, detail })
    }

    fn completion_offset(&self, slot: usize) -> usize {
        usize::from(self.entries) * SUBMISSION_BYTES + slot * COMPLETION_BYTES
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // The device stops looking at the rings before they are taken away; one that is gone, or a
        // server that ended, has stopped.
        if CONTROL.write(&mut self.registers, Control::default()).is_ok() {
            let _ = self.await_idle();
        }
    }
}

/// Checks that a queue of the kind and a known version is there; gives its largest number of entries.
fn identify(registers: &mut Present<BlockRegisters>, kind: Kind) -> Result<u16, QueueError> {
    SIGNATURE.check(registers)?;
    let capabilities = CAPABILITIES.read(registers)?;
    let log2_entries = capabilities.largest_log2_entries();
    if capabilities.kind() != Some(kind.code) || log2_entries == 0 {
        return Err(QueueError::Device(DeviceError::Mismatch {
            register: format!("CAPABILITIES of the {} queue", kind.name),
            found: capabilities.bits().into(),
            expected: format!("kind {} in bits 7:0, at least 1 in bits 15:8", kind.code as u32),
        }));
    }
    Ok(1 << log2_entries.min(LOG2_ENTRIES_LARGEST))
}

/// Word 0 of a submission, but for its bits 63:32. Source: `docs/device.md`, "Submission".
fn header(identifier: u16, opcode: u8, interrupt: bool) -> u64 {
    u64::from(identifier) | u64::from(opcode) << 16 | u64::from(interrupt) << 24
}

fn out_of_range(field: &'static str, value: u64, expected: String) -> QueueError {
    QueueError::Device(DeviceError::OutOfRange { field, value, expected })
}

fn timeout(waited_for: String, bound: Duration) -> QueueError {
    QueueError::Timeout { waited_for, bound: format!("{bound:?}") }
}
