// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device at a near-data job: elements that find the rows, and the updates of those that
//! qualify, each the engine's own machine of a row's update.
//!
//! Locks are asked for at the lock unit's RTL; the re-check is one coherent load of the host's VID
//! map; new versions go to device memory, and an entry of each row to the host.

use std::collections::VecDeque;

use driver::lock_unit::stream::{Code, Tag, UnitOperation, UnitRequest, UnitResponse};
use lockdb::Isolation;
use lockdb::layout::{LinePointer, RecordId, placed_bytes};
use locks::Timestamp;
use locks::TupleKey;
use locks::machine::Rule;
use ndp_runtime::engine::{Action, Input, RowEnd, RowUpdate, Skipped};
use ndp_runtime::program::Program;
use sim::models::TupleLockUnit;
use sim::system::System;
use timing::Time;
use timing::platform::{NearDataTiming, Side};

use super::device_memory::{DeviceMemory, lines_of};
use super::element::{Counts, Element, ElementEvent, Found, Surroundings};
use super::image::DeviceImage;
use super::timer::{DeviceTimer, Timer};

/// Bytes of an entry of a result set (`docs/near-data-jobs.md`).
const ENTRY_BYTES: u64 = 32;

/// Entries that go over the link together.
const ENTRIES: u64 = 8;

/// Where new pages begin in device memory.
const NEW_PAGES: u64 = 1 << 45;

/// Tags of cancels follow those of acquires.
const CANCELS: usize = 64;

/// What a job does with the rows that qualify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Updates them under their locks; a row waits for its lock as long as `timeout`.
    Update { isolation: Isolation, timeout: Time },
    /// Updates them while somebody else has locked the table.
    UpdateUnlocked,
    /// Reads them.
    #[cfg(test)]
    Read,
}

/// A job.
pub(crate) struct JobPlan {
    pub image: DeviceImage,
    pub program: Program,
    pub task: Task,
    pub transaction: Timestamp,
    /// The elements have checked all pages in an earlier job.
    pub verified: bool,
    /// Steps of a row's update that a test leaves out.
    pub skipped: Skipped,
}

/// The outcome of a row that qualifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowDone {
    pub found: Found,
    pub end: RowEnd,
}

/// The outcome of a job.
#[derive(Clone, Debug)]
pub(crate) struct JobDone {
    pub rows: Vec<RowDone>,
    pub counts: Counts,
    /// When the elements had seen all of the table.
    pub walked: Time,
    /// Rows whose lock was not free, and how long they have waited for it altogether.
    pub lock_waits: u64,
    pub lock_wait: Time,
    /// Bytes of new versions.
    pub written: u64,
    /// Bytes of device memory read and written.
    pub memory_bytes: u64,
}

struct Job {
    plan: JobPlan,
    rows: Vec<RowDone>,
    queue: VecDeque<Found>,
    /// A row has ended the job; the others only come to their ends.
    cancelled: bool,
    walked: Option<Time>,
    lock_waits: u64,
    lock_wait: Time,
    written: u64,
    memory_before: u64,
    /// Entries that have not gone over the link yet.
    entries: u64,
}

struct Slot {
    found: Found,
    update: RowUpdate,
    key: TupleKey,
    /// Answers that are still to come: the slot is not given to another row before.
    open: u8,
    queued_since: Option<Time>,
    doing: Action,
}

pub(crate) struct SimulatedDevice {
    timing: NearDataTiming,
    memory: DeviceMemory,
    elements: Vec<Element>,
    slots: Vec<Option<Slot>>,
    /// Bumped with each row, so that timers of an earlier one are known as stale.
    generations: Vec<u32>,
    /// The engine that writes rows.
    writer: Time,
    /// The engine that finalizes pages.
    job: Option<Job>,
}

type Unit = System<TupleLockUnit>;

impl SimulatedDevice {
    pub fn new(timing: &NearDataTiming) -> Self {
        let elements = timing.elements.get().0 as u16;
        let slots = (timing.updates_in_flight.get().0 as usize).min(CANCELS);
        Self {
            memory: DeviceMemory::new(&timing.device_memory),
            elements: (0..elements).map(|number| Element::new(number, &timing.element)).collect(),
            slots: (0..slots).map(|_| None).collect(),
            generations: vec![0; slots],
            writer: Time::ZERO,
            job: None,
            timing: timing.clone(),
        }
    }

