// SPDX-License-Identifier: MIT OR Apache-2.0
//! The coordinator: from the rows to the end of a transaction (section 4.2, steps 3 to 6).

use super::super::messages::{CHANGE, Change, Changes, HEADER, Kind, Record};
use super::super::mutant::Mutant;
use super::Burst;
use super::slot::{Ask, Goal, Stage, What};
use crate::engine::{Ending, Instant, Moment, NodeId, Point, TransactionId, Work};
use crate::placement::PartitionId;
use crate::transact::{self, Decision, Intent, Rows, Transactions};

impl<T: Transactions> Burst<'_, T> {
    /// The name of the attempt of a slot.
    pub(super) fn transaction(&self, slot: u16) -> TransactionId {
        let state = &self.core.slots[usize::from(slot)];
        TransactionId::new(self.core.own, state.thread, state.head.worker, state.head.attempt)
    }

    /// Asks the logic for the keys that it wants, until it wants no more.
    pub(super) fn think(&mut self, slot: u16) {
        let at = usize::from(slot);
        let workload = &self.fixed.workload;
        let mut wanted = std::mem::take(&mut self.scratch.wanted);
        wanted.clear();
        let state = &mut self.core.slots[at];
        let mut decision = None;
        if let Some(input) = &state.input {
            workload.declare(input, &state.rows, &mut wanted);
            wanted.retain(|(key, intent)| !state.rows.has(*key, *intent));
            if wanted.is_empty() {
                self.out.work(Work::Logic, state.rows.all().len() as u32);
                match workload.run(input, &mut state.rows) {
                    Ok(decided) => decision = Some(decided),
                    // Logic that is given what it wants and still misses it would ask for ever.
                    Err(missing) if state.rows.has(missing.key, missing.intent) => {
                        decision = Some(Decision::RollBack);
                    }
                    Err(missing) => wanted.push((missing.key, missing.intent)),
                }
            }
        }
        transact::merge(&mut wanted);
        match decision {
            Some(decision) => self.decide(slot, decision),
            None => {
                self.core.slots[at].enter(Stage::Execute);
                for (key, intent) in &wanted {
                    self.ask_row(slot, *key, *intent);
                }
                self.execute(slot);
            }
        }
        self.scratch.wanted = wanted;
    }

    /// Does what the logic has decided.
    pub(super) fn decide(&mut self, slot: u16, decision: Decision) {
        let at = usize::from(slot);
        let rows = &self.core.slots[at].rows;
        let changes = rows.changes().count();
        let fits = HEADER + self.record_bytes(rows) <= usize::from(self.fixed.settings.mtu);
        self.core.slots[at].goal = match decision {
            Decision::RollBack => Goal::RollBack,
            Decision::Commit if changes == 0 => Goal::Read,
            Decision::Commit if !fits || changes > usize::from(u8::MAX) => {
                self.dropped().too_large += 1;
                Goal::RollBack
            }
            Decision::Commit => Goal::Write,
        };
        match self.fixed.settings.combined {
            true => self.claim_and_validate(slot),
            false => self.lock_late(slot),
        }
    }

    /// Without combined requests, what will be written is locked now, and must be as it was read.
    fn lock_late(&mut self, slot: u16) {
        let state = &mut self.core.slots[usize::from(slot)];
        state.enter(Stage::LateLock);
        if state.goal != Goal::Write {
            return self.claim_and_validate(slot);
        }
        let locked: Vec<_> = state
            .rows
            .all()
            .iter()
            .filter(|row| row.intent == Intent::Write)
            .map(|row| (row.key, row.version as u32))
            .collect();
        for (key, version) in locked {
            self.ask_of_row(slot, What::LateLock, key, version);
        }
        self.execute(slot);
    }

    fn ask_of_row(&mut self, slot: u16, what: What, key: crate::engine::Key, version: u32) {
        let to = self.shared.primary_of(self.fixed.layout.partition_of(key));
        let state = &mut self.core.slots[usize::from(slot)];
        match to {
            None => state.fails(Ending::AbortedByMembership),
            Some(to) => {
                let ask = Ask { version, ..Ask::new(to, what, key, Intent::Read) };
                state.ask(ask);
            }
        }
    }

    /// All locks are held: the serialization point, if what was read turns out to be valid.
    pub(super) fn claim_and_validate(&mut self, slot: u16) {
        let at = usize::from(slot);
        let combined = self.fixed.settings.combined;
        let state = &self.core.slots[at];
        // What was read in this burst is valid now. What one node has read for one request was valid at once, and
        // at a time that the coordinator does not know.
        let is_fresh = state.first_read.0.is_none_or(|first| first == self.core.burst.0);
        let is_single = state.reads <= 1 && state.locked.is_empty();
        let point = if is_single && !is_fresh { Point::Within } else { Point::Now };
        let is_validated = (is_fresh || is_single) && (combined || state.locked.is_empty());
        let skips = self.has(Mutant::NoValidation)
            || self.has(Mutant::ReadOnlySkipsValidation) && state.goal == Goal::Read;
        let transaction = self.transaction(slot);
        match state.goal {
            Goal::Write => self.out.tell_committing(transaction, point, state.rows.accesses()),
            _ => self.out.tell_committing(transaction, point, state.rows.reads()),
        }
        self.core.slots[at].enter(Stage::Validate);
        if !is_validated && !skips {
            for place in 0..self.core.slots[at].rows.all().len() {
                let row = &self.core.slots[at].rows.all()[place];
                if row.intent == Intent::Read || !combined {
                    let (key, version) = (row.key, row.version as u32);
                    self.ask_of_row(slot, What::Validate, key, version);
                }
            }
        }
        if self.core.slots[at].open > 0 && self.core.slots[at].failure.is_none() {
            return self.send(slot);
        }
        self.core.slots[at].asks.clear();
        self.core.slots[at].open = 0;
        self.proceed(slot);
    }

    /// What was read is valid.
    pub(super) fn validated(&mut self, slot: u16) {
        match self.core.slots[usize::from(slot)].goal {
            Goal::Write => self.log(slot),
            Goal::Read => self.release(slot, Ending::Committed),
            Goal::RollBack => self.release(slot, Ending::RolledBack),
        }
    }

    /// The most bytes that the record of a transaction with these rows has.
    pub(super) fn record_bytes(&self, rows: &Rows) -> usize {
        let bytes = |(row, _): (&transact::Row, _)| {
            // Each change may be of a shard of its own.
            2 + CHANGE + rows.value_of(row).map_or(0, <[u8]>::len)
        };
        8 + 1 + 1 + rows.changes().map(bytes).sum::<usize>()
    }

    /// Writes the record of a transaction with these rows to `out`, and the shards that it writes to `shards`.
    pub(super) fn put_record(
        &self,
        transaction: TransactionId,
        rows: &Rows,
        shards: &mut Vec<PartitionId>,
        out: &mut Vec<u8>,
    ) {
        shards.clear();
        for (row, _) in rows.changes() {
            let shard = self.fixed.layout.partition_of(row.key);
            if let Err(place) = shards.binary_search(&shard) {
                shards.insert(place, shard);
            }
        }
        out.clear();
        Record::put(transaction, shards, out, |changes| {
            for (row, change) in rows.changes() {
                let value = rows.value_of(row).unwrap_or_default();
                let (key, fetched) = (row.key, row.version as u32);
                changes.add(&Change { key, change, fetched, value });
            }
        });
    }

    /// The part of an encoded record that concerns `to`: the changes of the shards that it replicates, which are
    /// written to `changes`.
    pub(super) fn part_for<'r>(
        &self,
        record: &'r [u8],
        to: NodeId,
        changes: &'r mut Vec<u8>,
    ) -> Option<Record<'r>> {
        let tables = self.fixed.workload.tables();
        let record = Record::kept(record)?;
        let concerns = |change: &Change<'_>| {
            self.shared.replicates(to, self.fixed.layout.partition_of(change.key))
        };
        // Most often it is all of them.
        if record.changes.iter(tables).all(|change| concerns(&change)) {
            return Some(record);
        }
        changes.clear();
        let mut number = 0;
        for change in record.changes.iter(tables) {
            if concerns(&change) {
                change.encode(changes);
                number += 1;
            }
        }
        Some(record.with_changes(Changes { number, bytes: changes }))
    }

    /// The shards that an encoded record writes, as far as its changes are known here, and those that it lists.
    pub(super) fn shards_of(&self, record: &[u8], shards: &mut Vec<PartitionId>) {
        let tables = self.fixed.workload.tables();
        shards.clear();
        let Some(record) = Record::kept(record) else { return };
        shards.extend(record.listed());
        shards.extend(
            record.changes.iter(tables).map(|change| self.fixed.layout.partition_of(change.key)),
        );
        shards.sort_unstable();
        shards.dedup();
    }

    /// The nodes that get the record of a transaction: f for each shard that are not its coordinator.
    pub(super) fn holders_of(
        &self,
        shards: &[PartitionId],
        coordinator: NodeId,
        holders: &mut Vec<NodeId>,
    ) {
        holders.clear();
        let any = self.has(Mutant::CoordinatorIsHolder);
        for shard in shards {
            let replicas = self.shared.host.recovery.member.view().replicas(*shard);
            let (nodes, complete) = (replicas.nodes(), replicas.complete());
            let nodes = if self.shared.host.recovery.misses_filling() { complete } else { nodes };
            let Some((primary, backups)) = nodes.split_first() else { continue };
            for backup in backups {
                let holder = match *backup == coordinator && !any {
                    true => primary,
                    false => backup,
                };
                if !holders.contains(holder) {
                    holders.push(*holder);
                }
            }
        }
        holders.sort_unstable();
    }

    /// Sends the records.
    fn log(&mut self, slot: u16) {
        let at = usize::from(slot);
        let number = usize::from(self.core.number);
        let transaction = self.transaction(slot);
        let mut record = std::mem::take(&mut self.shared.nic.cores[number].own[at].record);
        let mut shards = std::mem::take(&mut self.scratch.shards);
        let mut holders = std::mem::take(&mut self.core.slots[at].holders);
        self.put_record(transaction, &self.core.slots[at].rows, &mut shards, &mut record);
        self.holders_of(&shards, self.core.own, &mut holders);
        self.scratch.shards = shards;
        let own = &mut self.shared.nic.cores[number].own[at];
        (own.record, own.count) = (record, self.core.slots[at].count);
        self.core.slots[at].enter(Stage::Log);
        for holder in &holders {
            self.core.slots[at].ask(Ask::message(*holder, Kind::Log));
            note(&mut self.core.slots[at].owed, *holder);
        }
        self.core.slots[at].holders = holders;
        self.append_own_record(slot);
        if self.has(Mutant::EndedBeforeLog) {
            self.tell_outcome(slot, Ending::Committed);
        }
        match self.core.slots[at].open {
            0 => self.proceed(slot),
            _ => self.send(slot),
        }
    }

    /// A coordinator that is a backup itself appends the record, too. Nobody waits for it but the next transaction
    /// of the slot.
    pub(super) fn append_own_record(&mut self, slot: u16) {
        let at = usize::from(slot);
        let own = self.core.own;
        let mut shards = std::mem::take(&mut self.scratch.shards);
        let record = &self.shared.nic.cores[usize::from(self.core.number)].own[at].record;
        self.shards_of(record, &mut shards);
        let is_backup = |shard: &PartitionId| {
            self.shared.host.recovery.member.view().backups(*shard).contains(&own)
        };
        let appends = shards.iter().any(is_backup) && !self.core.slots[at].holders.contains(&own);
        self.scratch.shards = shards;
        if appends {
            let header = self.next_header(slot, Kind::Log);
            self.core.slots[at].late = Some(header.step);
            note(&mut self.core.slots[at].owed, own);
            self.send_record(slot, header, own);
        }
    }

    /// All holders have the record: the transaction has committed.
    pub(super) fn committed(&mut self, slot: u16) {
        // Its records may be gone before the host has told its client.
        if self.fixed.settings.membership.is_some() {
            let transaction = self.transaction(slot);
            self.out.tell(Moment::Decided { transaction, committed: true });
        }
        self.tell_outcome(slot, Ending::Committed);
        let at = usize::from(slot);
        self.core.slots[at].enter(Stage::Finish);
        let mut shards = std::mem::take(&mut self.scratch.shards);
        let record = &self.shared.nic.cores[usize::from(self.core.number)].own[at].record;
        self.shards_of(record, &mut shards);
        let mut primaries = std::mem::take(&mut self.scratch.nodes);
        primaries.clear();
        for shard in &shards {
            if let Some(primary) = self.shared.primary_of(*shard) {
                note(&mut primaries, primary);
            }
        }
        for primary in &primaries {
            let state = &mut self.core.slots[at];
            let has_record = state.holders.contains(primary)
                || *primary == self.core.own && state.late.is_some()
                || state.has_shipped_to(*primary);
            let kind = if has_record { Kind::CommitKept } else { Kind::Commit };
            state.ask(Ask::message(*primary, kind));
            note(&mut state.owed, *primary);
        }
        self.release_others(slot, &primaries);
        self.scratch.shards = shards;
        self.scratch.nodes = primaries;
        match self.core.slots[at].open {
            0 => self.proceed(slot),
            _ => self.send(slot),
        }
    }

    /// Asks the nodes that have locked something, but for some, to unlock it.
    fn release_others(&mut self, slot: u16, but: &[NodeId]) {
        let state = &mut self.core.slots[usize::from(slot)];
        let locked = std::mem::take(&mut state.locked);
        for node in locked.iter().filter(|node| !but.contains(node)) {
            // One that has run the logic has the record: it is to be told that it has committed.
            let kind = match state.has_shipped_to(*node) && state.stage == Stage::Finish {
                true if state.goal == Goal::Write => Kind::CommitKept,
                _ => Kind::Release,
            };
            state.ask(Ask::message(*node, kind));
        }
        state.locked = locked;
    }

    /// Ends the attempt without a change: gives the locks back, and tells the host.
    pub(super) fn abort(&mut self, slot: u16, ending: Ending) {
        self.core.slots[usize::from(slot)].goal = Goal::RollBack;
        self.release(slot, ending);
    }

    fn release(&mut self, slot: u16, ending: Ending) {
        self.tell_outcome(slot, ending);
        let at = usize::from(slot);
        self.core.slots[at].enter(Stage::Finish);
        self.release_others(slot, &[]);
        match self.core.slots[at].open {
            0 => self.proceed(slot),
            _ => self.send(slot),
        }
    }

    /// The transaction of a slot is over everywhere.
    pub(super) fn free(&mut self, slot: u16) {
        let at = usize::from(slot);
        self.core.slots[at].clear();
        self.shared.nic.cores[usize::from(self.core.number)].own[at].record.clear();
        self.core.slots[at].progress = self.now;
        if self.core.slots[at].owes() {
            let end = self.now + self.fixed.settings.flush;
            wake(&mut self.core.flush_at, end);
        } else {
            self.core.slots[at].progress = Instant::default();
        }
        self.give_slot(slot);
    }

    /// Slots that have idled for long enough say that their last transaction is over.
    pub(super) fn end_idle_slots(&mut self) {
        self.core.flush_at = None;
        for place in (0..self.core.free.len()).rev() {
            let slot = self.core.free[place];
            let state = &mut self.core.slots[usize::from(slot)];
            if !state.owes() {
                continue;
            }
            let end = state.progress + self.fixed.settings.flush;
            if end > self.now {
                wake(&mut self.core.flush_at, end);
                continue;
            }
            state.count = state.count.wrapping_add(1);
            state.enter(Stage::End);
            for at in 0..state.owed.len() {
                let to = state.owed[at];
                state.ask(Ask::message(to, Kind::End));
            }
            self.core.free.remove(place);
            self.send(slot);
        }
    }

    /// Looks again when an answer that is awaited now would be too late.
    pub(super) fn watch_for_losses(&mut self) {
        let end = self.now + self.fixed.settings.loss_timeout;
        if self.core.loss_at.is_none() {
            self.core.loss_at = Some(end);
        }
    }

    /// Ends the process if a message seems to be lost.
    pub(super) fn look_for_losses(&mut self) {
        self.core.loss_at = None;
        for at in 0..self.core.slots.len() {
            let state = &self.core.slots[at];
            if !state.waits() || state.stage == Stage::Free {
                continue;
            }
            let end = state.progress + self.fixed.settings.loss_timeout;
            if end > self.now {
                wake(&mut self.core.loss_at, end);
            } else if !self.has(Mutant::LossNotDetected) {
                self.out.kill();
            }
        }
    }

    /// The view is over. No answer will come any more, all locks are void, and slots count anew.
    pub(super) fn leave_view(&mut self) {
        for at in 0..self.core.slots.len() {
            let state = &mut self.core.slots[at];
            state.owed.clear();
            match state.stage {
                Stage::Free | Stage::Undecided => {}
                Stage::Log | Stage::Ship if !state.is_told => {
                    state.enter(Stage::Undecided);
                }
                _ => {
                    if state.stage != Stage::End {
                        self.tell_outcome(at as u16, Ending::AbortedByMembership);
                    }
                    self.core.slots[at].clear();
                    self.core.free.push(at as u16);
                }
            }
            self.core.slots[at].late = None;
        }
        self.core.fetches.clear();
        self.core.operations.iter_mut().for_each(|then| *then = super::Then::Nothing);
        self.core.stalled.clear();
        self.core.marks.clear();
        (self.core.marks_at, self.core.flush_at) = (None, None);
    }

    /// A view begins. What was undecided has ended as recovery has decided.
    pub(super) fn enter_view(&mut self) {
        for at in 0..self.core.slots.len() {
            if self.core.slots[at].stage == Stage::Undecided {
                let ending = match self.shared.decision(self.transaction(at as u16)) {
                    Some(true) => Ending::Committed,
                    Some(false) | None => Ending::AbortedByMembership,
                };
                self.tell_outcome(at as u16, ending);
                self.core.slots[at].clear();
                self.core.free.push(at as u16);
            }
            self.core.slots[at].count = 0;
        }
        let (settings, number) = (&self.fixed.settings, self.core.number);
        let is_of_other = |(transaction, _): &(TransactionId, bool)| {
            settings.core_of(transaction.thread(), transaction.worker()) != number
        };
        self.shared.host.decisions.retain(is_of_other);
        while !self.core.waiting.is_empty()
            && let Some(slot) = self.core.free.pop()
        {
            self.give_slot(slot);
        }
    }
}

/// Adds a node to a list, unless it is there.
pub(super) fn note(nodes: &mut Vec<NodeId>, node: NodeId) {
    if !nodes.contains(&node) {
        nodes.push(node);
    }
}

/// Makes a timer end at `at`, or before.
pub(super) fn wake(timer: &mut Option<Instant>, at: Instant) {
    *timer = Some(timer.map_or(at, |earlier| earlier.min(at)));
}
