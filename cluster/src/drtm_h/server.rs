// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is done at a row's own node: for requests of other nodes, and for the own workers without a message.

use super::context::Context;
use super::messages::{Answer, Request};
use super::mutant::Mutant;
use super::ring;
use crate::engine::{Effects, Ending, Key, Stage, TransactionId, Work};
use crate::rpc::{self, Rpc};
use crate::store::Item;
use crate::transact::Transactions;
use crate::wire::{Reader, WireError};

fn is_primary<T: Transactions>(cx: &Context<'_, T>, key: Key) -> bool {
    cx.fixed.primary_of(key) == cx.rpc.own()
}

/// Reads a row of the own node, appends its value to `value`. Gives its version, and whether it is there.
///
/// # Errors
/// When it is locked.
pub(super) fn read<T: Transactions>(
    cx: &mut Context<'_, T>,
    key: Key,
    value: &mut Vec<u8>,
) -> Result<(u64, bool), Ending> {
    let found = cx.shared.store.read(key, value).map_err(|_| Ending::AbortedByMembership)?;
    cx.out.work(Work::Look, found.looks);
    cx.out.work(Work::Header, 1);
    if found.locked.is_some() {
        return Err(Ending::AbortedByLock);
    }
    cx.out.work(Work::CopyLine, value.len().div_ceil(64) as u32);
    Ok((found.version, found.present))
}

/// Locks a row, if it still has this version.
pub(super) fn lock<T: Transactions>(
    cx: &mut Context<'_, T>,
    key: Key,
    version: u64,
    by: TransactionId,
) -> Answer {
    let store = &mut cx.shared.store;
    cx.out.work(Work::Look, store.looks(key));
    cx.out.work(Work::Header, 1);
    let Some(header) = store.header(store.header_of(key)).filter(|_| is_primary(cx, key)) else {
        return Answer::Refused;
    };
    match header.holder() {
        Some(_) if cx.has(Mutant::LockNotTaken) => return Answer::Done,
        Some(holder) if holder != by => return Answer::Locked,
        _ if header.version != version && !cx.has(Mutant::VersionNotCompared) => {
            return Answer::Changed;
        }
        _ => {}
    }
    match cx.shared.store.lock(key, by) {
        Ok(_) => Answer::Done,
        Err(_) => Answer::Locked,
    }
}

/// Whether a row of the own node is as it was read, and nobody has locked it.
pub(super) fn is_valid<T: Transactions>(
    cx: &mut Context<'_, T>,
    key: Key,
    version: u64,
    by: TransactionId,
) -> bool {
    cx.out.work(Work::Header, 1);
    match cx.has(Mutant::ValidationIgnoresLocks) {
        true => {
            let header = cx.shared.store.header(cx.shared.store.header_of(key));
            header.is_some_and(|header| header.version == version)
        }
        false => cx.shared.store.is_unchanged(key, version, by) == Ok(true),
    }
}

/// Unlocks a row, if `by` has locked it.
pub(super) fn unlock<T: Transactions>(cx: &mut Context<'_, T>, key: Key, by: TransactionId) {
    cx.out.work(Work::Header, 1);
    cx.shared.store.unlock(key, by);
}

/// Changes a row, and unlocks it.
pub(super) fn commit<T: Transactions>(
    cx: &mut Context<'_, T>,
    item: &Item<'_>,
    by: TransactionId,
) -> Answer {
    cx.out.work(Work::Header, 1);
    cx.shared.store.count_change(item, cx.out);
    if !is_primary(cx, item.key) || cx.shared.store.apply(item).is_err() {
        return Answer::Refused;
    }
    cx.shared.store.unlock(item.key, by);
    Answer::Done
}

/// Applies what has landed in the log of the thread.
pub(super) fn apply_log<T: Transactions>(cx: &mut Context<'_, T>) {
    let thread = usize::from(cx.rpc.thread());
    while let Some(record) = cx.shared.rings[thread].pop() {
        cx.out.work(Work::Apply, 1);
        for item in ring::items(&record, cx.fixed.workload.tables()) {
            cx.shared.store.count_change(&item, cx.out);
            // It is a replica of this node, so it cannot be refused.
            let _ = cx.shared.store.apply(&item);
        }
        cx.shared.rings[thread].give(record);
    }
}

impl<'m, 'a: 'm, T: Transactions> rpc::Server<'m> for Context<'a, T> {
    fn rpc(&mut self) -> &mut Rpc {
        self.rpc
    }

    fn out(&mut self) -> &mut Effects {
        self.out
    }

    fn stage_of(&self, reader: &mut Reader<'m>) -> Result<Stage, WireError> {
        let fixed = self.fixed;
        Request::decode(reader, fixed.workload.tables()).map(|request| stage_of(&request))
    }

    fn answer(&mut self, reader: &mut Reader<'m>, by: TransactionId, response: &mut Vec<u8>) {
        let fixed = self.fixed;
        if let Ok(request) = Request::decode(reader, fixed.workload.tables()) {
            answer(self, &request, by).encode(response);
        }
    }
}

fn stage_of(request: &Request<'_>) -> Stage {
    match request {
        Request::Lock { .. } => Stage::Execute,
        Request::Unlock { .. } => Stage::Abort,
        Request::Commit { .. } => Stage::Primary,
        Request::Flush => Stage::Log,
    }
}

fn answer<T: Transactions>(
    cx: &mut Context<'_, T>,
    request: &Request<'_>,
    by: TransactionId,
) -> Answer {
    cx.out.work(Work::Handle, 1);
    match *request {
        Request::Lock { key, version } => lock(cx, key, version, by),
        Request::Unlock { key } => {
            unlock(cx, key, by);
            Answer::Done
        }
        Request::Commit { item } => commit(cx, &item, by),
        Request::Flush => {
            apply_log(cx);
            Answer::Done
        }
    }
}
