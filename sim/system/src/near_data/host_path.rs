// SPDX-License-Identifier: MIT OR Apache-2.0
//! The long update by the host: it fetches every page of the table that it does not have over the
//! link, evaluates the same program by the same machine, locks and changes rows itself.
//!
//! Each thread has a part of the VIDs and requests a number of pages ahead. All threads belong to
//! one transaction; one thread ends it.

use std::collections::BTreeSet;

use lockdb::device_reader::PageAt;
use lockdb::layout::RecordId;
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use ndp_runtime::program::{Evaluation, Outputs, evaluate_counting};
use timing::Time;
use timing::platform::Side;

use super::NearDataError;
use super::commit::{Commit, Held, Stopwatch};
use super::image::DeviceImage;
use super::machine::Machine;
use super::near::link_bytes;
use super::report::{LongReport, Phase};
use super::table::NewRow;
use super::timer::Timer;
use crate::workflow::Input;

const PAGE: u64 = lockdb::layout::PAGE_BYTES as u64;

/// Bytes that ask for a page: a descriptor.
const REQUEST: u64 = 16;

/// A core works so long at one time, so that others on it get their turns.
const SLICE: Time = Time::from_us(1);

/// The timer of the commit; those of pages are below.
const COMMIT: u64 = 1 << 50;

/// The tasks of a thread, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    /// Take a page, and check it.
    Page(usize),
    /// Visit a row that does not qualify, which takes so many instructions.
    Row { instructions: u64 },
    /// Visit and change a row.
    Change(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Working,
    WaitingForPage { since: Time },
    Locking { vid: u32, key: TupleKey },
    Done,
}

struct Thread {
    agent: usize,
    items: Vec<Item>,
    next: usize,
    /// Addresses in device memory.
    pages: Vec<u64>,
    arrived: Vec<bool>,
    asked: usize,
    taken: usize,
    doing: Doing,
}

/// See the module.
pub(crate) struct HostPath {
    transaction: Timestamp,
    threads: Vec<Thread>,
    watch: Stopwatch,
    bytes_before: u64,
    visible: u64,
    written: Vec<NewRow>,
    overtaken: u64,
    held: Held,
    commit: Option<Commit>,
    core_time: Time,
    page_wait: Time,
}

impl HostPath {
    /// Begins, by these agents.
    pub fn begin(
        machine: &mut Machine,
        agents: &[usize],
        transaction: Timestamp,
    ) -> Result<Self, NearDataError> {
        // What the host has in memory is what a shared state would have; nothing is sent.
        let area = machine.table.database.shared_state()?;
        let of = (machine.table.table.id(), area.snapshot());
        let image = DeviceImage::new(machine.table.storage()?, area.bytes().to_vec(), of)?;
        let vids = u64::from(image.vids());
        let first = |part: usize| (vids * part as u64 / agents.len() as u64) as u32;
        let mut path = Self {
            transaction,
            threads: Vec::new(),
            watch: Stopwatch::new(machine.now()),
            bytes_before: link_bytes(machine),
            visible: 0,
            written: Vec::new(),
            overtaken: 0,
            held: Held::default(),
            commit: None,
            core_time: Time::ZERO,
            page_wait: Time::ZERO,
        };
        for (part, &agent) in agents.iter().enumerate() {
            let thread = path.plan(machine, &image, agent, first(part)..first(part + 1))?;
            path.threads.push(thread);
        }
        for thread in 0..path.threads.len() {
            path.ask(machine, thread);
            path.work(machine, thread, machine.store.short_begin.get());
        }
        Ok(path)
    }

