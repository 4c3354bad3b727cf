// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records: how a core writes them to its host's log, and what it does when that is done (section 4.2, steps 5 to 7).

use super::super::index::Cached;
use super::super::log::{Address, Entry, Name, Write};
use super::super::messages::host::Applied;
use super::super::messages::{Header, Kind, Record, Request};
use super::super::mutant::Mutant;
use super::super::shared::{Kept, KeptState, place_of};
use super::Burst;
use super::commit::wake;
use crate::engine::{NodeId, Operation, Place, Token, Work};
use crate::transact::Transactions;
use crate::wire::Reader;

/// The most marks that go with one write.
const MARKS: usize = 32;

/// Whom a write is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Answer {
    pub to: NodeId,
    pub header: Header,
}

/// What is done when a memory operation has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Then {
    /// A look-up goes on.
    Read { fetch: u32, want: u16 },
    /// A record is in the log.
    Written { flow: u32, count: u32, unlocks: bool, answer: Option<Answer> },
    /// Nothing; also where the view is over that has begun it.
    Nothing,
}

/// A request that waits for a cell of the log, for one before it, or for room for a pin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stalled {
    flow: u32,
    from: NodeId,
    /// Any flow's record may make room for it; for the others, only one of their own.
    waits_for_pins: bool,
    bytes: Vec<u8>,
}

