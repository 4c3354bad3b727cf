// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device in software: registers, queues and lock unit as the documents have them, behind the
//! driver's trait. It can be broken in many ways, each of which the suite must find.

pub mod mutant;

mod locks;
mod lookups;
mod memory;
mod registers;
mod work;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use driver::map::shell;
use driver::{
    AtomicRoute, Backend, DeviceError, HostMemory, Information, Interrupt, InterruptKind,
    MemoryNeeds, PAGE_BYTES, Space, Width,
};

use locks::Locks;
use memory::Memories;
pub use mutant::Mutant;
use registers::Registers;
use work::{Parts, Queues};

const VECTORS: usize = shell::INTERRUPT_COUNT.len();
const CARD_BYTES: usize = 16 << 20;

/// The device in software.
pub struct DeviceModel {
    information: Information,
    shared: Arc<Shared>,
    worker: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// Callers that wait for the state, to whom the worker gives way.
    callers: AtomicUsize,
    /// There may be work.
    work: Condvar,
    /// There may be interrupts.
    interrupts: Condvar,
}

struct State {
    mutant: Mutant,
    over: bool,
    registers: Registers,
    memories: Memories,
    queues: Queues,
    locks: Locks,
    /// Interrupts that nobody has taken, by vector.
    pending: [u64; VECTORS],
    enabled: [bool; VECTORS],
    raised: u64,
}

impl DeviceModel {
    /// A device with something wrong, at work.
    pub fn new(mutant: Mutant) -> Self {
        Self::with_memory(mutant, MemoryNeeds::Pages)
    }

    /// A device to which addresses are not translated.
    pub fn untranslated() -> Self {
        Self::with_memory(Mutant::None, MemoryNeeds::Contiguous)
    }

    fn with_memory(mutant: Mutant, memory: MemoryNeeds) -> Self {
        let state = State {
            mutant,
            over: false,
            registers: Registers::new(mutant),
            memories: Memories::new(CARD_BYTES, mutant),
            queues: Queues::default(),
            locks: Locks::default(),
            pending: [0; VECTORS],
            enabled: [false; VECTORS],
            raised: 0,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            callers: AtomicUsize::new(0),
            work: Condvar::new(),
            interrupts: Condvar::new(),
        });
        let worker = thread::spawn({
            let shared = Arc::clone(&shared);
            move || work(&shared)
        });
        let information = Information {
            name: format!("model:{mutant:?}"),
            bar_bytes: [0x1_0000, 0, CARD_BYTES as u64, 0, 0, 0],
            vectors: VECTORS as u32,
            memory,
            interrupts: InterruptKind::Event,
            atomics: AtomicRoute::Direct,
        };
        Self { information, shared, worker: Some(worker) }
    }
}

impl Drop for DeviceModel {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.work.notify_all();
        if let Some(worker) = self.worker.take() {
            // A panic of the worker has failed the test that waited for it.
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.callers.fetch_add(1, Ordering::SeqCst);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.callers.fetch_sub(1, Ordering::SeqCst);
        state
    }
}

/// The worker: one small piece of work after the other, each under the lock.
fn work(shared: &Shared) {
    loop {
        while shared.callers.load(Ordering::SeqCst) > 0 {
            thread::yield_now();
        }
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.over {
            return;
        }
        let before = state.pending;
        let busy = state.step();
        if state.pending != before {
            shared.interrupts.notify_all();
        }
        if !busy {
            // Nobody tells us when a host thread writes to a line that we wait for.
            let nap = Duration::from_micros(if state.locks.has_waiters() { 50 } else { 5000 });
            drop(shared.work.wait_timeout(state, nap));
        }
    }
}

impl State {
    /// Does one piece of work; whether there was any.
    fn step(&mut self) -> bool {
        let locks = self.locks.look(&mut self.registers, &self.memories, self.mutant);
        self.queues.respond(locks);
        let mut vectors = Vec::new();
        let busy = self.queues.step(&mut Parts {
            registers: &mut self.registers,
            memories: &self.memories,
            locks: &mut self.locks,
            vectors: &mut vectors,
            mutant: self.mutant,
        });
        for vector in vectors {
            self.raise(vector);
        }
        busy
    }

    fn raise(&mut self, vector: usize) {
        self.registers.count_interrupt(vector);
        self.raised += 1;
        let hundredth = self.raised.is_multiple_of(100);
        let times = match self.mutant {
            Mutant::LosesInterrupts if hundredth => 0,
            Mutant::RepeatsInterrupts if hundredth => 2,
            _ => 1,
        };
        let vector = match (self.mutant, vector) {
            (Mutant::ExchangesVectors, 1) => 2,
            (Mutant::ExchangesVectors, 2) => 1,
            (_, vector) => vector,
        };
        if self.enabled[vector] {
            self.pending[vector] += times;
        }
    }
}

