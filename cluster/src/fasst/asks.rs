// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requests of a worker's step: their bytes, and how their answers are taken. How they get into messages is
//! the RPC layer's ([`Calls`]).

use super::context::Context;
use super::messages::{Done, Executed, Header, REQUEST_HEADER, put_keyed, tag};
use super::worker::{State, Worker};
use crate::engine::{Ending, Key, NodeId, Stage, Work};
use crate::rpc::{Asked, Call, Calls, Form, Post};
use crate::store::Item;
use crate::transact::{Intent, Rows, TableShape, Transactions};
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
    pub call: Call,
    /// The row that it is about, where it is about one that was fetched.
    pub row: u16,
    pub what: What,
    /// What a row is read for.
    pub intent: Intent,
}

impl Ask {
    pub fn new(to: NodeId, what: What, key: Key, intent: Intent, row: usize) -> Self {
        Self { key, call: Call::new(to), row: row as u16, what, intent }
    }
}

impl Asked for Ask {
    fn call(&self) -> &Call {
        &self.call
    }

    fn call_mut(&mut self) -> &mut Call {
        &mut self.call
    }
}

/// The bytes of a worker's requests.
struct Requests<'a> {
    rows: &'a Rows,
    tables: &'a [TableShape],
    attempt: u32,
}

/// The bytes of a value of this table.
pub(super) fn value_bytes(tables: &[TableShape], key: Key) -> usize {
    tables.get(usize::from(key.table.0)).map_or(0, |table| usize::from(table.value_bytes))
}

fn item_bytes(tables: &[TableShape], item: &Item<'_>) -> usize {
    Item::len_of(item.change, value_bytes(tables, item.key))
}

impl Form<Ask> for Requests<'_> {
    fn encode(&self, ask: &Ask, out: &mut Vec<u8>) {
        let Self { rows, tables, attempt } = *self;
        match ask.what {
            What::Read => put_keyed(tag::READ, ask.key, out),
            What::Lock => put_keyed(tag::LOCK, ask.key, out),
            What::Unlock => put_keyed(tag::UNLOCK, ask.key, out),
            What::Validate => put_keyed(tag::VALIDATE, ask.key, out),
            What::Log => {
                out.put_u8(tag::LOG);
                let count = out.len();
                out.put_u8(0);
                for item in Item::all_of(rows) {
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
                if let Some(item) = Item::of(rows, ask.row.into()) {
                    item.encode(value_bytes(tables, item.key), out);
                }
            }
            What::Truncate => {
                out.put_u8(tag::TRUNCATE);
                out.put_u32(attempt);
            }
        }
    }

    fn answer_bytes(&self, ask: &Ask) -> usize {
        match ask.what {
            What::Read | What::Lock => 9 + value_bytes(self.tables, ask.key),
            What::Validate => 8,
            _ => 1,
        }
    }

    fn carries_values(&self, ask: &Ask) -> bool {
        matches!(ask.what, What::Log | What::Backup | What::Primary | What::PrimaryLast)
    }
}

impl<I, S> Worker<I, S> {
    /// The bytes of a message with the record of all changes.
    pub fn record_bytes<T: Transactions>(&self, cx: &Context<'_, T>) -> usize {
        let tables = cx.fixed.workload.tables();
        let items = Item::all_of(&self.rows).map(|item| item_bytes(tables, &item));
        REQUEST_HEADER + 2 + items.sum::<usize>()
    }

    /// Sends what has yet to be sent, as far as it may be.
    pub fn send<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        let stage = self.stage();
        let Self { calls, rows, .. } = self;
        let Context { fixed, rpc, out, now, .. } = cx;
        let tables = fixed.workload.tables();
        let requests = Requests { rows, tables, attempt: calls.attempt };
        let mtu = usize::from(fixed.settings.mtu);
        let batching = fixed.settings.request_batching;
        let post = &mut Post { rpc, out, now: *now, stage, mtu, batching };
        if calls.send(post, &requests) {
            cx.wake(cx.now + cx.fixed.settings.loss_timeout);
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
        if !self.calls.awaits(from, header) {
            return Ok(false);
        }
        let is_of = |ask: &Ask| Calls::is_of(ask, from, header);
        // All of them can be read, or none is taken.
        let tables = cx.fixed.workload.tables();
        let mut check = *reader;
        for ask in self.calls.asks.iter().filter(|ask| is_of(ask)) {
            check_answer(ask, tables, &mut check)?;
        }
        check.end("the answers")?;
        for at in 0..self.calls.asks.len() {
            let ask = self.calls.asks[at];
            if is_of(&ask) {
                self.take(cx, &ask, reader)?;
            }
        }
        self.calls.answered(cx.rpc, cx.now, from, header);
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
