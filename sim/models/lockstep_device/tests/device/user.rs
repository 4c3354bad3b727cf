// SPDX-License-Identifier: MIT OR Apache-2.0
//! Software that uses the device's queues, with the oracle at its side.

use driver::map::device::{COPY_QUEUE, JOB_QUEUE, LOCK_QUEUE, LOCK_UNIT, LOOK_UP_QUEUE, SHELL};
use driver::map::{lock_unit, queue, shell};
use driver::queue::ring::{CompletionRing, SubmissionRing};

use crate::bench::{Bench, Config, Event, TABLE_LOG2_BUCKETS};
use crate::mover::MOVES;
use crate::oracle::{Completion, Kind, Oracle, Rings};

/// Bytes between the rings of two enablements, which are never those of the one before.
const RING_BYTES: u64 = 0x2_0000;

/// Software's side of one queue.
pub struct QueueUser {
    /// Offset of its registers.
    pub block: u32,
    submissions: SubmissionRing,
    completions: CompletionRing,
    /// Completions consumed since enabling.
    pub consumed: usize,
    pub oracle: Oracle,
    /// The enablement before this one, whose last accesses may still come.
    old: Option<Oracle>,
    generation: u64,
    pub enabled: bool,
    /// What the counters of the device must say of the enablements before this one.
    past: Counts,
}

/// Counters of a queue.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    pub submissions: u64,
    pub completions: u64,
    pub interrupts: u64,
}

/// Software, and what it knows of the whole device.
pub struct User {
    pub bench: Bench,
    pub queues: [QueueUser; 4],
    /// Which submission each open move is for: generation and number.
    moves: [Option<(u64, usize)>; MOVES],
    /// Which submission each job was: generation and number.
    jobs: Vec<(u64, usize)>,
    /// By queue.
    pub bytes_moved: [u64; 4],
    pub moves_failed: u64,
    /// Interrupts that came, by vector.
    pub interrupts: [u64; 6],
    pub forced: [u64; 6],
}

/// The kind of each queue, and where its registers are.
const QUEUES: [(Kind, u32); 4] = [
    (Kind::Copy, COPY_QUEUE),
    (Kind::Lock, LOCK_QUEUE),
    (Kind::Job, JOB_QUEUE),
    (Kind::LookUp, LOOK_UP_QUEUE),
];

/// Of the rings of the look-up queue.
const LOOK_UP_LOG2_ENTRIES: u32 = 5;

fn queue_user(number: usize, log2_entries: u32) -> QueueUser {
    let (kind, block) = QUEUES[number];
    let rings = Rings { submissions: 0, completions: 0, log2_entries };
    QueueUser {
        block,
        submissions: SubmissionRing::new(1 << log2_entries),
        completions: CompletionRing::new(1 << log2_entries),
        consumed: 0,
        oracle: Oracle::new(kind, rings),
        old: None,
        generation: 0,
        enabled: false,
        past: Counts::default(),
    }
}

impl User {
    /// A device after reset with the lock unit switched on, and queues of these sizes off. The rings of the
    /// look-up queue have 32 entries.
    pub fn new(config: &Config, log2_entries: [u32; 3]) -> Result<Self, String> {
        let [copies, locks, jobs] = log2_entries;
        let log2_entries = [copies, locks, jobs, LOOK_UP_LOG2_ENTRIES];
        let mut user = User {
            bench: Bench::new(config),
            queues: std::array::from_fn(|number| queue_user(number, log2_entries[number])),
            moves: [None; MOVES],
            jobs: Vec::new(),
            bytes_moved: [0; 4],
            moves_failed: 0,
            interrupts: [0; 6],
            forced: [0; 6],
        };
        let table = user.bench.places.table;
        user.write64(LOCK_UNIT + lock_unit::TABLE_BASE.offset(), table)?;
        user.write(LOCK_UNIT + lock_unit::TABLE_LOG2_BUCKETS.offset(), TABLE_LOG2_BUCKETS)?;
        user.write(LOCK_UNIT + lock_unit::CONTROL.offset(), 1)?;
        Ok(user)
    }

