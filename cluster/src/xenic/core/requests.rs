// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requests of a slot: how they are packed into messages.
//!
//! All keys of a step to one node go in one message, but for what would make it, or its answer, exceed the MTU. If
//! requests are not combined, each key has a message of its own.

use super::super::index::OBJECTS;
use super::super::messages::{
    HEADER, Header, KEY, Keys, Kind, Request, STEPS, VERSIONED, Version, Versions, put_key,
    value_bytes,
};
use super::Burst;
use super::slot::{Ask, What};
use crate::engine::{Key, NodeId, Work};
use crate::transact::{Intent, TableShape, Transactions};

/// Messages that a step may need beside those of its rows, kept free.
const RESERVED_STEPS: u8 = 48;

impl<T: Transactions> Burst<'_, T> {
    /// Sends what a slot has yet to ask.
    pub(super) fn send(&mut self, slot: u16) {
        let at = usize::from(slot);
        self.core.slots[at].progress = self.now;
        self.watch_for_losses();
        let mut asks = std::mem::take(&mut self.core.slots[at].asks);
        while let Some(first) = asks.iter().position(|ask| ask.step.is_none()) {
            match asks[first].what {
                What::Message(kind) => self.send_message(slot, kind, &mut asks[first]),
                what => self.send_keys(slot, what.kind(), first, &mut asks),
            }
        }
        self.core.slots[at].asks = asks;
    }

    /// Whether a step with so many messages would leave too few numbers for the rest of the transaction.
    pub(super) fn lacks_steps(&self, slot: u16) -> bool {
        let slot = &self.core.slots[usize::from(slot)];
        usize::from(slot.step) + slot.asks.len() > usize::from(STEPS - RESERVED_STEPS)
    }

    /// Whether the transaction of a slot would lock more rows of one entry of an index than it has room for, so that no
    /// other attempt could do better.
    pub(super) fn exceeds_an_entry(&self, slot: u16) -> bool {
        let slot = &self.core.slots[usize::from(slot)];
        if slot.asks.len() + slot.rows.all().len() <= OBJECTS {
            return false;
        }
        let asked = slot.asks.iter().filter(|ask| matches!(ask.what, What::Lock | What::LateLock));
        let rows = slot.rows.all().iter().filter(|row| row.intent == Intent::Write);
        self.are_too_many(asked.map(|ask| ask.key).chain(rows.map(|row| row.key)))
    }

    /// Whether more of these keys lie in one entry of an index than it has room for.
    pub(super) fn are_too_many(&self, keys: impl Iterator<Item = Key>) -> bool {
        let mut entries: Vec<(u64, Key)> = keys
            .map(|key| {
                let partition = self.fixed.layout.partition_of(key);
                (self.shared.nic.index.entry_of(partition, key), key)
            })
            .collect();
        entries.sort_unstable();
        entries.dedup();
        entries.chunk_by(|one, next| one.0 == next.0).any(|of| of.len() > OBJECTS)
    }

    pub(super) fn next_header(&mut self, slot: u16, kind: Kind) -> Header {
        let view = self.core.epoch as u16;
        let state = &mut self.core.slots[usize::from(slot)];
        let step = state.step.min(STEPS - 1);
        state.step = state.step.saturating_add(1);
        Header { view, kind, is_answer: false, step, slot, count: state.count }
    }

    /// Sends the keys that are asked like the one of number `first`, as many as fit.
    fn send_keys(&mut self, slot: u16, kind: Kind, first: usize, asks: &mut [Ask]) {
        let header = self.next_header(slot, kind);
        let tables = self.fixed.workload.tables();
        let (mtu, combined) = (usize::from(self.fixed.settings.mtu), self.fixed.settings.combined);
        let to = asks[first].to;
        let (mut request, mut answer, mut number) = (HEADER + 2, HEADER + 1, 0_u8);
        let mut reads = std::mem::take(&mut self.scratch.one);
        let mut locks = std::mem::take(&mut self.scratch.two);
        reads.clear();
        locks.clear();
        for ask in &mut asks[first..] {
            if ask.step.is_some() || ask.to != to || ask.what.kind() != kind {
                continue;
            }
            request += if kind == Kind::Validate { VERSIONED } else { KEY };
            answer += answer_bytes(ask, tables);
            let fits = request <= mtu && answer <= mtu && number < u8::MAX && combined;
            if !fits && number > 0 {
                break;
            }
            ask.step = Some(header.step);
            number += 1;
            let keys = if ask.what == What::Lock { &mut locks } else { &mut reads };
            put_key(ask.key, keys);
            if kind == Kind::Validate {
                Version { number: ask.version, ..Version::default() }.encode(keys);
            }
        }
        let request = match kind {
            Kind::Validate => Request::Validate { keys: Versions::new(&reads) },
            Kind::Lock => Request::Lock { keys: Keys::new(&reads) },
            _ => Request::Execute { reads: Keys::new(&reads), locks: Keys::new(&locks) },
        };
        self.post(to, header, |bytes| request.encode(bytes));
        self.scratch.one = reads;
        self.scratch.two = locks;
    }

    /// Sends a message that is about the whole transaction.
    fn send_message(&mut self, slot: u16, kind: Kind, ask: &mut Ask) {
        let header = self.next_header(slot, kind);
        ask.step = Some(header.step);
        match kind {
            Kind::Log | Kind::Commit => self.send_record(slot, header, ask.to),
            Kind::Ship => self.send_ship(header, ask.to),
            _ => self.post(ask.to, header, |_| {}),
        }
    }

    /// Sends the part of the slot's record that concerns `to`.
    pub(super) fn send_record(&mut self, slot: u16, header: Header, to: NodeId) {
        let own = &mut self.shared.nic.cores[usize::from(self.core.number)].own;
        let record = std::mem::take(&mut own[usize::from(slot)].record);
        self.post_record(&record, header, to);
        let own = &mut self.shared.nic.cores[usize::from(self.core.number)].own;
        own[usize::from(slot)].record = record;
    }

    /// Sends the part of an encoded record that concerns `to`.
    pub(super) fn post_record(&mut self, record: &[u8], header: Header, to: NodeId) {
        let mut changes = std::mem::take(&mut self.scratch.one);
        if let Some(record) = self.part_for(record, to, &mut changes) {
            self.out.work(Work::CopyLine, record.encoded_len().div_ceil(64) as u32);
            self.post(to, header, |bytes| record.encode(bytes));
        }
        self.scratch.one = changes;
    }
}

/// The most bytes that the answer has for this.
fn answer_bytes(ask: &Ask, tables: &[TableShape]) -> usize {
    match ask.what {
        What::Read | What::Lock => 4 + value_bytes(tables, ask.key),
        What::LateLock => 4,
        _ => 0,
    }
}
