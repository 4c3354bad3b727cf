// SPDX-License-Identifier: MIT OR Apache-2.0
//! The exchange of log records, and of a protocol's tables, between the members of a view that is being
//! prepared.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::messages::{self, RECORD_HEADER, RECORDS, RECORDS_HEADER, TABLE};
use crate::engine::{Class, Effects, Endpoint, Instant, NodeId, Span, Stage, TransactionId};
use crate::membership::View;
use crate::wire::{Reader, WireError};

/// The messages for one other member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Outgoing {
    to: NodeId,
    /// In order; `None` once it was answered.
    parts: Vec<Option<Vec<u8>>>,
}

/// What has come from one other member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Incoming {
    from: NodeId,
    /// The messages that have come, as far as numbers are known: what each has of a table. None comes after
    /// the last.
    parts: Vec<Option<Vec<u8>>>,
    /// Whether the last of these is the last of all.
    is_last_known: bool,
}

/// The exchange of one node, for one view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Exchange {
    outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
    /// The own table.
    table: Vec<u8>,
    /// Decisions that have come with records of others. They count when all messages have come: before that,
    /// what they rest on may not be here.
    said: BTreeMap<TransactionId, bool>,
    /// Whether all records have come, and have been applied.
    pub(super) is_applied: bool,
    /// When what was not answered is sent again.
    pub(super) again: Instant,
}

/// The most messages to one member; their numbers have to fit.
const PARTS: usize = 1 << 15;

impl Exchange {
    /// Node `me` has yet to send, and to get.
    pub(super) fn new(me: NodeId, view: &View, table: Vec<u8>) -> Self {
        let others = || view.members().filter(|node| *node != me);
        let incoming = |from| Incoming { from, parts: Vec::new(), is_last_known: false };
        Self {
            outgoing: others().map(|to| Outgoing { to, parts: Vec::new() }).collect(),
            incoming: others().map(incoming).collect(),
            table,
            said: BTreeMap::new(),
            is_applied: false,
            again: Instant::default(),
        }
    }

    /// The most bytes of a record for which a message of up to `limit` bytes has room.
    pub(super) fn room(limit: usize) -> usize {
        limit.saturating_sub(RECORDS_HEADER + RECORD_HEADER)
    }

    /// Packs the own table, which is read entry by entry with `next`, and the records that each other member
    /// needs into messages of up to `limit` bytes, at least one for each. `needs` says which members need a
    /// record.
    pub(super) fn pack(
        &mut self,
        (epoch, limit): (u32, usize),
        next: impl Fn(&mut Reader<'_>) -> Result<(), WireError>,
        records: &[(TransactionId, Cow<'_, [u8]>)],
        needs: impl Fn(&[u8], NodeId) -> bool,
    ) {
        let tables = parts_of(&self.table, limit.saturating_sub(RECORDS_HEADER), next);
        for outgoing in &mut self.outgoing {
            let parts = &mut outgoing.parts;
            let begin = |kind, parts: &Vec<_>| {
                let mut message = Vec::new();
                let part = parts.len().min(PARTS - 1) as u16;
                messages::begin_part(epoch, kind, part, &mut message);
                message
            };
            for entries in &tables {
                let mut message = begin(TABLE, parts);
                message.extend_from_slice(entries);
                parts.push(Some(message));
            }
            let mut message = begin(RECORDS, parts);
            for (transaction, items) in
                records.iter().filter(|(_, items)| needs(items, outgoing.to))
            {
                let is_empty = message.len() == RECORDS_HEADER;
                if !is_empty && message.len() + RECORD_HEADER + items.len() > limit {
                    parts.push(Some(message));
                    message = begin(RECORDS, parts);
                }
                messages::put_record(*transaction, items, &mut message);
            }
            messages::set_last(&mut message);
            parts.push(Some(message));
        }
    }

    /// Sends what was not answered.
    pub(super) fn send(&mut self, now: Instant, retry: Span, out: &mut Effects) {
        self.again = now + retry;
        for outgoing in &self.outgoing {
            for part in outgoing.parts.iter().flatten() {
                let to = Endpoint::host(outgoing.to, 0);
                out.send(to, Class::Control, Stage::Membership, |bytes| bytes.extend(part));
            }
        }
        out.ring_doorbell();
    }

    /// A message was answered.
    pub(super) fn answered(&mut self, by: NodeId, part: u16) {
        let outgoing = self.outgoing.iter_mut().find(|outgoing| outgoing.to == by);
        if let Some(part) = outgoing.and_then(|to| to.parts.get_mut(usize::from(part))) {
            *part = None;
        }
    }

    /// Whether a message can be one of another member's: none has a number after the last one's, and one
    /// that comes again is the last if it was.
    pub(super) fn may_come(&self, from: NodeId, part: u16, is_last: bool) -> bool {
        let incoming = self.incoming.iter().find(|incoming| incoming.from == from);
        incoming.is_some_and(|Incoming { parts, is_last_known, .. }| {
            let place = usize::from(part) + 1;
            match (is_last, is_last_known) {
                (true, true) => place == parts.len(),
                (true, false) => place > parts.len(),
                (false, true) => place < parts.len(),
                (false, false) => true,
            }
        })
    }

    /// A message has come, which [may](Self::may_come) do so, with this part of the sender's table.
    pub(super) fn came(&mut self, from: NodeId, (part, is_last): (u16, bool), table: &[u8]) {
        let Some(incoming) = self.incoming.iter_mut().find(|incoming| incoming.from == from) else {
            return;
        };
        let part = usize::from(part);
        debug_assert!(
            !incoming.is_last_known || part < incoming.parts.len(),
            "none after the last"
        );
        if incoming.parts.len() <= part {
            incoming.parts.resize(part + 1, None);
        }
        incoming.parts[part].get_or_insert_with(|| table.to_vec());
        incoming.is_last_known |= is_last;
    }

    /// A decision has come with a record of another member.
    pub(super) fn says(&mut self, transaction: TransactionId, committed: bool) {
        // Members do not contradict each other, and if they did, it would not depend on the order.
        *self.said.entry(transaction).or_insert(committed) |= committed;
    }

    /// What others have decided about a transaction before.
    pub(super) fn said(&self, transaction: TransactionId) -> Option<bool> {
        self.said.get(&transaction).copied()
    }

    /// Whether all messages of all others have come.
    pub(super) fn is_complete(&self) -> bool {
        self.incoming
            .iter()
            .all(|from| from.is_last_known && from.parts.iter().all(Option::is_some))
    }

    /// The tables of all members, as far as they have come, the own one first.
    pub(super) fn tables(&self, me: NodeId) -> Vec<(NodeId, Vec<u8>)> {
        let of =
            |from: &Incoming| (from.from, from.parts.iter().flatten().flatten().copied().collect());
        [(me, self.table.clone())].into_iter().chain(self.incoming.iter().map(of)).collect()
    }
}

/// Takes a table apart between its entries, into parts of up to `most` bytes.
fn parts_of(
    table: &[u8],
    most: usize,
    next: impl Fn(&mut Reader<'_>) -> Result<(), WireError>,
) -> Vec<&[u8]> {
    let (mut parts, mut start, mut end) = (Vec::new(), 0, 0);
    let mut reader = Reader::new(table);
    while !reader.is_at_end() {
        next(&mut reader).expect("an entry of the own table");
        assert!(reader.position() > end, "an entry of no bytes");
        if reader.position() - start > most && end > start {
            parts.push(&table[start..end]);
            start = end;
        }
        end = reader.position();
    }
    if end > start {
        parts.push(&table[start..end]);
    }
    parts
}