    /// Lets cycles pass.
    pub fn clocks(&mut self, cycles: u64) -> Result<(), String> {
        for _ in 0..cycles {
            self.bench.clock()?;
            self.look()?;
        }
        Ok(())
    }

    /// Hands what the device did to the oracles.
    fn look(&mut self) -> Result<(), String> {
        while let Some(event) = self.bench.events.pop_front() {
            let seen = match event {
                Event::Access(access) => {
                    let queue = self.queues.get_mut(usize::from(access.id));
                    let queue = queue.ok_or_else(|| format!("{access:?}: no such queue"))?;
                    queue.access(&access)
                }
                Event::Move(beat) => self.commanded(&beat),
                Event::Moved(beat) => self.ended(beat),
                Event::Job(beat) => self.job_begun(&beat),
                Event::JobDone(number, beat) => self.job_done(number, beat),
                Event::Interrupt(vector) => {
                    let count = self.interrupts.get_mut(usize::from(vector));
                    count.map(|n| *n += 1).ok_or_else(|| format!("interrupt of vector {vector}"))
                }
            };
            seen.map_err(|wrong| format!("cycle {}: {wrong}", self.bench.cycle))?;
        }
        Ok(())
    }

    fn commanded(&mut self, beat: &[u64; 3]) -> Result<(), String> {
        let queue = &mut self.queues[0];
        let old = queue.old.as_mut().and_then(|old| old.command(beat).ok());
        let (generation, index) = match old {
            Some(index) => (queue.generation - 1, index),
            None => (queue.generation, queue.oracle.command(beat)?),
        };
        // The mover has checked the tag.
        self.moves[beat[0] as usize & 0xF] = Some((generation, index));
        Ok(())
    }

    fn ended(&mut self, beat: u64) -> Result<(), String> {
        let (status, bytes) = ((beat >> 16) as u8, (beat >> 32) as u32);
        let open = self.moves[beat as usize & 0xF].take();
        let (generation, index) = open.ok_or_else(|| format!("end {beat:#x} of no move"))?;
        self.bytes_moved[0] += u64::from(bytes);
        self.moves_failed += u64::from(status != 0);
        if generation == self.queues[0].generation {
            self.queues[0].oracle.end(index, status, bytes);
        }
        Ok(())
    }

    fn job_begun(&mut self, beat: &[u64; 8]) -> Result<(), String> {
        let queue = &mut self.queues[2];
        let old = queue.old.as_mut().and_then(|old| old.begin_job(beat).ok());
        self.jobs.push(match old {
            Some(index) => (queue.generation - 1, index),
            None => (queue.generation, queue.oracle.begin_job(beat)?),
        });
        Ok(())
    }

    fn job_done(&mut self, number: Option<usize>, beat: [u64; 2]) -> Result<(), String> {
        // One of nobody must have no effect.
        let Some(number) = number else { return Ok(()) };
        let &(generation, _) = self.jobs.get(number).ok_or_else(|| format!("{beat:x?}: no job"))?;
        self.bytes_moved[2] += beat[0] >> 32;
        if generation == self.queues[2].generation {
            self.queues[2].oracle.end_job(beat);
        }
        Ok(())
    }

    pub fn read(&mut self, address: u32) -> Result<u32, String> {
        let value = self.bench.read(address)?;
        self.look()?;
        Ok(value)
    }

    pub fn read64(&mut self, address: u32) -> Result<u64, String> {
        let value = self.bench.read64(address)?;
        self.look()?;
        Ok(value)
    }

    pub fn write(&mut self, address: u32, value: u32) -> Result<(), String> {
        self.bench.write(address, value)?;
        self.look()
    }

    pub fn write64(&mut self, address: u32, value: u64) -> Result<(), String> {
        self.bench.write64(address, value)?;
        self.look()
    }

    /// Raises interrupts by hand.
    pub fn force(&mut self, vectors: u32) -> Result<(), String> {
        (0..6).for_each(|n| self.forced[n] += u64::from(vectors >> n & 1));
        self.write(SHELL + shell::INTERRUPT_FORCE.offset(), vectors)
    }