    /// What a thread will come across: the walk is the store's, over what the snapshot has.
    fn plan(
        &mut self,
        machine: &Machine,
        image: &DeviceImage,
        agent: usize,
        vids: std::ops::Range<u32>,
    ) -> Result<Thread, NearDataError> {
        let (mut items, mut pages, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
        for vid in vids {
            let mut record = image.head(vid);
            while !record.is_none() {
                let at = image.page_at(record.page());
                if matches!(at, PageAt::Stored(_)) && known.insert(record.page()) {
                    items.push(Item::Page(pages.len()));
                    pages.push(image.address(at));
                }
                let version = image.page(at).version(record.line().into());
                let (header, payload, _) = version.expect("the store's chains are whole");
                if header.created > image.snapshot() {
                    record = RecordId::from_word(header.predecessor);
                    continue;
                }
                self.visible += 1;
                let mut outputs = Outputs::default();
                let program = &machine.update.program;
                items.push(match evaluate_counting(program, payload, &mut outputs)? {
                    (Evaluation::Passes, _) => Item::Change(vid),
                    (Evaluation::Fails, instructions) => Item::Row { instructions },
                });
                break;
            }
        }
        let (arrived, doing) = (vec![false; pages.len()], Doing::Working);
        Ok(Thread { agent, items, next: 0, pages, arrived, asked: 0, taken: 0, doing })
    }

    /// Asks for pages, as many as may be under way.
    fn ask(&mut self, machine: &mut Machine, number: usize) {
        let thread = &mut self.threads[number];
        let most = machine.store.pages_in_flight.get().0 as usize;
        while thread.asked < thread.pages.len() && thread.asked - thread.taken < most {
            let there = machine.system.send(Side::Device, REQUEST);
            machine.system.at(there, page_timer(false, number, thread.asked));
            thread.asked += 1;
        }
    }

    fn work(&mut self, machine: &mut Machine, number: usize, length: Time) {
        self.core_time += length;
        self.threads[number].doing = Doing::Working;
        machine.work(self.threads[number].agent, length);
    }

    fn thread_of(&self, agent: usize) -> usize {
        let found = self.threads.iter().position(|thread| thread.agent == agent);
        found.expect("the agent is a thread of the update")
    }

    /// Continues with a thread's items, up to a slice's length.
    fn go_on(&mut self, machine: &mut Machine, number: usize) -> Result<(), NearDataError> {
        let mut length = Time::ZERO;
        while length < SLICE {
            let thread = &mut self.threads[number];
            match thread.items.get(thread.next) {
                None => break,
                Some(&Item::Page(page)) if !thread.arrived[page] => break,
                Some(Item::Page(_)) => {
                    thread.taken += 1;
                    length += machine.store.page_request.get();
                    length += machine.store.checksum.get().time_for(PAGE);
                    thread.next += 1;
                    self.ask(machine, number);
                }
                Some(&Item::Row { instructions }) => {
                    length += machine.visit_time(instructions);
                    thread.next += 1;
                }
                Some(&Item::Change(vid)) if length == Time::ZERO => {
                    return self.lock_newest(machine, number, vid);
                }
                Some(Item::Change(_)) => break,
            }
        }
        if length > Time::ZERO {
            self.work(machine, number, length);
            return Ok(());
        }
        let thread = &mut self.threads[number];
        thread.doing = match thread.next == thread.items.len() {
            true => Doing::Done,
            false => Doing::WaitingForPage { since: machine.now() },
        };
        if self.threads.iter().all(|thread| thread.doing == Doing::Done) {
            self.begin_commit(machine);
        }
        Ok(())
    }

    fn lock_newest(
        &mut self,
        machine: &mut Machine,
        number: usize,
        vid: u32,
    ) -> Result<(), NearDataError> {
        let visible = machine.visible_number(vid)?;
        let key = machine.table.lock_key(vid, visible);
        self.overtaken += u64::from(matches!(self.threads[number].doing, Doing::Locking { .. }));
        self.threads[number].doing = Doing::Locking { vid, key };
        machine.acquire(self.threads[number].agent, self.transaction, key, Rule::Queue);
        Ok(())
    }

    /// A thread's core has done what it was given. `true`: the update has ended.
    pub fn worked(&mut self, machine: &mut Machine, agent: usize) -> Result<bool, NearDataError> {
        if let Some(commit) = &mut self.commit {
            return Ok(commit.worked(machine, &mut self.watch));
        }
        let number = self.thread_of(agent);
        self.go_on(machine, number)?;
        Ok(false)
    }

    /// A timer of the update. `true`: the update has ended.
    pub fn timer(&mut self, machine: &mut Machine, timer: u64) -> Result<bool, NearDataError> {
        if timer == COMMIT {
            let commit = self.commit.as_mut().expect("it is committing");
            return Ok(commit.durable(machine, &mut self.watch)?);
        }
        let (read, number, page) = decode_page(timer);
        let address = self.threads[number].pages[page];
        match read {
            // At the device: its memory is read, and the page sent.
            PageStep::Asked => {
                let now = machine.now();
                let there = machine.device.memory().access(now, address, PAGE / 64);
                machine.system.at(there, page_timer(true, number, page));
            }
            PageStep::Read => {
                let there = machine.system.send(Side::Host, PAGE);
                machine.system.at(there, arrival_timer(number, page));
            }
            PageStep::Arrived => {
                let thread = &mut self.threads[number];
                thread.arrived[page] = true;
                if let Doing::WaitingForPage { since } = thread.doing
                    && thread.items[thread.next] == Item::Page(page)
                {
                    self.page_wait += machine.now() - since;
                    self.go_on(machine, number)?;
                }
            }
        }
        Ok(false)
    }

    /// The lock machine has come to something. `true`: the update has ended.
    pub fn locked(
        &mut self,
        machine: &mut Machine,
        agent: usize,
        input: &Input,
    ) -> Result<bool, NearDataError> {
        if let Some(commit) = &mut self.commit {
            return Ok(commit.released(machine, &mut self.watch));
        }
        let number = self.thread_of(agent);
        let Doing::Locking { vid, key } = self.threads[number].doing else {
            unreachable!("only a row that is to be changed is locked");
        };
        match input {
            Input::Granted { .. } => {
                self.held.insert(machine, key);
                let visible = machine.visible_number(vid)?;
                if machine.table.lock_key(vid, visible) != key {
                    self.lock_newest(machine, number, vid)?;
                    return Ok(false);
                }
                let (changed, length) = machine.change(vid, visible)?;
                self.written.extend(changed);
                self.threads[number].next += 1;
                self.work(machine, number, length);
            }
            Input::Queued { .. } => {}
            Input::Refused(_) => self.lock_newest(machine, number, vid)?,
            input => unreachable!("{input:?} does not answer a request for a lock"),
        }
        Ok(false)
    }

    fn begin_commit(&mut self, machine: &mut Machine) {
        self.watch.mark(machine.now(), Phase::Scan);
        let (rows, held) = (self.written.clone(), std::mem::take(&mut self.held));
        let by = (self.threads[0].agent, self.transaction);
        self.commit = Some(Commit::begin(machine, by, (rows, held), 0, COMMIT));
    }

    /// A word of the VID map is stored. `true`: the update has ended.
    pub fn word_done(&mut self, machine: &mut Machine) -> bool {
        let commit = self.commit.as_mut().expect("only a commit publishes");
        commit.published(machine, &mut self.watch)
    }

    /// Its outcome. Its new pages go back over the link, at the next flush.
    pub fn report(self, machine: &mut Machine) -> LongReport {
        let commit = self.commit.expect("an update that has ended has committed");
        let took = machine.now() - self.watch.began;
        let bytes = self.written.len() as u64 * (machine.payload + 36);
        let mut flushed = machine.now();
        for _ in 0..bytes.div_ceil(PAGE - 64) {
            flushed = machine.system.send(Side::Device, PAGE);
        }
        let pages: u64 = self.threads.iter().map(|thread| thread.pages.len() as u64).sum();
        LongReport {
            took,
            phases: self.watch.finish(),
            flush: flushed - machine.now(),
            visible: self.visible,
            changed: self.written.len() as u64,
            left: self.overtaken,
            lock_waits: 0,
            lock_wait: Time::ZERO,
            link_bytes: link_bytes(machine) - self.bytes_before,
            delta_bytes: 0,
            memory_bytes: pages * PAGE,
            page_checks: pages,
            core_time: self.core_time + commit.core_time,
            page_wait: self.page_wait,
        }
    }
}

enum PageStep {
    Asked,
    Read,
    Arrived,
}

fn page_timer(read: bool, thread: usize, page: usize) -> u64 {
    Timer::Long(u64::from(read) << 48 | (thread as u64) << 40 | page as u64).encode()
}

fn arrival_timer(thread: usize, page: usize) -> u64 {
    Timer::Long(1 << 49 | (thread as u64) << 40 | page as u64).encode()
}

fn decode_page(timer: u64) -> (PageStep, usize, usize) {
    let step = match timer >> 48 {
        0 => PageStep::Asked,
        1 => PageStep::Read,
        _ => PageStep::Arrived,
    };
    (step, (timer >> 40 & 0xFF) as usize, (timer & 0xFF_FFFF_FFFF) as usize)
}
