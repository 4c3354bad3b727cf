// SPDX-License-Identifier: MIT OR Apache-2.0
//! What follows the logic: locks, validation, logs, commits, or the locks given back.

use super::super::address::{Address, HEADER, version_word};
use super::super::context::Context;
use super::super::messages::{Answer, value_bytes};
use super::super::mutant::Mutant;
use super::super::{ring, server};
use super::verbs::{What, read};
use super::{Goal, State, Wish, Worker};
use crate::engine::{Ending, Key, Moment, NodeId, Operation, Point, Stage, Work};
use crate::store::Item;
use crate::transact::Transactions;

impl<I, S> Worker<I, S> {
    /// Locks the rows that change, if they have the versions that were read: those of the own node first, as what
    /// fails here is not asked of others.
    pub(super) fn lock<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        self.step(State::Lock);
        let (own, by) = (cx.rpc.own(), self.transaction(cx));
        for at in 0..self.rows.all().len() {
            let (key, version) = self.key_and_version(at);
            if !self.changes(at) || cx.fixed.primary_of(key) != own {
                continue;
            }
            match server::lock(cx, key, version, by) {
                Answer::Done => self.locked.push(at as u16),
                Answer::Locked | Answer::Refused => self.fails(Ending::AbortedByLock),
                Answer::Changed => self.fails(Ending::AbortedByValidation),
            }
        }
        if self.failure.is_some() {
            return;
        }
        for at in 0..self.rows.all().len() {
            let (key, _) = self.key_and_version(at);
            let to = cx.fixed.primary_of(key);
            if !self.changes(at) || to == own {
                continue;
            }
            match self.is_by_verbs(cx.fixed.settings.form.lock, at) {
                false => self.ask(to, Wish::Lock, at),
                true => self.lock_by_verbs(cx, to, at, by.0),
            }
        }
    }

    /// Takes the lock, and reads the version that it then has: a connection keeps their order.
    fn lock_by_verbs<T: Transactions>(
        &mut self,
        cx: &mut Context<'_, T>,
        to: NodeId,
        at: usize,
        by: u64,
    ) {
        let ((key, _), row) = (self.key_and_version(at), at as u16);
        let lock = Address::Lock(key).number();
        let swap = Operation::CompareSwap { at: lock, expected: 0, new: by };
        self.post(cx, (to, Stage::Execute), What::Lock { row }, swap, &[]);
        let version = Operation::Read { at: Address::Version(key).number(), length: 8 };
        self.post(cx, (to, Stage::Execute), What::Version { row }, version, &[]);
    }

    /// All locks are held: tells of the serialization point, and reads the headers of what was read and is not locked.
    /// A lone row that is only read needs that not, as it was read at one instant since the begin.
    pub(super) fn validate<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        let is_alone = self.goal != Goal::Write && self.rows.all().len() <= 1;
        let point = if is_alone { Point::Within } else { Point::Now };
        let (own, by) = (cx.rpc.own(), self.transaction(cx));
        match self.goal {
            Goal::Write => cx.out.tell_committing(by, point, self.rows.accesses()),
            Goal::Read | Goal::RollBack => cx.out.tell_committing(by, point, self.rows.reads()),
        }
        self.step(State::Validate);
        if is_alone || cx.has(Mutant::NoValidation) {
            return;
        }
        for others in [false, true] {
            for at in 0..self.rows.all().len() {
                let (key, version) = self.key_and_version(at);
                let to = cx.fixed.primary_of(key);
                let is_locked = self.goal == Goal::Write && self.changes(at);
                if is_locked || (to != own) != others || self.failure.is_some() {
                    continue;
                }
                if others {
                    let what = What::Header { row: at as u16 };
                    self.post(cx, (to, Stage::Validate), what, read(key, HEADER), &[]);
                } else if !server::is_valid(cx, key, version, by) {
                    self.fails(Ending::AbortedByValidation);
                }
            }
        }
    }

    pub(super) fn validated<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        match self.goal {
            Goal::Write => self.log(cx),
            Goal::Read => self.release(cx, Ending::Committed),
            Goal::RollBack => self.release(cx, Ending::RolledBack),
        }
    }

    /// Writes to each backup of a row that changes the changes of its rows.
    fn log<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        self.step(State::Log);
        let mut holders = std::mem::take(&mut cx.scratch.holders);
        holders.clear();
        for at in (0..self.rows.all().len()).filter(|at| self.changes(*at)) {
            let partition = cx.fixed.layout.partition_of(self.key_and_version(at).0);
            for place in 0.. {
                let Some(node) = cx.fixed.backup_of(partition, place) else { break };
                if !holders.contains(&node) {
                    holders.push(node);
                }
            }
        }
        for holder in &holders {
            self.log_at(cx, *holder);
        }
        cx.scratch.holders = holders;
        if cx.has(Mutant::LogNotAwaited) {
            self.under_way = 0;
        }
    }

    fn log_at<T: Transactions>(&mut self, cx: &mut Context<'_, T>, holder: NodeId) {
        let by = self.transaction(cx);
        let tables = cx.fixed.workload.tables();
        let mut record = std::mem::take(&mut cx.scratch.value);
        record.clear();
        let items = Item::all_of(&self.rows);
        let items = items.filter(|item| cx.fixed.is_backup(holder, item.key));
        ring::encode(by, items, |item| value_bytes(tables, item.key), &mut record);
        let thread = cx.rpc.thread();
        if holder == cx.rpc.own() {
            cx.out.work(Work::Log, 1);
            cx.out.work(Work::CopyLine, record.len().div_ceil(64) as u32);
            cx.shared.rings[usize::from(thread)].push(&record);
        } else {
            let write = Operation::Write { at: Address::Log { thread }.number() };
            self.post(cx, (holder, Stage::Log), What::Write, write, &record);
            if !self.logged.contains(&holder) {
                self.logged.push(holder);
            }
        }
        cx.scratch.value = record;
    }

    /// All backups have their records, so the transaction has committed: tells the client, and gives the primaries
    /// the changes.
    pub(super) fn commit<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        let (own, transaction) = (cx.rpc.own(), self.transaction(cx));
        cx.out.tell(Moment::Ended { transaction, ending: Ending::Committed });
        self.told = true;
        self.step(State::Commit);
        for at in 0..self.rows.all().len() {
            let Some(item) = Item::of(&self.rows, at) else { continue };
            let to = cx.fixed.primary_of(item.key);
            if to == own {
                // It is this node's row, so it cannot be refused.
                let _ = server::commit(cx, &item, transaction);
            } else if self.is_by_verbs(cx.fixed.settings.form.commit, at) {
                self.commit_by_verbs(cx, to, at);
            } else {
                self.ask(to, Wish::Commit, at);
            }
        }
    }

    /// Writes version and value, and then the lock: a connection keeps their order.
    fn commit_by_verbs<T: Transactions>(&mut self, cx: &mut Context<'_, T>, to: NodeId, at: usize) {
        let (key, version) = self.key_and_version(at);
        if cx.has(Mutant::UnlockBeforeValue) {
            self.unlock_by_verb(cx, (to, Stage::Primary), key);
        }
        let mut bytes = std::mem::take(&mut cx.scratch.value);
        bytes.clear();
        bytes.extend_from_slice(&version_word(version + 1, true).to_le_bytes());
        bytes.extend_from_slice(Item::of(&self.rows, at).map_or(&[], |item| item.value));
        let write = Operation::Write { at: Address::Version(key).number() };
        self.post(cx, (to, Stage::Primary), What::Write, write, &bytes);
        cx.scratch.value = bytes;
        if !cx.has(Mutant::UnlockBeforeValue) {
            self.unlock_by_verb(cx, (to, Stage::Primary), key);
        }
    }

    fn unlock_by_verb<T: Transactions>(
        &mut self,
        cx: &mut Context<'_, T>,
        way: (NodeId, Stage),
        key: Key,
    ) {
        let write = Operation::Write { at: Address::Lock(key).number() };
        self.post(cx, way, What::Write, write, &[0; 8]);
    }

    /// Gives the locks back, without a change, and ends the attempt.
    pub(super) fn release<T: Transactions>(&mut self, cx: &mut Context<'_, T>, ending: Ending) {
        self.step(State::Unlock(ending));
        let (own, by) = (cx.rpc.own(), self.transaction(cx));
        if cx.has(Mutant::ForgottenUnlock) {
            self.locked.clear();
        }
        for place in 0..self.locked.len() {
            let at = usize::from(self.locked[place]);
            let (key, _) = self.key_and_version(at);
            let to = cx.fixed.primary_of(key);
            if to == own {
                server::unlock(cx, key, by);
            } else if self.is_by_verbs(cx.fixed.settings.form.lock, at) {
                self.unlock_by_verb(cx, (to, Stage::Abort), key);
            } else {
                self.ask(to, Wish::Unlock, at);
            }
        }
        self.locked.clear();
    }

    /// Lets the backups apply the worker's records, and rests then.
    pub(super) fn flush<T: Transactions>(&mut self, cx: &mut Context<'_, T>) -> bool {
        self.step(State::Flush);
        server::apply_log(cx);
        for to in std::mem::take(&mut self.logged) {
            if !cx.has(Mutant::NoFlush) {
                self.ask(to, Wish::Flush, 0);
            }
        }
        true
    }

    fn key_and_version(&self, row: usize) -> (Key, u64) {
        let row = &self.rows.all()[row];
        (row.key, row.version)
    }
}