    /// Switches a queue that is off on, with new rings and all interrupts.
    pub fn enable(&mut self, number: usize) -> Result<(), String> {
        let user = &mut self.queues[number];
        assert!(!user.enabled);
        user.generation += 1;
        let place =
            self.bench.places.rings + RING_BYTES * (2 * number as u64 + user.generation % 2);
        let log2_entries = user.oracle.rings.log2_entries;
        let completions = place + (64 << log2_entries);
        let rings = Rings { submissions: place, completions, log2_entries };
        let fresh = Oracle::new(user.oracle.kind, rings);
        user.old = Some(std::mem::replace(&mut user.oracle, fresh));
        user.submissions = SubmissionRing::new(rings.entries() as u16);
        user.completions = CompletionRing::new(rings.entries() as u16);
        user.consumed = 0;
        user.enabled = true;
        let block = user.block;
        for word in 0..2 * rings.entries() as u64 {
            self.bench.rings.store(completions + 8 * word, 0).map_err(|e| e.to_string())?;
        }
        self.write64(block + queue::SUBMISSION_BASE.offset(), rings.submissions)?;
        self.write64(block + queue::COMPLETION_BASE.offset(), rings.completions)?;
        self.write(block + queue::LOG2_ENTRIES.offset(), log2_entries)?;
        self.write(block + queue::GIE.offset(), 1)?;
        self.write(block + queue::IER.offset(), 3)?;
        self.write(block + queue::CONTROL.offset(), 1)
    }

    /// Switches a queue off, or finds it halted, and settles its counts.
    pub fn disable(&mut self, number: usize) -> Result<(), String> {
        let block = self.queues[number].block;
        self.write(block + queue::CONTROL.offset(), 0)?;
        let fetched = self.read(block + queue::SUBMISSION_HEAD.offset())? as usize;
        let written = self.read(block + queue::COMPLETION_TAIL.offset())? as usize;
        let user = &mut self.queues[number];
        // Counts are of 16 bits; no enablement here is that long.
        if fetched > user.oracle.asked || written > user.oracle.stored.len() {
            return Err(format!("queue {number} says {fetched} fetched, {written} written"));
        }
        user.past.submissions += fetched as u64;
        user.past.completions += written as u64;
        user.past.interrupts += user.oracle.interrupts(written);
        user.enabled = false;
        Ok(())
    }

    /// Waits until a queue that is off has nothing under way, after which it must be still.
    pub fn await_idle(&mut self, number: usize) -> Result<(), String> {
        let address = self.queues[number].block + queue::RETURN.offset();
        for _ in 0..10_000 {
            if self.read(address)? == 0 {
                let user = &mut self.queues[number];
                user.old = None;
                user.oracle = Oracle::new(user.oracle.kind, user.oracle.rings);
                return Ok(());
            }
        }
        Err(format!("queue {number} does not come to rest"))
    }

    /// Whether the submission ring has a free slot; asks the device when it seems full.
    pub fn has_room(&mut self, number: usize) -> Result<bool, String> {
        let head = self.queues[number].block + queue::SUBMISSION_HEAD.offset();
        if self.queues[number].submissions.is_full() {
            let fetched = self.read(head)? as u16;
            let told = self.queues[number].submissions.fetched(fetched);
            told.map_err(|count| format!("SUBMISSION_HEAD: {count:?}"))?;
        }
        Ok(!self.queues[number].submissions.is_full())
    }

    /// Writes a submission into the ring, unless it is full.
    pub fn submit(&mut self, number: usize, words: [u64; 8]) -> Result<bool, String> {
        if !self.has_room(number)? {
            return Ok(false);
        }
        let user = &mut self.queues[number];
        let Some(slot) = user.submissions.slot() else { return Ok(false) };
        let place = user.oracle.rings.submissions + 64 * slot as u64;
        for (address, word) in (place..).step_by(8).zip(words) {
            self.bench.rings.store(address, word).map_err(|error| error.to_string())?;
        }
        user.submissions.push();
        user.oracle.write(words);
        Ok(true)
    }

    /// Rings the doorbell.
    pub fn ring(&mut self, number: usize) -> Result<(), String> {
        let user = &mut self.queues[number];
        user.oracle.ring();
        let (address, tail) =
            (user.block + queue::SUBMISSION_TAIL.offset(), user.submissions.tail());
        self.write(address, tail.into())
    }