    pub fn memory(&mut self) -> &mut DeviceMemory {
        &mut self.memory
    }

    /// When so many bytes of new pages are stamped and, if `durable`, on the device's storage.
    pub fn finalize(&mut self, now: Time, bytes: u64, durable: bool) -> Time {
        // Each line is read and written.
        let moved = self.memory.access(now, NEW_PAGES, 2 * bytes.div_ceil(64));
        let stamped = moved.max(now + self.engine_time(bytes));
        let storage = &self.timing.storage;
        match durable {
            // Pages are written as they are stamped.
            true => {
                let written = now + storage.bandwidth.get().time_for(bytes);
                stamped.max(written) + storage.latency.get()
            }
            false => stamped,
        }
    }

    /// Bytes that an engine moves: the time that it takes.
    pub fn engine_time(&self, bytes: u64) -> Time {
        self.timing.engine_bandwidth.get().time_for(bytes)
    }

    /// From the arrival of shared state and program to the start of the elements.
    pub fn setup_time(&mut self, now: Time, image: &DeviceImage) -> Time {
        let bytes = image.page_map_bytes();
        let maps =
            self.memory.access(now, 0, bytes.div_ceil(64)).max(now + self.engine_time(bytes));
        let delta = now + self.engine_time(image.delta_bytes());
        maps.max(delta) + self.timing.job_setup.get()
    }

    /// Starts a job: the elements get their parts.
    ///
    /// # Panics
    /// When another one is under way.
    pub fn start(&mut self, system: &mut Unit, plan: JobPlan) {
        assert!(self.job.is_none(), "a job is under way");
        let (vids, elements) = (u64::from(plan.image.vids()), self.elements.len() as u64);
        let verified = plan.verified;
        self.job = Some(Job {
            plan,
            rows: Vec::new(),
            queue: VecDeque::new(),
            cancelled: false,
            walked: None,
            lock_waits: 0,
            lock_wait: Time::ZERO,
            written: 0,
            memory_before: self.memory.bytes(),
            entries: 0,
        });
        let first = |part: u64| (vids * part / elements) as u32;
        for part in 0..elements {
            self.element(system, part as usize, |element, around| {
                element.start(first(part)..first(part + 1), verified, around);
                None
            });
        }
    }

    /// Lets a timer of the device ring. Gives the end of the job.
    pub fn timer(&mut self, system: &mut Unit, timer: DeviceTimer) -> Option<JobDone> {
        match timer {
            DeviceTimer::Element(event) => self.element_event(system, event),
            DeviceTimer::Row { slot, generation } => {
                let slot = usize::from(slot);
                if self.generations[slot] == generation {
                    self.row_timer(system, slot);
                }
            }
            DeviceTimer::Finish => {}
        }
        self.finish(system)
    }

    /// The lock unit has answered.
    pub fn responded(&mut self, system: &mut Unit, response: &UnitResponse) -> Option<JobDone> {
        let tag = response.tag.index();
        let cancels = tag >= CANCELS;
        let slot = if cancels { tag - CANCELS } else { tag };
        let input = match (cancels, response.code) {
            (_, Code::Granted) => Input::Granted,
            (false, Code::Queued) => Input::Queued,
            (false, Code::RefusedFull | Code::RefusedContended) => Input::Refused,
            // Of an acquire: it waited in the place of another row, which has given up.
            (_, Code::Cancelled) => Input::Lost,
            // Too late: the acquire tells itself.
            (true, Code::NotWaiting) => {
                self.slot(slot).open -= 1;
                self.row(system, slot);
                return self.finish(system);
            }
            other => unreachable!("the lock unit answered a row's update {other:?}"),
        };
        let now = system.now();
        let row = self.slot(slot);
        let waited = match input {
            Input::Queued => {
                row.queued_since = Some(now);
                None
            }
            _ => row.queued_since.take(),
        };
        if input != Input::Queued {
            // A cancel that succeeds, or is granted, is the acquire's last answer as well.
            row.open -= if cancels { 2 } else { 1 };
        }
        row.update.resume(input);
        if let Some(since) = waited {
            let job = self.job();
            job.lock_waits += 1;
            job.lock_wait += now - since;
        }
        self.row(system, slot);
        self.finish(system)
    }

