// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a core has to do with its host: transactions that begin, rows and write sets, and outcomes.

use super::super::messages::host::{Applied, Head, ToHost, ToNic, WriteSet};
use super::super::messages::{Keys, Version, Versions, put_row};
use super::super::mutant::Mutant;
use super::Burst;
use super::slot::{Ask, Local, Stage, What};
use crate::engine::{Class, Ending, Endpoint, Key, NodeId, Work};
use crate::transact::{Change, Decision, Intent, Rows, Transactions};
use crate::wire::Reader;

impl<T: Transactions> Burst<'_, T> {
    /// Takes a message of a thread of the host.
    pub(super) fn take_of_thread(&mut self, thread: u8, message: ToNic<'_>, bytes: &[u8]) {
        match message {
            ToNic::BeginShipped { .. } | ToNic::Begin { .. } | ToNic::Local { .. } => {
                match self.core.free.pop() {
                    Some(slot) => self.begin(slot, thread, message),
                    None => self.core.waiting.push_back((thread, bytes.to_vec())),
                }
            }
            ToNic::More { head, reads, locks } => {
                let Some(slot) = self.slot_of(thread, head) else { return };
                self.core.slots[usize::from(slot)].enter(Stage::Execute);
                self.wish(slot, reads, locks);
                self.execute(slot);
            }
            ToNic::Writes { head, writes } => {
                let Some(slot) = self.slot_of(thread, head) else { return };
                let tables = self.fixed.workload.tables();
                let rows = &mut self.core.slots[usize::from(slot)].rows;
                let decision = match write_all(rows, writes.iter(tables)) {
                    true => Decision::Commit,
                    false => Decision::RollBack,
                };
                self.decide(slot, decision);
            }
            ToNic::RollBack { head } => {
                let Some(slot) = self.slot_of(thread, head) else { return };
                self.core.slots[usize::from(slot)].rows.reset();
                self.decide(slot, Decision::RollBack);
            }
            ToNic::LocalReads { head, reads } => self.check_local_reads(thread, head, reads),
            ToNic::Applied(Applied { .. }) => {}
        }
    }

    /// The slot of an attempt whose logic the host runs now.
    fn slot_of(&mut self, thread: u8, head: Head) -> Option<u16> {
        let is_of = |slot: &super::Slot<T::Input>| {
            slot.stage == Stage::Host && slot.thread == thread && slot.head == head
        };
        let slot = self.core.slots.iter().position(is_of);
        self.dropped().unexpected += u64::from(slot.is_none());
        slot.map(|slot| slot as u16)
    }

    /// A slot is free: a request that waits takes it.
    pub(super) fn give_slot(&mut self, slot: u16) {
        let Some((thread, bytes)) = self.core.waiting.pop_front() else {
            return self.core.free.push(slot);
        };
        let fixed = self.fixed;
        match ToNic::decode(&bytes, fixed.workload.tables()) {
            Ok(message) => self.begin(slot, thread, message),
            Err(_) => self.core.free.push(slot),
        }
    }

    fn begin(&mut self, slot: u16, thread: u8, message: ToNic<'_>) {
        self.out.work(Work::Handle, 1);
        let at = usize::from(slot);
        let fixed = self.fixed;
        match message {
            ToNic::BeginShipped { head, input, reads, locks } => {
                let mut reader = Reader::new(input);
                let input = fixed.workload.take_input(&mut reader);
                let Ok(input) = input.and_then(|input| reader.end("an input").map(|()| input))
                else {
                    self.dropped().malformed += 1;
                    return self.core.free.push(slot);
                };
                self.core.slots[at].begin(thread, head, self.now);
                self.core.slots[at].input = Some(input);
                self.note_keys(slot, reads, locks);
                if !self.begin_shipping(slot) {
                    self.wish(slot, reads, locks);
                    self.execute(slot);
                }
            }
            ToNic::Begin { head, reads, locks } => {
                self.core.slots[at].begin(thread, head, self.now);
                self.wish(slot, reads, locks);
                self.execute(slot);
            }
            ToNic::Local { head, reads, writes } => {
                self.core.slots[at].begin(thread, head, self.now);
                self.begin_local(slot, reads, writes);
            }
            _ => self.core.free.push(slot),
        }
    }

    fn note_keys(&mut self, slot: u16, reads: Keys<'_>, locks: Keys<'_>) {
        let slot = &mut self.core.slots[usize::from(slot)];
        slot.keys.clear();
        slot.keys.extend(reads.iter().map(|key| (key, Intent::Read)));
        slot.keys.extend(locks.iter().map(|key| (key, Intent::Write)));
    }

    /// Asks for keys in the order of the host.
    fn wish(&mut self, slot: u16, reads: Keys<'_>, locks: Keys<'_>) {
        self.note_keys(slot, reads, locks);
        for at in 0..self.core.slots[usize::from(slot)].keys.len() {
            let (key, intent) = self.core.slots[usize::from(slot)].keys[at];
            self.ask_row(slot, key, intent);
        }
    }

    /// Asks for a row, and for its lock if it is to be written.
    pub(super) fn ask_row(&mut self, slot: u16, key: Key, intent: Intent) {
        let partition = self.fixed.layout.partition_of(key);
        let slot = &mut self.core.slots[usize::from(slot)];
        let locks = intent == Intent::Write && self.fixed.settings.combined;
        let what = if locks { What::Lock } else { What::Read };
        match self.shared.primary_of(partition) {
            Some(to) => slot.ask(Ask::new(to, what, key, intent)),
            None => slot.fails(Ending::AbortedByMembership),
        }
    }

    /// A transaction that the host has run on its own tables: what it changes is locked, and all that it has read
    /// is compared.
    fn begin_local(&mut self, slot: u16, reads: Versions<'_>, writes: WriteSet<'_>) {
        let tables = self.fixed.workload.tables();
        let local = Local {
            reads: reads.iter().map(|(key, version)| (key, version.number)).collect(),
            writes: writes.bytes.to_vec(),
            number: writes.number,
        };
        let at = usize::from(slot);
        let is_written = |key: Key| writes.iter(tables).any(|(written, ..)| written == key);
        for (key, _) in &local.reads {
            let intent = if is_written(*key) { Intent::Write } else { Intent::Read };
            // It is the own node's, as the host has its table; if the view has changed, that is refused.
            let what = if intent == Intent::Write { What::Lock } else { What::Read };
            self.core.slots[at].ask(Ask::new(self.core.own, what, *key, intent));
        }
        self.core.slots[at].local = Some(local);
        self.execute(slot);
    }

    /// All rows of a transaction that the host has run are there: the same that the host has read, or it has to
    /// begin again.
    pub(super) fn compare_local(&mut self, slot: u16) {
        let at = usize::from(slot);
        let tables = self.fixed.workload.tables();
        let Some(local) = self.core.slots[at].local.take() else { return };
        let is_blind = self.has(Mutant::LocalWritesUnvalidated);
        let state = &mut self.core.slots[at];
        for (key, version) in &local.reads {
            let Some(row) = state.rows.all().iter().find(|row| row.key == *key) else { continue };
            if row.version == u64::from(*version) {
                continue;
            }
            if !is_blind {
                return self.abort(slot, Ending::AbortedByValidation);
            }
            let (intent, value) = (row.intent, state.rows.value_of(row).map(<[u8]>::to_vec));
            state.rows.fetched(*key, intent, (*version).into(), value.as_deref());
        }
        let writes = WriteSet { number: local.number, bytes: &local.writes };
        let decision = match write_all(&mut state.rows, writes.iter(tables)) {
            true => Decision::Commit,
            false => Decision::RollBack,
        };
        self.decide(slot, decision);
    }

    /// Whether none of these keys is locked, or cached with another version than the host has read.
    fn check_local_reads(&mut self, thread: u8, head: Head, reads: Versions<'_>) {
        self.out.work(Work::Handle, 1);
        self.out.work(Work::Index, reads.len() as u32);
        let index = &self.shared.nic.index;
        let mut ending = Ending::Committed;
        for (key, version) in reads.iter() {
            let partition = self.fixed.layout.partition_of(key);
            if self.shared.primary_of(partition) != Some(self.core.own) {
                ending = Ending::AbortedByMembership;
            } else if index.owner_of(partition, key).is_some() {
                ending = Ending::AbortedByLock;
            } else if index.cached(partition, key).is_some_and(|it| it.version != version.number) {
                ending = Ending::AbortedByValidation;
            }
        }
        self.tell(thread, head, ending);
    }

    /// Sends the rows of the last round to the host, which runs the logic.
    pub(super) fn send_rows(&mut self, slot: u16) {
        let at = usize::from(slot);
        self.core.slots[at].enter(Stage::Host);
        let mut bytes = std::mem::take(&mut self.scratch.one);
        bytes.clear();
        let state = &self.core.slots[at];
        for (key, _) in &state.keys {
            let Some(row) = state.rows.all().iter().find(|row| row.key == *key) else { continue };
            let version = Version { number: row.version as u32, ..Version::default() };
            put_row(version, state.rows.value_of(row), &mut bytes);
        }
        let (thread, head) = (state.thread, state.head);
        self.out.work(Work::CopyLine, bytes.len().div_ceil(64) as u32);
        self.send_to_host(thread, &ToHost::Rows { head, rows: &bytes });
        self.scratch.one = bytes;
    }

    /// Tells the host how the attempt of a slot ends, once.
    pub(super) fn tell_outcome(&mut self, slot: u16, ending: Ending) {
        let state = &mut self.core.slots[usize::from(slot)];
        if std::mem::replace(&mut state.is_told, true) {
            return;
        }
        let (thread, head) = (state.thread, state.head);
        self.tell(thread, head, ending);
    }

    fn tell(&mut self, thread: u8, head: Head, ending: Ending) {
        self.send_to_host(thread, &ToHost::Outcome { head, ending });
    }

    fn send_to_host(&mut self, thread: u8, message: &ToHost<'_>) {
        let own: NodeId = self.core.own;
        let to = Endpoint::host(own, thread);
        let stage = crate::engine::Stage::Host;
        self.out.send(to, Class::Foreground, stage, |bytes| message.encode(bytes));
    }
}

/// Makes these changes to rows that were fetched to be written. Says whether they could all be made.
fn write_all<'a>(
    rows: &mut Rows,
    mut writes: impl Iterator<Item = (Key, Change, &'a [u8])>,
) -> bool {
    rows.reset();
    let is_done = writes.all(|(key, change, value)| match change {
        Change::Update => match rows.get_mut(key) {
            Ok(Some(row)) if row.len() == value.len() => {
                row.copy_from_slice(value);
                true
            }
            _ => false,
        },
        Change::Insert => rows.insert(key, value) == Ok(true),
        Change::Delete => rows.delete(key) == Ok(true),
    });
    if !is_done {
        rows.reset();
    }
    is_done
}
