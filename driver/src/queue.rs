//! Queues: rings in host memory, a doorbell, completions with a phase bit.
//!
//! The order that matters (`docs/driver.md`, "Ordering"): the words of a submission are stored before
//! the doorbell is rung; the phase word of a completion is loaded with acquire before its other word.

mod ring;

mod copy;
mod error;
mod lock;
#[cfg(test)]
mod tests;

use std::sync::atomic::{Ordering, fence};
use std::thread;
use std::time::{Duration, Instant};

pub use copy::{CopyCommand, CopyDone, CopyQueue, Direction, Status, Ticket};
pub use error::QueueError;
pub use lock::LockQueue;

use crate::device::Device;
use crate::{BlockRegisters, DeviceError, DmaBuffer, Interrupt, InterruptKind, Width};
use ring::{CompletionRing, SubmissionRing};

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
const REST_BOUND: Duration = Duration::from_secs(1);

/// Register offsets of a queue. Source: `hw/regs/queue.rdl`.
mod offset {
    pub const CONTROL: u32 = 0x000;
    pub const GLOBAL_INTERRUPT_ENABLE: u32 = 0x004;
    pub const INTERRUPT_ENABLE: u32 = 0x008;
    pub const INTERRUPT_STATUS: u32 = 0x00C;
    pub const RETURN: u32 = 0x010;
    pub const SUBMISSION_BASE: u32 = 0x020;
    pub const COMPLETION_BASE: u32 = 0x030;
    pub const LOG2_ENTRIES: u32 = 0x040;
    pub const SUBMISSION_TAIL: u32 = 0x050;
    pub const COMPLETION_HEAD: u32 = 0x060;
    pub const SUBMISSION_HEAD: u32 = 0x070;
    pub const ERROR: u32 = 0x090;
    pub const IDENTITY: u32 = 0x100;
    pub const VERSION: u32 = 0x104;
    pub const CAPABILITIES: u32 = 0x108;
}

/// "LSQU" in ASCII.
const IDENTITY_VALUE: u32 = 0x4C53_5155;
/// The major version that this driver knows.
const VERSION_MAJOR: u32 = 1;
/// Bit 0 of CONTROL, GIE, IER and ISR.
const BIT_0: u64 = 1;
/// Bits of IER and ISR: completion and error.
const INTERRUPTS: u64 = 3;
/// Bits 23:16 of a completion's word 0 are the status, bit 24 the phase.
const PHASE_BIT: u64 = 1 << 24;

/// Which queue, and what is told apart by it.
#[derive(Debug, Clone, Copy)]
struct Kind {
    name: &'static str,
    /// Bits 7:0 of CAPABILITIES.
    code: u32,
    /// Offset of its block in BAR0.
    base: u64,
    vector: u32,
    /// Whether RETURN counts what is under way.
    counts_open: bool,
}

/// What the device says of one submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Completion {
    identifier: u16,
    status: u8,
    bytes: u32,
    response: u64,
}

/// What both queues have in common: one device queue and its rings.
struct Queue {
    kind: Kind,
    registers: BlockRegisters,
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
        let registers = device.block(kind.base);
        let entries_max = identify(&registers, kind)?;
        if !ring::is_ring_size(entries) || entries > entries_max {
            return Err(out_of_range(
                "entries",
                entries.into(),
                format!("a power of two from 2 to {entries_max}"),
            ));
        }
        if registers.read_present(offset::CONTROL)? != 0 {
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
        self.write(offset::CONTROL, 0)?;
        self.await_rest()?;
        self.submissions = SubmissionRing::new(self.entries);
        self.completions = CompletionRing::new(self.entries);
        for word in 0..self.rings_bytes() / 8 {
            self.rings.word(8 * word).store(0, Ordering::Relaxed);
        }
        let submissions = self.rings.device_address();
        let completions = submissions + self.completion_offset(0) as u64;
        self.write_address(offset::SUBMISSION_BASE, submissions)?;
        self.write_address(offset::COMPLETION_BASE, completions)?;
        self.write(offset::LOG2_ENTRIES, self.entries.trailing_zeros().into())?;
        self.write(offset::INTERRUPT_STATUS, INTERRUPTS)?;
        let interrupts = if self.interrupt.is_some() { INTERRUPTS } else { 0 };
        self.write(offset::INTERRUPT_ENABLE, interrupts)?;
        self.write(offset::GLOBAL_INTERRUPT_ENABLE, interrupts & BIT_0)?;
        // The zeroed rings are in memory before the device may look at them.
        fence(Ordering::Release);
        self.write(offset::CONTROL, BIT_0)?;
        self.stopped = None;
        self.check()
    }