impl<T: Transactions> Burst<'_, T> {
    fn kept(&mut self, flow: usize, count: u32) -> &mut Kept {
        let number = usize::from(self.core.number);
        &mut self.shared.nic.cores[number].flows[flow].kept[(count & 1) as usize]
    }

    /// Serves a LOG, a COMMIT or a SHIP of a flow, or keeps it until its record has room. Those of one flow keep
    /// their order: a commit does not overtake its record.
    pub(super) fn take_record(
        &mut self,
        flow: usize,
        from: NodeId,
        (header, request): (Header, Request<'_>),
        bytes: &[u8],
    ) {
        let flow_number = flow as u32;
        let is_behind = self.core.stalled.iter().any(|stalled| stalled.flow == flow_number);
        let lacks_cell = is_behind || self.lacks_cell(flow, header);
        if lacks_cell || !self.serve_record(from, (header, request), bytes.len()) {
            let (bytes, waits_for_pins) = (bytes.to_vec(), !lacks_cell);
            let stalled = Stalled { flow: flow_number, from, waits_for_pins, bytes };
            self.stall(stalled);
        }
    }

    fn stall(&mut self, stalled: Stalled) {
        self.core.stalled.push_back(stalled);
        // What it waits for may wait for a mark.
        if !self.core.marks.is_empty() {
            self.write_marks();
        }
    }

    /// Something has become of a record of this flow: tries again what may have waited for it.
    fn retry_stalled(&mut self, flow: usize) {
        if self.core.stalled.is_empty() {
            return;
        }
        let fixed = self.fixed;
        let (tables, partitions) = (fixed.workload.tables(), fixed.layout.partitions());
        let before = std::mem::take(&mut self.scratch.stalled);
        let mut all = std::mem::replace(&mut self.core.stalled, before);
        // What is served in place of one that has waited for pins may let others of its flow follow.
        let mut any = false;
        for stalled in all.drain(..) {
            let Stalled { flow: of, from, waits_for_pins, ref bytes } = stalled;
            if !any && !waits_for_pins && of as usize != flow {
                self.stall(stalled);
                continue;
            }
            any |= waits_for_pins;
            let mut reader = Reader::new(bytes);
            // It has been read before.
            let Ok(header) = Header::decode(&mut reader) else { continue };
            let request = Request::decode(header.kind, &mut reader, tables, partitions);
            let Ok(request) = request else { continue };
            self.take_record(of as usize, from, (header, request), bytes);
        }
        self.scratch.stalled = all;
    }

    /// Whether a request has to wait until something has become of its flow's record.
    fn lacks_cell(&mut self, flow: usize, header: Header) -> bool {
        match header.kind {
            Kind::CommitKept => {
                let kept = self.kept(flow, header.count);
                kept.count == header.count && kept.state == KeptState::Writing
            }
            _ => !self.has_room(flow, header.count),
        }
    }

    /// Serves a LOG, a COMMIT or a SHIP of so many bytes, whose cell is free. Says whether it could.
    fn serve_record(
        &mut self,
        from: NodeId,
        (header, request): (Header, Request<'_>),
        length: usize,
    ) -> bool {
        let lines = length.div_ceil(64) as u32;
        match request {
            Request::Log { record } => {
                let coordinator = record.transaction.node();
                let flow = self.flow_of(coordinator, header.slot);
                self.out.work(Work::CopyLine, lines);
                let answer = Answer { to: coordinator, header: header.answer() };
                self.keep_record(flow, header.count, &record);
                self.write_record(flow, header.count, false, Some(answer));
            }
            Request::Commit { record } => {
                let flow = self.flow_of(from, header.slot);
                if !self.has_pins(&record) {
                    return false;
                }
                self.out.work(Work::CopyLine, lines);
                self.keep_record(flow, header.count, &record);
                self.commit(flow, header.count, Answer { to: from, header: header.answer() });
            }
            Request::CommitKept => {
                let flow = self.flow_of(from, header.slot);
                return self.commit_kept(flow, from, header);
            }
            Request::Ship { transaction, input, reads, locks, own, .. } => {
                let flow = self.flow_of(from, header.slot);
                let mut fetch = self.new_fetch(from, header);
                fetch.add_keys(reads.iter(), locks.iter());
                fetch.transaction = transaction;
                fetch.input.extend_from_slice(input);
                fetch.own_rows.extend_from_slice(own.bytes());
                self.begin_fetch(flow, fetch);
            }
            _ => {}
        }
        true
    }

    /// Whether the cell of a transaction can take its record: the host has applied the last one there.
    fn has_room(&mut self, flow: usize, count: u32) -> bool {
        let early = self.has(Mutant::CellReusedEarly);
        let kept = self.kept(flow, count);
        let is_free = kept.count == 0 || kept.is_applied && !kept.is_pinned;
        is_free && kept.state != KeptState::Writing || kept.count == count || early
    }

    /// Whether the objects of a record can be pinned once more.
    fn has_pins(&self, record: &Record<'_>) -> bool {
        let fixed = self.fixed;
        record.changes.iter(fixed.workload.tables()).all(|change| {
            let partition = fixed.layout.partition_of(change.key);
            self.shared.nic.index.has_room_for_pin(partition, change.key)
        })
    }

    fn keep_record(&mut self, flow: usize, count: u32, record: &Record<'_>) {
        let kept = self.kept(flow, count);
        let mut bytes = std::mem::take(&mut kept.record);
        bytes.clear();
        record.encode(&mut bytes);
        *kept = Kept { count, record: bytes, ..Kept::default() };
    }

    /// Keeps the record of a transaction whose logic was run here, and appends it to the log if the node is one of
    /// its holders. The cell is free, or the request had not been served.
    pub(super) fn keep(&mut self, flow: usize, count: u32, record: &[u8], writes: Option<Answer>) {
        let Some(record) = Record::kept(record) else { return };
        self.keep_record(flow, count, &record);
        if writes.is_some() {
            self.write_record(flow, count, false, writes);
        }
    }

    fn commit_kept(&mut self, flow: usize, from: NodeId, header: Header) -> bool {
        let answer = Answer { to: from, header: header.answer() };
        let number = usize::from(self.core.number);
        let place = (header.count & 1) as usize;
        let kept = &self.shared.nic.cores[number].flows[flow].kept[place];
        if kept.count != header.count {
            // It has no record here, so its locks are all there is.
            self.release_held(flow);
            self.post(from, answer.header, |_| {});
            return true;
        }
        let has_pins = Record::kept(&kept.record).is_none_or(|it| self.has_pins(&it));
        if !has_pins {
            return false;
        }
        self.commit(flow, header.count, answer);
        true
    }

    /// Gives the objects of a kept record their new values and versions and pins them, and writes the record, or
    /// that it has committed, to the log.
    fn commit(&mut self, flow: usize, count: u32, answer: Answer) {
        self.kept(flow, count).is_committed = true;
        if self.has(Mutant::UnlockedBeforePinned) {
            self.release_held(flow);
        } else {
            self.update_and_pin(flow, count);
        }
        self.write_record(flow, count, true, Some(answer));
    }

    fn update_and_pin(&mut self, flow: usize, count: u32) {
        let owner = self.owner_of_flow(flow);
        let fixed = self.fixed;
        let late = self.has(Mutant::UnlockedBeforePinned);
        let bytes = std::mem::take(&mut self.kept(flow, count).record);
        let mut is_pinned = false;
        if let Some(record) = Record::kept(&bytes) {
            for change in record.changes.iter(fixed.workload.tables()) {
                let partition = fixed.layout.partition_of(change.key);
                if self.shared.primary_of(partition) != Some(self.core.own) {
                    continue;
                }
                self.out.work(Work::Index, 1);
                self.out.work(Work::CopyLine, change.value.len().div_ceil(64) as u32);
                let index = &mut self.shared.nic.index;
                if late {
                    index.lock(partition, change.key, owner);
                }
                let row = Cached { version: change.fetched + 1, value: change.new_value() };
                is_pinned |= index.update_and_pin(partition, change.key, owner, row);
                if late {
                    index.unlock(partition, change.key, owner);
                }
            }
        }
        let kept = self.kept(flow, count);
        kept.record = bytes;
        kept.is_pinned = is_pinned;
    }

    /// Writes a kept record to its cell by DMA. If it is there already, only that it has committed is written.
    fn write_record(&mut self, flow: usize, count: u32, commits: bool, answer: Option<Answer>) {
        let (own, core) = (self.core.own, self.core.number);
        let name = Name { owner: self.owner_of_flow(flow), count };
        let view = self.core.epoch as u16;
        let kept = self.kept(flow, count);
        let was_written = kept.state == KeptState::Written;
        kept.state = KeptState::Writing;
        let bytes = std::mem::take(&mut kept.record);
        let mut changes = std::mem::take(&mut self.scratch.two);
        let part = self.part_for(&bytes, own, &mut changes);
        let marks = self.core.marks.len().min(MARKS);
        match part {
            Some(record) if record.changes.number > 0 => {
                let entry = match was_written {
                    true => Entry::Committed { name },
                    false => Entry::Record { name, is_committed: commits, record },
                };
                if !was_written {
                    self.out.work(Work::Log, 1);
                    self.out.work(Work::CopyLine, record.encoded_len().div_ceil(64) as u32);
                }
                let then = Then::Written { flow: flow as u32, count, unlocks: commits, answer };
                let token = Token(self.core.operations.put(then));
                let cell = flow as u32 * 2 + (count & 1);
                let at = Address::Cell { core, cell }.number();
                let marks = self.core.marks.drain(..marks);
                self.out.operate(token, Place::Host, Operation::Write { at }, |out| {
                    Write { view, entry }.encode(marks, out);
                });
                if self.core.marks.is_empty() {
                    self.core.marks_at = None;
                }
                self.kept(flow, count).record = bytes;
            }
            _ => {
                // The node has run the logic, and replicates nothing of what it has changed.
                debug_assert!(Record::kept(&bytes).is_some());
                let kept = self.kept(flow, count);
                (kept.record, kept.is_applied) = (bytes, true);
                self.has_written(flow as u32, count, commits, answer);
            }
        }
        self.scratch.two = changes;
    }

    /// A record, or its commit, is in the log.
    pub(super) fn has_written(
        &mut self,
        flow: u32,
        count: u32,
        unlocks: bool,
        answer: Option<Answer>,
    ) {
        let flow = flow as usize;
        let kept = self.kept(flow, count);
        if kept.count == count {
            kept.state = KeptState::Written;
        }
        if unlocks {
            if self.has(Mutant::UnlockedBeforePinned) {
                self.update_and_pin(flow, count);
            }
            self.release_held(flow);
            if self.has(Mutant::UnpinnedEarly) {
                self.unpin(flow, count);
            }
        }
        if let Some(Answer { to, header }) = answer {
            self.post(to, header, |_| {});
        }
        self.retry_stalled(flow);
    }

    /// The host has applied a record.
    pub(super) fn applied(&mut self, applied: Applied) {
        let Applied { view, is_committed, owner, count } = applied;
        let (node, core, slot) = place_of(&self.fixed.settings, owner);
        let is_own = core == u16::from(self.core.number) && node.0 < self.fixed.settings.nodes;
        if !is_own {
            self.dropped().malformed += 1;
            return;
        }
        if view != self.core.epoch as u16 {
            self.dropped().other_view += 1;
            return;
        }
        let flow = self.flow_of(node, slot);
        let kept = self.kept(flow, count);
        if kept.count != count {
            self.dropped().unexpected += 1;
            return;
        }
        kept.is_applied = true;
        if is_committed && kept.is_pinned {
            self.unpin(flow, count);
        }
        self.retry_stalled(flow);
    }

    fn unpin(&mut self, flow: usize, count: u32) {
        let fixed = self.fixed;
        let kept = self.kept(flow, count);
        kept.is_pinned = false;
        let bytes = std::mem::take(&mut kept.record);
        if let Some(record) = Record::kept(&bytes) {
            for change in record.changes.iter(fixed.workload.tables()) {
                let partition = fixed.layout.partition_of(change.key);
                if self.shared.primary_of(partition) == Some(self.core.own) {
                    self.out.work(Work::Index, 1);
                    self.shared.nic.index.unpin(partition, change.key);
                }
            }
        }
        self.kept(flow, count).record = bytes;
    }

    /// A slot has gone on, so that its earlier transactions are over: the host gets a mark if it has a record that
    /// it may not have applied yet, as it is of several shards.
    pub(super) fn mark_over(&mut self, flow: usize) {
        let owner = self.owner_of_flow(flow);
        let number = usize::from(self.core.number);
        let state = &mut self.shared.nic.cores[number].flows[flow];
        let count = state.count;
        let mut needs_mark = false;
        for kept in &mut state.kept {
            let is_waiting = kept.count != 0
                && kept.count < count
                && !kept.is_applied
                && !kept.is_pinned
                && !kept.is_marked
                && Record::kept(&kept.record).is_some_and(|it| it.is_of_several());
            if is_waiting {
                kept.is_marked = true;
                needs_mark = true;
            }
        }
        if needs_mark {
            self.core.marks.push(Name { owner, count });
            let at = self.now + self.fixed.settings.flush;
            wake(&mut self.core.marks_at, at);
        }
    }

    /// Writes the marks that have found no write to go with.
    pub(super) fn write_marks(&mut self) {
        let (view, core) = (self.core.epoch as u16, self.core.number);
        while !self.core.marks.is_empty() {
            let token = Token(self.core.operations.put(Then::Nothing));
            let at = Address::Marks { core }.number();
            let marks = self.core.marks.len().min(MARKS);
            let marks = self.core.marks.drain(..marks);
            self.out.operate(token, Place::Host, Operation::Write { at }, |out| {
                Write { view, entry: Entry::Marks }.encode(marks, out);
            });
        }
        self.core.marks_at = None;
    }
}
