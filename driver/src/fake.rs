// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device for tests: the device side of the queues in a few lines, on the thread of the caller.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::lock_unit::stream::{Code, Tag, UnitRequest, UnitResponse};
use crate::map::device::{COPY_QUEUE, JOB_QUEUE, LOCK_QUEUE, LOCK_UNIT, LOOK_UP_QUEUE, SHELL};
use crate::map::{lock_unit, queue, shell};
use crate::{
    AtomicRoute, Backend, Device, DeviceError, HostMemory, Information, Interrupt, InterruptKind,
    MemoryNeeds, Space, Width, layout,
};

/// Bytes of card memory.
pub const CARD_BYTES: usize = 1 << 20;

/// What the fake holds, and how it misbehaves.
pub struct State {
    /// BAR0, by words; what is not here answers all-ones.
    pub registers: BTreeMap<u32, u32>,
    /// Configuration space, by words.
    pub configuration: BTreeMap<u64, u32>,
    /// The bits of it that can be written, by words.
    pub writable_configuration: BTreeMap<u64, u32>,
    pub card: Vec<u8>,
    pub memories: BTreeMap<u64, Arc<HostMemory>>,
    /// Completes nothing.
    pub hold: bool,
    /// Raises no interrupts.
    pub silent: bool,
    /// Completes what it has fetched in reverse order.
    pub reverse: bool,
    /// Put into the next completion instead of the right identifier.
    pub identifier: Option<u64>,
    /// Answers all-ones.
    pub gone: bool,
    /// Fetched and not completed, by queue: the words of a completion.
    waiting: [VecDeque<[u64; 2]>; 4],
}

/// The registers of each queue.
const QUEUES: [u32; 4] = [COPY_QUEUE, LOCK_QUEUE, JOB_QUEUE, LOOK_UP_QUEUE];
/// The vector of each queue.
const QUEUE_VECTORS: [u32; 4] =
    [layout::COPY_VECTOR, layout::LOCK_VECTOR, layout::JOB_VECTOR, layout::LOOK_UP_VECTOR];

#[derive(Default)]
struct Vector {
    raised: Mutex<u64>,
    changed: Condvar,
    /// The bounds of the waits so far.
    waits: Mutex<Vec<Duration>>,
}

pub struct Fake {
    pub information: Information,
    state: Mutex<State>,
    vectors: [Arc<Vector>; 6],
}

impl Fake {
    pub fn new(interrupts: InterruptKind) -> Arc<Self> {
        let information = Information {
            name: "fake:".into(),
            bar_bytes: [layout::BAR0_BYTES, 0, CARD_BYTES as u64, 0, 0, 0],
            vectors: 6,
            memory: MemoryNeeds::Pages,
            interrupts,
            atomics: AtomicRoute::Direct,
        };
        let mut state = State {
            registers: BTreeMap::new(),
            configuration: BTreeMap::from([
                (0x00, 0x4C53_10EE),
                // Memory enable and bus master.
                (0x04, 0x6),
                (0x2C, 0x4C53_10EE),
            ]),
            writable_configuration: BTreeMap::new(),
            card: vec![0; CARD_BYTES],
            memories: BTreeMap::new(),
            hold: false,
            silent: false,
            reverse: false,
            identifier: None,
            gone: false,
            waiting: Default::default(),
        };
        state.reset();
        Arc::new(Fake { information, state: Mutex::new(state), vectors: Default::default() })
    }

