// SPDX-License-Identifier: MIT OR Apache-2.0
//! The exchange of log records between the members of a view that is being prepared.

use super::messages::{self, RECORD_HEADER, RECORDS_HEADER};
use crate::engine::{Class, Effects, Endpoint, Instant, NodeId, Span, Stage, TransactionId};
use crate::membership::View;

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
    /// Whether each message has come, as far as numbers are known. None comes after the last.
    parts: Vec<bool>,
    /// Whether the last of these is the last of all.
    is_last_known: bool,
}

/// The exchange of one node, for one view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Exchange {
    outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
    /// Whether all records have come, and have been applied.
    pub(super) is_applied: bool,
    /// When what was not answered is sent again.
    pub(super) again: Instant,
}

/// The most messages to one member; their numbers have to fit.
const PARTS: usize = 1 << 15;

impl Exchange {
    /// Node `me` has yet to send, and to get.
    pub(super) fn new(me: NodeId, view: &View) -> Self {
        let others = || view.members().filter(|node| *node != me);
        let incoming = |from| Incoming { from, parts: Vec::new(), is_last_known: false };
        Self {
            outgoing: others().map(|to| Outgoing { to, parts: Vec::new() }).collect(),
            incoming: others().map(incoming).collect(),
            is_applied: false,
            again: Instant::default(),
        }
    }

    /// Packs the records that each other member needs into messages of up to `limit` bytes, at least one
    /// for each. `needs` says which members need a record.
    pub(super) fn pack(
        &mut self,
        epoch: u32,
        limit: usize,
        records: &[(TransactionId, &[u8])],
        needs: impl Fn(&[u8], NodeId) -> bool,
    ) {
        for outgoing in &mut self.outgoing {
            let mut message = Vec::new();
            messages::begin_records(epoch, 0, &mut message);
            for (transaction, items) in
                records.iter().filter(|(_, items)| needs(items, outgoing.to))
            {
                let is_empty = message.len() == RECORDS_HEADER;
                if !is_empty && message.len() + RECORD_HEADER + items.len() > limit {
                    outgoing.parts.push(Some(std::mem::take(&mut message)));
                    let part = outgoing.parts.len().min(PARTS - 1) as u16;
                    messages::begin_records(epoch, part, &mut message);
                }
                messages::put_record(*transaction, items, &mut message);
            }
            messages::set_last(&mut message);
            outgoing.parts.push(Some(message));
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

    /// A message has come, which [may](Self::may_come) do so.
    pub(super) fn came(&mut self, from: NodeId, part: u16, is_last: bool) {
        let Some(incoming) = self.incoming.iter_mut().find(|incoming| incoming.from == from) else {
            return;
        };
        let part = usize::from(part);
        debug_assert!(
            !incoming.is_last_known || part < incoming.parts.len(),
            "none after the last"
        );
        if incoming.parts.len() <= part {
            incoming.parts.resize(part + 1, false);
        }
        incoming.parts[part] = true;
        incoming.is_last_known |= is_last;
    }

    /// Whether all messages of all others have come.
    pub(super) fn is_complete(&self) -> bool {
        self.incoming.iter().all(|from| from.is_last_known && from.parts.iter().all(|came| *came))
    }
}
