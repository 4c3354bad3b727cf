// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device model's queues: fetch, move, complete.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use driver::lock_unit::stream::{UnitOperation, UnitRequest, UnitResponse};
use driver::map::queue;

use super::Mutant;
use super::locks::Locks;
use super::lookups::LookUps;
use super::memory::{Memories, Spot};
use super::registers::{QUEUES, Registers};

/// Bytes moved at once.
const CHUNK: u64 = 64 << 10;
/// Copies open at once.
const MOVES: usize = 16;
/// The vector of each queue.
const QUEUE_VECTORS: [usize; 4] = [1, 2, 4, 5];
/// The queue of look-ups.
const LOOK_UPS: usize = 3;
/// The queue of jobs, and what their descriptors begin with.
const JOBS: usize = 2;
const MAGIC: u64 = 0x424A_4B4C;
/// How late data comes where it is late.
const LATE: Duration = Duration::from_millis(1);

#[derive(Default)]
pub struct Queues {
    moves: VecDeque<Move>,
    /// Completions that are to be written, by queue.
    ended: [VecDeque<Completion>; 4],
    last_job: Option<Completion>,
    look_ups: LookUps,
}

struct Move {
    identifier: u16,
    opcode: u8,
    interrupt: bool,
    source: u64,
    destination: u64,
    bytes: u64,
    moved: u64,
    not_before: Instant,
    told: bool,
}

#[derive(Clone, Copy)]
struct Completion {
    identifier: u16,
    status: u8,
    bytes: u32,
    response: u64,
    interrupt: bool,
}

/// What a piece of work may touch beside the queues.
pub struct Parts<'a> {
    pub registers: &'a mut Registers,
    pub memories: &'a Memories,
    pub locks: &'a mut Locks,
    /// The interrupts that the work raises.
    pub vectors: &'a mut Vec<usize>,
    pub mutant: Mutant,
}

impl Queues {
    /// Responses of the lock unit, to be written as completions.
    pub fn respond(&mut self, responses: Vec<UnitResponse>) {
        for response in responses {
            let identifier = response.tag.index() as u16;
            let response = response.encode();
            let (status, bytes, interrupt) = (0, 0, true);
            let completion = Completion { identifier, status, bytes, response, interrupt };
            self.ended[1].push_back(completion);
        }
    }

    pub fn reset(&mut self, mutant: Mutant) {
        let moves = std::mem::take(&mut self.moves);
        let last_job = self.last_job;
        *self = Self::default();
        if mutant == Mutant::JobsThroughReset {
            self.ended[JOBS].extend(last_job);
        }
        if mutant == Mutant::MovesThroughReset {
            let not_before = Instant::now() + LATE;
            let goes_on = |job| Move { told: true, not_before, ..job };
            self.moves = moves.into_iter().map(goes_on).collect();
        }
    }

    /// Does one piece of work; whether there was any.
    pub fn step(&mut self, parts: &mut Parts<'_>) -> bool {
        let mut busy = self.advance_move(parts);
        for (number, base) in QUEUES.into_iter().enumerate() {
            if parts.registers.get(base) & 1 == 0 && parts.mutant != Mutant::WorksThroughReset {
                continue;
            }
            busy |= self.complete(number, parts);
            let open = self.moves.len() + self.ended[number].len();
            if parts.registers.get(base) & 1 == 1 && open < MOVES {
                busy |= self.fetch(number, parts);
            }
        }
        busy
    }

    fn fetch(&mut self, number: usize, parts: &mut Parts<'_>) -> bool {
        let base = QUEUES[number];
        let head = parts.registers.get(base + queue::SUBMISSION_HEAD.offset()) as u16;
        let tail = parts.registers.get(base + queue::SUBMISSION_TAIL.offset()) as u16;
        if head == tail {
            return false;
        }
        let entries = 1u64 << parts.registers.get(base + queue::LOG2_ENTRIES.offset());
        let ring = parts.registers.pair(base + queue::SUBMISSION_BASE.offset());
        let address = ring + 64 * (u64::from(head) % entries);
        let Some(Spot { memory, offset }) = parts.memories.readable(address, 64) else {
            parts.registers.halt(base, 1);
            return parts.mutant != Mutant::NeverHalts;
        };
        let next = u32::from(head.wrapping_add(1));
        parts.registers.set(base + queue::SUBMISSION_HEAD.offset(), next);
        parts.registers.count(base + queue::SUBMISSIONS.offset(), 1);
        let word = |index: usize| memory.word(offset + 8 * index).load(Ordering::Acquire);
        let (identifier, opcode) = (word(0) as u16, (word(0) >> 16) as u8);
        if number == 1 {
            if opcode == 1 {
                let beat = [word(4), word(5), word(6)];
                let response = parts.locks.request(beat, parts.registers, parts.memories);
                let asked = UnitRequest::decode(beat).map(|request| request.operation);
                let of_poll = matches!(asked, Some(UnitOperation::Poll(_)));
                let response = parts.locks.after(
                    response,
                    of_poll,
                    parts.registers,
                    parts.vectors,
                    parts.mutant,
                );
                self.respond(vec![response]);
            } else {
                self.fail(number, identifier, 1, parts, true);
            }
            return true;
        }
        if number == LOOK_UPS {
            self.look_up(std::array::from_fn(word), parts);
        } else if number == JOBS {
            self.do_job(std::array::from_fn(word), parts);
        } else {
            self.begin_move(word, parts);
        }
        true
    }

