// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one-sided verbs of a worker's step, and rows that are read.
//!
//! Verbs of a step to one node share a doorbell and a completion: the first counts as posted by itself, the others as
//! descriptors beside it.

use super::super::address::{Address, HEADER, PRESENT, version_word};
use super::super::context::Context;
use super::super::messages::value_bytes;
use super::super::mutant::Mutant;
use super::super::server;
use super::{State, Worker};
use crate::engine::{Ending, Key, NodeId, Operation, Outcome, Stage, Token, Work};
use crate::transact::{Intent, Transactions};

/// A verb of the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verb {
    to: NodeId,
    what: What,
}

/// What a verb is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A row that is not here yet, or a bucket on the way to it.
    Row {
        key: Key,
        intent: Intent,
        /// The READs before this one.
        reads: u8,
    },
    /// Lock and version of a row, to be validated.
    Header { row: u16 },
    /// The lock of a row.
    Lock { row: u16 },
    /// The version of a row that is being locked.
    Version { row: u16 },
    /// Something that is written.
    Write,
}

impl<I, S> Worker<I, S> {
    /// Reads rows: those of the own node first, as what fails here is not asked of others.
    pub(super) fn execute<T: Transactions>(
        &mut self,
        cx: &mut Context<'_, T>,
        wanted: &[(Key, Intent)],
    ) {
        self.step(State::Execute);
        let own = cx.rpc.own();
        for &(key, intent) in wanted.iter().filter(|(key, _)| cx.fixed.primary_of(*key) == own) {
            self.fetch_here(cx, key, intent);
        }
        if self.failure.is_some() {
            return;
        }
        for &(key, intent) in wanted {
            let to = cx.fixed.primary_of(key);
            if to != own {
                let what = What::Row { key, intent, reads: 0 };
                let read = read(key, self.row_bytes(cx, key, 0, false));
                self.post(cx, (to, Stage::Execute), what, read, &[]);
            }
        }
    }

    fn fetch_here<T: Transactions>(&mut self, cx: &mut Context<'_, T>, key: Key, intent: Intent) {
        let mut value = std::mem::take(&mut cx.scratch.value);
        value.clear();
        match server::read(cx, key, &mut value) {
            Ok((version, present)) => {
                self.rows.fetched(key, intent, version, present.then_some(&value[..]));
            }
            Err(ending) => self.fails(ending),
        }
        cx.scratch.value = value;
    }

    /// The bytes of a READ on the way to a row, after so many others.
    fn row_bytes<T: Transactions>(
        &self,
        cx: &Context<'_, T>,
        key: Key,
        reads: u8,
        is_there: bool,
    ) -> u32 {
        let place = cx.fixed.places[usize::from(key.table.0)];
        let is_last = reads > 0 && reads + 1 == cx.fixed.reads_of(key, is_there);
        match cx.fixed.settings.form.cached || place.is_out_of_line && is_there && is_last {
            true => place.row,
            false => place.bucket,
        }
    }

    /// Posts a verb, with the bytes that it writes.
    pub(super) fn post<T: Transactions>(
        &mut self,
        cx: &mut Context<'_, T>,
        (to, stage): (NodeId, Stage),
        what: What,
        operation: Operation,
        bytes: &[u8],
    ) {
        let shares = self.verbs.iter().any(|verb| verb.to == to);
        let at = self.verbs.len();
        self.verbs.push(Verb { to, what });
        self.issue(cx, at, stage, operation, (bytes, shares));
    }

    fn issue<T: Transactions>(
        &mut self,
        cx: &mut Context<'_, T>,
        at: usize,
        stage: Stage,
        operation: Operation,
        (bytes, shares): (&[u8], bool),
    ) {
        cx.out.work(if shares { Work::Send } else { Work::Post }, 1);
        cx.out.work(Work::CopyLine, bytes.len().div_ceil(64) as u32);
        let (number, step) = (u32::from(self.calls.number), u32::from(self.steps));
        let token = Token(number << 24 | step << 16 | at as u32);
        let to = self.verbs[at].to;
        cx.out.verb(token, (to, stage), operation, |out| out.extend_from_slice(bytes));
        self.under_way += 1;
    }