    /// Waits until nothing that was open before is under way, so that nothing of it comes later.
    fn await_rest(&self) -> Result<(), QueueError> {
        if !self.kind.counts_open {
            return Ok(());
        }
        let started = Instant::now();
        loop {
            let open = self.registers.read_present(offset::RETURN)?;
            if open == 0 {
                return Ok(());
            }
            if started.elapsed() > REST_BOUND {
                return Err(self.timeout(format!("{open} open submissions to end"), REST_BOUND));
            }
            thread::sleep(PAUSE_MAX);
        }
    }

    /// Writes a submission into the ring; the device looks at it once the doorbell is rung.
    fn push(&mut self, words: [u64; 7]) -> Result<(), QueueError> {
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
        let head = self.registers.read_present(offset::SUBMISSION_HEAD)?;
        let told = u16::try_from(head).ok().map(|head| self.submissions.fetched(head));
        if !matches!(told, Some(Ok(()))) {
            self.check()?;
            let detail = format!(
                "SUBMISSION_HEAD is {head}, expected the count of entries fetched, at most {}",
                self.submissions.tail()
            );
            return Err(self.stop(QueueError::Violation { queue: self.kind.name, detail }));
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
        self.write(offset::SUBMISSION_TAIL, self.submissions.tail().into())
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
            self.write(offset::COMPLETION_HEAD, head.into())?;
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
                return Err(self.timeout(what, bound));
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
        let code = self.registers.read_present(offset::ERROR)?;
        if code != 0 {
            let meaning = error::halt_meaning(code);
            return Err(self.stop(QueueError::Halted { queue, code, meaning }));
        }
        if self.registers.read_present(offset::CONTROL)? == 0 {
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

    fn timeout(&self, waited_for: String, bound: Duration) -> QueueError {
        QueueError::Timeout { waited_for, bound: format!("{bound:?}") }
    }

    fn completion_offset(&self, slot: usize) -> usize {
        usize::from(self.entries) * SUBMISSION_BYTES + slot * COMPLETION_BYTES
    }

    fn rings_bytes(&self) -> usize {
        self.completion_offset(usize::from(self.entries))
    }

    fn write(&self, offset: u32, value: u64) -> Result<(), QueueError> {
        Ok(self.registers.write(offset, Width::Four, value)?)
    }

    fn write_address(&self, offset: u32, address: u64) -> Result<(), QueueError> {
        self.write(offset, address & 0xFFFF_FFFF)?;
        self.write(offset + 4, address >> 32)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // The device stops looking at the rings before they are taken away; one that is gone has
        // stopped.
        let _ = self.registers.write(offset::CONTROL, Width::Four, 0);
    }
}

/// Checks that a queue of the kind and a known version is there; gives its largest number of entries.
fn identify(registers: &BlockRegisters, kind: Kind) -> Result<u16, QueueError> {
    let mismatch = |register: &str, found: u32, expected: String| {
        QueueError::Device(DeviceError::Mismatch {
            register: format!("{register} of the {} queue", kind.name),
            found: found.into(),
            expected,
        })
    };
    let identity = registers.read_present(offset::IDENTITY)?;
    if identity != IDENTITY_VALUE {
        return Err(mismatch("IDENTITY", identity, format!("0x{IDENTITY_VALUE:X} (\"LSQU\")")));
    }
    let version = registers.read_present(offset::VERSION)?;
    if version >> 16 != VERSION_MAJOR {
        return Err(mismatch("VERSION", version, format!("major version {VERSION_MAJOR}")));
    }
    let capabilities = registers.read_present(offset::CAPABILITIES)?;
    let log2_entries = capabilities >> 8 & 0xFF;
    if capabilities & 0xFF != kind.code || log2_entries == 0 {
        let expected = format!("kind {} in bits 7:0, at least 1 in bits 15:8", kind.code);
        return Err(mismatch("CAPABILITIES", capabilities, expected));
    }
    Ok(1 << log2_entries.min(ring::LOG2_ENTRIES_MAX))
}

fn out_of_range(field: &'static str, value: u64, expected: String) -> QueueError {
    QueueError::Device(DeviceError::OutOfRange { field, value, expected })
}
