// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of an update in progress, each with its machine and a tag at the lock unit.

use std::collections::{BTreeMap, BTreeSet};

use lockdb::layout::RecordId;
use locks::{Timestamp, TupleKey};

use super::card::{Card, LockAnswer, LockOperation, LockRequest, LockResponse};
use super::mutant::{Mutant, Planted};
use super::row_update::{Action, Input, RowUpdate, Skipped};
use crate::job::{LockTable, Statistics, Status, Update};
use crate::program::Outputs;

/// Tags of acquires; those of polls and cancels are as far above them.
pub(super) const TAGS: u8 = 64;

/// Nanoseconds between two cancels of one request, when the first has failed on the bus.
const CANCEL_AGAIN: u64 = 1000;

/// A row that qualifies, in the device's memory.
pub(super) struct FoundRow {
    pub(super) vid: u32,
    pub(super) number: u32,
    pub(super) record: RecordId,
    /// 0, or what is wrong at this VID.
    pub(super) code: u8,
    pub(super) outputs: Outputs,
    pub(super) payload: Vec<u8>,
}

/// A poll or cancel that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    Poll,
    Cancel,
}

/// A row under way.
pub(super) struct Row {
    pub(super) found: FoundRow,
    pub(super) machine: RowUpdate,
    /// Why it failed, if the lock unit or host memory did.
    pub(super) failure: Option<(Status, u64)>,
    /// The bucket of its lock is newly held.
    pub(super) newly_held: bool,
    /// Its acquire has responses to come.
    acquire_open: bool,
    control: Option<Control>,
    /// A cancel came too late: a notice is on its way, or was seen.
    notice_due: bool,
    /// When it first asked for its lock.
    since: Option<u64>,
    /// When it was first told that it does not get the lock at once; until it gets it or gives up.
    waits_since: Option<u64>,
    /// When to poll or to ask again.
    next: u64,
    /// When to cancel again, after a cancel that has changed nothing.
    next_cancel: u64,
}

/// All rows of one job that are under way, by their tags.
pub(super) struct Rows {
    rows: BTreeMap<u8, Row>,
    /// Buckets that are newly held.
    held: BTreeSet<u64>,
    timestamp: Timestamp,
    table: u32,
    locks: LockTable,
    vid_map: u64,
    lock_wait: u64,
    poll_interval: u64,
    isolation: lockdb::Isolation,
    mutants: Planted,
}

impl Row {
    /// Whether nothing of it is open at the lock unit.
    pub(super) fn is_idle(&self) -> bool {
        !self.acquire_open && self.control.is_none()
    }

    fn fail(&mut self, status: Status, detail: u64) {
        self.failure.get_or_insert((status, detail));
        self.machine.resume(Input::Failed);
    }
}

