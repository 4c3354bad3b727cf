// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transactions whose logic another node's NIC runs (section 4.2.3).

use super::super::index::OBJECTS;
use super::super::messages::{
    HEADER, Header, KeyedRows, Keys, Kind, Record, Request, Verdict, Version, put_key,
    put_keyed_row,
};
use super::super::mutant::Mutant;
use super::fetch::Fetch;
use super::logging::Answer;
use super::slot::{Ask, Goal, Shipped, Stage, What};
use super::{Burst, Scratch};
use crate::engine::{Ending, Key, NodeId, Point, TransactionId, Work};
use crate::placement::PartitionId;
use crate::transact::{Decision, Intent, Rows, Transactions};
use crate::wire::{Reader, WireError, Writer};

impl<T: Transactions> Burst<'_, T> {
    /// Begins a transaction of keys on one other node, or on it and on the own one, by locking its own keys. Says
    /// whether it is such a one.
    pub(super) fn begin_shipping(&mut self, slot: u16) -> bool {
        let at = usize::from(slot);
        let input = self.core.slots[at].input.as_ref();
        let is_one_round = input.is_some_and(|input| self.fixed.workload.is_one_round(input));
        if !self.fixed.settings.multi_hop || !is_one_round {
            return false;
        }
        let own = self.core.own;
        let keys = std::mem::take(&mut self.core.slots[at].keys);
        // All own keys are locked, also those that are only read.
        let is_too_large =
            keys.len() > OBJECTS && self.are_too_many(keys.iter().map(|(key, _)| *key));
        let to = self.other_node(&keys).filter(|_| !is_too_large);
        if to.is_some() {
            self.core.slots[at].enter(Stage::ShipOwn);
            for (key, intent) in &keys {
                if self.shared.primary_of(self.fixed.layout.partition_of(*key)) != Some(own) {
                    continue;
                }
                // Nobody validates them after this, so what is only read is locked, too.
                let only_reads = *intent == Intent::Read && self.has(Mutant::ShippedReadsUnlocked);
                let (what, intent) = match only_reads {
                    true => (What::Read, Intent::Read),
                    false => (What::Lock, Intent::Write),
                };
                self.core.slots[at].ask(Ask::new(own, what, *key, intent));
            }
        }
        self.core.slots[at].keys = keys;
        if to.is_some() {
            self.execute(slot);
        }
        to.is_some()
    }

    /// The one other node that has keys of these, if the logic is to run there.
    fn other_node(&self, keys: &[(Key, Intent)]) -> Option<NodeId> {
        let (mut other, mut is_worth_it) = (None, false);
        for (key, intent) in keys {
            let primary = self.shared.primary_of(self.fixed.layout.partition_of(*key))?;
            // Keys that are only read on one other node need a request and its answer.
            is_worth_it |= primary == self.core.own || *intent == Intent::Write;
            if primary != self.core.own && *other.get_or_insert(primary) != primary {
                return None;
            }
        }
        other.filter(|_| is_worth_it)
    }

    /// The own keys are locked: ships the transaction, if that fits into a message.
    pub(super) fn ship(&mut self, slot: u16) {
        let at = usize::from(slot);
        let Some(to) = self.other_node(&self.core.slots[at].keys) else {
            return self.abort(slot, Ending::AbortedByMembership);
        };
        let mut message = std::mem::take(&mut self.scratch.message);
        self.put_ship(slot, &mut message);
        let fits = HEADER + message.len() <= usize::from(self.fixed.settings.mtu);
        self.scratch.message = message;
        if !fits {
            return self.stay(slot);
        }
        let state = &mut self.core.slots[at];
        state.enter(Stage::Ship);
        state.holders.clear();
        state.shipped = Some(Shipped { to, step: state.step, verdict: None, answers: 0 });
        state.ask(Ask::message(to, Kind::Ship));
        self.send(slot);
    }

    /// Writes what a SHIP has behind its header.
    fn put_ship(&mut self, slot: u16, message: &mut Vec<u8>) {
        let transaction = self.transaction(slot);
        let mut input = self.scratch.spare.pop().unwrap_or_default();
        let Scratch { one: reads, two: locks, three: own, .. } = &mut *self.scratch;
        for bytes in [&mut *reads, locks, own] {
            bytes.clear();
        }
        let state = &self.core.slots[usize::from(slot)];
        if let Some(given) = &state.input {
            self.fixed.workload.put_input(given, &mut input);
        }
        let mut rows = 0;
        for (key, intent) in &state.keys {
            match state.rows.all().iter().find(|row| row.key == *key) {
                Some(row) => {
                    let version = Version {
                        number: row.version as u32,
                        to_write: *intent == Intent::Write,
                        ..Version::default()
                    };
                    put_keyed_row(*key, version, state.rows.value_of(row), own);
                    rows += 1;
                }
                None if *intent == Intent::Read => put_key(*key, reads),
                None => put_key(*key, locks),
            }
        }
        message.clear();
        let request = Request::Ship {
            transaction,
            input: &input,
            reads: Keys::new(reads),
            locks: Keys::new(locks),
            rows,
            own: KeyedRows::new(own),
        };
        request.encode(message);
        input.clear();
        self.scratch.spare.push(input);
    }

    /// Sends the SHIP that was written last.
    pub(super) fn send_ship(&mut self, header: Header, to: NodeId) {
        let message = std::mem::take(&mut self.scratch.message);
        self.out.work(Work::CopyLine, message.len().div_ceil(64) as u32);
        self.post(to, header, |bytes| bytes.extend_from_slice(&message));
        self.scratch.message = message;
    }

    /// The logic runs here after all: fetches the rows that are not there yet.
    fn stay(&mut self, slot: u16) {
        let at = usize::from(slot);
        let state = &mut self.core.slots[at];
        (state.stays, state.shipped) = (true, None);
        state.enter(Stage::Execute);
        state.holders.clear();
        let keys = std::mem::take(&mut state.keys);
        for (key, intent) in &keys {
            if !self.core.slots[at].rows.has(*key, *intent) {
                self.ask_row(slot, *key, *intent);
            }
        }
        self.core.slots[at].keys = keys;
        self.execute(slot);
    }

    /// Takes the answer of the node that has run the logic.
    pub(super) fn take_shipped(
        &mut self,
        header: Header,
        mut reader: Reader<'_>,
    ) -> Result<(), WireError> {
        let at = usize::from(header.slot);
        let fixed = self.fixed;
        let verdict = Verdict::decode(&mut reader)?;
        let mut answers = 0;
        if verdict == Verdict::Done {
            answers = reader.u8("a number of answers")?;
            let (tables, partitions) = (fixed.workload.tables(), fixed.layout.partitions());
            let transaction = self.transaction(header.slot);
            let record = Record::decode_body(transaction, &mut reader, tables, partitions)?;
            reader.end("a record")?;
            let own = &mut self.shared.nic.cores[usize::from(self.core.number)].own[at];
            own.count = header.count;
            own.record.clear();
            record.encode(&mut own.record);
        } else {
            reader.end("a verdict")?;
        }
        let state = &mut self.core.slots[at];
        let Some(shipped) = &mut state.shipped else { return Ok(()) };
        (shipped.verdict, shipped.answers) = (Some(verdict), answers);
        let to = shipped.to;
        match verdict {
            Verdict::Done => {
                state.goal = Goal::Write;
                super::commit::note(&mut state.locked, to);
            }
            Verdict::Locked => state.fails(Ending::AbortedByLock),
            Verdict::Changed => state.fails(Ending::AbortedByValidation),
            Verdict::Room => state.fails(Ending::AbortedByRoom),
            Verdict::Refused => state.fails(Ending::AbortedByMembership),
            Verdict::Unchanged | Verdict::RolledBack | Verdict::More => {}
        }
        Ok(())
    }

    /// Goes on with a shipped transaction, if the node and all holders have answered.
    pub(super) fn go_on_when_logged(&mut self, slot: u16) {
        let state = &mut self.core.slots[usize::from(slot)];
        let Some(Shipped { verdict: Some(verdict), answers, to, .. }) = state.shipped else {
            return;
        };
        match verdict {
            Verdict::Done if state.open == 0 => {
                let is_logged = state.holders.len() >= usize::from(answers);
                if is_logged || self.has(Mutant::EndedBeforeLog) {
                    for at in 0..self.core.slots[usize::from(slot)].holders.len() {
                        let state = &mut self.core.slots[usize::from(slot)];
                        let holder = state.holders[at];
                        super::commit::note(&mut state.owed, holder);
                    }
                    let state = &mut self.core.slots[usize::from(slot)];
                    super::commit::note(&mut state.owed, to);
                    self.append_own_record(slot);
                    self.committed(slot);
                }
            }
            Verdict::Unchanged | Verdict::RolledBack => {
                state.goal = match verdict {
                    Verdict::Unchanged => Goal::Read,
                    _ => Goal::RollBack,
                };
                self.validated(slot);
            }
            Verdict::More => self.stay(slot),
            _ => {}
        }
    }

    /// All rows of a shipped transaction are here: runs the logic, and sends the records. Gives the verdict, and
    /// appends to `answer` what follows it.
    pub(super) fn run_shipped(&mut self, fetch: &Fetch, answer: &mut Vec<u8>) -> Verdict {
        let fixed = self.fixed;
        let Fetch { from, header, transaction, .. } = *fetch;
        let mut rows = std::mem::take(&mut self.scratch.rows);
        rows.clear();
        let coordinator = KeyedRows::new(&fetch.own_rows);
        for (key, version, value) in coordinator.iter(fixed.workload.tables()) {
            let intent = if version.to_write { Intent::Write } else { Intent::Read };
            rows.fetched(key, intent, version.number.into(), value);
        }
        self.rows_of(fetch, &mut rows);
        let verdict = match self.run_on(&fetch.input, &mut rows) {
            None => Verdict::More,
            Some(Decision::RollBack) => {
                self.out.tell_committing(transaction, Point::Now, rows.reads());
                Verdict::RolledBack
            }
            Some(Decision::Commit) if rows.changes().next().is_none() => {
                self.out.tell_committing(transaction, Point::Now, rows.reads());
                Verdict::Unchanged
            }
            Some(Decision::Commit) => self.log_shipped((from, header, transaction), &rows, answer),
        };
        self.scratch.rows = rows;
        verdict
    }

    /// Runs the logic; `None` if it wants more rows.
    fn run_on(&mut self, input: &[u8], rows: &mut Rows) -> Option<Decision> {
        let workload = &self.fixed.workload;
        let input = workload.take_input(&mut Reader::new(input)).ok()?;
        let mut wanted = std::mem::take(&mut self.scratch.wanted);
        wanted.clear();
        workload.declare(&input, rows, &mut wanted);
        let is_complete = wanted.iter().all(|(key, intent)| rows.has(*key, *intent));
        self.scratch.wanted = wanted;
        if !is_complete {
            return None;
        }
        self.out.work(Work::Logic, rows.all().len() as u32);
        workload.run(&input, rows).ok()
    }

    /// Sends the records of a shipped transaction to their holders, who answer its coordinator.
    fn log_shipped(
        &mut self,
        of: (NodeId, Header, TransactionId),
        rows: &Rows,
        answer: &mut Vec<u8>,
    ) -> Verdict {
        let mut record = self.scratch.spare.pop().unwrap_or_default();
        let mut shards = std::mem::take(&mut self.scratch.shards);
        self.put_record(of.2, rows, &mut shards, &mut record);
        let verdict = self.send_shipped(of, rows, (&shards, &record), answer);
        self.scratch.shards = shards;
        record.clear();
        self.scratch.spare.push(record);
        verdict
    }

    fn send_shipped(
        &mut self,
        (coordinator, header, transaction): (NodeId, Header, TransactionId),
        rows: &Rows,
        (shards, record): (&[PartitionId], &[u8]),
        answer: &mut Vec<u8>,
    ) -> Verdict {
        let number = rows.changes().count();
        if HEADER + record.len() > usize::from(self.fixed.settings.mtu)
            || number > usize::from(u8::MAX)
        {
            self.dropped().too_large += 1;
            self.out.tell_committing(transaction, Point::Now, rows.reads());
            return Verdict::RolledBack;
        }
        self.out.tell_committing(transaction, Point::Now, rows.accesses());
        let mut holders = std::mem::take(&mut self.scratch.nodes);
        self.holders_of(shards, coordinator, &mut holders);
        let mut changes = std::mem::take(&mut self.scratch.three);
        answer.put_count(holders.len());
        if let Some(part) = self.part_for(record, coordinator, &mut changes) {
            part.encode_body(answer);
        }
        self.scratch.three = changes;
        let log = Header { kind: Kind::Log, is_answer: false, ..header };
        for holder in &holders {
            if *holder != self.core.own {
                self.post_record(record, log, *holder);
            }
        }
        // The own one is kept whole until the transaction is over, and may be a holder's.
        let flow = self.flow_of(coordinator, header.slot);
        let answer = Answer { to: coordinator, header: log.answer() };
        let writes = holders.contains(&self.core.own).then_some(answer);
        self.keep(flow, header.count, record, writes);
        self.scratch.nodes = holders;
        Verdict::Done
    }
}