    /// A word of the host's VID map is there.
    pub fn loaded(&mut self, system: &mut Unit, slot: usize, word: u64) -> Option<JobDone> {
        let row = self.slot(slot);
        row.open -= 1;
        row.update.resume(Input::Head(RecordId::from_word(word)));
        self.row(system, slot);
        self.finish(system)
    }

    fn job(&mut self) -> &mut Job {
        self.job.as_mut().expect("what happens on the device belongs to a job")
    }

    fn slot(&mut self, slot: usize) -> &mut Slot {
        self.slots[slot].as_mut().expect("what is answered belongs to a row")
    }

    fn element(
        &mut self,
        system: &mut Unit,
        number: usize,
        what: impl FnOnce(&mut Element, &mut Surroundings) -> Option<Found>,
    ) -> Option<Found> {
        let job = self.job.as_ref().expect("elements work for a job");
        let now = system.now();
        let mut schedule = |time, event| {
            system.at(time, Timer::Device(DeviceTimer::Element(event)).encode());
        };
        let mut around = Surroundings {
            now,
            image: &job.plan.image,
            program: &job.plan.program,
            memory: &mut self.memory,
            schedule: &mut schedule,
        };
        what(&mut self.elements[number], &mut around)
    }

    fn element_event(&mut self, system: &mut Unit, event: ElementEvent) {
        let number = usize::from(event.element);
        let found = self.element(system, number, |element, around| element.handle(event, around));
        let Some(found) = found else { return };
        let job = self.job();
        if job.cancelled {
            return;
        }
        match job.plan.task {
            #[cfg(test)]
            Task::Read => {
                job.rows.push(RowDone { found, end: RowEnd::Written });
                self.entry(system);
            }
            Task::Update { .. } | Task::UpdateUnlocked => {
                job.queue.push_back(found);
                self.fill(system);
            }
        }
    }

    /// Gives free slots to rows that wait for one.
    fn fill(&mut self, system: &mut Unit) {
        while let Some(slot) = self.slots.iter().position(Option::is_none) {
            let job = self.job();
            let Some(found) = job.queue.pop_front() else { return };
            let (table, task) = (job.plan.image.table(), job.plan.task);
            let record = found.version.record;
            let mut update = match task {
                Task::Update { isolation, .. } => {
                    RowUpdate::skipping(record, isolation, job.plan.skipped)
                }
                _ => RowUpdate::new(record, Isolation::ReadCommitted),
            };
            if task == Task::UpdateUnlocked {
                // The holder of the table lock holds all its locks, and no other transaction
                // changes a head.
                update.resume(Input::Granted);
                update.resume(Input::Head(record));
            }
            let vid = u64::from(table) << 32 | u64::from(found.vid);
            let key = TupleKey::new(vid, found.version.number);
            self.generations[slot] = self.generations[slot].wrapping_add(1);
            let doing = Action::None;
            self.slots[slot] =
                Some(Slot { found, update, key, open: 0, queued_since: None, doing });
            self.row(system, slot);
        }
    }