fn out_of_range(field: &'static str, value: u64, expected: &str) -> DeviceError {
    DeviceError::OutOfRange { field, value, expected: expected.into() }
}

impl Backend for DeviceModel {
    fn information(&self) -> &Information {
        &self.information
    }

    fn read(&self, space: Space, offset: u64, width: Width) -> Result<u64, DeviceError> {
        let mut state = self.shared.lock();
        match space {
            Space::Configuration => Ok(state.registers.configuration(offset, width)),
            Space::Bar(0) => Ok(state.registers.read(offset, width)),
            Space::Bar(_) => Err(out_of_range("BAR", offset, "BAR0")),
        }
    }

    fn write(
        &self,
        space: Space,
        offset: u64,
        width: Width,
        value: u64,
    ) -> Result<(), DeviceError> {
        let mut state = self.shared.lock();
        match space {
            Space::Bar(0) => {}
            Space::Configuration => {
                state.registers.configure(offset, value);
                return Ok(());
            }
            Space::Bar(_) => return Err(out_of_range("BAR", offset, "BAR0")),
        }
        let forced = state.registers.write(offset, width, value);
        for vector in (0..VECTORS).filter(|vector| forced >> vector & 1 == 1) {
            state.raise(vector);
        }
        self.shared.interrupts.notify_all();
        self.shared.work.notify_all();
        Ok(())
    }

    fn map(&self, memory: &Arc<HostMemory>) -> Result<u64, DeviceError> {
        if self.information.memory == MemoryNeeds::Contiguous
            && memory.bytes() > memory.page_bytes()
        {
            return Err(out_of_range("memory", memory.bytes() as u64, "at most one page"));
        }
        Ok(self.shared.lock().memories.map(memory))
    }

    fn unmap(&self, address: u64) -> Result<(), DeviceError> {
        self.shared.lock().memories.unmap(address)
    }

    fn interrupt(&self, vector: u32) -> Result<Box<dyn Interrupt>, DeviceError> {
        let mut state = self.shared.lock();
        match state.enabled.get_mut(vector as usize) {
            Some(enabled) if !*enabled => *enabled = true,
            _ => return Err(out_of_range("vector", vector.into(), "one that is not enabled")),
        }
        state.pending[vector as usize] = 0;
        Ok(Box::new(Vector { shared: Arc::clone(&self.shared), vector }))
    }

    fn window(&self, bar: u8) -> Result<Option<Arc<HostMemory>>, DeviceError> {
        Ok((bar == 2).then(|| Arc::clone(self.shared.lock().memories.card())))
    }

    fn reset(&self) -> Result<(), DeviceError> {
        let mut state = self.shared.lock();
        let mutant = state.mutant;
        match mutant {
            Mutant::IgnoresReset => {}
            Mutant::WorksThroughReset => state.registers.reset(),
            _ => {
                state.registers.reset();
                state.queues.reset(mutant);
                state.locks = Locks::default();
            }
        }
        Ok(())
    }
}

struct Vector {
    shared: Arc<Shared>,
    vector: u32,
}

impl Interrupt for Vector {
    fn vector(&self) -> u32 {
        self.vector
    }

    fn take(&self) -> Result<u64, DeviceError> {
        Ok(std::mem::take(&mut self.shared.lock().pending[self.vector as usize]))
    }

    fn wait(&self, bound: Duration) -> Result<u64, DeviceError> {
        let begun = Instant::now();
        let mut state = self.shared.lock();
        loop {
            let came = std::mem::take(&mut state.pending[self.vector as usize]);
            if came > 0 {
                return Ok(came);
            }
            let Some(left) = bound.checked_sub(begun.elapsed()) else {
                return Err(DeviceError::Timeout {
                    waited_for: format!("an interrupt on vector {}", self.vector),
                    bound: format!("{bound:?}"),
                });
            };
            let woken = self.shared.interrupts.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Vector {
    fn drop(&mut self) {
        self.shared.lock().enabled[self.vector as usize] = false;
    }
}

/// Memory of a card.
fn card(bytes: usize) -> Arc<HostMemory> {
    Arc::new(HostMemory::allocate(bytes, PAGE_BYTES).expect("memory for the device model's card"))
}