    pub fn device(self: &Arc<Self>) -> Device {
        Device::new(self.clone()).unwrap()
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        // A test that failed shall not make others of its threads fail for another reason.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the queues go on after the state was changed by hand.
    pub fn run(&self) {
        for (queue, vector) in QUEUE_VECTORS.into_iter().enumerate() {
            let raise = self.state().run(queue);
            (0..raise).for_each(|_| self.raise(vector));
        }
    }

    /// The bounds of all waits for an interrupt so far.
    pub fn waits(&self, vector: u32) -> Vec<Duration> {
        self.vectors[vector as usize].waits.lock().unwrap().clone()
    }

    pub fn raise(&self, vector: u32) {
        let count = shell::INTERRUPT_COUNT[vector as usize].offset();
        *self.state().registers.get_mut(&count).unwrap() += 1;
        let vector = &self.vectors[vector as usize];
        *vector.raised.lock().unwrap() += 1;
        vector.changed.notify_all();
    }
}

impl State {
    pub fn reset(&mut self) {
        self.registers.clear();
        self.waiting = Default::default();
        let mut set =
            |base: u32, offset: u32, value: u32| self.registers.insert(base + offset, value);
        let blocks = [
            (SHELL, shell::SIGNATURE, 20 << 16 | 6 << 8 | 4),
            (LOCK_UNIT, lock_unit::SIGNATURE, 0x0807),
            (COPY_QUEUE, queue::SIGNATURE, 0x0C01),
            (LOCK_QUEUE, queue::SIGNATURE, 0x0C02),
            (JOB_QUEUE, queue::SIGNATURE, 0x0C03),
            (LOOK_UP_QUEUE, queue::SIGNATURE, 0x0C04),
        ];
        for (base, signature, capabilities) in blocks {
            (0..0x100).step_by(4).for_each(|offset| _ = set(base, offset, 0));
            (0x200..0x240).step_by(4).for_each(|offset| _ = set(base, offset, 0));
            set(base, 0x100, signature.identity);
            set(base, 0x104, u32::from(signature.major) << 16 | u32::from(signature.minor));
            set(base, 0x108, capabilities);
        }
    }

    fn write_configuration(&mut self, at: u64, width: Width, value: u32) {
        let (word, shift) = (at & !3, 8 * (at & 3));
        let writable = self.writable_configuration.get(&word).copied().unwrap_or(0);
        let mask = (width.all_ones() as u32) << shift & writable;
        let word = self.configuration.entry(word).or_default();
        *word = *word & !mask | value << shift & mask;
    }

    fn register(&self, queue: usize, offset: u32) -> u32 {
        self.registers[&(QUEUES[queue] + offset)]
    }

    fn set(&mut self, queue: usize, offset: u32, value: u32) {
        self.registers.insert(QUEUES[queue] + offset, value);
    }

    fn address(&self, queue: usize, offset: u32) -> u64 {
        u64::from(self.register(queue, offset + 4)) << 32 | u64::from(self.register(queue, offset))
    }

    /// The memory at a device address, and where in it.
    fn find(&self, address: u64, bytes: usize) -> Option<(Arc<HostMemory>, usize)> {
        let (start, memory) = self.memories.range(..=address).next_back()?;
        let offset = usize::try_from(address - start).ok()?;
        (offset + bytes <= memory.bytes()).then(|| (memory.clone(), offset))
    }

    /// Fetches, executes and completes what it can; gives the number of interrupts to raise.
    fn run(&mut self, queue: usize) -> u32 {
        let mut interrupts = 0;
        if self.register(queue, queue::CONTROL.offset()) == 0 {
            return 0;
        }
        let entries = 1u64 << self.register(queue, queue::LOG2_ENTRIES.offset());
        let tail = self.register(queue, queue::SUBMISSION_TAIL.offset()) as u16;
        let mut head = self.register(queue, queue::SUBMISSION_HEAD.offset()) as u16;
        while head != tail {
            let base = self.address(queue, queue::SUBMISSION_BASE.offset());
            let Some((ring, at)) = self.find(base + u64::from(head) % entries * 64, 64) else {
                return self.halt(queue, queue::Cause::ReadSubmission);
            };
            let words = std::array::from_fn(|word| ring.word(at + 8 * word).load(Relaxed));
            head = head.wrapping_add(1);
            self.set(queue, queue::SUBMISSION_HEAD.offset(), head.into());
            let completion = match queue {
                0 => self.copy(words),
                1 => respond(words),
                2 => work(words),
                _ => look_up(words),
            };
            self.waiting[queue].push_back(completion);
        }
        while !self.hold && !self.waiting[queue].is_empty() {
            let tail = self.register(queue, queue::COMPLETION_TAIL.offset()) as u16;
            let consumed = self.register(queue, queue::COMPLETION_HEAD.offset()) as u16;
            if u64::from(tail.wrapping_sub(consumed)) == entries {
                break;
            }
            let base = self.address(queue, queue::COMPLETION_BASE.offset());
            let Some((ring, at)) = self.find(base + u64::from(tail) % entries * 16, 16) else {
                return self.halt(queue, queue::Cause::WriteCompletion);
            };
            let waiting = &mut self.waiting[queue];
            let next = if self.reverse { waiting.pop_back() } else { waiting.pop_front() };
            let [mut word0, word1] = next.unwrap();
            if let Some(identifier) = self.identifier.take() {
                word0 = word0 & !0xFFFF | identifier;
            }
            let wanted = word0 & 1 << 24 != 0;
            let phase = (u64::from(tail) / entries).is_multiple_of(2);
            ring.word(at + 8).store(word1, Relaxed);
            ring.word(at).store(word0 & !(1 << 24) | u64::from(phase) << 24, Release);
            self.set(queue, queue::COMPLETION_TAIL.offset(), tail.wrapping_add(1).into());
            let enabled = self.register(queue, queue::IER.offset()) & 1 != 0;
            interrupts += u32::from(wanted && enabled && !self.silent);
        }
        interrupts
    }