    /// A verb has ended. Says whether the worker waits for nothing more.
    pub fn completed<T: Transactions>(
        &mut self,
        cx: &mut Context<'_, T>,
        token: Token,
        outcome: Outcome,
        bytes: &[u8],
    ) -> bool {
        let at = usize::from(token.0 as u16);
        let verb = self.verbs.get(at).copied().filter(|_| (token.0 >> 16) as u8 == self.steps);
        let Some(Verb { what, .. }) = verb else {
            cx.rpc.dropped.0.unexpected += 1;
            return false;
        };
        if outcome == Outcome::Failed {
            // A connection that is broken stays so, and nothing is recovered.
            cx.out.kill();
            return false;
        }
        self.under_way = self.under_way.saturating_sub(1);
        match what {
            What::Row { key, intent, reads } => {
                self.row_came(cx, at, (key, intent), reads + 1, bytes);
            }
            What::Header { row } => self.compare(cx, row, bytes),
            What::Lock { row } => match outcome {
                Outcome::Held(0) => self.locked.push(row),
                _ if cx.has(Mutant::LockNotTaken) => self.locked.push(row),
                _ => self.fails(Ending::AbortedByLock),
            },
            What::Version { row } => {
                let is_same = words(bytes).is_some_and(|[word]| word == self.version_of(row));
                if !is_same && !cx.has(Mutant::VersionNotCompared) {
                    self.fails(Ending::AbortedByValidation);
                }
            }
            What::Write => {}
        }
        !self.is_waiting()
    }

    /// A READ on the way to a row has come, the last of so many.
    fn row_came<T: Transactions>(
        &mut self,
        cx: &mut Context<'_, T>,
        at: usize,
        (key, intent): (Key, Intent),
        reads: u8,
        bytes: &[u8],
    ) {
        let Some([lock, word]) = words(bytes) else { return self.fails(Ending::AbortedByRoom) };
        let (present, version) = (word & PRESENT != 0, word & !PRESENT);
        if reads < cx.fixed.reads_of(key, present) {
            let length = self.row_bytes(cx, key, reads, present);
            self.verbs[at].what = What::Row { key, intent, reads };
            return self.issue(cx, at, Stage::Execute, read(key, length), (&[], false));
        }
        if lock != 0 {
            return self.fails(Ending::AbortedByLock);
        }
        let size = value_bytes(cx.fixed.workload.tables(), key);
        let start = HEADER as usize;
        // A row that was made while buckets were read, and whose value lies beside them.
        if present && bytes.len() < start + size {
            self.verbs[at].what = What::Row { key, intent, reads };
            let length = cx.fixed.places[usize::from(key.table.0)].row;
            return self.issue(cx, at, Stage::Execute, read(key, length), (&[], false));
        }
        let value = bytes.get(start..start + size).filter(|_| present);
        cx.out.work(Work::CopyLine, value.map_or(0, <[u8]>::len).div_ceil(64) as u32);
        self.rows.fetched(key, intent, version, value);
    }

    /// Compares the header of a row with what was read.
    fn compare<T: Transactions>(&mut self, cx: &Context<'_, T>, row: u16, bytes: &[u8]) {
        let ignores_locks = cx.has(Mutant::ValidationIgnoresLocks);
        let is_valid = words(bytes).is_some_and(|[lock, word]| {
            (lock == 0 || ignores_locks) && word == self.version_of(row)
        });
        if !is_valid {
            self.fails(Ending::AbortedByValidation);
        }
    }

    /// The word of a row's version as it was read.
    fn version_of(&self, row: u16) -> u64 {
        let row = &self.rows.all()[usize::from(row)];
        version_word(row.version, row.was_present())
    }
}

/// A READ from the lock of a row on.
pub(super) fn read(key: Key, length: u32) -> Operation {
    Operation::Read { at: Address::Lock(key).number(), length }
}

/// The words at the beginning of what was read.
fn words<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    let (words, _) = bytes.as_chunks::<8>();
    let words = words.first_chunk::<N>()?;
    Some(words.map(u64::from_le_bytes))
}