impl Rows {
    pub(super) fn new(table: u32, update: &Update, mutants: Planted) -> Self {
        Self {
            rows: BTreeMap::new(),
            held: BTreeSet::new(),
            timestamp: update.timestamp,
            table,
            locks: update.locks,
            vid_map: update.vid_map.address,
            lock_wait: update.lock_wait,
            poll_interval: update.poll_interval.max(1),
            isolation: update.isolation,
            mutants,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Their tags, in order.
    pub(super) fn tags(&self) -> Vec<u8> {
        self.rows.keys().copied().collect()
    }

    pub(super) fn row_mut(&mut self, tag: u8) -> &mut Row {
        self.rows.get_mut(&tag).expect("the tag is one of the rows'")
    }

    /// A row begins, under a tag that is free.
    pub(super) fn begin(&mut self, tag: u8, found: FoundRow) {
        let skipped = Skipped {
            lock: self.mutants.has(Mutant::LockSkipped),
            check: self.mutants.has(Mutant::CheckSkipped),
        };
        let isolation = match self.mutants.has(Mutant::ConflictLeftToHost) {
            true => lockdb::Isolation::ReadCommitted,
            false => self.isolation,
        };
        let machine = RowUpdate::skipping(found.record, isolation, skipped);
        let row = Row {
            found,
            machine,
            failure: None,
            newly_held: false,
            acquire_open: false,
            control: None,
            notice_due: false,
            since: None,
            waits_since: None,
            next: 0,
            next_cancel: 0,
        };
        let before = self.rows.insert(tag, row);
        assert!(before.is_none(), "tag {tag} was free");
    }

    /// A row has ended, and its tag is free again.
    pub(super) fn remove(&mut self, tag: u8) -> Row {
        let row = self.rows.remove(&tag).expect("the tag is one of the rows'");
        let lax = self.mutants.has(Mutant::TagFreedWithPollOpen);
        assert!(lax || row.is_idle(), "tag {tag} has requests open");
        row
    }

    /// Takes a row away with whatever it has open: a planted fault.
    pub(super) fn forget(&mut self, tag: u8) {
        self.rows.remove(&tag);
    }

    fn key(&self, row: &Row) -> TupleKey {
        TupleKey::new(u64::from(self.table) << 32 | u64::from(row.found.vid), row.found.number)
    }

    /// Continues with a row as far as it comes without waiting. Writing is left to the caller. Says
    /// whether anything was done.
    pub(super) fn drive(
        &mut self,
        tag: u8,
        card: &mut dyn Card,
        statistics: &mut Statistics,
    ) -> bool {
        let mut row = self.rows.remove(&tag).expect("the tag is one of the rows'");
        let mut worked = false;
        while self.advance(tag, &mut row, card, statistics) {
            worked = true;
        }
        self.rows.insert(tag, row);
        worked
    }

    /// One action; false when it waits for something.
    fn advance(
        &self,
        tag: u8,
        row: &mut Row,
        card: &mut dyn Card,
        statistics: &mut Statistics,
    ) -> bool {
        let now = card.now();
        let late = row.since.is_some_and(|since| now.saturating_sub(since) >= self.lock_wait)
            && !self.mutants.has(Mutant::TimeoutIgnored);
        match row.machine.action() {
            Action::AcquireLock if row.acquire_open => false,
            Action::AcquireLock => {
                let sent = self.send(card, tag, LockOperation::Acquire(self.key(row)));
                if sent {
                    row.since.get_or_insert(now);
                    row.acquire_open = true;
                    statistics.lock_requests += 1;
                }
                sent
            }
            Action::AwaitLock | Action::AskLater if late => {
                row.machine.resume(Input::TimedOut);
                true
            }
            Action::AskLater if now >= row.next => {
                row.machine.resume(Input::Again);
                true
            }
            Action::AwaitLock if row.control.is_none() && now >= row.next => {
                let sent = self.send(card, tag + TAGS, LockOperation::Poll(tag));
                if sent {
                    row.control = Some(Control::Poll);
                    statistics.lock_polls += 1;
                }
                sent
            }
            Action::CancelLock
                if row.control.is_none() && !row.notice_due && now >= row.next_cancel =>
            {
                let sent = self.send(card, tag + TAGS, LockOperation::Cancel(tag));
                if sent {
                    row.control = Some(Control::Cancel);
                }
                sent
            }
            Action::LoadHead => {
                let address = self.vid_map + u64::from(row.found.vid) * 8;
                match card.load_host(address) {
                    Ok(word) => row.machine.resume(Input::Head(RecordId::from_word(word))),
                    Err(fault) => row.fail(Status::HostMemory, fault.address),
                }
                true
            }
            Action::AskLater | Action::AwaitLock | Action::CancelLock => false,
            Action::Write | Action::None => false,
        }
    }

    fn send(&self, card: &mut dyn Card, tag: u8, operation: LockOperation) -> bool {
        card.request_lock(LockRequest { tag, timestamp: self.timestamp, operation })
    }

    /// A response of the lock unit to a row's acquire, poll or cancel.
    pub(super) fn respond(
        &mut self,
        response: LockResponse,
        now: u64,
        statistics: &mut Statistics,
    ) {
        let tag = response.tag % TAGS;
        let Some(mut row) = self.rows.remove(&tag) else { return };
        match response.tag < TAGS {
            true => self.acquire_answered(&mut row, response.answer, now, statistics),
            false => self.control_answered(&mut row, response.answer, now),
        }
        let waits = matches!(
            row.machine.action(),
            Action::AcquireLock | Action::AwaitLock | Action::AskLater | Action::CancelLock
        );
        if !waits && let Some(since) = row.waits_since.take() {
            statistics.lock_wait += now.saturating_sub(since);
        }
        self.rows.insert(tag, row);
    }

    fn acquire_answered(
        &mut self,
        row: &mut Row,
        answer: LockAnswer,
        now: u64,
        statistics: &mut Statistics,
    ) {
        row.acquire_open = answer == LockAnswer::Queued;
        match answer {
            LockAnswer::Granted { again } => self.granted(row, again),
            LockAnswer::Queued | LockAnswer::Refused => {
                statistics.lock_waits += u64::from(row.waits_since.is_none());
                row.waits_since.get_or_insert(now);
                row.next = now.saturating_add(self.poll_interval);
                let queued = answer == LockAnswer::Queued;
                row.machine.resume(if queued { Input::Queued } else { Input::Refused });
            }
            // The row whose place it shared has left the queue.
            LockAnswer::Cancelled => {
                row.next = now.saturating_add(self.poll_interval);
                row.machine.resume(Input::Lost);
            }
            LockAnswer::BusError => {
                row.fail(Status::HostMemory, self.locks.address_of(self.key(row)));
            }
            LockAnswer::NotWaiting => row.fail(Status::LockUnit, 11),
            LockAnswer::Other(code) => row.fail(Status::LockUnit, code.into()),
        }
    }

    fn control_answered(&mut self, row: &mut Row, answer: LockAnswer, now: u64) {
        let Some(control) = row.control.take() else { return };
        row.next = now.saturating_add(self.poll_interval);
        match (control, answer) {
            // The acquire stays open until its own notice comes.
            (Control::Poll, LockAnswer::Granted { again }) => self.granted(row, again),
            (Control::Poll, _) => {}
            // The cancel has ended the acquire, too.
            (Control::Cancel, LockAnswer::Granted { again }) => {
                row.acquire_open = false;
                self.granted(row, again);
            }
            (Control::Cancel, LockAnswer::Cancelled) => {
                row.acquire_open = false;
                row.machine.resume(Input::Lost);
            }
            // Too late as well: the acquire's own notice tells.
            (Control::Cancel, LockAnswer::NotWaiting) => row.notice_due = row.acquire_open,
            // The acquire waits still: once more, later.
            (Control::Cancel, _) => row.next_cancel = now.saturating_add(CANCEL_AGAIN),
        }
    }

    fn granted(&mut self, row: &mut Row, again: bool) {
        let bucket = self.locks.bucket_of(self.key(row));
        // A grant may be reported twice, by a poll and by the acquire's own notice, and to two rows
        // that wait in one place; and those that hold the bucket again may be reported first.
        row.newly_held |= !again && self.held.insert(bucket);
        row.machine.resume(Input::Granted);
    }
}
