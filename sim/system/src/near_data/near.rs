// SPDX-License-Identifier: MIT OR Apache-2.0
//! The long update near the data: the host's part of it.

use lockdb::Isolation;
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use ndp_runtime::engine::{RowEnd, Skipped};
use ndp_runtime::program::Program;
use timing::Time;
use timing::platform::Side;

use super::NearDataError;
use super::commit::{Commit, Held, Stopwatch};
use super::device::{JobDone, JobPlan, RowDone, Task};
use super::image::DeviceImage;
use super::machine::Machine;
use super::report::{LongReport, Phase};
use super::table::NewRow;
use super::timer::Timer;
use crate::workflow::Input;

/// Bytes of a submission of the job queue, of a completion, and of a descriptor with assignments
/// (`docs/near-data-jobs.md`).
const SUBMISSION: u64 = 64;
const COMPLETION: u64 = 16;
const DESCRIPTOR: u64 = 512;

/// Bytes of a page reservation, and of its entry in the log record.
const RESERVATION: u64 = 16;

/// Longest that a row may wait for its lock.
const TIMEOUT: Time = Time::from_us(10_000);

const PAGE: u64 = lockdb::layout::PAGE_BYTES as u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    AtTheGate,
    Collecting,
    /// The doorbell is on its way to the device.
    Submitting,
    /// The device's request for descriptor and shared state is on its way to the host.
    Asking,
    /// They are on their way to the device.
    Fetching,
    SettingUp,
    Working,
    Completing,
    /// An entry of the result set: its loads are under way, or the core notes it.
    Adopting {
        row: usize,
        loads: u8,
    },
    Left {
        row: usize,
        key: TupleKey,
    },
    Evaluating {
        row: usize,
    },
    /// The core reserves pages.
    Reserving,
    /// The commit looks at the head of each written row: how many were asked for and are there.
    Rechecking {
        asked: usize,
        there: usize,
    },
    FinalizeAsked,
    Finalizing,
    Finalized,
    Committing,
}

/// How it is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    /// With the whole table locked.
    pub locks_table: bool,
    /// The elements have checked the table's pages in an earlier job.
    pub verified: bool,
    /// It counts when it is on storage.
    pub durable: bool,
}

/// See the module.
pub(crate) struct NearUpdate {
    agent: usize,
    transaction: Timestamp,
    how: How,
    step: Step,
    watch: Stopwatch,
    bytes_before: u64,
    image: Option<DeviceImage>,
    delta_bytes: u64,
    done: Option<JobDone>,
    /// VIDs of rows that were left to the host.
    left: Vec<u32>,
    written: Vec<NewRow>,
    /// Those of them that the device has written.
    adopted: usize,
    held: Held,
    commit: Option<Commit>,
    core_time: Time,
}

impl NearUpdate {
    /// Begins, by a host agent of its own.
    pub fn begin(
        machine: &mut Machine,
        (agent, transaction): (usize, Timestamp),
        how: How,
    ) -> Result<Self, NearDataError> {
        let mut update = Self {
            agent,
            transaction,
            how,
            step: Step::AtTheGate,
            watch: Stopwatch::new(machine.now()),
            bytes_before: link_bytes(machine),
            image: None,
            delta_bytes: 0,
            done: None,
            left: Vec::new(),
            written: Vec::new(),
            adopted: 0,
            held: Held::default(),
            commit: None,
            core_time: Time::ZERO,
        };
        machine.gate.closed = how.locks_table;
        if !how.locks_table || machine.gate.inside == 0 {
            update.collect(machine)?;
        }
        Ok(update)
    }

    /// The last short update has let go of the table.
    pub fn gate_empty(&mut self, machine: &mut Machine) -> Result<(), NearDataError> {
        match self.step {
            Step::AtTheGate => self.collect(machine),
            _ => Ok(()),
        }
    }

    /// Takes the snapshot, with the shared state that belongs to it.
    fn collect(&mut self, machine: &mut Machine) -> Result<(), NearDataError> {
        if self.how.locks_table {
            self.watch.mark(machine.now(), Phase::Gate);
        }
        let area = machine.table.database.shared_state()?;
        let of = (machine.table.table.id(), area.snapshot());
        let image = DeviceImage::new(machine.table.storage()?, area.bytes().to_vec(), of)?;
        self.delta_bytes = image.delta_bytes();
        self.image = Some(image);
        self.step = Step::Collecting;
        let collect = machine.store.collect.get().time_for(self.delta_bytes);
        self.work(machine, machine.store.short_begin.get() + collect);
        Ok(())
    }

    fn work(&mut self, machine: &mut Machine, length: Time) {
        self.core_time += length;
        machine.work(self.agent, length);
    }

    /// Sends over the link; the timer tells the arrival.
    fn send(&mut self, machine: &mut Machine, side: Side, bytes: u64, step: Step) {
        self.step = step;
        let there = machine.system.send(side, bytes);
        machine.system.at(there, Timer::Long(0).encode());
    }

