//! A device in this process: the engine, stepped by whoever waits for it.
//!
//! It takes no thread and no clock of its own, so that a test which runs all actors on one thread gets
//! the same bytes from the same seed; and it can be made to die, to hang, or to lose its link after so
//! many steps.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use driver::HostMemory;
use lockdb::device::PhysicalPages;
use lockdb::files::File;
use lockdb::layout::{PAGE_BYTES, PageBuffer};
use lockdb::{Database, Table};
use locks::machine::{Outcome, Place, Request, Rule};
use locks::{Timestamp, TupleKey};

use super::port::{Fenced, JobPort, Mapping, PortError};
use crate::engine::{
    Card, Engine, HostFault, LockAnswer, LockOperation, LockRequest, LockResponse, Stepped,
    Storage, StorageFault,
};
use crate::job::{JobCompletion, LockTable, Submission};

/// Nanoseconds that pass with a step of the engine.
const STEP: u64 = 100;

/// What goes wrong with a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It does nothing any more, and says so.
    Dies,
    /// It is reset: its jobs are lost, it takes new ones.
    Resets,
    /// It does nothing any more, and says nothing, until it is reset.
    Hangs,
    /// Nothing reaches the host any more; it goes on with what it has for so many steps, until it is
    /// reset.
    LinkBreaks {
        /// The most steps that it goes on.
        steps: u64,
    },
}

/// What troubles a device, from outside.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<Controlled>);

#[derive(Debug, Default)]
struct Controlled {
    steps: AtomicU64,
    /// Whether it cannot be reset.
    stubborn: AtomicBool,
    trouble: Mutex<Option<(u64, Trouble)>>,
}

impl Control {
    /// Steps that the engine has done.
    pub fn steps(&self) -> u64 {
        self.0.steps.load(Ordering::Relaxed)
    }

    /// After so many steps, counted from the device's beginning, this happens once.
    pub fn plan(&self, at_step: u64, trouble: Trouble) {
        *self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some((at_step, trouble));
    }

    /// From now on it can be reset or not.
    pub fn resist_resets(&self, resist: bool) {
        self.0.stubborn.store(resist, Ordering::Relaxed);
    }

    fn due(&self) -> Option<Trouble> {
        let mut planned = self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let due = planned.filter(|(at_step, _)| self.steps() >= *at_step)?;
        *planned = None;
        Some(due.1)
    }
}

/// A device in this process.
pub struct InProcess {
    engine: Engine,
    card: SoftwareCard,
    control: Control,
    /// Steps of the engine for each time that the host looks.
    steps_a_poll: u32,
    state: Condition,
    /// Whether the last step did something.
    works: bool,
    /// Tags by identifiers.
    open: BTreeMap<u16, u64>,
    next_identifier: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Well,
    Dead,
    /// It was reset, and the host has not seen that yet.
    Reset,
    Hanging,
    LinkBroken,
}

impl InProcess {
    /// A device beside a store, whose native storage is the file `pages`.
    pub fn new(database: &Database, pages: Arc<dyn File>, steps_a_poll: u32) -> Self {
        let card = SoftwareCard {
            database: database.clone(),
            pages: Pages(pages),
            memory: Arc::default(),
            now: 0,
            locks: SoftwareLocks::default(),
        };
        Self {
            engine: Engine::new(),
            card,
            control: Control::default(),
            steps_a_poll,
            state: Condition::Well,
            works: false,
            open: BTreeMap::new(),
            next_identifier: 0,
        }
    }

    /// What troubles it, and counts its steps.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Breaks the engine on purpose, for jobs that begin from now on.
    #[cfg(feature = "faults")]
    pub fn plant(&mut self, fault: Option<crate::engine::Fault>) {
        self.engine.plant(fault);
    }

    fn step(&mut self) {
        if let Some(trouble) = self.control.due() {
            self.suffer(trouble);
        }
        if self.state == Condition::Well {
            self.step_engine();
        }
    }

    fn step_engine(&mut self) {
        self.card.now += STEP;
        self.control.0.steps.fetch_add(1, Ordering::Relaxed);
        self.works = self.engine.step(&mut self.card) == Stepped::Worked;
    }

    fn suffer(&mut self, trouble: Trouble) {
        self.state = match trouble {
            Trouble::Dies => Condition::Dead,
            Trouble::Hangs => Condition::Hanging,
            Trouble::Resets => {
                self.restart();
                Condition::Reset
            }
            Trouble::LinkBreaks { steps } => {
                (0..steps).for_each(|_| self.step_engine());
                Condition::LinkBroken
            }
        };
    }