    fn look_up(&mut self, words: [u64; 8], parts: &mut Parts<'_>) {
        let [word0, key, fields, version, value, ..] = words;
        let (identifier, opcode) = (word0 as u16, (word0 >> 16) as u8);
        let interrupt = word0 >> 24 & 1 == 1;
        if !(1..=2).contains(&opcode) {
            return self.fail(LOOK_UPS, identifier, 1, parts, interrupt);
        }
        let request = [key, fields, version, value];
        let (registers, memories) = (&mut *parts.registers, parts.memories);
        let done = self.look_ups.run(opcode, request, registers, memories, parts.mutant);
        if done.status != 0 {
            parts.registers.count(QUEUES[LOOK_UPS] + queue::FAILURES.offset(), 1);
        }
        let (status, bytes, response) = (done.status, done.version, done.result);
        let completion = Completion { identifier, status, bytes, response, interrupt };
        self.ended[LOOK_UPS].push_back(completion);
    }

    /// There is no storage: a job can only be refused.
    fn do_job(&mut self, words: [u64; 8], parts: &mut Parts<'_>) {
        let [word0, address, .., job] = words;
        let opcode = word0 >> 16 & 0xFF;
        let known = (1..=5).contains(&opcode) || parts.mutant == Mutant::TakesAnyJobOpcode;
        let (status, response) = match parts.memories.readable(address, 8) {
            _ if !known => (1, 0),
            _ if opcode != 1 => (25, if parts.mutant == Mutant::LosesLastWord { 0 } else { job }),
            None => (24, address),
            Some(_) if parts.mutant == Mutant::TakesAnyDescriptor => (0, 0),
            Some(spot) => {
                let magic = spot.memory.word(spot.offset).load(Ordering::Acquire);
                (20, if magic & 0xFFFF_FFFF == MAGIC { 4 } else { 0 })
            }
        };
        if status != 0 && parts.mutant != Mutant::ForgetsFailedJobs {
            parts.registers.count(QUEUES[JOBS] + queue::FAILURES.offset(), 1);
        }
        let response = if parts.mutant == Mutant::LosesDetails { 0 } else { response };
        let interrupt = word0 >> 24 & 1 == 1 || parts.mutant == Mutant::InterruptsAllJobs;
        let identifier = word0 as u16;
        let completion = Completion { identifier, status, bytes: 0, response, interrupt };
        self.ended[JOBS].push_back(completion);
        let doubled = parts.mutant == Mutant::EndsJobsTwice && word0 & 7 == 5;
        self.ended[JOBS].extend(doubled.then_some(completion));
        self.last_job = Some(completion);
    }

    fn begin_move(&mut self, word: impl Fn(usize) -> u64, parts: &mut Parts<'_>) {
        let mut job = Move {
            identifier: word(0) as u16,
            opcode: (word(0) >> 16) as u8,
            interrupt: word(0) >> 24 & 1 == 1,
            source: word(1),
            destination: word(2),
            bytes: word(0) >> 32,
            moved: 0,
            not_before: Instant::now(),
            told: false,
        };
        let known = (1..=3).contains(&job.opcode) || parts.mutant == Mutant::TakesAnyOpcode;
        let too_short = job.bytes == 0 && parts.mutant != Mutant::TakesNoLength;
        if !known || too_short || job.bytes > 1 << 30 {
            let status = if known { 2 } else { 1 };
            return self.fail(0, job.identifier, status, parts, job.interrupt);
        }
        if parts.mutant == Mutant::CompletesEarly {
            job.not_before += LATE;
            job.told = true;
            let bytes = job.bytes;
            self.end(job.identifier, 0, bytes, job.interrupt);
        }
        self.moves.push_back(job);
    }

    fn fail(
        &mut self,
        number: usize,
        identifier: u16,
        status: u8,
        parts: &mut Parts<'_>,
        interrupt: bool,
    ) {
        if parts.mutant != Mutant::ForgetsFailures {
            parts.registers.count(QUEUES[number] + queue::FAILURES.offset(), 1);
        }
        let status = if parts.mutant == Mutant::CallsFailuresDone { 0 } else { status };
        let (bytes, response) = (0, 0);
        let completion = Completion { identifier, status, bytes, response, interrupt };
        self.ended[number].push_back(completion);
    }

    fn end(&mut self, identifier: u16, status: u8, bytes: u64, interrupt: bool) {
        let bytes = bytes as u32;
        self.ended[0].push_back(Completion { identifier, status, bytes, response: 0, interrupt });
    }