    fn halt(&mut self, queue: usize, cause: queue::Cause) -> u32 {
        self.set(queue, queue::CONTROL.offset(), 0);
        self.set(queue, queue::ERROR.offset(), cause as u32);
        0
    }

    /// Moves the bytes; gives the completion, with bit 24 as the wish for an interrupt.
    fn copy(&mut self, words: [u64; 8]) -> [u64; 2] {
        let bytes = (words[0] >> 32) as usize;
        let (from_card, to_card) = match words[0] >> 16 & 0xFF {
            1 => (false, true),
            2 => (true, false),
            3 => (false, false),
            _ => return [words[0] & 0x100_FFFF | 1 << 16, 0],
        };
        let mut moved = vec![0; bytes];
        let status = self
            .load(from_card, words[1], &mut moved)
            .and_then(|()| self.store(to_card, words[2], &moved))
            .map_or_else(|status| status, |()| 0);
        let bytes = if status == 0 { words[0] >> 32 << 32 } else { 0 };
        [words[0] & 0x100_FFFF | status << 16 | bytes, 0]
    }

    fn load(&self, card: bool, address: u64, into: &mut [u8]) -> Result<(), u64> {
        if card {
            let range = address as usize..address as usize + into.len();
            into.copy_from_slice(self.card.get(range).ok_or(5u64)?);
        } else {
            let (memory, at) = self.find(address, into.len()).ok_or(3u64)?;
            memory.read(at, into);
        }
        Ok(())
    }

    fn store(&mut self, card: bool, address: u64, from: &[u8]) -> Result<(), u64> {
        if card {
            let range = address as usize..address as usize + from.len();
            self.card.get_mut(range).ok_or(5u64)?.copy_from_slice(from);
        } else {
            let (memory, at) = self.find(address, from.len()).ok_or(4u64)?;
            memory.write(at, from);
        }
        Ok(())
    }
}

/// Grants every request. One that means nothing comes back as it was.
fn respond(words: [u64; 8]) -> [u64; 2] {
    let beat = [words[4], words[5], words[6]];
    let response = UnitRequest::decode(beat).map_or(words[4], |request| {
        let UnitRequest { tag, transaction, .. } = request;
        UnitResponse::plain(tag, Code::Granted, Some(transaction)).encode()
    });
    [Tag::of_request(beat).index() as u64 | 1 << 24, response]
}

/// Does a job: its status is the low byte of word 3, or 1 for an unknown opcode; the bytes of its
/// result are word 2, its detail is the sum of words 1 to 7.
fn work(words: [u64; 8]) -> [u64; 2] {
    let head = words[0] & 0x100_FFFF;
    if !(1..=5).contains(&(words[0] >> 16 & 0xFF)) {
        return [head | 1 << 16, 0];
    }
    let detail = words[1..].iter().fold(0, |sum: u64, word| sum.wrapping_add(*word));
    [head | (words[3] & 0xFF) << 16 | words[2] << 32, detail]
}

/// Looks nothing up: the status is the low byte of the key, the version that of the request, and the value the
/// sum of words 1 to 4.
fn look_up(words: [u64; 8]) -> [u64; 2] {
    let head = words[0] & 0x100_FFFF;
    if !(1..=2).contains(&(words[0] >> 16 & 0xFF)) {
        return [head | 1 << 16, 0];
    }
    let value = words[1..5].iter().fold(0, |sum: u64, word| sum.wrapping_add(*word));
    [head | (words[1] & 0xFF) << 16 | words[3] << 32, value]
}

impl Backend for Fake {
    fn information(&self) -> &Information {
        &self.information
    }