    /// Does what the row's update says, if it is not being done already.
    fn row(&mut self, system: &mut Unit, number: usize) {
        let now = system.now();
        let generation = self.generations[number];
        let timer = DeviceTimer::Row { slot: number as u8, generation };
        let row_timer = Timer::Device(timer).encode();
        let (transaction, task) = (self.job().plan.transaction, self.job().plan.task);
        let slot = self.slots[number].as_mut().expect("the slot has a row");
        let action = slot.update.action();
        if action == Action::None {
            return self.row_ended(system, number);
        }
        if action == slot.doing {
            return;
        }
        slot.doing = action;
        let tag = |number: usize| Tag::new(number as u8).expect("slots have tags");
        match action {
            Action::AcquireLock => {
                slot.open += 1;
                let operation = UnitOperation::Acquire(slot.key, Rule::Queue);
                system.request(UnitRequest { tag: tag(number), transaction, operation });
            }
            Action::CancelLock => {
                slot.open += 1;
                let operation = UnitOperation::Cancel(tag(number));
                system.request(UnitRequest { tag: tag(CANCELS + number), transaction, operation });
            }
            Action::AwaitLock => {
                if let Task::Update { timeout, .. } = task {
                    system.at(now + timeout, row_timer);
                }
            }
            Action::AskLater => system.at(now + self.timing.ask_again.get(), row_timer),
            Action::LoadHead => {
                slot.open += 1;
                system.device_load(number as u64, slot.found.vid.into());
            }
            Action::Write => {
                slot.open += 1;
                let payload = slot.found.version.payload;
                let bytes = (placed_bytes(payload) + LinePointer::BYTES) as u64;
                let written = self.job().written;
                self.job().written += bytes;
                let lines = lines_of(NEW_PAGES + written, bytes);
                self.writer = now.max(self.writer) + self.engine_time(bytes);
                let there = self.memory.access(now, NEW_PAGES + written, lines);
                system.at(there.max(self.writer), row_timer);
            }
            Action::None => unreachable!("handled above"),
        }
    }

    /// A timer of a row: what it is for, its action says.
    fn row_timer(&mut self, system: &mut Unit, number: usize) {
        let Some(slot) = self.slots[number].as_mut() else { return };
        match slot.doing {
            Action::AwaitLock => slot.update.resume(Input::TimedOut),
            Action::AskLater => slot.update.resume(Input::Again),
            Action::Write => {
                slot.open -= 1;
                slot.update.resume(Input::Written);
            }
            _ => return,
        }
        self.row(system, number);
    }

    fn row_ended(&mut self, system: &mut Unit, number: usize) {
        let slot = self.slots[number].as_ref().expect("the slot has a row");
        if slot.open > 0 {
            return;
        }
        let Slot { found, update, .. } =
            self.slots[number].take().expect("it was checked just now");
        let end = update.end().expect("an update without an action has ended");
        let job = self.job();
        job.rows.push(RowDone { found, end });
        if !matches!(end, RowEnd::Written | RowEnd::Left) && !job.cancelled {
            self.cancel(system);
        }
        self.entry(system);
        self.fill(system);
    }

    /// The job has failed: nothing new begins.
    fn cancel(&mut self, system: &mut Unit) {
        let job = self.job();
        job.cancelled = true;
        job.queue.clear();
        self.elements.iter_mut().for_each(Element::stop);
        for number in 0..self.slots.len() {
            if let Some(slot) = &mut self.slots[number] {
                slot.update.resume(Input::Cancel);
                self.row(system, number);
            }
        }
    }

    /// An entry of the result set goes to the host, with others.
    fn entry(&mut self, system: &mut Unit) {
        let job = self.job();
        job.entries += 1;
        if job.entries == ENTRIES {
            job.entries = 0;
            system.send(Side::Host, ENTRIES * ENTRY_BYTES);
        }
    }

    /// Ends the job when nothing of it is under way any more.
    fn finish(&mut self, system: &mut Unit) -> Option<JobDone> {
        let now = system.now();
        let walked = self.elements.iter().all(Element::is_done);
        let busy_until = self.elements.iter().map(Element::busy_until).max();
        let idle = self.slots.iter().all(Option::is_none);
        let job = self.job.as_mut()?;
        if !walked {
            return None;
        }
        let walked = busy_until.expect("there are elements");
        if job.walked.replace(walked).is_none() && walked > now {
            system.at(walked, Timer::Device(DeviceTimer::Finish).encode());
        }
        if now < walked
            || !idle
            || !job.queue.is_empty()
            || self.elements.iter().any(Element::has_rows)
        {
            return None;
        }
        let job = self.job.take().expect("it was checked just now");
        if job.entries > 0 {
            system.send(Side::Host, job.entries * ENTRY_BYTES);
        }
        let mut counts = Counts::default();
        self.elements.iter().for_each(|element| counts.add(element.counts()));
        Some(JobDone {
            rows: job.rows,
            counts,
            walked,
            lock_waits: job.lock_waits,
            lock_wait: job.lock_wait,
            written: job.written,
            memory_bytes: self.memory.bytes() - job.memory_before,
        })
    }
}