    /// The agent's core has done what it was given. `true`: the update has ended.
    pub fn worked(&mut self, machine: &mut Machine) -> Result<bool, NearDataError> {
        match self.step {
            Step::Collecting => {
                self.watch.mark(machine.now(), Phase::Begin);
                self.send(machine, Side::Device, SUBMISSION, Step::Submitting);
            }
            Step::Completing => self.adopt(machine, 0)?,
            Step::Adopting { row, .. } => self.adopt(machine, row + 1)?,
            Step::Reserving => self.recheck(machine, 0, 0),
            Step::Evaluating { row } => {
                self.next_left(machine, row + 1)?;
            }
            Step::Finalized => self.begin_commit(machine),
            Step::Committing => {
                let commit = self.commit.as_mut().expect("it is committing");
                return Ok(commit.worked(machine, &mut self.watch));
            }
            step => unreachable!("an update that is {step:?} has given its core nothing"),
        }
        Ok(false)
    }

    /// A timer of the update.
    pub fn timer(&mut self, machine: &mut Machine) -> Result<bool, NearDataError> {
        let now = machine.now();
        match self.step {
            Step::Submitting => self.send(machine, Side::Host, 0, Step::Asking),
            Step::Asking => {
                let bytes = DESCRIPTOR + Program::BYTES as u64 + self.delta_bytes;
                self.send(machine, Side::Device, bytes, Step::Fetching);
            }
            Step::Fetching => {
                let lines = self.delta_bytes.div_ceil(64);
                let kept = machine.device.memory().access(now, 0, lines);
                let image = self.image.as_ref().expect("it was collected");
                let ready = machine.device.setup_time(now, image).max(kept);
                self.step = Step::SettingUp;
                machine.system.at(ready, Timer::Long(0).encode());
            }
            Step::SettingUp => {
                self.watch.mark(now, Phase::Invoke);
                let isolation = Isolation::ReadCommitted;
                let task = match self.how.locks_table {
                    true => Task::UpdateUnlocked,
                    false => Task::Update { isolation, timeout: TIMEOUT },
                };
                let plan = JobPlan {
                    image: self.image.take().expect("it was collected"),
                    program: machine.update.program.clone(),
                    task,
                    transaction: self.transaction,
                    verified: self.how.verified,
                    skipped: Skipped::default(),
                };
                self.step = Step::Working;
                machine.device.start(&mut machine.system, plan);
            }
            Step::FinalizeAsked => self.finalize(machine),
            Step::Finalizing => {
                let there = machine.system.send(Side::Host, COMPLETION);
                self.wake(machine, there, Step::Finalized);
            }
            Step::Committing => {
                let commit = self.commit.as_mut().expect("it is committing");
                return Ok(commit.durable(machine, &mut self.watch)?);
            }
            step => unreachable!("an update that is {step:?} has set no timer"),
        }
        Ok(false)
    }

    /// The agent sees a completion that is in memory at `there`, as if its core had slept till then.
    fn wake(&mut self, machine: &mut Machine, there: Time, step: Step) {
        self.step = step;
        let seen = there + machine.store.wake.get();
        machine.system.at(seen, Timer::Agent(self.agent as u32).encode());
    }

    /// The device has come to its end.
    pub fn job_done(&mut self, machine: &mut Machine, done: JobDone) -> Result<(), NearDataError> {
        assert_eq!(done.counts.faults, 0, "storage and shared state are whole in these runs");
        self.watch.mark(done.walked, Phase::Walk);
        self.watch.mark(machine.now(), Phase::Tail);
        let there = machine.system.send(Side::Host, COMPLETION);
        self.done = Some(done);
        self.wake(machine, there, Step::Completing);
        Ok(())
    }

    /// Takes over an entry of the result set: reads the holder of its lock and, of a new version,
    /// where the row's newest one is. The two loads overlap; the next entry comes when this one is
    /// noted.
    fn adopt(&mut self, machine: &mut Machine, row: usize) -> Result<(), NearDataError> {
        let done = self.done.as_ref().expect("the job is done");
        let Some(RowDone { found, end }) = done.rows.get(row) else {
            self.watch.mark(machine.now(), Phase::Adopt);
            self.adopted = self.written.len();
            return self.next_left(machine, 0);
        };
        let (vid, number) = (found.vid, found.version.number);
        let mut loads = 0;
        if end.is_locked() && !self.how.locks_table {
            let key = machine.table.lock_key(vid, number);
            self.held.insert(machine, key);
            machine.load_holder(self.agent, key);
            loads += 1;
        }
        match end {
            RowEnd::Written => {
                self.written.push(machine.new_row(vid, number, &found.outputs));
                machine.load_head(self.agent, vid);
                loads += 1;
            }
            RowEnd::Left => self.left.push(vid),
            end => unreachable!("at READ COMMITTED, with nobody in its way, a row is {end:?}"),
        }
        self.step = Step::Adopting { row, loads };
        assert!(loads > 0, "a row that is left is locked");
        Ok(())
    }

