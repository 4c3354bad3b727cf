// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handlers of requests, for messages of other nodes and for the own workers alike.

use super::asks::value_bytes;
use super::context::Context;
use super::messages::{Done, Executed, LOCK_BIT, REQUEST_HEADER, Request, tag};
use super::mutant::Mutant;
use crate::engine::{Effects, Ending, Key, Stage, TableNumber, TransactionId, Work};
use crate::rpc::{self, Rpc};
use crate::store::{Item, Refused};
use crate::transact::{Intent, Transactions};
use crate::wire::{Reader, WireError};

/// Whether this node is the primary of a key, which alone is read and locked.
#[inline]
fn is_primary<T: Transactions>(cx: &Context<'_, T>, key: Key) -> bool {
    let partition = cx.fixed.layout.partition_of(key);
    cx.shared.primary_of(partition) == Some(cx.rpc.own())
}

/// Reads a row, appends its value to `value`, and locks its header for `by` if it is to be written.
/// Gives the version of the header, and whether there is a row.
pub(super) fn execute<T: Transactions>(
    cx: &mut Context<'_, T>,
    key: Key,
    locks: bool,
    by: TransactionId,
    value: &mut Vec<u8>,
) -> Result<(u64, bool), Ending> {
    if !is_primary(cx, key) {
        return Err(Ending::AbortedByMembership);
    }
    let start = value.len();
    let found = cx.shared.store.read(key, value).map_err(ending)?;
    cx.out.work(Work::Handle, 1);
    cx.out.work(Work::Look, found.looks);
    cx.out.work(Work::Header, 1);
    let is_locked = match found.locked {
        Some(holder) if holder == by => cx.has(Mutant::OwnLockConflicts),
        Some(_) => locks || !cx.has(Mutant::ReadOfLockedRow),
        None => false,
    };
    if is_locked {
        value.truncate(start);
        return Err(Ending::AbortedByLock);
    }
    if locks && found.locked.is_none() {
        cx.shared.store.lock(key, by).map_err(ending)?;
    }
    cx.out.work(Work::CopyLine, (value.len() - start).div_ceil(64) as u32);
    Ok((found.version, found.present))
}

fn ending(refused: Refused) -> Ending {
    match refused {
        Refused::Locked => Ending::AbortedByLock,
        _ => Ending::AbortedByMembership,
    }
}

/// The word of a header: its version, and the lock bit.
pub(super) fn word<T: Transactions>(cx: &mut Context<'_, T>, key: Key) -> Result<u64, Ending> {
    if !is_primary(cx, key) {
        return Err(Ending::AbortedByMembership);
    }
    cx.out.work(Work::Handle, 1);
    cx.out.work(Work::Header, 1);
    let header = cx.shared.store.header(cx.shared.store.header_of(key));
    let header = header.ok_or(Ending::AbortedByMembership)?;
    Ok(header.version | if header.holder().is_some() { LOCK_BIT } else { 0 })
}

/// Unlocks the header of a key, if `by` has locked it.
pub(super) fn unlock<T: Transactions>(cx: &mut Context<'_, T>, key: Key, by: TransactionId) {
    cx.out.work(Work::Handle, 1);
    cx.out.work(Work::Header, 1);
    cx.shared.store.unlock(key, by);
}

/// Appends a record of the own worker to the own log.
pub(super) fn log<'a, T: Transactions>(
    cx: &mut Context<'_, T>,
    by: TransactionId,
    items: impl Iterator<Item = Item<'a>>,
) {
    let mut record = std::mem::take(&mut cx.scratch.response);
    record.clear();
    for item in items {
        item.encode(value_bytes(cx.fixed.workload.tables(), item.key), &mut record);
    }
    append(cx, by, &record);
    cx.scratch.response = record;
}

fn append<T: Transactions>(cx: &mut Context<'_, T>, by: TransactionId, record: &[u8]) {
    cx.out.work(Work::Handle, 1);
    cx.out.work(Work::Log, 1);
    cx.out.work(Work::CopyLine, record.len().div_ceil(64) as u32);
    // A worker logs an attempt only when all replicas have the one before, so a record says that the
    // earlier ones are of no use any more.
    cx.shared.log.replace(by, record);
}