    /// Moves a chunk of the oldest copy.
    fn advance_move(&mut self, parts: &mut Parts<'_>) -> bool {
        let Some(job) = self.moves.front_mut() else { return false };
        if parts.mutant == Mutant::NeverCompletes {
            return false;
        }
        if Instant::now() < job.not_before {
            return true;
        }
        let chunk = CHUNK.min(job.bytes - job.moved);
        let last = job.moved + chunk == job.bytes;
        let source_address = match parts.mutant {
            Mutant::DropsLowAddressBits => job.source & !3,
            _ => job.source,
        };
        let from = source_address.checked_add(job.moved);
        let to = job.destination.checked_add(job.moved);
        let place = |card: bool, address: Option<u64>, bytes, write| match (card, address) {
            (_, None) => None,
            (true, Some(address)) => parts.memories.on_card(address, bytes),
            (false, Some(address)) if write => parts.memories.writable(address, bytes),
            (false, Some(address)) => parts.memories.readable(address, bytes),
        };
        let source = place(job.opcode == 2, from, chunk, false);
        let destination = place(job.opcode == 1, to, chunk, true);
        let status = match (&source, &destination) {
            (None, _) if job.opcode == 2 => 5,
            (_, None) if job.opcode == 1 => 5,
            (None, _) => 3,
            (_, None) => 4,
            _ => 0,
        };
        if let (Some(source), Some(destination)) = (source, destination) {
            let mut data = vec![0; chunk as usize];
            source.memory.read(source.offset, &mut data);
            match parts.mutant {
                Mutant::OneByteTooMany if last => data.push(0x42),
                Mutant::OneByteShort if last => drop(data.pop()),
                _ => {}
            }
            let room = destination.memory.bytes() - destination.offset;
            data.truncate(room);
            destination.memory.write(destination.offset, &data);
            job.moved += chunk;
        }
        if status != 0 || job.moved == job.bytes {
            let job = self.moves.pop_front().expect("it was looked at");
            match (job.told, status) {
                (true, _) => {}
                (false, 0) => self.end(job.identifier, 0, job.bytes, job.interrupt),
                (false, _) => {
                    self.fail(0, job.identifier, status, parts, job.interrupt);
                }
            }
        }
        true
    }

    /// Writes a completion, unless the ring is full.
    fn complete(&mut self, number: usize, parts: &mut Parts<'_>) -> bool {
        let base = QUEUES[number];
        let tail = parts.registers.get(base + queue::COMPLETION_TAIL.offset()) as u16;
        let head = parts.registers.get(base + queue::COMPLETION_HEAD.offset()) as u16;
        let log2 = parts.registers.get(base + queue::LOG2_ENTRIES.offset());
        let full = u32::from(tail.wrapping_sub(head)) >= 1 << log2;
        if full && parts.mutant != Mutant::OverrunsRing {
            return false;
        }
        let Some(completion) = self.ended[number].pop_front() else { return false };
        let ring = parts.registers.pair(base + queue::COMPLETION_BASE.offset());
        let address = ring + 16 * (u64::from(tail) % (1 << log2));
        let Some(Spot { memory, offset }) = parts.memories.writable(address, 16) else {
            parts.registers.halt(base, 2);
            return true;
        };
        let Completion { identifier, status, bytes, response, interrupt } = completion;
        let phase = match parts.mutant {
            Mutant::PhaseStays => 1,
            _ => u64::from(!(tail >> log2) & 1),
        };
        let identifier = identifier ^ u16::from(parts.mutant == Mutant::WrongIdentifier) << 8;
        let word =
            u64::from(identifier) | u64::from(status) << 16 | phase << 24 | u64::from(bytes) << 32;
        memory.word(offset + 8).store(response, Ordering::Relaxed);
        memory.word(offset).store(word, Ordering::Release);
        parts
            .registers
            .set(base + queue::COMPLETION_TAIL.offset(), u32::from(tail.wrapping_add(1)));
        parts.registers.count(base + queue::COMPLETIONS.offset(), 1);
        if number != LOOK_UPS {
            parts.registers.count(base + queue::BYTES_MOVED.offset(), bytes.into());
        }
        if interrupt || parts.mutant == Mutant::InterruptsUnwanted {
            let status = parts.registers.get(base + queue::ISR.offset());
            parts.registers.set(base + queue::ISR.offset(), status | 1);
            let on = parts.registers.get(base + queue::GIE.offset()) & 1 == 1
                || parts.mutant == Mutant::IgnoresGlobalEnable;
            if on && parts.registers.get(base + queue::IER.offset()) & 1 == 1 {
                parts.registers.count(base + queue::INTERRUPTS.offset(), 1);
                let elsewhere = parts.mutant == Mutant::JobsInterruptElsewhere && number == JOBS
                    || parts.mutant == Mutant::LookUpsInterruptElsewhere && number == LOOK_UPS;
                parts.vectors.push(if elsewhere { 3 } else { QUEUE_VECTORS[number] });
            }
        }
        true
    }
}
