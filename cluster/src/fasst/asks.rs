// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requests of a worker's step: how they are packed into messages, and how their answers are taken.
//!
//! All requests of a step to one machine go in one message. What would make the message, or its answer,
//! larger than the MTU is sent when the answer has come, so that there is never more than one message
//! of a worker under way to a machine, and the order of requests is kept.

use super::context::Context;
use super::messages::{
    Done, Executed, Header, Kind, REQUEST_HEADER, RESPONSE_HEADER, put_keyed, tag,
};
use super::worker::{State, Worker};
use crate::engine::{Class, Ending, Key, NodeId, Stage, Work};
use crate::store::Item;
use crate::transact::{Change, Intent, Rows, TableShape, Transactions};
use crate::wire::{Reader, WireError, Writer};

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum What {
    Read,
    Lock,
    Unlock,
    Validate,
    Log,
    Backup,
    Primary,
    PrimaryLast,
    Truncate,
}

/// A request to another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ask {
    pub key: Key,
    /// The message that it went with; 0 if it has yet to be sent.
    pub sequence: u32,
    pub to: NodeId,
    /// The row that it is about, where it is about one that was fetched.
    pub row: u16,
    pub what: What,
    /// What a row is read for.
    pub intent: Intent,
    pub is_answered: bool,
}

impl Ask {
    pub fn new(to: NodeId, what: What, key: Key, intent: Intent, row: usize) -> Self {
        Self { key, sequence: 0, to, row: row as u16, what, intent, is_answered: false }
    }
}

/// The change of a row, if it has one, as it is sent.
pub(super) fn item(rows: &Rows, row: usize) -> Option<Item<'_>> {
    let row = rows.all().get(row)?;
    let change = row.change()?;
    let value = match change {
        Change::Delete => &[],
        Change::Update | Change::Insert => rows.value_of(row).unwrap_or_default(),
    };
    Some(Item { key: row.key, change, fetched: row.version, value })
}

/// All changes.
pub(super) fn items(rows: &Rows) -> impl Iterator<Item = Item<'_>> {
    (0..rows.all().len()).filter_map(|row| item(rows, row))
}

/// The bytes of a value of this table.
pub(super) fn value_bytes(tables: &[TableShape], key: Key) -> usize {
    tables.get(usize::from(key.table.0)).map_or(0, |table| usize::from(table.value_bytes))
}

fn item_bytes(tables: &[TableShape], item: &Item<'_>) -> usize {
    Item::len_of(item.change, value_bytes(tables, item.key))
}

impl<I, S> Worker<I, S> {
    /// The bytes of a message with the record of all changes.
    pub fn record_bytes<T: Transactions>(&self, cx: &Context<'_, T>) -> usize {
        let tables = cx.fixed.workload.tables();
        let items = items(&self.rows).map(|item| item_bytes(tables, &item));
        REQUEST_HEADER + 2 + items.sum::<usize>()
    }

    /// Whether there are requests that have yet to be sent.
    pub fn has_unsent(&self) -> bool {
        self.asks.iter().any(|ask| ask.sequence == 0)
    }