    /// Consumes a completion if one is there, and tells the device when it is due.
    pub fn consume(&mut self, number: usize) -> Result<Option<Completion>, String> {
        let user = &mut self.queues[number];
        let place = user.oracle.rings.completions + 16 * user.completions.slot() as u64;
        let load = |address| self.bench.rings.load(address).expect("rings are in memory");
        let (word0, word1) = (load(place), load(place + 8));
        if (word0 >> 24 & 1 == 1) != user.completions.phase() {
            return Ok(None);
        }
        let count = user.consumed;
        let stored = user.oracle.stored.get(count).copied();
        let found = stored.filter(|one| (one.word0, one.word1) == (word0, word1));
        let found = found.ok_or_else(|| {
            format!("completion {count} is {word0:#x} {word1:#x}, but {stored:x?} was stored")
        })?;
        user.consumed += 1;
        if let Some(head) = user.completions.pop() {
            let address = user.block + queue::COMPLETION_HEAD.offset();
            user.oracle.consumed(user.consumed);
            self.write(address, head.into())?;
        }
        Ok(Some(found))
    }

    /// The counts that a queue's counters must show once all is still.
    pub fn expected(&self, number: usize) -> Counts {
        let user = &self.queues[number];
        let stored = user.oracle.stored.len();
        Counts {
            submissions: user.past.submissions + user.oracle.asked as u64,
            completions: user.past.completions + stored as u64,
            interrupts: user.past.interrupts + user.oracle.interrupts(stored),
        }
    }

    /// Their contents.
    pub fn counted(&mut self, number: usize) -> Result<Counts, String> {
        let block = self.queues[number].block;
        Ok(Counts {
            submissions: self.read64(block + queue::SUBMISSIONS.offset())?,
            completions: self.read64(block + queue::COMPLETIONS.offset())?,
            interrupts: self.read64(block + queue::INTERRUPTS.offset())?,
        })
    }

    /// Lets the device become still; it must say so.
    pub fn settle(&mut self) -> Result<(), String> {
        for _ in 0..5_000 {
            self.clocks(1)?;
            let still = self.bench.model.outputs().idle_o;
            if still && self.bench.mover.open() == 0 && self.bench.worker.open() == 0 {
                return self.clocks(200);
            }
        }
        Err("the device does not become idle".into())
    }

    /// INTERRUPT_COUNT is what came.
    pub fn check_interrupt_counts(&mut self) -> Result<(), String> {
        for vector in 0..6 {
            let address = SHELL + shell::INTERRUPT_COUNT[vector].offset();
            let (found, came) = (self.read(address)?, self.interrupts[vector]);
            if u64::from(found) != came {
                return Err(format!("INTERRUPT_COUNT[{vector}] is {found}, but {came} came"));
            }
        }
        Ok(())
    }

    /// Bytes and failures of a queue; without restarts the failures are known exactly.
    pub fn check_work_counters(&mut self, number: usize, exact: bool) -> Result<(), String> {
        let block = self.queues[number].block;
        let (bytes, expected) =
            (self.read64(block + queue::BYTES_MOVED.offset())?, self.bytes_moved[number]);
        if bytes != expected {
            return Err(format!("BYTES_MOVED of queue {number} is {bytes}, but {expected} were"));
        }
        let failures = self.read64(block + queue::FAILURES.offset())?;
        let stored = &self.queues[number].oracle.stored;
        let expected = stored.iter().filter(|one| one.word0 >> 16 & 0xFF != 0).count() as u64;
        if exact && failures != expected || failures < expected {
            return Err(format!("FAILURES of queue {number} is {failures}, expected {expected}"));
        }
        Ok(())
    }

    /// An interrupt that is no completion's and must come: of an error.
    pub fn expect_interrupt(&mut self, number: usize) {
        self.queues[number].past.interrupts += 1;
    }
}

impl QueueUser {
    fn access(&mut self, access: &sim::bus::axi4::MemoryAccess) -> Result<(), String> {
        if let Some(old) = &mut self.old
            && old.access(access).is_ok()
        {
            return Ok(());
        }
        self.oracle.access(access)
    }
}
