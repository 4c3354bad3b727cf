// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transactions of the host's own tables (section 4.2.4): the host reads them and runs the logic, and the NIC says
//! whether they are up to date.
//!
//! Committed values wait in the log and in the NIC's index before they are in the tables. So one round trip over the
//! slot is needed: at the instant at which the NIC finds none of the keys locked, or cached with another version,
//! those of the tables are the newest ones, unless log workers have changed them between the host's reads and
//! that instant. This is what the second look of the host would see.

use super::super::messages::host::{ToNic, WriteSet};
use super::super::messages::{Version, Versions, put_key};
use super::super::mutant::Mutant;
use super::application::Poll;
use super::worker::State;
use crate::engine::{Ending, Key, Point, Work};
use crate::transact::{Decision, Transactions};

impl<T: Transactions> Poll<'_, T> {
    /// Runs a transaction on the host's own tables, and sends what it has found to the NIC. Says whether all of its
    /// keys are here; if not, nothing was done.
    pub(super) fn runs_locally(&mut self, worker: u8) -> bool {
        let keys = self.state.workers[usize::from(worker)].keys.clone();
        let decision = loop {
            if !self.read_own(worker) {
                let it = &mut self.state.workers[usize::from(worker)];
                it.rows.clear();
                it.keys = keys;
                return false;
            }
            if let Some(decision) = self.think(worker) {
                break decision;
            }
        };
        let mut writes = Vec::new();
        let mut number = self.put_writes(worker, &mut writes);
        if decision == Decision::RollBack {
            number = 0;
        }
        let it = &mut self.state.workers[usize::from(worker)];
        it.rolls_back = decision == Decision::RollBack;
        let head = it.head();
        let mut reads = Vec::new();
        for row in it.rows.all() {
            put_key(row.key, &mut reads);
            Version { number: row.version as u32, ..Version::default() }.encode(&mut reads);
        }
        let reads = Versions::new(&reads);
        let is_too_large = reads.len() > usize::from(u16::MAX) || number > usize::from(u8::MAX);
        if is_too_large {
            it.rows.clear();
            it.keys = keys;
            return false;
        }
        if number > 0 {
            it.state = State::Nic;
            let writes = WriteSet { number: number as u8, bytes: &writes };
            self.send(worker, &ToNic::Local { head, reads, writes });
        } else if self.fixed.settings.planted.is(Mutant::LocalReadsOnHost) {
            it.state = State::LocalReads;
            self.end_local(worker, Ending::Committed);
        } else {
            it.state = State::LocalReads;
            self.send(worker, &ToNic::LocalReads { head, reads });
        }
        true
    }

    /// Reads the keys that a worker wants from the own tables. Says whether they are here.
    fn read_own(&mut self, worker: u8) -> bool {
        let it = &mut self.state.workers[usize::from(worker)];
        let mut value = Vec::new();
        for (key, intent) in &it.keys {
            let partition = self.fixed.layout.partition_of(*key);
            if self.shared.primary_of(partition) != Some(self.state.own) {
                return false;
            }
            value.clear();
            let Ok(found) = self.shared.host.store.read(*key, &mut value) else { return false };
            self.out.work(Work::Look, found.looks);
            self.out.work(Work::CopyLine, value.len().div_ceil(64) as u32);
            let value = found.present.then_some(&value[..]);
            it.rows.fetched(*key, *intent, found.version, value);
        }
        true
    }

    /// The NIC has said whether the tables were up to date: they were, if they still are as they were read.
    pub(super) fn end_local(&mut self, worker: u8, ending: Ending) {
        if ending.is_abort() {
            return self.finish(worker, ending);
        }
        let it = &self.state.workers[usize::from(worker)];
        let mut value = Vec::new();
        let mut is_same = |key: Key, version: u64| {
            value.clear();
            let found = self.shared.host.store.read(key, &mut value);
            found.is_ok_and(|found| found.version == version)
        };
        self.out.work(Work::Look, it.rows.all().len() as u32);
        if !it.rows.all().iter().all(|row| is_same(row.key, row.version)) {
            return self.finish(worker, Ending::AbortedByValidation);
        }
        let ending = if it.rolls_back { Ending::RolledBack } else { Ending::Committed };
        let transaction = self.transaction(worker);
        let rows = &self.state.workers[usize::from(worker)].rows;
        self.out.tell_committing(transaction, Point::Within, rows.reads());
        self.finish(worker, ending);
    }
}