    /// Sends what has yet to be sent, as far as it may be.
    pub fn send<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        if self.open == 0 {
            return;
        }
        let mut is_held_back = false;
        for at in 0..self.asks.len() {
            let Ask { to, sequence, .. } = self.asks[at];
            if sequence != 0 {
                continue;
            }
            // An earlier one to the same node is under way, or waits as well.
            if self.asks[..at].iter().any(|ask| ask.to == to && !ask.is_answered) {
                continue;
            }
            if !cx.rpc.take_place(to) {
                is_held_back = true;
                continue;
            }
            self.send_to(cx, to, at);
            if !cx.fixed.settings.request_batching {
                cx.out.ring_doorbell();
            }
        }
        if is_held_back {
            cx.rpc.hold_back(self.number);
        }
        cx.out.ring_doorbell();
    }

    /// Sends one message with all requests from `first` on that are for `to` and fit in.
    fn send_to<T: Transactions>(&mut self, cx: &mut Context<'_, T>, to: NodeId, first: usize) {
        self.sequence += 1;
        self.progress = cx.now;
        cx.wake(cx.now + cx.fixed.settings.loss_timeout);
        let mut header = Header {
            epoch: cx.rpc.epoch(),
            kind: Kind::Requests,
            worker: self.number,
            count: 0,
            sequence: self.sequence,
            attempt: self.attempt,
        };
        let (peer, stage) = (cx.rpc.peer(to), self.stage());
        let (tables, mtu) = (cx.fixed.workload.tables(), usize::from(cx.fixed.settings.mtu));
        let mut lines = 0;
        cx.out.send(peer, Class::Foreground, stage, |out| {
            let start = out.len();
            header.encode(out);
            let mut response = RESPONSE_HEADER;
            for at in first..self.asks.len() {
                let ask = self.asks[at];
                if ask.to != to || ask.sequence != 0 {
                    continue;
                }
                let end = out.len();
                self.encode(&ask, tables, out);
                response += answer_bytes(&ask, tables);
                let fits = out.len() - start <= mtu && response <= mtu && header.count < u8::MAX;
                if !fits && header.count > 0 {
                    out.truncate(end);
                    break;
                }
                header.count += 1;
                self.asks[at].sequence = self.sequence;
                let carries_values = matches!(
                    ask.what,
                    What::Log | What::Backup | What::Primary | What::PrimaryLast
                );
                if carries_values {
                    lines += (out.len() - end).div_ceil(64);
                }
            }
            Header::set_count(out, start, header.count);
        });
        cx.out.work(Work::CopyLine, lines as u32);
    }

    fn encode(&self, ask: &Ask, tables: &[TableShape], out: &mut Vec<u8>) {
        match ask.what {
            What::Read => put_keyed(tag::READ, ask.key, out),
            What::Lock => put_keyed(tag::LOCK, ask.key, out),
            What::Unlock => put_keyed(tag::UNLOCK, ask.key, out),
            What::Validate => put_keyed(tag::VALIDATE, ask.key, out),
            What::Log => {
                out.put_u8(tag::LOG);
                let count = out.len();
                out.put_u8(0);
                for item in items(&self.rows) {
                    item.encode(value_bytes(tables, item.key), out);
                    out[count] += 1;
                }
            }
            What::Backup | What::Primary | What::PrimaryLast => {
                out.put_u8(match ask.what {
                    What::Backup => tag::BACKUP,
                    What::Primary => tag::PRIMARY,
                    _ => tag::PRIMARY_LAST,
                });
                if let Some(item) = item(&self.rows, ask.row.into()) {
                    item.encode(value_bytes(tables, item.key), out);
                }
            }
            What::Truncate => {
                out.put_u8(tag::TRUNCATE);
                out.put_u32(self.attempt);
            }
        }
    }

    fn stage(&self) -> Stage {
        match self.state {
            State::Execute | State::LateLock => Stage::Execute,
            State::Validate => Stage::Validate,
            State::Log | State::Flush => Stage::Log,
            State::Backup => Stage::Backup,
            State::Primary => Stage::Primary,
            _ => Stage::Abort,
        }
    }

    /// Takes the answers to a message. Says whether they were awaited.
    ///
    /// # Errors
    /// When they are not the answers to what was asked.
    pub fn answer<T: Transactions>(
        &mut self,
        cx: &mut Context<'_, T>,
        from: NodeId,
        header: &Header,
        reader: &mut Reader<'_>,
    ) -> Result<bool, WireError> {
        let is_of =
            |ask: &Ask| ask.to == from && ask.sequence == header.sequence && !ask.is_answered;
        let awaited = self.asks.iter().filter(|ask| is_of(ask)).count();
        if header.sequence == 0 || awaited == 0 || awaited != usize::from(header.count) {
            return Ok(false);
        }
        // All of them can be read, or none is taken.
        let tables = cx.fixed.workload.tables();
        let mut check = *reader;
        for ask in self.asks.iter().filter(|ask| is_of(ask)) {
            check_answer(ask, tables, &mut check)?;
        }
        check.end("the answers")?;
        for at in 0..self.asks.len() {
            let ask = self.asks[at];
            if is_of(&ask) {
                self.take(cx, &ask, reader)?;
            }
        }
        for ask in &mut self.asks {
            if is_of(ask) {
                ask.is_answered = true;
            }
        }
        self.open -= u16::from(header.count);
        self.progress = cx.now;
        cx.rpc.give_place(from);
        Ok(true)
    }

    fn take<T: Transactions>(
        &mut self,
        cx: &mut Context<'_, T>,
        ask: &Ask,
        reader: &mut Reader<'_>,
    ) -> Result<(), WireError> {
        match ask.what {
            What::Read | What::Lock => {
                let size = value_bytes(cx.fixed.workload.tables(), ask.key);
                match Executed::decode(reader, size)? {
                    Executed::Locked => self.fails(Ending::AbortedByLock),
                    Executed::Refused => self.fails(Ending::AbortedByMembership),
                    Executed::Found { version, value } => {
                        let lines = value.map_or(0, |value| value.len().div_ceil(64));
                        cx.out.work(Work::CopyLine, lines as u32);
                        self.fetched(cx, ask.key, ask.intent, ask.what, version, value);
                    }
                }
            }
            What::Validate => {
                let word = reader.u64("a header's word")?;
                self.compare(cx, ask.row.into(), word);
            }
            _ => check_answer(ask, &[], reader)?,
        }
        Ok(())
    }
}

/// Reads an answer, and takes nothing of it.
fn check_answer(
    ask: &Ask,
    tables: &[TableShape],
    reader: &mut Reader<'_>,
) -> Result<(), WireError> {
    match ask.what {
        What::Read | What::Lock => {
            Executed::decode(reader, value_bytes(tables, ask.key))?;
        }
        What::Validate => {
            reader.u64("a header's word")?;
        }
        // A replica that refuses a change would be left behind: that is no answer, and the loss of
        // one in the end.
        _ => {
            if Done::decode(reader)? == Done::Refused {
                return Err(reader.unknown("no refusal", 1));
            }
        }
    }
    Ok(())
}

/// The most bytes that the answer to a request has.
fn answer_bytes(ask: &Ask, tables: &[TableShape]) -> usize {
    match ask.what {
        What::Read | What::Lock => 9 + value_bytes(tables, ask.key),
        What::Validate => 8,
        _ => 1,
    }
}