/// Forgets the records of a worker up to this attempt.
pub(super) fn truncate<T: Transactions>(cx: &mut Context<'_, T>, last: TransactionId) {
    cx.shared.log.truncate(last);
}

/// Changes a row of a replica.
fn apply<T: Transactions>(cx: &mut Context<'_, T>, item: &Item<'_>) -> Done {
    cx.out.work(Work::Handle, 1);
    cx.out.work(Work::Header, 1);
    cx.shared.store.count_change(item, cx.out);
    match cx.shared.store.apply(item) {
        Ok(_) => Done::Yes,
        Err(_) => Done::Refused,
    }
}

/// Changes a row of a backup.
pub(super) fn backup<T: Transactions>(cx: &mut Context<'_, T>, item: &Item<'_>) -> Done {
    apply(cx, item)
}

/// Changes a row of a primary, and unlocks its header after the last change below it.
pub(super) fn primary<T: Transactions>(
    cx: &mut Context<'_, T>,
    item: &Item<'_>,
    last: bool,
    by: TransactionId,
) -> Done {
    if !is_primary(cx, item.key) {
        return Done::Refused;
    }
    let done = apply(cx, item);
    #[cfg(feature = "mutants")]
    if cx.has(Mutant::VersionNotRaised) {
        cx.shared.store.lower_version(item.key, item.fetched);
    }
    if last {
        cx.shared.store.unlock(item.key, by);
    }
    done
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
            answer(self, &request, by, response);
        }
    }
}

/// The key of the first request of a message, if it looks as if it had one.
#[inline]
pub(super) fn key_of(bytes: &[u8]) -> Option<Key> {
    let at = match *bytes.get(REQUEST_HEADER)? {
        tag::READ | tag::LOCK | tag::UNLOCK | tag::VALIDATE => REQUEST_HEADER + 1,
        tag::BACKUP | tag::PRIMARY | tag::PRIMARY_LAST => REQUEST_HEADER + 2,
        _ => return None,
    };
    let &[table, ref row @ ..] = bytes.get(at..)?.first_chunk::<9>()?;
    Some(Key { table: TableNumber(table), row: u64::from_le_bytes(*row) })
}

fn stage_of(request: &Request<'_>) -> Stage {
    match request {
        Request::Execute { .. } => Stage::Execute,
        Request::Validate { .. } => Stage::Validate,
        Request::Log { .. } | Request::Truncate { .. } => Stage::Log,
        Request::Backup { .. } => Stage::Backup,
        Request::Primary { .. } => Stage::Primary,
        Request::Unlock { .. } => Stage::Abort,
    }
}

fn answer<T: Transactions>(
    cx: &mut Context<'_, T>,
    request: &Request<'_>,
    by: TransactionId,
    response: &mut Vec<u8>,
) {
    match *request {
        Request::Execute { key, intent } => {
            let start = response.len();
            Executed::Found { version: 0, value: None }.encode(0, response);
            match execute(cx, key, intent == Intent::Write, by, response) {
                Ok((version, present)) => Executed::set_found(response, start, version, present),
                Err(ending) => {
                    response.truncate(start);
                    let answer = match ending {
                        Ending::AbortedByLock => Executed::Locked,
                        _ => Executed::Refused,
                    };
                    answer.encode(0, response);
                }
            }
        }
        Request::Unlock { key } => {
            unlock(cx, key, by);
            Done::Yes.encode(response);
        }
        Request::Validate { key } => {
            // A word that no coordinator has read stands for a refusal.
            let word = word(cx, key).unwrap_or(u64::MAX);
            response.extend_from_slice(&word.to_le_bytes());
        }
        Request::Log { items } => {
            append(cx, by, items.bytes());
            Done::Yes.encode(response);
        }
        Request::Backup { item } => backup(cx, &item).encode(response),
        Request::Primary { item, last } => primary(cx, &item, last, by).encode(response),
        Request::Truncate { attempt } => {
            cx.out.work(Work::Handle, 1);
            truncate(cx, TransactionId::new(by.node(), by.thread(), by.worker(), attempt));
            Done::Yes.encode(response);
        }
    }
}
