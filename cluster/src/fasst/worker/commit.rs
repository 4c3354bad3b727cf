// SPDX-License-Identifier: MIT OR Apache-2.0
//! What follows validation: the record, the updates of backups and primaries, or the locks given back.

use super::{Lock, State, Worker};
use crate::engine::{Ending, Key, Moment, NodeId};
use crate::fasst::asks::{Ask, What};
use crate::fasst::context::Context;
use crate::fasst::mutant::Mutant;
use crate::fasst::server;
use crate::store::Item;
use crate::transact::{Intent, Transactions};

impl<I, S> Worker<I, S> {
    pub(super) fn log<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        self.append_record(cx);
        if cx.has(Mutant::EndedBeforeLog) {
            let (transaction, ending) = (self.transaction(cx), Ending::Committed);
            cx.out.tell(Moment::Ended { transaction, ending });
            self.told = true;
        }
    }

    /// Writes the record to the own log and to those of the log replicas.
    pub(super) fn append_record<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        self.step(State::Log);
        let by = self.transaction(cx);
        server::log(cx, by, Item::all_of(&self.rows));
        self.has_record = true;
        for place in 0.. {
            match cx.shared.log_replica(cx.rpc.own(), place) {
                Some(to) => self.ask(Ask::new(to, What::Log, Key::default(), Intent::Write, 0)),
                None => break,
            }
        }
    }

    pub(super) fn update_backups<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        self.step(State::Backup);
        self.ask_backups(cx);
        if cx.has(Mutant::UnlockBeforeBackups) {
            self.ask_primaries(cx);
        }
    }

    fn ask_backups<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        for at in 0..self.rows.all().len() {
            let Some(item) = Item::of(&self.rows, at) else { continue };
            let partition = cx.fixed.layout.partition_of(item.key);
            for place in 0.. {
                match cx.shared.backup_of(partition, place) {
                    None => break,
                    Some(to) if to == cx.rpc.own() => {
                        // It is this node's replica, so it cannot be refused.
                        let _ = server::backup(cx, &item);
                    }
                    Some(to) => {
                        let ask = Ask::new(to, What::Backup, item.key, Intent::Write, at);
                        self.calls.ask(ask);
                    }
                }
            }
        }
    }

    pub(super) fn update_primaries<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        self.step(State::Primary);
        self.ask_primaries(cx);
        if cx.has(Mutant::OwnRecordDroppedEarly) {
            let transaction = self.transaction(cx);
            server::truncate(cx, transaction);
        }
    }

    /// Updates the primaries. The last change below a header raises its version and unlocks it; a header
    /// that was locked and has no change is only unlocked.
    fn ask_primaries<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        let by = self.transaction(cx);
        for lock in 0..self.locks.len() {
            let Lock { header, key, .. } = self.locks[lock];
            let Some(to) = cx.shared.primary_of(header.partition) else { continue };
            let is_below = |key: Key| cx.fixed.layout.header_of(key) == header;
            let changed = |row: usize| Item::of(&self.rows, row).filter(|item| is_below(item.key));
            let rows = self.rows.all().len();
            let Some(last) = (0..rows).rev().find(|row| changed(*row).is_some()) else {
                self.unlock(cx, to, key);
                continue;
            };
            for at in 0..=last {
                let Some(item) = changed(at) else { continue };
                let what = if at == last { What::PrimaryLast } else { What::Primary };
                if to == cx.rpc.own() {
                    // As above.
                    let _ = server::primary(cx, &item, at == last, by);
                } else {
                    let ask = Ask::new(to, what, item.key, Intent::Write, at);
                    self.calls.ask(ask);
                }
            }
        }
    }

    /// All replicas have the changes: the record is of no use any more.
    pub(super) fn complete<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        let transaction = self.transaction(cx);
        server::truncate(cx, transaction);
        self.locks.clear();
        self.finish(cx, Ending::Committed);
    }

    pub(super) fn abort<T: Transactions>(&mut self, cx: &mut Context<'_, T>, ending: Ending) {
        if cx.has(Mutant::ForgottenUnlock) {
            self.locks.clear();
        }
        self.release(cx, ending);
    }

    /// Gives the locks back, without a change, and ends the attempt.
    pub(super) fn release<T: Transactions>(&mut self, cx: &mut Context<'_, T>, ending: Ending) {
        self.step(State::Unlock(ending));
        for at in 0..self.locks.len() {
            let Lock { header, key, .. } = self.locks[at];
            if let Some(to) = cx.shared.primary_of(header.partition) {
                self.unlock(cx, to, key);
            }
        }
        self.locks.clear();
    }

    fn unlock<T: Transactions>(&mut self, cx: &mut Context<'_, T>, to: NodeId, key: Key) {
        if to == cx.rpc.own() {
            let by = self.transaction(cx);
            server::unlock(cx, key, by);
        } else {
            self.ask(Ask::new(to, What::Unlock, key, Intent::Read, 0));
        }
    }
}