    /// As after a reset: jobs and requests are gone.
    fn restart(&mut self) {
        self.engine = Engine::new();
        self.card.locks = SoftwareLocks::default();
        self.open.clear();
    }
}

impl JobPort for InProcess {
    fn map(&mut self, memory: &Arc<HostMemory>) -> Result<Box<dyn Mapping>, PortError> {
        let start = memory.start().as_ptr().addr() as u64;
        let maps = &self.card.memory;
        maps.lock().unwrap_or_else(PoisonError::into_inner).insert(start, memory.clone());
        Ok(Box::new(Mapped { start, maps: Arc::downgrade(maps) }))
    }

    fn reach_locks(&mut self, database: &Database) -> Result<u64, PortError> {
        Ok(database.lock_table().buckets().as_ptr().addr() as u64)
    }

    fn reach_vid_map(&mut self, table: &Table) -> Result<u64, PortError> {
        Ok(table.vid_map().words().as_ptr().addr() as u64)
    }

    fn submit(&mut self, tag: u64, submission: Submission) -> Result<(), PortError> {
        self.check()?;
        let identifier = self.next_identifier;
        self.next_identifier = identifier.wrapping_add(1);
        self.open.insert(identifier, tag);
        self.engine.submit(Submission { identifier, ..submission });
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<(u64, JobCompletion)>, PortError> {
        (0..self.steps_a_poll).for_each(|_| self.step());
        self.check()?;
        if self.state == Condition::Hanging {
            return Ok(None);
        }
        let Some(done) = self.engine.completion() else { return Ok(None) };
        let tag = self.open.remove(&done.identifier).ok_or(PortError::Completion {
            found: done.identifier.into(),
            expected: "the identifier of an open submission",
        })?;
        Ok(Some((tag, done)))
    }

    /// It gets on while it is polled; when it waits for others, so does the caller.
    fn rest(&mut self, bound: Duration) -> Duration {
        match self.works && self.state == Condition::Well {
            true => Duration::ZERO,
            false => bound.min(Duration::from_micros(50)),
        }
    }

    fn check(&mut self) -> Result<(), PortError> {
        match self.state {
            Condition::Well | Condition::Hanging => Ok(()),
            Condition::Reset => Err(PortError::Reset),
            Condition::Dead => Err(PortError::Gone("it is dead".into())),
            Condition::LinkBroken => Err(PortError::Gone("its link is broken".into())),
        }
    }

    fn fence(&mut self) -> Result<Fenced, PortError> {
        if self.control.0.stubborn.load(Ordering::Relaxed) {
            return Err(PortError::Gone("it cannot be reset".into()));
        }
        self.restart();
        match self.state {
            Condition::Dead => Ok(Fenced::Dead),
            _ => {
                self.state = Condition::Well;
                Ok(Fenced::Restarted)
            }
        }
    }
}

type Maps = Mutex<BTreeMap<u64, Arc<HostMemory>>>;

struct Mapped {
    start: u64,
    maps: Weak<Maps>,
}

impl Mapping for Mapped {
    fn device_address(&self) -> u64 {
        self.start
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if let Some(maps) = self.maps.upgrade() {
            maps.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.start);
        }
    }
}

/// Native storage, as the store's own file of pages.
struct Pages(Arc<dyn File>);

impl PhysicalPages for Pages {
    fn read(&self, physical: u64, into: &mut PageBuffer) -> bool {
        let offset = physical.checked_mul(PAGE_BYTES as u64);
        offset.is_some_and(|offset| self.0.read_at(offset, &mut into.0).is_ok())
    }
}

/// A card of which everything is in this process. Device addresses are addresses of this process.
struct SoftwareCard {
    database: Database,
    pages: Pages,
    memory: Arc<Maps>,
    now: u64,
    locks: SoftwareLocks,
}

impl SoftwareCard {
    /// The memory in which `bytes` from an address on lie, and the offset there.
    fn find(&self, address: u64, bytes: usize) -> Result<(Arc<HostMemory>, usize), HostFault> {
        let maps = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let before = maps.range(..=address).next_back();
        let found = before.map(|(start, memory)| (memory.clone(), (address - start) as usize));
        let inside = |(memory, offset): &(Arc<HostMemory>, usize)| {
            offset.checked_add(bytes).is_some_and(|end| end <= memory.bytes())
        };
        found.filter(inside).ok_or(HostFault { address })
    }
}

impl Card for SoftwareCard {
    fn now(&self) -> u64 {
        self.now
    }

    fn storage(&self) -> Storage {
        Arc::new(Pages(self.pages.0.clone()))
    }