    /// The commit looks at the heads of the rows that the device has written, from the row `asked`
    /// on; `there` of them are. They do not depend on each other: so many are under way at once.
    fn recheck(&mut self, machine: &mut Machine, mut asked: usize, there: usize) {
        let most = machine.store.loads_in_flight.get().0 as usize;
        while asked < self.adopted && asked - there < most {
            machine.load_head(self.agent, self.written[asked].vid);
            asked += 1;
        }
        self.step = Step::Rechecking { asked, there };
        if there == self.adopted {
            self.watch.mark(machine.now(), Phase::Recheck);
            // With the reservations, which a job gets as it needs them.
            let bytes = SUBMISSION + self.pages() * RESERVATION;
            self.send(machine, Side::Device, bytes, Step::FinalizeAsked);
        }
    }

    /// Continues with the rows that were left to the host: each is locked at its newest version.
    fn next_left(&mut self, machine: &mut Machine, row: usize) -> Result<(), NearDataError> {
        let Some(&vid) = self.left.get(row) else {
            self.watch.mark(machine.now(), Phase::Left);
            self.step = Step::Reserving;
            let pages = self.pages();
            self.work(machine, machine.store.grant_page.get() * pages);
            return Ok(());
        };
        let number = machine.visible_number(vid)?;
        let key = machine.table.lock_key(vid, number);
        self.step = Step::Left { row, key };
        machine.acquire(self.agent, self.transaction, key, Rule::Queue);
        Ok(())
    }

    /// The lock machine has come to something. `true`: the update has ended.
    pub fn locked(&mut self, machine: &mut Machine, input: &Input) -> Result<bool, NearDataError> {
        match (self.step, input) {
            (Step::Left { row, key }, Input::Granted { .. }) => {
                self.held.insert(machine, key);
                let vid = self.left[row];
                let number = machine.visible_number(vid)?;
                if machine.table.lock_key(vid, number) != key {
                    self.next_left(machine, row)?;
                    return Ok(false);
                }
                let (changed, length) = machine.change(vid, number)?;
                self.written.extend(changed);
                self.step = Step::Evaluating { row };
                self.work(machine, length);
            }
            // Refused: a full queue; the lock is asked for again.
            (Step::Left { row, .. }, Input::Refused(_)) => self.next_left(machine, row)?,
            (Step::Left { .. }, Input::Queued { .. }) => {}
            (Step::Committing, Input::Released) => {
                let commit = self.commit.as_mut().expect("it is committing");
                return Ok(commit.released(machine, &mut self.watch));
            }
            (step, input) => unreachable!("{input:?} does not answer {step:?}"),
        }
        Ok(false)
    }

    fn pages(&self) -> u64 {
        self.done.as_ref().expect("the job is done").written.div_ceil(PAGE - 64)
    }

    /// The device reads its new pages, stamps them and writes them to their places.
    fn finalize(&mut self, machine: &mut Machine) {
        let (now, bytes) = (machine.now(), self.pages() * PAGE);
        let end = machine.device.finalize(now, bytes, self.how.durable);
        self.step = Step::Finalizing;
        machine.system.at(end, Timer::Long(0).encode());
    }

    fn begin_commit(&mut self, machine: &mut Machine) {
        self.watch.mark(machine.now(), Phase::Finalize);
        let log = self.pages() * RESERVATION;
        let (rows, held) = (self.written.clone(), std::mem::take(&mut self.held));
        self.step = Step::Committing;
        let by = (self.agent, self.transaction);
        self.commit = Some(Commit::begin(machine, by, (rows, held), log, 0));
    }

    /// An access to a shared word is done: a look at a lock or a head, or a head is published.
    /// `true`: the update has ended.
    pub fn word_done(&mut self, machine: &mut Machine) -> Result<bool, NearDataError> {
        match self.step {
            Step::Adopting { row, loads: 1 } => {
                self.step = Step::Adopting { row, loads: 0 };
                self.work(machine, machine.store.adopt_row.get());
            }
            Step::Adopting { row, loads } => self.step = Step::Adopting { row, loads: loads - 1 },
            Step::Rechecking { asked, there } => self.recheck(machine, asked, there + 1),
            _ => {
                let commit = self.commit.as_mut().expect("only a commit publishes");
                return Ok(commit.published(machine, &mut self.watch));
            }
        }
        Ok(false)
    }

    /// Its outcome.
    pub fn report(self, machine: &mut Machine) -> LongReport {
        let done = self.done.expect("an update that has ended has had its job");
        let commit = self.commit.expect("an update that has ended has committed");
        LongReport {
            took: machine.now() - self.watch.began,
            phases: self.watch.finish(),
            flush: Time::ZERO,
            visible: done.counts.visible,
            changed: self.written.len() as u64,
            left: self.left.len() as u64,
            lock_waits: done.lock_waits,
            lock_wait: done.lock_wait,
            link_bytes: link_bytes(machine) - self.bytes_before,
            delta_bytes: self.delta_bytes,
            memory_bytes: done.memory_bytes,
            page_checks: done.counts.page_checks,
            core_time: self.core_time + commit.core_time,
            page_wait: Time::ZERO,
        }
    }
}

/// Bytes over the link so far, in both directions.
pub(crate) fn link_bytes(machine: &Machine) -> u64 {
    let traffic = machine.system.traffic();
    traffic.link_bytes_to_host + traffic.link_bytes_to_device
}