    fn read(&self, space: Space, offset: u64, width: Width) -> Result<u64, DeviceError> {
        let state = self.state();
        let word = |offset: u64| match space {
            _ if state.gone => u32::MAX,
            Space::Configuration => *state.configuration.get(&offset).unwrap_or(&0),
            Space::Bar(0) => *state.registers.get(&(offset as u32)).unwrap_or(&u32::MAX),
            Space::Bar(_) => u32::MAX,
        };
        let low = u64::from(word(offset & !3)) >> (8 * (offset & 3));
        let high = if width == Width::Eight { u64::from(word(offset + 4)) << 32 } else { 0 };
        Ok((low | high) & width.all_ones())
    }

    fn write(&self, space: Space, at: u64, width: Width, value: u64) -> Result<(), DeviceError> {
        if space == Space::Configuration {
            self.state().write_configuration(at, width, value as u32);
            return Ok(());
        }
        assert_eq!((space, width), (Space::Bar(0), Width::Four), "the fake takes words only");
        let (at, value) = (at as u32, value as u32);
        let mut state = self.state();
        if state.gone {
            return Ok(());
        }
        state.registers.insert(at, value);
        let Some(queue) = QUEUES.iter().position(|block| *block == at & !0xFFF) else {
            drop(state);
            if at == SHELL + shell::INTERRUPT_FORCE.offset() {
                (0..6).filter(|n| value >> n & 1 != 0).for_each(|n| self.raise(n));
            }
            return Ok(());
        };
        if at & 0xFFF == queue::CONTROL.offset() && value != 0 {
            for offset in [0x50, 0x60, 0x70, 0x80, 0x90] {
                state.set(queue, offset, 0);
            }
        }
        let raise = state.run(queue);
        drop(state);
        (0..raise).for_each(|_| self.raise(QUEUE_VECTORS[queue]));
        Ok(())
    }

    fn map(&self, memory: &Arc<HostMemory>) -> Result<u64, DeviceError> {
        let mut state = self.state();
        let end = state.memories.last_key_value().map_or(0x10_0000, |(address, memory)| {
            (address + memory.bytes() as u64).next_multiple_of(0x1_0000) + 0x1_0000
        });
        state.memories.insert(end, memory.clone());
        Ok(end)
    }

    fn unmap(&self, address: u64) -> Result<(), DeviceError> {
        let found = self.state().memories.remove(&address);
        found.map(|_| ()).ok_or(DeviceError::OutOfRange {
            field: "device address",
            value: address,
            expected: "one that a map gave".into(),
        })
    }

    fn interrupt(&self, vector: u32) -> Result<Box<dyn Interrupt>, DeviceError> {
        Ok(Box::new((vector, self.vectors[vector as usize].clone())))
    }

    fn window(&self, _bar: u8) -> Result<Option<Arc<HostMemory>>, DeviceError> {
        Ok(None)
    }

    fn reset(&self) -> Result<(), DeviceError> {
        self.state().reset();
        Ok(())
    }
}

impl Interrupt for (u32, Arc<Vector>) {
    fn vector(&self) -> u32 {
        self.0
    }

    fn take(&self) -> Result<u64, DeviceError> {
        Ok(std::mem::take(&mut *self.1.raised.lock().unwrap()))
    }

    fn wait(&self, bound: Duration) -> Result<u64, DeviceError> {
        self.1.waits.lock().unwrap().push(bound);
        let end = Instant::now() + bound;
        let mut raised = self.1.raised.lock().unwrap();
        while *raised == 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(DeviceError::Timeout {
                    waited_for: format!("vector {}", self.0),
                    bound: format!("{bound:?}"),
                });
            }
            raised = self.1.changed.wait_timeout(raised, left).unwrap().0;
        }
        Ok(std::mem::take(&mut *raised))
    }
}