    fn write_page(&mut self, physical: u64, page: &PageBuffer) -> Result<(), StorageFault> {
        let offset = physical.checked_mul(PAGE_BYTES as u64);
        let offset = offset.ok_or_else(|| StorageFault(format!("there is no page {physical}")))?;
        self.pages.0.write_at(offset, &page.0).map_err(|error| StorageFault(error.to_string()))
    }

    fn sync(&mut self) -> Result<(), StorageFault> {
        self.pages.0.sync().map_err(|error| StorageFault(error.to_string()))
    }

    fn read_host(&mut self, address: u64, into: &mut [u8]) -> Result<(), HostFault> {
        let (memory, offset) = self.find(address, into.len())?;
        memory.read(offset, into);
        Ok(())
    }

    fn write_host(&mut self, address: u64, bytes: &[u8]) -> Result<(), HostFault> {
        let (memory, offset) = self.find(address, bytes.len())?;
        memory.write(offset, bytes);
        Ok(())
    }

    fn load_host(&mut self, address: u64) -> Result<u64, HostFault> {
        for table in self.database.tables() {
            let words = table.vid_map().words();
            let first = words.as_ptr().addr() as u64;
            let word = address.checked_sub(first).map(|offset| (offset / 8) as usize);
            if let Some(word) = word.and_then(|word| words.get(word))
                && address.is_multiple_of(8)
            {
                return Ok(word.load(Ordering::Acquire));
            }
        }
        Err(HostFault { address })
    }

    fn place_lock_table(&mut self, table: LockTable) {
        let expected = self.database.lock_table().buckets().as_ptr().addr() as u64;
        assert_eq!(table.address, expected, "the lock table is that of the store");
    }

    fn request_lock(&mut self, request: LockRequest) -> bool {
        self.locks.request(self.database.lock_table(), request);
        true
    }

    fn lock_response(&mut self) -> Option<LockResponse> {
        self.locks.responses.pop_front()
    }
}

/// The lock unit as a program, on the table itself (`docs/lock-unit.md`).
#[derive(Default)]
struct SoftwareLocks {
    responses: VecDeque<LockResponse>,
    /// By their tags.
    waiting: BTreeMap<u8, Waiting>,
}

#[derive(Clone, Copy)]
struct Waiting {
    timestamp: Timestamp,
    bucket: usize,
    place: Place,
}

impl SoftwareLocks {
    fn request(&mut self, table: &locks::LockTable, request: LockRequest) {
        let LockRequest { tag, timestamp, operation } = request;
        match operation {
            LockOperation::Acquire(key) => self.acquire(table, tag, timestamp, key),
            LockOperation::Poll(target) => self.control(table, tag, target, Request::Poll),
            LockOperation::Cancel(target) => self.control(table, tag, target, Request::Cancel),
        }
    }

    fn acquire(&mut self, table: &locks::LockTable, tag: u8, timestamp: Timestamp, key: TupleKey) {
        let bucket = table.bucket_of(key);
        let outcome = table.run(timestamp, bucket, Request::Acquire(Rule::Queue));
        if let Outcome::Queued { place, .. } = outcome {
            self.waiting.insert(tag, Waiting { timestamp, bucket, place });
        }
        self.respond(tag, answer(outcome), false);
    }

    fn control(
        &mut self,
        table: &locks::LockTable,
        tag: u8,
        target: u8,
        request: impl FnOnce(Place) -> Request,
    ) {
        let Some(&Waiting { timestamp, bucket, place }) = self.waiting.get(&target) else {
            return self.respond(tag, LockAnswer::NotWaiting, false);
        };
        let request = request(place);
        let outcome = table.run(timestamp, bucket, request);
        self.respond(tag, answer(outcome), false);
        if let Outcome::Queued { .. } = outcome {
            return;
        }
        self.waiting.remove(&target);
        if matches!(request, Request::Poll(_)) {
            self.respond(target, answer(outcome), true);
        }
    }

    fn respond(&mut self, tag: u8, answer: LockAnswer, notice: bool) {
        self.responses.push_back(LockResponse { tag, answer, notice });
    }
}

fn answer(outcome: Outcome) -> LockAnswer {
    match outcome {
        Outcome::Granted { again } => LockAnswer::Granted { again },
        Outcome::Queued { .. } => LockAnswer::Queued,
        Outcome::Refused(_) => LockAnswer::Refused,
        Outcome::Cancelled => LockAnswer::Cancelled,
        Outcome::BusError => LockAnswer::BusError,
        Outcome::Released { .. } | Outcome::NotHeld => {
            unreachable!("no release is asked for, but {outcome:?}")
        }
    }
}
